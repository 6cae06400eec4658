"""Structured arrays: values, requests by byte, and separate records for each field.

Most results are compared with numba's simulator in ``test_simulator``.
"""

from __future__ import annotations

import numba
import numpy as np
import pytest
from launching import numba_compiles
from numba import cuda
from record_kernels import MIXED, PACKED, PARTICLE, TABLE, cases, particle

from gpukernels.device import benign_race
from gpukernels.simt import Recorder, launch, uninitialized
from gpukernels.simt.errors import (
    KernelError,
    KernelTypeError,
    RaceError,
    ReadOnlyArray,
    UninitializedRead,
    UnsupportedConstruct,
)
from gpukernels.simt.linting import check
from gpukernels.trace import LOAD, metrics

SCHEDULES = ("lockstep", "warp", "random")


@pytest.mark.parametrize("name", cases())
def test_numba_compiles_the_same_kernels(name):
    kernel, _, _, arguments, _ = cases()[name]
    assert numba_compiles(kernel, tuple(map(numba.typeof, arguments)))


@pytest.mark.parametrize("schedule", SCHEDULES)
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


@cuda.jit
def of_recarray(a, out):
    i = cuda.grid(1)
    out[i] = a.x[i] + a[i].y + a.size


def test_a_recarray_and_its_columns_by_attribute():
    a, out = np.zeros(8, PARTICLE).view(np.recarray), np.zeros(8)
    a.x, a.y = np.arange(8), 0.5
    launch(of_recarray, 1, 8, (a, out))
    assert out.tolist() == [8.5 + i for i in range(8)]


# The trace ------------------------------------------------------------


@cuda.jit
def read_x(a, out):
    i = cuda.grid(1)
    out[i] = a[i].x


@cuda.jit
def read_column(a, out):
    i = cuda.grid(1)
    out[i] = a["x"][i]


def traced(kernel, *arguments, block=32, shared=0):
    recorder = Recorder()
    launch(kernel, 1, block, arguments, recorder=recorder, shared=shared)
    return recorder.trace


