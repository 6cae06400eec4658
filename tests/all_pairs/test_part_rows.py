"""Rows of parts are SciPy's, whatever the graph, and stay on the device until all are made."""

from __future__ import annotations

import numpy as np
import pytest
from effort import examples
from fake_gpu import FakeGpus
from hypothesis import given
from hypothesis import strategies as st
from scipy_paths import check, same, weighted

import gpukernels as gk
from gpukernels.all_pairs.encoding import ABSENT
from gpukernels.all_pairs.host_tiles import Algebra, closed
from gpukernels.all_pairs.partitioned import close_part, close_separators, rows_of_part, take
from gpukernels.all_pairs.separators import Parts, cut, parted
from gpukernels.device import cuda_memory

KINDS = [("none", 0), ("int32", 0), ("float32", 0), ("int32", 300)]
METHOD = "partitioned"


@st.composite
def graphs(draw, most: int):
    """Return a graph of any shape: loops, parallel arcs, vertices alone, weights below 0."""
    n, (kind, fall) = draw(st.integers(0, most)), draw(st.sampled_from(KINDS))
    m = draw(st.integers(0, 4 * n))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    source, target = rng.integers(0, n, (2, m)) if n else ([], [])
    return weighted(gk.Graph.from_arcs(n, source, target), kind, fall=fall)


def rows_by(g: gk.Graph, parts: Parts, algebra: Algebra) -> np.ndarray:
    """Return all rows, of parts that are given."""
    inside = [close_part(g, algebra, members, None) for members in parts.members]
    edges = [take(done, border) for done, border in zip(inside, parts.borders, strict=True)]
    between = close_separators(g, algebra, parts, edges, None)
    matrix = np.empty((g.n, g.n), inside[0].matrix.dtype)
    for at, members in enumerate(parts.members):
        args = at, (parts, None), inside[at], between, edges
        matrix[members] = rows_of_part(ABSENT, algebra, *args)[0]
    return matrix


@pytest.fixture
def gpus(monkeypatch):
    fakes = FakeGpus(monkeypatch)
    yield fakes
    fakes.close()


@examples(60, 600)
@given(g=graphs(40), parts=st.integers(1, 50))
def test_of_any_graph_in_any_parts_a_core_finds_what_scipy_finds(g, parts):
    result = gk.apsp(g, METHOD, engine="cpu", parts=parts)
    check(g, result)
    assert result.stats["operations"] == result.stats["work"]


@examples(12, 120)
@given(g=graphs(24), parts=st.integers(1, 30))
def test_of_any_graph_in_any_parts_kernels_find_what_scipy_finds(g, parts):
    check(g, gk.apsp(g, METHOD, gk.SimtDevice(check=True), parts=parts))


@pytest.mark.parametrize("options", [{}, {"tile": 32, "per_thread": "8x8"}], ids=str)
@pytest.mark.parametrize(("kind", "fall"), KINDS)
def test_they_are_the_same_under_every_schedule(scheduled_device, kind, fall, options):
    g = weighted(gk.erdos_renyi(40, 2, seed=2, directed=True), kind, fall=fall)
    check(g, gk.apsp(g, METHOD, scheduled_device, parts=3, **options))


@pytest.mark.parametrize("engine", ["cpu", "kernels"])
def test_a_path_too_long_for_int32_is_told_where_weights_are_below_0(engine):
    g = gk.Graph.from_arcs(3, [0, 1], [1, 2], np.array([-5, 2**30 - 3], np.int32))
    device = gk.SimtDevice() if engine == "kernels" else None
    with pytest.raises(OverflowError, match="from vertex 1 to 2 is longer"):
        gk.apsp(g, METHOD, device, engine=engine, parts=2)


def test_three_matrices_a_part_go_to_a_gpu_and_all_its_rows_come_at_once(gpus):
    g, parts = weighted(gk.road_grid(8, 9, seed=1), "int32"), 6
    result = gk.apsp(g, METHOD, gk.CudaDevice(), parts=parts)
    check(g, result)
    divided, machine = cut(g, parts, 0), Algebra(device=gk.SimtDevice())
    sizes = [*(m.size for m in divided.members), divided.separators.size]
    zeros = [np.zeros((size, size), np.int32) for size in sizes]
    closings = [closed(machine, of, g, range(len(of))).launches for of in zeros]
    assert result.stats["launches"] == sum(closings) + 3 * parts
    matrices = parts + 1
    assert gpus.calls["cuMemcpyHtoD"] == matrices + 3 * parts + 5  # and what all share, once
    assert gpus.calls["cuMemcpyDtoH"] == matrices + parts
    on_machine = gk.apsp(g, METHOD, gk.SimtDevice(), parts=parts)
    same(result.distance, on_machine.distance)
    assert dict(result.stats) == dict(on_machine.stats)
    memory = cuda_memory.current()  # which keeps nothing of them after the call
    assert not memory.kept
    assert memory.arrays.lent_bytes == 0


def test_parts_may_differ_in_size_and_have_no_way_out(gpus):
    ring, apart = np.arange(1, 40), np.arange(40, 43)
    source, target = np.r_[ring, apart, 43, 44], np.r_[np.roll(ring, -1), np.roll(apart, -1), 44, 1]
    g = gk.Graph.from_arcs(46, source, target, np.arange(source.size, dtype=np.int32))
    parts = parted(g, np.repeat([1, 0, 2, 3, 4], [1, 39, 3, 2, 1]))
    assert [(m.size, b.size) for m, b in zip(*parts, strict=True)] == [
        (39, 1), (1, 0), (3, 0), (2, 1), (1, 0),
    ]  # fmt: skip
    expected = gk.apsp(g, "blocked", gk.SimtDevice()).distance
    for algebra in (Algebra("cpu"), Algebra(device=gk.CudaDevice())):
        same(rows_by(g, parts, algebra), expected)


def test_where_memory_is_too_little_more_parts_are_asked_for_and_suffice(monkeypatch):
    gpus = FakeGpus(monkeypatch, memory=1 << 17)
    try:
        g, device = gk.path(200), gk.CudaDevice()
        with pytest.raises(MemoryError, match="bytes of the device") as caught:
            gk.apsp(g, METHOD, device, parts=2)
        assert "or more parts=" in caught.value.__notes__[0]
        check(g, gk.apsp(g, METHOD, device, parts=8))
    finally:
        gpus.close()
