"""Arrays of every space, shape and layout, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from launching import launched
from numba import cuda, float32, int32, uint8
from thread_by_thread import alone

from gpukernels.device import SimtDevice
from gpukernels.simt.errors import LaunchError

# Global arrays ------------------------------------------------------------


@cuda.jit
def copy_space(a, out):
    x, y, z = cuda.grid(3)
    if x < a.shape[0] and y < a.shape[1] and z < a.shape[2]:
        out[x, y, z] = a[x, y, z] + a.size + 1000 * a.ndim


LAYOUTS = {
    "C": lambda a: a,
    "Fortran": np.asfortranarray,
    "transposed": lambda a: np.ascontiguousarray(a.transpose(2, 1, 0)).transpose(2, 1, 0),
    "every other": lambda a: np.repeat(np.repeat(a, 2, axis=0), 3, axis=2)[::2, :, ::3],
    "broadcast": lambda a: np.broadcast_to(a[:, :1], a.shape),
    "slice of a larger": lambda a: np.pad(a, 2)[2:-2, 2:-2, 2:-2],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_arrays_of_every_layout(layout):
    # numba keeps a layout only if the host's array itself is passed.
    from gpukernels.device import SimtDevice

    rng = np.random.default_rng(0)
    a = LAYOUTS[layout](rng.integers(0, 100, (5, 6, 7)))
    before, out = a.copy(), LAYOUTS["every other"](np.zeros((5, 6, 7), np.int32))
    SimtDevice(check=True).launch(copy_space, (2, 2, 4), (4, 4, 2), a, out)
    np.testing.assert_array_equal(out, before + 210 + 3000)
    np.testing.assert_array_equal(a, before)


@alone(np.arange(1.0).reshape(1, 1), np.zeros((1, 1)), blocks=(1, 1), threads=(8, 8))
@alone(np.arange(33.0).reshape(1, 33), np.zeros((33, 1)), blocks=(1, 5), threads=(8, 8))
@alone(np.arange(62.0).reshape(31, 2), np.zeros((2, 31)), blocks=(4, 1), threads=(8, 8))
@alone(np.arange(1024.0).reshape(32, 32), np.zeros((32, 32)), blocks=(4, 4), threads=(8, 8))
@alone(np.arange(680.0).reshape(17, 40), np.zeros((40, 17)), blocks=(3, 5), threads=(8, 8))
@cuda.jit
def transpose(a, out):
    x, y = cuda.grid(2)
    if x < a.shape[0] and y < a.shape[1]:
        out[y, x] = a[x, y]


@cuda.jit
def store_wide(out):
    i = cuda.grid(1)
    out[i] = i * 100 - 200


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "bool"])
def test_stores_wrap_to_the_type_of_the_array(device, dtype):
    (out,) = launched(device, store_wide, 1, 9, np.zeros(9, dtype))
    np.testing.assert_array_equal(out, (np.arange(9) * 100 - 200).astype(dtype))


@alone(np.arange(100, dtype=np.int8))
@cuda.jit
def update(a):
    i = cuda.grid(1)
    a[i] += 100
    a[i] *= 2
    a[i] -= 1
    a[i] //= 3
    a[i] ^= 5


@alone(np.full(3000, 0.1, np.float32), np.zeros(1))
@cuda.jit
def sum_in_float32(a, out):
    total = float32(0)
    for i in range(a.size):
        total += a[i]
    out[0] = total


# Shared arrays ------------------------------------------------------------


# Local and constant arrays ------------------------------------------------------------


@alone(np.random.default_rng(3).integers(0, 50, (70, 5)), blocks=3, threads=32)
@cuda.jit
def sort_own(a):
    own = cuda.local.array(5, int32)
    i = cuda.grid(1)
    if i < a.shape[0]:
        for k in range(5):
            own[k] = a[i, k]
        for k in range(1, 5):
            at = k
            while at > 0 and own[at - 1] > own[at]:
                own[at - 1], own[at] = own[at], own[at - 1]
                at -= 1
        for k in range(5):
            a[i, k] = own[k]


@cuda.jit
def local_matrix(out):
    own = cuda.local.array((2, 3), uint8)
    i = cuda.grid(1)
    for x in range(2):
        for y in range(3):
            own[x, y] = 100 * x + i * y
    out[i] = own[1, 2] + own[0, 1] + 1000 * own.shape[1]


def test_local_arrays_of_two_dimensions(scheduled_device):
    (out,) = launched(scheduled_device, local_matrix, 1, 96, np.zeros(96, np.int64))
    i = np.arange(96)
    np.testing.assert_array_equal(out, (100 + 2 * i) % 256 + i + 3000)


TABLE = np.array([[2, 3, 5], [7, 11, 13]], np.int64)


@alone(np.zeros(40, np.int64))
@cuda.jit
def look_up(out):
    table = cuda.const.array_like(TABLE)
    i = cuda.grid(1)
    out[i] = table[i % 2, i % 3] + 100 * TABLE[1, i % 3] + 10_000 * table.shape[0]


@alone(np.arange(33), np.arange(33) * 7, np.zeros(33, np.int64))
@cuda.jit
def through_names(a, b, out):
    i = cuda.grid(1)
    source = a
    out[i] = source[i]
    source = b
    out[i] += source[i]
    for _ in range(3):
        a, b = b, a
    out[i] += 1000 * a[i]


@cuda.jit
def hinted(a, out):
    i = cuda.grid(1)
    value = cuda.ldca(a, i) + cuda.ldcg(a, i) + cuda.ldcs(a, i) + cuda.ldlu(a, i) + cuda.ldcv(a, i)
    cuda.stcg(out, i, value)
    cuda.threadfence()
    cuda.threadfence_block()
    cuda.threadfence_system()


def test_cache_hints_and_fences_change_no_value(scheduled_device):
    if not hasattr(cuda, "ldca"):
        pytest.skip("this numba-cuda has no cache hints")
    a, out = launched(
        scheduled_device, hinted, 1, 40, np.arange(40, dtype=np.int32), np.zeros(40, np.int32)
    )
    np.testing.assert_array_equal(out, 5 * a)


def test_a_local_array_beyond_what_a_thread_may_have_is_refused():
    @cuda.jit
    def large(a):
        x = cuda.local.array(131073, np.int32)
        x[0] = 1
        a[0] = x[0]

    with pytest.raises(LaunchError, match="takes 524,292 bytes per thread; allowed are 524,288"):
        SimtDevice().launch(large, 1, 1, np.zeros(1, np.int32))
