"""H-BF: every optimization alone and in pairs, the traps of its paper, and what it counts."""

from __future__ import annotations

import numpy as np
import pytest
from awkward_graphs import AWKWARD, ONE_CASE_EACH
from effort import every_pair, examples
from hypothesis import given
from hypothesis import strategies as st
from numba import cuda
from test_sssp import cases, check, weighted

import gpukernels as gk
from gpukernels import reference
from gpukernels.frontiers.shared_slot import SLOT, enqueue_through_shared, slot_bytes
from gpukernels.frontiers.state import Queue
from gpukernels.shortest_paths import sssp
from gpukernels.shortest_paths.hbf import classes
from gpukernels.shortest_paths.hbf.frontier import relax_frontier
from gpukernels.shortest_paths.hbf.options import FLAGS, Options
from gpukernels.shortest_paths.hbf.relax import DUPLICATES
from gpukernels.shortest_paths.hbf.words import BIAS, NEVER, float_of, longer
from gpukernels.shortest_paths.negative import Watch
from gpukernels.simt.errors import RaceError
from gpukernels.trace import metrics

#: The smallest GPU and the least thresholds, so that small graphs meet every technique.
SMALL = {"resident_threads": 64, "child_threshold": 6, "threads": 64}
ALONE = [
    {},
    {"edge_classes": False},
    {"duplicates": "table"},
    {"duplicates": "none"},
    {"dynamic_virtual_warps": False},
    {"warp_workload": 1},
    {"dynamic_parallelism": False},
    {"coalesced_enqueue": False},
    {"cache_hints": False},
]
NOTHING = {
    "edge_classes": False, "duplicates": "none", "dynamic_virtual_warps": False, "warp_workload": 1,
    "dynamic_parallelism": False, "coalesced_enqueue": False, "cache_hints": False,
}  # fmt: skip
INT32_MAX = 2**31 - 1


def hbf(g: gk.Graph, root: int, device, **options):
    return sssp(g, root, "hbf", device, **{**SMALL, **options})


# --- options ------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [*ALONE, NOTHING], ids=str)
def test_each_optimization_can_be_switched_off_alone(scheduled_device, options):
    g = weighted(gk.rmat(5, 6, seed=3), "int32")
    check(g, 1, hbf(g, 1, scheduled_device, **options))


@pytest.mark.parametrize(
    ("case", "kind", "duplicates", "workload", "flags"),
    [
        (case, kind, how, workload, dict(zip(FLAGS, flags, strict=True)))
        for case, kind, how, workload, *flags in every_pair(
            ONE_CASE_EACH, ["none", "int32", "float32"], DUPLICATES, [1, 32],
            *([True, False] for _ in FLAGS),
        )
    ],
)  # fmt: skip
def test_optimizations_in_pairs(device, case, kind, duplicates, workload, flags):
    name, root = case
    g = weighted(AWKWARD[name], kind)
    options = {"duplicates": duplicates, "warp_workload": workload, **flags}
    check(g, root, hbf(g, root, device, warp_size=2, **options))


@pytest.mark.parametrize("duplicates", ["table", "none"])
@examples(25, 600)
@given(case=cases())
def test_zeros_negative_weights_and_cycles_without_the_atomic(duplicates, case):
    g, root = case
    device = gk.SimtDevice(check=True)
    try:
        reference.bellman_ford_queue(g, root)
    except gk.NegativeCycleError:
        with pytest.raises(gk.NegativeCycleError):
            hbf(g, root, device, duplicates=duplicates, capacity=g.n)
        return
    check(g, root, hbf(g, root, device, duplicates=duplicates, capacity=g.n))


@pytest.mark.parametrize("duplicates", ["table", "none"])
def test_a_round_that_does_not_fit_its_queue_is_collected_afresh(device, duplicates):
    g = weighted(gk.complete(40), "int32")
    result = hbf(g, 0, device, duplicates=duplicates, capacity=g.n)
    check(g, 0, result)
    assert result.stats["overflows"] > 0


# --- words --------------------------------------------------------------------------------------


@cuda.jit
def keys_of_sums(keys, weights, floats, sums, back):
    i = cuda.grid(1)
    if i < keys.size:
        sums[i] = longer(keys[i], weights[i], floats)
        if floats:
            back[i] = float_of(sums[i])


