"""A matrix larger than the device: the bound, the copies, and runs that were interrupted."""

from __future__ import annotations

import importlib
import json
import tracemalloc
import weakref
from functools import partial

import numpy as np
import pytest
from effort import examples
from fake_gpu import FakeGpus
from hypothesis import given
from hypothesis import strategies as st
from scipy_paths import distances
from stopped_writes import Interrupted, contents, stop

import gpukernels as gk
from gpukernels.all_pairs import UNREACHED, apsp, out_of_core
from gpukernels.all_pairs.encoding import ABSENT
from gpukernels.all_pairs.lengths import lengths_of
from gpukernels.all_pairs.streamed_tasks import Move, Pipeline, Task
from gpukernels.all_pairs.tiles import form_of
from gpukernels.cores import slabs
from gpukernels.distributed.resuming import Sidecar

METHOD = "out_of_core"
#: Six, and eight, blocks of one tile of 16, and what is beside them.
SIX, EIGHT = 6 * 1024 + 512, 8 * 1024 + 512


def weighted(n: int, kind: str, seed: int = 0) -> gk.Graph:
    """A graph whose float distances depend on the order of additions."""
    g = (
        gk.erdos_renyi(n, min(6, max(n - 1, 0)), seed=seed, directed=True)
        if n
        else gk.Graph([0], [])
    )
    rng = np.random.default_rng(seed)
    weights = rng.integers(-1, 50, g.m) if kind == "int32" else rng.random(g.m) ** 9
    height = 60 * rng.integers(0, 9, n) if kind == "int32" else np.zeros(n)
    source, target = g.coo
    weights = weights + 1 + height[source] - height[target]
    return gk.Graph(g.offsets, g.targets, weights.astype(kind))


class IdleDevice(gk.SimtDevice):
    """A device whose kernels do nothing."""

    def launch(self, *args, **options):
        """Do nothing."""


# --- the bound ------------------------------------------------------------------------------------


class CountingDevice(gk.SimtDevice):
    """Counts the bytes of its arrays that are in use."""

    in_use = most = 0

    def _count(self, array):
        self.in_use += array.nbytes
        self.most = max(self.most, self.in_use)
        weakref.finalize(array, self._forget, array.nbytes)
        return array

    def _forget(self, size):
        self.in_use -= size

    def array(self, host):
        return self._count(super().array(host))

    def empty(self, shape, dtype):
        return self._count(super().empty(shape, dtype))

    def full(self, shape, value, dtype):
        return self._count(super().full(shape, value, dtype))


@pytest.mark.parametrize(
    ("memory", "next_hops", "rows"),
    [(1 << 13, False, 16), (26_000, False, 32), (1 << 20, False, 80), (34_000, True, 32)],
)
def test_no_more_of_the_device_is_in_use_at_once_than_was_allowed(memory, next_hops, rows):
    device, g = CountingDevice(), weighted(70, "int32")
    result = apsp(g, METHOD, device, memory=memory, tile=16, next_hops=next_hops)
    assert result.stats["block"] == rows
    assert device.most <= result.stats["device_bytes"] <= memory
    assert device.most > 0.9 * result.stats["device_bytes"]
    assert device.in_use == 0
    np.testing.assert_array_equal(result.distance, distances(g))


@pytest.mark.parametrize("next_hops", [False, True])
def test_no_more_of_a_gpu_is_in_use_at_once_than_was_allowed(monkeypatch, next_hops):
    gpus = FakeGpus(monkeypatch)
    most, allocate = 0, gpus.cuMemAlloc

    def allocating(size):
        nonlocal most
        result = allocate(size)
        most = max(most, gpus.bytes_in_use())
        return result

    gpus._take_over(monkeypatch, "cuMemAlloc", allocating)
    try:
        g = weighted(40, "float32")
        options = {"memory": EIGHT if next_hops else SIX, "next_hops": next_hops}
        result = apsp(g, METHOD, gk.CudaDevice(), **options)
        assert most <= result.stats["device_bytes"] <= options["memory"]
        assert most > 0.9 * options["memory"]
        # Bit by bit as on the machine: copies that nobody waited for would be missing.
        expected = apsp(g, METHOD, gk.SimtDevice(), **options)
        assert result.distance.tobytes() == expected.distance.tobytes()
    finally:
        gpus.close()


