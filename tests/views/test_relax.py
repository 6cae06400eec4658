"""RelaxView's record of searches for shortest paths, compared with a scalar model of them."""

import numpy as np
import pytest
from awkward_graphs import AWKWARD
from effort import every_pair, in_turn
from numba import cuda

import gpukernels as gk
from gpukernels.device import benign_race
from gpukernels.errors import InvalidArgument
from gpukernels.primitives import grid_barrier
from gpukernels.shortest_paths import METHODS
from gpukernels.trace import ATOMIC, STORE, ArrayInfo
from gpukernels.views import RelaxView
from gpukernels.views.encoding import unpack
from gpukernels.views.relax.distance_words import reader_of
from gpukernels.views.relax.relaxations import AGAIN, NEEDED, TOO_EARLY, Arcs, read_run

ROADS = gk.random_weights(gk.road_grid(8, 8, seed=1), low=1, high=40, seed=1)
WEB = gk.random_weights(gk.rmat(6, 6, seed=3), low=0, high=9, seed=2)
#: The path 0 -> 1 -> 2 is shorter than 0 -> 2, so vertices 2 and 3 are expanded too early.
DETOUR = gk.Graph.from_arcs(5, [0, 0, 1, 2, 3], [1, 2, 2, 3, 4], [1, 9, 2, 1, 1])
INT32_MAX = 2**31 - 1


def trace_of(g, root=0, method="harish"):
    device = gk.SimtDevice("lockstep", trace=True)
    gk.sssp(g, root, method, device)
    return device.trace


def run_of(g, root=0, method="harish", schedule="lockstep", **options):
    device = gk.SimtDevice(schedule, seed=3, trace=True)
    result = gk.sssp(g, root, method, device, **options)
    return read_run(device.trace, Arcs.of(g)), result


def rounds_of_bellman_ford(g, root):
    """Yield, for each round, the vertices relaxed, those lowered, and all distances after it."""
    distance = [np.inf] * g.n
    distance[root], taken = 0, {root}
    while taken:
        lower = list(distance)
        for u in sorted(taken):
            for i in range(g.offsets[u], g.offsets[u + 1]):
                v = int(g.targets[i])
                lower[v] = min(lower[v], distance[u] + int(g.weights[i]))
        fell = {v for v in range(g.n) if lower[v] < distance[v]}
        yield {u for u in taken if g.out_degree[u]}, fell, lower
        distance, taken = lower, fell


@pytest.mark.parametrize(("g", "root"), [(ROADS, 0), (WEB, 1), (DETOUR, 0)], ids=repr)
def test_iterations_of_harish_are_the_rounds_of_bellman_ford(g, root):
    run, _ = run_of(g, root)
    assert run.root == root
    rounds = list(rounds_of_bellman_ford(g, root))
    assert len(run.iterations) == len(rounds)
    distance = np.full(g.n, np.inf)
    distance[root] = 0
    for entry, (taken, fell, after) in zip(run.iterations, rounds, strict=True):
        assert entry.relaxed.tolist() == sorted(taken)
        assert entry.lowered.tolist() == sorted(fell)
        distance[entry.lowered] = entry.length
        assert distance.tolist() == after
        assert len(entry.arcs) == sum(g.out_degree[u] for u in taken)
        assert set(g.targets[entry.gains].tolist()) == fell
        assert not entry.saved.size
        assert not entry.skipped.size


def test_who_marks_self_loops_relaxes_nothing():
    g = gk.Graph.from_arcs(4, [0, 1, 1, 2, 2, 0], [1, 1, 2, 2, 3, 3], [2, 1, 3, 1, 4, 20])
    run, result = run_of(g, 0, "hbf")
    assert run.relaxations == result.stats["relaxations"] + result.stats["relaxations_at_the_end"]


def test_who_is_taken_up_too_early_is_told_apart():
    run, _ = run_of(DETOUR)
    taken = [dict(zip(e.relaxed.tolist(), e.kind.tolist(), strict=True)) for e in run.iterations]
    assert taken == [
        {0: NEEDED},
        {1: NEEDED, 2: TOO_EARLY},
        {2: NEEDED, 3: TOO_EARLY},
        {3: NEEDED},
        {},
    ]
    run, _ = run_of(DETOUR, method="topology_driven")
    assert run.iterations[-1].kind.tolist() == [AGAIN] * 4


