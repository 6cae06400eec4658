"""Sums that no type holds are refused, and cycles are negative if their exact lengths are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from effort import examples
from hypothesis import example, given
from hypothesis import strategies as st

import gpukernels as gk
from gpukernels import reference
from gpukernels.reference.negative_cycles import find_negative_cycle
from gpukernels.shortest_paths import METHODS

NONE = 2**63 - 1
ONE_ROOT = reference.bellman_ford, reference.bellman_ford_queue
ALL_PAIRS = reference.floyd_warshall, reference.johnson
LONG = [2**62, 2**62 - 1, 2**62 + 1, 2**61, 2**63 - 1, 2**53 + 1, 1, 2, 0]
NON_NEGATIVE = "near_far", "delta_stepping", "near_far_persistent", "ortega"
ROUNDED = [0.1, 0.2, 0.3, 1.0, 3.0, 2.0**53, 2.0**54 + 4, 2.0**60, 5e-324, 2.0**1020, 1.5e308]


@st.composite
def arcs_of(draw, sizes):
    n = draw(st.integers(1, 6))
    vertex, size = st.integers(0, n - 1), st.sampled_from(sizes)
    arc = st.tuples(vertex, vertex, st.builds(lambda w, s: s * w, size, st.sampled_from([1, -1])))
    acyclic = draw(st.booleans())
    arcs = draw(st.lists(arc, max_size=12))
    return n, [(u, v, abs(w) if acyclic and u >= v else w) for u, v, w in arcs]


def exact(n: int, arcs: list, roots: list[int]) -> list | None:
    """Return the exact distances from `roots`; None if there is a negative cycle behind them."""
    distance: list = [None] * n
    for root in roots:
        distance[root] = Fraction(0)
    for _ in range(n + 1):
        before = list(distance)
        for u, v, w in arcs:
            if distance[u] is not None and (
                distance[v] is None or distance[u] + Fraction(w) < distance[v]
            ):
                distance[v] = distance[u] + Fraction(w)
        if distance == before:
            return distance
    return None


def check(n: int, arcs: list, dtype: type, search, known: list[list] | None) -> None:
    """Compare the rows that `search` finds with exact ones, or its error with the reason for it."""
    weights = [w for _, _, w in arcs]
    try:
        rows = search().tolist()
    except gk.NegativeCycleError as error:
        assert known is None
        ends = zip(error.cycle, [*error.cycle[1:], error.cycle[0]], strict=True)
        least = [min(Fraction(w) for a, b, w in arcs if (a, b) == (u, v)) for u, v in ends]
        assert sum(least) < 0
    except OverflowError:
        assert known is not None
        if dtype is np.int64:
            lengths = [length for row in known for length in row if length is not None]
            assert not all(-(2**63) <= length < NONE for length in lengths)
        else:
            assert max(map(abs, weights)) > 2.0**1000
    except gk.RoundingError:
        assert known is not None
        assert dtype is np.float64
    else:
        assert known is not None
        none = NONE if dtype is np.int64 else np.inf
        slack = n * Fraction(2) ** -51 * sum(
            max((abs(Fraction(w)) for u, _, w in arcs if u == x), default=0) for x in range(n)
        ) if dtype is np.float64 else 0  # fmt: skip
        for row, right in zip(rows, known, strict=True):
            for length, true in zip(row, right, strict=True):
                assert (length == none) == (true is None)
                assert true is None or abs(Fraction(length) - true) <= slack


def check_all(n: int, arcs: list, dtype: type) -> None:
    source, target, weight = zip(*arcs, strict=True) if arcs else ([], [], [])
    g = gk.Graph.from_arcs(n, source, target, np.array(weight, dtype))
    from_0 = exact(n, arcs, [0])
    for one in ONE_ROOT:
        rows = None if from_0 is None else [from_0]
        check(n, arcs, dtype, lambda one=one: one(g).distance[None], rows)
    heights = exact(n, arcs, list(range(n)))
    table = None if heights is None else [exact(n, arcs, [root]) for root in range(n)]
    for every in ALL_PAIRS:
        check(n, arcs, dtype, lambda every=every: every(g).distance, table)
    assert (find_negative_cycle(g, np.zeros(n)) is None) == (heights is not None)


TOO_SHORT_CYCLE = 3, [(0, 1, -(2**62)), (1, 2, -(2**62)), (2, 0, -(2**62))]
FAR_CYCLE = 4, [(0, 1, 2**62), (1, 2, 2**62), (2, 3, 1), (3, 2, -2)]
ONE_LESS = 3, [(0, 1, 2**62 + 1), (1, 2, 2**61 + 1), (2, 0, -(2**62) - 2**61 - 3)]
ONE_MORE = 3, [(0, 1, 2**62 + 1), (1, 2, 2**61 + 1), (2, 0, -(2**62) - 2**61 - 1)]
WIDE_KEYS = 3, [(0, 1, -(2**63) + 9), (2, 1, 2**62), (2, 0, 2**63 - 2), (1, 2, 2**63 - 1)]


@examples(80, soak=3000)
@given(arcs_of(LONG))
@example(TOO_SHORT_CYCLE)
@example(FAR_CYCLE)
@example(ONE_LESS)
@example(ONE_MORE)
@example(WIDE_KEYS)
@example((2, [(0, 1, -(2**63)), (1, 0, 2**63 - 1)]))
def test_whole_numbers_are_exact_or_refused(graph):
    check_all(*graph, np.int64)


@examples(80, soak=3000)
@given(arcs_of(ROUNDED))
@example((3, [(0, 1, 0.1), (1, 2, 0.2), (2, 0, -0.3)]))
@example((3, [(0, 1, 0.1), (1, 2, 0.2), (2, 0, -0.30000000000000004)]))
@example((3, [(0, 1, 2.0**60), (1, 2, -1.0), (2, 0, -(2.0**60))]))
@example((3, [(0, 1, 2.0**60), (1, 2, 1.0), (2, 0, -(2.0**60))]))
@example((4, [(0, 1, 1.5e308), (1, 2, 1.5e308), (2, 3, 1.0), (3, 2, -2.0)]))
@example((3, [(0, 1, -1.5e308), (1, 2, -1.5e308), (2, 0, -1.5e308)]))
@example((4, [(0, 1, -1.5e308), (1, 2, -(2.0**1022)), (2, 3, -(2.0**1022)), (3, 3, -3.0)]))
@example((3, [(0, 1, 1.5e308), (1, 2, -1.5e308), (2, 0, -5e-324)]))
@example((3, [(0, 1, 1.5e308), (1, 2, -1.5e308), (2, 0, 5e-324)]))
def test_floats_are_close_or_refused(graph):
    check_all(*graph, np.float64)


def test_an_error_of_all_pairs_names_vertices_of_the_graph():
    g = gk.Graph.from_arcs(3, [0, 1], [1, 2], [-(2**63), -1])
    for search in ALL_PAIRS:
        with pytest.raises(OverflowError, match="a path is shorter than int64 holds"):
            search(g)
    g = gk.Graph.from_arcs(3, [0, 1], [1, 2], [2**63 - 2, 1])
    with pytest.raises(OverflowError, match="from vertex 0 is longer than int64 holds"):
        reference.johnson(g)


def lengths_of(g: gk.Graph) -> np.ndarray:
    return np.where(np.eye(g.n, dtype=bool), 0, g.dense())


SIGNED = [name for name in METHODS if name not in NON_NEGATIVE]
BY_KERNELS = {
    **{f"sssp, {name}": lambda g, name=name: gk.sssp(g, 0, name) for name in SIGNED},
    "sssp_many": lambda g: gk.sssp_many(g, [0, 1], "topology_driven"),
    "sssp_many, workfront_sweep": lambda g: gk.sssp_many(g, [0, 1], "workfront_sweep"),
    **{f"apsp, {name}": lambda g, name=name: gk.apsp(g, name) for name in gk.all_pairs.METHODS},
    "apsp of a matrix": lambda g: gk.apsp(lengths_of(g), "blocked"),
    "apsp of a matrix, partitioned": lambda g: gk.apsp(lengths_of(g), "partitioned"),
    "apsp in blocks": lambda g: gk.apsp(g, "blocked", block=2),
}


@pytest.mark.parametrize("call", BY_KERNELS)
def test_kernels_name_cycles_of_the_weights_as_given(call):
    negative = [2.0**30, 1 - 2.0**-30, -(2.0**30) - 1]  # 0 in float32
    g = gk.Graph.from_arcs(3, [0, 1, 2], [1, 2, 0], negative)
    with pytest.raises(gk.NegativeCycleError) as caught:
        BY_KERNELS[call](g)
    assert sorted(caught.value.cycle) == [0, 1, 2]
    g = gk.Graph.from_arcs(3, [0, 1, 2], [1, 2, 0], [0.1, 0.2, -0.3])  # negative in float32
    assert gk.sssp_many(g, [0], engine="cpu").distance[0].tolist() == [0, 0.1, 0.1 + 0.2]
    with pytest.raises(gk.RoundingError):
        BY_KERNELS[call](g)
    g = gk.Graph.from_arcs(4, [0, 1, 2, 3], [1, 0, 3, 2], [1.5, 0.1, *negative[::2]])
    if "sssp" in call:  # a cycle to which no path leads
        BY_KERNELS[call](g)
