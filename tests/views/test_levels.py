import numpy as np
import pytest
from written_traces import queue_bfs

import gpukernels as gk
from gpukernels.traversal import bfs
from gpukernels.views.levels import Maker, read_levels

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


@pytest.mark.parametrize("graph", GRAPHS, ids=repr)
def test_levels_of_a_written_trace_are_what_its_writer_counted(graph):
    trace, written, _ = queue_bfs(graph)
    levels = read_levels(trace, graph.n, sources(graph))
    assert len(levels) == len(written)
    for level, truth in zip(levels, written, strict=True):
        assert level.frontier.tolist() == truth["frontier"]
        assert level.repeated == len(truth["queue"]) - len(truth["frontier"])
        assert level.arc_loads == truth["arcs"]
        assert level.found.tolist() == sorted(truth["makers"])
        makers = {v: [Maker(*who) for who in made] for v, made in truth["makers"].items()}
        assert level.makers == makers
        assert level.surplus == sum(len(made) - 1 for made in makers.values())
        assert level.outside == 0


def test_a_written_trace_with_duplicates_is_among_the_graphs():
    _, written, _ = queue_bfs(gk.road_grid(6, 7, seed=1))
    assert max(len(made) for level in written for made in level["makers"].values()) > 1


@pytest.mark.parametrize("method", ["harish", "edge_parallel", "frontier", "virtual_warp"])
@pytest.mark.parametrize("graph", GRAPHS[:1] + GRAPHS[4:], ids=repr)
def test_levels_of_real_kernels_are_the_levels_of_the_search(method, graph):
    with gk.trace() as t:
        result = bfs(graph, root=0, method=method)
    levels = read_levels(t.trace, graph.n, sources(graph))
    distance = gk.sequential.bfs(graph, 0).distance
    assert len(levels) == result.levels
    degree = np.diff(graph.offsets)
    for k, level in enumerate(levels):
        assert level.frontier.tolist() == np.flatnonzero(distance == k).tolist()
        assert level.found.tolist() == np.flatnonzero(distance == k + 1).tolist()
        assert set(graph.targets[level.found_arcs]) == set(level.found.tolist())
        assert np.isin(sources(graph)[level.found_arcs], level.frontier).all()
        if method == "edge_parallel":
            assert level.arc_loads == graph.m
        else:
            assert np.isin(sources(graph)[level.arcs], level.frontier).all()
            assert len(level.arcs) == degree[level.frontier].sum()
    if method == "frontier":
        assert [level.surplus for level in levels][:-1] == result.stats["duplicates"][1:]


def test_the_arc_of_a_find_leads_from_the_frontier_to_the_vertex():
    graph = GRAPHS[4]
    trace, _, _ = queue_bfs(graph)
    for level in read_levels(trace, graph.n, sources(graph)):
        assert sorted(graph.targets[level.found_arcs].tolist()) == level.found.tolist()
        assert level.visited == level.arc_loads - len(level.found) - level.surplus


def test_an_arc_read_again_by_a_duplicate_finds_its_vertex_again():
    """Two ways to each tip, so its threads double; every reading of a diamond's arcs finds."""
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
    from written_traces import TraceWriter

    from gpukernels.simt.trace import ATOMIC, LOAD

    w = TraceWriter()
    w.source("relax", ["def relax(targets, distance):", "    pass"])
    targets, distance = w.array("targets", 4), w.array("distance", 3)
    at = w.launch("relax", 1, 32)
    w.step(at, 0, 0, 2, [0, 1])
    w.request(at, 0, 0, 2, targets, LOAD, [0, 1], [0, 1], [1, 0])
    w.request(at, 0, 0, 2, distance, ATOMIC, [0, 1], [1, 0], [1, 1])
    (level,) = read_levels(w.trace(), 3, np.array([0, 0, 1, 2]), root=0)
    assert level.found.tolist() == [1]
    assert level.visited == 1