@pytest.mark.parametrize(
    ("method", "network", "schedule"),
    every_pair(METHODS, ("roads", "web"), ("lockstep", "warp", "random")),
)
def test_every_method_is_read_as_it_counts_itself(method, network, schedule):
    """Its relaxations, its distances, and exactly one needed relaxation per needed arc."""
    g, root = {"roads": (ROADS, 0), "web": (WEB, 1)}[network]
    run, result = run_of(g, root, method, schedule)
    assert run.root == root
    stats = result.stats
    # Postponed arcs take one more iteration, in which arcs from unreached vertices do not count.
    at_the_end = run.relaxations - stats["relaxations"]
    assert 0 <= at_the_end <= stats.get("relaxations_at_the_end", 0)
    if stats["launches"] > 1:
        assert len(run.iterations) == stats["iterations"] + (at_the_end > 0)
    else:  # steps that divide a pile relax nothing
        assert 0 < len(run.iterations) <= stats["iterations"]
    expected = gk.reference.dijkstra(g, root)
    distance = np.where(expected.parent >= 0, expected.distance, np.inf)
    np.testing.assert_array_equal(run.distance, distance)
    kinds = np.bincount(np.concatenate([e.arc_kind for e in run.iterations]), minlength=3)
    saved = sum(len(e.saved) for e in run.iterations)
    if not saved:
        assert kinds[NEEDED] == g.out_degree[run.distance < np.inf].sum()


