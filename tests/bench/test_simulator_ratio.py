"""The machine stays far faster than numba's own simulator, and gives the same distances."""

from gpukernels.bench.simulator import compare


def test_machine_beats_the_simulator_fiftyfold_and_traced_twentyfivefold():
    times = compare(2048, runs=3)
    assert times["simulator"] / times["plain"] >= 50
    assert times["simulator"] / times["traced"] >= 25
