"""The benchmark of all pairs measures all methods, and only right ones."""

from __future__ import annotations

import json

import numpy as np
import pytest
from fake_gpu import FakeGpus

import gpukernels as gk
from gpukernels import reference
from gpukernels.all_pairs import METHODS, UNREACHED, APSPResult, blocked
from gpukernels.bench import apsp as bench
from gpukernels.bench import kernel_time
from gpukernels.bench.graphs import dense_lengths, weighted_random
from gpukernels.bench.limits import Limits
from gpukernels.bench.span_time import SpanTimer

SMALL = [bench.Form("naive", {}), bench.Form("blocked", {"tile": 16, "per_thread": "1x1"})]


@pytest.fixture
def measuring():
    return bench.Measuring(gk.SimtDevice(), 1)


@pytest.fixture
def gpus(monkeypatch):
    gpus = FakeGpus(monkeypatch)
    yield gpus
    gpus.close()


def always(monkeypatch, ms: float) -> None:
    """Let all kernels take so long."""
    same = property(lambda self: ms, lambda self, _: None)
    monkeypatch.setattr(SpanTimer, "ms", same, raising=False)


def test_every_method_is_measured_and_so_are_a_product_and_the_cpu(measuring):
    dense = measuring.dense(10, bench.NAMES, False, True)["searches"]
    sparse = measuring.sparse(10, bench.NAMES, True)["searches"]
    measured = {label.split()[0] for label in (*dense, *sparse)}
    on_cpu = {"SciPy", "sequential", "NetworkX", "all"}
    assert measured == ({*METHODS, "min_plus"} | on_cpu) - set(bench.ELSEWHERE)
    for tile, per_thread in bench.SHAPES:
        assert f"blocked tile={tile} per_thread={per_thread}" in dense
        assert f"blocked tile={tile} per_thread={per_thread} float32" in dense
    for label, row in {**dense, **sparse}.items():
        assert row["call_ms"] > 0, label
        assert ("kernel_ms" in row) == (label.split()[0] not in on_cpu)
    counts = ("launches", "read_backs", "operations", "kernel_runs", "call_runs", "late")
    assert [dense["naive"][name] for name in counts] == [10, 0, 10**3, 1, 1, 0]
    assert dense["repeated_squaring"]["iterations"] > 1


def test_batches_of_roots_are_measured_beside_single_ones_and_go_on_where_these_end(measuring):
    found = measuring.sparse(10, bench.NAMES, True)["searches"]
    beyond = measuring.sparse(20, bench.NAMES, False)["searches"]
    batches = {label for label in found if "memory=" in label}
    assert {label.split()[0] for label in batches} == {"per_root", "johnson"}
    for label in batches:
        assert found[label]["launches"] < found[label.split()[0]]["launches"], label
    assert set(beyond) == {*batches, "blocked tile=64 per_thread=8x8"}


def test_operations_are_those_of_floyd_and_warshall_by_the_kernels_time(monkeypatch, measuring):
    always(monkeypatch, 0.5)
    row = measuring.dense(50, ["naive", "repeated_squaring"], True, False)["searches"]
    assert {label: found["kernel_ms"] for label, found in row.items()} == dict.fromkeys(row, 0.5)
    rates = {found["tera_operations_per_second"] for found in row.values()}
    assert rates == {round(50**3 / 0.5e-3 / 1e12, 6)}


def test_copies_of_the_matrix_are_in_the_call_s_time_and_not_in_the_kernels(monkeypatch, gpus):
    """On a GPU made of host memory: between a row's events there is nothing but launches."""
    device, within = gk.CudaDevice(), []

    class Watching(SpanTimer):
        def launch(self, *args, **options):
            copies = gpus.calls["cuMemcpyHtoD"] + gpus.calls["cuMemcpyDtoH"]
            if self._queued:
                within.append(copies - self.copies)
            self.copies = copies
            super().launch(*args, **options)

    machine = gk.SimtDevice()
    monkeypatch.setattr(gk.CudaDevice, "timer", lambda self: machine.timer())
    word = np.ones(1, np.int32)
    monkeypatch.setattr(kernel_time, "_word_of_both", lambda device: (word, device.array(word)))
    subject = bench.Subject(dense_lengths(40, seed=1))
    timer = Watching(device)
    for form in SMALL:
        gpus.calls.clear()
        timer.copies, within[:] = 0, []
        row = bench.time_form(timer, subject, form, 1)
        assert set(within) == {0}
        assert len(within) >= row["launches"] - 1
        # A kernels' run and a call, each there and back.
        copied = gpus.calls["cuMemcpyHtoD"], gpus.calls["cuMemcpyDtoH"]
        assert min(copied) >= 2, gpus.calls


