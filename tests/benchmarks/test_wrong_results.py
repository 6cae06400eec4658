"""No time of a wrong result is kept, and a right one stands beside those of the CPU."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csgraph

import gpukernels as gk
from benchmarks import apsp, bfs, many_roots, mapping, on_cpu, scans, simulator, sssp
from benchmarks.graphs import weighted
from benchmarks.limits import Limits
from benchmarks.search_time import timer_for
from gpukernels.all_pairs import METHODS as ALL_PAIRS
from gpukernels.mapping import METHODS as MAPPINGS
from gpukernels.mapping.workload import upload
from gpukernels.shortest_paths import METHODS as PATHS
from gpukernels.shortest_paths import UNREACHED
from gpukernels.shortest_paths.result import SSSPResult
from gpukernels.traversal import METHODS as SEARCHES
from gpukernels.traversal.result import BFSResult

STATS = {"launches": 1, "read_backs": 0}


def lost_levels(g, root, device, *, parents=True):
    return BFSResult(np.full(g.n, -1, np.int32), None, 0, STATS)


def lost_paths(g, root, device, *, parents=True):
    return SSSPResult(np.full(g.n, UNREACHED, np.int32), None, STATS)


def test_a_wrong_search_by_levels(monkeypatch):
    monkeypatch.setitem(SEARCHES, "harish", lost_levels)
    chosen = bfs.searches(gk.path(3), ["harish"])
    with pytest.raises(AssertionError, match="harish from 0"):
        bfs.measure(timer_for(gk.SimtDevice()), gk.path(3), 0, 1, 1.0, chosen, 1)


def test_wrong_shortest_paths(monkeypatch):
    g, timer = weighted(gk.path(3)), timer_for(gk.SimtDevice())
    monkeypatch.setitem(PATHS, "harish", lost_paths)
    with pytest.raises(AssertionError, match="harish from 0"):
        sssp.measure(timer, g, 0, 1, 1.0, sssp.searches(["harish"]), 1)
    monkeypatch.setitem(PATHS, sssp.TRUSTED, lost_paths)
    with pytest.raises(AssertionError, match="these are not shortest paths"):
        sssp.cases(gk.SimtDevice(), g, 0, 1)


@pytest.mark.parametrize("wrong", ["distance", "parent"])
def test_shortest_paths_are_told_from_others(wrong):
    g = weighted(gk.erdos_renyi(12, 3, seed=2))
    result = gk.sssp(g, 0, "harish", gk.SimtDevice())
    assert sssp.is_shortest(g, 0, result.distance, result.parent)
    reached = np.flatnonzero((result.distance != UNREACHED) & (np.arange(g.n) > 0))
    for v in reached:
        distance, parent = result.distance.copy(), result.parent.copy()
        if wrong == "distance":
            distance[v] += 1
        else:
            parent[v] = v
        assert not sssp.is_shortest(g, 0, distance, parent)


@pytest.mark.parametrize("on_cpu", [True, False])
def test_wrong_distances_of_all_pairs(monkeypatch, on_cpu):
    right = ALL_PAIRS["naive"]

    def wrong(lengths, device, **options):
        result = right(lengths, device, **options)
        result.distance[3:, 5] += 1
        return result

    monkeypatch.setitem(ALL_PAIRS, "naive", wrong)
    measuring = apsp.Measuring(gk.SimtDevice(), 1)
    with pytest.raises(AssertionError, match=r"naive: \d+ of \d+ distances are wrong"):
        measuring.dense(20, ["naive"], True, on_cpu)


def test_rows_of_dijkstra_say_if_the_arcs_looked_at_are_too_few():
    matrix = apsp.dense_lengths(60, seed=3)
    right = csgraph.floyd_warshall(matrix)
    assert np.array_equal(apsp.by_dijkstra(matrix, [7, 0, 59], 40), right[[7, 0, 59]])
    with pytest.raises(AssertionError, match="a path is longer than"):
        apsp.by_dijkstra(matrix, range(60), 2)


def test_a_wrong_scan_and_a_wrong_search_in_offsets(monkeypatch):
    monkeypatch.setattr(scans, "sweep_padded", scans.sweep_plain)
    monkeypatch.setitem(scans.SEARCHES, "interpolation", scans.SEARCHES["register"])
    with pytest.raises(AssertionError, match="interpolation"):
        scans.measure_searches(gk.SimtDevice(), 300, items=100, repeat=1)
    monkeypatch.setattr(np, "cumsum", lambda sizes, dtype: np.zeros(sizes.size, dtype))
    with pytest.raises(AssertionError, match="block, shuffles"):
        scans.measure_scans(gk.SimtDevice(), 4 * scans.THREADS, repeat=1)


def test_a_mapping_that_writes_nothing(monkeypatch):
    device, expected = gk.SimtDevice(), np.array([0, 0, 2, 2, 2])
    load = upload(np.array([0, 2, 2, 5], np.int32), None, device)
    options = {"repeat": 1, "busy_rounds": 0}
    mapping.measure_technique(device, load, expected, "two_phase", {}, 32, **options)
    # The array still holds the right answer.
    monkeypatch.setitem(MAPPINGS, "two_phase", lambda load, device, threads: {"launches": 0})
    with pytest.raises(AssertionError, match=r"item\[0\] is -1 and should be 0; 5 of 5 are wrong"):
        mapping.measure_technique(device, load, expected, "two_phase", {}, 32, **options)


def test_wrong_searches_from_many_roots(monkeypatch):
    right = many_roots.bfs_many

    def wrong(*args, **options):
        result = right(*args, **options)
        result.distance[..., -1] += 1
        return result

    monkeypatch.setattr(many_roots, "bfs_many", wrong)
    given = gk.SimtDevice(), gk.erdos_renyi(20, 4, seed=1), 0, Limits(1.0, 1.0), 1, (4,)
    with pytest.raises(AssertionError, match="bfs_many 4 roots: wrong distances from root"):
        many_roots.measure(*given)


def test_libraries_find_what_one_core_finds():
    g = gk.rmat(5, 4, seed=1)
    right = nx.single_source_shortest_path_length(g.to_networkx(), 0)
    for name, search in on_cpu.searches(g):
        distance = search(0).distance
        assert {v: d for v, d in enumerate(distance.tolist()) if d >= 0} == right, name
    heavy = weighted(g)
    for name, search in on_cpu.path_searches(heavy):
        assert sssp.is_shortest(heavy, 0, search(0).distance), name


def test_the_machine_and_the_simulator_agree():
    times = simulator.compare(128, runs=1)  # raises AssertionError where distances differ
    assert min(times.values()) > 0
