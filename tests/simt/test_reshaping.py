"""Arrays in another shape or type, stores to many elements, and indices from the end."""

from __future__ import annotations

import numpy as np
import pytest
from launching import launched, line_of
from numba import cuda, float32, int32
from thread_by_thread import alone

from gpukernels.simt import Recorder, launch
from gpukernels.simt.errors import (
    KernelError,
    OutOfBounds,
    RaceError,
)

N = 12


M = np.arange(12).reshape(3, 4)


@alone(M, np.zeros((N, 8), int))
@cuda.jit
def shapes(m, out):
    i = cuda.grid(1)
    turned = m.T
    out[i, 0] = turned[i % 4, i % 3] + 100 * turned.shape[0]
    table = m.reshape(2, -1)
    out[i, 1] = table[i % 2, i % 6] + 100 * table.shape[1]
    out[i, 2] = m.reshape((4, 3))[i % 4, i % 3] + m.reshape(-1)[i] + m.transpose()[0, 1]
    for x in m.flat:
        out[i, 3] += x
    out[i, 4] = m.flat[i] + len(m.flat) + m[1].reshape(2, 2)[1, 0]
    out[i, 5] = m.itemsize + 100 * m.nbytes + 10_000 * m[1:].nbytes
    rows = m.shape[0]
    out[i, 6] = m.reshape(rows * 2, 2)[5, 1]
    out[i, 7] = m[..., 1][2] + m[1, ...][0] + m.T[..., 0][3]


@alone(M, np.zeros(12, int))
@cuda.jit
def stored_through(m, out):
    i = cuda.grid(1)
    if i < 12:
        m.T[i % 4, i // 4] += 100
        out.reshape(3, 4)[i // 4, i % 4] = i
        m.flat[i] *= 2


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
    a = np.linspace(-2, 3, N).astype(np.float32)
    b = np.linspace(1, 2, N)
    _, later, out = launched(scheduled_device, bits, 1, N, a, b, np.zeros((N, 4), np.int64))
    words = a.view(np.int32).astype(np.int64)
    np.testing.assert_array_equal(out[:, 0], words)
    np.testing.assert_array_equal(out[:, 1], (words - b.view(np.int64)))
    np.testing.assert_array_equal(out[:, 2:], [[1, 0x3F800000]] * N)
    np.testing.assert_array_equal(later, np.nextafter(b, 9))


@alone(np.zeros(N, int), np.zeros((3, 4)), np.zeros((2, 2, 3)), np.zeros((N, 6), int))
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


@alone(np.zeros(24, int), threads=5)
@cuda.jit
def each_fills(a):
    i = cuda.grid(1)
    own = cuda.local.array((2, 3), int32)
    own[:] = i
    own[1, :2] = 7
    a[4 * i : 4 * i + i] = own[0, 1] + own[1, 1]


@cuda.jit
def all_fill(a):
    a[:] = cuda.grid(1)


def test_a_fill_is_a_store_an_element_and_may_race():
    recorder = Recorder()
    launch(all_fill, 1, 1, (np.ones(5),), recorder=recorder)
    assert recorder.trace.requests.index.tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(RaceError):
        launch(all_fill, 1, 2, (np.ones(5),))


@alone(np.arange(12) + 3, M, np.zeros((N, 3), int))
@cuda.jit
def from_the_end(a, m, out):
    i = cuda.grid(1)
    out[i, 0] = a[-1] + 10 * a[-2] + 100 * a[i:][-1]
    out[i, 1] = m[-1, -2] + 10 * m[-1][1] + 100 * m[:, -1][0] + 1000 * m[i % 3, -1]
    out[i, -1] = i
    if i == 0:
        a[-3] = 5
    cuda.atomic.add(m, (-2, 0), 1)


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


@alone(np.array(4.5), np.zeros(3))
@cuda.jit
def one_number(x, out):
    out[cuda.grid(1)] = x[()]


@alone(np.array(4), threads=1)
@cuda.jit
def written_to(x):
    x[()] += 3


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
