"""The lengths of all arcs: as a whole matrix, or some rows at a time where it has no room.

One pass over all rows checks them and finds what counts as infinite (of a sparse graph, one over
its arcs). A whole matrix is kept from that pass; rows are made again whenever they are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukernels.cores.slabs import slabs_of
from gpukernels.device import Device, DeviceArray
from gpukernels.errors import NegativeCycleError
from gpukernels.graphs.graph import Graph, arc_weights, no_arc, weight_type
from gpukernels.graphs.kernel_weights import Rounding, kernel_graph, rounding_of

from .encode_on_device import encoded_on, is_encoded_on
from .encoding import ABSENT, Range, absent_of, encoded, limits, none_in, padded
from .matrix_checks import check_diagonal, check_size, checked_rows, checked_square, row_type

#: More rows than this no index of the kernels could tell apart.
MOST_ROWS = 2**31 - 1
#: A graph of so many times fewer arcs than elements of its matrix is looked at arc by arc, which
#: takes some arrays of as many elements as there are arcs.
SPARSE = 8


@dataclass(frozen=True, eq=False)
class Lengths:
    """Arc lengths of all pairs in the types of the kernels, or in 64 bits as the CPU takes them.

    Their type is `held`. They are made from `given`: a graph of this type, or the caller's matrix.
    All of them count 0 if `flat`. A length of at least `infinite` is no path, and a path may be
    `too_long` for the type. `rounding` has the changes if float64 lengths were rounded. `whole`
    has all rows if they are in memory, and `resident` has them if they are on the device.
    """

    n: int
    held: np.dtype
    infinite: float
    too_long: bool
    given: Graph | NDArray = field(repr=False)
    rounding: Rounding | None = None
    flat: bool = False
    whole: NDArray[Any] | None = field(default=None, repr=False)
    resident: DeviceArray | None = field(default=None, repr=False)

    @property
    def dtype(self) -> np.dtype:
        """The type of the rows."""
        return np.dtype(np.int32) if self.flat else self.held

    @property
    def absent(self) -> float:
        """The length that means no arc."""
        return absent_of(self.dtype)

    @property
    def matrix(self) -> NDArray[Any]:
        """All rows: `absent` where there is no arc, 0 from a vertex to itself."""
        return self.rows(0, self.n)

    def rows(self, first: int, last: int) -> NDArray[Any]:
        """Return rows `first` to `last` as kernels take them."""
        if self.whole is not None:
            return self.whole[first:last]
        if not self.flat:
            return encoded(_raw(self.given, self.held, first, last), first)[0]
        if isinstance(self.given, Graph):
            result = _arcs(self.given, first, last, ABSENT, np.int32(0))
        else:
            rows = _raw(self.given, self.held, first, last)
            result = np.where(rows != none_in(rows), np.int32(0), np.int32(ABSENT))
        np.fill_diagonal(result[:, first:], 0)
        return result

    def padded(self, tile: int) -> NDArray[Any]:
        """Return a matrix whose size is a multiple of `tile`: this one if it is."""
        size = -(-self.n // tile) * tile
        return padded(self.matrix, (size, size), diagonal=True)

    def pattern(self) -> Lengths:
        """Return the same arcs, all of length 0: which pairs are joined at all."""
        flat = replace(self, infinite=ABSENT, too_long=False, flat=True, whole=None, resident=None)
        return flat if self.whole is None else replace(flat, whole=flat.matrix)

    def graph(self) -> Graph:
        """Return the arcs as a graph, for which all of them have to be in memory."""
        source = self.given
        g = source if isinstance(source, Graph) else graph_of(_raw(source, self.held, 0, self.n))
        return Graph(g.offsets, g.targets, np.zeros(g.m, np.int32)) if self.flat else g


def graph_of(rows: NDArray) -> Graph:
    """Return the arcs of a matrix as a graph."""
    is_arc = rows != no_arc(rows.dtype)
    np.fill_diagonal(is_arc, False)
    source, target = np.nonzero(is_arc)
    return Graph.from_arcs(len(rows), source, target, rows[source, target])


def checked_source(g: Any) -> Graph | NDArray:
    """Return a graph, or a square matrix of numbers; InvalidArgument if `g` is neither."""
    return g if isinstance(g, Graph) else checked_square("g", g, MOST_ROWS)


def vertices_of(g: Graph | NDArray) -> int:
    """Return the number of vertices of a graph or a matrix."""
    return g.n if isinstance(g, Graph) else len(g)


def lengths_of(
    g: Graph | NDArray, *, kernels: bool = True, whole: bool = True, device: Device | None = None
) -> Lengths:
    """Return the lengths of a graph's arcs, or of a matrix, after a look at all of them.

    They are as `kernels` take them, or as given. Of parallel arcs the shortest counts. An arc from
    a vertex to itself counts if negative. The `whole` matrix is kept in memory, or on a GPU that is
    given as `device` and has room, or it is made some rows at a time.

    InvalidArgument if `g` is too large for a whole matrix, or its negative weights add up to too
    much, or kernels cannot take a length; NegativeCycleError if a vertex has a negative arc to
    itself.
    """
    source: Graph | NDArray
    if isinstance(g, Graph):
        source = kernel_graph(g) if kernels else g
        n, dtype = source.n, weight_type(source)
        raw = source.dense(no_arc(dtype)) if whole else None
        check_loops(source)
    else:
        source, n, dtype = g, len(g), row_type(g.dtype, kernels)
        if whole:
            check_size("g", source)
        raw = _raw(source, dtype, 0, n) if whole else None
    matrix = resident = None
    if raw is not None and device is not None and is_encoded_on(device, n):
        resident, reach = encoded_on(device, raw)
    elif raw is not None:
        matrix, reach = encoded(raw)
    elif isinstance(source, Graph) and SPARSE * source.m <= n * n:
        reach = range_of_arcs(source)
    else:
        reach = range_of_rows(source, dtype)
    rounding = rounding_of(g if isinstance(g, Graph) else source) if kernels else None
    if raw is not None and not isinstance(source, Graph):
        source = raw
    bounds = limits(dtype, reach, source)
    return Lengths(n, dtype, *bounds, source, rounding, whole=matrix, resident=resident)


def check_loops(g: Graph) -> None:
    """Raise NegativeCycleError if a vertex has a negative arc to itself."""
    if g.weights is None:
        return
    source, target = g.coo
    negative = (source == target) & (g.weights < 0)
    if negative.any():
        raise NegativeCycleError([int(source[np.argmax(negative)])])


def range_of_rows(source: Graph | NDArray, dtype: np.dtype | None = None) -> Range:
    """Return how far lengths may reach, after a look at all rows."""
    reach = Range(0, 0, False)
    for first, last in slabs_of(source.n if isinstance(source, Graph) else len(source)):
        part = encoded(_raw(source, dtype, first, last), first)[1]
        beyond = reach.beyond or part.beyond
        reach = Range(reach.least + part.least, reach.most + part.most, beyond)
    return reach


def range_of_arcs(g: Graph) -> Range:
    """Return the same of a graph, after a look at its arcs alone."""
    source, target = g.coo
    weights = arc_weights(g)
    order = np.lexsort((weights, target, source))
    source, target, weights = source[order], target[order], weights[order]
    shortest = np.ones(g.m, bool)  # of parallel arcs
    shortest[1:] = (source[1:] != source[:-1]) | (target[1:] != target[:-1])
    source, target, weights = source[shortest], target[shortest], weights[shortest]
    whole, is_arc = weights.dtype.kind == "i", weights < absent_of(weights.dtype)
    away = source != target
    beyond = whole and bool((~is_arc & away & (weights != none_in(weights))).any())
    counted = np.where(is_arc & away, weights, 0)
    total = np.int64 if whole else np.float64
    least, most = np.zeros(g.n, total), np.zeros(g.n, total)
    np.minimum.at(least, source, counted)
    np.maximum.at(most, source, counted)
    return Range(_sum(least), _sum(most), beyond)


def _sum(lengths: NDArray) -> float:
    """Return the sum, which int64 may not hold."""
    return sum(lengths.tolist()) if lengths.dtype == np.int64 else lengths.sum().item()


def _raw(source: Graph | NDArray, dtype: np.dtype | None, first: int, last: int) -> NDArray:
    """Return rows with `no_arc` for absent arcs; rows of a matrix are checked, and of `dtype`."""
    if isinstance(source, Graph):
        weights = np.int32(1) if source.weights is None else source.weights
        return _arcs(source, first, last, no_arc(weights.dtype), weights)
    assert dtype is not None
    rows = checked_rows("g", source[first:last], dtype, first)
    check_diagonal("g", rows, first)
    return rows


def _arcs(g: Graph, first: int, last: int, none: float, weights: Any) -> NDArray:
    """Return rows of the matrix of a graph: the shortest arc of each pair, else `none`."""
    begin, end = int(g.offsets[first]), int(g.offsets[last])
    result = np.full((last - first, g.n), none, weights.dtype)
    source = np.repeat(np.arange(last - first), np.diff(g.offsets[first : last + 1]))
    of_arcs = weights if weights.ndim == 0 else weights[begin:end]
    np.minimum.at(result, (source, g.targets[begin:end]), of_arcs)
    return result
