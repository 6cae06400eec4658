"""The edge list is sorted as promised and lists an undirected edge once where asked."""

from __future__ import annotations

import numpy as np
import pytest
from awkward_graphs import AWKWARD

import gpukernels as gk
from gpukernels.device import SimtDevice
from gpukernels.representations.coo import EdgeList, has_edge, neighbor_sum, row_sum
from gpukernels.trace import metrics

graphs = pytest.mark.parametrize("name", AWKWARD)


@graphs
def test_by_source_keeps_the_order_of_the_graph(name):
    g = gk.random_weights(AWKWARD[name], seed=1)
    edges = EdgeList.from_graph(g)
    assert np.all(np.diff(edges.source) >= 0)
    np.testing.assert_array_equal(edges.target, g.targets)
    np.testing.assert_array_equal(edges.weights, g.weights)


@graphs
def test_lexicographic_order_carries_the_weights_along(name):
    g = gk.random_weights(AWKWARD[name], seed=1)
    edges = EdgeList.from_graph(g, order="lexicographic")
    pairs = list(zip(edges.source.tolist(), edges.target.tolist(), strict=True))
    assert pairs == sorted(pairs)
    arcs = zip(*(a.tolist() for a in (*g.coo, g.weights)), strict=True)
    rows = zip(*(a.tolist() for a in (edges.source, edges.target, edges.weights)), strict=True)
    assert sorted(rows) == sorted(arcs)


@graphs
def test_an_undirected_edge_is_listed_once(name):
    g = AWKWARD[name]
    if g.directed:
        with pytest.raises(gk.InvalidArgument, match="both_ways"):
            EdgeList.from_graph(g, both_ways=True)
        return
    edges = EdgeList.from_graph(g, both_ways=True)
    loops = int(np.count_nonzero(edges.source == edges.target))
    assert np.all(edges.source <= edges.target)
    assert 2 * edges.source.size - loops == g.m
    assert edges.nbytes == 8 * edges.source.size


def test_a_self_loop_read_both_ways_counts_once(device):
    g = gk.Graph.from_arcs(3, [0, 0, 1], [0, 1, 1], [5, 7, 11], directed=False)
    assert row_sum(g, both_ways=True, device=device).tolist() == [12, 18, 0]
    sums = neighbor_sum(g, [1, 10, 100], both_ways=True, device=device)
    assert sums.tolist() == [11, 11, 0]


def test_a_pair_is_a_source_and_its_target():
    g = gk.rmat(scale=6, edge_factor=4, seed=1)
    edges = EdgeList.from_graph(g, order="lexicographic")
    assert edges.pairs.dtype == np.int32
    np.testing.assert_array_equal(edges.pairs, np.column_stack([edges.source, edges.target]))
    words = edges.target.astype(np.int64) * 2**32 + edges.source
    np.testing.assert_array_equal(edges.packed, words)
    empty = EdgeList.from_graph(gk.Graph([0], []))
    assert (empty.pairs.shape, empty.packed.shape) == ((0, 2), (0,))


@pytest.mark.parametrize("both_ways", [False, True])
def test_pairs_cost_twice_the_sectors_of_two_arrays_and_words_half_the_requests(both_ways):
    """Arcs are read side by side: two arrays need no help, unlike lists that begin anywhere."""
    g = gk.erdos_renyi(256, 8, seed=1)
    used = {}
    for layout in ("soa", "aos", "packed"):
        with gk.trace() as t:
            neighbor_sum(g, np.ones(g.n), both_ways=both_ways, layout=layout)
        names = {info.name for info in t.trace.arrays} & {"source", "target", "arcs"}
        ends = [t.trace.select(array=name) for name in names]
        requests = sum(metrics.requests(part) for part in ends)
        used[layout] = requests, sum(int(metrics.sectors(part).sum()) for part in ends)
    arcs = EdgeList.from_graph(g, both_ways=both_ways).source.size
    warps, sectors = -(-arcs // 32), -(-arcs // 8)
    assert used["soa"] == (2 * warps, 2 * sectors)
    assert used["aos"] == (2 * warps, 2 * -(-arcs // 4))
    assert used["packed"] == (warps, -(-arcs // 4))


def test_a_query_takes_a_logarithm_of_the_arcs_in_reads():
    g = gk.rmat(scale=9, edge_factor=8, seed=1)
    device = SimtDevice(trace=True)
    has_edge(g, [17], [23], device=device)
    names = [device.trace.arrays[a].name for a in device.trace.requests.array]
    reads = sum(name in ("source", "target") for name in names)
    rounds = int(np.ceil(np.log2(g.m + 1)))
    assert rounds <= reads <= 3 * rounds + 2
