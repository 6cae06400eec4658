"""The machine stays far faster than numba's own simulator, and its parts in proportion."""

from __future__ import annotations

import gpukernels as gk
from benchmarks.graphs import dense_lengths
from benchmarks.search_time import timed
from benchmarks.simulator import by_schedule, compare, on_machine


def all_pairs(n: int) -> float:
    """Return the seconds of the blocked method on the machine."""
    lengths = dense_lengths(n, seed=1)
    return timed(lambda: gk.apsp(lengths, "blocked", gk.SimtDevice()))[1] / 1e3


def test_machine_beats_the_simulator_fiftyfold_and_traced_twentyfivefold():
    times = compare(2048, runs=3)
    plain, traced = (times["simulator"] / times[key] for key in ("plain", "traced"))
    print(f"\nfaster than the simulator: {plain:.0f} times, traced {traced:.0f} times")
    assert plain >= 50
    assert traced >= 25


def test_a_search_takes_no_longer_a_vertex_the_larger_the_graph():
    small, _ = on_machine(1 << 13, traced=False, runs=3)
    large, _ = on_machine(1 << 16, traced=False, runs=3)
    print(f"\n65,536 vertices: {large:.2f} s, 8,192: {small:.3f} s, ratio {large / small:.1f}")
    assert large < 2 * 8 * small


def test_blocked_floyd_warshall_takes_eight_times_as_long_for_twice_the_vertices():
    all_pairs(64)  # translates
    small, large = all_pairs(128), all_pairs(256)
    print(f"\n256 vertices: {large:.2f} s, 128: {small:.2f} s, ratio {large / small:.1f}")
    assert large < 2 * 8 * small


def test_one_warp_after_another_takes_about_twenty_times_as_long():
    seconds = by_schedule(4096, runs=5)
    ratio = seconds["warp"] / seconds["lockstep"]
    print(f"\nwarp by warp: {ratio:.0f} times as long as lockstep")
    assert ratio < 30  # 18 to 20 where nothing else runs
