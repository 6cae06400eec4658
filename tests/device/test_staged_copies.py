"""Large arrays are copied whole, and no piece is emptied or filled too late or too early."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest
from fake_gpu import FakeGpus

import gpukernels as gk
from gpukernels.cores import slabs
from gpukernels.device import cuda_memory, staged_copies
from gpukernels.device.staged_copies import read_staged, write_staged

STAGE = 1000
#: Bytes of a piece of the fake GPU.
PIECE = 1 << 17
SIZES = [1, STAGE - 1, STAGE, STAGE + 1, 2 * STAGE, 2 * STAGE + 1, 7 * STAGE + 3]


class Late:
    """Threads that begin what they are given after a while."""

    def __init__(self, pool):
        self._pool = pool

    def submit(self, work, *args):
        return self._pool.submit(lambda: (time.sleep(2e-3), work(*args)))


@pytest.fixture(params=["in time", "late", "inside"])
def cores(request, monkeypatch):
    """Let other threads be quick or slow, or let there be none to ask."""
    with ThreadPoolExecutor(3) as pool:
        pools = {"in time": pool, "late": Late(pool), "inside": None}[request.param]
        monkeypatch.setattr(staged_copies, "all_cores", lambda: pools)
        monkeypatch.setattr(staged_copies, "PART", STAGE // 3)
        yield


def bringing(source):
    """Return what brings pieces of `source`."""

    def bring(stage, first):
        stage[:] = source[first : first + stage.size]

    return bring


@pytest.mark.parametrize("stages", [1, 2, 3])
@pytest.mark.parametrize("size", SIZES)
def test_all_bytes_arrive(cores, size, stages):
    source = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    into = np.zeros(size, np.uint8)
    read_staged(bringing(source), [np.empty(STAGE, np.uint8) for _ in range(stages)], into)
    assert np.array_equal(into, source)


@pytest.mark.parametrize("stages", [1, 2, 3, 9])
@pytest.mark.parametrize("size", SIZES)
def test_all_bytes_are_sent_once_and_in_order(cores, size, stages):
    source = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    source.setflags(write=False)
    sent, firsts = np.zeros(size, np.uint8), []

    def send(stage, first):
        sent[first : first + stage.size] = stage
        firsts.append(first)
        stage[:] = 0  # whoever fills it later has to wait for this

    write_staged(send, [np.empty(STAGE, np.uint8) for _ in range(stages)], source)
    assert np.array_equal(sent, source)
    assert firsts == [*range(0, size, STAGE)]


def test_after_an_error_nobody_fills_the_stages(cores):
    stages = [np.zeros(STAGE, np.uint8) for _ in range(3)]

    def send(stage, first):
        if first:
            raise OSError("the GPU is gone")

    with pytest.raises(OSError, match="gone"):
        write_staged(send, stages, np.full(5 * STAGE, 7, np.uint8))
    for stage in stages:
        stage[:] = 9
    time.sleep(5e-3)
    assert all((stage == 9).all() for stage in stages)


@pytest.mark.parametrize("copies", [read_staged, write_staged])
@pytest.mark.parametrize("wrong", range(4))
def test_an_error_of_any_piece_is_told(monkeypatch, copies, wrong):
    pieces = iter(range(4))

    class Pool:
        def submit(self, *_):
            done = Future()
            at = next(pieces)
            done.set_exception(OSError("no page")) if at == wrong else done.set_result(None)
            return done

    monkeypatch.setattr(staged_copies, "all_cores", Pool)
    stages = [np.empty(STAGE, np.uint8) for _ in range(3)]
    with pytest.raises(OSError, match="no page"):
        copies(lambda stage, first: None, stages, np.zeros(4 * STAGE, np.uint8))


@pytest.mark.parametrize("copies", [read_staged, write_staged])
def test_if_no_thread_takes_more_those_that_copy_are_waited_for(monkeypatch, copies):
    stages = [np.zeros(STAGE, np.uint8) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        late, asked = Late(pool), iter(range(4))

        class Tired:
            def submit(self, *args):
                if next(asked) == 3:
                    raise RuntimeError("cannot start a thread")
                return late.submit(*args)

        monkeypatch.setattr(staged_copies, "all_cores", Tired)
        monkeypatch.setattr(staged_copies, "PART", STAGE // 2)
        whole = np.zeros(4 * STAGE, np.uint8)
        with pytest.raises(RuntimeError, match="thread"):
            copies(lambda stage, first: None, stages, whole)
        for array in (*stages, whole):
            array[:] = 9
        time.sleep(20e-3)
    assert all((array == 9).all() for array in (*stages, whole))


def test_after_an_error_nobody_reads_the_stages(cores):
    """They are lent out again: what is still copied from them would be somebody else's."""
    into = np.zeros(5 * STAGE, np.uint8)
    stages = [np.zeros(STAGE, np.uint8) for _ in range(2)]

    def bring(stage, first):
        if first >= 3 * STAGE:
            raise OSError("the GPU is gone")
        stage[:] = 7

    with pytest.raises(OSError, match="gone"):
        read_staged(bring, stages, into)
    for stage in stages:
        stage[:] = 9
    time.sleep(5e-3)
    assert (into[: 3 * STAGE] == 7).all()
    assert not into[3 * STAGE :].any()


