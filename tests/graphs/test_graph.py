import copy
import pickle

import numpy as np
import pytest

import gpukernels as gk
from gpukernels.graphs.graph import DENSE_LIMIT

INT32_MAX = 2**31 - 1


def arcs_of(g):
    source, target = g.coo
    weight = [None] * g.m if g.weights is None else g.weights.tolist()
    return sorted(zip(source.tolist(), target.tolist(), weight, strict=True), key=repr)


def test_csr_arrays_are_int32_and_copied():
    offsets, targets = np.array([0, 2, 3, 3]), np.array([2, 1, 0])
    g = gk.Graph(offsets, targets, np.array([1.5, 2.5, 3.5]))
    targets[0] = 1
    assert g.targets.tolist() == [2, 1, 0], "the order within a row is kept"
    assert (g.offsets.dtype, g.targets.dtype, g.weights.dtype) == (np.int32, np.int32, np.float64)
    assert (g.n, g.m) == (3, 3)
    assert g.out_degree.tolist() == [2, 1, 0]
    assert g.in_degree.tolist() == [1, 1, 1]
    assert not g.sorted_rows


def test_everything_is_read_only():
    g = gk.Graph([0, 1, 2], [1, 0], [1, 2], labels=[7, 9], positions=[[0, 0], [1, 1]])
    derived = [g.out_degree, g.in_degree, *g.coo, g.dense(), g.reverse.targets, g.reverse.weights]
    for array in (g.offsets, g.targets, g.weights, g.labels, g.positions, *derived):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(AttributeError, match="read-only"):
        g.targets = np.zeros(2, dtype=np.int32)


def test_derived_forms_are_made_once():
    g = gk.rmat(5, seed=1)
    assert g.coo[0] is g.coo[0]
    assert g.reverse is g.reverse
    assert g.reverse.reverse is g
    assert g.dense() is g.dense()
    assert g.dense(absent=-1) is not g.dense()
    undirected = gk.path(4)
    assert undirected.reverse is undirected


@pytest.mark.parametrize("again", [copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))])
def test_copies_are_equal_and_read_only(again):
    g = again(gk.random_weights(gk.example()))
    assert arcs_of(g) == arcs_of(gk.random_weights(gk.example()))
    assert not g.targets.flags.writeable
    assert not g.directed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], []), r"len\(offsets\) = 0: must be n \+ 1"),
        (([1, 2], [0, 0]), r"offsets\[0\] = 1: must be 0"),
        (([0, 2, 1, 2], [0, 0]), r"offsets\[2\] = 1: must be at least offsets\[1\] = 2"),
        (([0, 1], [0, 0]), r"offsets\[-1\] = 1: must be len\(targets\) = 2"),
        (([0, 2**40], [0]), r"offsets\[-1\] = 1099511627776"),
        (([0, 1.0], [0]), r"offsets.dtype = 'float64': must be an integer type"),
        (([[0, 1]], [0]), r"offsets.shape = \(1, 2\): must be one-dimensional"),
        (([0, 1], [0.5]), r"targets.dtype = 'float64'"),
        (([0, 1, 1], [2]), r"targets\[0\] = 2: must be a vertex from 0 to 1"),
        (([0, 2, 2], [1, -1]), r"targets\[1\] = -1: must be a vertex from 0 to 1"),
        (([0, 1], [2**32]), r"targets\[0\] = 4294967296: must be a vertex"),
        (([0, 1], [0], [1, 2]), r"len\(weights\) = 2: must be the number of arcs, 1"),
        (([0, 1], [0], [np.nan]), r"weights\[0\] = nan: must be a finite number"),
        (([0, 1], [0], [np.inf]), r"weights\[0\] = inf: must be a finite number"),
        (([0, 1], [0], [2**63]), r"weights\[0\] = 9223372036854775808: must be at most 2\^63 - 1"),
        (
            ([0, 1], [0], [-(2**63) - 1]),
            r"weights\[0\] = -9223372036854775809: must be from -2\^63",
        ),
        (([0, 2], [0, 0], [2**63, -1]), r"weights\[0\] = 9223372036854775808: must be from -2\^63"),
        (([0, 2], [0, 0], [0.5, 2**53 + 1]), r"weights\[1\] = 9007199254740993: .* among floats"),
        (([0, 1], [0], np.array([2**63], dtype=np.uint64)), r"weights\[0\] = 9223372036854775808"),
        (([0, 1], [0], ["heavy"]), r"weights.dtype = '<U5': must be an integer or float type"),
        (([0, 1], [0], [1j]), r"weights.dtype = 'complex128'"),
        (([0, 1, 1], [1], None, False), r"arc 0 -> 1 has no opposite arc"),
        (([0, 0, 1], [0], None, False), r"arc 1 -> 0 has no opposite arc"),
        (([0, 1, 2], [1, 0], [5, 6], False), r"arc 0 -> 1 of weight 5 has no opposite"),
    ],
)
def test_bad_arrays_are_refused_by_name_and_value(arguments, message):
    with pytest.raises(gk.InvalidArgument, match=message):
        gk.Graph(*arguments)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"n": -1}, r"n = -1: must be a whole number"),
        ({"n": 2.0}, r"n = 2.0: must be a whole number"),
        ({"n": True}, r"n = True: must be a whole number"),
        ({"n": INT32_MAX}, r"n = 2147483647"),
        ({"n": 0}, r"source\[0\] = 0: must be absent"),
        ({"source": [0, 2]}, r"source\[1\] = 2: must be a vertex from 0 to 1"),
        ({"target": [1, -5]}, r"target\[1\] = -5: must be a vertex from 0 to 1"),
        ({"target": [1]}, r"len\(target\) = 1: must be len\(source\) = 2"),
        ({"weight": [1]}, r"len\(weight\) = 1"),
        ({"parallel": "sum"}, r"parallel = 'sum': must be 'keep' or 'min'"),
        ({"self_loops": "drop"}, r"self_loops = 'drop': must be 'keep' or 'remove'"),
        ({"labels": [1]}, r"len\(labels\) = 1: must be the number of vertices, 2"),
        ({"positions": [[0, 0]]}, r"positions.shape = \(1, 2\): must be \(2, 2\)"),
        ({"positions": [[0, 0], [np.nan, 0]]}, r"positions\[1\] = \[nan, 0.0\]: must be finite"),
    ],
)
def test_bad_arcs_are_refused_by_name_and_value(keywords, message):
    good = {"n": 2, "source": [0, 1], "target": [1, 0]}
    gk.Graph.from_arcs(**good)
    with pytest.raises(gk.InvalidArgument, match=message):
        gk.Graph.from_arcs(**(good | keywords))


