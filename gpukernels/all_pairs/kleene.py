"""Kleene's recursion: half of the vertices, then the other half, joined by (min, +) products.

Gaussian elimination over (min, +), by Buluc, Gilbert and Budak [buluc2010solving]. Mapping: tile to
block. Work O(n^3). With the vertices in halves P and Q: the paths inside P; those that go from P to
Q and back, as products with these; what is left inside Q; and the same the other way around. Nearly
all work is in few large products, a launch each. The smallest half is a tile.
"""

from __future__ import annotations

from typing import Any

from gpukernels.device import Device
from gpukernels.methods import takes_fields_of

from .lengths import Lengths
from .on_device import OnDevice
from .result import APSPResult
from .tiles import Options, closer, closing


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
    matrix = OnDevice(lengths, device, chosen.form(lengths.n, lengths.dtype), matrices=2)
    distance = matrix.distance
    # What a product may not write in place goes here, and comes back with the next one.
    aside = device.empty(distance.shape, distance.dtype)
    multiply, alone = matrix.product, closing(matrix.form)

    def close(tiles):
        if len(tiles) == 1:
            pivot = distance, matrix.via, tiles.start, matrix.flags
            matrix.launch(closer(alone), 1, *pivot, form=alone)
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
        close(range(matrix.tiles))
    return matrix.result("kleene", operations=matrix.size**3)