def test_keys_order_as_whole_numbers_do_and_tell_an_overflow(device):
    values = np.array([-(2**31), -(2**31) + 1, -1, 0, 1, 2**31 - 2], np.int64)
    a, w = (x.ravel() for x in np.meshgrid(values, values.astype(np.int32)))
    sums, back = device.full(a.size, 0, np.int64), device.full(1, 0, np.int32)
    device.launch(
        keys_of_sums, 2, 32, device.array(a + BIAS), device.array(w), False, sums, back
    )  # fmt: skip
    sums = device.read(sums)
    np.testing.assert_array_equal(sums - BIAS, a + w)
    assert ((sums >= NEVER) == (a + w >= INT32_MAX)).all()
    assert ((sums < 0) == (a + w < -(2**31))).all()


@examples(50, 1_000)
@given(values=st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=60))
def test_keys_order_as_floats_do(values):
    values = np.unique(np.float32(values) + np.float32(0))
    device, zero = gk.SimtDevice(), np.full(values.size, BIAS, np.int64)
    keys = device.full(values.size, 0, np.int64)
    back = device.full(values.size, 0, np.float32)
    device.launch(keys_of_sums, 2, 32, zero, values, True, keys, back)
    np.testing.assert_array_equal(back, values)
    assert (np.diff(keys) > 0).all()
    assert (keys >= 0).all()
    assert (keys < NEVER).all()


def test_the_least_negative_distance_does_not_win_over_a_lower_one(device):
    g = gk.Graph.from_arcs(4, [0, 0, 1, 2], [1, 2, 3, 3], [-1, -7, -1, -7])
    assert hbf(g, 0, device).distance.tolist() == [0, -1, -7, -14]
    fractions = gk.Graph(g.offsets, g.targets, g.weights / np.float32(4))
    assert hbf(fractions, 0, device).distance.tolist() == [0, -0.25, -1.75, -3.5]


# --- edge classes -------------------------------------------------------------------------------


def classes_of(g: gk.Graph, device) -> list[int]:
    arcs = classes.Arcs(device.keep(g.offsets), device.keep(g.targets), device.keep(g.weights))
    back = classes.turned_around(g, device, arcs)
    marked, _ = classes.marked_targets(g, device, arcs, back, 32)
    marked = device.read(marked)
    np.testing.assert_array_equal(marked & classes.ID_MASK, g.targets)
    return (marked >> classes.ID_BITS).tolist()


def expected_class(g: gk.Graph, u: int, v: int, w: int) -> int:
    """Return the class of an arc by the words of the docstring."""
    source, target = g.coo
    loops = int(((source == v) & (target == v) & (g.weights >= 0)).sum() == 1)
    arcs_out = int((source == v).sum()) - loops
    arcs_in = int((target == v).sum()) - loops
    if u == v:
        return classes.SELF_LOOP if w >= 0 else classes.NORMAL
    leaf = 0 if g.directed else 1
    if arcs_out == leaf and (g.directed or w >= 0):
        return classes.OUT_DEGREE
    return classes.IN_DEGREE if arcs_in == 1 else classes.NORMAL


@pytest.mark.parametrize("directed", [True, False])
@examples(40, 1_000)
@given(case=cases())
def test_every_arc_has_the_class_of_its_definition(directed, case):
    g, _ = case
    source, target = g.coo
    if not directed:
        g = gk.Graph.from_arcs(g.n, source, target, g.weights, directed=False)
        source, target = g.coo
    class_of_arc = classes_of(g, gk.SimtDevice(check=True))
    arcs = zip(source.tolist(), target.tolist(), g.weights.tolist(), strict=True)
    # Several self-loops of one vertex keep it out of the classes by degree, whatever they weigh.
    several = {v for v in range(g.n) if ((source == v) & (target == v)).sum() > 1}
    for kind, (u, v, w) in zip(class_of_arc, arcs, strict=True):
        if v in several and u != v:
            assert kind == classes.NORMAL
        else:
            assert kind == expected_class(g, u, v, w)


