"""Kernels for the rows of a part: ways on to all parts at once, and rows in a graph's order."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import cuda, int64, uint32

from .tiles import KINDS, Form, multiplier

#: Columns of a table with one row per part: the shift from a separator's number to its row of the
#: ways on; the part's first separator; the end of its separators in whole tiles; its vertices.
SHIFT, BEGIN, END, WIDE = range(4)
#: Threads of a block of `in_order`, and rows that each fills.
THREADS, ROWS = 256, 16


@cache
def ways_on(form: Form) -> Any:
    """Return the kernel that goes on from all separators to the vertices of every part.

    Each block computes one tile of the result, as in a product. Its part says how deep it goes.
    """
    multiply, tile = multiplier(form), form.tile

    @cuda.jit
    def tiles_of_all_parts(to_all, ways, table, made, via, infinite, high, across):
        """Lower the block of each part, `high` rows of `made`, by ``to_all x ways``.

        A part has `across` tiles in a row. Only tiles that hold vertices are computed.
        """
        part = uint32(cuda.blockIdx.x) // uint32(across)
        column = uint32(cuda.blockIdx.x) % uint32(across) * uint32(tile)
        if column < table[part, WIDE]:
            row = uint32(cuda.blockIdx.y) * uint32(tile)
            own = made[part * uint32(high) :]
            on = ways[table[part, SHIFT] :]
            begin, end = uint32(table[part, BEGIN]), uint32(table[part, END])
            multiply(to_all, on, own, own, via, infinite, row, column, begin, end)

    return tiles_of_all_parts


@cache
def in_order(dtype: str, raised: bool) -> Any:
    """Return the kernel that writes rows of a part as users see them.

    With `raised`, weights were raised by heights before, and lengths are lowered again.
    """
    kind = KINDS[dtype]

    @cuda.jit
    def rows_in_order(made, inside, at, high, places, heights, own, infinite, none, rows):
        """Fill rows of part `at`: row i is of vertex ``own[i]``, column j is of vertex j.

        Vertex j is in part ``places[0, j]``, at place ``places[1, j]``. A way to a vertex of
        part `at` may stay inside. An infinite length becomes `none`.
        """
        column = cuda.blockIdx.x * THREADS + cuda.threadIdx.x
        if column < rows.shape[1]:
            part, place = places[0, column], places[1, column]
            for i in range(cuda.blockIdx.y, rows.shape[0], cuda.gridDim.y):
                length = made[part * high + i, place]
                if part == at:
                    length = min(length, inside[i, place])
                if raised:
                    exact = int64(length) + heights[column] - heights[own[i]]
                    shown = kind(exact) if exact < infinite else none
                else:
                    shown = length if length < infinite else none
                rows[i, column] = shown

    return rows_in_order


def blocks_of(rows: int, columns: int) -> tuple[int, int]:
    """Return how many blocks `in_order` has across and down."""
    return -(-columns // THREADS), min(-(-rows // ROWS), 65_535)


def table_of(shifts: Any, begins: Any, ends: Any, wide: Any) -> np.ndarray:
    """Return the table of the parts that `ways_on` reads, shape (parts, 4), int32."""
    return np.column_stack([shifts, begins, ends, wide]).astype(np.int32)
