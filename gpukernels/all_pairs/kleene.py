"""Kleene's recursion: half of the vertices, then the other half, joined by (min, +) products.

Gaussian elimination over (min, +), by Buluc, Gilbert and Budak [buluc2010solving]. Mapping: tile to
block. Work O(n^3). The vertices are split in halves P and Q. First come the paths inside P; then
paths from P to Q and back, by products with these; then paths inside Q. Then P gets its paths
through Q, in the same way. Few large products, one launch each, do most work; a leaf is one tile.
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
    """Find all shortest paths by recursion on halves; see `Options`."""
    chosen = Options(**options)
    matrix = OnDevice(lengths, device, chosen.form(lengths.n, lengths.dtype), matrices=2)
    distance = matrix.distance
    # A product that must not overwrite its factors goes here, and the next product brings it back.
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
