"""Lengths of arcs as kernels take them: infinity is a number that sums cannot wrap around.

Kernels add without a test for infinity. In float32 that is right by itself. In int32 the 2^31 - 1
that users see would wrap, so on the device *absent* is 2^30 - 1: twice this number still fits. In
int64, which only one or all cores of the CPU use, all of this holds with 2^63 and 2^62. Three
things follow. The *fall* is the most by which negative weights can lower a path.

- An absent arc with negative ones behind it weighs less than `ABSENT`, by no more than the fall. So
  a length of at least ``ABSENT - fall`` is infinite, and a smaller one is a path's true length.
- Sums of two are at least twice the fall below 0. It may be 2^29 at most.
- A path of ``ABSENT - fall`` and more looks infinite. If weights allow one, the same method runs
  once more with all weights 0: a pair that it joins and that looked infinite is an error.

Both hold for walks that repeat no vertex. Negative cycles would break this, so every kernel stops
at the first: see ``close_tile`` and ``relax_pivot``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpukernels.cores.compiled import compiled
from gpukernels.cores.slabs import copy, on_all_cores
from gpukernels.errors import InvalidArgument
from gpukernels.graphs.graph import Graph, no_arc

#: The value of int32 results for no path, and of int32 matrices for no arc.
UNREACHED = np.iinfo(np.int32).max
#: The value for no path or no arc on the device.
ABSENT = 2**30 - 1
MOST_FALL = 2**29
#: NumPy reads matrices up to so many elements: numba takes 0.36 s to make the first loop of a
#: process ready, kept code or not, and is 0.1 to 0.4 ms faster afterwards.
SMALL = 1 << 16
FLOAT32_MAX = float(np.finfo(np.float32).max)


def absent_of(dtype: Any) -> float:
    """Return the length of an absent arc while sums are formed."""
    return no_arc(dtype) // 2 if np.issubdtype(dtype, np.integer) else np.inf


def none_in(matrix: Any) -> Any:
    """Return what users see in place of infinity, in the type of a matrix."""
    return matrix.dtype.type(no_arc(matrix.dtype))


def absent_in(matrix: NDArray) -> Any:
    """Return the value for infinity while sums are formed, in the type of a matrix."""
    return matrix.dtype.type(absent_of(matrix.dtype))


def padded(matrix: NDArray, shape: tuple[int, int], *, diagonal: bool = False) -> NDArray:
    """Return a matrix as `fill_padded` does; itself if it is as large."""
    if matrix.shape == shape:
        return matrix
    whole = np.empty(shape, matrix.dtype)
    return fill_padded(whole, matrix, absent_in(matrix), diagonal=diagonal)


def fill_padded(block: NDArray, part: NDArray, absent: Any, *, diagonal: bool) -> NDArray:
    """Copy `part` to the beginning of `block`, and return `block`; no arc leads to its padding.

    So no path goes through it, and kernels need not test where the matrix ends. Vertices on the
    `diagonal` are 0 from themselves.
    """
    high, wide = part.shape
    copy(part, block[:high, :wide])
    block[high:] = absent
    block[:high, wide:] = absent
    if diagonal:
        np.fill_diagonal(block[high:, wide:], 0)
    return block


class Range(NamedTuple):
    """How far lengths of paths may reach: a path leaves each vertex once at most.

    The least, and the longest, arcs of all vertices add up to `least` and `most`. An arc may be
    `beyond`: as long as infinity is while sums are formed.
    """

    least: float
    most: float
    beyond: bool


def encoded(rows: NDArray, first: int = 0) -> tuple[NDArray, Range]:
    """Return rows of a matrix, from number `first` on, as kernels take them, and their range."""
    kind, held = rows.dtype.type, np.empty(rows.shape, rows.dtype)
    whole = rows.dtype.kind == "i"
    # No sum of two of these wraps around, and each alone is more than `limits` allows.
    total, most = (np.int64(0), np.int64(2**62)) if whole else (np.float64(0), np.float64(np.inf))
    known = kind(absent_of(rows.dtype)), none_in(rows)
    by = _encode_small if rows.size <= SMALL else _encode

    def encode(begin: int, end: int) -> Range:
        part = rows[begin:end], held[begin:end], first + begin
        return Range(*by(*part, *known, total, most))

    parts = on_all_cores(encode, rows.shape, one_pass=True)
    least, most = (sum(getattr(part, end) for part in parts) for end in ("least", "most"))
    return held, Range(least, most, any(part.beyond for part in parts))


@compiled(nogil=True)
def _encode(rows, held, diagonal, absent, none, zero, limit):
    """Fill `held`; return what the least and the longest arcs of rows add up to, from `zero` on.

    Sums end at `limit`. And whether an arc is longer than `absent`, yet not `none`. In the first
    row, `diagonal` is the column of a vertex itself.
    """
    least_of_all, most_of_all, beyond = zero, zero, False
    for i in range(len(rows)):
        least = most = rows.dtype.type(0)
        for begin, end in ((0, diagonal + i), (diagonal + i + 1, rows.shape[1])):
            row, out = rows[i, begin:end], held[i, begin:end]
            for j in range(len(row)):
                length = row[j]
                has_arc = length < absent
                beyond |= not has_arc and length != none
                out[j] = length if has_arc else absent
                least = length if length < least else least
                most = length if has_arc and length > most else most
        held[i, diagonal + i] = 0
        least_of_all = max(least_of_all + max(zero + least, -limit), -limit)
        most_of_all = min(most_of_all + min(zero + most, limit), limit)
    return least_of_all, most_of_all, beyond


def _encode_small(rows, held, diagonal, absent, none, zero, limit):
    """Do the same, in a few operations of NumPy."""
    np.minimum(rows, absent, out=held)
    itself = np.arange(len(rows))
    held[itself, diagonal + itself] = 0
    far = held >= absent
    beyond = bool((far & (rows != none)).any())
    least = held.min(axis=1, initial=0)
    most = np.where(far, zero.astype(held.dtype), held).max(axis=1, initial=0)
    # Python's own numbers do not wrap around.
    return max(sum(least.tolist()), -limit), min(sum(most.tolist()), limit), beyond


def limits(dtype: np.dtype, range_: Range, lengths: Graph | NDArray) -> tuple[float, bool]:
    """Return the least infinite length, and whether paths may be longer than the type can hold.

    InvalidArgument if negative weights add up to too much.
    """
    whole, least, absent = dtype.kind == "i", range_.least, absent_of(dtype)
    fall: float
    limit: float
    if whole:
        fall, limit = MOST_FALL << 8 * (dtype.itemsize - 4), absent
    else:
        fall, limit = (float(np.finfo(dtype).max) / by for by in (4, 2))
    if -least > fall:
        instead = "; take float32 weights" if dtype == np.int32 else ""
        allowed = f"at least {-fall:,} (the least weight of each vertex's arcs counts){instead}"
        raise InvalidArgument("the sum of g's negative weights", least, allowed)
    infinite = absent + least if whole else np.inf
    # A weight beyond `absent` counts as none, and is looked at again.
    beyond = range_.beyond
    if whole and isinstance(lengths, Graph) and lengths.weights is not None:
        beyond = beyond or bool((lengths.weights == no_arc(dtype)).any())
    return infinite, beyond or range_.most >= min(infinite, limit)
