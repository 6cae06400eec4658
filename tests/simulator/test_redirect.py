"""Programs that know numba.cuda alone, within `as_cuda`."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from numba import cuda, float32, int32

from gpukernels import simt
from gpukernels.simt.errors import OutOfBounds, RaceError
from gpukernels.simulator.arrays import DeviceArray


@cuda.jit
def decorated_before(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += 1


@cuda.jit
def races(out):
    out[0] += 1


def test_kernels_that_were_decorated_before_run_on_the_machine():
    a = np.zeros(40)
    with simt.as_cuda() as session:
        decorated_before[2, 32](a)
        decorated_before.forall(a.size)(a)
        decorated_before.configure(2, 32)(a)
        decorated_before[(2, 1), (32, 1), 0, 0](a)
        assert session.launches == 4
    np.testing.assert_array_equal(a, 4)


def test_everything_is_as_before_after_the_block():
    names = ("jit", "to_device", "is_available", "reduce")
    before = [getattr(cuda, name) for name in names]
    dispatcher = type(decorated_before)
    launch = dispatcher.__getitem__
    with simt.as_cuda():
        with simt.as_cuda(check=False):
            races[1, 64](np.zeros(1))
        assert cuda.is_available()
        with pytest.raises(RaceError):
            races[1, 64](np.zeros(1))
    assert [getattr(cuda, name) for name in names] == before
    assert dispatcher.__getitem__ is launch


@cuda.jit
def beyond(a):
    a[cuda.grid(1)] = 1


def test_an_error_names_the_line_and_leaves_nothing_behind():
    jit = cuda.jit
    with pytest.raises(OutOfBounds, match=r"index 32 .* `a`") as caught, simt.as_cuda():
        beyond[1, 64](np.zeros(32))
    assert cuda.jit is jit
    assert caught.value.text.strip() == "a[cuda.grid(1)] = 1"


def test_findings_are_collected_and_the_program_goes_on():
    found_races, out = [], np.zeros(1)
    with simt.as_cuda(findings=found_races):
        races[1, 64](out)
        decorated_before[1, 32](out)
    assert {type(error) for error in found_races} == {RaceError}
    assert out[0] == 2


def test_computed_negative_indices_wrap_on_demand():
    with simt.as_cuda(wraparound=True):

        @cuda.jit
        def before(a, out):
            i = cuda.grid(1)
            out[i] = a[i - 1]

        out = np.zeros(4)
        before[1, 4](np.arange(4.0), out)
    assert out.tolist() == [3, 0, 1, 2]


SIGNATURES = ["void(float32[:], int32)", (float32[:], int32), [numba.void(float32[:], int32)]]


@pytest.mark.parametrize("signature", SIGNATURES, ids=["text", "types", "list"])
def test_declared_types_cast_numbers_and_refuse_other_arrays(signature):
    with simt.as_cuda():

        @cuda.jit(signature)
        def kernel(a, x):
            a[0] = x + 0.25

        a = np.zeros(1, np.float32)
        kernel[1, 1](a, 7.9)
        assert a[0] == np.float32(7.25)
        with pytest.raises(TypeError, match=r"no signature of kernel takes .* float64 array of 1"):
            kernel[1, 1](np.zeros(1), 7)
        assert len(kernel.signatures) == 1


def test_device_functions_with_signatures_need_no_gpu():
    with simt.as_cuda():

        @cuda.jit("int32(int32)", device=True)
        def narrow(x):
            return x * 2

        @cuda.jit
        def kernel(a):
            a[0] = narrow(a[0])

        a = np.array([2**32 + 3])
        kernel[1, 1](a)
    assert a[0] == 6


def test_arrays_go_to_the_device_and_back():
    with simt.as_cuda():
        host = np.arange(12.0).reshape(3, 4)
        on_device = cuda.to_device(host)
        assert (on_device.shape, on_device.dtype) == (host.shape, host.dtype)
        assert (on_device.ndim, on_device.nbytes) == (2, 96)
        host[:] = -1  # a copy
        back = np.empty((3, 4))
        assert on_device.copy_to_host(back) is back
        assert back.tolist() == np.arange(12.0).reshape(3, 4).tolist()
        assert on_device[1, 2] == 6
        on_device[0] = 9
        part = on_device[0:2, 1]
        assert isinstance(part, DeviceArray)
        assert part.copy_to_host().tolist() == [9, 5]
        assert on_device.reshape(2, 6).ravel().shape == (12,)
        assert on_device.T.is_f_contiguous()
        on_device.copy_to_device(np.ones((3, 4)))
        assert np.asarray(on_device).sum() == 12
        like = cuda.device_array_like(on_device)
        assert (like.shape, like.dtype) == ((3, 4), host.dtype)
        assert cuda.is_cuda_array(on_device)
        assert cuda.as_cuda_array(on_device) is on_device
        with pytest.raises(TypeError):
            on_device + 1
        with pytest.raises(ValueError, match="incompatible shape"):
            on_device.copy_to_device(np.ones(3))
        with pytest.raises(TypeError, match="incompatible dtype"):
            on_device.copy_to_host(np.ones((3, 4), np.float32))


def test_arrays_that_are_not_contiguous_are_refused_as_numba_refuses_them():
    with simt.as_cuda():
        host = np.zeros((4, 4))
        for refused in (host[:, ::2], host[::2, 1], host[::-1]):
            with pytest.raises(ValueError, match="not contiguous"):
                cuda.to_device(refused)
            with pytest.raises(ValueError, match="not contiguous"):
                decorated_before[1, 4](refused[:, 0] if refused.ndim == 2 else refused)
        on_device = cuda.to_device(host)
        decorated_before[1, 4](on_device[1:3, 2])  # of the device, any steps are allowed
        assert on_device.copy_to_host().sum() == 2
        decorated_before[1, 8](host.T.ravel()[:8])


def test_unwritten_elements_of_a_device_array_are_found():
    findings = []
    with simt.as_cuda(findings=findings):
        decorated_before[1, 32](cuda.device_array(5))
    assert [type(f).__name__ for f in findings] == ["UninitializedRead"]


def test_streams_events_and_devices_answer():
    with simt.as_cuda():
        stream, (start, end) = cuda.stream(), (cuda.event(), cuda.event())
        with stream.auto_synchronize():
            start.record(stream)
            on_device = cuda.to_device(np.zeros(8), stream=stream)
            decorated_before[1, 32, stream](on_device)
            end.record(stream)
        end.synchronize()
        assert cuda.event_elapsed_time(start, end) >= 0
        assert cuda.get_current_device().WARP_SIZE == 32
        assert cuda.gpus.current.compute_capability == (9, 0)
        assert cuda.current_context().get_memory_info().total > 0
        with cuda.gpus[0], cuda.pinned(np.zeros(4)), cuda.defer_cleanup(), cuda.profiling():
            cuda.synchronize()
        with cuda.mapped(np.zeros(4)) as shared:
            decorated_before[1, 4](shared)
        mapped = cuda.mapped_array(4)
        decorated_before[1, 4](mapped)
        assert mapped.sum() == 4
        with pytest.raises(IndexError, match="there is one device"):
            cuda.select_device(1)


def test_reduce_folds_arrays_of_any_length():
    with simt.as_cuda():
        total = cuda.reduce(lambda_free_add)
        largest = cuda.Reduce(lambda_free_max)
        for n in (0, 1, 2, 31, 127, 128, 129, 1000):
            values = np.random.default_rng(n).integers(0, 1000, n)
            assert total(values) == values.sum()
            assert total(values, init=5) == values.sum() + 5
            assert largest(values, init=-1) == max(values.tolist(), default=-1)
        result = cuda.device_array(1, np.int64)
        assert total(cuda.to_device(np.arange(10)), size=4, res=result) is None
        assert result[0] == 6
        with pytest.raises(TypeError, match="1D"):
            total(np.zeros((2, 2)))


def lambda_free_add(a, b):
    return a + b


def lambda_free_max(a, b):
    return max(a, b)


def test_the_successors_name_is_served():
    with simt.as_cuda():
        from numba_cuda_mlir import cuda as successor

        @successor.jit
        def kernel(a):
            i = successor.grid(1)
            if i < a.size:
                successor.atomic.add(a, 0, 1)

        a = successor.to_device(np.zeros(4))
        kernel[1, 32](a)
        assert a[0] == 4


def test_random_numbers_of_numba_are_drawn():
    with simt.as_cuda():
        from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

        @cuda.jit
        def kernel(states, out):
            t = cuda.grid(1)
            if t < out.size:
                out[t] = xoroshiro128p_uniform_float32(states, t)

        out = np.zeros(64, np.float32)
        kernel[2, 32](create_xoroshiro128p_states(64, seed=1), out)
    assert len(np.unique(out)) == 64
    assert 0.3 < out.mean() < 0.7


def test_what_cannot_run_is_refused_by_name():
    with simt.as_cuda():
        with pytest.raises(NotImplementedError, match="link="):
            cuda.jit("void()", link=["code.cu"])
        with pytest.raises(NotImplementedError, match="inspect_ptx"):
            cuda.jit(lambda_free_add).inspect_ptx()
        with pytest.raises(ValueError, match="griddim and blockdim"):
            decorated_before[1](np.zeros(1))
