"""Kernels refuse some weights of 64 bits and round others; the bound is checked exactly."""

from __future__ import annotations

import copy
import gc
import weakref
from fractions import Fraction

import numpy as np
import pytest
from effort import examples
from hypothesis import assume, example, given
from hypothesis import strategies as st

import gpukernels as gk
from gpukernels import reference
from gpukernels.all_pairs import METHODS as ALL_PAIRS
from gpukernels.all_pairs import all_cores
from gpukernels.graphs.kernel_weights import kernel_graph, rounding_of
from gpukernels.reference import multicore
from gpukernels.representations import adjacency_matrix, coo, csr
from gpukernels.shortest_paths import METHODS

INT64 = -(2**63), 2**63 - 1


def one_arc(weight) -> gk.Graph:
    return gk.Graph.from_arcs(2, [0], [1], [weight])


def distances(n: int, arcs, root: int, zero=0) -> list:
    """Return exact distances in Python's own numbers, None without a path."""
    d: list = [None] * n
    d[root] = zero
    for _ in range(n):
        for u, v, w in arcs:
            if d[u] is not None and (d[v] is None or d[u] + w < d[v]):
                d[v] = d[u] + w
    assert all(d[u] is None or d[u] + w >= d[v] for u, v, w in arcs), "negative cycle"
    return d


def matrix_of(g: gk.Graph) -> np.ndarray:
    lengths = g.dense().copy()
    np.fill_diagonal(lengths, 0)
    return lengths


CALLS = {
    **{f"sssp, {name}": lambda g, name=name: gk.sssp(g, 0, name) for name in METHODS},
    **{f"apsp, {name}": lambda g, name=name: gk.apsp(g, name) for name in ALL_PAIRS},
    **{
        f"apsp of a matrix, {name}": lambda g, name=name: gk.apsp(matrix_of(g), name)
        for name in ALL_PAIRS
    },
    "sssp_many": lambda g: gk.sssp_many(g, [0, 1], "topology_driven"),
    "sssp_many, near_far": lambda g: gk.sssp_many(g, [0, 1], "near_far"),
    "apsp, blocks": lambda g: gk.apsp(g, "blocked", block=2),
    "apsp, devices": lambda g: gk.apsp(g, "blocked", devices=[gk.SimtDevice(), gk.SimtDevice()]),
    "apsp, per_root in batches": lambda g: gk.apsp(g, "per_root", batch=2),
    "apsp, next hops": lambda g: gk.apsp(g, "blocked", next_hops=True),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "weight", [2**31, -(2**31) - 1, 2**53 + 1, 3.5e38, -3.5e38, 1e-46, -5e-324, 2.0**-150]
)
def test_kernels_refuse_what_32_bits_cannot_hold(call, weight):
    with pytest.raises(gk.InvalidArgument, match=r"gk\.reference") as caught:
        CALLS[call](one_arc(weight))
    assert caught.value.value == weight
    assert caught.value.argument in ("g.weights[0]", "g[0, 1]")


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("weight", [2**31 - 2, 7, 0.1, 16777217.0, 2.0**-149, 3.4e38, 1e-40])
def test_other_weights_of_64_bits_are_searched(call, weight):
    g = one_arc(weight)
    g = gk.Graph(g.offsets, g.targets, g.weights.astype(f"{g.weights.dtype.kind}8"))
    if weight == 2**31 - 2 and "apsp" in call:
        with pytest.raises(OverflowError, match="longer than int32 holds"):
            CALLS[call](g)
        return
    if weight == 3.4e38 and "apsp" in call and "per_root" not in call:
        return  # which count with sums of two
    r = CALLS[call](g)
    distance = r.distance if r.distance.ndim == 1 else r.distance[0]
    assert distance.dtype == (np.int32 if g.weights.dtype == np.int64 else np.float32)
    assert distance.tolist() == [0, distance.dtype.type(weight)]
    assert g.weights.tolist() == [weight]
    if g.weights.dtype == np.int64:
        assert "rounded_weights" not in r.stats
        return
    assert r.stats["rounded_weights"] == (float(np.float32(weight)) != weight)
    error = abs(Fraction(distance[1].item()) - Fraction(weight))
    assert error <= r.stats["rounding_error"] <= 1.01 * (weight * 2**-24 + 2**-150)


