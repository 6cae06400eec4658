"""Searches by workfronts: what they enqueue and count, by models and by arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from effort import SCHEDULES, every_pair

import gpukernels as gk
from gpukernels import sequential
from gpukernels.device import SimtDevice
from gpukernels.shortest_paths import UNREACHED, sssp, sweep
from gpukernels.simt.errors import RaceError

WEB = gk.random_weights(gk.rmat(7, 6, seed=2), low=1, high=50, seed=1)
HUB = gk.random_weights(gk.star(1500), low=1, high=9, seed=2)
TOWN = gk.random_weights(gk.road_grid(12, 12, seed=1), low=1, high=20, seed=3)
#: Those of which all frontiers are looked at, launch by launch.
SWEEPS = [("workfront_sweep", {})]


def tree(n: int, seed: int) -> gk.Graph:
    """A tree away from vertex 0: no distance falls twice, so no order of threads matters."""
    rng = np.random.default_rng(seed)
    child = np.arange(1, n)
    return gk.Graph.from_arcs(n, rng.integers(0, child), child, rng.integers(1, 30, n - 1))


@pytest.mark.parametrize(
    ("sweeping", "g", "scheduled_device"),
    every_pair(SWEEPS, ("web", "hub", "town"), SCHEDULES),
    indirect=["scheduled_device"],
)
def test_a_frontier_holds_nothing_twice_and_knows_its_arcs(
    sweeping, g, scheduled_device, monkeypatch
):
    (method, options), g = sweeping, {"web": WEB, "hub": HUB, "town": TOWN}[g]
    looked_at = []

    def look(self):
        read(self)
        queue = (scheduled_device.read(a)[: self.size] for a in self.queues[self.turn % 2])
        vertex, begin, shift = queue
        assert np.unique(vertex).size == vertex.size
        degree = g.out_degree[vertex]
        np.testing.assert_array_equal(begin, np.cumsum(degree) - degree)
        np.testing.assert_array_equal(begin + shift, g.offsets[vertex])
        assert degree.sum() == self.arcs
        waiting = scheduled_device.read(self.piles[self.side].next_frontier)[: self.put_off]
        assert np.unique(waiting).size == waiting.size
        looked_at.append(self.size)

    read = sweep.Sweep.read
    monkeypatch.setattr(sweep.Sweep, "read", look)
    monkeypatch.setattr(sweep, "MAX_BLOCKS", 2)  # so that a block takes several tiles
    found = sssp(g, 0, method, scheduled_device, threads=32, **options)
    expected = np.minimum(sequential.dijkstra(g).distance, UNREACHED)
    np.testing.assert_array_equal(found.distance, expected)
    assert found.stats["read_backs"] == len(looked_at)


@pytest.mark.parametrize("scheduled_device", SCHEDULES, indirect=True)
def test_on_a_tree_a_workfront_is_a_level(scheduled_device):
    g = tree(300, seed=1)
    levels = np.bincount(sequential.bfs(g, 0).distance)
    stats = sssp(g, 0, "workfront_sweep", scheduled_device).stats
    assert stats["frontier_sizes"] == levels.tolist()
    assert (stats["relaxations"], stats["enqueues"], stats["duplicates"]) == (g.m, g.n, 0)
    assert stats["iterations"] == stats["launches"] == stats["read_backs"] == levels.size


@pytest.mark.parametrize("scheduled_device", SCHEDULES, indirect=True)
def test_a_vertex_that_falls_often_in_a_round_is_enqueued_once(scheduled_device):
    k = 100
    middle = np.arange(1, k + 1)
    source, target = np.append(np.zeros(k, int), middle), np.append(middle, np.full(k, k + 1))
    g = gk.Graph.from_arcs(k + 2, source, target, np.append(np.ones(k, int), 1000 - middle))
    found = sssp(g, 0, "workfront_sweep", scheduled_device)
    assert found.distance[k + 1] == 1 + 1000 - k
    assert found.stats["frontier_sizes"] == [1, k, 1]
    assert found.stats["duplicates"] < k
    if getattr(scheduled_device, "schedule", None) == "lockstep":  # in the order of the threads, each sum is less
        assert found.stats["duplicates"] == k - 1


def test_a_size_beyond_all_room_is_not_passed_over(device):
    s = sweep.Sweep(WEB, 0, device, 32)
    device.put(s.counts, 0, (WEB.n + 1) << 32)
    with pytest.raises(AssertionError, match="twice"):
        s.read()


def test_the_race_on_distances_is_declared_and_there_is_no_other(monkeypatch):
    for seed in range(3):
        sssp(WEB, 0, "workfront_sweep", SimtDevice("random", seed, check=True))
    monkeypatch.setattr(sweep.advance.py_func, "__benign_races__", frozenset())
    with pytest.raises(RaceError, match="distance"):
        sssp(WEB, 0, "workfront_sweep", SimtDevice(check=True))
