import numpy as np
import pytest
from effort import every_pair, in_turn
from written_traces import TraceWriter, queue_bfs

import gpukernels as gk
from gpukernels.trace import ATOMIC, LOAD, STORE
from gpukernels.traversal import bfs
from gpukernels.views.backwards import Backwards
from gpukernels.views.frontier.levels import Maker, read_levels

GRAPHS = [
    gk.example(),
    gk.path(9),
    gk.star(40),
    gk.complete(7),
    gk.road_grid(6, 7, seed=1),
    gk.erdos_renyi(70, 4.0, seed=3),
    gk.rmat(7, 6, seed=2),
]


def sources(graph):
    return np.repeat(np.arange(graph.n), np.diff(graph.offsets))


def check_levels(graph, root, levels):
    """Assert that each level finds, over arcs of its frontier, what a sequential search does."""
    distance = gk.reference.bfs(graph, root).distance
    for k, level in enumerate(levels):
        assert level.frontier.tolist() == np.flatnonzero(distance == k).tolist()
        assert level.new_vertices.tolist() == np.flatnonzero(distance == k + 1).tolist()
        assert set(graph.targets[level.found_arcs]) == set(level.new_vertices.tolist())
        assert np.isin(sources(graph)[level.found_arcs], level.frontier).all()


@pytest.mark.parametrize("graph", GRAPHS, ids=repr)
def test_levels_of_a_written_trace_are_what_its_writer_counted(graph):
    trace, written, _ = queue_bfs(graph)
    levels = read_levels(trace, graph.n, sources(graph))
    assert len(levels) == len(written)
    for level, truth in zip(levels, written, strict=True):
        assert level.frontier.tolist() == truth["frontier"]
        assert level.repeated == len(truth["queue"]) - len(truth["frontier"])
        assert level.arc_loads == truth["arcs"]
        assert level.new_vertices.tolist() == sorted(truth["makers"])
        makers = {v: [Maker(*who) for who in threads] for v, threads in truth["makers"].items()}
        assert level.makers == makers
        assert level.surplus == sum(len(threads) - 1 for threads in makers.values())
        assert level.outside == 0


@pytest.mark.parametrize("method", ["harish", "edge_parallel", "frontier", "virtual_warp"])
@pytest.mark.parametrize("graph", GRAPHS[:1] + GRAPHS[4:], ids=repr)
def test_levels_of_real_kernels_are_the_levels_of_the_search(method, graph):
    with gk.trace() as t:
        result = bfs(graph, root=0, method=method)
    levels = read_levels(t.trace, graph.n, sources(graph))
    check_levels(graph, 0, levels)
    assert len(levels) == result.levels
    degree = np.diff(graph.offsets)
    for level in levels:
        if method == "edge_parallel":
            assert level.arc_loads == graph.m
        else:
            assert np.isin(sources(graph)[level.arcs], level.frontier).all()
            assert len(level.arcs) == degree[level.frontier].sum()
    if method == "frontier":
        assert [level.surplus for level in levels][:-1] == result.stats["duplicates"][1:]


FILTERED = [
    *((method, {"duplicates": way})
      for method in ("expand_contract", "two_phase", "bfs4k")
      for way in ("none", "hash64", "merrill", "compare_and_swap")),
    ("linear_work", {"cull": "mask"}),
    ("linear_work", {"cull": "linear", "gather": "fine", "sequential_below": 0}),
    ("luo", {}),
    ("contract_expand", {"duplicates": "hash64"}),
]  # fmt: skip


SEARCHED = {
    "roads-warp": (GRAPHS[4], "warp"),
    "rmat-lockstep": (gk.kron(6, 4, seed=2), "lockstep"),
    "rmat-random": (gk.kron(6, 4, seed=2), "random"),
}


