"""Dijkstra's algorithm in rounds: the vertices that each round settles, by a scalar model."""

from __future__ import annotations

import numpy as np
import pytest
from effort import SCHEDULES, every_pair

import gpukernels as gk
from gpukernels import reference
from gpukernels.shortest_paths import ortega, sssp
from gpukernels.simt.errors import RaceError
from gpukernels.trace import LOAD, metrics

WEB = gk.random_weights(gk.rmat(7, 6, seed=2, parallel="keep"), low=1, high=50, seed=1)
GRAPHS = {
    "web": WEB,
    "town": gk.random_weights(gk.road_grid(9, 9, seed=1), low=1, high=20, seed=3),
    "zeros": gk.random_weights(gk.erdos_renyi(60, 4, seed=4), low=0, high=3, seed=5),
    "hub": gk.random_weights(gk.star(200), low=1, high=9, seed=2),
    "no arcs": gk.Graph([0, 0], []),
}


def settled_by_round(g: gk.Graph, root: int) -> list[int]:
    """Return how many vertices each round settles, vertex by vertex and arc by arc."""
    arcs: list[list[tuple[int, float]]] = [[] for _ in range(g.n)]
    for u, v, w in zip(*g.coo, g.weights, strict=True) if g.m else ():
        arcs[u].append((int(v), float(w)))
    least = [min((w for v, w in arcs[u] if v != u), default=np.inf) for u in range(g.n)]
    distance, done, last, sizes = {root: 0.0}, {root}, [root], [1]
    while last:
        for u in last:
            for v, w in arcs[u]:
                distance[v] = min(distance.get(v, np.inf), distance[u] + w)
        open_ = [v for v in distance if v not in done]
        limit = min((distance[v] + least[v] for v in open_), default=0)
        last = [v for v in open_ if distance[v] <= limit]
        done.update(last)
        sizes.append(len(last))
    return sizes[:-1]


@pytest.mark.parametrize(
    ("name", "kind", "scheduled_device"),
    every_pair(GRAPHS, ("int32", "float32"), SCHEDULES),
    indirect=["scheduled_device"],
)
def test_each_round_settles_all_vertices_within_the_limit_and_no_other(
    name, kind, scheduled_device
):
    g = GRAPHS[name]
    weights = np.ones(g.m) if g.weights is None else g.weights
    g = gk.Graph(g.offsets, g.targets, weights.astype(kind))
    result = sssp(g, 0, "ortega", scheduled_device, threads=32)
    expected = settled_by_round(g, 0)
    assert result.stats["settled"] == expected
    assert result.stats["iterations"] == result.stats["read_backs"] == len(expected)
    assert result.stats["relaxations"] == reference.dijkstra(g).relaxations


def test_each_arc_is_relaxed_once_and_every_launch_is_counted():
    with gk.trace() as t:
        stats = sssp(WEB, 0, "ortega").stats
    relaxed = t.trace.select(kernel="relax_settled")
    assert stats["relaxations"] == metrics.accesses(relaxed.select(array="targets"), kinds=[LOAD])
    counted = [stats[f"launches{of}"] for of in ("", "_for_weights", "_for_parents")]
    assert sum(counted) == len(t.trace.launches)
    assert counted[0] == 3 * stats["iterations"]


def test_a_self_loop_and_a_longer_parallel_arc_delay_no_vertex(device):
    source, target = WEB.coo
    every = np.arange(WEB.n)
    more = gk.Graph.from_arcs(
        WEB.n,
        np.concatenate([source, every, source]),
        np.concatenate([target, every, target]),
        np.concatenate([WEB.weights, np.zeros(WEB.n, int), WEB.weights + 1]),
    )
    plain, result = (sssp(g, 0, "ortega", device) for g in (WEB, more))
    np.testing.assert_array_equal(result.distance, plain.distance)
    assert result.stats["settled"] == plain.stats["settled"]


def test_equal_weights_settle_a_level_in_each_round(device):
    g = gk.road_grid(8, 5, seed=1)
    levels = np.bincount(reference.bfs(g, 0).distance)
    assert sssp(g, 0, "ortega", device).stats["settled"] == levels.tolist()


def test_a_limit_beyond_int32_is_none(device):
    # 5 and the arc back to vertex 0 are more than int32 holds; no shortest path takes that arc.
    g = gk.Graph.from_arcs(4, [0, 0, 1, 2], [1, 2, 0, 0], [5, 7, 2**31 - 2, 2**31 - 1])
    result = sssp(g, 0, "ortega", device)
    assert result.distance.tolist() == [0, 5, 7, 2**31 - 1]
    assert result.stats["settled"] == [1, 2]


def test_the_race_on_distances_is_declared(monkeypatch):
    for seed in range(3):
        sssp(WEB, 0, "ortega", gk.SimtDevice("random", seed, check=True))
    monkeypatch.setattr(ortega.relax_settled.py_func, "__benign_races__", frozenset())
    with pytest.raises(RaceError, match="distance"):
        sssp(WEB, 0, "ortega", gk.SimtDevice(check=True))
