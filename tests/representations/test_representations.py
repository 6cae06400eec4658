"""Every representation answers the same questions, and answers them right, on awkward graphs."""

from __future__ import annotations

import numpy as np
import oracles
import pytest
from awkward_graphs import AWKWARD
from effort import every_pair, examples
from hypothesis import given
from hypothesis import strategies as st

import gpukernels as gk
from gpukernels.device import default_device
from gpukernels.representations import adjacency_matrix, coo, csr

SMALL = [name for name, g in AWKWARD.items() if g.n <= 400]
WEIGHTS = ["unweighted", "int32", "float32"]
FORMS = {
    "matrix-warp": (adjacency_matrix, {"mapping": "warp"}),
    "matrix-warp-unpitched": (adjacency_matrix, {"mapping": "warp", "pitched": False}),
    "matrix-thread": (adjacency_matrix, {"mapping": "thread"}),
    "csr": (csr, {}),
    "coo": (coo, {}),
    "coo-lexicographic": (coo, {"order": "lexicographic"}),
    "coo-both-ways": (coo, {"both_ways": True}),
}
#: Every graph in every form that it has: only an undirected edge can be read both ways.
forms = pytest.mark.parametrize("form", FORMS)


def has_form(form: str, name: str, *_) -> bool:
    """Return whether a graph can be had in a form."""
    return form != "coo-both-ways" or not AWKWARD[name].directed


def prepare(name: str, form: str, kind: str):
    """Return (graph, what the oracle sees of it, module, options)."""
    g = oracles.with_weights(AWKWARD[name], kind)
    module, options = FORMS[form]
    return g, oracles.simple(g) if module is adjacency_matrix else g, module, options


@pytest.mark.parametrize(
    ("form", "name", "kind"), every_pair(FORMS, SMALL, WEIGHTS, allowed=has_form)
)
def test_row_sum(name, form, kind, device):
    g, seen, module, options = prepare(name, form, kind)
    sums = module.row_sum(g, device=device, **options)
    assert sums.dtype == (np.float64 if kind == "float32" else np.int64)
    np.testing.assert_array_equal(sums, oracles.row_sum(seen))


@pytest.mark.parametrize(
    ("form", "name", "dtype"), every_pair(FORMS, SMALL, [np.int32, np.float32], allowed=has_form)
)
def test_neighbor_sum(name, form, dtype, device):
    g, seen, module, options = prepare(name, form, "int32")
    values = (np.arange(g.n) * 3 % 17 - 8).astype(dtype)
    sums = module.neighbor_sum(g, values, device=device, **options)
    assert sums.dtype == (np.float64 if dtype == np.float32 else np.int64)
    np.testing.assert_array_equal(sums, oracles.neighbor_sum(seen, values))


@pytest.mark.parametrize(
    ("name", "both_ways", "layout", "dtype"),
    every_pair(
        SMALL,
        (False, True),
        ("aos", "packed"),
        (np.int32, np.float32),
        allowed=lambda name, both_ways, *_: not (both_ways and AWKWARD[name].directed),
    ),
)
def test_neighbor_sum_of_pairs(name, both_ways, layout, dtype, device):
    g = AWKWARD[name]
    values = (np.arange(g.n) * 3 % 17 - 8).astype(dtype)
    sums = coo.neighbor_sum(g, values, both_ways=both_ways, layout=layout, device=device)
    assert sums.dtype == (np.float64 if dtype == np.float32 else np.int64)
    np.testing.assert_array_equal(sums, oracles.neighbor_sum(g, values))


@pytest.mark.parametrize(
    ("name", "layout", "kind", "dtype"),
    every_pair(
        SMALL,
        ("soa", "aos", "packed"),
        WEIGHTS,
        (np.int32, np.float32),
        allowed=lambda name, layout, kind, dtype: layout == "soa" or kind != "float32",
    ),
)
def test_weighted_neighbor_sum(name, kind, dtype, layout, device):
    g = oracles.with_weights(AWKWARD[name], kind)
    values = (np.arange(g.n) * 3 % 17 - 8).astype(dtype)
    sums = csr.weighted_neighbor_sum(g, values, layout=layout, device=device)
    np.testing.assert_array_equal(sums, oracles.neighbor_sum(g, values, weighted=True))


@pytest.mark.parametrize(
    ("form", "name"),
    every_pair(
        [form for form in FORMS if form not in ("matrix-thread", "coo-lexicographic")],
        SMALL,
        allowed=has_form,
    ),
)
def test_has_edge(name, form, device):
    g, _, module, options = prepare(name, form, "unweighted")
    options = {k: v for k, v in options.items() if k != "mapping"}
    source, target = oracles.all_pairs(g.n)
    answers = module.has_edge(g, source, target, device=device, **options)
    assert answers.dtype == np.bool_
    np.testing.assert_array_equal(answers, oracles.has_edge(g, source, target))


