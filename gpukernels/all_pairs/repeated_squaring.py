"""The matrix times itself, again and again: each (min, +) product doubles the arcs of a path.

As in [padamata2013graph] and [tran2010designing]; the lazy minimum is that of [harish2009large].
Mapping: tile to block. Work O(n^3 log n): more than Floyd-Warshall does, but no launch waits for a
single tile, and it ends early where shortest paths have few arcs.

In the survey [busato2017chapter], Algorithm 6, the second factor must be D as the first: with W a
round would add one arc to a path where it should double them. And the minimum runs over k.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numba import cuda

from gpukernels.device import Device, benign_race
from gpukernels.methods import takes_fields_of
from gpukernels.primitives.launch_shape import THREADS, blocks_for

from .lengths import Lengths
from .on_device import OnDevice
from .result import APSPResult
from .tiles import PRODUCT_TILES, Options


@benign_race("flags")
@cuda.jit
def look_at_diagonal(distance, flags):
    """Set ``flags[0]`` if a way from a vertex to itself is negative; all who do store the same."""
    i = cuda.grid(1)
    if i < distance.shape[0] and distance[i, i] < 0:
        flags[0] = 1


@dataclass(frozen=True)
class Squaring(Options):
    """Options of the method by keyword.

    Attributes
    ----------
    tile : int, optional
        Rows and columns of a tile: 16, 32, 64 or 128. Unless given, 16 up to 256 vertices, else 64.
    lazy : bool
        Whether to skip additions to infinite lengths, and the minimum after each of them.
    """

    lazy: bool = False


@takes_fields_of(Squaring)
def apsp(lengths: Lengths, device: Device, **options: Any) -> APSPResult:
    """Find all shortest paths, with two launches per round, until a round changes nothing.

    See :class:`Squaring` for the options. ``stats["iterations"]`` are the rounds; ``operations``
    count what lazy ones leave out.
    """
    chosen = Squaring(**options)
    sizes = lengths.n, lengths.dtype, PRODUCT_TILES
    form = chosen.form(*sizes, lazy=chosen.lazy, watching=True)
    matrix = OnDevice(lengths, device, form, matrices=2)
    distance, flags, size = matrix.distance, matrix.flags, matrix.size
    other = device.empty(distance.shape, distance.dtype)
    arcs, rounds, goes_on = 1, 0, True
    # Cycles of up to n arcs are looked for.
    while goes_on and arcs < lengths.n:
        device.clear(flags)
        matrix.product(distance, distance, distance, other)
        distance, other = other, distance
        device.launch(look_at_diagonal, blocks_for(size), THREADS, distance, flags)
        negative, less = device.read(flags).tolist()
        goes_on = less and not negative
        arcs, rounds = 2 * arcs, rounds + 1
    matrix.distance, matrix.launches = distance, 2 * rounds
    operations = rounds * size**3
    return matrix.result("repeated_squaring", rounds, iterations=rounds, operations=operations)
