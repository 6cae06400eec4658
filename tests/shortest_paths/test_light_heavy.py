"""Light and heavy arcs told apart: right at any delta, and heavy arcs are relaxed once a bucket."""

from __future__ import annotations

import numpy as np
import pytest
from awkward_graphs import AWKWARD, ONE_CASE_EACH
from effort import SCHEDULES, every_pair, examples
from fake_gpu import FakeGpus
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csgraph
from test_sssp import cases, check, weighted

import gpukernels as gk
from gpukernels import reference
from gpukernels.shortest_paths import light_heavy, sssp


def search(g: gk.Graph, root: int, device, **options):
    return sssp(g, root, "delta_stepping", device, light_heavy=True, **options)


@pytest.mark.parametrize(
    ("case", "kind", "delta"),
    every_pair(ONE_CASE_EACH, ["none", "int32", "float32"], [0.5, 5, 30, np.inf]),
)
def test_awkward_graphs_at_any_delta(device, case, kind, delta):
    name, root = case
    g = weighted(AWKWARD[name], kind, low=0)
    check(g, root, search(g, root, device, delta=delta))


@examples(60, 1_000)
@given(case=cases(), delta=st.sampled_from([1e-300, 0.5, 1, 2.5, 6]), seed=st.integers(0, 9))
def test_any_graph_at_any_delta_in_any_order(case, delta, seed):
    g, root = case
    g = gk.Graph(g.offsets, g.targets, abs(g.weights))
    check(g, root, search(g, root, gk.SimtDevice("random", seed, check=True), delta=delta))


@pytest.mark.parametrize(
    ("kind", "delta", "scheduled_device"),
    every_pair(("int32", "float32"), (1, 7, 20), SCHEDULES),
    indirect=["scheduled_device"],
)
def test_distances_are_those_of_scipy(kind, delta, scheduled_device):
    g = gk.rmat(7, 5, seed=6, parallel="min")
    g = gk.Graph(g.offsets, g.targets, np.random.default_rng(2).integers(1, 40, g.m).astype(kind))
    matrix = csgraph.csgraph_from_dense(g.dense(np.inf), null_value=np.inf)
    expected = csgraph.dijkstra(matrix, indices=1)
    distance = search(g, 1, scheduled_device, delta=delta, threads=32).distance
    assert np.isinf(expected).any()
    reached = np.isfinite(expected)
    np.testing.assert_array_equal(distance[reached], expected[reached])
    assert (distance[~reached] == (2**31 - 1 if kind == "int32" else np.inf)).all()


@pytest.mark.parametrize("scheduled_device", SCHEDULES, indirect=True)
def test_heavy_arcs_of_a_vertex_that_falls_four_times_are_relaxed_once(scheduled_device):
    # Vertex 4 is told 90, 61, 42 and 23 in four rounds; 20 arcs of weight 1000 leave it.
    source, target, weight = [0, 0, 1, 1, 2, 2, 3], [1, 4, 2, 4, 3, 4, 4], [1, 90, 1, 60, 1, 40, 20]
    leaves = range(5, 25)
    g = gk.Graph.from_arcs(25, [*source, *[4] * 20], [*target, *leaves], [*weight, *[1000] * 20])
    plain, apart = (
        sssp(g, 0, "delta_stepping", scheduled_device, delta=100, light_heavy=choice)
        for choice in (False, True)
    )
    assert plain.distance.tolist() == apart.distance.tolist() == [0, 1, 2, 3, 23, *[1023] * 20]
    assert plain.stats["relaxations"] == 7 + 4 * 20
    assert apart.stats["relaxations"] == 7 + 20
    assert apart.stats["heavy_relaxations"] == 20


@pytest.mark.parametrize("delta", [0.5, 8, 25, 49, 50])
def test_on_a_tree_each_arc_is_relaxed_once_and_those_above_delta_are_the_heavy_ones(delta, device):
    rng = np.random.default_rng(3)
    child = np.arange(1, 80)
    g = gk.Graph.from_arcs(80, rng.integers(0, child), child, rng.integers(1, 51, 79))
    stats = search(g, 0, device, delta=delta).stats
    assert stats["relaxations"] == g.m
    assert stats["heavy_relaxations"] == (g.weights > delta).sum()
    assert stats["enqueues"] == g.n


def test_a_heavy_arc_that_rounding_leads_into_the_bucket(device):
    # Floats near 1e9 are 64 apart: the arcs of weight 20 lead nowhere further, and 2 -> 1 is back.
    weights = np.float32([1e9, 20, 20, 20, 5])
    g = gk.Graph.from_arcs(5, [0, 1, 2, 2, 3], [1, 2, 1, 3, 4], weights)
    match = search(g, 0, device, delta=10)
    assert match.distance.tolist() == [0, 1e9, 1e9, 1e9, 1e9]
    assert match.path_to(4) == [0, 1, 2, 3, 4]


def test_arcs_are_split_once_for_a_graph_and_a_delta_on_a_gpu(monkeypatch):
    deltas, split = [], light_heavy.split

    def noted(g, delta):
        deltas.append(delta)
        return split(g, delta)

    monkeypatch.setattr(light_heavy, "split", noted)
    gpus = FakeGpus(monkeypatch)
    try:
        g, gpu = gk.random_weights(gk.path(40), low=1, high=9, seed=1), gk.CudaDevice()
        expected = reference.dijkstra(g).distance
        for delta in (4, 4, 7, 4):
            match = search(g, 0, gpu, delta=delta)
            np.testing.assert_array_equal(match.distance, expected)
    finally:
        gpus.close()
    assert deltas == [4, 7, 4]