@pytest.mark.parametrize(("name", "kind"), in_turn(AWKWARD, ["none", "int32", "float32"]))
def test_awkward_graphs_are_drawn(name, kind):
    g = AWKWARD[name]
    if not g.n or g.n > 300:
        return
    if kind != "none":
        weights = np.random.default_rng(1).uniform(1, 9, g.m).astype(kind)
        g = gk.Graph(g.offsets, g.targets, weights)
    run, result = run_of(g, g.n // 2)
    assert run.relaxations == result.stats["relaxations"]
    np.testing.assert_array_equal(np.isfinite(run.distance), result.parent >= 0)
    drawn = RelaxView(g, trace_of(g, g.n // 2))
    assert drawn.payload["traces"][0]["steps"] == result.stats["iterations"] + 1


def test_negative_weights_and_negative_distances_are_drawn():
    g = gk.Graph.from_arcs(4, [0, 0, 1, 2], [1, 2, 3, 1], [5, 2, -7, -1])
    run, _ = run_of(g)
    assert run.distance.tolist() == [0, 1, 2, -6]
    view = RelaxView(g, trace_of(g))
    assert view.payload["traces"][0]["shades"] == [-6, 2]


# Searches in one launch, and words with more than a distance.


def device_arrays(device, g, root, infinite=INT32_MAX, dtype=np.int32):
    distance = np.full(g.n, infinite, dtype)
    distance[root] = 0
    return (*map(device.array, (g.offsets, g.targets, g.weights)), device.array(distance))


@benign_race("distance")
@cuda.jit
def relax_in_one_launch(offsets, targets, weights, distance, rounds):
    u = cuda.grid(1)
    for _ in range(rounds):
        if u < distance.size and distance[u] != INT32_MAX:
            for i in range(offsets[u], offsets[u + 1]):
                cuda.atomic.min(distance, targets[i], distance[u] + weights[i])
        cuda.cg.this_grid().sync()


@benign_race("distance")
@cuda.jit
def relax_and_meet(offsets, targets, weights, distance, arrived, rounds):
    u = cuda.grid(1)
    for k in range(rounds):
        if u < distance.size and distance[u] != INT32_MAX:
            for i in range(offsets[u], offsets[u + 1]):
                cuda.atomic.min(distance, targets[i], distance[u] + weights[i])
        grid_barrier(arrived, k + 1)


@pytest.mark.parametrize("by_hand", [False, True])
def test_a_launch_of_many_iterations_is_split_where_its_grid_waits(by_hand):
    rounds = len(list(rounds_of_bellman_ford(ROADS, 0)))
    device = gk.SimtDevice("random", seed=2, trace=True)
    given = device_arrays(device, ROADS, 0)
    if by_hand:
        arrived = device.full(1, 0, np.int32)
        device.launch(relax_and_meet, 2, 32, *given, arrived, rounds)
    else:
        device.launch(relax_in_one_launch, 2, 32, *given, rounds)
    run = read_run(device.trace, Arcs.of(ROADS))
    assert len(run.iterations) == rounds
    reached = np.zeros(ROADS.n, dtype=bool)
    reached[0] = True
    for entry in run.iterations:
        assert np.isin(np.flatnonzero(reached), entry.relaxed).all()
        reached[entry.lowered] = True
    expected = gk.reference.dijkstra(ROADS, 0).distance
    assert run.distance.tolist() == expected.tolist()


@benign_race("distance")
@cuda.jit
def relax_packed(offsets, targets, weights, distance, infinite, round):
    """Keep distance and round in one word, the distance in the upper half, for one atomic."""
    u = cuda.grid(1)
    if u < distance.size and distance[u] != infinite:
        for i in range(offsets[u], offsets[u + 1]):
            length = (distance[u] >> 32) + weights[i]
            cuda.atomic.min(distance, targets[i], (length << 32) | round)


def unpacked(words):
    return np.where(words >= 2.0**62, np.inf, np.floor(words / 2**32))


def packed_search(g):
    device = gk.SimtDevice(trace=True)
    given = device_arrays(device, g, 0, 2**62, np.int64)
    for k in range(g.n):
        device.launch(relax_packed, 2, 32, *given, np.int64(2**62), np.int64(k + 1))
    return device.trace


def test_words_that_hold_more_than_a_distance_are_decoded():
    trace = packed_search(DETOUR)
    run = read_run(trace, Arcs.of(DETOUR), decode=unpacked)
    assert run.distance.tolist() == [0, 1, 3, 4, 5]
    plain = trace_of(DETOUR)
    view = RelaxView(DETOUR, {"harish": plain, "packed": trace}, decode={"packed": unpacked})
    assert [e["iterations"] for e in view.payload["traces"][0]["runs"]] == [5, 5]


def keys(distance):
    """Return 32 bits each that order as unsigned numbers like the distances do."""
    bits = distance.view(np.int32).astype(np.int64)
    if distance.dtype == np.float32:
        bits = np.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    return (bits + 2**31).astype(np.uint64)


@pytest.mark.parametrize("kind", ["int32", "float32"])
def test_distances_above_a_round_or_a_bit_are_read(kind):
    distance = np.array([0, 1, -1, 77, -(2**30), 2**30, 2**31 - 2], np.int64).astype(kind)
    words = (keys(distance) << np.uint64(32)) | np.uint64(513)
    words = np.append(words, np.uint64(2**64 - 1)).astype(np.float64)
    array = ArrayInfo("words", "global", np.dtype("uint64"), (8,))
    read = reader_of(array, np.dtype(kind), None)(words)
    assert read.tolist() == [*distance.astype(float).tolist(), np.inf]
    near = distance[distance >= 0]
    bits = 2 * near.view(np.int32).astype(np.int64) + 1
    array = ArrayInfo("word", "global", np.dtype("uint32"), (8,))
    read = reader_of(array, np.dtype(kind), None)(bits.astype(np.float64))
    assert read.tolist() == near.astype(float).tolist()
    assert reader_of(ArrayInfo("words", "shared", array.dtype, (8,)), near.dtype, None) is None
    assert reader_of(ArrayInfo("words", "global", np.dtype("i4"), (8,)), near.dtype, None) is None


@benign_race("distance")
@cuda.jit
def relax_some(offsets, targets, weights, distance, least):
    """Relax in each round only arcs to vertices of `least` arcs or more."""
    u = cuda.grid(1)
    if u < distance.size and distance[u] != INT32_MAX:
        for i in range(offsets[u], offsets[u + 1]):
            v = targets[i]
            if offsets[v + 1] - offsets[v] >= least:
                cuda.atomic.min(distance, v, distance[u] + weights[i])


def sparing_search(g, rounds):
    device = gk.SimtDevice("lockstep", trace=True)
    given = device_arrays(device, g, 0)
    for k in range(rounds):
        device.launch(relax_some, 2, 32, *given, 2 if k < rounds - 1 else 0)
    return device.trace


def test_arcs_that_were_looked_at_and_not_relaxed_are_saved():
    star = gk.random_weights(gk.star(9), seed=1)
    run = read_run(sparing_search(star, 3), Arcs.of(star))
    assert [len(e.saved) for e in run.iterations] == [8, 8, 0]
    assert [len(e.arcs) for e in run.iterations] == [0, 0, 8]
    assert run.iterations[0].skipped.tolist() == list(range(8))
    view = RelaxView(star, sparing_search(star, 3), classes=star.out_degree[star.targets] == 1)
    (drawn,) = view.payload["traces"][0]["runs"]
    assert unpack(drawn["counts"]).reshape(-1, 4).sum(axis=0).tolist() == [8, 0, 0, 16]
    by_class = unpack(drawn["byClass"]).reshape(-1, 2, 4).sum(axis=0)
    assert by_class.tolist() == [[0, 8, 0, 0], [0, 16, 0, 0]]
    assert view.payload["traces"][0]["saves"]


def test_a_run_that_knows_no_classes_has_none():
    classes = np.arange(ROADS.m) % 2
    runs = {"plain": HARISH, "classed": HARISH}
    view = RelaxView(ROADS, runs, classes=classes, classless=["plain"])
    plain, classed = view.payload["traces"][0]["runs"]
    assert "byClass" not in plain
    assert unpack(classed["byClass"]).sum() == unpack(classed["counts"]).sum()


def test_several_graphs_are_a_choice_and_need_their_traces():
    graphs = {"detour": DETOUR, "roads": ROADS}
    traces = {k: {"harish": trace_of(g)} for k, g in graphs.items()}
    view = RelaxView(graphs, traces)
    view.trace = "roads"
    assert [t["label"] for t in view.payload["traces"]] == ["detour", "roads"]
    with pytest.raises(InvalidArgument, match=r"traces = .*a dict with the graphs' keys"):
        RelaxView(graphs, traces["detour"])


def launches_before(trace, last):
    return trace.select(launch=list(range(last)))


HARISH = trace_of(ROADS)
REFUSED = {
    "no search": (lambda: gk.RelaxView(ROADS, 3), "traces = 3"),
    "no distances": (
        lambda: RelaxView(ROADS, {"a": HARISH.select(array="targets")}),
        r"traces\['a'\] = 'no load or store of distance, but of targets'",
    ),
    "another graph": (lambda: RelaxView(gk.path(4), HARISH), "index .* of distance.*4 vertices"),
    "other weights": (
        lambda: RelaxView(gk.Graph(ROADS.offsets, ROADS.targets, ROADS.weights // 2), HARISH),
        "distances at its end which the arc from .* still lowers",
    ),
    "not to its end": (
        lambda: RelaxView(ROADS, launches_before(HARISH, 8)),
        "distances at its end which the arc from .* still lowers",
    ),
    "its end alone": (
        lambda: RelaxView(ROADS, HARISH.select(launch=list(range(9, len(HARISH.launches))))),
        "distances at its end which the arc from .* still lowers",
    ),
    "no root": (
        lambda: RelaxView(ROADS, HARISH.select(kind=(STORE, ATOMIC))),
        "0 vertices at distance 0 before the first is lowered.*a root named",
    ),
    "words not decoded": (lambda: RelaxView(DETOUR, packed_search(DETOUR)), "`decode` is given"),
    "decode": (lambda: RelaxView(ROADS, HARISH, decode=3), "decode = 3"),
    "decoded to one number": (
        lambda: RelaxView(ROADS, HARISH, decode=np.sum),
        r"decode \(of traces\) = 'shape \(\)'",
    ),
    "root": (lambda: RelaxView(ROADS, HARISH, root="a"), "root = 'a'"),
    "step": (lambda: RelaxView(ROADS, HARISH, step=99), "step = 99: must be from 0 to"),
    "classes": (lambda: RelaxView(ROADS, HARISH, classes=[1]), r"classes = \[1\]"),
    "class too high": (
        lambda: RelaxView(ROADS, HARISH, classes=np.full(ROADS.m, 4)),
        "classes = .*whole numbers from 0 to 3",
    ),
    "no graph": (lambda: RelaxView({}, {}), "graph = {}"),
    "classless": (
        lambda: RelaxView(ROADS, {"a": HARISH}, classless=["b"]),
        r"classless = \['b'\]: must be of the runs \['a'\]",
    ),
    "classes of no graph": (
        lambda: RelaxView(ROADS, HARISH, classes={"x": 1}),
        r"classes = \['x'\]: must be a dict with '' among its keys",
    ),
    "decode that fails": (
        lambda: RelaxView(ROADS, HARISH, decode=lambda: 3),
        r"decode \(of traces\) = <function",
    ),
    "class names": (
        lambda: RelaxView(ROADS, HARISH, classes=np.zeros(ROADS.m, int), class_names="abc"),
        "class_names = 'abc'",
    ),
    "too many runs": (
        lambda: RelaxView(ROADS, {str(k): HARISH for k in range(13)}),
        "13 runs.*at most 12",
    ),
    "dial": (lambda: RelaxView(ROADS, HARISH, dial=3), "dial = 3"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_drawn_is_refused(name):
    make, message = REFUSED[name]
    with pytest.raises(InvalidArgument, match=message):
        make()


def test_a_search_on_arcs_in_another_order_is_refused():
    def trace_at(delta):
        options = {"delta": delta, "light_heavy": True, "parents": False}
        return gk.traced(gk.sssp, WEB, 1, "delta_stepping", **options).trace

    with pytest.raises(InvalidArgument, match="targets in another order than the graph's"):
        read_run(trace_at(4), Arcs.of(WEB))
    # All arcs are light, so their places do not change.
    assert read_run(trace_at(20), Arcs.of(WEB)).root == 1