@pytest.mark.parametrize(("filtered", "searched"), in_turn(FILTERED, SEARCHED), ids=str)
def test_queues_of_every_kind_are_read(filtered, searched):
    (method, options), (graph, schedule) = filtered, SEARCHED[searched]
    root = int(np.argmax(graph.out_degree))
    device = gk.SimtDevice(schedule, seed=5, trace=True)
    result = bfs(graph, root, method=method, device=device, **options)
    levels = read_levels(device.trace, graph.n, sources(graph))
    check_levels(graph, root, levels)
    assert len(levels) == result.levels
    for level in levels:
        assert level.outside == 0
        assert level.visited >= 0
    detected, missed = (
        sum(getattr(level, name) for level in levels) for name in ("detected", "surplus")
    )
    if method == "contract_expand":
        # Its queue holds arcs, so threads that kept a vertex look like those that dropped it.
        assert (detected, missed) == (0, result.stats["duplicates_made"])
    elif options.get("duplicates") == "compare_and_swap" or method in ("linear_work", "luo"):
        assert missed == 0
    elif not result.stats["overflows"]:
        assert detected == result.stats["duplicates_detected"]
        assert missed == result.stats["duplicates_missed"]
        assert [level.repeated for level in levels[1:]] == [level.surplus for level in levels[:-1]]


def test_a_thread_that_marks_and_does_not_enqueue_has_dropped_a_duplicate():
    w = TraceWriter()
    w.source("expand", ["def expand():", "    pass"])
    names = {"targets": 3, "distance": 4, "frontier": 2, "next_frontier": 3}
    array = {name: w.array(name, size) for name, size in names.items()}
    at = w.launch("expand", 1, 32)

    def request(name, kind, lanes, index, value):
        w.step(at, 0, 0, 2, lanes)
        w.request(at, 0, 0, 2, array[name], kind, lanes, index, value)

    request("frontier", LOAD, [0, 1], [0, 1], [0, 1])
    request("targets", LOAD, [0, 1], [0, 1], [2, 2])
    request("distance", STORE, [0, 1], [2, 2], [1, 1])
    request("next_frontier", STORE, [1], [0], [2])
    (level,) = read_levels(w.trace(), 4, np.array([0, 1, 2]))
    assert level.makers == {2: [Maker(0, 0, 1)]}
    assert level.dropped == {2: [Maker(0, 0, 0)]}
    assert (level.detected, level.surplus, level.visited) == (1, 0, 0)


def test_an_arc_read_again_by_a_duplicate_finds_its_vertex_again():
    """Two paths lead to each tip, so its threads double; each read of a diamond's arcs finds it."""
    tip = 3 * np.arange(3)
    source = np.concatenate([tip, tip, tip + 1, tip + 2])
    target = np.concatenate([tip + 1, tip + 2, tip + 3, tip + 3])
    graph = gk.Graph.from_arcs(10, source, target)
    with gk.trace() as t:
        bfs(graph, method="frontier")
    levels = read_levels(t.trace, graph.n, sources(graph))
    assert [level.arc_loads for level in levels] == [2, 2, 4, 4, 8, 8]
    assert [level.surplus for level in levels] == [0, 1, 2, 3, 6, 7]
    assert all(level.visited == 0 for level in levels)


def test_another_root_can_be_named():
    graph = gk.example()
    with gk.trace() as t:
        bfs(graph, root=8, method="harish")
    for root in (None, 8):
        levels = read_levels(t.trace, graph.n, sources(graph), root)
        assert levels[0].frontier.tolist() == [8]


def test_an_atomic_on_a_visited_vertex_finds_nothing():
    w = TraceWriter()
    w.source("relax", ["def relax(targets, distance):", "    pass"])
    targets, distance = w.array("targets", 4), w.array("distance", 3)
    at = w.launch("relax", 1, 32)
    w.step(at, 0, 0, 2, [0, 1])
    w.request(at, 0, 0, 2, targets, LOAD, [0, 1], [0, 1], [1, 0])
    w.request(at, 0, 0, 2, distance, ATOMIC, [0, 1], [1, 0], [1, 1])
    (level,) = read_levels(w.trace(), 3, np.array([0, 0, 1, 2]), root=0)
    assert level.new_vertices.tolist() == [1]
    assert level.visited == 1


