"""Bottom-up by words finds the same as with a bitmap, turns at the same levels, and reads less."""

from __future__ import annotations

import itertools

import pytest
from bfs_rules import check_search
from effort import SCHEDULES, every_pair, schedule_name

import gpukernels as gk
from gpukernels.errors import InvalidArgument
from gpukernels.trace.record import LOAD

METHOD = "direction_optimizing"


def two_hubs() -> gk.Graph:
    """A hub with 30 leaves, a path from the last leaf to a hub with 60, and a path from there."""
    source = [*[0] * 30, 30, 31, 32, *[33] * 60, 93, 94, 95]
    return gk.Graph.from_arcs(97, source, range(1, 97), directed=False)


CASES = {
    "turns back at once": (gk.path(20), {"alpha": 1e9, "beta": 19.9}),
    "turns back late": (gk.rmat(6, 8, seed=1), {"alpha": 15, "beta": 3.0}),
    "turns twice": (two_hubs(), {"alpha": 1e9, "beta": 3.0}),
    "directed": (gk.erdos_renyi(70, 3, seed=2, directed=True), {"alpha": 1e9}),
    "whole words": (gk.star(64), {"alpha": 1e9}),
}


#: The options that are known to be right, and those that must find and turn the same.
PAIRS = {
    "words": ({"frontier": "bitmap"}, {"frontier": "words", "threads": 64}),
    "by hand": ({"barrier": "grid"}, {"barrier": "hand", "threads": 32}),
}


@pytest.mark.parametrize(
    ("name", "pair", "scheduled_device"),
    every_pair(CASES, PAIRS, SCHEDULES),
    indirect=["scheduled_device"],
    ids=lambda p: p if isinstance(p, str) else schedule_name(p),
)
def test_words_and_the_barrier_made_by_hand_find_and_turn_the_same(name, pair, scheduled_device):
    (g, options), (known, tried) = CASES[name], PAIRS[pair]
    expected = gk.bfs(g, 0, METHOD, **known, **options)
    result = gk.bfs(g, 0, METHOD, scheduled_device, **tried, **options)
    check_search(g, 0, result.distance, result.parent)
    for fact in ("directions", "frontier_sizes"):
        assert result.stats[fact] == expected.stats[fact]


@pytest.mark.parametrize(
    ("frontier", "barrier", "allowed"),
    [
        ("words", "hands", r"one of \('hand', 'grid'\)"),
        ("distance", "hand", "None or 'grid' unless frontier='words'"),
        ("bitmap", "hand", "None or 'grid' unless frontier='words'"),
    ],
)
def test_a_barrier_that_a_kernel_does_not_have_is_refused(frontier, barrier, allowed):
    with pytest.raises(InvalidArgument, match=f"barrier = '{barrier}': must be {allowed}"):
        gk.bfs(gk.path(3), 0, METHOD, frontier=frontier, barrier=barrier)


def test_the_cases_turn_as_they_say():
    turns = {}
    for name, (g, options) in CASES.items():
        ways = gk.bfs(g, 0, METHOD, frontier="words", **options).stats["directions"]
        changes = itertools.pairwise(ways)
        turns[name] = sum(a == "bottom_up" and b == "top_down" for a, b in changes)
    assert turns["turns back at once"] == turns["turns back late"] == 1
    assert turns["turns twice"] > 1


def test_who_is_left_costs_a_word_of_32():
    """Bottom-up levels read the distances once, at the start, and then only the words."""
    g = gk.erdos_renyi(2048, 8, seed=1)
    loads = {}
    for frontier in ("bitmap", "words"):
        with gk.trace() as t:
            stats = gk.bfs(g, 0, METHOD, frontier=frontier, alpha=1e9, beta=1e9).stats
        names = [info.name for info in t.trace.arrays]
        requests = t.trace.requests
        of_distance = (requests.array == names.index("distance")) & (requests.kind == LOAD)
        loads[frontier] = int(of_distance.sum())
    levels = stats["directions"].count("bottom_up")
    assert levels == stats["levels"] > 2
    assert loads["words"] == g.n // 32
    assert loads["bitmap"] == g.n // 32 * (levels + 1)
