"""Float weights, some of them negative: every answer is right, or refused by the right name.

The oracle is Bellman and Ford's algorithm in exact fractions.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from effort import examples
from hypothesis import example, given
from hypothesis import strategies as st

import gpukernels as gk
from gpukernels.all_pairs import METHODS as ALL_PAIRS
from gpukernels.shortest_paths import METHODS
from gpukernels.shortest_paths.non_negative import TAKE_NEGATIVE

LARGEST = float(np.finfo(np.float32).max)
#: Weights that float32 holds, or rounds, and whose sums it rounds, loses or cannot hold.
WEIGHTS = [
    0, 1, 1, 2, 3, -1, -2, 0.1, 0.3, -0.1, 1e-30, -1e-30,
    2.0**24 - 1, 2.0**24, 2.0**24, 2.0**24 + 2, -(2.0**24 - 1), -(2.0**24), -(2.0**24 + 2),
    2.0**25 + 400, 1e8, -1e8, 2.0**53, 1e30, -1e30, 2e38, -2e38,
]  # fmt: skip


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 7))
    vertex = st.integers(0, n - 1)
    weight = st.sampled_from(WEIGHTS)
    arcs = draw(st.lists(st.tuples(vertex, vertex, weight), max_size=2 * n + 2))
    return float_graph(n, arcs)


def float_graph(n: int, arcs) -> gk.Graph:
    weights = np.float32([w for *_, w in arcs])
    return gk.Graph.from_arcs(n, [u for u, *_ in arcs], [v for _, v, _ in arcs], weights)


#: A cycle of exact length 0, around which rounded distances fall by 1.
FALLS = [(0, 1, 2.0**24), (1, 2, 1), (2, 1, -1)]
#: A cycle of exact length 0.7 around which distances fall by 4 in each round.
FALLS_ON = [(0, 1, 2.0**25 + 400), (1, 2, 1.9), (2, 3, 1.9), (3, 4, 1.9), (4, 1, -5)]
#: The same that float64 rounds.
FALLS_IN_64 = [(0, 1, 2.0**53), (1, 2, 1), (2, 1, -1)]


def lost_cycle(far: float):
    """Return arcs to a cycle of length -0.25, which is lost in the rounding at such a distance."""
    return [(0, 1, far), (1, 2, 0.25), (2, 1, -0.5)]


def exact(g: gk.Graph, root: int):
    """Return exact distances from `root` by vertex, or None if a negative cycle is within reach."""
    source, target = (ends.tolist() for ends in g.coo)
    arcs = list(zip(source, target, map(Fraction, g.weights.tolist()), strict=True))
    distance = {root: Fraction(0)}
    for _ in range(g.n):
        fell = False
        for u, v, w in arcs:
            if u in distance and (v not in distance or distance[u] + w < distance[v]):
                distance[v], fell = distance[u] + w, True
        if not fell:
            return distance
    return None


def least_arc(g: gk.Graph, u: int, v: int) -> Fraction:
    arcs = slice(g.offsets[u], g.offsets[u + 1])
    return Fraction(g.weights[arcs][g.targets[arcs] == v].min().item())


def length_of(g: gk.Graph, path: list[int]) -> Fraction:
    return sum((least_arc(g, u, v) for u, v in pairwise(path)), Fraction(0))


def total(g: gk.Graph) -> Fraction:
    return sum((abs(Fraction(w)) for w in g.weights.tolist()), Fraction(0))


def check_refusal(g: gk.Graph, error: Exception) -> None:
    """An error that names a fault is raised only if there may be that fault."""
    if isinstance(error, gk.NegativeCycleError):
        assert length_of(g, [*error.cycle, error.cycle[0]]) < 0
    elif isinstance(error, OverflowError):
        assert total(g) > LARGEST
    elif isinstance(error, gk.InvalidArgument):
        assert "the sum of g's negative weights" in str(error)
        assert total(g) > LARGEST / 4
    else:
        assert isinstance(error, gk.RoundingError)
        assert 0 <= error.vertex < g.n
        whole = all(w == round(w) for w in g.weights.tolist())
        assert not whole or total(g) > 2**24


def answer(call):
    try:
        return call()
    except (gk.NegativeCycleError, gk.RoundingError, OverflowError, gk.InvalidArgument) as error:
        return error


def check_distances(g: gk.Graph, root: int, distance, bits: int = 24) -> None:
    expected = exact(g, root)
    assert expected is not None, "a negative cycle has been overlooked"
    assert not np.isneginf(distance).any()
    assert set(np.flatnonzero(distance != np.inf).tolist()) == set(expected)
    bound = total(g) * 2 * (g.n + 1) / 2**bits
    for v, length in expected.items():
        assert abs(Fraction(float(distance[v])) - length) <= bound


def check_search(g: gk.Graph, result, dtype) -> None:
    """Each distance is the length of the path that the parents form, added up from the root."""
    check_distances(g, 0, result.distance, 24 if dtype is np.float32 else 53)
    for v in range(g.n):
        path = result.path_to(v)
        assert (path[:1], path[-1:]) == (([0], [v]) if result.distance[v] != np.inf else ([], []))
        length = dtype(0)
        for u, w in pairwise(path):
            length += dtype(float(least_arc(g, u, w)))
        assert not path or length == result.distance[v]


@examples(60, 2_000)
@given(g=graphs())
@example(g=float_graph(3, FALLS))
@example(g=float_graph(10, FALLS))
@example(g=float_graph(5, FALLS_ON))
@example(g=float_graph(12, FALLS_IN_64))
@example(g=float_graph(9, lost_cycle(1e9)))
@example(g=float_graph(9, lost_cycle(1e30)))
@example(g=float_graph(3, [(0, 1, -3e38), (1, 2, -3e38)]))
def test_searches_are_right_or_refuse_by_name_and_all_alike(g):
    device = gk.SimtDevice()
    answers = []
    for method in TAKE_NEGATIVE:
        for parents in (True, False):
            result = answer(lambda m=method, p=parents: gk.sssp(g, 0, m, device, parents=p))
            answers.append(result)
            if isinstance(result, Exception):
                check_refusal(g, result)
            elif parents:
                check_search(g, result, np.float32)
                error = max(
                    abs(Fraction(float(result.distance[v])) - d) for v, d in exact(g, 0).items()
                )
                assert error <= result.stats["rounding_error"]
    many = answer(lambda: gk.sssp_many(g, [0], device=device))
    kinds = {type(result) for result in (*answers, many) if isinstance(result, Exception)}
    if kinds:
        assert len(kinds) == 1
        assert all(isinstance(result, Exception) for result in (*answers, many))
    else:
        assert len({result.distance.tobytes() for result in answers}) == 1
        assert many.distance[0].tobytes() == answers[0].distance.tobytes()
    assert (exact(g, 0) is None) == (kinds == {gk.NegativeCycleError})


@examples(100, 4_000)
@given(g=graphs())
@example(g=float_graph(12, FALLS))
@example(g=float_graph(3, FALLS_IN_64))
@example(g=float_graph(12, FALLS_IN_64))
@example(g=float_graph(9, lost_cycle(1e30)))
def test_the_sequential_algorithms_are_right_or_refuse_by_name(g):
    for search in (gk.reference.bellman_ford_queue, gk.reference.bellman_ford):
        result = answer(lambda search=search: search(g, 0))
        assert isinstance(result, gk.NegativeCycleError) == (exact(g, 0) is None)
        if isinstance(result, Exception):
            check_refusal(g, result)
        else:
            check_search(g, result, np.float64)
    many = answer(lambda: gk.sssp_many(g, [0], engine="cpu"))
    if isinstance(many, Exception):
        check_refusal(g, many)
    else:
        check_distances(g, 0, many.distance[0])
    result = answer(lambda: gk.reference.floyd_warshall(g))
    anywhere = any(exact(g, root) is None for root in range(g.n))
    assert isinstance(result, gk.NegativeCycleError) == anywhere
    check_all_pairs(g, result, 53)


def check_all_pairs(g: gk.Graph, result, bits: int) -> None:
    if isinstance(result, Exception):
        check_refusal(g, result)
        return
    bound = total(g) * 4 * (g.n + 1) / 2**bits
    for root in range(g.n):
        check_distances(g, root, result.distance[root], bits - 1)
        for v in range(g.n) if result.next_hop is not None else ():
            path = result.path(root, v)
            assert bool(path) == (result.distance[root, v] != np.inf)
            if path:
                assert (path[0], path[-1]) == (root, v)
                assert abs(length_of(g, path) - Fraction(float(result.distance[root, v]))) <= bound


ROUTES = [(method, {"next_hops": hops}) for method in ALL_PAIRS for hops in (False, True)]
ROUTES = [(m, o) for m, o in ROUTES if m != "partitioned" or not o.pop("next_hops")]
ROUTES += [("blocked", {"engine": "cpu", "block": 2}), ("per_root", {"engine": "cpu"})]


@pytest.mark.parametrize(("method", "options"), ROUTES, ids=str)
@examples(15, 500)
@given(g=graphs())
@example(g=float_graph(3, FALLS))
@example(g=float_graph(10, FALLS))
@example(g=float_graph(5, FALLS_ON))
@example(g=float_graph(9, lost_cycle(1e9)))
@example(g=float_graph(9, lost_cycle(1e30)))
def test_all_pairs_are_right_or_refused_by_name(method, options, g):
    result = answer(lambda: gk.apsp(g, method, gk.SimtDevice(), **options))
    anywhere = any(exact(g, root) is None for root in range(g.n))
    if not isinstance(result, gk.InvalidArgument):
        assert isinstance(result, gk.NegativeCycleError) == anywhere
    check_all_pairs(g, result, 24)
    if not isinstance(result, Exception) and g.n:
        check_told_error(g, result)


def check_told_error(g: gk.Graph, result) -> None:
    """No distance is further from the exact one than the result says."""
    bound = result.stats["rounding_error"]
    for root in range(g.n):
        for v, length in exact(g, root).items():
            assert abs(Fraction(float(result.distance[root, v])) - length) <= bound


@pytest.mark.parametrize(("method", "options"), ROUTES, ids=str)
def test_a_float32_matrix_with_negative_lengths_tells_its_error_too(method, options):
    g = float_graph(3, FALLS)
    matrix = np.float32([[0, 2.0**24, np.inf], [np.inf, 0, 1], [np.inf, -1, 0]])
    result = answer(lambda: gk.apsp(matrix, method, gk.SimtDevice(), **options))
    if isinstance(result, Exception):
        check_refusal(g, result)
    else:
        check_told_error(g, result)


def test_the_refusal_names_a_vertex_the_type_and_the_remedy():
    with pytest.raises(gk.RoundingError) as caught:
        gk.sssp(float_graph(10, FALLS), 0, "harish", gk.SimtDevice())
    assert (caught.value.vertex, caught.value.dtype) == (1, "float32")
    for words in ("rounded so far in float32", "vertex 1", "whole-number weights", "bellman_ford"):
        assert words in str(caught.value)
    assert gk.reference.bellman_ford(float_graph(10, FALLS), 0).distance[1] == 2.0**24
    with pytest.raises(gk.RoundingError, match=r"far in float64 .* whole-number weights$"):
        gk.reference.bellman_ford_queue(float_graph(12, FALLS_IN_64), 0)


def test_methods_that_take_negative_weights_are_all_tried():
    assert set(TAKE_NEGATIVE) == set(METHODS) - {
        "near_far",
        "delta_stepping",
        "near_far_persistent",
        "ortega",
    }


def test_johnson_gives_the_length_of_the_path_and_not_that_of_raised_weights():
    result = gk.apsp(float_graph(3, FALLS), "johnson", gk.SimtDevice())
    assert result.distance[0].tolist() == [0, 2.0**24, 2.0**24]  # 2^24 + 1 is rounded to even


@examples(20, 500)
@given(g=graphs())
def test_distances_of_johnson_are_the_lengths_of_its_paths(g):
    try:
        result = gk.apsp(g, "johnson", gk.SimtDevice(), next_hops=True)
        alone = gk.apsp(g, "johnson", gk.SimtDevice())
    except (gk.NegativeCycleError, gk.InvalidArgument, OverflowError, FloatingPointError):
        return
    np.testing.assert_array_equal(alone.distance, result.distance)
    if g.m == 0 or g.weights.min() >= 0:
        return
    for i, j in zip(*np.nonzero(np.isfinite(result.distance)), strict=True):
        length = length_of(g, result.path(int(i), int(j)))
        apart = abs(length - Fraction(result.distance[i, j].item()))
        assert apart <= 2.0**-24 * abs(length) + 2.0**-49 * total(g)
