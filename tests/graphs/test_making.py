"""Graphs of any size, made by NumPy or by compiled loops, are those that plain Python makes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

import gpukernels as gk
from gpukernels.cores import slabs
from gpukernels.errors import InvalidArgument
from gpukernels.graphs import graph, making

#: The value of `LARGE` with which NumPy, or the compiled loops, make every graph.
WAYS = (1 << 40, 0)


def arc_lists():
    """Numbers of vertices and arcs with a weight: loops and parallel arcs are frequent."""

    def of(n):
        vertex = st.integers(0, min(n - 1, 70)) | st.integers(n - 1, n - 1)
        arc = st.tuples(vertex, vertex, st.integers(-3, 3))
        return st.tuples(st.just(n), st.lists(arc, max_size=40))

    return st.sampled_from([1, 2, 3, 65, 2**16, 2**16 + 1, 2**17 + 1]).flatmap(of)


def in_order(arcs, directed, parallel, self_loops):
    """Sort a list in plain Python."""
    arcs = [(u, v, w) for u, v, w in arcs if self_loops == "keep" or u != v]
    if not directed:
        arcs += [(v, u, w) for u, v, w in arcs if u != v]
    arcs.sort(key=lambda arc: arc[:2])
    if parallel == "keep":
        return arcs
    return [min(group) for _, group in itertools.groupby(arcs, key=lambda arc: arc[:2])]


def listed(g):
    """Return the arcs of a graph, of weight 1 where it has no weights."""
    weights = np.ones(g.m) if g.weights is None else g.weights
    return list(zip(*(column.tolist() for column in (*g.coo, weights)), strict=True))


@pytest.mark.parametrize("large", WAYS)
@pytest.mark.parametrize("kind", [np.int32, np.int64, np.float32, np.float64, None])
@examples(40, soak=1000)
@given(
    arc_list=arc_lists(),
    options=st.tuples(
        st.booleans(), st.sampled_from(["keep", "min"]), st.sampled_from(["keep", "remove"])
    ),
)
def test_arcs_are_ordered_and_turned_around_as_by_python(large, kind, arc_list, options):
    n, arcs = arc_list
    # Odd numbers of 41 bits, so that both halves of a weight of 64 bits count.
    scale = 2**40 + 1 if kind in (np.int64, np.float64) else 1
    arcs = [(u, v, 1 if kind is None else w * scale) for u, v, w in arcs]
    source, target, weight = map(list, zip(*arcs, strict=True)) if arcs else ([], [], [])
    weight = None if kind is None else np.array(weight, kind)
    expected = in_order(arcs, *options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(making, "LARGE", large)
        g = gk.Graph.from_arcs(n, source, target, weight, *options)
        turned = gk.Graph(g.offsets, g.targets, g.weights).reverse
    for h, known in ((g, expected), (turned, [(v, u, w) for u, v, w in expected])):
        assert listed(h) == sorted(known, key=lambda arc: arc[:2])
        assert (h.n, h.offsets.dtype, h.targets.dtype) == (n, np.int32, np.int32)
        assert (h.weights is None) if kind is None else (h.weights.dtype == kind)


@pytest.mark.parametrize("large", WAYS)
@examples(75, soak=1500)
@given(
    arc_list=arc_lists(), both=st.booleans(), damage=st.booleans(), seed=st.none() | st.integers(0)
)
def test_symmetry_is_found_as_by_counting(large, arc_list, both, damage, seed):
    n, arcs = arc_list
    arcs = in_order(arcs, not both, "keep", "keep")
    if damage and arcs:
        u, v, w = arcs.pop(len(arcs) // 2)
        arcs.append((v, u, w) if u != v else (u, v, w + 1))
    if seed is not None:  # any order within the rows
        order = np.random.default_rng(seed).permutation(len(arcs))
        arcs = sorted((arcs[i] for i in order), key=lambda arc: arc[0])
    table = np.array(arcs, np.int32).reshape(-1, 3).T
    offsets = np.searchsorted(table[0], np.arange(n + 1))
    for weights in (None, table[2]):
        known = [(u, v, 0 if weights is None else w) for u, v, w in arcs]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(making, "LARGE", large)
            if sorted(known) == sorted((v, u, w) for u, v, w in known):
                assert gk.Graph(offsets, table[1], weights, directed=False).m == len(arcs)
            else:
                with pytest.raises(InvalidArgument, match="has no opposite arc"):
                    gk.Graph(offsets, table[1], weights, directed=False)


def test_an_rmat_graph_is_the_same_however_it_is_drawn(monkeypatch):
    known = gk.rmat(9, 8, seed=3), gk.kron(9, 8, seed=3)
    monkeypatch.setattr(making, "LARGE", 0)
    monkeypatch.setattr(slabs, "PART", 1000)
    again = gk.rmat(9, 8, seed=3), gk.kron(9, 8, seed=3)
    for one, other in zip(known, again, strict=True):
        assert listed(one) == listed(other)


def test_more_arcs_than_an_offset_holds_are_refused_before_they_are_made(monkeypatch):
    monkeypatch.setattr(graph, "INT32_MAX", 3)
    with pytest.raises(InvalidArgument, match=r"number of arcs.*4.*at most 3"):
        gk.Graph.from_arcs(2, [0, 1], [1, 0], directed=False)
