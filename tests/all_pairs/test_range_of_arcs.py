"""How far lengths may reach is read off a graph's arcs as off all rows of its matrix."""

from __future__ import annotations

import numpy as np
import pytest
from awkward_graphs import AWKWARD

import gpukernels as gk
from gpukernels.all_pairs import encoding
from gpukernels.all_pairs.encoding import ABSENT, UNREACHED, encoded, none_in
from gpukernels.all_pairs.lengths import range_of_arcs, range_of_rows

SPECIAL = [-7, 0, 5, ABSENT - 1, ABSENT, UNREACHED - 1, UNREACHED]


@pytest.mark.parametrize("name", AWKWARD)
def test_of_every_shape_of_graph(name):
    g = AWKWARD[name]
    assert range_of_arcs(g) == range_of_rows(g)


@pytest.mark.parametrize("kind", ["int32", "float32"])
@pytest.mark.parametrize("seed", range(8))
def test_of_loops_parallel_arcs_and_weights_that_look_absent(kind, seed):
    rng = np.random.default_rng(seed)
    n, m = 9, 60
    weights = rng.choice(SPECIAL[: 3 + seed], m).astype(kind)
    if kind == "float32":
        weights[rng.random(m) < 0.1] = np.finfo(kind).max
    g = gk.Graph.from_arcs(n, rng.integers(0, n, m), rng.integers(0, n, m), weights)
    reach, expected = range_of_arcs(g), range_of_rows(g)
    assert reach.beyond is expected.beyond
    assert reach[:2] == pytest.approx(expected[:2], rel=1e-12)


@pytest.mark.parametrize("kind", ["int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("seed", range(4))
def test_small_matrices_are_read_as_large_ones(kind, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    given = rng.choice([-(2**31), *SPECIAL], (6 + seed, 9 + seed)).astype(kind)
    none = none_in(given)
    given[rng.random(given.shape) < 0.3] = none
    small, small_range = encoded(given, first=seed)
    monkeypatch.setattr(encoding, "SMALL", -1)
    large, large_range = encoded(given, first=seed)
    np.testing.assert_array_equal(small, large)
    assert small_range == large_range