def test_more_memory_than_the_device_has_free_is_refused(monkeypatch):
    gpus = FakeGpus(monkeypatch, memory=1 << 20)
    try:
        device, g = gk.CudaDevice(), gk.path(600)
        with pytest.raises(gk.InvalidArgument, match=r"^memory = .*bytes that the device has free"):
            apsp(g, METHOD, device, memory=1 << 23)
        # Unless told otherwise it takes half of what is free.
        blocks = out_of_core.blocks_for(600, form_of(600, "int32", 16, None), None,
                                        device)  # fmt: skip
        assert 0.5 * (1 << 19) < blocks.device_bytes(False) <= 1 << 19
    finally:
        gpus.close()


@pytest.mark.parametrize(("options", "least"), [({}, SIX), ({"next_hops": True}, EIGHT)])
def test_a_bound_below_the_least_that_works_is_refused_with_that(options, least):
    g = weighted(20, "int32")
    with pytest.raises(gk.InvalidArgument, match=f"a whole number from {least} to ") as caught:
        apsp(g, METHOD, gk.SimtDevice(), memory=least - 1, **options)
    assert caught.value.argument == "memory"
    result = apsp(g, METHOD, gk.SimtDevice(), memory=least, **options)
    np.testing.assert_array_equal(result.distance, distances(g))


@pytest.mark.parametrize("n", [1, 16, 40, 70, 90])
@pytest.mark.parametrize("memory", [SIX, 20_000, 40_000])
def test_bytes_copied_and_operations_are_those_of_the_formula(n, memory):
    device = IdleDevice()
    blocks = out_of_core.blocks_for(n, form_of(n, "int32", 16, None), memory, device)
    stats = apsp(weighted(n, "int32"), METHOD, device, memory=memory, tile=16).stats
    sizes = [blocks.padded(k) for k in range(blocks.count)]
    whole, count, to = sum(sizes), blocks.count, 0
    for size in sizes:
        rest = whole - size
        # The pivot; its rows and columns; again the columns, once, and the rows, once for each of
        # these; the remainder.
        to += size**2 + 2 * size * rest + size * rest + (count - 1) * size * rest + rest**2
    assert stats["bytes_to_device"] == 4 * to
    assert stats["bytes_from_device"] == 4 * count * whole**2
    assert stats["operations"] == whole**3
    assert stats["pivot_blocks"] == stats["read_backs"] == count
    if count > 1 and blocks.rows == 16:
        assert stats["launches"] == count * (1 + 2 * (count - 1) + (count - 1) ** 2)


# --- the copies -----------------------------------------------------------------------------------


class _Logged:
    """A copy, a stream, or a slot that writes down what is asked of it."""

    def __init__(self, log, name=""):
        self.log, self.name, self.copied = log, name, None

    def write(self, block, host):
        self.log.append(f"load {block}")
        return _Logged(self.log, f"load {block}")

    def read(self, block, host):
        self.log.append(f"store {block}")
        return _Logged(self.log, f"store {block}")

    def before_launches(self):
        pass

    def wait(self):
        self.log.append(f"wait for {self.name}")

    def block(self, shape):
        return self.name

    def on_host(self, way, shape):
        return np.empty(shape, np.int32)


def test_while_a_task_runs_the_next_is_loaded_and_the_one_before_stored():
    log: list[str] = []

    def task(k):
        move = Move(_Logged(log, str(k)), (1, 1), lambda block: None)
        return Task([move], lambda: log.append(f"launch {k}"), [move])

    pipeline = Pipeline(_Logged(log), lambda: None)
    pipeline.run(task(k) for k in range(4))
    for k in range(1, 3):
        assert log.index(f"load {k + 1}") < log.index(f"launch {k}")
        # The host waits for a copy back only when the next launch is queued.
        assert log.index(f"launch {k}") < log.index(f"wait for store {k - 1}")
        assert log.index(f"store {k - 1}") < log.index(f"load {k + 1}")
    assert log[-1] == "wait for store 3"
    assert pipeline.to_device == pipeline.from_device == 16


@pytest.mark.parametrize("schedule", ["warp", "random"])
@pytest.mark.parametrize("next_hops", [False, True])
def test_it_makes_no_difference_when_copies_are_made(schedule, next_hops):
    g, device = weighted(36, "float32", seed=3), gk.SimtDevice()
    device.copy_stream = gk.SimtDevice(schedule, seed=5).copy_stream
    result = apsp(g, METHOD, device, memory=EIGHT, tile=16, next_hops=next_hops)
    np.testing.assert_allclose(result.distance, distances(g), rtol=1e-5)
    expected = apsp(g, METHOD, gk.SimtDevice(), memory=EIGHT, tile=16, next_hops=next_hops)
    assert result.distance.tobytes() == expected.distance.tobytes()
    if next_hops:
        np.testing.assert_array_equal(result.next_hop, expected.next_hop)


