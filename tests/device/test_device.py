"""Devices are driven in one way, chosen as documented, and trace only when told to."""

import ctypes
from types import SimpleNamespace

import numpy as np
import pytest
from numba import cuda

import gpukernels as gk
from gpukernels.simt.errors import RaceError, UninitializedRead


@cuda.jit
def double(values, out):
    i = cuda.grid(1)
    if i < values.size:
        out[i] = 2 * values[i]


@cuda.jit
def collide(values, out):
    i = cuda.grid(1)
    if i < values.size:
        out[0] = values[i]


@cuda.jit
def racing_in_shared(out):
    cell = cuda.shared.array(1, np.int32)
    cell[0] = 1
    cuda.syncthreads()
    out[cuda.threadIdx.x] = cell[0]


@pytest.mark.parametrize(
    "host",
    [np.arange(100, dtype=np.float32), [1, 2, 3], np.arange(12).reshape(3, 4)[:, ::2],
     np.zeros((0, 2), np.float32)],
    ids=str,
)  # fmt: skip
def test_an_array_is_a_copy_of_any_host_array(each_device, host):
    copied = each_device.read(each_device.array(host))
    np.testing.assert_array_equal(copied, host)
    assert copied.dtype == np.asarray(host).dtype


def test_results_can_be_read_into_one_pinned_array(each_device):
    into = each_device.pinned(3, np.int32)
    assert (into.shape, into.dtype) == ((3,), np.int32)
    assert each_device.read(each_device.array(np.arange(3, dtype=np.int32)), into=into) is into
    assert into.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "shape", [0, 5, (2, 3), (0, 3), [2, 3], np.int32(4), (np.int64(2), 3)], ids=repr
)
def test_arrays_of_any_shape_are_made_and_cleared(each_device, shape):
    array = each_device.full(shape, 258, np.int32)
    wanted = tuple(map(int, np.atleast_1d(shape)))
    assert array.shape == each_device.empty(shape, np.int16).shape == wanted
    each_device.clear(array)
    assert not each_device.read(array).any()


def test_one_element_is_put_and_no_other(each_device):
    array = each_device.full((2, 3), 0, np.int16)
    each_device.put(array, 4, 9)
    each_device.put(array, 0, np.int64(-2))
    assert each_device.read(array).tolist() == [[-2, 0, 0], [0, 9, 0]]


def test_a_kept_array_has_the_host_arrays_values(each_device):
    for values in ([1, 2], [3, 4]):  # a new array may get the id of one that is gone
        host = np.array(values, dtype=np.int32)
        host.flags.writeable = False
        assert each_device.read(each_device.keep(host)).tolist() == values
        assert each_device.read(each_device.keep(host)).tolist() == values
        del host
    changing = np.zeros(2, np.int32)
    each_device.keep(changing)
    changing[0] = 5
    assert each_device.read(each_device.keep(changing)).tolist() == [5, 0]


def test_timer_measures_something_and_a_launch_of_no_blocks_does_nothing(device):
    values = device.full(1000, 1, np.int32)
    with device.timer() as elapsed:
        device.launch(double, 8, 128, values, values)
        device.launch(double, (3, 0), 32, values, values)
    assert elapsed.ms > 0
    assert repr(elapsed).endswith(" ms")
    assert (device.read(values) == 2).all()
    assert device.resident_threads >= 1024
    assert device.name


@pytest.mark.parametrize("done", [True, False])
def test_a_gpu_s_timer_tells_whether_the_gpu_may_have_waited_for_the_host(done):
    """It asks after the last event is queued, and before it waits for that.

    It asks by number, as numba-cuda 0.22.2 hands over a pointer that no version of cuda-bindings
    takes.
    """
    answers = []

    class Event:
        def __init__(self, handle=None):
            self.handle = ctypes.c_void_p(7) if handle is None else handle

        def record(self):
            answers.append("record")

        def query(self):
            if self.handle != 7:
                raise TypeError("an integer is required")
            answers.append("query")
            return done

        def synchronize(self):
            answers.append("wait")

    gpu = object.__new__(gk.CudaDevice)
    gpu._cuda = SimpleNamespace(event=Event, event_elapsed_time=lambda start, stop: 1.5)
    with gpu.timer() as elapsed:
        answers.append("work")
    assert answers == ["record", "work", "record", "query", "wait"]
    assert (elapsed.ms, elapsed.late) == (1.5, done)


@pytest.mark.parametrize("value", ["gpu", "CUDA", "0"])
def test_unknown_device_name_is_refused_with_the_allowed_ones(monkeypatch, value):
    monkeypatch.setenv("GPUKERNELS_DEVICE", value)
    with pytest.raises(ValueError, match=f"GPUKERNELS_DEVICE='{value}'.*'cuda' and 'simt'"):
        gk.default_device()


