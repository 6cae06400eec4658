"""A CUDA device uses its memory again, and never while someone still has it."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest
from fake_gpu import FakeGpus
from numba.cuda.cudadrv.devicearray import DeviceNDArray

import gpukernels as gk
from gpukernels import reference
from gpukernels.device import cuda_memory
from gpukernels.device.lending import Pool

LARGE = cuda_memory.PINNED_FROM // 4


@pytest.fixture
def gpus(monkeypatch):
    gpus = FakeGpus(monkeypatch, count=2)
    yield gpus
    gpus.close()


@pytest.fixture
def device(gpus):
    return gk.CudaDevice()


def one_call(device, n=LARGE):
    """Do to memory what a search does; return its result."""
    distance = device.full(n, -1, np.int32)
    device.put(distance, 3, 0)
    queues = device.empty((2, n), np.int32)
    device.clear(queues[1, : n // 2])
    count, host = device.full(1, 7, np.int32), device.pinned(1, np.int32)
    assert device.read(count, into=host)[0] == 7
    return device.read(distance)


#: What a second search may ask of the driver: fills, and copies to the host. Beside its launches
#: there is nothing else but the question which GPU is the current one. Both arrays of the result
#: are filled at once and read at once; the root takes a fill in each. Four levels are read back.
CALLS = {
    "harish": (7, 5),
    "virtual_warp": (7, 5),
    "edge_parallel": (7, 5),
    "spmv": (10, 5),
    "bottom_up": (7, 5),
    "frontier": (9, 5),
    "luo": (6, 2),
    "linear_work": (9, 5),
    "expand_contract": (9, 5),
    "contract_expand": (13, 7),
    "two_phase": (10, 6),
    "hybrid": (13, 7),
    "direction_optimizing": (4, 2),
    "bfs4k": (6, 2),
    "persistent": (5, 2),
}


@pytest.mark.parametrize("method", gk.traversal.METHODS)
def test_a_second_search_allocates_nothing_and_asks_little_of_the_driver(gpus, device, method):
    g = gk.rmat(7, 8, seed=1)
    expected = reference.bfs(g, 0).distance
    distance = gk.bfs(g, 0, method=method, device=device).distance
    assert np.array_equal(distance, expected)
    gpus.calls.clear()
    again = gk.bfs(g, 1, method=method, device=device)
    assert np.array_equal(again.distance, reference.bfs(g, 1).distance)
    assert gpus.allocated() == 0
    calls = gpus.calls.copy()
    fills = sum(calls.pop(f"cuMemsetD{bits}", 0) for bits in (8, 16, 32))
    assert (fills, calls.pop("cuMemcpyDtoH")) == CALLS[method]
    assert set(calls) == {"cuCtxGetCurrent"}
    assert calls["cuCtxGetCurrent"] <= 24


def test_what_is_made_of_a_graph_stays_with_it(gpus, device):
    g = gk.random_weights(gk.rmat(7, 8, seed=1))
    expected = [reference.dijkstra(g, root) for root in (0, 1)]
    marked = []
    for root in (0, 1, 0):
        before = gpus.allocated()
        result = gk.sssp(g, root, "hbf", device)
        marked.append(result.stats["launches_for_classes"])
        reached = expected[root].parent >= 0
        assert np.array_equal(result.distance[reached], expected[root].distance[reached])
        one_call(device, g.m)  # takes any memory that somebody has given back
    assert marked == [1, 0, 0]
    assert gpus.allocated() == before
    del g, result
    gc.collect()
    assert cuda_memory.current().kept == {}


def test_a_result_that_is_kept_is_left_alone(gpus):
    first = one_call(gk.CudaDevice())
    second = one_call(gk.CudaDevice())
    second[:] = 5
    assert first[:5].tolist() == [-1, -1, -1, 0, -1]
    assert not np.shares_memory(first, second)
    part = first[3:5]
    del first
    third = one_call(gk.CudaDevice())
    assert not np.shares_memory(part, third)


def test_a_part_of_an_array_keeps_its_memory(gpus, device):
    whole = device.array(np.arange(100, dtype=np.int32))
    part = whole.reshape(10, 10)[4]
    del whole
    other = device.full(100, 0, np.int32)
    assert device.read(part).tolist() == list(range(40, 50))
    del part
    last = device.full(100, 1, np.int32)
    assert device.read(other).tolist() == [0] * 100
    assert device.read(last).tolist() == [1] * 100
    assert gpus.calls["cuMemAlloc"] == 2


PARTS = np.s_[:4, :9, :0, :99, :-2, 1:3, ::2, 3, : np.int64(3)]


@pytest.mark.parametrize("part", PARTS, ids=repr)
@pytest.mark.parametrize("shape", [(9,), (9, 5), (9, 2, 3)])
def test_parts_of_an_array_are_those_of_numpy(device, shape, part):
    host = np.arange(np.prod(shape)).reshape(shape)
    array = device.array(host)
    view = array[part]
    if part == 3 and len(shape) == 1:
        assert view == host[3]
        return
    assert view._numba_type_ == DeviceNDArray.__getitem__(array, part)._numba_type_
    assert np.array_equal(view.copy_to_host(), host[part])
    if view.size > 1 and view.is_c_contiguous():
        assert np.array_equal(device.read(view[:1]), host[part][:1])
        device.clear(view)
        host[part] = 0
        assert np.array_equal(device.read(array), host)
    flipped = array.reshape(shape, order="F")
    assert np.array_equal(flipped[:2].copy_to_host(), flipped.copy_to_host()[:2])


@pytest.mark.parametrize(
    "shapes", [(9,), (9, 0), (0, 9), (0, 0), (64, 64), ((3, 5), 70, 1), (LARGE, LARGE), ()]
)
@pytest.mark.parametrize("value", [-1, 7, 258])
def test_arrays_made_together_are_filled_and_read_by_one_call_each(gpus, device, shapes, value):
    arrays = device.full_all(shapes, value, np.int32)
    nothing = not any(array.size for array in arrays)
    fills = sum(gpus.calls[f"cuMemsetD{bits}"] for bits in (8, 16, 32))
    assert fills == (0 if nothing else 1)
    expected = [np.full(shape, value, np.int32) for shape in shapes]
    for k, array in enumerate(arrays):
        if array.size:
            device.put(array, array.size - 1, k)
            expected[k].reshape(-1)[-1] = k
    with_one = {(k,) for k in range(len(arrays))} | {tuple(range(len(arrays)))}
    for chosen in [*with_one, tuple(reversed(range(len(arrays))))]:
        contents = device.read_all(*(arrays[k] for k in chosen))
        for k, one in zip(chosen, contents, strict=True):
            assert np.array_equal(one, expected[k])
            assert (one.dtype, one.shape, one.flags.aligned) == (np.int32, expected[k].shape, True)
    if all(array.size for array in arrays) and len(arrays) > 1:
        gpus.calls.clear()
        device.read_all(*arrays)
        assert gpus.calls["cuMemcpyDtoH"] == 1
        assert gpus.calls["cuMemcpyHtoD"] == 0


def test_arrays_made_together_live_as_long_as_one_of_them(gpus, device):
    first, second = device.full_all((100, 100), 1, np.int32)
    del first
    others = [device.full_all((100, 100), 2, np.int32) for _ in range(2)]
    assert device.read(second).tolist() == [1] * 100
    del second
    again, _ = device.full_all((100, 100), 3, np.int32)
    assert gpus.calls["cuMemAlloc"] == 3
    assert device.read(again).tolist() == [3] * 100
    assert all(device.read(a).tolist() == [2] * 100 for pair in others for a in pair)


def test_memory_comes_back_after_an_error(gpus, device):

    def failing():
        array = device.empty(1000, np.int32)
        device.put(array, 1000, 1)

    for _ in range(3):
        with pytest.raises(IndexError, match="index 1000 of an array of 1000 elements"):
            failing()
    assert gpus.calls["cuMemAlloc"] == 1


@pytest.mark.parametrize("shape", [6, (2, 3), (3, 2), 0, ()], ids=repr)
def test_an_array_is_of_the_shape_and_type_asked_for_whatever_was_there_before(device, shape):
    for dtype in ("i4", "f4", "i4", "i8", "i8"):
        array = device.empty(shape, dtype)
        host = np.arange(array.size, dtype=dtype).reshape(shape)
        assert (array.shape, array.dtype) == (host.shape, np.dtype(dtype))
        if array.size:
            array.copy_to_device(host)
        content = device.read(array)
        assert (content.dtype, content.shape) == (host.dtype, array.shape)
        assert content.tolist() == host.tolist()


def test_each_gpu_has_memory_of_its_own(gpus):
    values = np.arange(100, dtype=np.int32)
    values.flags.writeable = False
    devices = []
    for number in (0, 1, 0, 1):
        gpus.current = number
        devices.append(gk.CudaDevice())
        assert devices[-1].read(devices[-1].keep(values)).tolist() == values.tolist()
        one_call(devices[-1])
    one_call(devices[0])  # a device made for one GPU, used while another is current
    assert gpus.bytes_in_use(0) == gpus.bytes_in_use(1) > 0


def test_idle_memory_has_a_bound_and_the_longest_idle_goes_first(gpus):
    most = gpus.memory // cuda_memory.IDLE_SHARE
    device = gk.CudaDevice()
    for k in range(1, 100):
        device.empty(k << 14, np.uint8)
    idle = cuda_memory.current().arrays.idle_bytes
    assert most - (99 << 14) <= idle <= most
    before = gpus.calls["cuMemAlloc"]
    device.empty(99 << 14, np.uint8)
    assert gpus.calls["cuMemAlloc"] == before
    device.empty(1 << 14, np.uint8)
    assert gpus.calls["cuMemAlloc"] == before + 1
    gpus.contexts[0].memory_manager.deallocations.clear()
    assert gpus.bytes_in_use() <= most


def test_idle_memory_makes_room_where_a_gpu_is_full(gpus, monkeypatch):
    monkeypatch.setattr(cuda_memory, "IDLE_SHARE", 1)
    device = gk.CudaDevice()
    device.empty(gpus.memory // 2, np.uint8)
    held = device.empty(gpus.memory // 4, np.uint8)
    device.empty(gpus.memory // 2 + 1, np.uint8)
    with pytest.raises(Exception, match="out of memory"):
        device.empty(gpus.memory, np.uint8)
    assert cuda_memory.current().arrays.lent_bytes == held.nbytes


def test_locked_pages_have_a_bound_and_results_beyond_are_read_all_the_same(gpus, monkeypatch):
    monkeypatch.setattr(cuda_memory, "MOST_PINNED", 3 * 4 * LARGE)
    device = gk.CudaDevice()
    array = device.array(np.arange(LARGE, dtype=np.int32))
    results = [device.read(array) for _ in range(5)]
    assert all(np.array_equal(one, np.arange(LARGE)) for one in results)
    assert gpus.calls["cuMemHostRegister"] == 3
    assert device.pinned(2, np.int32).shape == (2,)
    del results
    device.read(device.array(np.zeros(2 * LARGE, np.int32)))  # what is idle makes room
    assert 8 * LARGE <= sum(gpus.locked.values()) <= cuda_memory.MOST_PINNED


def test_where_threads_have_streams_of_their_own_memory_is_not_lent_again(gpus, monkeypatch):
    monkeypatch.setattr(cuda_memory.config, "CUDA_PER_THREAD_DEFAULT_STREAM", 1, raising=False)
    device = gk.CudaDevice()
    for _ in range(3):
        device.empty(1000, np.int32)
    assert gpus.calls["cuMemAlloc"] == 3


def test_no_two_threads_have_the_same_memory(gpus, device):
    wrong = []

    def work(number):
        for round_number in range(200):
            value = number << 16 | round_number
            arrays = [device.array(np.full(500, value + k, np.int32)) for k in range(3)]
            wrong.extend(value for k, a in enumerate(arrays) if (device.read(a) != value + k).any())

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert gpus.calls["cuMemAlloc"] <= 4 * 6


def test_memory_in_a_garbage_cycle_comes_back_alive(gpus):
    """A collector ends all that is unreachable together, numba's pointers first."""
    device = gk.CudaDevice()
    for _ in range(3):
        cycle = [device.full(1000, 1, np.int32), device.read(device.full(LARGE, 1, np.int32))]
        cycle.append(cycle)
        del cycle
        gc.collect()
    assert gpus.calls["cuMemAlloc"] == 2
    assert gpus.calls["cuMemHostRegister"] == 1
    assert not gpus.calls["cuMemHostUnregister"]


