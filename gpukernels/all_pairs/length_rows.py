"""The lengths of all arcs some rows at a time, so that the whole matrix is never in memory twice.

What `lengths` says of infinity holds here, too: one pass over all rows checks them and finds what
counts as infinite (of a sparse graph, one over its arcs); each later pass makes them again from the
graph, or from the array given.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpukernels.cores.slabs import slabs_of
from gpukernels.errors import NegativeCycleError
from gpukernels.graphs.graph import Graph, arc_weights, no_arc, weight_type
from gpukernels.graphs.kernel_weights import Rounding, kernel_graph, rounding_of

from .lengths import (
    ABSENT,
    Range,
    absent_of,
    check_diagonal,
    check_square,
    checked_rows,
    checked_shape,
    encoded,
    graph_of,
    limits,
    none_in,
    row_type,
)

#: More rows than this no index of the kernels could tell apart.
MOST_ROWS = 2**31 - 1
#: A graph of so many times fewer arcs than elements of its matrix is looked at arc by arc, which
#: takes some arrays of as many elements as there are arcs.
SPARSE = 8


@dataclass(frozen=True, eq=False)
class LengthRows:
    """Arc lengths of all pairs, made when they are asked for.

    Attributes
    ----------
    n : int
        Number of vertices.
    held : dtype
        Type of the arcs: int32 or float32 for kernels, otherwise also int64 or float64.
    infinite : int or float
        What is at least this long is no path.
    too_long : bool
        Whether a path may be longer than can be held.
    given : Graph or ndarray
        The graph, in this type, or the matrix of the caller.
    rounding : Rounding, optional
        The changes by rounding, if the caller's lengths were float64 and these are not.
    flat : bool
        Whether all arcs count 0.
    """

    n: int
    held: np.dtype
    infinite: float
    too_long: bool
    given: Graph | NDArray = field(repr=False)
    rounding: Rounding | None = None
    flat: bool = False

    @property
    def dtype(self) -> np.dtype:
        """The type of the rows."""
        return np.dtype(np.int32) if self.flat else self.held

    @property
    def absent(self) -> float:
        """What stands for no arc."""
        return absent_of(self.dtype)

    def rows(self, first: int, last: int) -> NDArray:
        """Return rows `first` to `last` as kernels take them."""
        if not self.flat:
            return encoded(_raw(self.given, self.held, first, last), first)[0]
        if isinstance(self.given, Graph):
            result = _arcs(self.given, first, last, ABSENT, np.int32(0))
        else:
            rows = _raw(self.given, self.held, first, last)
            result = np.where(rows != none_in(rows), np.int32(0), np.int32(ABSENT))
        np.fill_diagonal(result[:, first:], 0)
        return result

    def slabs(self) -> Iterator[tuple[int, int]]:
        """Return the first row and the end of all rows, some at a time."""
        return slabs_of(self.n)

    def pattern(self) -> LengthRows:
        """Return the same arcs, all of length 0: which pairs are joined at all."""
        return replace(self, infinite=ABSENT, too_long=False, flat=True)

    def graph(self) -> Graph:
        """Return the arcs as a graph, for which all of them have to be in memory."""
        if isinstance(self.given, Graph):
            return self.given
        return graph_of(_raw(self.given, self.held, 0, self.n))


def length_rows_of(g: Graph | ArrayLike, kernels: bool = True) -> LengthRows:
    """Return the lengths of a graph's arcs, or of a matrix, after a look at all of them.

    They are as `kernels` take them, or as given.

    Raises
    ------
    InvalidArgument, NegativeCycleError
        As `lengths_of` does, but for a matrix too large.
    """
    given: Graph | NDArray
    if isinstance(g, Graph):
        rounding = rounding_of(g) if kernels else None
        given = g = kernel_graph(g) if kernels else g
        n, dtype = g.n, weight_type(g)
        loops = g.coo[0] == g.coo[1]
        if g.weights is not None and (loops & (g.weights < 0)).any():
            raise NegativeCycleError([int(g.coo[0][np.argmax(loops & (g.weights < 0))])])
    else:
        given = checked_shape("g", g, MOST_ROWS)
        check_square("g", given.shape)
        n, dtype = len(given), row_type(given.dtype, kernels)
    sparse = isinstance(given, Graph) and SPARSE * given.m <= n * n
    found = range_of_arcs(given) if sparse else range_of_rows(given, dtype)
    if not isinstance(given, Graph):
        rounding = rounding_of(given) if kernels else None
    return LengthRows(n, dtype, *limits(dtype, found, given), given, rounding)


def range_of_rows(given: Graph | NDArray, dtype: np.dtype | None = None) -> Range:
    """Return how far lengths may reach, after a look at all rows."""
    found = Range(0, 0, False)
    for first, last in slabs_of(given.n if isinstance(given, Graph) else len(given)):
        part = encoded(_raw(given, dtype, first, last), first)[1]
        beyond = found.beyond or part.beyond
        found = Range(found.least + part.least, found.most + part.most, beyond)
    return found


def range_of_arcs(g: Graph) -> Range:
    """Return the same of a graph, after a look at its arcs alone."""
    source, target = g.coo
    weights = arc_weights(g)
    order = np.lexsort((weights, target, source))
    source, target, weights = source[order], target[order], weights[order]
    shortest = np.ones(g.m, bool)  # of parallel arcs
    shortest[1:] = (source[1:] != source[:-1]) | (target[1:] != target[:-1])
    source, target, weights = source[shortest], target[shortest], weights[shortest]
    whole, there = weights.dtype.kind == "i", weights < absent_of(weights.dtype)
    away = source != target
    beyond = whole and bool((~there & away & (weights != none_in(weights))).any())
    counted = np.where(there & away, weights, 0)
    total = np.int64 if whole else np.float64
    least, most = np.zeros(g.n, total), np.zeros(g.n, total)
    np.minimum.at(least, source, counted)
    np.maximum.at(most, source, counted)
    return Range(_sum(least), _sum(most), beyond)


def _sum(lengths: NDArray) -> float:
    """Return the sum, which int64 may not hold."""
    return sum(lengths.tolist()) if lengths.dtype == np.int64 else lengths.sum().item()


def _raw(given: Graph | NDArray, dtype: np.dtype | None, first: int, last: int) -> NDArray:
    """Return rows with `no_arc` for absent arcs; rows of a matrix are checked, and of `dtype`."""
    if isinstance(given, Graph):
        weights = np.int32(1) if given.weights is None else given.weights
        return _arcs(given, first, last, no_arc(weights.dtype), weights)
    assert dtype is not None
    rows = checked_rows("g", given[first:last], dtype, first)
    check_diagonal("g", rows, first)
    return rows


def _arcs(g: Graph, first: int, last: int, none: float, weights: NDArray | np.int32) -> NDArray:
    """Return rows of the matrix of a graph: the shortest arc of each pair, else `none`."""
    begin, end = int(g.offsets[first]), int(g.offsets[last])
    result = np.full((last - first, g.n), none, weights.dtype)
    source = np.repeat(np.arange(last - first), np.diff(g.offsets[first : last + 1]))
    of_arcs = weights if weights.ndim == 0 else weights[begin:end]
    np.minimum.at(result, (source, g.targets[begin:end]), of_arcs)
    return result
