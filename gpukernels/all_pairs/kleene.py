"""Kleene's recursion: half of the vertices, then the other half, joined by (min, +) products.

Gaussian elimination over (min, +), by Buluc, Gilbert and Budak [buluc2010solving]. Mapping: tile to
block. Work O(n^3). With the vertices in halves P and Q: the paths inside P; those that go from P to
Q and back, as products with these; what is left inside Q; and the same the other way around. Nearly
all work is in few large products, a launch each. The smallest half is a tile.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukernels.device import Device
from gpukernels.methods import takes_fields_of

from .lengths import Lengths
from .result import APSPResult, finish, room_for
from .tiles import Options, closer, closing, product


@takes_fields_of(Options)
def apsp(lengths: Lengths, device: Device, **options: Any) -> APSPResult:
    """Find all shortest paths by recursion on halves.

    Parameters
    ----------
    **options
        See :class:`~gpukernels.all_pairs.tiles.Options`.

    Returns
    -------
    APSPResult
        The same in every run.
    """
    chosen = Options(**options)
    form, next_hops = chosen.form(lengths.n, lengths.dtype), chosen.next_hops
    matrix = lengths.padded(form.tile)
    via = room_for(device, lengths.n, len(matrix), 2, next_hops)
    distance, flags = device.array(matrix), device.full(2, 0, np.int32)
    # What a product may not write in place goes here, and comes back with the next one.
    aside = device.empty(matrix.shape, matrix.dtype)
    infinite, alone = matrix.dtype.type(lengths.infinite), closing(form)
    launches = 0

    def multiply(a, b, old, new, rows, columns, over):
        nonlocal launches
        launches += 1
        blocks = len(columns), len(rows)
        corner = rows.start * form.tile, columns.start * form.tile
        ends = over.start * form.tile, over.stop * form.tile
        args = a, b, old, new, via, infinite, *corner, *ends, flags
        device.launch(product(form), blocks, form.block, *args)

    def close(tiles):
        nonlocal launches
        if len(tiles) == 1:
            launches += 1
            device.launch(closer(alone), 1, alone.block, distance, via, tiles.start, flags)
            return
        p, q = tiles[: len(tiles) // 2], tiles[len(tiles) // 2 :]
        close(p)
        multiply(distance, distance, distance, aside, p, q, over=p)
        multiply(distance, distance, distance, aside, q, p, over=p)
        multiply(aside, aside, distance, distance, q, q, over=p)
        close(q)
        multiply(aside, distance, aside, distance, p, q, over=q)
        multiply(distance, aside, aside, distance, q, p, over=q)
        multiply(distance, distance, distance, distance, p, p, over=q)

    if lengths.n:
        close(range(len(matrix) // form.tile))
    stats = {
        "method": "kleene",
        "launches": launches,
        "read_backs": 0,
        "operations": len(matrix) ** 3,
    }
    return finish(lengths, device, distance, via, next_hops, **stats)