@pytest.mark.skipif(cuda.is_available(), reason="a GPU answers here")
def test_cuda_without_a_gpu_is_an_error_not_a_fallback(monkeypatch):
    monkeypatch.setenv("GPUKERNELS_DEVICE", "cuda")
    with pytest.raises(RuntimeError, match=r"no CUDA GPU answers.*SimtDevice"):
        gk.default_device()
    monkeypatch.delenv("GPUKERNELS_DEVICE")
    assert isinstance(gk.default_device(), gk.SimtDevice)


def test_trace_records_inside_the_block_whatever_the_default(monkeypatch):
    monkeypatch.setenv("GPUKERNELS_DEVICE", "simt")
    with gk.trace() as t:
        inner = gk.default_device()
        inner.launch(double, 2, 32, np.arange(40), np.zeros(40, np.int64))
    outer = gk.default_device()
    assert inner.trace is not None
    assert outer.trace is None
    assert [item.kernel for item in t.trace.launches] == ["double"]
    assert len(t.trace.requests) == 4  # two warps, a load and a store each


def test_traced_gives_what_the_call_returns_and_the_trace_of_its_launches():
    doubled = np.zeros(40, np.int64)

    def call(values, *, out):
        gk.default_device().launch(double, 2, 32, values, out)
        return "called"

    result, trace = gk.traced(call, np.arange(40), out=doubled)
    assert gk.traced(gk.default_device, schedule="warp", seed=3).result.schedule == "warp"
    assert result == "called"
    assert doubled.tolist() == [2 * i for i in range(40)]
    assert [item.kernel for item in trace.launches] == ["double"]
    with pytest.raises(gk.InvalidArgument, match="call = 'bfs': must be a function"):
        gk.traced("bfs", gk.example())


def test_trace_ends_with_its_block_even_after_an_error():
    with pytest.raises(ZeroDivisionError), gk.trace():
        1 / 0  # noqa: B018
    assert getattr(gk.default_device(), "trace", None) is None


def test_traces_nest_and_the_inner_one_takes_the_launches():
    values = np.arange(32)
    with gk.trace() as outer:
        gk.default_device().launch(double, 1, 32, values, values.copy())
        with gk.trace() as inner:
            gk.default_device().launch(double, 1, 32, values, values.copy())
            gk.default_device().launch(double, 1, 32, values, values.copy())
    assert len(outer.trace.launches) == 1
    assert len(inner.trace.launches) == 2


def test_check_is_on_when_tracing_and_off_otherwise():
    values, out = np.arange(32), np.zeros(1, np.int64)
    gk.SimtDevice().launch(collide, 1, 32, values, out)
    with pytest.raises(RaceError, match=r"race on `out\[0\]`"):
        gk.SimtDevice(trace=True).launch(collide, 1, 32, values, out)
    with pytest.raises(RaceError):
        gk.SimtDevice(check=True).launch(collide, 1, 32, values, out)


def test_a_shared_array_can_be_declared_too():
    out = np.zeros(32, np.int32)
    with pytest.raises(RaceError, match="`cell"):
        gk.SimtDevice(check=True).launch(racing_in_shared, 1, 32, out)
    try:
        gk.benign_race("cell")(racing_in_shared)
        gk.SimtDevice(check=True).launch(racing_in_shared, 1, 32, out)
    finally:
        del racing_in_shared.py_func.__benign_races__
    assert out.all()


def test_declaring_an_unknown_array_is_refused():
    with pytest.raises(ValueError, match=r"double has no array \['outt'\]"):
        gk.benign_race("outt")(double)


def test_empty_array_read_before_it_is_written_is_an_error():
    device = gk.SimtDevice(check=True)
    unwritten, out = device.empty(32, np.int32), device.full(32, 0, np.int32)
    with pytest.raises(UninitializedRead, match="`values`"):
        device.launch(double, 1, 32, unwritten, out)


def test_empty_array_written_by_a_kernel_or_by_the_host_can_be_read():
    device = gk.SimtDevice(check=True)
    first, second = device.empty(32, np.int32), device.empty(32, np.int32)
    device.launch(double, 1, 32, np.arange(32, dtype=np.int32), first)
    second[:] = 3
    out = device.full(32, 0, np.int32)
    device.launch(double, 1, 32, first, out)
    assert np.array_equal(out, 4 * np.arange(32))
    device.launch(double, 1, 32, second, out)
    assert (out == 6).all()