# --- rows, and files ------------------------------------------------------------------------------


@st.composite
def graphs(draw):
    n = draw(st.integers(0, 12))
    vertex = st.integers(0, max(n - 1, 0))
    values = st.integers(0, 9) | st.sampled_from([-3, ABSENT, UNREACHED, UNREACHED - 1])
    arcs = draw(st.lists(st.tuples(vertex, vertex, values), max_size=30 if n else 0))
    arcs = [(u, v, abs(w) if u == v else w) for u, v, w in arcs]
    kind = draw(st.sampled_from(["int32", "float32"]))
    weights = np.array([w for _, _, w in arcs], kind)
    return gk.Graph.from_arcs(n, [u for u, _, _ in arcs], [v for _, v, _ in arcs], weights)


@examples(30, 1000)
@given(g=graphs())
def test_rows_are_those_of_the_whole_matrix(g):
    whole = lengths_of(g)
    none = UNREACHED if whole.matrix.dtype == np.int32 else np.inf
    matrix = g.dense(none).copy()
    np.fill_diagonal(matrix, 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slabs, "AT_ONCE", 30)
        patch.setattr(slabs, "PART", 30)
        for given_as in (g, matrix, np.asfortranarray(matrix)):
            rows = lengths_of(given_as, whole=False)
            expected = whole if given_as is g else lengths_of(given_as)
            for lengths, of in ((rows, expected), (rows.pattern(), expected.pattern())):
                parts = [lengths.rows(*slab) for slab in slabs.slabs_of(lengths.n)]
                matrix_again = np.vstack(parts) if parts else np.empty((0, 0), lengths.dtype)
                np.testing.assert_array_equal(matrix_again, of.matrix)
                assert lengths.dtype == of.matrix.dtype
                assert (lengths.infinite, lengths.too_long) == (of.infinite, of.too_long)


def test_a_long_way_from_a_vertex_to_itself_does_not_count():
    g = gk.Graph.from_arcs(3, [0], [0], np.array([2**30 - 1], np.int32))
    assert not lengths_of(g).too_long
    for given_as in (g, gk.Graph.from_arcs(40, [0], [0], g.weights)):  # by rows, and by arcs
        assert not lengths_of(given_as, whole=False).too_long


@pytest.mark.parametrize("n", [0, 1, 40])
@pytest.mark.parametrize("kind", ["int32", "float32"])
def test_distances_are_the_memory_map_of_the_file_and_nothing_else_is_left(tmp_path, n, kind):
    g, file = weighted(n, kind), tmp_path / "d.npy"
    result = apsp(g, METHOD, gk.SimtDevice(), memory=SIX, tile=16, file=file)
    assert isinstance(result.distance, np.memmap)
    assert result.distance.filename == file
    assert [f.name for f in tmp_path.iterdir()] == ["d.npy"]
    in_memory = apsp(g, METHOD, gk.SimtDevice(), memory=SIX, tile=16)
    assert not isinstance(in_memory.distance, np.memmap)
    assert np.load(file).tobytes() == in_memory.distance.tobytes()
    assert result.stats == in_memory.stats


def test_no_more_than_a_few_blocks_of_host_memory_are_in_use(tmp_path, monkeypatch):
    n = 700
    matrix = np.lib.format.open_memmap(tmp_path / "m.npy", "w+", np.int32, (n, n))
    matrix[:] = 7
    np.fill_diagonal(matrix, 0)
    given_map = np.load(tmp_path / "m.npy", mmap_mode="r")
    monkeypatch.setattr(slabs, "AT_ONCE", 7000)
    monkeypatch.setattr(slabs, "PART", 7000)
    g = gk.complete(n)
    monkeypatch.delattr(gk.Graph, "dense")
    assert len(g.coo) == 2  # kept with the graph
    # What a first call imports is no block, nor is what shows the bar of a slow one.
    importlib.import_module("tqdm.auto")
    for k, what in enumerate((given_map, g)):
        apsp(what, METHOD, IdleDevice(), memory=250_000, tile=16, file=tmp_path / f"first{k}.npy")
    for k, what in enumerate((given_map, g)):
        tracemalloc.start()
        apsp(what, METHOD, IdleDevice(), memory=250_000, tile=16, file=tmp_path / f"{k}.npy")
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert most < 4 * n * n / 2
    assert (given_map.sum(), given_map[5, 5]) == (7 * n * (n - 1), 0)


