"""The lengths of all arcs as a matrix, in which infinity is a number that sums cannot wrap around.

Kernels add without asking what is infinite. In float32 that is right by itself. In int32 the 2^31 -
1 that users see would wrap, so on the device *absent* is 2^30 - 1: twice it still fits. In int64,
which only one or all cores of the CPU use, all of this holds with 2^63 and 2^62. Three
things follow, where *fall* is what negative weights can add up to along a path.

- An absent arc with negative ones behind it weighs less than `ABSENT`, by no more than the fall. So
  what is at least ``ABSENT - fall`` is infinite, and all below is a path's true length.
- Sums of two are at least twice the fall below 0. It may be 2^29 at most.
- A path of ``ABSENT - fall`` and more looks infinite. If weights allow one, the same method runs
  once more with all weights 0: a pair that it joins and that looked infinite is an error.

Both hold for walks that repeat no vertex. Negative cycles would break this, so every kernel stops
at the first: see ``close_tile`` and ``relax_pivot``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpukernels.checks import as_array, as_numbers
from gpukernels.cores.compiled import compiled
from gpukernels.cores.slabs import copy, on_all_cores
from gpukernels.errors import InvalidArgument, NegativeCycleError
from gpukernels.graphs.graph import DENSE_LIMIT, Graph, no_arc, weight_type
from gpukernels.graphs.kernel_weights import Rounding, in_32_bits, kernel_graph, rounding_of

#: What int32 results hold for no path, and int32 matrices for no arc.
UNREACHED = np.iinfo(np.int32).max
#: What stands for it on the device.
ABSENT = 2**30 - 1
MOST_FALL = 2**29
FLOAT32_MAX = float(np.finfo(np.float32).max)


@dataclass(frozen=True, eq=False)
class Lengths:
    """Arc lengths of all pairs as kernels take them, or, of 64 bits, as the CPU does.

    Attributes
    ----------
    matrix : ndarray of int32, int64, float32 or float64, shape (n, n)
        `absent` where there is no arc, 0 from a vertex to itself.
    infinite : int or float
        What is at least this long is no path.
    too_long : bool
        Whether a path may be longer than can be held.
    given : Graph or ndarray
        The graph or matrix of the caller, in the type of `matrix`.
    rounding : Rounding, optional
        The changes by rounding, if the caller's lengths were float64 and these are not.
    """

    matrix: NDArray[Any]
    infinite: float
    too_long: bool
    given: Graph | NDArray = field(repr=False)
    rounding: Rounding | None = None

    @property
    def n(self) -> int:
        """Number of vertices."""
        return len(self.matrix)

    @property
    def absent(self) -> float:
        """What stands for no arc."""
        return absent_of(self.matrix.dtype)

    def padded(self, tile: int) -> NDArray:
        """Return a matrix whose size is a multiple of `tile`: this one if it is.

        What is added are vertices without arcs: no path leads there, so none goes through them, and
        kernels need not ask where the matrix ends.
        """
        size = -(-self.n // tile) * tile
        if size == self.n:
            return self.matrix
        result = np.empty((size, size), self.matrix.dtype)
        copy(self.matrix, result[: self.n, : self.n])
        result[: self.n, self.n :] = result[self.n :] = self.absent
        np.fill_diagonal(result, 0)
        return result

    def pattern(self) -> Lengths:
        """Return the same arcs, all of length 0: which pairs are joined at all."""
        g = self.graph()
        matrix = np.full(self.matrix.shape, ABSENT, np.int32)
        matrix[g.coo] = 0
        np.fill_diagonal(matrix, 0)
        flat = Graph(g.offsets, g.targets, np.zeros(g.m, np.int32))
        return Lengths(matrix, ABSENT, False, flat)

    def graph(self) -> Graph:
        """Return the arcs as a graph."""
        return graph_of(self.given)


def graph_of(given: Graph | NDArray) -> Graph:
    """Return the arcs of a graph, or of a matrix, as a graph."""
    if isinstance(given, Graph):
        return given
    there = given != no_arc(given.dtype)
    np.fill_diagonal(there, False)
    source, target = np.nonzero(there)
    return Graph.from_arcs(len(given), source, target, given[source, target])


def absent_of(dtype: Any) -> float:
    """Return the length of an absent arc while sums are formed."""
    return no_arc(dtype) // 2 if np.issubdtype(dtype, np.integer) else np.inf


def none_in(matrix: Any) -> Any:
    """Return what users see in place of infinity, in the type of a matrix."""
    return matrix.dtype.type(no_arc(matrix.dtype))


def lengths_of(g: Graph | ArrayLike, kernels: bool = True) -> Lengths:
    """Return the lengths of a graph's arcs, or of a matrix: as `kernels` take them, or as given.

    Of parallel arcs the shortest counts. An arc from a vertex to itself counts if it is negative.

    Raises
    ------
    InvalidArgument
        If `g` is neither, or too large, or its negative weights add up to too much, or kernels
        cannot take a length.
    NegativeCycleError
        If a vertex has a negative arc to itself.
    """
    if isinstance(g, Graph):
        rounding = rounding_of(g) if kernels else None
        seen = kernel_graph(g) if kernels else g
        given: Graph | NDArray = seen
        matrix = seen.dense(no_arc(weight_type(seen)))
        with_loop = np.flatnonzero(matrix.diagonal() < 0)
        if with_loop.size:
            raise NegativeCycleError(with_loop[:1].tolist())
    else:
        wide = checked_shape("g", g)
        check_square("g", wide.shape)
        given = matrix = checked_rows("g", wide, row_type(wide.dtype, kernels))
        check_diagonal("g", matrix)
        rounding = rounding_of(wide) if kernels else None
    held, range_ = encoded(matrix)
    return Lengths(held, *limits(matrix.dtype, range_, given), given, rounding)


def checked_matrix(name: str, values: ArrayLike) -> NDArray:
    """Return a matrix as int32 or float32; InvalidArgument unless it holds such lengths."""
    array = checked_shape(name, values)
    return checked_rows(name, array, row_type(array.dtype, True))


def row_type(dtype: np.dtype, kernels: bool) -> np.dtype:
    """Return the type of rows of a matrix of that type: of 4 bytes for kernels, or as it is."""
    kept = as_numbers("dtype", np.empty(0, dtype)).dtype
    return np.dtype(f"{kept.kind}{4 if kernels else kept.itemsize}")


def checked_shape(name: str, values: ArrayLike, limit: int = DENSE_LIMIT) -> NDArray:
    """Return a matrix of numbers, with one of the types of a graph's weights.

    Raises
    ------
    InvalidArgument
        Unless it has at most `limit` rows and columns.
    """
    array = as_array(name, values)
    if array.dtype.kind not in "iuf":
        allowed = "a matrix of an integer or float type" + (", or a Graph" if name == "g" else "")
        raise InvalidArgument(name, values, allowed)
    if array.ndim != 2 or max(array.shape) > limit:
        allowed = f"2-D, of at most {limit:,} rows and columns"
        raise InvalidArgument(f"{name}.shape", array.shape, allowed)
    # Shorter types are converted some rows at a time, for a memory map may be large.
    short = hasattr(values, "dtype") and array.itemsize <= 4
    return array if short else as_numbers(name, values)


def check_square(name: str, shape: tuple[int, ...]) -> None:
    """Raise InvalidArgument unless the matrix has as many rows as columns."""
    if shape[0] != shape[1]:
        raise InvalidArgument(f"{name}.shape", shape, f"square, or {name} a Graph")


def check_diagonal(name: str, array: NDArray, first: int = 0) -> None:
    """Raise InvalidArgument unless the diagonal, of rows from `first` on, is 0."""
    diagonal = array.diagonal(first)
    if diagonal.any():
        at = int(np.argmax(diagonal != 0))
        allowed = "0, as every diagonal element of a matrix of arc lengths"
        raise InvalidArgument(f"{name}[{first + at}, {first + at}]", diagonal[at].item(), allowed)


def checked_rows(name: str, array: NDArray, dtype: np.dtype, first: int = 0) -> NDArray:
    """Return rows, the first of which is number `first`, in a type of `row_type`.

    Raises
    ------
    InvalidArgument
        If an element is no length, or kernels cannot take it.
    """
    if array.dtype == dtype and dtype.kind == "i":
        return array  # whatever it holds is allowed
    result = np.empty(array.shape, dtype)

    def check(begin: int, end: int) -> None:
        result[begin:end] = _checked(name, array[begin:end], dtype, first + begin)

    on_all_cores(check, array.shape)
    return result


def _checked(name: str, array: NDArray, dtype: np.dtype, first: int) -> NDArray:
    """Return such rows, few enough for a cache."""
    result = array = as_numbers(name, array)
    wrong, allowed = np.zeros(array.shape, bool), "a length"
    if dtype != array.dtype:
        result, wrong, allowed = in_32_bits(array)
    if dtype.kind == "f":
        wrong |= np.isnan(array) | (array == -np.inf)
        allowed += "; infinity where there is no arc"
    else:
        none = array == no_arc(array.dtype)
        result, wrong = np.where(none, no_arc(dtype), result), wrong & ~none
        allowed += f"; {no_arc(array.dtype)} where there is no arc"
    if wrong.any():
        i, j = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        raise InvalidArgument(f"{name}[{first + i}, {j}]", array[i, j].item(), allowed)
    return result


class Range(NamedTuple):
    """How far lengths of paths may reach.

    Attributes
    ----------
    least, most : int or float
        What the least, and the longest, arcs of all vertices add up to: a path leaves each vertex
        once at most.
    beyond : bool
        Whether an arc is as long as what stands for none.
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

    def encode(begin: int, end: int) -> Range:
        part = rows[begin:end], held[begin:end], first + begin
        return Range(*_encode(*part, *known, total, most))

    parts = on_all_cores(encode, rows.shape, one_pass=True)
    least, most = (sum(getattr(part, end) for part in parts) for end in ("least", "most"))
    return held, Range(least, most, any(part.beyond for part in parts))


