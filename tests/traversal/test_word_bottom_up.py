"""Bottom-up by words finds what a bitmap finds, turns where it turns, and asks for less."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from bfs_rules import check_search
from effort import SCHEDULES, every_pair, schedule_name

import gpukernels as gk
from gpukernels.device import SimtDevice
from gpukernels.errors import InvalidArgument
from gpukernels.simt.errors import RaceError
from gpukernels.trace.record import LOAD
from gpukernels.traversal.word_bottom_up import search_and_meet_by_grid

METHOD = "direction_optimizing"


def two_hubs() -> gk.Graph:
    """A hub of 30 leaves; a way from the last of them to one of 60, and a way on from there."""
    source = [*[0] * 30, 30, 31, 32, *[33] * 60, 93, 94, 95]
    return gk.Graph.from_arcs(97, source, range(1, 97), directed=False)


CASES = {
    "turns back at once": (gk.path(20), {"alpha": 1e9, "beta": 19.9}),
    "turns back late": (gk.rmat(6, 8, seed=1), {"alpha": 15, "beta": 3.0}),
    "turns twice": (two_hubs(), {"alpha": 1e9, "beta": 3.0}),
    "directed": (gk.erdos_renyi(70, 3, seed=2, directed=True), {"alpha": 1e9}),
    "whole words": (gk.star(64), {"alpha": 1e9}),
}


@pytest.mark.parametrize(
    ("name", "scheduled_device"),
    every_pair(CASES, SCHEDULES),
    indirect=["scheduled_device"],
    ids=lambda p: p if isinstance(p, str) else schedule_name(p),
)
def test_words_find_and_turn_as_a_bitmap_does(name, scheduled_device):
    g, options = CASES[name]
    by_bits = gk.bfs(g, 0, METHOD, frontier="bitmap", **options)
    by_words = gk.bfs(g, 0, METHOD, scheduled_device, frontier="words", threads=64, **options)
    check_search(g, 0, by_words.distance, by_words.parent)
    for told in ("directions", "frontier_sizes"):
        assert by_words.stats[told] == by_bits.stats[told]


@pytest.mark.parametrize(
    ("name", "scheduled_device"),
    every_pair(CASES, SCHEDULES),
    indirect=["scheduled_device"],
    ids=lambda p: p if isinstance(p, str) else schedule_name(p),
)
def test_the_barrier_made_by_hand_changes_nothing(name, scheduled_device):
    g, options = CASES[name]
    known = gk.bfs(g, 0, METHOD, barrier="grid", **options)
    found = gk.bfs(g, 0, METHOD, scheduled_device, barrier="hand", threads=32, **options)
    check_search(g, 0, found.distance, found.parent)
    for told in ("directions", "frontier_sizes"):
        assert found.stats[told] == known.stats[told]


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
    """Levels bottom-up read the distances once, to begin with, and then the words alone."""
    g = gk.erdos_renyi(2048, 8, seed=1)
    loads = {}
    for frontier in ("bitmap", "words"):
        with gk.trace() as t:
            stats = gk.bfs(g, 0, METHOD, frontier=frontier, alpha=1e9, beta=1e9).stats
        names = [info.name for info in t.trace.arrays]
        told = t.trace.requests
        of_distance = (told.array == names.index("distance")) & (told.kind == LOAD)
        loads[frontier] = int(of_distance.sum())
    levels = stats["directions"].count("bottom_up")
    assert levels == stats["levels"] > 2
    assert loads["words"] == g.n // 32
    assert loads["bitmap"] == g.n // 32 * (levels + 1)


def test_the_look_of_steps_top_down_is_declared(monkeypatch):
    g = gk.erdos_renyi(200, 6, seed=1)
    gk.bfs(g, 0, METHOD, SimtDevice(check=True), frontier="words", alpha=0)
    monkeypatch.setattr(search_and_meet_by_grid.py_func, "__benign_races__", frozenset())
    with pytest.raises(RaceError, match="distance"):
        gk.bfs(g, 0, METHOD, SimtDevice(check=True), frontier="words", alpha=0)


def test_parents_are_optional():
    g = gk.rmat(6, 8, seed=1)
    result = gk.bfs(g, 0, METHOD, frontier="words", parents=False)
    assert result.parent is None
    np.testing.assert_array_equal(result.distance, gk.reference.bfs(g, 0).distance)