@pytest.mark.parametrize("on_cpu", [True, False])
@pytest.mark.parametrize("method", ["naive", "kleene"])
def test_a_wrong_result_is_not_timed(monkeypatch, measuring, method, on_cpu):
    right = METHODS[method]

    def wrong(lengths, device, **options):
        found = right(lengths, device, **options)
        found.distance[3:, 5] += 1
        return found

    monkeypatch.setitem(METHODS, method, wrong)
    with pytest.raises(AssertionError, match=rf"{method}: \d+ of \d+ distances are wrong"):
        measuring.dense(20, ["naive", "kleene"], True, on_cpu)


def test_a_whole_call_that_is_wrong_is_not_timed(monkeypatch, measuring):
    def wrong(g, method, device, **options):
        return APSPResult(np.zeros((20, 20), np.int32), None, {})

    monkeypatch.setattr(bench, "apsp", wrong)
    with pytest.raises(AssertionError, match="naive: 380 of 400 distances are wrong"):
        measuring.dense(20, ["naive"], True, False)


def test_dijkstra_looks_at_the_shortest_arcs_alone_and_says_if_those_are_too_few():
    matrix = dense_lengths(60, seed=3)
    right = reference.floyd_warshall(gk.Graph.from_arcs(
        60, *np.nonzero(matrix), matrix[matrix > 0])).distance  # fmt: skip
    for degree in (60, 40):
        assert np.array_equal(bench.by_dijkstra(matrix, [7, 0, 59], degree), right[[7, 0, 59]])
    with pytest.raises(AssertionError, match="a path is longer than"):
        bench.by_dijkstra(matrix, range(60), 2)


def test_dijkstra_knows_vertices_that_are_not_reached():
    g = gk.Graph.from_arcs(4, [0, 0, 1], [1, 1, 0], [5, 3, 2])
    found = bench.by_dijkstra(bench.lengths_of(g).matrix, [0, 1, 3])
    none = UNREACHED
    assert found.tolist() == [[0, 3, none, none], [2, 0, none, none], [none, none, none, 0]]


def test_lengths_are_those_of_a_complete_graph_whose_sums_both_types_hold():
    matrix = dense_lengths(70, seed=1)
    assert matrix.dtype == np.int32
    assert not matrix.diagonal().any()
    others = matrix[~np.eye(70, dtype=bool)]
    assert (others.min() >= 1) & (others.max() <= 50_000)
    assert np.array_equal(matrix, dense_lengths(70, seed=1))
    # No method has to look twice at the largest: no path is too long for an int32.
    assert bench.SIZES[-1] * 50_000 < 2**30 - 1
    assert 2 * 50_000 < 2**24


def test_what_would_take_too_long_by_its_time_at_half_the_size_is_left_out(monkeypatch):
    always(monkeypatch, 3.0)
    measuring = bench.Measuring(gk.SimtDevice(), 1, limit_ms=20.0)
    first = measuring.dense(8, ["naive"], True, False)["searches"]
    assert first["naive"]["kernel_ms"] == 3.0
    second = measuring.dense(16, ["naive"], True, False)["searches"]
    assert second == {"naive": {"expected_ms": 24.0}}
    third = measuring.dense(32, ["naive"], True, False)["searches"]
    assert third == {"naive": {"expected_ms": 192.0}}
    from_afar = measuring.dense(65, ["naive"], True, False)["searches"]
    assert from_afar["naive"]["kernel_ms"] == 3.0


def test_a_run_that_compiles_is_not_timed_at_whatever_size(monkeypatch, measuring):
    runs, search = [], METHODS["blocked"]

    def noting(lengths, device, *, tile=None, per_thread=None):
        runs.append(isinstance(device, SpanTimer))
        return search(lengths, device, tile=tile, per_thread=per_thread)

    monkeypatch.setitem(METHODS, "blocked", noting)
    monkeypatch.setattr(blocked, "FEW", 40)
    tiny = bench.Form("blocked", {"tile": 16, "per_thread": "1x1"})
    monkeypatch.setattr(bench, "forms", lambda *_: [tiny])
    counts = []
    for n in (20, 30, 90, 100):  # a second tile, and from 90 on a panel of tiles
        runs.clear()
        measuring.dense(n, ["blocked"], False, False)
        counts.append((runs.count(True), runs.count(False)))
    assert counts == [(3, 1), (2, 1), (3, 1), (2, 1)]