def test_ids_that_leave_no_room_for_a_class_are_refused(monkeypatch):
    classes.check_ids(2**30)
    with pytest.raises(gk.InvalidArgument, match=r"g\.n = 1073741825.*edge_classes=False"):
        classes.check_ids(2**30 + 1)
    monkeypatch.setattr(classes, "ID_MASK", 6)
    assert hbf(gk.path(7), 0, gk.SimtDevice()).reached == 7
    with pytest.raises(gk.InvalidArgument, match=r"g\.n = 8"):
        hbf(gk.path(8), 0, gk.SimtDevice())
    assert hbf(gk.path(8), 0, gk.SimtDevice(), edge_classes=False).reached == 8


# --- the traps of the paper ---------------------------------------------------------------------


@pytest.mark.parametrize("options", ALONE, ids=str)
def test_a_cycle_through_the_root_ends_and_leaves_its_distance(scheduled_device, options):
    # Every vertex is of in-degree 1: a plain store that does not compare goes around for ever.
    g = gk.Graph.from_arcs(4, range(4), [1, 2, 3, 0], [3, 1, 4, 1])
    result = hbf(g, 0, scheduled_device, **options)
    assert result.distance.tolist() == [0, 3, 4, 8]
    assert result.stats["iterations"] == 4


@pytest.mark.parametrize(
    ("order", "sorted_rows", "options"), every_pair([1, -1], [True, False], ALONE)
)
def test_of_parallel_arcs_from_the_root_the_least_counts(
    scheduled_device, order, sorted_rows, options
):
    targets, weights = np.repeat(np.arange(1, 9), 4), np.tile([5, 6, 7, 8][::order], 8)
    if not sorted_rows:
        shuffled = np.random.default_rng(0).permutation(32)
        targets, weights = targets[shuffled], weights[shuffled]
    g = gk.Graph([0] + [32] * 9, targets, weights)
    result = hbf(g, 0, scheduled_device, **options)
    assert result.distance.tolist() == [0] + [5] * 8


@pytest.mark.parametrize("options", ALONE, ids=str)
def test_a_postponed_vertex_takes_the_least_of_all_arcs_into_it(scheduled_device, options):
    # The near arc is the dear one; two parallel ones, and a path of three arcs that is cheapest.
    source, target = [0, 0, 0, 1, 2, 3], [4, 1, 4, 2, 3, 4]
    g = gk.Graph.from_arcs(5, source, target, [90, 1, 80, 1, 1, 1])
    result = hbf(g, 0, scheduled_device, **options)
    assert result.distance.tolist() == [0, 1, 2, 3, 4]
    assert result.path_to(4) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("loop", [False, True])
def test_a_vertex_whose_only_way_is_postponed_has_its_distance(device, directed, loop):
    source, target = [0, 1, 1, 2], [1, 2, 3, 4]
    if loop:
        source, target = [*source, 3, 4, 0], [*target, 3, 4, 0]
    g = gk.Graph.from_arcs(6, source, target, range(5, 5 + len(source)), directed=directed)
    check(g, 0, hbf(g, 0, device))


@pytest.mark.parametrize("directed", [True, False])
def test_the_root_is_never_postponed(device, directed):
    g = gk.Graph.from_arcs(3, [0, 1], [1, 2], [4, 5], directed=directed)
    for root in range(3):
        check(g, root, hbf(g, root, device))


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("kind", [np.int32, np.float32])
@pytest.mark.parametrize(
    ("source", "target", "weights", "of_undirected_alone"),
    [([0, 1], [1, 1], [2, -1], False), ([0, 1, 2], [1, 2, 2], [2, 3, -1], False),
     ([0, 1], [1, 2], [5, -1], True), ([0, 1, 2], [1, 2, 2], [5, -1, 3], True)],
)  # fmt: skip
def test_a_negative_cycle_of_an_arc_or_an_edge_is_not_skipped(
    device, directed, kind, source, target, weights, of_undirected_alone
):
    g = gk.Graph.from_arcs(4, source, target, kind(weights), directed=directed)
    if directed and of_undirected_alone:
        check(g, 0, hbf(g, 0, device))
        return
    with pytest.raises(gk.NegativeCycleError):
        hbf(g, 0, device)
    check(g, 3, hbf(g, 3, device))  # from there no path leads to the cycle


@pytest.mark.parametrize("options", ALONE[:4], ids=str)
def test_an_offer_that_is_no_better_enqueues_nobody(scheduled_device, options):
    g = gk.complete(18)
    stats = hbf(g, 0, scheduled_device, **options).stats
    assert stats["frontier_sizes"] == [1, 17]
    assert stats["enqueues"] == 18