@pytest.mark.parametrize(
    "graph",
    [*GRAPHS, gk.erdos_renyi(90, 3.0, seed=2, directed=True),
     gk.Graph.from_arcs(4, [0, 0, 1, 3, 3], [1, 1, 2, 2, 2])],
    ids=repr,
)  # fmt: skip
def test_an_arc_of_the_reverse_graph_is_one_of_the_graph(graph):
    backwards = Backwards.of(graph)
    assert sorted(backwards.arc) == list(range(graph.m))
    assert np.array_equal(graph.targets[backwards.arc], backwards.target)
    assert np.array_equal(sources(graph)[backwards.arc], graph.reverse.targets)


@pytest.mark.parametrize(
    "options", [{}, {"alone": 2, "blocks": 2}, {"alone": 0, "blocks": 2}], ids=str
)
@pytest.mark.parametrize("schedule", ["lockstep", "warp"])
def test_levels_of_a_search_that_claims_without_a_look(options, schedule):
    """The neighbors claim the root without success, and so does the root over an arc to itself."""
    g = gk.rmat(6, 4, seed=1)
    device = gk.SimtDevice(schedule, trace=True)
    result = bfs(g, 0, "persistent", device, threads=32, **options)
    levels = read_levels(device.trace, g.n, sources(g), 0)
    assert [level.frontier.tolist() for level in levels] == [
        np.flatnonzero(result.distance == k).tolist() for k in range(result.levels)
    ]


WAYS = ("words", "distance", "bitmap")
FROM_THE_OTHER_END = [
    *(
        ("direction_optimizing", {"frontier": frontier, "alpha": alpha, "beta": beta})
        for frontier in WAYS
        for alpha, beta in ((15, 18), (0, 18), (3, 3), (1e9, 3), (1e9, 1e9))
    ),
    ("direction_optimizing", {}),
    ("bottom_up", {}),
    ("spmv", {}),
]


@pytest.mark.parametrize(
    ("graph", "schedule", "search"),
    every_pair(
        [*GRAPHS, gk.erdos_renyi(90, 3.0, seed=2, directed=True)],
        ("lockstep", "warp", "random"),
        FROM_THE_OTHER_END,
    ),
    ids=repr,
)
def test_levels_that_read_arcs_from_their_other_end(graph, schedule, search):
    method, options = search
    root = int(np.argmax(graph.out_degree))
    device = gk.SimtDevice(schedule, seed=5, trace=True)
    result = bfs(graph, root, method, device, threads=64, **options)
    levels = read_levels(device.trace, graph.n, sources(graph), root, Backwards.of(graph))
    check_levels(graph, root, levels)
    assert len(levels) == result.levels
    for level in levels:
        assert level.visited >= 0
        if level.bottom_up and method != "spmv" and result.stats.get("frontier") != "words":
            assert level.visited == 0, "whoever meets the frontier has found its parent"
        found_from = sources(graph)[level.found_arcs]
        if level.bottom_up:
            assert (found_from == result.parent[graph.targets[level.found_arcs]]).all()
    assert sum(level.arc_loads for level in levels) == result.stats["arcs_inspected"]
    turns = result.stats.get("directions", ["bottom_up"] * len(levels))
    assert [level.bottom_up for level in levels] == [way == "bottom_up" for way in turns]


def test_of_four_arcs_under_way_together_the_first_that_helps_is_the_one_found_over():
    """No thread stores parents, so they follow only from the order of the arcs."""
    graph = gk.erdos_renyi(70, 12, seed=3)
    arcs = []
    for parents in (True, False):
        device = gk.SimtDevice(trace=True)
        options = {"alpha": 1e9, "frontier": "words", "parents": parents}
        bfs(graph, 0, "direction_optimizing", device, **options)
        levels = read_levels(device.trace, graph.n, sources(graph), 0, Backwards.of(graph))
        arcs.append([level.found_arcs.tolist() for level in levels])
        check_levels(graph, 0, levels)
    assert arcs[0] == arcs[1]
    assert max(level.visited for level in levels) > 0