@pytest.mark.parametrize("name", ALL_PAIRS)
@pytest.mark.parametrize("none", [2**31 - 1, 2**63 - 1])
def test_both_largest_whole_numbers_of_a_matrix_are_no_arc_for_kernels(name, none):
    r = gk.apsp(np.array([[0, 5], [none, 0]], np.int64), name)
    assert r.distance.dtype == np.int32
    assert r.distance.tolist() == [[0, 5], [2**31 - 1, 0]]


lengths = st.floats(2.0**-140, 1e30) | st.floats(0.5, 2) | st.sampled_from([0.0, 0.1, 2.0**24])


@st.composite
def float_graphs(draw, signs=(1,)):
    """Arcs of float64 weights; with negative ones from lower to higher vertices alone."""
    n = draw(st.integers(1, 7))
    vertices = st.integers(0, n - 1)
    arcs = draw(
        st.lists(st.tuples(vertices, vertices, lengths, st.sampled_from(signs)), max_size=16)
    )
    arcs = [(u, v, sign * w) for u, v, w, sign in arcs if len(signs) == 1 or u < v]
    return n, arcs


def graph_of(n: int, arcs) -> gk.Graph:
    source, target, weight = zip(*arcs, strict=True) if arcs else ([], [], [])
    return gk.Graph.from_arcs(n, source, target, np.array(weight, np.float64))


def check_bound(n: int, arcs, rows, stats) -> None:
    """Compare with fractions, which are never rounded."""
    exact = [(u, v, Fraction(w)) for u, v, w in arcs]
    wrong = Fraction(0)
    for root, row in rows:
        for v, known in enumerate(distances(n, exact, root, Fraction(0))):
            assert np.isinf(row[v]) == (known is None)
            if known is not None:
                wrong = max(wrong, abs(Fraction(row[v].item()) - known))
    assert wrong <= stats["rounding_error"]
    assert stats["rounded_weights"] == sum(float(np.float32(w)) != w for _, _, w in arcs)


@pytest.mark.parametrize("method", METHODS)
@examples(15, soak=500)
@given(float_graphs())
@example((4, [(0, 1, 16777217.0), (1, 2, 1.0), (2, 3, 1.0)]))
def test_no_distance_is_further_from_the_exact_one_than_stats_says(method, arc_list):
    n, arcs = arc_list
    r = gk.sssp(graph_of(n, arcs), 0, method)
    check_bound(n, arcs, [(0, r.distance)], r.stats)


@pytest.mark.parametrize("method", ALL_PAIRS)
@pytest.mark.parametrize("matrix", [False, True])
@examples(10, soak=300)
@given(float_graphs())
def test_no_distance_of_all_pairs_is_either(method, matrix, arc_list):
    n, arcs = arc_list
    g = graph_of(n, arcs)
    if matrix:
        least = {}
        for u, v, w in arcs:
            if u != v:
                least[u, v] = min(w, least.get((u, v), np.inf))
        arcs = [(u, v, w) for (u, v), w in least.items()]
    r = gk.apsp(matrix_of(g) if matrix else g, method)
    check_bound(n, arcs, enumerate(r.distance), r.stats)


@pytest.mark.parametrize(
    "call",
    [
        name
        for name in CALLS
        if "matrix" not in name and not name.endswith(("far", "ing", "persistent", "ortega"))
    ],
)
@examples(10, soak=300)
@given(float_graphs((1, -1)))
def test_the_bound_counts_negative_weights(call, arc_list):
    n, arcs = arc_list
    assume(n > 1)
    r = CALLS[call](graph_of(n, arcs))
    check_bound(n, arcs, enumerate(np.atleast_2d(r.distance)), r.stats)


