"""Shortest paths between all pairs on all cores: Floyd and Warshall's loops, blocked.

Venkataraman, Sahni and Mukhopadhyaya [venkataraman2003blocked]: a diagonal tile is closed. Then the
tiles of its row and column are multiplied by it over (min, +). Then each other tile is lowered by
the product of two of those. The tiles of the row and the column are stored packed, so that the rows
of a tile do not share cache sets. The innermost loop takes eight pivots at once, so that a row of
the result is loaded and stored an eighth as often. LLVM turns this loop into vector code. Work
O(n^3), including padding.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import ArrayLike, NDArray

from gpukernels.all_pairs.encoding import absent_in
from gpukernels.all_pairs.floyd_warshall import Pivot, floyd_warshall
from gpukernels.all_pairs.host_tiles import close_rows
from gpukernels.all_pairs.lengths import Lengths, checked_source, lengths_of
from gpukernels.all_pairs.result import APSPResult, check_cycles, checked, no_cycle, result_of
from gpukernels.cores import all_cores
from gpukernels.cores.compiled import compiled
from gpukernels.graphs.graph import Graph

#: Rows and columns of a tile, a multiple of 8: 16 KiB, half of the first cache or less.
TILE = 64


def apsp(g: Graph | ArrayLike) -> APSPResult:
    """Find shortest paths between all pairs of vertices on all cores; no next hops.

    `g` and the errors are as in :func:`gpukernels.apsp`; distances have the type of the weights.
    """
    return apsp_of(checked_source(g))


def apsp_of(g: Graph | NDArray) -> APSPResult:
    """Return the result for a graph or a matrix that has been checked."""
    lengths = lengths_of(g, kernels=False)
    check_cycles(g, lengths)
    return checked(lengths, _closed)


def _closed(lengths: Lengths) -> APSPResult:
    """Return the result; the lengths' own matrix may become it."""
    matrix = lengths.padded(TILE)
    with all_cores():
        floyd_warshall(_Tiles(lengths, matrix), len(matrix) // TILE)
    stats = {"method": "all_cores", "launches": 0, "read_backs": 0, "operations": len(matrix) ** 3}
    return result_of(lengths, matrix, None, stats)


class _Tiles:
    """A matrix of whole tiles in memory, and room for the tiles of a pivot's row and column."""

    def __init__(self, lengths: Lengths, matrix: NDArray):
        self._lengths, self._matrix = lengths, matrix
        room = len(matrix) // TILE, TILE, TILE
        self._row, self._column = (np.empty(room, matrix.dtype) for _ in range(2))

    def cross(self, pivot: Pivot) -> None:
        """Close a tile, and multiply those of its row and column by it.

        NegativeCycleError if there is a negative cycle: from then on, sums might wrap around.
        """
        matrix, span = self._matrix, slice(pivot.first * TILE, pivot.end * TILE)
        tile = matrix[span, span].copy()
        close_rows(tile, absent_in(matrix))
        matrix[span, span] = tile
        no_cycle(self._lengths, tile, range(span.start, span.stop))
        _multiply_row_and_column(matrix, pivot.first, self._row, self._column)

    def lower(self, pivot: Pivot) -> None:
        """Lower all other tiles."""
        _lower_others(self._matrix, pivot.first, self._row, self._column)


@compiled()
def _lower(result, left, right):
    """Lower a tile by the product of two others over (min, +); `right` lies packed.

    A row is worked on in an array of its own: LLVM knows that nothing else writes there.
    """
    kind, row = right.dtype.type, np.empty(TILE, right.dtype)
    for i in range(TILE):
        for j in range(TILE):
            row[j] = result[i, j]
        for k in range(0, TILE, 8):
            a, b, c, d = left[i, k], left[i, k + 1], left[i, k + 2], left[i, k + 3]
            e, f, g, h = left[i, k + 4], left[i, k + 5], left[i, k + 6], left[i, k + 7]
            for j in range(TILE):
                least = row[j]
                least = _less(kind(a + right[k, j]), least)
                least = _less(kind(b + right[k + 1, j]), least)
                least = _less(kind(c + right[k + 2, j]), least)
                least = _less(kind(d + right[k + 3, j]), least)
                least = _less(kind(e + right[k + 4, j]), least)
                least = _less(kind(f + right[k + 5, j]), least)
                least = _less(kind(g + right[k + 6, j]), least)
                least = _less(kind(h + right[k + 7, j]), least)
                row[j] = least
        for j in range(TILE):
            result[i, j] = row[j]


@njit(inline="always")
def _less(one, other):
    """Return the less, as one vector instruction does: there is no NaN."""
    return one if one < other else other


@compiled(parallel=True)
def _multiply_row_and_column(matrix, k, row, column):
    """Multiply the tiles in the row and column of the diagonal tile by it; pack the results."""
    tiles, at = len(row), k * TILE
    for x in prange(2 * tiles):
        other, first = x // 2, x // 2 * TILE
        if other == k:
            continue
        if x % 2 == 0:
            tile = matrix[at : at + TILE, first : first + TILE]
            before = tile.copy()
            _lower(tile, matrix[at : at + TILE, at : at + TILE], before)
            row[other] = tile
        else:
            tile = matrix[first : first + TILE, at : at + TILE]
            before = tile.copy()
            _lower(tile, before, matrix[at : at + TILE, at : at + TILE].copy())
            column[other] = tile


@compiled(parallel=True)
def _lower_others(matrix, k, row, column):
    """Lower all other tiles, with one row of tiles per task."""
    tiles = len(row)
    for y in prange(tiles):
        if y != k:
            for x in range(tiles):
                if x != k:
                    tile = matrix[y * TILE : (y + 1) * TILE, x * TILE : (x + 1) * TILE]
                    _lower(tile, column[y], row[x])
