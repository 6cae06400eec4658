"""Arrays of every layout, in slices, other shapes and variables; complex numbers."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from launching import failure, launched, line_of
from numba import cuda, float32, int32
from thread_by_thread import alone

from gpukernels.device import SimtDevice
from gpukernels.simt import Recorder, launch, uninitialized
from gpukernels.simt.errors import (
    KernelError,
    LaunchError,
    OutOfBounds,
    RaceError,
    UninitializedRead,
)

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
    rng = np.random.default_rng(0)
    a = LAYOUTS[layout](rng.integers(0, 100, (5, 6, 7)))
    before, out = a.copy(), LAYOUTS["every other"](np.zeros((5, 6, 7), np.int32))
    SimtDevice(check=True).launch(copy_space, (2, 2, 4), (4, 4, 2), a, out)
    np.testing.assert_array_equal(out, before + 210 + 3000)
    np.testing.assert_array_equal(a, before)


# Local and constant arrays ------------------------------------------------------------


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


@cuda.jit
def add_from(counters):
    i = cuda.grid(1)
    cuda.atomic.add(counters[i // 2 :], 0, 1)


def test_an_atomic_on_a_slice_changes_the_array():
    counters = np.zeros(16, np.int32)
    launch(add_from, 1, 32, (counters,))
    assert counters.tolist() == [2] * 16


@cuda.jit
def write_neighbor(a):
    i = cuda.grid(1)
    a[i // 2 :][0] = i


def test_races_and_requests_name_the_array_itself():
    failure(RaceError, write_neighbor, 1, 4, np.zeros(4, np.int64), match=r"`a\[0\]`")
    recorder = Recorder()
    launch(write_neighbor, 1, 4, (np.zeros(4, np.int64),), recorder=recorder, check=False)
    assert recorder.trace.requests.index.tolist() == [0, 0, 1, 1]


ROWS = 12


@cuda.jit
def bits(a, b, out):
    i = cuda.grid(1)
    whole = a.view(np.int32)
    out[i, 0] = whole[i]
    out[i, 1] = a[i].view(np.int32) - b[i].view(np.uint64)
    b.view(np.int64)[i] += 1
    tile = cuda.shared.array(32, float32)
    as_bits = tile.view(int32)
    as_bits[i] = whole[i]
    cuda.syncthreads()
    out[i, 2] = tile[i] == a[i]
    tile[i] = 1.0
    cuda.syncthreads()
    out[i, 3] = as_bits[i]


def test_views_as_a_type_of_the_same_size(scheduled_device):
    a = np.linspace(-2, 3, ROWS).astype(np.float32)
    b = np.linspace(1, 2, ROWS)
    _, later, out = launched(scheduled_device, bits, 1, ROWS, a, b, np.zeros((ROWS, 4), np.int64))
    words = a.view(np.int32).astype(np.int64)
    np.testing.assert_array_equal(out[:, 0], words)
    np.testing.assert_array_equal(out[:, 1], (words - b.view(np.int64)))
    np.testing.assert_array_equal(out[:, 2:], [[1, 0x3F800000]] * ROWS)
    np.testing.assert_array_equal(later, np.nextafter(b, 9))


@alone(np.zeros(ROWS, int), np.zeros((3, 4)), np.zeros((2, 2, 3)), np.zeros((ROWS, 6), int))
@cuda.jit
def filled(a, m, t, out):
    i = cuda.grid(1)
    if i == 0:
        a[:] = 7
        a[2:-2] = 2.9
        a[::5] = i
        m[:, 1] = 5
        m[0] = 6
        m[1, 2:] = True
        m[2] = (8, 9, 1, 2)
        t[...] = 4
        t[1, ..., 0] = 3
        t[0, 1] = 2
    own = out[i]
    own[:] = i
    own[1 : 1 + i % 3] = 100
    out[i, 4:] = (i, 50)


@cuda.jit
def all_fill(a):
    a[:] = cuda.grid(1)


def test_a_fill_is_a_store_an_element_and_may_race():
    recorder = Recorder()
    launch(all_fill, 1, 1, (np.ones(5),), recorder=recorder)
    assert recorder.trace.requests.index.tolist() == [0, 1, 2, 3, 4]
    failure(RaceError, all_fill, 1, 2, np.ones(5))


@cuda.jit
def computed(a, k):
    a[k - 1] = 1


@cuda.jit
def named_once(a, k):
    last = -1
    a[last] = 1


@cuda.jit
def too_far(a, k):
    a[-5] = 1


@pytest.mark.parametrize(("kernel", "index"), [(computed, -1), (named_once, -1), (too_far, -5)])
def test_other_negative_indices_are_out_of_bounds(kernel, index):
    with pytest.raises(OutOfBounds, match=f"index {index} is out of bounds for `a`"):
        launch(kernel, 1, 1, (np.zeros(4), 0))


@cuda.jit
def wrong_size(m):
    m.reshape(5, 2)[0, 0] = 1


@cuda.jit
def with_gaps(m):
    m[:, 1:].reshape(-1)[0] = 1


@cuda.jit
def differing(m):
    m.reshape(-1)[: cuda.grid(1) + 1].reshape(1, -1)[0, 0] = 1


@cuda.jit
def by_a_tuple_too_long(m):
    m[0] = (1, 2)


@pytest.mark.parametrize(
    ("kernel", "kind", "text"),
    [
        (wrong_size, KernelError, "reshape of `m`: 12 elements do not fit the shape (5, 2)"),
        (with_gaps, KernelError, "numba takes arrays without gaps only"),
        (differing, KernelError, "its lengths differ by thread"),
        (by_a_tuple_too_long, OutOfBounds, "a tuple of 2 cannot be stored in a slice of 4"),
    ],
)
def test_what_cannot_be_reshaped_or_filled_is_an_error(kernel, kind, text):
    with pytest.raises(kind) as caught:
        launch(kernel, 1, 2, (np.zeros((3, 4)),), check=False)
    assert text in str(caught.value)
    assert caught.value.line == line_of(kernel, "= ")


N = 70


@pytest.fixture
def run(scheduled_device):
    """Launch on N threads under each schedule, or on a GPU; return the arguments afterwards."""
    return functools.partial(launched, scheduled_device)


A, B = np.arange(N), np.arange(N) * 100


@cuda.jit
def loop_over_arrays(a, b, out):
    t = cuda.grid(1)
    x = t + 0
    for array in (a, b):
        out[t] = 10 * out[t] + array[t]
        if t % 2:
            a, b = b, a
    for number in (1, x):
        out[t] = 10 * out[t] + number
        if t % 2:
            x = 1000


def test_a_loop_over_a_tuple_goes_over_what_was_in_it(schedule):  # numba cannot compile it
    a, b = A.copy(), B.copy()
    out = np.zeros(N, np.int64)
    launch(loop_over_arrays, 2, N // 2, (a, b, out), schedule=schedule)
    assert out.tolist() == [100 * (10 * t + 100 * t) + 10 + t for t in range(N)]


# Some threads only ------------------------------------------------------------


@cuda.jit
def odd_lanes_swap(a, b):
    t = cuda.grid(1)
    src, dst = a, b
    if t % 2:
        src, dst = dst, src
    dst[t] = 2 * src[t] + 1
    cuda.syncwarp()
    src[t] += cuda.atomic.add(dst, t, 5) + len(src)


def test_each_thread_may_hold_another_array(run):
    a, b = A.copy(), B.copy()
    arrays = run(odd_lanes_swap, 2, N // 2, a, b)
    for t in range(N):
        pair = [int(a[t]), int(b[t])]
        src = t % 2
        pair[1 - src] = 2 * pair[src] + 1
        pair[src] += pair[1 - src] + N
        pair[1 - src] += 5
        assert [arrays[0][t], arrays[1][t]] == pair


@alone(A + 1j, A * 2 - 3j, np.zeros(N), blocks=2, threads=N // 2)
@cuda.jit
def parts_of_complex(a, b, out):
    t = cuda.grid(1)
    if t % 3 == 0:
        a = b
    out[t] = a.real[t] + 10 * a.imag[t]


@alone(A, B, np.zeros(N, np.int64), blocks=2, threads=N // 2)
@cuda.jit
def parts_of_either(a, b, out):
    t = cuda.grid(1)
    if t % 3 == 0:
        a = b
    part = a[t // 2 :]
    out[t] = part[0] + len(part)


@cuda.jit
def records_of_two(a, b, out):
    t = cuda.grid(1)
    if t % 2:
        a = b
    out[t] = a[t].x


def test_records_of_two_arrays_are_refused_at_the_line():
    a = np.zeros(8, np.dtype([("x", np.int64)]))
    with pytest.raises(KernelError, match="another array of records for some threads") as caught:
        launch(records_of_two, 1, 8, (a, a.copy(), np.zeros(8, np.int64)))
    assert caught.value.line == line_of(records_of_two, "a = b")


@cuda.jit
def lost_in_one(a, b):
    t = cuda.grid(1)
    if t == 5:
        a = b
    a[t // 2] = t


def test_faults_name_the_array_that_the_thread_holds():
    with pytest.raises(OutOfBounds, match="out of bounds for `b`, which has 2") as caught:
        launch(lost_in_one, 1, 8, (np.zeros(8), np.zeros(2)), check=False)
    assert caught.value.thread == (5, 0, 0)
    failure(RaceError, lost_in_one, 1, 8, np.zeros(8), np.zeros(8), match=r"race on `a\[0\]`")


def test_a_trace_has_a_request_for_each_array():
    a, b = A[:32].copy(), B[:32].copy()
    recorder = Recorder()
    launch(odd_lanes_swap, 1, 32, (a, b), recorder=recorder)
    trace = recorder.trace
    rows = trace.requests.line == line_of(odd_lanes_swap, "dst[t] = 2")
    names = [trace.arrays[i].name for i in trace.requests.array[rows]]
    masks = [hex(mask) for mask in trace.requests.mask[rows].tolist()]
    assert list(zip(names, masks, strict=True)) == [
        ("a", "0x55555555"),
        ("b", "0xaaaaaaaa"),
        ("b", "0x55555555"),
        ("a", "0xaaaaaaaa"),
    ]


RNG = np.random.default_rng(3)


def test_complex64_is_rounded_where_numba_rounds_it():
    @cuda.jit
    def kernel(z, r, out):
        out[0] = z[0] * r[0]
        out[1] = z[0] * r[0] * 1

    z, r = np.array([1 / 3 + 1j], np.complex64), np.array([1 / 3], np.float32)
    out = np.zeros(2, np.complex128)
    launch(kernel, 1, 1, (z, r, out))
    assert out[0] == np.complex128(z[0] * r[0]) != np.complex128(z[0]) * np.float64(r[0])
    assert out[1] == out[0]


@alone(np.zeros(40, np.complex64), np.arange(40.0), blocks=2, threads=20)
@cuda.jit
def parts(z, out):
    i = cuda.grid(1)
    z.imag[i] = out[i]
    cuda.atomic.add(z.real, 0, 1)
    out[i] = z[i].imag * 2


@cuda.jit
def unwritten(z, out):
    i = cuda.grid(1)
    if i > 0:
        z[i] = 1j
    out[i] = z[i]


def test_unwritten_complex_numbers():
    for dtype in (np.complex64, np.complex128):
        with pytest.raises(UninitializedRead) as caught:
            launch(unwritten, 1, 8, (uninitialized(8, dtype), np.zeros(8, dtype)))
        assert caught.value.thread == (0, 0, 0)
        z = uninitialized(8, dtype)
        z[0] = 5
        launch(unwritten, 1, 8, (z, np.zeros(8, dtype)))


def test_a_trace_holds_real_parts():
    recorder, z = Recorder(), np.zeros(40, np.complex64)
    launch(parts, 1, 32, (z, np.arange(40.0)), recorder=recorder)
    trace = recorder.trace.select(array="z.imag")
    # Elements are eight bytes apart, and these are their second halves: every odd unit of four.
    assert trace.requests.index.tolist() == (2 * np.arange(32) + 1).tolist()
    assert recorder.trace.select(array="z").arrays[trace.requests.array[0]].itemsize == 4
