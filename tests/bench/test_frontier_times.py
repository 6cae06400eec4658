"""The benchmark of the chapter on frontier BFS measures what the chapter tells."""

from __future__ import annotations

import gpukernels as gk
from gpukernels.bench import frontier_bfs as bench
from gpukernels.bench.search_time import timer_for


def test_times_name_their_graph_and_count_the_queue_s_duplicates():
    timer = timer_for(gk.SimtDevice())
    timer.busy_rounds = 2
    rows = bench.times(timer, 6, 4, 1, 1000.0, roots=1)
    assert [row["graph"] for row in rows] == list(bench.FAMILIES)
    for row in rows:
        g = eval(row["call"], {"gk": gk})
        assert (g.n, g.m) == (row["n"], row["m"]) == (64, g.m)
        labels = [label for label, *_ in bench.SEARCHES]
        assert list(row["searches"]) == ["sequential", "all cores", "SciPy", "NetworkX", *labels]
        expected = gk.bfs(g, 0, "frontier", gk.SimtDevice()).stats["duplicates_made"]
        assert row["duplicates"] == [expected] * 3


def test_a_lost_race_is_counted():
    """One warp after another is an order in which the racing kernel goes wrong; lockstep is not."""
    sizes = {"small": (9, 8)}
    lost, none = (bench.races(gk.SimtDevice(s), sizes, 2)["small"] for s in ("warp", "lockstep"))
    assert set(lost) == set(none) == set(bench.FAMILIES)
    assert all(lost["rmat"])
    assert all(lost["small world"])
    assert not any(count for counts in none.values() for count in counts)


def test_the_racing_kernel_is_the_exercise_s(tmp_path):
    right = gk.exercise("bfs-3").solution.answer
    for kernel, wrong in ((bench.racing_kernel(tmp_path), True), (right, False)):
        machine = gk.SimtDevice("warp")
        found = bench.lost_races(kernel, machine, gk.rmat(8, 8, seed=1), 1)
        assert (found[0] > 0) == wrong