def test_the_bound_of_a_long_path_is_of_the_size_of_the_error():
    arcs = 20_000
    g = gk.Graph.from_arcs(arcs + 1, np.arange(arcs), np.arange(1, arcs + 1), np.full(arcs, 0.1))
    added = np.add.accumulate(np.full(arcs, 0.1, np.float32))  # as kernels do, in order
    error = max(
        abs(Fraction(length) - k * Fraction(0.1)) for k, length in enumerate(added.tolist(), 1)
    )
    bound = rounding_of(g).bound(float(added[-1]))
    assert error > Fraction(1, 3)
    assert error <= bound <= 10 * error
    assert reference.dijkstra(g).distance[-1] == pytest.approx(2000, abs=1e-8)


def test_a_short_search_in_a_large_graph_has_a_small_bound():
    g = gk.complete(300)
    g = gk.Graph(g.offsets, g.targets, np.random.default_rng(1).uniform(0.1, 1, g.m))
    longest = float(reference.dijkstra(g).distance.max())
    assert rounding_of(g).bound(longest) < 12 * 2**-24 * longest


@pytest.mark.parametrize("weights", [np.arange(3), np.arange(3) / 7])
def test_the_graph_that_kernels_see_is_made_once_and_dies_with_the_other(weights, monkeypatch):
    """So a device that keeps its arrays has them at the next call."""
    g = gk.Graph.from_arcs(3, [0, 1, 2], [1, 2, 0], weights, labels=["a", "b", "c"])
    seen = []
    harish = METHODS["harish"]
    monkeypatch.setitem(METHODS, "harish", lambda g, *args: seen.append(g) or harish(g, *args))
    for _ in range(2):
        gk.sssp(g, "a", "harish")
    assert seen[0] is seen[1] is kernel_graph(g.unlabeled) is kernel_graph(seen[0])
    assert seen[0].weights.itemsize == 4
    assert seen[0].offsets is g.offsets
    alive = weakref.ref(seen[0])
    seen.clear()
    del g
    gc.collect()
    assert alive() is None


def test_a_graph_of_32_bits_is_what_kernels_see():
    for weights in (None, [1, 2], np.float32([0.1, 2])):
        g = gk.Graph.from_arcs(3, [0, 1], [1, 2], weights)
        assert kernel_graph(g) is g
        stats = gk.sssp(g, 0, "topology_driven").stats
        assert "rounded_weights" not in stats
        assert ("rounding_error" in stats) == (
            g.weights is not None and g.weights.dtype.kind == "f"
        )


def test_what_stats_say_of_rounding_can_be_copied():
    r = gk.sssp(one_arc(0.1), 0, "topology_driven")
    again = copy.deepcopy(r.stats)
    assert again["rounding_error"] == r.stats["rounding_error"] > 0
    assert again["relaxations"] == r.stats["relaxations"]


AWKWARD = [2**31 - 1, 2**31, -(2**31), 2**53 + 1, 2**61, -(2**61)]


@pytest.mark.parametrize("weight", AWKWARD)
def test_the_cpu_takes_whole_numbers_as_they_are(weight, tmp_path):
    g = gk.Graph.from_arcs(3, [0, 1], [1, 2], np.array([weight, 1], np.int64))
    known, none = [0, weight, weight + 1], INT64[1]
    rows = [known, [none, 0, 1], [none, none, 0]]
    for search in (reference.bellman_ford, reference.bellman_ford_queue):
        assert search(g).distance.tolist() == known
    if weight > 0:
        assert reference.dijkstra(g).distance.tolist() == known
        assert multicore.sssp(g).distance.tolist() == known
    assert reference.floyd_warshall(g).distance.tolist() == rows
    many = gk.sssp_many(g, [0, 2], engine="cpu", into=tmp_path / "d.npy").distance
    assert (many.dtype, many.tolist()) == (np.int64, [rows[0], rows[2]])
    for lengths_of in (g, matrix_of(g)):
        results = [all_cores.apsp(lengths_of)]
        results += [gk.apsp(lengths_of, name, engine="cpu") for name in ("partitioned", "per_root")]
        results += [gk.apsp(lengths_of, "blocked", engine="cpu", block=b) for b in (1, 2, 3)]
        for r in results:
            assert (r.distance.dtype, r.distance.tolist()) == (np.int64, rows)
            assert r.joined == 6