@pytest.mark.parametrize("kernel", [read_x, read_column])
@pytest.mark.parametrize("floats", [1, 2, 3, 4, 8, 16])
def test_the_sectors_of_an_array_of_structures(kernel, floats):
    names = [f"x{i}" for i in range(floats)]
    names[-1] = "x"
    dtype = np.dtype([(n, np.float32) for n in names], align=True)
    trace = traced(kernel, np.zeros(32, dtype), np.zeros(32, np.float32)).select(array="a.x")
    assert metrics.requests(trace) == 1
    bytes_ = np.arange(32) * dtype.itemsize + 4 * (floats - 1)
    assert metrics.sectors(trace).tolist() == [np.unique(bytes_ // 32).size]
    assert metrics.lines(trace).tolist() == [np.unique(bytes_ // 128).size]
    assert (trace.requests.index * trace.arrays[trace.requests.array[0]].itemsize == bytes_).all()
    assert metrics.coalescing_efficiency(trace) == 4 * 32 / (32 * np.unique(bytes_ // 32).size)


def test_a_field_of_no_aligned_address_moves_byte_by_byte():
    dtype = np.dtype([("x", np.float32), ("tag", np.int8)])
    trace = traced(read_x, np.zeros(32, dtype), np.zeros(32, np.float32)).select(array="a.x")
    index = trace.requests.index.reshape(4, 32)
    expected = 5 * np.arange(32) + np.arange(4)[:, None]
    np.testing.assert_array_equal(index, expected)
    assert trace.arrays[trace.requests.array[0]].itemsize == 1


@cuda.jit
def shared_columns(out):
    tile = cuda.shared.array(32, particle)
    t = cuda.threadIdx.x
    tile[t].k = t
    cuda.syncthreads()
    out[t] = tile[31 - t].k


def test_bank_conflicts_of_records_in_shared_memory():
    trace = traced(shared_columns, np.zeros(32, np.int32))
    # 12 bytes apart, 3 words: no common factor with 32 banks.
    assert metrics.bank_conflicts(trace).tolist() == [0, 0]
    wide = numba.from_dtype(np.dtype([("k", np.int32), ("rest", np.int32, (3,))], align=True))

    @cuda.jit
    def wide_columns(out):
        tile = cuda.shared.array(32, wide)
        t = cuda.threadIdx.x
        tile[t].k = t
        out[t] = tile[t].k

    trace = traced(wide_columns, np.zeros(32, np.int32))
    assert metrics.bank_conflicts(trace).tolist() == [3, 3]


def test_values_of_nested_arrays_in_a_trace():
    kernel, grid, block, arguments, _ = cases()["nested"]
    recorder = Recorder()
    launch(kernel, grid, block, arguments, recorder=recorder)
    trace = recorder.trace.select(array="a.row", warp=0)
    loads = trace.requests.kind == LOAD
    at = np.repeat(loads, np.diff(trace.requests.start))
    cells = np.unique(trace.requests.index[at])
    first = MIXED.fields["row"][1]
    expected = [(i * MIXED.itemsize + first) // 2 + k for i in range(32) for k in range(3)]
    assert cells.tolist() == expected


# Errors, by field ------------------------------------------------------------


@cuda.jit
def one_past(a):
    i = cuda.grid(1)
    a[i].x = 1


def test_a_read_only_array_of_records():
    a = np.zeros(8, PARTICLE)
    a.flags.writeable = False
    with pytest.raises(ReadOnlyArray, match=r"`a\.x` is read-only"):
        launch(one_past, 1, 8, (a,))


@cuda.jit
def swap_fields(a):
    i = cuda.grid(1)
    a[i].x = a[i].y


@pytest.mark.parametrize("dtype", [PARTICLE, np.dtype([("x", "f4"), ("y", "f4"), ("tag", "i1")])])
def test_unwritten_fields_of_an_empty_array(dtype):
    a = uninitialized(8, dtype)
    with pytest.raises(UninitializedRead, match=r"global array `a\.y` is read"):
        launch(swap_fields, 1, 8, (a,))
    a = uninitialized(8, dtype)
    a["y"] = 3  # the host writes
    launch(swap_fields, 1, 8, (a,))
    assert (a["x"] == 3).all()


@cuda.jit
def fill_y(a):
    a[cuda.grid(1)].y = 4


def test_a_kernel_writes_an_empty_array():
    a = uninitialized(8, PARTICLE)
    launch(fill_y, 1, 8, (a,))
    launch(swap_fields, 1, 8, (a,))
    assert (a["x"] == 4).all()


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


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_races_are_found_by_field(schedule):
    a = np.zeros(4, PARTICLE)
    launch(own_fields, 1, 32, (a,), schedule=schedule)
    for both in [(a, a), (a, a[:])]:
        with pytest.raises(RaceError, match=r"race on `[ab]\.x\[3\]`"):
            launch(one_field, 1, 64, both, schedule=schedule)
    launch(one_field, 1, 64, (a, a.copy()), schedule=schedule)


def test_a_race_on_records_is_benign_where_the_array_is():
    kernel = benign_race("a", "b")(cuda.jit(one_field.py_func))
    a = np.zeros(4, PARTICLE)
    launch(kernel, 1, 64, (a, a))


def test_the_linter_checks_copies_of_records():
    report = check(swap_fields, 1, 8, uninitialized(8, PARTICLE))
    assert {finding.array for finding in report.errors} == {"a.y"}


# References and refusals ------------------------------------------------------------


@cuda.jit
def either(a, b, out):
    i = cuda.grid(1)
    r = a[i]
    if i > 3:
        r = b[i]
    out[i] = r.x


def test_a_reference_to_records_of_two_arrays_is_refused():
    a, b = np.zeros(8, PARTICLE), np.zeros(8, PARTICLE)
    with pytest.raises(KernelError, match="variable `r` is another array of records for some"):
        launch(either, 1, 8, (a, b, np.zeros(8)))


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


@pytest.mark.parametrize("dtype", ["O", "U4", [("x", "O")], [("x", "i4"), ("when", "M8[s]")]])
def test_arrays_that_no_kernel_takes(dtype):
    with pytest.raises(KernelTypeError, match="argument 0 is an array of"):
        launch(one_past, 1, 1, (np.zeros(2, dtype),))
