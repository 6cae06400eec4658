"""SciPy and NetworkX find the same distances, whatever the graph, and only of graphs they can."""

from __future__ import annotations

import numpy as np
import pytest
from awkward_graphs import AWKWARD

import gpukernels as gk
from gpukernels import reference
from gpukernels.bench import on_cpu
from gpukernels.bench.graphs import weighted
from gpukernels.shortest_paths import UNREACHED

NAMES = ("rmat", "parallel_arcs", "road_grid", "only_self_loops")


@pytest.mark.parametrize("name", NAMES)
def test_levels_are_those_of_the_sequential_search(name):
    g = AWKWARD[name]
    for label, search in on_cpu.searches(g):
        for root in (0, g.n - 1):
            right = reference.bfs(g, root).distance
            np.testing.assert_array_equal(search(root).distance, right, err_msg=label)


@pytest.mark.parametrize("name", NAMES)
def test_lengths_are_those_of_the_heap(name):
    g = weighted(AWKWARD[name])
    found = reference.dijkstra(g, 0)
    right = np.where(found.parent >= 0, found.distance, UNREACHED)
    labels = []
    for label, search in on_cpu.path_searches(g):
        np.testing.assert_array_equal(search(0).distance, right, err_msg=label)
        labels.append(label)
    assert labels == ["SciPy", "NetworkX"]


def test_a_large_graph_is_left_to_those_that_can(monkeypatch):
    g = weighted(gk.path(4))
    monkeypatch.setattr(on_cpu, "NETWORKX_ARCS", g.m - 1)
    assert [label for label, _ in on_cpu.searches(g)] == ["SciPy"]
    monkeypatch.setattr(on_cpu, "DIJKSTRA_ARCS", g.m - 1)
    assert list(on_cpu.path_searches(g)) == []
