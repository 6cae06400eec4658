"""Rows of parts are SciPy's, whatever the graph, and stay on the device until all are made."""

from __future__ import annotations

import numpy as np
import pytest
from effort import examples
from fake_gpu import FakeGpus
from hypothesis import given
from hypothesis import strategies as st
from test_apsp import check

import gpukernels as gk
from gpukernels.all_pairs.encoding import ABSENT
from gpukernels.all_pairs.host_tiles import Algebra, closed, lower_columns
from gpukernels.all_pairs.part_rows_device import rows_from
from gpukernels.all_pairs.partitioned import close_part, close_separators, rows_of_part, take
from gpukernels.all_pairs.separators import Parts, cut, parted
from gpukernels.device import cuda_memory

KINDS = ["none", "int32", "float32", "falling"]
METHOD = "partitioned"


def weighted(g: gk.Graph, kind: str) -> gk.Graph:
    """Return it with whole weights; those that may be below 0 are falls, so that no cycle is."""
    if kind == "none":
        return g
    rng = np.random.default_rng(g.m)
    weights = rng.integers(0, 50, g.m)
    if kind == "falling":
        height = rng.integers(0, 300, g.n)
        weights = weights + height[g.coo[1]] - height[g.coo[0]]
    dtype = np.float32 if kind == "float32" else np.int32
    return gk.Graph(g.offsets, g.targets, weights.astype(dtype))


@st.composite
def graphs(draw, most: int):
    """Return a graph of any shape: loops, parallel arcs, vertices alone, weights below 0."""
    n, kind = draw(st.integers(0, most)), draw(st.sampled_from(KINDS))
    m = draw(st.integers(0, 4 * n))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    source, target = rng.integers(0, n, (2, m)) if n else ([], [])
    return weighted(gk.Graph.from_arcs(n, source, target), kind)


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


def same(distance: np.ndarray, expected: np.ndarray) -> None:
    assert distance.dtype == expected.dtype
    assert distance.tobytes() == expected.tobytes()


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
@pytest.mark.parametrize("kind", KINDS)
def test_they_are_the_same_under_every_schedule(scheduled_device, kind, options):
    g = weighted(gk.erdos_renyi(40, 2, seed=2, directed=True), kind)
    check(g, gk.apsp(g, METHOD, scheduled_device, parts=3, **options))


@pytest.mark.parametrize("kind", ["float32", "falling"])
def test_more_rows_than_are_arranged_at_once_are_in_order(kind):
    g = weighted(gk.road_grid(32, 32, seed=1), kind)
    check(g, gk.apsp(g, METHOD, engine="cpu", parts=2))


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


def test_a_gpu_keeps_nothing_of_them_after_the_call(gpus):
    gk.apsp(gk.path(50), METHOD, gk.CudaDevice(), parts=4)
    memory = cuda_memory.current()
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


@pytest.mark.parametrize("missing", [0, 1])
def test_too_little_memory_for_all_rows_is_told_before_a_launch(monkeypatch, missing):
    parts = parted(gk.path(64), np.arange(64) // 16)
    edges = [np.zeros((border.size, 16), np.int32) for border in parts.borders]
    # In tiles of 16 x 16: the ways to separators and one behind, the rows, these in order, the ways
    # on, and what goes there for each part. Beside: where vertices are, no heights, four numbers a
    # part.
    needed = 4 * (16 * 16 * (2 + 4 + 4 + 4 + 3) + 3 * 64 + 2 + 4 * 4)
    monkeypatch.setattr(gk.SimtDevice, "free_bytes", lambda _: needed - missing)
    device = gk.SimtDevice(trace=True)
    args = Algebra(device=device), parts, 0, np.zeros((16, 16), np.int32), edges, None
    if missing:
        message = rf"^a tile takes {needed:,} bytes of the device; {needed - 1:,} are free$"
        with pytest.raises(MemoryError, match=message):
            rows_from(*args)
    else:
        rows_from(*args)
    assert not device.trace.launches


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


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_columns_are_lowered_as_the_definition_of_a_product_says(dtype):
    rng = np.random.default_rng(1)
    result, a, b = (rng.integers(0, 99, shape).astype(dtype) for shape in ((7, 9), (7, 8), (3, 4)))
    a[2, 3] = absent = np.dtype(dtype).type(ABSENT)
    expected = result.copy()
    through = a[:, 2:5, None] + b[None]
    expected[:, 5:] = np.minimum(expected[:, 5:], through.min(axis=1))
    assert lower_columns(result, 5, a, 2, b, absent) == 7 * 3 * 4
    same(result, expected)
