"""Every search for the shortest paths of all pairs, against SciPy and three plain loops."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from awkward_graphs import AWKWARD
from effort import every_pair, examples
from fake_gpu import FakeGpus
from hypothesis import given
from hypothesis import strategies as st
from numba import cuda
from scipy_paths import check, closed, matrix_of, weighted

import gpukernels as gk
from gpukernels import reference
from gpukernels.all_pairs import METHODS, UNREACHED, apsp
from gpukernels.all_pairs.blocked import crossing, remainder
from gpukernels.all_pairs.encoding import ABSENT, MOST_FALL
from gpukernels.all_pairs.naive import relax_pivot
from gpukernels.all_pairs.tiles import Form, closer
from gpukernels.cores import slabs
from gpukernels.errors import RaceError
from gpukernels.methods import options_of

INT32_MAX = 2**31 - 1
SMALL = [
    "no_vertices", "one_vertex", "one_vertex_with_loop", "one_arc", "self_loops_among_arcs",
    "parallel_arcs", "unsorted_rows", "disconnected", "directed_cycle", "complete",
]  # fmt: skip
KINDS = ["none", "int32", "float32"]
VARIANTS = [
    ("naive", {}),
    ("naive", {"threads": 32}),
    ("blocked", {}),
    ("blocked", {"tile": 16, "per_thread": "4x2", "padding": False}),
    ("blocked", {"tile": 16, "per_thread": "4x4"}),
    ("blocked", {"tile": 16, "panel": 2}),
    ("blocked", {"tile": 16, "per_thread": "8x8"}),
    ("blocked", {"tile": 32, "per_thread": "4x2"}),
    ("repeated_squaring", {}),
    ("repeated_squaring", {"lazy": True, "per_thread": "4x2"}),
    ("repeated_squaring", {"tile": 32, "padding": False}),
    ("kleene", {}),
    ("kleene", {"tile": 16, "per_thread": "4x4"}),
    ("out_of_core", {"memory": 8704}),
    ("tran", {}),
    ("tran", {"memory": 8704, "per_thread": "4x2"}),
    ("matsumoto", {}),
    ("matsumoto", {"tile": 16, "block": 32}),
    ("per_root", {}),
    ("per_root", {"batch": 3}),
    ("johnson", {"search": "near_far_persistent"}),
    ("johnson", {"memory": 1 << 16}),
    ("johnson", {"search": "ortega"}),
    ("johnson", {"search": "hbf", "memory": 1 << 16}),
    ("per_root", {"search": "hbf", "batch": 3}),
]
LARGE = [
    ("blocked", {"tile": 64}),
    ("blocked", {"tile": 32, "per_thread": "1x1"}),
    ("blocked", {"tile": 64, "per_thread": "4x2"}),
    ("blocked", {"tile": 16, "panel": 3}),
    ("repeated_squaring", {"tile": 128}),
    ("kleene", {"tile": 64, "per_thread": "4x4"}),
    ("out_of_core", {"tile": 32, "per_thread": "4x4", "memory": 1 << 15}),
    ("tran", {"tile": 32, "memory": 1 << 15}),
    ("matsumoto", {"tile": 32, "padding": False}),
]
#: Methods that search from each root by arcs; the others know nothing but the matrix.
ROOTED = ("per_root", "johnson")
#: Methods that need not have the whole matrix on a device.
IN_PIECES = (*ROOTED, "out_of_core", "tran", "matsumoto", "partitioned")
#: Methods that keep next hops.
HOPPING = [method for method, driver in METHODS.items() if "next_hops" in options_of(driver)]
every_method = pytest.mark.parametrize("method", METHODS)
every_hopping_method = pytest.mark.parametrize("method", HOPPING)
every_variant = pytest.mark.parametrize(("method", "options"), VARIANTS, ids=str)


def check_cycle(g: gk.Graph, cycle: list[int]) -> None:
    """It is a cycle of negative length."""
    assert len(set(cycle)) == len(cycle)
    arcs = matrix_of(g)
    assert sum(arcs[arc] for arc in zip(cycle, cycle[1:] + cycle[:1], strict=True)) < 0


# --- right ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "variant", "kind", "next_hops"), every_pair(SMALL, VARIANTS[::2], KINDS, [False, True])
)
def test_awkward_graphs(device, name, variant, kind, next_hops):
    g, (method, options) = weighted(AWKWARD[name], kind), variant
    check(g, apsp(g, method, device, next_hops=next_hops, **options))


@pytest.mark.parametrize(("method", "options"), LARGE, ids=str)
def test_large_tiles(device, method, options):
    n = 65 if options == {"tile": 64} else 33
    g = weighted(gk.erdos_renyi(n, 3, seed=2, directed=True), "int32")
    check(g, apsp(g, method, device, **options))


@every_method
def test_under_every_schedule(scheduled_device, method):
    g = weighted(gk.erdos_renyi(20, 3, seed=5, directed=True), "int32")
    hops = {"next_hops": True} if method in HOPPING else {}
    check(g, apsp(g, method, scheduled_device, **hops))


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 20))
    vertex = st.integers(0, n - 1)
    arcs = draw(st.lists(st.tuples(vertex, vertex, st.integers(-2, 6)), max_size=50))
    dtype = draw(st.sampled_from(["int32", "float32"]))
    weights = np.array([w for _, _, w in arcs], dtype)
    return gk.Graph.from_arcs(n, [u for u, _, _ in arcs], [v for _, v, _ in arcs], weights)


@every_variant
@examples(6, 500)
@given(g=graphs())
def test_zeros_negative_weights_and_cycles(method, options, g):
    device = gk.SimtDevice(check=True)
    try:
        expected = reference.floyd_warshall(g)
    except gk.NegativeCycleError:
        with pytest.raises(gk.NegativeCycleError) as caught:
            apsp(g, method, device, **options)
        check_cycle(g, caught.value.cycle)
        return
    distance = np.where(expected.next_hop >= 0, expected.distance.astype(float), np.inf)
    check(g, apsp(g, method, device, next_hops=True, **options), distance)


@every_variant
def test_cycles_of_length_0_lead_no_hop_in_circles(device, method, options):
    rng = np.random.default_rng(3)
    g = gk.complete(20)
    g = gk.Graph(g.offsets, g.targets, rng.integers(0, 2, g.m))
    check(g, apsp(g, method, device, next_hops=True, **options))


@every_hopping_method
def test_floats_that_are_rounded_still_have_paths(device, method):
    g = gk.complete(20)
    weights = np.random.default_rng(4).random(g.m).astype(np.float32) ** 9
    g = gk.Graph(g.offsets, g.targets, weights)
    answer = apsp(g, method, device, next_hops=True)
    arcs = matrix_of(g)
    np.testing.assert_allclose(answer.distance, closed(arcs), rtol=1e-5)
    for i in range(g.n):
        for j in range(g.n):
            length = sum(arcs[arc] for arc in pairwise(answer.path(i, j)))
            assert length == pytest.approx(answer.distance[i, j], rel=1e-5)


@every_method
def test_a_matrix_is_taken_like_its_graph(device, method):
    g = weighted(gk.erdos_renyi(18, 3, seed=2, directed=True), "int32")
    whole = g.dense().copy()
    np.fill_diagonal(whole, 0)
    floats = np.where(whole == UNREACHED, np.inf, whole)
    expected = apsp(g, method, device).distance
    for matrix in (whole, whole.tolist(), np.asfortranarray(whole), whole.astype(">i8")):
        np.testing.assert_array_equal(apsp(matrix, method, device).distance, expected)
    np.testing.assert_array_equal(
        apsp(floats, method, device).distance, np.where(expected == UNREACHED, np.inf, expected)
    )


@every_hopping_method
def test_a_result_can_be_pickled_and_printed(device, method):
    answer = apsp(gk.path(3), method, device, next_hops=True)
    again = pickle.loads(pickle.dumps(answer))
    np.testing.assert_array_equal(again.distance, answer.distance)
    assert repr(answer) == (
        f"APSPResult by {method}: 9 of 9 pairs; distance int32 (3, 3), next_hop int32 (3, 3)"
    )
    assert again.path(2, 0) == [2, 1, 0]


def test_paths_of_a_result_without_hops_or_to_no_vertex_are_refused():
    answer = apsp(gk.path(3), "naive", next_hops=False)
    with pytest.raises(ValueError, match="kept no next hops"):
        answer.path(0, 2)
    with pytest.raises(gk.VertexOutOfRange, match="j = 3"):
        answer.path(0, 3)


# --- infinity and its neighbors -------------------------------------------------------------------


@every_method
def test_infinity_stays_infinite_with_negative_weights_behind_it(device, method):
    n = 20
    least = -(MOST_FALL // (n - 2))
    g = gk.Graph.from_arcs(n, range(1, n - 1), range(2, n), [least] * (n - 2))
    hops = {"next_hops": True} if method in HOPPING else {}
    check(g, apsp(g, method, device, **hops))


@every_method
def test_the_longest_path_that_can_be_held(device, method):
    g = gk.Graph.from_arcs(4, [0, 1, 3], [1, 2, 3], [ABSENT - 3, 2, 5])
    assert apsp(g, method, device).distance[0].tolist() == [
        0, ABSENT - 3, ABSENT - 1, UNREACHED,
    ]  # fmt: skip


@every_method
@pytest.mark.parametrize(
    "weights",
    [[ABSENT - 3, 3], [INT32_MAX - 1, 0], [INT32_MAX, 0], [2**30, 2**30], [0, INT32_MAX],
     [ABSENT - 2, -2], np.float32([3e38, 3e38])],
    ids=str,
)  # fmt: skip
def test_a_path_too_long_to_be_held_is_an_error(device, method, weights):
    g = gk.Graph.from_arcs(4, [0, 1], [1, 2], weights)
    with pytest.raises(OverflowError, match=r"longer than (int32|float32) holds"):
        apsp(g, method, device)


@every_method
@pytest.mark.parametrize("huge", [ABSENT, INT32_MAX])
def test_an_arc_too_long_to_be_held_is_none_if_there_is_a_shorter_way(device, method, huge):
    g = gk.Graph.from_arcs(4, [0, 0, 2], [1, 2, 1], [huge, 1, 1])
    check(g, apsp(g, method, device))
    if huge < UNREACHED:
        matrix = g.dense().copy()
        np.fill_diagonal(matrix, 0)
        np.testing.assert_array_equal(
            apsp(matrix, method, device).distance, apsp(g, method, device).distance
        )


@every_method
def test_weights_that_fall_too_far_are_refused_before_a_launch(method):
    for weights in ([-MOST_FALL, -1], np.float32([-3e38, -3e38])):
        g = gk.Graph.from_arcs(3, [0, 1], [1, 2], weights)
        with pytest.raises(gk.InvalidArgument, match="the sum of g's negative weights = "):
            apsp(g, method, UntouchedDevice())


@every_method
@pytest.mark.parametrize("kind", ["int32", "float32"])
def test_negative_cycles_everywhere_do_not_double_distances_beyond_the_type(device, method, kind):
    n = 40
    g = gk.complete(n)
    # A search from one root wants all negative weights together within int32.
    least = -(MOST_FALL // (g.m if method in ROOTED else n))
    g = gk.Graph(g.offsets, g.targets, np.full(g.m, least, kind))
    with pytest.raises(gk.NegativeCycleError) as caught:
        apsp(g, method, device)
    check_cycle(g, caught.value.cycle)


@every_method
@pytest.mark.parametrize("n", [1, 17])
def test_one_negative_cycle_through_all_vertices_is_found(device, method, n):
    weights = np.ones(n, np.int32)
    weights[n // 2] = -n
    g = gk.Graph.from_arcs(n, range(n), [*range(1, n), 0], weights)
    with pytest.raises(gk.NegativeCycleError) as caught:
        apsp(g, method, device)
    assert sorted(caught.value.cycle) == [*range(n)]
    if n > 1:
        matrix = g.dense().copy()
        np.fill_diagonal(matrix, 0)
        with pytest.raises(gk.NegativeCycleError):
            apsp(matrix, method, device)


# The others add in another order, in which 0 comes out.
@pytest.mark.parametrize("method", ["naive", "blocked", "kleene", "out_of_core"])
def test_a_cycle_that_only_rounding_makes_negative_is_named_as_such(device, method):
    # 1e8 + 3 is rounded to 1e8, so that 1 looks like -2.
    g = gk.Graph.from_arcs(4, range(4), [1, 2, 3, 0], np.float32([1e8, 3, -1e8, -2]))
    with pytest.raises(FloatingPointError, match="rounded so far"):
        apsp(g, method, device)


@cuda.jit
def store_whatever_comes_out(distance, k):
    j, i = cuda.grid(2)
    if i < distance.shape[0] and j < distance.shape[1]:
        distance[i, j] = min(distance[i, j], distance[i, k] + distance[k, j])


def test_a_store_of_what_is_less_alone_keeps_the_plain_kernel_free_of_races():
    # Stores of the same value to row and column k would meet the loads of others.
    matrix = np.ones((40, 40), np.int32) - np.eye(40, dtype=np.int32)
    device = gk.SimtDevice(check=True)
    with pytest.raises(RaceError):
        device.launch(store_whatever_comes_out, (2, 5), (32, 8), matrix, 0)
    for kernel in (relax_pivot, closer(Form(16)), remainder(Form(16)), crossing(Form(16))):
        assert not hasattr(kernel.py_func, "__benign_races__")
    apsp(matrix, "naive", device)


@pytest.mark.parametrize("next_hops", [False, True])
def test_what_a_search_refuses_is_told_of_the_arcs_as_they_are(device, next_hops):
    g = gk.Graph.from_arcs(4, [0, 1, 2], [1, 2, 3], [1, -5, 1])
    options = {"search": "near_far_persistent", "next_hops": next_hops}
    with pytest.raises(gk.NegativeWeightError, match="arc 1 -> 2 weighs -5") as caught:
        apsp(g, "per_root", device, **options)
    assert caught.value.arc == (1, 2)
    check(g, apsp(g, "johnson", device, **options))
    far = gk.Graph.from_arcs(3, [0, 1], [1, 2], [INT32_MAX - 1, 2])
    message = "path to vertex 2" if next_hops else "path from vertex 0"
    with pytest.raises(OverflowError, match=message):
        apsp(far, "per_root", device, next_hops=next_hops)
    ring = gk.Graph.from_arcs(3, [0, 1, 2], [1, 2, 0], [-1, -1, -1])
    with pytest.raises(gk.NegativeCycleError) as caught:
        apsp(ring, "per_root", device, next_hops=next_hops)
    check_cycle(ring, caught.value.cycle)


# --- refused --------------------------------------------------------------------------------------


class UntouchedDevice(gk.SimtDevice):
    """A device that nobody may use."""

    def _refuse(self, *args, **options):
        raise AssertionError("the device was used before the arguments were checked")

    array = keep = put = empty = full = pinned = clear = read = launch = _refuse


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("method", ["blocked", "out_of_core"])
@pytest.mark.parametrize(
    ("g", "argument"),
    [
        ([1, 2], "g.shape"), (np.zeros((2, 3)), "g.shape"), (np.zeros((2, 2, 2)), "g.shape"),
        ([[0, NAN], [1, 0]], "g[0, 1]"), ([[0, 1], [-INF, 0]], "g[1, 0]"),
        ([[0, 1], [1, 3]], "g[1, 1]"), ([[0, 1], [1, INF]], "g[1, 1]"), ([[-1]], "g[0, 0]"),
        ([[0, 2**31], [1, 0]], "g[0, 1]"), ([[0, 1e39], [1, 0]], "g[0, 1]"),
        ([["a"]], "g"), ([[True]], "g"), (None, "g"), ([[1], [1, 2]], "g"), (gk.Graph, "g"),
    ],
    ids=lambda given: str(given)[:20],
)  # fmt: skip
def test_what_is_no_matrix_of_lengths_is_refused(method, g, argument):
    with pytest.raises(gk.InvalidArgument) as caught:
        apsp(g, method, UntouchedDevice())
    assert caught.value.argument == argument


@pytest.mark.parametrize("g", [gk.path(32_769), np.broadcast_to(np.int8(0), (32_769, 32_769))])
def test_what_is_too_large_for_a_matrix_in_memory_is_refused(g):
    with pytest.raises(gk.InvalidArgument, match="32,768"):
        apsp(g, "blocked", UntouchedDevice())


@pytest.mark.parametrize("part", [40, 80, 401])
@pytest.mark.parametrize("kind", ["int32", "float32"])
@pytest.mark.parametrize("method", METHODS)
def test_in_however_many_parts_a_host_looks_at_matrices(monkeypatch, method, kind, part):
    """One row, two, or ten at a time, and the last part has fewer."""
    monkeypatch.setattr(slabs, "PART", part)
    rng = np.random.default_rng(part)
    weights = rng.integers(1, 50, 60).astype(kind)
    g = gk.Graph.from_arcs(39, *rng.integers(0, 39, (2, 60)), weights)
    matrix = g.dense(UNREACHED if kind == "int32" else np.inf).copy()
    np.fill_diagonal(matrix, 0)
    for given_as in (g, matrix, np.asfortranarray(matrix)):
        check(g, apsp(given_as, method, gk.SimtDevice()))


@pytest.mark.parametrize("options", [{}, {"next_hops": True}])
@pytest.mark.parametrize("method", [m for m in METHODS if m not in IN_PIECES])
def test_more_than_a_gpu_has_free_is_refused_before_a_launch(monkeypatch, method, options):
    gpus = FakeGpus(monkeypatch, memory=1 << 20)
    try:
        for g in (gk.Graph([0], []), gk.path(20)):
            check(g, gk.apsp(g, method, gk.CudaDevice(), **options))
        monkeypatch.setattr(gk.CudaDevice, "launch", UntouchedDevice._refuse)
        with pytest.raises(gk.InvalidArgument, match=r"^n = 600: .*GiB free") as caught:
            gk.apsp(gk.path(600), method, gk.CudaDevice(), **options)
        assert caught.value.argument == "n"
    finally:
        gpus.close()


@pytest.mark.parametrize(
    ("method", "options", "argument"),
    [
        ("naive", {"threads": 33}, "threads"), ("johnson", {"threads": 33}, "threads"),
        ("per_root", {"search": "naive"}, "search"), ("johnson", {"search": None}, "search"),
        ("blocked", {"tile": 128}, "tile"), ("blocked", {"tile": 16.0}, "tile"),
        ("blocked", {"per_thread": "2x4"}, "per_thread"),
        ("blocked", {"per_thread": (4, 2)}, "per_thread"),
        ("blocked", {"tile": 64, "per_thread": "1x1"}, "per_thread"),
        ("kleene", {"tile": 128}, "tile"), ("kleene", {"padding": 1}, "padding"),
        ("repeated_squaring", {"tile": 8}, "tile"), ("repeated_squaring", {"lazy": None}, "lazy"),
        ("repeated_squaring", {"next_hops": 0}, "next_hops"),
        ("per_root", {"batch": 0}, "batch"), ("johnson", {"memory": 2.5}, "memory"),
        ("per_root", {"batch": 2, "search": "harish"}, "batch"),
        ("per_root", {"memory": 100}, "memory"),
        ("per_root", {"batch": 70_000}, "batch"),
        ("out_of_core", {"tile": 128}, "tile"), ("out_of_core", {"memory": 0.5}, "memory"),
        ("tran", {"memory": 3583}, "memory"), ("tran", {"per_thread": "2x4"}, "per_thread"),
        ("matsumoto", {"block": 24}, "block"), ("matsumoto", {"block": 0}, "block"),
        ("matsumoto", {"block": 32.5}, "block"), ("matsumoto", {"tile": 64, "block": 32}, "block"),
    ],
    ids=str,
)  # fmt: skip
def test_options_are_refused_before_a_launch(method, options, argument):
    with pytest.raises(gk.InvalidArgument) as caught:
        apsp(gk.path(3), method, UntouchedDevice(), **options)
    assert caught.value.argument == argument


# --- counted --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [16, 40])
@every_method
def test_launches_and_operations_are_those_of_the_definition(method, n):
    device = gk.SimtDevice(trace=True)
    stats = apsp(gk.complete(n), method, device).stats
    tiles = -(-n // 16)
    expected = {
        "naive": n,
        "blocked": 3 * tiles if tiles > 1 else 1,
        "repeated_squaring": 2,  # one round, and nothing has changed
        "kleene": tiles + 6 * (tiles - 1),
        "out_of_core": 3 * tiles if tiles > 1 else 1,  # one block, which is `blocked`
        "tran": 1,  # one block, one round, and nothing has changed
        "matsumoto": tiles * (tiles - 1) ** 2,
    }
    assert stats["launches"] == len(device.trace.launches)
    if method in expected:
        assert stats["launches"] == expected[method]
        padded = stats["operations"] == (n if method == "naive" else 16 * tiles) ** 3
        assert padded or method == "matsumoto"  # whose pivots are not padded
    elif method == "partitioned":
        assert stats["operations"] >= stats["work"] > n**3 / 2
    else:
        # Two rounds each, in which every vertex relaxes its arcs; johnson adds 1 search and n arcs.
        assert stats["iterations"] >= 2 * n
        assert stats["operations"] >= n * n * (n - 1)


@pytest.mark.parametrize("lazy", [False, True])
def test_squaring_takes_the_logarithm_of_the_arcs_and_ends_when_nothing_changes(device, lazy):
    for n, rounds in ((1, 0), (2, 1), (9, 4), (17, 5)):
        ring = gk.Graph.from_arcs(n, range(n), [*range(1, n), 0])
        answer = apsp(ring, "repeated_squaring", device, lazy=lazy)
        assert answer.stats["iterations"] == rounds
    assert apsp(gk.complete(40), "repeated_squaring", device).stats["iterations"] == 1
    assert apsp(gk.star(40), "repeated_squaring", device).stats["iterations"] == 2
