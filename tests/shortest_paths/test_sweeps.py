"""Searches by workfronts: what they enqueue and count, by models and by arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from effort import SCHEDULES, every_pair

import gpukernels as gk
from gpukernels import reference
from gpukernels.device import SimtDevice
from gpukernels.frontiers.arc_queue import entries_and_arcs
from gpukernels.shortest_paths import UNREACHED, piles, sssp, sweep
from gpukernels.simt.errors import RaceError
from gpukernels.trace import ATOMIC, LOAD, metrics

WEB = gk.random_weights(gk.rmat(7, 6, seed=2), low=1, high=50, seed=1)
HUB = gk.random_weights(gk.star(1500), low=1, high=9, seed=2)
TOWN = gk.random_weights(gk.road_grid(9, 9, seed=1), low=1, high=20, seed=3)
#: Those of which all frontiers are looked at, launch by launch.
SWEEPS = [
    ("workfront_sweep", {}),
    ("near_far", {}),
    ("near_far", {"delta": 3}),
    ("delta_stepping", {}),
    ("delta_stepping", {"delta": 3}),
    ("delta_stepping", {"delta": 3, "light_heavy": True}),
]


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
    looked_at, offsets = [], g.offsets
    if options.get("light_heavy"):  # then a frontier has light arcs alone
        offsets = np.concatenate([[0], np.cumsum(g.weights <= options["delta"])])[offsets]

    def look(self):
        read(self)
        queue = (scheduled_device.read(a)[: self.size] for a in self.queues[self.turn % 2])
        vertex, begin, shift = queue
        assert np.unique(vertex).size == vertex.size
        degree = np.diff(offsets)[vertex]
        np.testing.assert_array_equal(begin, np.cumsum(degree) - degree)
        np.testing.assert_array_equal(begin + shift, offsets[vertex])
        assert degree.sum() == self.arcs
        waiting = scheduled_device.read(self.piles[self.side].next_frontier)[: self.put_off]
        assert np.unique(waiting).size == waiting.size
        looked_at.append(self.size)

    read = sweep.Sweep.read
    monkeypatch.setattr(sweep.Sweep, "read", look)
    monkeypatch.setattr(sweep, "MAX_BLOCKS", 2)  # so that a block takes several tiles
    result = sssp(g, 0, method, scheduled_device, threads=32, **options)
    expected = np.minimum(reference.dijkstra(g).distance, UNREACHED)
    np.testing.assert_array_equal(result.distance, expected)
    assert result.stats["read_backs"] == len(looked_at)


@pytest.mark.parametrize("scheduled_device", SCHEDULES, indirect=True)
def test_on_a_tree_a_workfront_is_a_level(scheduled_device):
    g = tree(300, seed=1)
    levels = np.bincount(reference.bfs(g, 0).distance)
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
    result = sssp(g, 0, "workfront_sweep", scheduled_device)
    assert result.distance[k + 1] == 1 + 1000 - k
    assert result.stats["frontier_sizes"] == [1, k, 1]
    assert result.stats["duplicates"] < k
    if getattr(scheduled_device, "schedule", None) == "lockstep":
        # In the order of the threads each sum is less than all before.
        assert result.stats["duplicates"] == k - 1


@pytest.mark.parametrize(
    ("sweeping", "threads", "kind"), every_pair(SWEEPS, (32, 96, 1024), ("int32", "float32"))
)
def test_any_block_size(sweeping, threads, kind, device):
    (method, options), g = sweeping, gk.Graph(HUB.offsets, HUB.targets, HUB.weights.astype(kind))
    result = sssp(g, 3, method, device, threads=threads, **options)
    np.testing.assert_array_equal(result.distance, reference.dijkstra(g, 3).distance)


@pytest.mark.parametrize(("method", "options"), SWEEPS)
def test_relaxations_and_duplicates_are_those_of_the_trace(method, options):
    with gk.trace() as t:
        stats = sssp(WEB, 0, method, **options).stats
    rounds = t.trace.select(kernel="advance")
    assert stats["relaxations"] == metrics.accesses(rounds.select(array="targets"), kinds=[LOAD])
    marked = metrics.accesses(rounds.select(array=["stamp", "waiting"]), kinds=[ATOMIC])
    entered = stats["enqueues"] - 1 + stats.get("put_off", 0)
    if not stats.get("splits"):  # these enqueue without a mark
        assert marked == entered + stats["duplicates"]
    assert stats["launches"] + stats["launches_for_parents"] == len(t.trace.launches)
    relaxing = sum(x.kernel == "advance" for x in t.trace.launches)
    if options.get("light_heavy"):  # heavy arcs once a bucket, and a split makes a bucket
        assert 0 < relaxing - stats["iterations"] <= stats["splits"] + 1
    else:
        assert relaxing == stats["iterations"]


def test_a_size_holds_as_many_entries_and_arcs_as_a_graph_may_have():
    most = 2**31 - 1
    assert entries_and_arcs((most << 32) + most) == (most, most)


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


def model_on_a_tree(g: gk.Graph, delta: float, next_limit) -> dict:
    """What near-far piles do on a tree, vertex by vertex; `next_limit` has the last word."""
    distance, limit = np.zeros(g.n), delta
    frontier, pile, sizes, splits, put_off = [0], [], [], 0, 0
    while frontier or pile:
        if not frontier:
            splits += 1
            limit = next_limit(limit, min(distance[v] for v in pile), delta)
            frontier = [v for v in pile if distance[v] <= limit]
            pile = [v for v in pile if distance[v] > limit]
            continue
        sizes.append(len(frontier))
        new = [v for u in frontier for v in g.targets[g.offsets[u] : g.offsets[u + 1]].tolist()]
        for u in frontier:
            arcs = slice(g.offsets[u], g.offsets[u + 1])
            distance[g.targets[arcs]] = distance[u] + g.weights[arcs]
        frontier = [v for v in new if distance[v] <= limit]
        pile += [v for v in new if distance[v] > limit]
        put_off += len(new) - len(frontier)
    return {"frontier_sizes": sizes, "splits": splits, "put_off": put_off}


#: How each method raises its limit.
NEXT_LIMIT = {
    "near_far": lambda limit, least, delta: max(limit + delta, least),
    "delta_stepping": lambda limit, least, delta: least + delta,
}


@pytest.mark.parametrize(
    ("method", "delta", "kind", "scheduled_device"),
    every_pair(NEXT_LIMIT, (1e-300, 0.5, 7, 29.5, 200, np.inf), ("int32", "float32"), SCHEDULES),
    indirect=["scheduled_device"],
)
def test_on_a_tree_piles_are_those_of_the_model(method, delta, kind, scheduled_device):
    g = tree(80, seed=3)
    g = gk.Graph(g.offsets, g.targets, g.weights.astype(kind))
    stats = sssp(g, 0, method, scheduled_device, delta=delta).stats
    expected = model_on_a_tree(g, delta, NEXT_LIMIT[method])
    assert {name: stats[name] for name in expected} == expected
    assert (stats["relaxations"], stats["enqueues"], stats["duplicates"]) == (g.m, g.n, 0)
    rounds, a_split = stats["iterations"], {"near_far": 2, "delta_stepping": 3}[method]
    assert rounds == len(stats["frontier_sizes"])
    assert stats["read_backs"] == rounds + stats["splits"]
    assert stats["launches"] == rounds + a_split * stats["splits"]


@pytest.mark.parametrize(
    ("method", "g", "scheduled_device"),
    every_pair(NEXT_LIMIT, ("web", "town", "zeros"), SCHEDULES),
    indirect=["scheduled_device"],
)
def test_a_small_delta_relaxes_each_arc_once_as_dijkstra_does(method, g, scheduled_device):
    zeros = gk.Graph(TOWN.offsets, TOWN.targets, TOWN.weights // 10)
    g = {"web": WEB, "town": TOWN, "zeros": zeros}[g]
    one = reference.dijkstra(g)
    stats = sssp(g, 0, method, scheduled_device, delta=1e-9).stats
    assert stats["relaxations"] == one.relaxations
    assert stats["enqueues"] == np.count_nonzero(one.parent >= 0)


@pytest.mark.parametrize("method", NEXT_LIMIT)
@pytest.mark.parametrize("delta", [1e6, np.inf])
def test_a_large_delta_is_the_workfront_sweep(method, delta):
    stats, plain = (
        sssp(WEB, 0, name, SimtDevice(check=True), **options).stats
        for name, options in ((method, {"delta": delta}), ("workfront_sweep", {}))
    )
    for name in ("relaxations", "enqueues", "duplicates", "frontier_sizes", "launches"):
        assert stats[name] == plain[name]
    assert (stats["splits"], stats["put_off"]) == (0, 0)
    between = sssp(WEB, 0, method, SimtDevice(check=True), delta=20).stats
    assert between["relaxations"] < plain["relaxations"]


@pytest.mark.parametrize("method", NEXT_LIMIT)
def test_the_default_delta_is_32_mean_weights_over_the_mean_degree(method, device):
    for g in (WEB, gk.Graph(WEB.offsets, WEB.targets, WEB.weights.astype(np.float32))):
        expected = 32 * float(np.mean(WEB.weights)) / (WEB.m / WEB.n)
        assert sssp(g, 0, method, device).stats["delta"] == pytest.approx(expected)
    assert sssp(gk.path(4), 0, method, device).stats["delta"] == 32 * 4 / 6
    for g in (gk.Graph([0, 0], []), gk.Graph([0, 1], [0], [0])):
        assert sssp(g, 0, method, device).stats["delta"] == 1


@pytest.mark.parametrize("method", NEXT_LIMIT)
def test_a_delta_that_vanishes_beside_the_distances_ends(method, device):
    # 1e9 + 1e-30 is 1e9, in 64 bits too.
    g = gk.Graph.from_arcs(5, [0, 0, 1, 2, 3], [1, 2, 3, 3, 4], np.float32([1e9, 2e9, 1, 1, 1e9]))
    result = sssp(g, 0, method, device, delta=1e-30)
    np.testing.assert_array_equal(result.distance, np.float32([0, 1e9, 2e9, 1e9, 2e9]))


@pytest.mark.parametrize("method", NEXT_LIMIT)
@pytest.mark.parametrize("far", [[], [100]], ids=["alone", "another waits"])
@pytest.mark.crossed
def test_a_vertex_that_waits_and_falls_within_the_limit_leaves_the_pile(method, far, device):
    # Vertex 2 waits at 10 after the first round, and falls to 2 by the second. It must not be the
    # least that waits: the only other limit begins at 100, where vertex 4 may wait.
    source, target, weights = [0, 0, 1, 2], [1, 2, 2, 3], [1, 10, 1, 1]
    if far:
        source, target, weights = [*source, 0], [*target, 4], [*weights, *far]
    g = gk.Graph.from_arcs(4 + len(far), source, target, weights)
    result = sssp(g, 0, method, device, delta=5)
    assert result.distance.tolist() == [0, 1, 2, 3, *far]
    assert result.stats["frontier_sizes"] == [1] * (4 + len(far))
    assert (result.stats["put_off"], result.stats["splits"]) == (1 + len(far), 1)


@pytest.mark.parametrize("method", NEXT_LIMIT)
def test_a_vertex_is_put_off_once(method, device):
    g = gk.random_weights(gk.rmat(6, 8, seed=4), low=1, high=60, seed=2)
    stats = sssp(g, 0, method, device, delta=4).stats
    assert 0 < stats["put_off"] < np.count_nonzero(reference.bfs(g, 0).distance >= 0)


@pytest.mark.parametrize("scheduled_device", SCHEDULES, indirect=True)
def test_a_sorted_pile_is_in_order_of_its_buckets(scheduled_device, monkeypatch):
    looked_at = []

    def look(self, kernel, *more):
        split(self, kernel, *more)
        waiting = scheduled_device.read(self.piles[self.side].next_frontier)[: self.put_off]
        limit = scheduled_device.read(self.limit)[self.now]
        beyond = scheduled_device.read(self.search.distance)[waiting] - limit
        assert (beyond > 0).all()
        bucket = np.minimum(beyond // self.delta, 30)
        assert (np.diff(bucket) >= 0).all()
        looked_at.extend(np.unique(bucket))

    split = piles.Piles.split
    monkeypatch.setattr(piles.Piles, "split", look)
    g = gk.random_weights(gk.star(200), low=1, high=110, seed=5)
    sssp(g, 0, "delta_stepping", scheduled_device, delta=3, threads=32)
    assert set(looked_at) == set(range(31))