@pytest.mark.parametrize("duplicates", DUPLICATES)
def test_the_word_that_comes_back_must_be_of_a_greater_distance(duplicates):
    # Both lanes see vertex 3 unreached; the first lowers it, and the second offers more than that.
    g = gk.Graph.from_arcs(4, [0, 0, 1, 2, 3], [1, 2, 3, 3, 1], [1, 1, 3, 5, 9])
    stats = hbf(g, 0, gk.SimtDevice(), duplicates=duplicates).stats
    assert stats["frontier_sizes"] == [1, 2, 1]
    assert stats["enqueues"] == 4


def test_the_atomic_leaves_no_duplicates_and_the_table_removes_them(scheduled_device):
    g = weighted(gk.complete(18), "int32")
    runs = {how: hbf(g, 0, scheduled_device, duplicates=how).stats for how in DUPLICATES}
    assert runs["atomic64"]["duplicates"] == runs["atomic64"]["duplicates_removed"] == 0
    assert runs["table"]["duplicates"] == 0
    assert runs["table"]["duplicates_removed"] > 0
    assert runs["none"]["duplicates"] > 0
    for stats in runs.values():
        assert stats["enqueues"] == sum(stats["frontier_sizes"]) + stats["duplicates_removed"]


@pytest.mark.parametrize("duplicates", DUPLICATES)
def test_a_distance_below_all_negative_weights_together_proves_a_cycle(monkeypatch, duplicates):
    # Copies of a vertex relax an arc several times a round, so that no count of rounds bounds how
    # far a distance falls before the host looks at it the next time. Here it never does.
    monkeypatch.setattr(Watch, "due", lambda watch, round: False)
    g = gk.Graph.from_arcs(4, [0, 1, 2, 2], [1, 2, 1, 3], [5, -(2**28), -(2**28), 1])
    device = gk.SimtDevice(check=True, loop_steps=10_000)
    with pytest.raises(gk.NegativeCycleError) as caught:
        hbf(g, 0, device, duplicates=duplicates)
    assert sorted(caught.value.cycle) == [1, 2]


# --- what is counted ----------------------------------------------------------------------------

#: Nine vertices as the text of [busato2016hbf], Figs. 1 and 2, has them: the same self-loops, the
#: same arcs of in-degree 1 and the same vertices without arcs out; the others and the weights are
#: ours, as the figures are not in the text.
EXAMPLE = np.array(
    [(0, 2, 1), (0, 3, 6), (2, 1, 2), (2, 2, 9), (2, 3, 3), (3, 7, 4), (3, 8, 3), (4, 4, 2),
     (4, 5, 4), (4, 8, 2), (6, 4, 5), (6, 8, 9), (7, 4, 3), (7, 6, 5)]
)  # fmt: skip


def test_the_worked_example_takes_23_relaxations_and_5_by_atomics():
    g = gk.Graph.from_arcs(9, *EXAMPLE.T)
    plain = hbf(g, 0, gk.SimtDevice(), edge_classes=False).stats
    assert (plain["relaxations"], plain["iterations"]) == (23, 6)
    stats = hbf(g, 0, gk.SimtDevice()).stats
    saved = stats["saved"]
    assert stats["iterations"] == 5
    assert stats["relaxations"] - saved["in_degree"] - saved["source"] == 5
    assert stats["edge_classes"] == {"self_loop": 2, "out_degree": 5, "in_degree": 3, "source": 1}
    assert stats["relaxations_at_the_end"] == 5
    assert stats["class_of_arc"].tolist() == [1, 0, 3, 2, 0, 1, 3, 2, 3, 3, 0, 3, 0, 1]


def test_relaxations_are_those_of_the_frontiers_and_of_their_classes(device):
    g = weighted(gk.rmat(6, 5, seed=2), "int32")
    stats = hbf(g, 0, device).stats
    arcs = stats["relaxations"] + stats["saved"]["self_loop"] + stats["saved"]["out_degree"]
    assert arcs >= g.out_degree[reference.bellman_ford_queue(g, 0).parent >= 0].sum()
    whole = hbf(g, 0, device, edge_classes=False).stats
    assert set(whole["saved"].values()) == set(whole["edge_classes"].values()) == {0}
    assert whole["launches_for_classes"] == 0


