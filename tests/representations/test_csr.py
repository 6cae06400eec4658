"""The three layouts of weighted arcs hold the same arcs, and cost what the chapter says."""

from __future__ import annotations

import numpy as np
import pytest

import gpukernels as gk
from gpukernels.device import SimtDevice
from gpukernels.representations.csr import arc_pairs, packed_arcs, weighted_neighbor_sum

GRAPH = gk.random_weights(gk.rmat(scale=6, edge_factor=4, seed=1), low=-100, high=100, seed=2)


def test_a_pair_is_a_target_and_its_weight():
    pairs = arc_pairs(GRAPH)
    assert pairs.dtype == np.int32
    np.testing.assert_array_equal(pairs[:, 0], GRAPH.targets)
    np.testing.assert_array_equal(pairs[:, 1], GRAPH.weights)


def test_a_packed_word_holds_weight_over_target():
    words = GRAPH.weights.astype(np.int64) * 2**32 + GRAPH.targets
    np.testing.assert_array_equal(packed_arcs(GRAPH), words)
    assert packed_arcs(gk.Graph([0], [])).shape == (0,)


@pytest.mark.parametrize("layout", ["aos", "packed"])
def test_float_weights_have_an_array_of_their_own(layout, device):
    g = gk.Graph(GRAPH.offsets, GRAPH.targets, GRAPH.weights.astype(np.float32))
    with pytest.raises(gk.InvalidArgument, match="weights"):
        weighted_neighbor_sum(g, np.zeros(g.n), layout=layout, device=device)


def requests(layout: str) -> int:
    """Count the requests for targets and weights."""
    device = SimtDevice(trace=True)
    weighted_neighbor_sum(GRAPH, np.zeros(GRAPH.n), layout=layout, device=device)
    names = [device.trace.arrays[a].name for a in device.trace.requests.array]
    return sum(name in ("targets", "weights", "arcs") for name in names)


def test_a_packed_word_halves_the_requests():
    assert requests("soa") == requests("aos") == 2 * requests("packed")