# --- interrupted ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def floats():
    """A graph of which a block that is closed twice is rounded otherwise, and its distances."""
    g = weighted(40, "float32", seed=4)
    expected = apsp(g, METHOD, gk.SimtDevice(), memory=SIX, tile=16).distance
    again = apsp(expected, METHOD, gk.SimtDevice(), memory=SIX, tile=16).distance
    assert (again != expected).any()
    return g, expected


def in_file(g, file, **options):
    given = {"memory": SIX, "tile": 16} | options
    return apsp(g, METHOD, gk.SimtDevice(), file=file, **given)


def test_what_is_done_is_not_done_again(tmp_path, floats):
    g, expected = floats
    file, whole = tmp_path / "d.npy", in_file(g, tmp_path / "whole.npy").stats
    steps, write = [], Sidecar.write

    def written(self, state):
        write(self, state)
        steps.append(state["done"])
        if steps[-1] == 2:
            raise Interrupted

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Sidecar, "write", written)
        with pytest.raises(Interrupted):
            in_file(g, file)
    assert steps == [0, 1, 2]
    result = in_file(g, file, memory=None)  # as large blocks as before
    assert result.stats["resumed_at"] == 2
    assert result.stats["launches"] == whole["launches"] // 3
    assert result.distance.tobytes() == expected.tobytes()


@pytest.fixture
def left(tmp_path, floats):
    """What an interrupted run has left, as (path, bytes of all files)."""
    file = tmp_path / "d.npy"
    stop(partial(in_file, floats[0], file), 150)
    assert json.loads(file.with_name("d.npy.json").read_text())["done"] == 1
    return file, contents(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tile": 32, "memory": 1 << 15}, "the same tile as the run that left it, 16 and not 32"),
        ({"memory": 1 << 16}, r"the same block \(which memory decides\) .* 16 and not 48"),
        ({"g": weighted(40, "float32", seed=5)}, "the same arcs as"),
        ({"g": weighted(30, "float32")}, "the same n as the run that left it, 40 and not 30"),
        ({"g": weighted(40, "int32")}, "the same dtype as the run that left it, 'float32' and not"),
    ],
    ids=["tile", "memory", "arcs", "n", "dtype"],
)  # fmt: skip
def test_a_run_of_something_else_is_not_gone_on_with(left, floats, change, message):
    file, before = left
    with pytest.raises(gk.InvalidArgument, match=message) as caught:
        in_file(**{"g": floats[0], "file": file} | change)
    assert caught.value.argument == "file"
    assert "delete d.npy, d.npy.other and d.npy.json" in str(caught.value)
    assert contents(file.parent) == before
    assert in_file(floats[0], file).distance.tobytes() == floats[1].tobytes()


@pytest.mark.parametrize(
    ("file", "options", "argument"),
    [
        ("d.txt", {}, "file"), (5, {}, "file"), (b"d.npy", {}, "file"),
        ("no/such/folder/d.npy", {}, "file"), ("d.npy", {"next_hops": True}, "next_hops"),
        ("d.npy", {"memory": 100}, "memory"), ("d.npy", {"tile": 15}, "tile"),
    ],
    ids=str,
)  # fmt: skip
def test_a_refusal_writes_no_file(tmp_path, monkeypatch, file, options, argument):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(gk.InvalidArgument) as caught:
        in_file(weighted(20, "int32"), file, **options)
    assert caught.value.argument == argument
    with pytest.raises(gk.InvalidArgument):
        in_file([[0, 1], [2, 3]], "d.npy")
    assert contents(tmp_path) == {}


def test_where_there_are_no_distances_no_file_is_left(tmp_path):
    ring = gk.Graph.from_arcs(40, range(40), [*range(1, 40), 0], [-1] * 40)
    with pytest.raises(gk.NegativeCycleError) as caught:
        in_file(ring, tmp_path / "d.npy")
    assert sorted(caught.value.cycle) == [*range(40)]
    far = gk.Graph.from_arcs(20, [0, 1], [1, 2], [ABSENT - 3, 3])
    with pytest.raises(OverflowError, match="longer than int32 holds"):
        in_file(far, tmp_path / "d.npy")
    assert contents(tmp_path) == {}
