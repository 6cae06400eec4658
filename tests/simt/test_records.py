"""Structured arrays, and dynamic shared memory that arrays of all types share."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from launching import failure, line_of, numba_compiles, traced
from numba import cuda, float64, int16, int32, int64, uint64
from record_kernels import MIXED, PACKED, PARTICLE, TABLE, cases, particle

from gpukernels.simt import launch, uninitialized
from gpukernels.simt.errors import (
    KernelTypeError,
    LaunchError,
    OutOfBounds,
    RaceError,
    UninitializedRead,
    UnsupportedConstruct,
)
from gpukernels.simt.linting import check
from gpukernels.trace import metrics


@pytest.mark.parametrize("name", cases())
def test_numba_compiles_the_same_kernels(name):
    kernel, _, _, arguments, _ = cases()[name]
    assert numba_compiles(kernel, tuple(map(numba.typeof, arguments)))


def test_whole_records_go_through_shared_memory(schedule):
    kernel, grid, block, (a, out), _ = cases()["through_shared"]
    launch(kernel, grid, block, (a, out), schedule=schedule)
    t = np.tile(np.arange(16), 3)
    opposite = a["x"].reshape(3, 16)[:, ::-1].ravel()
    np.testing.assert_array_equal(out, opposite + t + a["k"])


def test_records_of_a_constant_array():
    kernel, grid, block, (out,), _ = cases()["of_a_table"]
    launch(kernel, grid, block, (out,))
    rows = TABLE[np.arange(32) % 2]
    np.testing.assert_array_equal(out, rows["x"] + rows["k"] + rows["y"])


@cuda.jit
def copied(a, b):
    i = cuda.grid(1)
    if i < a.shape[0]:
        b[i] = a[a.shape[0] - 1 - i]


@pytest.mark.parametrize("dtype", [PARTICLE, MIXED, PACKED])
def test_a_copy_of_records_copies_every_field(dtype):
    rng = np.random.default_rng(2)
    a, b = np.zeros(21, dtype), np.zeros(21, dtype)
    for name in dtype.names:
        a[name] = rng.integers(-9, 9, a[name].shape)
    launch(copied, 1, 32, (a, b[::1]))
    np.testing.assert_array_equal(b, a[::-1])
    apart = np.zeros(42, dtype)
    launch(copied, 1, 32, (a, apart[::2]))
    np.testing.assert_array_equal(apart[::2], a[::-1])
    assert (apart[1::2] == np.zeros(1, dtype)).all()


# Records within records ------------------------------------------------------------

POINT = np.dtype([("x", np.int32), ("y", np.int32)])
EDGE = np.dtype([("weight", np.float32), ("ends", np.dtype([("from", POINT), ("to", POINT)]))])


@cuda.jit
def within(a, out):
    i = cuda.grid(1)
    a[i].ends.to.x += a[i]["ends"]["from"].y
    out[i] = a[i].ends.to.x


def test_records_within_records():
    a, out = np.zeros(8, EDGE), np.zeros(8, np.int32)
    a["ends"]["to"]["x"], a["ends"]["from"]["y"] = np.arange(8), 10
    launch(within, 1, 8, (a, out))
    assert out.tolist() == a["ends"]["to"]["x"].tolist() == list(range(10, 18))
    assert not a["ends"]["to"]["y"].any()


# The trace ------------------------------------------------------------


@cuda.jit
def read_x(a, out):
    i = cuda.grid(1)
    out[i] = a[i].x


@cuda.jit
def read_column(a, out):
    i = cuda.grid(1)
    out[i] = a["x"][i]


@pytest.mark.parametrize("kernel", [read_x, read_column])
@pytest.mark.parametrize("floats", [1, 2, 3, 4, 8, 16])
def test_the_sectors_of_an_array_of_structures(kernel, floats):
    names = [f"x{i}" for i in range(floats)]
    names[-1] = "x"
    dtype = np.dtype([(n, np.float32) for n in names], align=True)
    trace = traced(kernel, 1, 32, np.zeros(32, dtype), np.zeros(32, np.float32)).select(array="a.x")
    assert metrics.requests(trace) == 1
    bytes_ = np.arange(32) * dtype.itemsize + 4 * (floats - 1)
    assert metrics.sectors(trace).tolist() == [np.unique(bytes_ // 32).size]
    assert metrics.lines(trace).tolist() == [np.unique(bytes_ // 128).size]
    assert (trace.requests.index * trace.arrays[trace.requests.array[0]].itemsize == bytes_).all()
    assert metrics.coalescing_efficiency(trace) == 4 * 32 / (32 * np.unique(bytes_ // 32).size)


def test_a_field_of_no_aligned_address_moves_byte_by_byte():
    dtype = np.dtype([("x", np.float32), ("tag", np.int8)])
    trace = traced(read_x, 1, 32, np.zeros(32, dtype), np.zeros(32, np.float32)).select(array="a.x")
    index = trace.requests.index.reshape(4, 32)
    expected = 5 * np.arange(32) + np.arange(4)[:, None]
    np.testing.assert_array_equal(index, expected)
    assert trace.arrays[trace.requests.array[0]].itemsize == 1


# Errors, by field ------------------------------------------------------------


@cuda.jit
def swap_fields(a):
    i = cuda.grid(1)
    a[i].x = a[i].y


@pytest.mark.parametrize("dtype", [PARTICLE, np.dtype([("x", "f4"), ("y", "f4"), ("tag", "i1")])])
def test_unwritten_fields_of_an_empty_array(dtype):
    a = uninitialized(8, dtype)
    failure(UninitializedRead, swap_fields, 1, 8, a, match=r"global array `a\.y` is read")
    a = uninitialized(8, dtype)
    a["y"] = 3  # the host writes
    launch(swap_fields, 1, 8, (a,))
    assert (a["x"] == 3).all()


@cuda.jit
def half_of_a_record(out):
    tile = cuda.shared.array(4, particle)
    t = cuda.threadIdx.x
    tile[t].x = 1
    if t != 2:
        tile[t].y = 1
    out[t] = tile[t].x + tile[t].y


def test_an_unwritten_field_of_a_shared_record():
    error = failure(
        UninitializedRead, half_of_a_record, 1, 4, np.zeros(4), match=r"shared array `tile\.y`"
    )
    assert error.thread == (2, 0, 0)


@cuda.jit
def own_fields(a):
    t = cuda.threadIdx.x
    if t % 32 == 0:
        a[0].x = t
    if t % 32 == 1:
        a[0].y = t


@cuda.jit
def one_field(a, b):
    t = cuda.threadIdx.x
    if t == 0:
        a[3].x = 1
    if t == 32:
        b["x"][3] = 2


def test_races_are_found_by_field(schedule):
    a = np.zeros(4, PARTICLE)
    launch(own_fields, 1, 32, (a,), schedule=schedule)
    for both in [(a, a), (a, a[:])]:
        with pytest.raises(RaceError, match=r"race on `[ab]\.x\[3\]`"):
            launch(one_field, 1, 64, both, schedule=schedule)
    launch(one_field, 1, 64, (a, a.copy()), schedule=schedule)


def test_the_linter_checks_copies_of_records():
    report = check(swap_fields, 1, 8, uninitialized(8, PARTICLE))
    assert {finding.array for finding in report.errors} == {"a.y"}


# References and refusals ------------------------------------------------------------


@pytest.mark.parametrize("kernel", [read_x, read_column])
def test_fields_at_addresses_that_a_device_cannot_read(kernel):
    dtype = np.dtype([("tag", np.int8), ("x", np.float64)])
    with pytest.raises(KernelTypeError, match=r"`x` lies 1 bytes into its record.*align=True"):
        launch(kernel, 1, 4, (np.zeros(4, dtype), np.zeros(4)))
    after = np.dtype([("x", np.float64), ("tag", np.int8)])
    with pytest.raises(KernelTypeError, match=r"`x` lie 9 bytes apart.*align=True"):
        launch(read_column, 1, 4, (np.zeros(4, after), np.zeros(4)))


def whole_inner(a):
    r = a[0].ends
    r.to.x = 1


def whole_nested(a):
    a[0].row = 1


def test_parts_of_records_that_need_a_name_of_their_own():
    with pytest.raises(UnsupportedConstruct, match=r"in full: `a\[0\]\.ends\.`from"):
        launch(cuda.jit(whole_inner), 1, 1, (np.zeros(1, EDGE),))
    with pytest.raises(KernelTypeError, match="assign the elements of an array one by one"):
        launch(cuda.jit(whole_nested), 1, 1, (np.zeros(1, MIXED),))


@cuda.jit
def every_size(out):
    i = cuda.grid(1)
    longs = cuda.shared.array(0, int64)
    words = cuda.shared.array(0, int32)
    records = cuda.shared.array(0, particle)
    out[i, 0], out[i, 1], out[i, 2] = longs.size, words.size, records.size
    t = cuda.threadIdx.x
    if t == 0:
        longs[1] = cuda.blockIdx.x + 1
        out[i, 3] = words[2] + words[3] * 1000


@pytest.mark.parametrize("shared", [16, 40, 48, 100])
def test_lengths_follow_the_launch_and_blocks_have_their_own(shared, schedule):
    out = np.zeros((3, 4), np.int64)
    launch(every_size, 3, 1, (out,), shared=shared, schedule=schedule)
    sizes = [shared // 8, shared // 4, shared // PARTICLE.itemsize]
    assert out.tolist() == [[*sizes, b + 1] for b in range(3)]


@cuda.jit
def past_the_end(out):
    halves = cuda.shared.array(0, int16)
    halves[cuda.threadIdx.x] = 1
    out[0] = 1


def test_bounds_are_those_of_the_launch():
    launch(past_the_end, 1, 8, (np.zeros(1),), shared=16, check=False)
    with pytest.raises(OutOfBounds, match=r"`halves`, which has 7 elements") as caught:
        launch(past_the_end, 1, 8, (np.zeros(1),), shared=15, check=False)
    assert caught.value.thread == (7, 0, 0)


def test_static_and_dynamic_memory_share_the_limit():
    @cuda.jit
    def kernel(a):
        fixed = cuda.shared.array(6000, float64)
        free = cuda.shared.array(0, int32)
        fixed[0] = free.size
        a[0] = fixed[0]

    out = np.zeros(1)
    launch(kernel, 1, 1, (out,), shared=1152)
    assert out[0] == 288
    with pytest.raises(LaunchError, match="take 49156 bytes per block; allowed are 49152"):
        launch(kernel, 1, 1, (out,), shared=1156)


@cuda.jit
def overlapping(out):
    words = cuda.shared.array(0, int32)
    longs = cuda.shared.array(0, int64)
    t = cuda.threadIdx.x
    if t == 0:
        longs[1] = 5
    if t == 33:
        words[3] = 6
    out[t] = t


def test_races_between_arrays_of_two_types(schedule):
    with pytest.raises(RaceError, match=r"race on `(words\[3\]|longs\[1\])`"):
        launch(overlapping, 1, 64, (np.zeros(64),), shared=64, schedule=schedule)


@cuda.jit
def half_written(out):
    words = cuda.shared.array(0, int32)
    longs = cuda.shared.array(0, int64)
    words[2] = 1
    out[0] = words[2]
    out[1] = longs[1]


def test_half_of_an_element_is_unwritten():
    with pytest.raises(UninitializedRead, match="`longs`") as caught:
        launch(half_written, 1, 1, (np.zeros(2),), shared=64)
    assert caught.value.line == line_of(half_written, "longs[1]")


@cuda.jit
def turn_round(out):
    words = cuda.shared.array(0, int32)
    t = uint64(cuda.threadIdx.x)
    words[t] = cuda.blockIdx.x * 100 + cuda.threadIdx.x
    cuda.syncthreads()
    out[uint64(cuda.grid(1))] = words[uint64(cuda.blockDim.x - 1) - t]


def test_an_index_of_64_unsigned_bits_is_no_float(schedule):
    """More lanes than one warp has: NumPy combines an unsigned and a signed number to float64."""
    out = np.zeros(3 * 64, np.int32)
    launch(turn_round, 3, 64, (out,), shared=4 * 64, schedule=schedule)
    mirrored = 100 * np.arange(3)[:, None] + np.arange(64)[::-1]
    np.testing.assert_array_equal(out, mirrored.ravel())