def test_a_round_is_a_launch_and_a_read_back(device):
    stats = hbf(gk.path(6), 0, device, child_threshold=4096).stats
    assert stats["iterations"] == stats["read_backs"] == 5
    assert stats["launches"] == 6
    with_table = hbf(gk.path(6), 0, device, child_threshold=4096, duplicates="table").stats
    assert with_table["launches"] == 3 * 5 + 1
    assert with_table["read_backs"] == 5


def test_virtual_warps_follow_the_frontier_between_4_and_32():
    options = Options()
    sizes = [options.virtual_warp(size, 2048) for size in (1, 64, 65, 128, 129, 513, 10**6)]
    assert sizes == [32, 32, 16, 16, 8, 4, 4]
    assert Options(dynamic_virtual_warps=False, warp_size=8).virtual_warp(1, 2048) == 8


def test_a_warp_takes_32_vertices_where_there_are_enough_for_all_warps():
    options = Options()
    assert [options.vertices_a_warp(s, 2048, 4) for s in (1, 512, 1024, 2048, 9999)] == [
        8, 8, 16, 32, 32,
    ]  # fmt: skip
    assert options.vertices_a_warp(1, 2048, 32) == 1
    assert Options(warp_workload=1).vertices_a_warp(9999, 2048, 4) == 8


def test_the_child_kernel_takes_vertices_above_the_threshold(device):
    g = weighted(gk.star(300), "int32")
    stats = hbf(g, 0, device, child_threshold=298).stats
    assert stats["child_vertices"] == 1
    assert stats["child_launches"] == stats["iterations"]
    for options in ({"child_threshold": 299}, {"dynamic_parallelism": False}):
        assert hbf(g, 0, device, **options).stats["child_launches"] == 0


def test_the_child_kernel_relaxes_every_arc_of_every_piece(device):
    g = weighted(gk.star(1200), "int32")  # pieces of 512 arcs, the last of 175
    check(g, 0, hbf(g, 0, device, threads=32, edge_classes=False))


def test_more_vertices_a_warp_even_out_what_its_groups_do():
    efficiency = {}
    for workload in (1, 32):
        device = gk.SimtDevice(trace=True)
        sssp(gk.rmat(9, 8, seed=1), 0, "hbf", device, resident_threads=64, warp_workload=workload)
        of_rounds = device.trace.select(kernel="relax_frontier")
        efficiency[workload] = metrics.simd_efficiency(of_rounds)
    assert efficiency[32] > efficiency[1]


# --- parts --------------------------------------------------------------------------------------


@cuda.jit
def write_found(lengths, queue: Queue, coalesced):
    slots = cuda.shared.array(0, np.int32)
    found = cuda.local.array(16, np.int32)
    i = cuda.grid(1)
    for k in range(lengths[i]):
        found[k] = 100 * i + k
    enqueue_through_shared(queue, found, lengths[i], slots, coalesced)


@pytest.mark.parametrize("lengths", [[0] * 64, [16] * 64, list(range(16)) * 4, [0] * 63 + [1]])
@pytest.mark.parametrize("room", [1024, 50])
def test_the_shared_slot_appends_everything_side_by_side(scheduled_device, lengths, room):
    device = scheduled_device
    queue = Queue(device.full(room, -1, np.int32), device.full(1, 0, np.int64))
    given = device.array(np.array(lengths, np.int32))
    device.launch(write_found, 1, 64, given, queue, True, shared=slot_bytes(64))
    assert device.read(queue.next_size)[0] == sum(lengths)
    expected = {100 * i + k for i, length in enumerate(lengths) for k in range(length)}
    vertices = device.read(queue.next_frontier)
    kept = vertices[vertices >= 0].tolist()
    assert len(kept) == len(set(kept)) == min(room, len(expected))
    assert set(kept) <= expected
    assert SLOT % 32 == 0


@pytest.mark.parametrize("seed", range(2))
def test_the_declared_races_are_there_and_no_other(seed, monkeypatch):
    g = weighted(gk.erdos_renyi(100, 6, seed=1), "int32")
    hbf(g, 0, gk.SimtDevice(schedule="random", seed=seed, check=True))
    monkeypatch.setattr(relax_frontier.py_func, "__benign_races__", frozenset())
    with pytest.raises(RaceError, match="words"):
        hbf(g, 0, gk.SimtDevice(check=True), dynamic_parallelism=False)
