"""A search in one launch: one block or all expand a level, with counted barriers and waits."""

from __future__ import annotations

import numpy as np
import pytest
from bfs_rules import check_search
from effort import SCHEDULES, every_pair, schedule_name

import gpukernels as gk
from gpukernels.device import SimtDevice
from gpukernels.trace.metrics import barriers
from gpukernels.trace.record import ATOMIC, LOAD, STORE
from gpukernels.traversal import bfs
from gpukernels.traversal.persistent_steps import ROOM

GRAPHS = {
    "grid": gk.road_grid(4, 5, seed=1),
    "star": gk.star(40),
    "rmat": gk.rmat(5, 4, seed=2),
    "one vertex": gk.Graph([0, 0], []),
}
#: One block and then two, also with long lists; all levels by all blocks.
OPTIONS = {
    "both": {"alone": 3, "blocks": 2, "lanes": 2, "long_above": 3},
    "all": {"alone": 0, "blocks": 3, "lanes": 4},
}
WHOLE = gk.path(9)


@pytest.mark.parametrize(
    ("name", "options", "scheduled_device"),
    every_pair(GRAPHS, OPTIONS, SCHEDULES),
    indirect=["scheduled_device"],
    ids=lambda p: p if isinstance(p, str) else schedule_name(p),
)
def test_right_by_the_barrier_made_by_hand(name, options, scheduled_device):
    g = GRAPHS[name]
    result = bfs(
        g, 0, "persistent", scheduled_device, barrier="hand", threads=32, **OPTIONS[options]
    )
    check_search(g, 0, result.distance, result.parent)


@pytest.mark.parametrize("parents", [True, False])
def test_a_frontier_that_outgrows_one_block_goes_to_all_and_back(parents):
    """A hub of 1,500 leaves that meet again: more entries than shared memory holds."""
    leaves = np.arange(2, ROOM + 478)
    ends = (
        np.concatenate([leaves, leaves, [0]]),
        np.concatenate([np.full(leaves.size, 1), np.full(leaves.size, leaves[-1] + 1), [1]]),
    )
    n = int(leaves[-1]) + 2
    g = gk.Graph.from_arcs(n, *ends, directed=False)
    # No list is long, so one block finds all vertices.
    options = {"alone": ROOM, "blocks": 2, "long_above": 4000, "lanes": 32, "parents": parents}
    result = bfs(g, 0, "persistent", SimtDevice(check=True), **options)
    np.testing.assert_array_equal(result.distance, gk.reference.bfs(g, 0).distance)
    assert result.stats["frontier_sizes"] == [1, 1, leaves.size, 1]
    assert result.stats["levels_alone"] == 3
    assert result.stats["barriers"] == 1 + 3  # at first; two levels alone, one by all, one alone


def test_a_long_list_is_shared_by_all_blocks():
    """The hub of a star has 199 arcs, and four blocks of one warp take 32 at a time in turns."""
    with gk.trace() as t:
        stats = bfs(gk.star(200), 0, "persistent", blocks=4, threads=32, long_above=32).stats
    assert stats["levels_alone"] == 0  # the hub has too many arcs, the leaves are too many
    claims = requests(t.trace, "distance", ATOMIC)
    of_hub = t.trace.requests.block[np.flatnonzero(claims)[:7]]
    assert sorted(of_hub.tolist()) == [0, 0, 1, 1, 2, 2, 3]


def requests(trace, array, kind):
    """Return a mask of the requests of a trace with some kind and to this array."""
    names = [info.name for info in trace.arrays]
    table = trace.requests
    return (table.array == names.index(array)) & (table.kind == kind)


def per_level(**options):
    """Return one warp's cost of one more level of a path: requests by array and kind, barriers."""
    levels = []
    for n in (20, 30):
        with gk.trace() as t:
            bfs(gk.path(n), 0, "persistent", threads=32, blocks=1, parents=False, **options)
        counts = {
            (info.name, kind): int(requests(t.trace, info.name, kind).sum())
            for info in t.trace.arrays
            for kind in (LOAD, STORE, ATOMIC)
        }
        levels.append({**counts, "barriers": barriers(t.trace)})
    return {
        k: (levels[1][k] - levels[0][k]) / 10 for k in levels[0] if levels[0][k] != levels[1][k]
    }


def test_what_a_level_by_all_blocks_asks_for():
    """Four steps that wait for each other, with their requests sent together, and one barrier."""
    assert per_level(alone=0) == {
        ("queue", LOAD): 3, ("counts", LOAD): 2,
        ("targets", LOAD): 1,
        ("offsets", LOAD): 2, ("distance", ATOMIC): 1,
        ("counts", ATOMIC): 1,
        ("queue", STORE): 3, ("counts", STORE): 2, ("log", STORE): 2,
        "barriers": 1,
    }  # fmt: skip


def test_what_a_level_by_one_block_asks_for():
    """Two steps use global memory; the queue and its counter lie in shared memory."""
    assert per_level(alone=9) == {
        ("shared_queue", LOAD): 3,
        ("targets", LOAD): 1,
        ("offsets", LOAD): 2, ("distance", ATOMIC): 1,
        ("counted", ATOMIC): 1,
        ("shared_queue", STORE): 3, ("queue", STORE): 3, ("log", STORE): 2, ("counted", STORE): 1,
        ("counted", LOAD): 2,
        "barriers": 1,
    }  # fmt: skip


def test_how_often_all_blocks_meet():
    stats = {a: bfs(WHOLE, 0, "persistent", alone=a, blocks=2, threads=32).stats for a in (0, 1)}
    assert stats[1]["levels_alone"] == stats[1]["levels"] == 9
    assert stats[1]["barriers"] == 2
    assert stats[0]["levels_alone"] == 0
    assert stats[0]["barriers"] == 1 + 9


def test_a_look_is_spared_where_the_frontier_is_small():
    g = gk.rmat(6, 4, seed=1)
    loads = {}
    for eager in (0, g.n):
        with gk.trace() as t:
            bfs(g, 0, "persistent", alone=0, blocks=2, threads=32, eager=eager, parents=False)
        loads[eager] = requests(t.trace, "distance", LOAD).sum()
    assert loads[g.n] == 0 < loads[0]