@pytest.mark.parametrize("weight", [5e-324, 1e-46, 0.1, 16777217.0, 3.5e38, 1e300])
def test_the_cpu_takes_float64_as_they_are(weight):
    g = gk.Graph.from_arcs(3, [0, 1], [1, 2], [weight, weight])
    known = [0, weight, 2 * weight]
    for search in (reference.dijkstra, reference.bellman_ford, multicore.sssp):
        assert search(g).distance.tolist() == known
    for lengths_of in (g, matrix_of(g)):
        for name in ("partitioned", "per_root", "blocked"):
            assert gk.apsp(lengths_of, name, engine="cpu").distance[0].tolist() == known
        assert all_cores.apsp(lengths_of).distance[0].tolist() == known
    assert gk.sssp_many(g, [0], engine="cpu").distance.tolist() == [known]


large = st.integers(2**61, 2**63 - 1) | st.integers(0, 9) | st.sampled_from([2**62, 2**63 - 1])


@st.composite
def whole_graphs(draw, signs=(1,)):
    n = draw(st.integers(1, 6))
    vertices = st.integers(0, n - 1)
    arcs = draw(st.lists(st.tuples(vertices, vertices, large, st.sampled_from(signs)), max_size=14))
    return n, [(u, v, s * w) for u, v, w, s in arcs if len(signs) == 1 or u < v]


def whole_graph(n, arcs) -> gk.Graph:
    source, target, weight = zip(*arcs, strict=True) if arcs else ([], [], [])
    return gk.Graph.from_arcs(n, source, target, np.array(weight, np.int64))


def check_whole(n, arcs, root, search, least=INT64[0], most=INT64[1]) -> None:
    """Compare with Python's numbers: right, or refused because a distance cannot be held."""
    known = distances(n, arcs, root)
    if all(length is None or least <= length < most for length in known):
        distance = search().distance
        none = np.iinfo(distance.dtype).max  # multicore takes int32 if that suffices
        assert distance.tolist() == [none if length is None else length for length in known]
    else:
        with pytest.raises(OverflowError, match="than int64 holds"):
            search()


@examples(60, soak=2000)
@given(whole_graphs())
@example((3, [(0, 1, 5), (0, 2, 1), (2, 1, 2**63 - 1)]))
@example((2, [(0, 1, 2**63 - 1)]))
def test_sums_beyond_int64_are_refused_and_no_others(arc_list):
    n, arcs = arc_list
    g = whole_graph(n, arcs)
    for search in (reference.dijkstra, multicore.sssp):
        check_whole(n, arcs, 0, lambda search=search: search(g))


@examples(60, soak=2000)
@given(whole_graphs((1, -1)))
@example((3, [(0, 1, -(2**63) + 1), (1, 2, -(2**62))]))
@example((4, [(0, 1, 2**63 - 2), (1, 2, 5), (2, 3, -9)]))
def test_sums_below_int64_are_refused_too(arc_list):
    n, arcs = arc_list
    g = whole_graph(n, arcs)
    for search in (reference.bellman_ford, reference.bellman_ford_queue):
        check_whole(n, arcs, 0, lambda search=search: search(g))
    rows = [distances(n, arcs, root) for root in range(n)]
    if all(length is None or INT64[0] <= length < INT64[1] for row in rows for length in row):
        distance = reference.floyd_warshall(g).distance.tolist()
        assert distance == [[INT64[1] if x is None else x for x in row] for row in rows]
    else:
        with pytest.raises(OverflowError):
            reference.floyd_warshall(g)