def test_a_result_outlives_the_gpu_s_context_and_the_memory_of_the_next_is_new(gpus, device):
    result = one_call(device)
    gpus.close_context(0)
    assert result[:5].tolist() == [-1, -1, -1, 0, -1]
    before = gpus.allocated()
    again = one_call(device)
    assert gpus.allocated() > before
    assert again.tolist() == result.tolist()


def test_a_host_that_locks_no_pages_reads_into_ordinary_memory(gpus, monkeypatch):
    def refuse(*args):
        code = cuda_memory.current()._driver.binding.CUresult.CUDA_ERROR_OUT_OF_MEMORY
        raise cuda_memory.current()._driver.CudaAPIError(code, "no pages")

    device = gk.CudaDevice()
    monkeypatch.setattr(cuda_memory, "LockedPages", refuse)
    assert device.read(device.full(LARGE, 3, np.int32)).tolist() == [3] * LARGE
    assert cuda_memory.current().pinned.lent_bytes == 0


def test_a_block_may_come_back_while_the_pool_is_in_use():
    """The garbage collector can run anywhere, in `make` and under the lock too."""
    pool = Pool(1000)
    cycle = [pool.lend("a", 10, object)]
    cycle.append(cycle)
    del cycle

    def make():
        gc.collect()
        return object()

    lease = pool.lend("b", 10, make)
    assert (pool.lent_bytes, pool.idle_bytes) == (10, 10)
    with pool._lock:
        del lease
    assert pool.release() == 20
    assert (pool.lent_bytes, pool.idle_bytes) == (0, 0)
