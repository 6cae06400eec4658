"""Any arcs whatever, against SciPy, NetworkX and plain Python."""

from collections import defaultdict

import networkx
import numpy as np
import pytest
from awkward_graphs import AWKWARD
from hypothesis import given
from hypothesis import strategies as st

import gpukernels as gk

INT32 = st.integers(-(2**31), 2**31 - 1)
FLOAT32 = st.floats(width=32, allow_nan=False, allow_infinity=False)


@st.composite
def arc_lists(draw):
    n = draw(st.integers(1, 12))
    vertex = st.integers(0, n - 1)
    weight = draw(st.sampled_from([st.none(), INT32, FLOAT32]))
    arcs = draw(st.lists(st.tuples(vertex, vertex, weight), max_size=40))
    return n, arcs


def arguments(n, arcs):
    source = np.array([arc[0] for arc in arcs], dtype=int)
    target = np.array([arc[1] for arc in arcs], dtype=int)
    weights = [arc[2] for arc in arcs]
    return n, source, target, None if None in weights or not weights else np.array(weights)


def stored(g):
    source, target = g.coo
    weights = [None] * g.m if g.weights is None else g.weights.tolist()
    return list(zip(source.tolist(), target.tolist(), weights, strict=True))


def key(arc):
    return (arc[0], arc[1], 0 if arc[2] is None else arc[2])


@given(arc_lists(), st.booleans(), st.sampled_from(["keep", "min"]), st.booleans())
def test_from_arcs_keeps_exactly_the_arcs_asked_for(arc_list, directed, parallel, loops):
    n, arcs = arc_list
    g = gk.Graph.from_arcs(
        *arguments(n, arcs), directed, parallel, self_loops="keep" if loops else "remove"
    )
    expected = [arc for arc in arcs if loops or arc[0] != arc[1]]
    if not directed:
        expected += [(v, u, w) for u, v, w in expected if u != v]
    if parallel == "min":
        least = defaultdict(list)
        for u, v, w in expected:
            least[u, v].append(w)
        expected = [(u, v, None if None in w else min(w)) for (u, v), w in least.items()]
    assert sorted(stored(g), key=key) == sorted(expected, key=key)
    assert g.sorted_rows
    assert g.out_degree.sum() == g.m == g.offsets[-1]


@given(arc_lists(), st.booleans())
def test_what_from_arcs_makes_passes_full_validation(arc_list, directed):
    g = gk.Graph.from_arcs(*arguments(*arc_list), directed=directed)
    again = gk.Graph(g.offsets, g.targets, g.weights, g.directed)
    assert stored(again) == stored(g)


@given(arc_lists())
def test_symmetry_is_judged_as_by_counting(arc_list):
    n, arcs = arc_list
    g = gk.Graph.from_arcs(*arguments(n, arcs))
    forth, back = sorted(map(key, arcs)), sorted(key((v, u, w)) for u, v, w in arcs)
    if forth == back:
        assert not gk.Graph(g.offsets, g.targets, g.weights, directed=False).directed
    else:
        with pytest.raises(gk.InvalidArgument, match="no opposite arc") as caught:
            gk.Graph(g.offsets, g.targets, g.weights, directed=False)
        u, _, v = caught.value.allowed.split("arc ")[1].split()[:3]
        u, v = int(u), int(v)
        forth = sorted(key(arc)[2] for arc in arcs if arc[:2] == (u, v))
        back = sorted(key(arc)[2] for arc in arcs if arc[:2] == (v, u))
        assert forth != back


@given(arc_lists())
def test_reverse_turns_every_arc_around(arc_list):
    n, arcs = arc_list
    g = gk.Graph.from_arcs(*arguments(n, arcs))
    turned = gk.Graph(g.reverse.offsets, g.reverse.targets, g.reverse.weights)
    assert sorted(map(key, stored(turned))) == sorted(key((v, u, w)) for u, v, w in arcs)
    assert g.reverse.sorted_rows


@pytest.mark.parametrize("name", AWKWARD)
def test_every_form_of_an_awkward_graph_holds_the_same_arcs(name):
    g = AWKWARD[name]
    matrix = np.zeros((g.n, g.n), dtype=int)
    for u in range(g.n):
        for i in range(g.offsets[u], g.offsets[u + 1]):
            matrix[u, g.targets[i]] += 1
    np.testing.assert_array_equal(g.to_scipy().toarray(), matrix)
    np.testing.assert_array_equal(g.dense(), np.minimum(matrix, 1))
    np.testing.assert_array_equal(g.reverse.to_scipy().toarray(), matrix.T)
    np.testing.assert_array_equal(g.in_degree, matrix.sum(axis=0))
    np.testing.assert_array_equal(g.out_degree, matrix.sum(axis=1))
    if g.n:
        nodes = range(g.n)
        given_back = networkx.to_numpy_array(g.to_networkx(), nodelist=nodes, dtype=int)
        np.testing.assert_array_equal(given_back, matrix)


@given(arc_lists(), st.booleans(), st.sampled_from(["keep", "min"]))
def test_networkx_and_back_is_the_same_graph(arc_list, directed, parallel):
    g = gk.Graph.from_arcs(*arguments(*arc_list), directed, parallel)
    back = gk.from_networkx(g.to_networkx(), parallel="keep")
    assert sorted(stored(back), key=key) == sorted(stored(g), key=key)
    assert back.directed == g.directed


@given(arc_lists(), st.sampled_from(["csr", "csc", "coo", "lil", "dok", "bsr"]))
def test_scipy_and_back_is_the_same_graph(arc_list, layout):
    n, arcs = arc_list
    g = gk.Graph.from_arcs(*arguments(n, arcs), parallel="min")
    if layout == "bsr":
        # A stored zero cannot be told from the filling of a block.
        g = gk.Graph.from_arcs(*arguments(n, [a for a in arcs if a[2] != 0]), parallel="min")
    back = gk.from_scipy(g.to_scipy().asformat(layout))
    expected = [(u, v, 1 if w is None else w) for u, v, w in stored(g)]
    assert stored(back) == expected