@forms
def test_sums_under_every_schedule(form, scheduled_device):
    g, seen, module, options = prepare("kron", form, "int32")
    if options.get("both_ways"):
        g = seen = gk.erdos_renyi(100, 5, seed=1)
    sums = module.row_sum(g, device=scheduled_device, **options)
    np.testing.assert_array_equal(sums, oracles.row_sum(seen))


@examples(25, soak=1000)
@given(data=st.data())
def test_the_forms_agree_on_random_graphs(data):
    n = data.draw(st.integers(1, 40), "n")
    ends = st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=100)
    arcs = np.array(data.draw(ends, "arcs"), dtype=np.int32).reshape(-1, 2)
    g = gk.Graph.from_arcs(n, arcs[:, 0], arcs[:, 1], directed=data.draw(st.booleans(), "directed"))
    values = np.arange(n)
    device = default_device()
    expected = oracles.neighbor_sum(g, values)
    np.testing.assert_array_equal(csr.neighbor_sum(g, values, device=device), expected)
    np.testing.assert_array_equal(coo.neighbor_sum(g, values, device=device), expected)
    if not g.directed:
        both = coo.neighbor_sum(g, values, both_ways=True, device=device)
        np.testing.assert_array_equal(both, expected)
    source, target = oracles.all_pairs(n, 200)
    expected = oracles.has_edge(g, source, target)
    for module in (adjacency_matrix, csr, coo):
        answers = module.has_edge(g, source, target, device=device)
        np.testing.assert_array_equal(answers, expected)


# --- sums that do not fit 32 bits -----------------------------------------------------------------


@pytest.mark.parametrize("form", [f for f in FORMS if f != "coo-both-ways"])
def test_sums_of_large_weights_do_not_wrap(form, device):
    module, options = FORMS[form]
    big = 2**31 - 2
    g = gk.Graph([0, 3, 3, 3, 3], [1, 2, 3], [big, big, big])
    assert module.row_sum(g, device=device, **options).tolist() == [3 * big, 0, 0, 0]
    values = [0, big, big, -5]
    sums = module.neighbor_sum(g, values, device=device, **options)
    assert sums.tolist() == [2 * big - 5, 0, 0, 0]


@pytest.mark.parametrize("layout", ["soa", "aos", "packed"])
def test_products_of_large_weights_do_not_wrap(layout, device):
    g = gk.Graph([0, 2, 2, 2], [1, 2], [2**31 - 1, -(2**31)])
    sums = csr.weighted_neighbor_sum(g, [0, 3, 2], layout=layout, device=device)
    assert sums.tolist() == [3 * (2**31 - 1) - 2 * 2**31, 0, 0]


# --- refusals -----------------------------------------------------------------------------------

MODULES = pytest.mark.parametrize("module", [adjacency_matrix, csr, coo])


@MODULES
@pytest.mark.parametrize("values", [[1, 2], [[1, 2, 3]], 5, ["a", "b", "c"], [0, 2**31, 0]])
def test_wrong_values_are_refused(module, values, device):
    with pytest.raises(gk.InvalidArgument, match="values"):
        module.neighbor_sum(gk.path(3), values, device=device)


@MODULES
@pytest.mark.parametrize(
    ("source", "target"), [([0, 3], [1, 1]), ([0, 1], [1, -1]), ([2**40], [0])]
)
def test_a_query_outside_the_graph_is_refused(module, source, target, device):
    with pytest.raises(gk.VertexOutOfRange, match=r"(source|target)\[\d\]"):
        module.has_edge(gk.path(3), source, target, device=device)


@MODULES
@pytest.mark.parametrize(("source", "target"), [([0, 1], [1]), ([0.5], [1]), ([[0]], [[1]])])
def test_a_malformed_query_is_refused(module, source, target, device):
    with pytest.raises(gk.InvalidArgument, match=r"source|target"):
        module.has_edge(gk.path(3), source, target, device=device)


@MODULES
def test_no_query_has_no_answer(module, device):
    assert module.has_edge(gk.path(3), [], [], device=device).shape == (0,)


@pytest.mark.parametrize(
    ("call", "arguments", "option", "value"),
    [
        (adjacency_matrix.row_sum, (), "mapping", "block"),
        (coo.neighbor_sum, ([0, 0, 0],), "layout", "sao"),
        (csr.weighted_neighbor_sum, ([0, 0, 0],), "layout", "sao"),
        (coo.EdgeList.from_graph, (), "order", "target"),
        *((module.row_sum, (), "threads", 20) for module in (adjacency_matrix, csr, coo)),
    ],
)
def test_a_wrong_option_is_refused(call, arguments, option, value):
    with pytest.raises(gk.InvalidArgument, match=option):
        call(gk.path(3), *arguments, **{option: value})