@examples(40, soak=1000)
@given(whole_graphs((1, -1)), st.sampled_from([1, 2, 3, 9]))
def test_all_pairs_of_the_cpu_are_right_or_refused(arc_list, block):
    n, arcs = arc_list
    arcs = [(u, v, w // 8) for u, v, w in arcs]
    g = whole_graph(n, arcs)
    rows = [distances(n, arcs, root) for root in range(n)]
    known = [[INT64[1] if x is None else x for x in row] for row in rows]
    for call in (
        lambda: all_cores.apsp(g),
        lambda: gk.apsp(g, "blocked", engine="cpu", block=block),
        lambda: gk.apsp(g, "partitioned", engine="cpu", parts=2),
    ):
        try:
            assert call().distance.tolist() == known
        except (OverflowError, gk.InvalidArgument):
            most = sum(max((abs(w) for u, _, w in arcs if u == x), default=0) for x in range(n))
            assert most >= 2**61


def test_floats_beyond_float64_are_refused():
    for weight in (1e308, -1e308):
        g = gk.Graph.from_arcs(4, [0, 1, 2], [1, 2, 3], [weight] * 3)
        searches = [reference.bellman_ford, reference.bellman_ford_queue]
        searches += [reference.floyd_warshall]
        searches += [reference.dijkstra, multicore.sssp] if weight > 0 else []
        for search in searches:
            with pytest.raises(OverflowError, match="longer than float64 holds"):
                search(g)


def test_a_negative_cycle_of_long_whole_numbers_is_named():
    g = gk.Graph.from_arcs(3, [0, 1, 2], [1, 2, 0], [2**60 + 1, 3, -(2**60) - 5])
    for search in (reference.bellman_ford, reference.bellman_ford_queue):
        with pytest.raises(gk.NegativeCycleError):
            search(g)
    with pytest.raises(gk.NegativeCycleError):
        reference.floyd_warshall(g)
    with pytest.raises(gk.NegativeCycleError):
        all_cores.apsp(g)


@pytest.mark.parametrize("form", [csr, coo, adjacency_matrix])
def test_representations_sum_floats_as_they_are(form):
    weights = [1e-46, 0.1, 3.5e38]
    g = gk.Graph.from_arcs(3, [0, 1, 2], [1, 2, 0], weights)
    assert form.row_sum(g).tolist() == weights
    values = [1e-46, 16777217.0, 1e300]
    assert form.neighbor_sum(g, values).tolist() == [values[1], values[2], values[0]]
    if form is csr:
        sums = csr.weighted_neighbor_sum(g, values).tolist()
        assert sums == [1e-46 * 16777217.0, 0.1 * 1e300, 3.5e38 * 1e-46]


@pytest.mark.parametrize("form", [csr, coo, adjacency_matrix])
def test_representations_take_whole_numbers_that_fit_int32(form):
    source, target = [0, 1, 2], [1, 2, 0]
    g = gk.Graph.from_arcs(3, source, target, np.array([5, -(2**31), 2**31 - 2]))
    assert g.weights.dtype == np.int64
    assert form.row_sum(g).tolist() == [5, -(2**31), 2**31 - 2]
    long = gk.Graph.from_arcs(3, source, target, [5, 2**31, 7])
    with pytest.raises(gk.InvalidArgument, match=r"g.weights\[1\] = 2147483648: must be an int32"):
        form.row_sum(long)
    if form is csr:
        assert csr.arc_pairs(g)[:, 1].tolist() == g.weights.tolist()
        with pytest.raises(gk.InvalidArgument, match=r"g.weights\[1\] = 2147483648"):
            csr.packed_arcs(long)
