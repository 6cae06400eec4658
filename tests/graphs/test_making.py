"""Large graphs, made on all cores, are those that Python, SciPy and NumPy make."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

import gpukernels as gk
from gpukernels.errors import InvalidArgument
from gpukernels.graphs import generators, graph
from gpukernels.graphs.making import arcs, modular, quadrants, symmetry


@contextlib.contextmanager
def parts(count):
    """Let every loop run in so many parts, whatever cores there are."""

    @contextlib.contextmanager
    def so_many():
        yield count

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arcs, "all_cores", so_many)
        patch.setattr(symmetry, "all_cores", so_many)
        patch.setattr(quadrants, "cores", lambda: count)
        yield


@contextlib.contextmanager
def all_are_large(count):
    """Let graphs of any size be made by the compiled loops."""
    with parts(count), pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph, "LARGE", 0)
        patch.setattr(generators, "LARGE", 0)
        yield


def lists_of_arcs():
    """Numbers of vertices and arcs with a weight: loops and parallel arcs are frequent."""

    def of(n):
        vertex = st.integers(0, min(n - 1, 70)) | st.integers(n - 1, n - 1)
        arc = st.tuples(vertex, vertex, st.integers(-3, 3))
        return st.tuples(st.just(n), st.lists(arc, max_size=40))

    return st.sampled_from([1, 2, 3, 5, 64, 65, 2**17 + 1]).flatmap(of)


def columns(listed):
    table = np.array(listed, dtype=np.int32).reshape(-1, 3)
    return [np.ascontiguousarray(column) for column in table.T]


def in_order(listed, both_ways, keep_loops, least):
    """Sort a list in plain Python."""
    found = [arc for arc in listed if keep_loops or arc[0] != arc[1]]
    if both_ways:
        found += [(v, u, w) for u, v, w in found if u != v]
    found.sort(key=lambda arc: arc[:2])
    if least:
        best = {}
        for u, v, w in found:
            best[u, v] = min(w, best.get((u, v), w))
        found = [(*ends, w) for ends, w in best.items()]
    return found


@examples(100, soak=2000)
@given(
    arc_list=lists_of_arcs(),
    flags=st.tuples(*[st.booleans()] * 3),
    kind=st.sampled_from([np.int32, np.int64, np.float32, np.float64, None]),
    count=st.sampled_from([1, 2, 7]),
)
def test_arcs_are_ordered_as_python_orders_them(arc_list, flags, kind, count):
    n, listed = arc_list
    expected = in_order(listed, *flags)
    source, target, weight = columns(listed)
    # Odd numbers of 41 bits, so that both halves of a weight of 64 bits count.
    scale = 2**40 + 1 if kind in (np.int64, np.float64) else 1
    given_weight = None if kind is None else weight.astype(kind) * kind(scale)
    knobs = dict(zip(("both_ways", "keep_loops", "least"), flags, strict=True))
    with parts(count):
        offsets, targets, weights = arcs.arcs_in_order(n, source, target, given_weight, **knobs)
    sources = np.repeat(np.arange(n), np.diff(offsets))
    ends = list(zip(sources.tolist(), targets.tolist(), strict=True))
    assert ends == [arc[:2] for arc in expected]
    assert (offsets[0], offsets[-1], offsets.size) == (0, targets.size, n + 1)
    assert offsets.dtype == targets.dtype == np.int32
    assert weights is None if kind is None else weights.dtype == kind
    if kind is not None:
        assert weights.tolist() == [arc[2] * scale for arc in expected]


@examples(100, soak=2000)
@given(arc_list=lists_of_arcs(), count=st.sampled_from([1, 2, 7]), weighted=st.booleans())
def test_a_graph_is_the_same_by_both_ways_of_making_it(arc_list, count, weighted):
    n, listed = arc_list
    source, target, weight = columns(listed)
    weight = weight if weighted else None
    for directed in (True, False):
        made = gk.Graph.from_arcs(n, source, target, weight, directed)
        with all_are_large(count):
            again = gk.Graph.from_arcs(n, source, target, weight, directed)
            turned, known = again.reverse, made.reverse
        for one, other in ((made, again), (known, turned)):
            assert one.offsets.tolist() == other.offsets.tolist()
            assert one.targets.tolist() == other.targets.tolist()
            if weighted:
                assert one.weights.tolist() == other.weights.tolist()


@examples(150, soak=3000)
@given(
    arc_list=lists_of_arcs(),
    both_ways=st.booleans(),
    damage=st.booleans(),
    weighted=st.booleans(),
    count=st.sampled_from([1, 2, 7]),
)
def test_symmetry_is_found_as_by_counting(arc_list, both_ways, damage, weighted, count):
    n, listed = arc_list
    listed = in_order(listed, both_ways, True, least=True)
    if damage and listed:
        u, v, w = listed.pop(len(listed) // 2)
        listed.append((v, u, w) if u != v else (u, v, w))
    g = gk.Graph.from_arcs(n, *columns(listed)[:2], columns(listed)[2] if weighted else None)
    known = [(u, v, w if weighted else 0) for u, v, w in listed]
    symmetric = sorted(known) == sorted((v, u, w) for u, v, w in known)
    with parts(count):
        assert symmetry.is_symmetric(g.offsets, g.targets, g.weights) == symmetric
    with all_are_large(count):
        if symmetric:
            gk.Graph(g.offsets, g.targets, g.weights, directed=False)
        else:
            with pytest.raises(InvalidArgument, match="has no opposite arc"):
                gk.Graph(g.offsets, g.targets, g.weights, directed=False)


@pytest.mark.parametrize("count", [1, 2, 7])
def test_symmetry_does_not_depend_on_the_order_of_rows_or_of_parallel_arcs(count):
    offsets, targets = np.array([0, 4, 6, 7], np.int32), np.array([2, 0, 1, 1, 0, 0, 0], np.int32)
    weights = np.array([5, 9, 1, 2, 2, 1, 5], np.float32)
    with parts(count):
        assert symmetry.is_symmetric(offsets, targets, None)
        assert symmetry.is_symmetric(offsets, targets, weights)
        weights[4] = 3
        assert not symmetry.is_symmetric(offsets, targets, weights)
    with all_are_large(count):
        assert gk.Graph(offsets, targets, directed=False).m == 7


def test_as_many_arcs_at_every_vertex_are_not_enough():
    # 0 -> 2 and 1 -> 3, but 3 -> 0 and 2 -> 1: sums of ends, and degrees, agree.
    offsets, targets = np.array([0, 1, 2, 3, 4], np.int32), np.array([2, 3, 1, 0], np.int32)
    assert not symmetry.is_symmetric(offsets, targets, None)
    weights = np.array([1, 2, 2, 1], np.int32)
    back = np.array([2, 3, 0, 1], np.int32)
    assert symmetry.is_symmetric(offsets, back, None)
    assert not symmetry.is_symmetric(offsets, back, weights)


@njit
def _plus(a, b):
    return modular.plus(a, b)


@njit
def _times(a, b):
    return modular.times(a, b)


BELOW_PRIME = st.integers(0, modular.PRIME - 1) | st.integers(1, 4).map(
    lambda less: modular.PRIME - less
)


@examples(300, soak=20_000)
@given(a=BELOW_PRIME, b=BELOW_PRIME)
def test_sums_and_products_are_those_of_python(a, b):
    one, other = np.uint64(a), np.uint64(b)
    assert (_plus(one, other), _times(one, other)) == tuple(
        found % modular.PRIME for found in (a + b, a * b)
    )


@pytest.mark.parametrize("count", [1, 3])
def test_an_rmat_graph_is_the_same_however_it_is_drawn(count, monkeypatch):
    monkeypatch.setattr(quadrants, "CHUNK", 1000)
    known = gk.rmat(9, 8, seed=3), gk.kron(9, 8, seed=3)
    with all_are_large(count):
        again = gk.rmat(9, 8, seed=3), gk.kron(9, 8, seed=3)
    for one, other in zip(known, again, strict=True):
        assert one.offsets.tolist() == other.offsets.tolist()
        assert one.targets.tolist() == other.targets.tolist()


def test_more_arcs_than_an_offset_holds_are_refused_before_they_are_made(monkeypatch):
    monkeypatch.setattr(arcs, "MOST_ARCS", 3)
    ends = np.array([0, 1], np.int32), np.array([1, 0], np.int32)
    with all_are_large(1), pytest.raises(InvalidArgument, match=r"number of arcs.*4.*at most 3"):
        gk.Graph.from_arcs(2, *ends, directed=False)


@pytest.mark.parametrize("bit", [0, 31, 32, 52, 62])
@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_symmetry_counts_every_bit_of_a_long_weight(bit, kind):
    offsets, targets = np.array([0, 2, 4, 6], np.int32), np.array([1, 2, 0, 2, 0, 1], np.int32)
    weights = np.array([5, 2**40 + 1, 5, -7, 2**40 + 1, -7], kind)
    assert symmetry.is_symmetric(offsets, targets, weights)
    weights.view(np.int64)[4] ^= 1 << bit
    assert not symmetry.is_symmetric(offsets, targets, weights)
