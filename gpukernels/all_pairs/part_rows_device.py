"""The rows of one part on a device: they stay there until all are made.

Three matrices go there for a part, and its rows come back at once. What all rows share is made once
a worker: room for those of one part, and the ways on from all separators.
"""

from __future__ import annotations

from functools import partial
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukernels.device import Device, DeviceArray, chosen_device

from .host_tiles import Algebra, absent_in, check_room, padded
from .part_rows import PartRows
from .separators import Parts
from .tiles import Form, form_of, product


def rows_from(
    algebra: Algebra, parts: Parts, at: int, inside: NDArray, edges: list[NDArray]
) -> PartRows:
    """Return what makes the rows of a part: see `PartRows`.

    Raises
    ------
    MemoryError
        If the device has not enough free for all of them.
    """
    # From a part without separators no way leads on: there is nothing to launch.
    if algebra.engine == "cpu" or not parts.borders[at].size:
        return PartRows(parts, at, inside, edges)
    return DeviceRows(algebra, parts, at, inside, edges)


class DeviceRows(PartRows):
    """Rows of a part, made on a device in blocks: one for the vertices of each part.

    Parameters
    ----------
    algebra : Algebra
        Which device, and how.
    parts, at, inside, edges
        As for `PartRows`. The part has separators.
    """

    def __init__(
        self, algebra: Algebra, parts: Parts, at: int, inside: NDArray, edges: list[NDArray]
    ):
        super().__init__(parts, at, inside, edges)
        device = self._device = chosen_device(algebra.device)
        form = self._form = form_of(
            max(m.size for m in parts.members), inside.dtype, algebra.tile, algebra.per_thread,
            padding=algebra.padding,
        )  # fmt: skip
        # The ways on are those of one call, and live as long as a worker may be asked for rows. It
        # makes those of one part at a time, so that all may be in the same room.
        room = partial(_Room, device, form, parts, edges)
        self._room = device.keep_made(edges[0], f"room for rows in {form}", room)
        self._high = form.whole(len(inside))
        self._all, self._blocks = self._room.blocks(self._high)

    def to_separators(self, to_own: NDArray, between: NDArray) -> None:
        """Find the ways to all separators: to those of the part, and `between` them and all."""
        device, to_all = self._device, self._room.to_all
        deep, wide = map(self._form.whole, between.shape)
        device.fill(to_all, self.absent)
        device.fill(self._all, self.absent)
        a = device.array(padded(to_own, (self._high, deep)))
        b = device.array(padded(between, (deep, wide)))
        self._multiply(a, 0, b, deep, to_all, to_all, wide)

    def onward(self, other: int, of: slice) -> None:
        """Find those on to all vertices of a part; its separators are those `of` all."""
        if of.start == of.stop:
            return
        new, (edge, deep) = self._blocks[other], self._room.edges[other]
        wide = self._form.whole(self.parts.members[other].size)
        old = new
        if other == self.at:
            old = self._device.array(padded(self.inside, (self._high, wide)))
        self._multiply(self._room.to_all, of.start, edge, deep, old, new, wide)

    def _multiply(
        self, a: Any, begin: int, b: Any, deep: int, old: Any, new: Any, wide: int
    ) -> None:
        """Make new = min(old, a x b), in columns of `a` and rows of `b` from `begin` on."""
        form, room = self._form, self._room
        self._device.launch(
            product(form), (wide // form.tile, self._high // form.tile), form.block,
            a, b, old, new, room.via, self.absent, 0, 0, begin, begin + deep, room.flags,
        )  # fmt: skip
        self.launches += 1
        self.operations += self._high * deep * wide

    def found(self) -> tuple[NDArray, int, list[int]]:
        """Return all that was found, how far row is from row in it, and where each part begins."""
        made = self._room.read(self._device, self._all)
        stride = made.shape[1]
        return made.reshape(-1), stride, [*range(0, made.size, self._high * stride)]


class _Room:
    """What the rows of all parts share on a device, one part after the other.

    Attributes
    ----------
    to_all : DeviceArray
        Ways from a part to all separators; behind them stands infinity, as far as a product reads.
    edges : list
        Of each part the ways on from its separators, padded, in the rows where these stand among
        all separators, and how many rows that are: a product counts columns of `to_all` by the same
        numbers. What stands in rows before is never read.
    """

    def __init__(self, device: Device, form: Form, parts: Parts, edges: list[NDArray]):
        tile, count, kind = form.tile, len(edges), edges[0].dtype
        deep = [form.whole(border.size) for border in parts.borders]
        side = form.whole(max(m.size for m in parts.members))
        separators = sum(border.size for border in parts.borders)
        wide = form.whole(separators)
        own = side * max(deep) + max(deep) * wide + side * side  # what goes there for each part
        check_room(device, side * (wide + tile + count * side + sum(deep)) + own)
        self.to_all = device.empty((side, wide + tile), kind)
        self._rows = device.empty((count * side, side), kind)
        self.via, self.flags = device.full((1, 1), -1, np.int32), device.full(2, 0, np.int32)
        stacked = np.full((sum(deep), side), absent_in(edges[0]))
        ends = list(accumulate(deep, initial=0))
        for first, edge in zip(ends, edges, strict=False):
            stacked[first : first + len(edge), : edge.shape[1]] = edge
        self.edges: list[tuple[DeviceArray, int]] = []
        ways, begin = device.array(stacked), 0
        for (first, end), edge in zip(pairwise(ends), edges, strict=True):
            self.edges.append((ways[first - begin : end], end - first))
            begin += len(edge)
        self._blocks: dict[int, list[DeviceArray]] = {}
        self._count = count
        self._read: NDArray | None = None

    def blocks(self, high: int) -> tuple[DeviceArray, list[DeviceArray]]:
        """Return room for a block of `high` rows for each part: all of it, and the blocks."""
        whole = self._rows[: self._count * high]
        if high not in self._blocks:  # to cut it takes as long as a few launches
            firsts = range(0, self._count * high, high)
            self._blocks[high] = [whole[first : first + high] for first in firsts]
        return whole, self._blocks[high]

    def read(self, device: Device, made: DeviceArray) -> NDArray:
        """Return all blocks on the host, in the same memory each time: fresh one is slower."""
        into = self._read
        if into is not None and into.shape != made.shape:
            into = None
        found = self._read = device.read(made, into)
        return found
