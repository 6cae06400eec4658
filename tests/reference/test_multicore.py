"""What all cores do together is right, whatever the number of cores and whoever comes first."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from awkward_graphs import AWKWARD, CASES

import gpukernels as gk
from gpukernels import cores as cpu
from gpukernels import reference
from gpukernels.reference import multicore
from gpukernels.reference.multicore import search


def check(g, root):
    result, right = multicore.bfs(g, root), reference.bfs(g, root)
    np.testing.assert_array_equal(result.distance, right.distance)
    assert result.levels == right.levels
    reached = result.distance >= 0
    assert result.parent[root] == root
    assert np.all(result.parent[~reached] == -1)
    source, target = g.coo
    is_parent = (result.parent[target] == source) & (
        result.distance[target] == result.distance[source] + 1
    )
    others = np.flatnonzero(reached & (np.arange(g.n) != root))
    assert np.isin(others, target[is_parent]).all()


@pytest.mark.parametrize(("name", "root"), CASES)
def test_bfs_agrees_with_the_sequential_one_on_awkward_graphs(name, root):
    check(AWKWARD[name], root)


@pytest.mark.parametrize(("alpha", "beta"), [(0.0, 18.0), (1e9, 1e9), (15.0, 18.0), (1e9, 1.0)])
def test_every_step_is_right_on_graphs_of_many_arcs(monkeypatch, alpha, beta):
    """Top-down alone, bottom-up from the first level to the last, both, and turns back early."""
    monkeypatch.setattr(search, "ALPHA", alpha)
    monkeypatch.setattr(search, "BETA", beta)
    for g in (gk.rmat(13, 16, seed=1), gk.small_world(20_000, 10, 0.3, seed=2)):
        assert g.m > 10 * search.ALONE
        for root in (int(np.argmax(g.out_degree)), 1):
            check(g, root)


def test_the_queues_of_several_cores_keep_each_vertex_once():
    """Two cores have found vertex 5; the parent that stands there is the second one's."""
    queues = np.array([[5, 2, 0], [5, 7, 0]], np.int32)
    by = np.array([[1, 1, 0], [3, 3, 0]], np.int32)
    parent = np.full(8, -1, np.int32)
    parent[[5, 2, 7]] = 3, 1, 3
    sizes, leaving = np.array([2, 2]), np.zeros(2, np.int64)
    offsets = np.arange(0, 18, 2, dtype=np.int32)
    search._keep_own(offsets, parent, queues, by, sizes, leaving)
    assert sizes.tolist() == [1, 2]
    assert leaving.tolist() == [2, 4]
    queue = np.zeros(3, np.int32)
    search._join(queues, sizes, queue)
    assert queue.tolist() == [2, 5, 7]


@pytest.mark.parametrize("count", [1, 2, 3, 16])
def test_the_frontier_is_divided_by_arcs_and_nothing_is_left_out(count):
    degree = np.array([0, 1000, 0, 3, 5, 0, 900, 1], np.int32)
    offsets = np.concatenate([[0], np.cumsum(degree)]).astype(np.int32)
    queue, bounds = np.arange(8, dtype=np.int32), np.empty(count + 1, np.int64)
    search._share(offsets, queue, 8, int(degree.sum()), bounds)
    assert (bounds[0], bounds[-1]) == (0, 8)
    assert np.all(np.diff(bounds) >= 0)
    if count == 2:
        assert bounds[1] == 2


@pytest.mark.parametrize("root", [-1, 3])
def test_a_root_that_is_no_vertex_is_refused(root):
    with pytest.raises(gk.VertexOutOfRange, match=f"root = {root}"):
        multicore.bfs(gk.path(3), root)


def test_neighbor_sums_agree_with_scipy():
    for g in (gk.rmat(8, 8, seed=1), gk.star(300), AWKWARD["parallel_arcs"]):
        values = np.arange(g.n, dtype=np.int32) - 7
        np.testing.assert_array_equal(multicore.neighbor_sum(g, values), g.to_scipy() @ values)


@pytest.mark.parametrize("n", [0, 1, 2, 31, 1_000])
def test_a_scan_agrees_with_numpy(n):
    sizes = np.random.default_rng(0).integers(0, 9, n).astype(np.int32)
    expected = np.concatenate([[0], np.cumsum(sizes)])
    offsets = multicore.offsets_of(sizes)
    assert offsets.dtype == np.int32
    np.testing.assert_array_equal(offsets, expected)


def test_a_container_s_share_is_what_counts(monkeypatch, tmp_path):
    monkeypatch.setattr(cpu, "QUOTA", tmp_path / "cpu.max")
    threads = numba.config.NUMBA_NUM_THREADS
    assert multicore.cores() == threads
    (tmp_path / "cpu.max").write_text("100000 100000\n")
    assert multicore.cores() == 1
    before = numba.get_num_threads()
    with multicore.all_cores() as count:
        assert count == numba.get_num_threads() == 1
    assert numba.get_num_threads() == before
    (tmp_path / "cpu.max").write_text("max 100000\n")
    assert multicore.cores() == threads


def test_the_processor_has_a_name(monkeypatch, tmp_path):
    file = tmp_path / "cpuinfo"
    file.write_text("processor : 0\nmodel name\t: A Chip @ 2 GHz\n")
    monkeypatch.setattr(cpu, "CPU_INFO", file)
    assert multicore.processor() == "A Chip @ 2 GHz"
    file.unlink()
    assert multicore.processor()
