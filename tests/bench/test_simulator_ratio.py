"""The machine stays far faster than numba's own simulator, and gives the same results."""

from gpukernels.bench.simulator import all_pairs, by_schedule, compare, on_machine


def test_machine_beats_the_simulator_fiftyfold_and_traced_twentyfivefold():
    times = compare(2048, runs=3)
    assert times["simulator"] / times["plain"] >= 50
    assert times["simulator"] / times["traced"] >= 25


def test_sixty_five_thousand_vertices_take_less_than_a_second():
    seconds, _ = on_machine(1 << 16, traced=False, runs=1)
    assert seconds < 1


def test_blocked_floyd_warshall_of_256_vertices_takes_less_than_five_seconds():
    assert all_pairs(256) < 5


def test_one_warp_after_another_takes_about_twenty_times_as_long():
    seconds = by_schedule(4096, runs=5)
    assert seconds["warp"] < 30 * seconds["lockstep"]  # 18 to 20 where nothing else runs
