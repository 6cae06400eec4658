"""The benchmark of searches from many roots: what its rows mean, and that a wrong one has none."""

from __future__ import annotations

import pytest

import gpukernels as gk
from gpukernels.bench import many_roots
from gpukernels.bench.limits import Limits
from gpukernels.bench.spread import Median

LIMITS = Limits(1000.0, 10.0)


def measured(monkeypatch, ms, rounds=1):
    """Measure a small graph by a clock that tells `ms` for what runs, in turn."""
    times = iter(ms)

    def clock(device, run, *_, check, **__):
        run(device)
        check()
        return Median(next(times), (1.0, 1.0))

    monkeypatch.setattr(many_roots, "kernel_ms", clock)
    monkeypatch.setattr(many_roots, "wall_ms", lambda run, *_, **__: Median(64.0, (64.0, 64.0)))
    monkeypatch.setattr(many_roots, "ALONE", 2)
    monkeypatch.setattr(many_roots, "ROUNDS", rounds)
    g = gk.complete(9)
    return many_roots.measure(gk.SimtDevice(), g, 0, LIMITS, 1, [8], [{"alpha": 0.0}])


def test_all_figures_are_for_one_search(monkeypatch):
    row = measured(monkeypatch, [2.0, 1.0, 4.0])
    assert row["one_after_the_other"] == 2
    alone, together, tried = row["searches"].values()
    assert (alone["kernel_ms"], together["kernel_ms"]) == (1.0, 0.125)
    assert (alone["call_ms"], together["call_ms"]) == (32.0, 8.0)
    assert (alone["searches_per_second"], together["searches_per_second"]) == (1000.0, 8000.0)
    assert (alone["times_as_many"], together["times_as_many"]) == (1.0, 8.0)
    assert (tried["kernel_ms"], tried["times_as_many"]) == (0.5, 2.0)
    assert "call_ms" not in tried
    # Nine offsets and distances and 72 targets; shared by eight searches but for the distances.
    assert alone["least_bytes"] == 4 * (9 + 72) + 36
    assert together["least_bytes"] == 4 * (9 + 72) // 8 + 36


def test_each_way_is_measured_again_after_the_others_and_its_spread_is_of_all_rounds(monkeypatch):
    # In turn: alone, together and what is tried, then the first two twice more.
    row = measured(monkeypatch, [2.0, 1.0, 4.0, 6.0, 8.0, 3.0, 2.4], rounds=3)
    alone, together, tried = row["searches"].values()
    assert (alone["rounds"], together["rounds"], tried["rounds"]) == (3, 3, 1)
    assert (alone["kernel_ms"], together["kernel_ms"]) == (1.5, 0.3)
    spread = many_roots.widest(
        [Median(2.0, (1.0, 3.0)), Median(9.0, (8.0, 9.5)), Median(4, (3, 5))]
    )
    assert (spread, spread.spread) == (4, (1.0, 9.5))


@pytest.mark.parametrize("search", ["bfs", "bfs_many"])
def test_no_time_of_a_wrong_search_is_kept(monkeypatch, search):
    right = getattr(many_roots, search)

    def wrong(*args, **options):
        found = right(*args, **options)
        found.distance[..., -1] += 1
        return found

    monkeypatch.setattr(many_roots, search, wrong)
    with pytest.raises(AssertionError, match="bfs_many" if search == "bfs_many" else "direction"):
        measured(monkeypatch, [2.0, 1.0, 4.0])


def test_each_way_has_a_name_that_tells_its_roots_and_knobs():
    ways = many_roots.settings((64, 256), ({"alpha": 1.0}, {"words": 2, "piece": 4096}))
    assert ways == {
        "bfs_many 64 roots": (64, {}),
        "bfs_many 256 roots": (256, {}),
        "bfs_many 256 roots alpha=1": (256, {"alpha": 1.0}),
        "bfs_many 256 roots words=2 piece=4096": (256, {"words": 2, "piece": 4096}),
    }