@compiled(nogil=True)
def _encode(given, held, diagonal, absent, none, zero, limit):
    """Fill `held`; return what the least and the longest arcs of rows add up to, from `zero` on.

    Sums end at `limit`. And whether an arc is longer than `absent`, yet not `none`. In the first
    row, `diagonal` is the column of a vertex itself.
    """
    least_of_all, most_of_all, beyond = zero, zero, False
    for i in range(len(given)):
        least = most = given.dtype.type(0)
        for begin, end in ((0, diagonal + i), (diagonal + i + 1, given.shape[1])):
            row, out = given[i, begin:end], held[i, begin:end]
            for j in range(len(row)):
                length = row[j]
                there = length < absent
                beyond |= not there and length != none
                out[j] = length if there else absent
                least = length if length < least else least
                most = length if there and length > most else most
        held[i, diagonal + i] = 0
        least_of_all = max(least_of_all + max(zero + least, -limit), -limit)
        most_of_all = min(most_of_all + min(zero + most, limit), limit)
    return least_of_all, most_of_all, beyond


def limits(dtype: np.dtype, range_: Range, given: Graph | NDArray) -> tuple[float, bool]:
    """Return what counts as infinite, and whether paths may be longer than can be held.

    Raises
    ------
    InvalidArgument
        If negative weights add up to too much.
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
    if whole and isinstance(given, Graph) and given.weights is not None:
        beyond = beyond or bool((given.weights == no_arc(dtype)).any())
    return infinite, beyond or range_.most >= min(infinite, limit)
