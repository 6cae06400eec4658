"""Encoding and decoding of a whole matrix on the GPU that searches it.

:mod:`gpukernels.all_pairs.encoding` describes the encoding, and does it on the CPU, for matrices on
the host. In a new process numba takes 0.4 s to make its first loop for the CPU ready. On the device
there is no such loop, and no pass over the matrix on the host.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda
from numpy.typing import NDArray

from gpukernels.device import CudaDevice, Device, DeviceArray, benign_race
from gpukernels.primitives.launch_shape import FULL_MASK, THREADS, WARP_SIZE, blocks_for

from .encoding import SMALL, Range, absent_of, none_in


def is_encoded_on(device: Device | None, n: int) -> bool:
    """Return whether a matrix of n rows is encoded on `device`: on a GPU that has room.

    Besides this matrix, there may be one with padding, and a method may need three more.
    """
    return isinstance(device, CudaDevice) and SMALL < n**2 <= device.free_bytes() // 20


@benign_race("beyond")
@cuda.jit
def encode_rows(rows, zero, absent, none, least, most, beyond):
    """Write `absent` in place of longer lengths and `zero` on the diagonal; one warp per row.

    ``least[i]`` and ``most[i]`` get the least and the longest arc of row i, or 0. ``beyond[0]``
    becomes 1 if a length is neither shorter than `absent` nor `none`; all stores write the same.
    """
    thread = cuda.grid(1)
    row, lane = thread // 32, thread % 32
    if row >= rows.shape[0]:
        return
    low = high = zero
    for column in range(lane, rows.shape[1], 32):
        length = rows[row, column]
        if column == row:
            rows[row, column] = zero
        elif length < absent:
            low = min(low, length)
            high = max(high, length)
        else:
            rows[row, column] = absent
            if length != none:
                beyond[0] = 1
    apart = 16
    while apart > 0:
        low = min(low, cuda.shfl_xor_sync(FULL_MASK, low, apart))
        high = max(high, cuda.shfl_xor_sync(FULL_MASK, high, apart))
        apart //= 2
    if lane == 0:
        least[row], most[row] = low, high


@cuda.jit
def copy_padded(rows, padded, zero, absent):
    """Copy `rows` to the beginning of `padded`, to whose other vertices no arc leads."""
    column, row = cuda.grid(2)
    if row >= padded.shape[0] or column >= padded.shape[1]:
        return
    if row < rows.shape[0] and column < rows.shape[1]:
        padded[row, column] = rows[row, column]
    elif row == column:
        padded[row, column] = zero
    else:
        padded[row, column] = absent


@cuda.jit
def copy_decoded(padded, distance, infinite, none):
    """Copy the beginning of `padded` to `distance`, with `none` where it is at least `infinite`."""
    column, row = cuda.grid(2)
    if row < distance.shape[0] and column < distance.shape[1]:
        length = padded[row, column]
        distance[row, column] = length if length < infinite else none


def encoded_on(device: Device, raw: NDArray) -> tuple[DeviceArray, Range]:
    """Return a matrix on the device as kernels take it, and its range, as `encoded` does."""
    kind, n = raw.dtype.type, len(raw)
    rows = device.array(raw)
    least, most = (device.empty(n, raw.dtype) for _ in range(2))
    beyond = device.full(1, 0, np.int32)
    known = kind(0), kind(absent_of(raw.dtype)), none_in(raw)
    blocks = blocks_for(WARP_SIZE * n)
    device.launch(encode_rows, blocks, THREADS, rows, *known, least, most, beyond)
    # Python's own numbers do not wrap around.
    ends = (sum(device.read(of_rows).tolist()) for of_rows in (least, most))
    return rows, Range(*ends, bool(device.read(beyond)[0]))


def padded_on(device: Device, rows: DeviceArray, size: int, absent: Any) -> DeviceArray:
    """Return such a matrix in one of `size` rows and columns: itself if it has them."""
    if len(rows) == size:
        return rows
    padded, kind = device.empty((size, size), rows.dtype), rows.dtype.type
    device.launch(copy_padded, *_squares(size), rows, padded, kind(0), kind(absent))
    return padded


def decoded_on(device: Device, padded: DeviceArray, n: int, infinite: Any) -> DeviceArray:
    """Return the first n rows and columns, in which no path has the length that users see."""
    whole = padded.dtype.kind == "i"
    if len(padded) == n and not whole:
        return padded
    distance = padded if len(padded) == n else device.empty((n, n), padded.dtype)
    limit = padded.dtype.type(infinite)
    device.launch(copy_decoded, *_squares(n), padded, distance, limit, none_in(padded))
    return distance


def _squares(size: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the blocks, and their threads, of a launch with one thread per element."""
    return (blocks_for(size, 32), blocks_for(size, 8)), (32, 8)
