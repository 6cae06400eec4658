"""Arrays of every space, shape and layout, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from launching import launched
from numba import cuda, float32, int32, int64, uint8

from gpukernels.device import SimtDevice
from gpukernels.simt.errors import LaunchError

TILE = 8


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
    # Layouts are kept by numba only where the host's array is passed itself.
    from gpukernels.device import SimtDevice

    rng = np.random.default_rng(0)
    a = LAYOUTS[layout](rng.integers(0, 100, (5, 6, 7)))
    before, out = a.copy(), LAYOUTS["every other"](np.zeros((5, 6, 7), np.int32))
    SimtDevice(check=True).launch(copy_space, (2, 2, 4), (4, 4, 2), a, out)
    np.testing.assert_array_equal(out, before + 210 + 3000)
    np.testing.assert_array_equal(a, before)


@cuda.jit
def transpose(a, out):
    x, y = cuda.grid(2)
    if x < a.shape[0] and y < a.shape[1]:
        out[y, x] = a[x, y]


@pytest.mark.parametrize("shape", [(1, 1), (1, 33), (31, 2), (32, 32), (17, 40)])
def test_two_dimensional_arrays(scheduled_device, shape):
    a = np.random.default_rng(1).random(shape, dtype=np.float32)
    grid = tuple(-(-n // 8) for n in shape)
    _, out = launched(scheduled_device, transpose, grid, (8, 8), a, np.zeros(shape[::-1], a.dtype))
    np.testing.assert_array_equal(out, a.T)


@cuda.jit
def store_wide(out):
    i = cuda.grid(1)
    out[i] = i * 100 - 200


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "bool"])
def test_stores_wrap_to_the_type_of_the_array(device, dtype):
    (out,) = launched(device, store_wide, 1, 9, np.zeros(9, dtype))
    np.testing.assert_array_equal(out, (np.arange(9) * 100 - 200).astype(dtype))


@cuda.jit
def update(a):
    i = cuda.grid(1)
    a[i] += 100
    a[i] *= 2
    a[i] -= 1
    a[i] //= 3
    a[i] ^= 5


def test_augmented_stores_wrap_each_time(scheduled_device):
    a = np.arange(100, dtype=np.int8)
    (found,) = launched(scheduled_device, update, 1, 100, a)
    for operation in (lambda v: v + 100, lambda v: v * 2, lambda v: v - 1, lambda v: v // 3):
        a = operation(a.astype(np.int64)).astype(np.int8)
    np.testing.assert_array_equal(found, a ^ np.int8(5))


@cuda.jit
def sum_in_float32(a, out):
    total = float32(0)
    for i in range(a.size):
        total += a[i]
    out[0] = total


def test_float32_accumulates_in_float32(device):
    a = np.full(3000, 0.1, np.float32)
    _, out = launched(device, sum_in_float32, 1, 1, a, np.zeros(1))
    total = np.float32(0)
    for x in a:
        total = np.float32(total + x)
    assert out[0] == total
    assert out[0] != np.float32(np.sum(a, dtype=np.float64))


@cuda.jit
def last_store_wins(out):
    out[0] = cuda.threadIdx.x


# Shared arrays ------------------------------------------------------------


@cuda.jit
def reverse_blocks(a):
    buffer = cuda.shared.array(100, int32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    buffer[t] = a[i]
    cuda.syncthreads()
    a[i] = buffer[cuda.blockDim.x - 1 - t]


@pytest.mark.parametrize("threads", [1, 31, 32, 33, 100])
def test_each_block_has_its_own_shared_array(scheduled_device, threads):
    a = np.arange(5 * threads, dtype=np.int64)
    (found,) = launched(scheduled_device, reverse_blocks, 5, threads, a)
    np.testing.assert_array_equal(found, a.reshape(5, threads)[:, ::-1].ravel())


@cuda.jit
def multiply_tiles(a, b, out):
    left = cuda.shared.array((TILE, TILE), float32)
    right = cuda.shared.array(shape=(TILE, TILE), dtype=float32)
    x, y = cuda.grid(2)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for first in range(0, a.shape[1], TILE):
        left[i, j] = 0
        right[i, j] = 0
        if x < a.shape[0] and first + j < a.shape[1]:
            left[i, j] = a[x, first + j]
        if first + i < b.shape[0] and y < b.shape[1]:
            right[i, j] = b[first + i, y]
        cuda.syncthreads()
        for k in range(TILE):
            total += left[i, k] * right[k, j]
        cuda.syncthreads()
    if x < out.shape[0] and y < out.shape[1]:
        out[x, y] = total


def test_tiled_matrix_product(scheduled_device):
    rng = np.random.default_rng(2)
    a = rng.integers(-9, 9, (19, 21)).astype(np.float32)
    b = rng.integers(-9, 9, (21, 10)).astype(np.float32)
    _, _, out = launched(
        scheduled_device, multiply_tiles, (3, 2), (TILE, TILE), a, b, np.zeros((19, 10), np.float32)
    )
    np.testing.assert_array_equal(out, a @ b)  # small integers, so exact


@cuda.jit
def dynamic(a, out):
    buffer = cuda.shared.array(0, int32)
    t = cuda.threadIdx.x
    buffer[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    total = 0
    for i in range(buffer.size):
        total += buffer[i]
    out[cuda.grid(1)] = total


def test_dynamic_shared_memory_has_the_size_of_the_launch(scheduled_device):
    a = np.arange(3 * 33, dtype=np.int32)
    _, out = launched(scheduled_device, dynamic, 3, 33, a, np.zeros(99, np.int32), shared=33 * 4)
    np.testing.assert_array_equal(out, np.repeat(a.reshape(3, 33).sum(axis=1), 33))


@cuda.jit(device=True)
def rotated(value, step):
    buffer = cuda.shared.array(64, int64)
    buffer[cuda.threadIdx.x] = value
    cuda.syncthreads()
    result = buffer[(cuda.threadIdx.x + step) % cuda.blockDim.x]
    cuda.syncthreads()
    return result


@cuda.jit
def rotate_twice(a):
    i = cuda.grid(1)
    a[i] = rotated(a[i], 1) + 1000 * rotated(a[i], 5)


def test_a_device_function_may_declare_a_shared_array(scheduled_device):
    a = np.arange(2 * 40)
    (found,) = launched(scheduled_device, rotate_twice, 2, 40, a)
    rows = a.reshape(2, 40)
    expected = np.roll(rows, -1, axis=1) + 1000 * np.roll(rows, -5, axis=1)
    np.testing.assert_array_equal(found, expected.ravel())


# Local and constant arrays ------------------------------------------------------------


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


def test_each_thread_has_its_own_local_array(scheduled_device):
    a = np.random.default_rng(3).integers(0, 50, (70, 5))
    (found,) = launched(scheduled_device, sort_own, 3, 32, a)
    np.testing.assert_array_equal(found, np.sort(a, axis=1))


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


@cuda.jit
def look_up(out):
    table = cuda.const.array_like(TABLE)
    i = cuda.grid(1)
    out[i] = table[i % 2, i % 3] + 100 * TABLE[1, i % 3] + 10_000 * table.shape[0]


def test_constant_arrays(scheduled_device):
    (out,) = launched(scheduled_device, look_up, 1, 40, np.zeros(40, np.int64))
    i = np.arange(40)
    np.testing.assert_array_equal(out, TABLE[i % 2, i % 3] + 100 * TABLE[1, i % 3] + 20_000)


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


def test_arrays_go_by_other_names(scheduled_device):
    a, b = np.arange(33), np.arange(33) * 7
    _, _, out = launched(scheduled_device, through_names, 1, 33, a, b, np.zeros(33, np.int64))
    np.testing.assert_array_equal(out, a + b + 1000 * b)


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


@cuda.jit
def one_thread(out):
    out[0] = cuda.threadIdx.x + 5
    out[1] = out[0] * 2


def test_a_launch_of_one_thread(scheduled_device):
    (out,) = launched(scheduled_device, one_thread, 1, 1, np.zeros(2, np.int32))
    assert out.tolist() == [5, 10]


def test_a_local_array_beyond_what_a_thread_may_have_is_refused():
    @cuda.jit
    def large(a):
        x = cuda.local.array(131073, np.int32)
        x[0] = 1
        a[0] = x[0]

    with pytest.raises(LaunchError, match="takes 524,292 bytes a thread; allowed are 524,288"):
        SimtDevice().launch(large, 1, 1, np.zeros(1, np.int32))
