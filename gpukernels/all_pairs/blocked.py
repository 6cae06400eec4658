"""Floyd-Warshall a tile of pivots at a time, in shared memory and registers: three launches each.

Venkataraman, Sahni and Mukhopadhyaya [venkataraman2003blocked], on GPUs Katz and Kider
[katz2008allpairs], with several elements a thread [padamata2013graph] [lund2010multistage].
Mapping: tile to block. Work O(n^3). For each diagonal tile: first the paths inside it; then the
tiles of its rows and columns, which need no others; then all the rest, a (min, +) product of a tile
of the columns and one of the rows. An element is read once for a tile of pivots, not once a pivot.

In the second launch the diagonal tile is final, and whole paths in it are known. So there too no
order of pivots is needed: it is the same product, of the diagonal tile and what was there before.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import cuda, uint32

from gpukernels.device import Device

from .lengths import Lengths
from .result import APSPResult, finish, room_for
from .tiles import Form, closer, closing, form_of, multiplier


@cache
def crossing(form: Form) -> Any:
    """Return the kernel of the second launch."""
    multiply, tile = multiplier(form), form.tile

    @cuda.jit
    def cross_tiles(distance, via, infinite, pivot, flags):
        """Lengthen paths by those inside the pivot tile: a block a tile of its row or column."""
        other, first = uint32(cuda.blockIdx.x), uint32(pivot) * uint32(tile)
        if flags[0] == 0 and other != uint32(pivot):
            row = column = first
            if cuda.blockIdx.y == 0:
                column = other * uint32(tile)
            else:
                row = other * uint32(tile)
            # Only this block reads the tile that it writes.
            multiply(
                distance, distance, distance, distance, via, infinite, row, column,
                first, first + uint32(tile),
            )  # fmt: skip

    return cross_tiles


@cache
def remainder(form: Form) -> Any:
    """Return the kernel of the third launch."""
    multiply, tile = multiplier(form), form.tile

    @cuda.jit
    def remaining_tiles(distance, via, infinite, pivot, flags):
        """Let paths lead through the pivot tile: a block a tile of the other rows and columns."""
        down, across = uint32(cuda.blockIdx.y), uint32(cuda.blockIdx.x)
        first = uint32(pivot) * uint32(tile)
        if flags[0] == 0 and across != uint32(pivot) and down != uint32(pivot):
            multiply(
                distance, distance, distance, distance, via, infinite,
                down * uint32(tile), across * uint32(tile), first, first + uint32(tile),
            )  # fmt: skip

    return remaining_tiles


def apsp(
    lengths: Lengths,
    device: Device,
    *,
    tile: int | None = None,
    per_thread: str | None = None,
    padding: bool = True,
    next_hops: bool = False,
) -> APSPResult:
    """Find all shortest paths, three launches a tile of pivots.

    Parameters
    ----------
    tile : int, optional
        Rows and columns of a tile: 16, 32 or 64. Unless given, 16 up to 256 vertices, else 64.
    per_thread : str, optional
        Elements of a thread, across and down: ``"1x1"``, ``"4x2"``, ``"4x4"`` or ``"8x8"``. Unless
        given, ``"1x1"`` in tiles of 16, ``"4x4"`` in those of 32, else ``"8x8"``. The pivot tile is
        spread over more threads.
    padding : bool
        Whether rows of shared memory are padded, so that no two lanes meet at a bank.
    next_hops : bool
        Whether the result holds next hops.

    Returns
    -------
    APSPResult
        The same in every run.
    """
    form = form_of(
        lengths.n, lengths.matrix.dtype, tile, per_thread, noting=next_hops, padding=padding
    )
    matrix = lengths.padded(form.tile)
    tiles = len(matrix) // form.tile
    via = room_for(device, lengths.n, len(matrix), 1, next_hops)
    distance, flags = device.array(matrix), device.full(2, 0, np.int32)
    infinite, alone = matrix.dtype.type(lengths.infinite), closing(form)
    for pivot in range(tiles):
        device.launch(closer(alone), 1, alone.block, distance, via, pivot, flags)
        if tiles > 1:
            args = distance, via, infinite, pivot, flags
            device.launch(crossing(form), (tiles, 2), form.block, *args)
            device.launch(remainder(form), (tiles, tiles), form.block, *args)
    stats = {
        "method": "blocked",
        "launches": tiles * (3 if tiles > 1 else 1),
        "read_backs": 0,
        "operations": len(matrix) ** 3,
    }
    return finish(lengths, device, distance, via, next_hops, **stats)