def test_parallel_arcs_take_the_minimum_and_are_never_summed():
    arcs = ([0, 0, 1, 0], [1, 1, 0, 1], [7, 3, 4, 5])
    kept = gk.Graph.from_arcs(2, *arcs)
    assert arcs_of(kept) == [(0, 1, 3), (0, 1, 5), (0, 1, 7), (1, 0, 4)]
    assert arcs_of(gk.Graph.from_arcs(2, *arcs, parallel="min")) == [(0, 1, 3), (1, 0, 4)]
    assert gk.Graph.from_arcs(2, *arcs[:2], parallel="min").m == 2


def test_parallel_edges_take_the_minimum_in_both_directions():
    g = gk.Graph.from_arcs(3, [0, 1, 1], [1, 0, 2], [5, 2, 9], directed=False, parallel="min")
    assert arcs_of(g) == [(0, 1, 2), (1, 0, 2), (1, 2, 9), (2, 1, 9)]


def test_a_self_loop_of_an_undirected_graph_is_stored_once():
    arcs = (2, [0, 0], [0, 1])
    assert arcs_of(gk.Graph.from_arcs(*arcs, directed=False)) == [
        (0, 0, None),
        (0, 1, None),
        (1, 0, None),
    ]
    removed = gk.Graph.from_arcs(*arcs, directed=False, self_loops="remove")
    assert arcs_of(removed) == [(0, 1, None), (1, 0, None)]


def test_removing_self_loops_keeps_the_weights_of_the_others():
    g = gk.Graph.from_arcs(3, [0, 1, 1], [1, 1, 2], [4, 5, 6], self_loops="remove")
    assert arcs_of(g) == [(0, 1, 4), (1, 2, 6)]


def test_dense_holds_weights_and_the_named_absent_value():
    weighted = gk.Graph.from_arcs(2, [0, 0, 1], [1, 1, 1], [7, 3, -4])
    assert weighted.dense().tolist() == [[INT32_MAX, 3], [INT32_MAX, -4]]
    assert weighted.dense().dtype == np.int32
    assert weighted.dense(absent=np.inf).tolist() == [[np.inf, 3], [np.inf, -4]]
    assert weighted.dense(absent=np.inf).dtype == np.float32
    floats = gk.Graph([0, 1, 1], [1], [0.5])
    assert floats.dense().tolist() == [[np.inf, 0.5], [np.inf, np.inf]]
    plain = gk.path(2)
    assert plain.dense().tolist() == [[0, 1], [1, 0]]
    assert plain.dense().flags.c_contiguous