@pytest.fixture
def gpus(monkeypatch):
    monkeypatch.setattr(cuda_memory, "LOCKED_BELOW", 1 << 18)
    monkeypatch.setattr(cuda_memory, "STAGED_FROM", 1 << 18)
    monkeypatch.setattr(cuda_memory, "STAGES", 2)
    monkeypatch.setattr(cuda_memory, "PIECES", (PIECE,))
    gpus = FakeGpus(monkeypatch)
    yield gpus
    gpus.close()


@pytest.fixture
def device(gpus):
    return gk.CudaDevice()


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.float64])
def test_a_large_result_is_in_ordinary_memory(gpus, dtype):
    host = np.arange(3 * 300_001).astype(dtype).reshape(3, -1)
    device = gk.CudaDevice()
    result = device.read(device.array(host))
    assert np.array_equal(result, host)
    assert result.flags.writeable
    assert sum(gpus.locked.values()) == 2 * PIECE
    del result
    device.read(device.array(host))  # the same two pieces are lent again
    assert gpus.calls["cuMemHostRegister"] == 2


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.float64])
def test_a_large_array_is_sent_in_pieces(gpus, dtype):
    host = np.arange(600_001).astype(dtype).reshape(-1, 1)
    device = gk.CudaDevice()
    array = device.array(host)
    assert gpus.calls["cuMemcpyHtoD"] == -(-host.nbytes // PIECE)
    host.setflags(write=False)
    kept = device.keep(host)
    assert device.keep(host) is kept
    assert gpus.calls["cuMemcpyHtoD"] == 2 * -(-host.nbytes // PIECE)
    assert np.array_equal(gpus.host_view(array), host)
    assert np.array_equal(gpus.host_view(kept), host)
    assert sum(gpus.locked.values()) == 2 * PIECE


def test_on_a_stream_no_piece_is_sent_on_another(gpus, device):
    host = np.arange(300_001, dtype=np.int32)
    array = device.empty(host.shape, host.dtype)
    with device.copy_stream() as copies:
        copies.write(array, host)
    assert gpus.calls["cuMemcpyHtoD"] == 0
    assert gpus.calls["cuMemcpyHtoDAsync"] == -(-host.nbytes // PIECE)
    assert np.array_equal(gpus.host_view(array), host)


def test_what_was_not_copied_whole_is_not_kept(gpus, monkeypatch):
    host = np.arange(300_001, dtype=np.int32)
    host.setflags(write=False)
    device, write = gk.CudaDevice(), cuda_memory.write

    def interrupted(array, host):
        write(array, np.zeros_like(host))
        raise KeyboardInterrupt

    monkeypatch.setattr(cuda_memory, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        device.keep(host)
    monkeypatch.setattr(cuda_memory, "write", write)
    assert np.array_equal(gpus.host_view(device.keep(host)), host)


@pytest.mark.parametrize("most", [1 << 30, PIECE])
def test_what_is_locked_needs_no_pieces(gpus, monkeypatch, most):
    monkeypatch.setattr(cuda_memory, "MOST_PINNED", most)  # beyond, numba locks pages
    device = gk.CudaDevice()
    place = device.pinned(300_001, np.int32)
    place[:] = 5
    array = device.array(place)
    assert gpus.calls["cuMemcpyHtoD"] == 1
    assert (gpus.host_view(array) == 5).all()
    place[:] = 0
    device.read(array, into=place)
    assert (place == 5).all()
    assert gpus.calls["cuMemcpyDtoH"] == 1


@pytest.mark.parametrize(
    ("name", "value", "size", "locked"),
    [
        ("MOST_PINNED", PIECE - 1, 300_001, 0),  # one copy brings all
        ("MOST_PINNED", PIECE, 300_001, 1),  # one piece, not two
        ("STAGES", 24, 100_000, 4),  # 400,000 bytes in pieces of 131,072
    ],
)
def test_no_more_pieces_are_locked_than_allowed_or_needed(
    gpus, monkeypatch, name, value, size, locked
):
    monkeypatch.setattr(cuda_memory, name, value)
    device, host = gk.CudaDevice(), np.arange(size, dtype=np.int32)
    assert np.array_equal(device.read(device.array(host)), host)
    assert gpus.calls["cuMemHostRegister"] == locked
    if not locked:
        assert gpus.calls["cuMemcpyDtoH"] == 1
        assert cuda_memory.current().pinned.lent_bytes == 0


def test_work_inside_of_work_on_all_cores_ends():
    """All threads wait for work that waits for threads: none would be left."""
    shape = 64, slabs.PART

    def outer(first, last):
        return sum(slabs.on_all_cores(lambda a, b: b - a, (3, slabs.PART)))

    results: list[int] = []
    thread = threading.Thread(
        target=lambda: results.extend(slabs.on_all_cores(outer, shape)), daemon=True
    )
    thread.start()
    thread.join(60)
    assert results == [3] * shape[0]