def test_a_form_is_repeated_while_patience_lasts(monkeypatch):
    monkeypatch.setattr(bench, "PATIENCE", 100)
    times = iter([1.0, 2.0, 3.0, 4.0])
    assert bench._some(lambda: next(times), 3) == [1.0, 2.0, 3.0]
    monkeypatch.setattr(bench, "PATIENCE", 0)
    assert bench._some(lambda: 9.0, 3) == [9.0]


@pytest.fixture
def two_limits(monkeypatch):
    monkeypatch.setattr(bench, "measured_limits", lambda device, shrink: Limits(1000.0, 2.0))


def test_sizes_and_methods_can_be_chosen_and_a_quick_run_takes_fewer_forms(tmp_path, two_limits):
    few = {"quick": True, "repeat": 1, "sizes": [20, 16], "methods": ["naive", "kleene"]}
    kept = json.loads(bench.write(gk.SimtDevice(), {}, tmp_path, **few).read_text())
    assert kept["copy_gigabytes_per_second"] == 1000
    assert [(row["graph"], row["n"]) for row in kept["times"]] == [("dense", 16), ("dense", 20)]
    for row in kept["times"]:
        on_cpu = {"SciPy floyd_warshall", "sequential", "NetworkX floyd_warshall"}
        assert set(row["searches"]) == {"naive", "kleene", *on_cpu}
    assert len(bench.forms(quick=True)) < len(bench.forms())


def test_a_graph_without_a_pair_is_refused(tmp_path):
    with pytest.raises(gk.InvalidArgument, match="sizes = 1: must be 2 vertices and more"):
        bench.write(gk.SimtDevice(), {}, tmp_path, sizes=[512, 1])


def test_what_is_counted_is_a_matrix_each_way_and_the_operations_of_floyd_and_warshall():
    row = {"n": 1000, "searches": {"it": {"kernel_ms": 1.0}, "SciPy": {"call_ms": 2.0}}}
    bench.judge(Limits(1000.0, 2.0), row)
    it = row["searches"]["it"]
    assert (it["least_bytes"], it["least_operations"]) == (8_000_000, 10**9)
    assert (it["share_of_bandwidth"], it["share_of_issue_rate"]) == (0.008, 0.5)
    assert row["searches"]["SciPy"] == {"call_ms": 2.0}


def test_the_largest_matrices_are_given_to_fewer_shapes(monkeypatch, measuring):
    monkeypatch.setattr(bench, "EVERY_SHAPE", 8)
    few, every = (measuring.dense(n, ["blocked"], False, False)["searches"] for n in (9, 8))
    assert len(every) == 9
    assert set(few) == {form.label for form in bench.forms(["blocked"], quick=True)}


def test_a_run_that_is_stopped_leaves_the_rows_that_it_has(tmp_path, monkeypatch, two_limits):
    fine = bench.Measuring.dense

    def stopped(self, n, *args):
        if n > 16:
            raise KeyboardInterrupt
        return fine(self, n, *args)

    monkeypatch.setattr(bench.Measuring, "dense", stopped)
    with pytest.raises(KeyboardInterrupt):
        bench.write(gk.SimtDevice(), {}, tmp_path, repeat=1, sizes=[16, 32], methods=["naive"])
    (row,) = json.loads((tmp_path / "apsp.json").read_text())["times"]
    assert row["n"] == 16


def test_a_sparse_graph_is_searched_from_each_vertex_and_as_a_matrix(measuring):
    row = measuring.sparse(16, ["per_root", "blocked"], True)
    assert row["m"] == weighted_random(16, 8, seed=1).m
    blocked = "blocked tile=64 per_thread=8x8"
    batches = {f"per_root search={s} memory=1073741824" for s in ("topology_driven", "hbf")}
    alone = {"per_root", "per_root search=ortega", "per_root search=hbf"}
    on_cpu = {"SciPy dijkstra", "sequential johnson"}
    assert set(row["searches"]) == {*on_cpu, *alone, *batches, blocked}