@pytest.mark.parametrize(
    ("weights", "absent", "dtype"),
    [
        (None, 2**31, np.int64),
        (None, 0.1, np.float64),
        ([7], 2**40, np.int64),
        ([2**24 + 1], np.inf, np.float64),
        ([2**31], None, np.int64),
        ([-(2**63)], -(2**63), np.int64),
        ([2**53], np.inf, np.float64),
        ([0.1], None, np.float64),
        (np.float32([0.1]), 1e300, np.float64),
    ],
)
def test_dense_has_a_type_that_holds_all_cells_exactly(weights, absent, dtype):
    g = gk.Graph([0, 1, 1], [1], weights)
    matrix, none = g.dense(absent), absent
    if absent is None:
        none = np.inf if g.weights.dtype.kind == "f" else np.iinfo(g.weights.dtype).max
    assert matrix.dtype == dtype
    assert matrix.tolist() == [[none, 1 if weights is None else weights[0]], [none, none]]


@pytest.mark.parametrize("absent", [np.inf, 0.5, np.nan])
def test_dense_refuses_floats_beside_whole_numbers_that_no_float_holds(absent):
    g = gk.Graph([0, 1, 1], [1], [2**53 + 1])
    with pytest.raises(gk.InvalidArgument, match=f"absent = {absent}: .* with all int64 weights"):
        g.dense(absent)


KEPT = [
    ([True, 3], np.int32),
    ([2**31 - 1, -(2**31)], np.int32),
    ([2**31, 1], np.int64),
    ([2**53 + 1, -(2**63)], np.int64),
    ([1, 0.5], np.float64),
    ([2**53, 0.1], np.float64),
    ([5e-324, 3.5e38], np.float64),
    (np.array([1, 0], bool), np.int32),
    (np.array([7, 200], np.uint8), np.int32),
    (np.array([7, 2**32 - 1], np.uint32), np.int64),
    (np.array([7, 8], np.int64), np.int64),
    (np.array([7, 2**63 - 1], np.uint64), np.int64),
    (np.array([7, 8], ">i8"), np.int64),
    (np.array([0.5, 0.1], np.float16), np.float32),
    (np.array([0.5, 0.1], np.float32), np.float32),
    (np.array([0.5, 0.1]), np.float64),
    (np.array([0.5, 0.1], np.longdouble), np.float64),
]


@pytest.mark.parametrize(("weights", "dtype"), KEPT)
@pytest.mark.parametrize("directed", [True, False])
def test_weights_keep_their_type_and_every_conversion_keeps_them(weights, dtype, directed):
    ends = [0, 1], [1, 2]
    g = gk.Graph.from_arcs(4, *ends, weights, directed, parallel="min")
    known = list(weights) if directed else [weights[0], weights[0], weights[1], weights[1]]
    assert g.weights.dtype == dtype
    assert g.weights.dtype.isnative
    again = [
        g,
        g.reverse.reverse,
        pickle.loads(pickle.dumps(g)),
        gk.Graph(g.offsets, g.targets, g.weights, directed),
        gk.from_scipy(g.to_scipy(), directed=directed),
    ]
    for other in again:
        assert other.weights.dtype == dtype
        assert all(a == b for a, b in zip(other.weights.tolist(), known, strict=True))
    assert sorted(g.reverse.weights.tolist()) == sorted(known)
    back = gk.from_networkx(g.to_networkx())
    assert all(a == b for a, b in zip(back.weights.tolist(), known, strict=True))
    assert back.weights.dtype in (dtype, np.int32, np.float64)
    cells = g.dense()
    assert cells.dtype == dtype
    assert [cells[0, 1], cells[1, 2]] == [known[0], known[-1]]


def test_a_long_double_that_would_be_rounded_is_refused():
    third = np.ones(1, np.longdouble) / 3
    if third[0] == float(third[0]):
        pytest.skip("a long double is a float64 here")
    with pytest.raises(gk.InvalidArgument, match=r"weights\[0\] = .* float64 holds exactly"):
        gk.Graph([0, 1], [0], third)


def test_dense_refuses_what_would_exceed_4_gib():
    n = DENSE_LIMIT + 1
    with pytest.raises(gk.InvalidArgument, match=r"n = 32769: must be at most 32,768"):
        gk.Graph(np.zeros(n + 1, dtype=int), []).dense()


def test_the_repr_says_what_it_is():
    assert repr(gk.path(3)) == "Graph(n=3, m=4, undirected, unweighted)"
    assert repr(gk.Graph([0, 1], [0], [2])) == "Graph(n=1, m=1, directed, int32 weights)"
