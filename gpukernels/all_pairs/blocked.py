"""Floyd-Warshall in shared memory and registers, tile by tile: three launches per tile of pivots.

Venkataraman, Sahni and Mukhopadhyaya [venkataraman2003blocked], on GPUs Katz and Kider
[katz2008allpairs], with several elements per thread [padamata2013graph] [lund2010multistage].
Mapping: tile to block. Work O(n^3). For each diagonal tile: first the paths inside it; then the
tiles of its rows and columns, which need no other tiles; then all other tiles, (min, +) products of
a column tile and a row tile. An element is read once per tile of pivots, not once per pivot.

In the second launch the diagonal tile is final and has whole paths. So the pivots need no order
there either: the launch computes the same product, of the diagonal tile and the old tile.

The third launch reads and writes the whole matrix for each tile of pivots. If no cache holds the
matrix, several tiles of pivots form a panel, as in the factorization of matrices. One more launch
per tile updates the panel's own rows and columns, and one launch per panel updates all other tiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from os import PathLike
from typing import Any

from numba import cuda, uint32

from gpukernels.checks import check_whole
from gpukernels.device import Device, DeviceArray
from gpukernels.methods import takes_fields_of
from gpukernels.primitives.offsets import MAX_UNITS

from .floyd_warshall import Pivot, floyd_warshall
from .lengths import Lengths
from .on_device import Launches, OnDevice
from .result import APSPResult
from .tiles import Form, Options, closer, closing, multiplier

#: Up to so many vertices, a panel is one tile of pivots unless told; up to MANY, it is four.
FEW, MANY = 2048, 8192


@cache
def crossing(form: Form) -> Any:
    """Return the kernel of the second launch."""
    multiply, tile = multiplier(form), form.tile

    @cuda.jit
    def cross_tiles(distance, via, infinite, pivot, flags):
        """Lengthen paths by those in the pivot tile: one block per tile of its row or column."""
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
def paneling(form: Form) -> Any:
    """Return the kernel of a launch between the second and the third, in panels of many tiles."""
    multiply, tile = multiplier(form), form.tile

    @cuda.jit
    def panel_tiles(distance, via, infinite, pivot, first, count, flags):
        """Let paths go through the pivot tile: one block per tile of the panel's rows, columns."""
        column, row = uint32(cuda.blockIdx.x), uint32(first) + uint32(cuda.blockIdx.y)
        mine = True
        if cuda.blockIdx.y >= count:
            row, column = column, row - uint32(count)
            # Where the panel's rows and columns meet, the rows have it.
            mine = row < uint32(first) or row >= uint32(first) + uint32(count)
        if flags[0] == 0 and mine and column != uint32(pivot) and row != uint32(pivot):
            begin = uint32(pivot) * uint32(tile)
            multiply(
                distance, distance, distance, distance, via, infinite,
                row * uint32(tile), column * uint32(tile), begin, begin + uint32(tile),
            )  # fmt: skip

    return panel_tiles


@cache
def remainder(form: Form) -> Any:
    """Return the kernel of the third launch."""
    multiply, tile = multiplier(form), form.tile

    @cuda.jit
    def remaining_tiles(distance, via, infinite, first, count, flags):
        """Let paths go through `count` pivot tiles.

        A block whose tile lies in the rows or columns of these tiles does nothing.
        """
        row, column = uint32(cuda.blockIdx.y), uint32(cuda.blockIdx.x)
        after = uint32(first) + uint32(count)
        if (
            flags[0] == 0
            and (row < uint32(first) or row >= after)
            and (column < uint32(first) or column >= after)
        ):
            multiply(
                distance, distance, distance, distance, via, infinite, row * uint32(tile),
                column * uint32(tile), uint32(first) * uint32(tile), after * uint32(tile),
            )  # fmt: skip

    return remaining_tiles


def panel_of(size: int) -> int:
    """Return how many tiles of pivots make a panel in a matrix of so many rows."""
    return 1 if size <= FEW else 4 if size <= MANY else 8


@dataclass(frozen=True)
class Choices(Options):
    """Options of the method by keyword, for all places where it runs.

    Attributes
    ----------
    panel : int, optional
        Tiles of pivots that the third launch takes at once, at least 1. Unless given, 1 up to
        2,048 vertices, 4 up to 8,192, else 8.
    devices : list, optional
        GPUs of this host that share the rows, by numbers, such as ``[0, 1]``; each needs room for
        the whole matrix. Or SIMT machines in their place.
    block : int, optional
        Rows and columns of a block, each update of which is a task, of a client's workers or here.
        Unless given: with a client so many that each worker has several, and else none.
    engine : str
        ``"kernels"``, or ``"cpu"``: one core per worker, compiled by numba, in blocks.
    into : path, optional
        A ``.npy`` or ``.zarr`` file that has the distances once all blocks are done. Until then all
        blocks are stored next to it after each pivot, and a killed call continues from the last
        pivot, with the same bits in its result. They take twice the result's size in addition.
    """

    panel: int | None = None
    devices: Sequence[Any] | None = None
    block: int | None = None
    engine: str = "kernels"
    into: str | PathLike | None = None

    def panel_for(self, size: int) -> int:
        """Return the panel for a matrix of so many rows; InvalidArgument unless it is possible."""
        panel = panel_of(size) if self.panel is None else self.panel
        return check_whole("panel", panel, 1, MAX_UNITS)


@dataclass(frozen=True)
class Tiles:
    """A matrix of whole tiles on one device, the launches on it, and the array for vertices."""

    on: Launches
    distance: DeviceArray
    via: DeviceArray

    def cross(self, panel: Pivot) -> None:
        """Bring the rows and columns of a panel of pivot tiles up to date with its vertices."""
        on, distance, via, first, count = self.on, self.distance, self.via, panel.first, panel.size
        form, infinite, flags, alone = on.form, on.infinite, on.flags, closing(on.form)
        for pivot in range(first, panel.end):
            on.launch(closer(alone), 1, distance, via, pivot, flags, form=alone)
            if panel.across > 1:
                args = distance, via, infinite, pivot, flags
                on.launch(crossing(form), (panel.across, 2), *args)
            if count > 1:
                args = distance, via, infinite, pivot, first, count, flags
                on.launch(paneling(form), (panel.across, 2 * count), *args)

    def lower(self, panel: Pivot) -> None:
        """Bring all other tiles up to date."""
        if panel.size < panel.across:
            args = self.distance, self.via, self.on.infinite, panel.first, panel.size, self.on.flags
            self.on.launch(remainder(self.on.form), (panel.across, panel.across), *args)


def close(on: Launches, distance: DeviceArray, via: DeviceArray, panel: int) -> None:
    """Close a matrix of whole tiles over its own vertices."""
    floyd_warshall(Tiles(on, distance, via), distance.shape[0] // on.form.tile, panel)


@takes_fields_of(Choices)
def apsp(lengths: Lengths, device: Device, **options: Any) -> APSPResult:
    """Find all shortest paths, with three launches per tile of pivots; see :class:`Choices`.

    In blocks, the ``stats`` also have ``resumed_at`` (pivots that a killed call had done),
    ``tiles`` of the result, and ``resumed`` (those that were there already).
    """
    chosen = Choices(**options)
    panel = chosen.panel_for(lengths.n)
    matrix = OnDevice(lengths, device, chosen.form(lengths.n, lengths.dtype))
    close(matrix, matrix.distance, matrix.via, panel)
    return matrix.result("blocked", operations=matrix.size**3)
