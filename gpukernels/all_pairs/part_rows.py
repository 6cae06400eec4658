"""The rows of one part: its ways to all separators, and from these on to the vertices of each part.

A core of the CPU makes them in the order of parts. Then one pass writes each element once, in the
order of the graph. On a device, three matrices go there per part, three launches make its rows, and
the rows come back at once. Each worker makes the data of all parts there once: room for rows, and
ways on from all separators.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukernels.cores.compiled import compiled
from gpukernels.cores.slabs import on_all_cores
from gpukernels.device import Device, DeviceArray, chosen_device

from .encoding import absent_in, none_in, padded
from .host_tiles import Algebra, check_room, lower_columns
from .on_device import Launches
from .part_rows_kernels import THREADS, blocks_of, in_order, table_of, ways_on
from .separators import Parts
from .tiles import Form


def rows_from(algebra: Algebra, parts: Parts, at: int, *given: Any) -> PartRows:
    """Return the object that makes the rows of a part, from the arguments of `PartRows`.

    MemoryError if the device has not enough free for all of them.
    """
    # From a part without separators no way leads on: there is nothing to launch.
    if algebra.engine == "cpu" or not parts.borders[at].size:
        return PartRows(parts, at, *given)
    return DeviceRows(algebra, parts, at, *given)


@dataclass
class PartRows:
    """Rows of part number `at`, made on the host.

    `inside` has the ways inside it, `edges` for each part the ways from its separators to all of
    it, and `heights` the raise of the weights. `launches` and `operations` count the work.
    """

    parts: Parts
    at: int
    inside: NDArray
    edges: list[NDArray]
    heights: NDArray[np.int64] | None
    launches: int = 0
    operations: int = 0

    @property
    def absent(self) -> Any:
        """The value for infinity."""
        return absent_in(self.inside)

    def to_separators(self, to_own: NDArray, between: NDArray) -> None:
        """Find the ways to all separators, as the product of `to_own` and `between`."""
        self._to_all = np.full((len(to_own), between.shape[1]), self.absent)
        self._lower(self._to_all, 0, np.ascontiguousarray(to_own), 0, between)

    def onward(self) -> None:
        """Find the ways on from all separators to the vertices of each part."""
        firsts = list(accumulate((m.size for m in self.parts.members), initial=0))
        self._blocks = np.full((len(self.inside), firsts[-1]), self.absent)
        self._blocks[:, firsts[self.at] : firsts[self.at + 1]] = self.inside
        begin = 0
        for first, edge in zip(firsts, self.edges, strict=False):
            self._lower(self._blocks, first, self._to_all, begin, edge)
            begin += len(edge)

    def _lower(self, result: NDArray, column: int, a: NDArray, begin: int, b: NDArray) -> None:
        self.operations += int(lower_columns(result, column, a, begin, b, self.absent))

    def in_order(self, infinite: float) -> NDArray:
        """Return the rows in the order of the graph, with infinity as users see it."""
        blocks, heights, members = self._blocks, self.heights, self.parts.members
        columns = np.empty(blocks.shape[1], np.int64)
        columns[np.concatenate(members)] = np.arange(columns.size)
        rows, own = np.empty_like(blocks), members[self.at]
        limits = blocks.dtype.type(infinite), none_in(blocks)

        def arrange(begin: int, end: int) -> None:
            down = None if heights is None else heights[own[begin:end]]
            _arrange(blocks[begin:end], columns, heights, down, *limits, rows[begin:end])

        on_all_cores(arrange, rows.shape, one_pass=True)
        return rows


@compiled(nogil=True)
def _arrange(blocks, columns, heights, own, infinite, none, rows):
    """Fill rows with elements of `columns`, without heights; infinite lengths become `none`."""
    for i in range(len(rows)):
        for j in range(rows.shape[1]):
            length = blocks[i, columns[j]]
            if heights is not None:
                exact = length + heights[j] - own[i]
                rows[i, j] = exact if exact < infinite else none
            else:
                rows[i, j] = length if length < infinite else none


class DeviceRows(PartRows):
    """Rows of a part with separators, made on a device: a block for the vertices of a part."""

    def __init__(self, algebra: Algebra, parts: Parts, at: int, *given: Any):
        super().__init__(parts, at, *given)
        device = self._device = chosen_device(algebra.device)
        form = self._form = algebra.form(max(m.size for m in parts.members), self.inside.dtype)
        # The ways on belong to one call, and live as long as rows may be requested from a worker.
        # It makes the rows of one part at a time, so that all parts may share the same room.
        room = partial(_Room, device, form, parts, self.edges, self.heights)
        self._room = device.keep_made(self.edges[0], f"room for rows in {form}", room)
        self._high = form.whole(len(self.inside))

    def to_separators(self, to_own: NDArray, between: NDArray) -> None:
        """Find the ways to all separators, as the product of `to_own` and `between`."""
        device, form, room, high = self._device, self._form, self._room, self._high
        deep, wide = map(form.whole, between.shape)
        device.fill(room.to_all, self.absent)
        a = device.array(padded(to_own, (high, deep)))
        b = device.array(padded(between, (deep, wide)))
        tiles = range(high // form.tile), range(wide // form.tile)
        room.on.product(a, b, room.to_all, room.to_all, *tiles)
        self.launches += 1
        self.operations += high * deep * wide

    def onward(self) -> None:
        """Find the ways on from all separators to the vertices of each part."""
        device, form, room, high = self._device, self._form, self._room, self._high
        across, parts = room.blocks.shape[1] // form.tile, len(self.edges)
        device.fill(room.blocks[: parts * high], self.absent)
        device.launch(
            ways_on(form), (across * parts, high // form.tile), form.block,
            room.to_all, room.ways, room.table, room.blocks, room.on.via, self.absent, high, across,
        )  # fmt: skip
        self.launches += 1
        self.operations += high * room.elements

    def in_order(self, infinite: float) -> NDArray:
        """Return the rows in the order of the graph, with infinity as users see it."""
        device, room, size = self._device, self._room, len(self.inside)
        ordered = room.rows[:size]
        device.launch(
            in_order(self._form.dtype, self.heights is not None),
            blocks_of(*ordered.shape), THREADS,
            room.blocks, device.array(self.inside), self.at, self._high, room.places, room.heights,
            room.members[self.at], self.inside.dtype.type(infinite),
            none_in(self.inside), ordered,
        )  # fmt: skip
        self.launches += 1
        return device.read(ordered, np.empty(ordered.shape, self.inside.dtype))


class _Room:
    """Arrays on a device that the rows of all parts share, one part after the other.

    `ways` leads on from the separators of each part to all of it; `table` has the place of each
    part's ways, as `ways_on` reads it. `to_all` has room for ways from a part to all separators,
    and is infinite beyond them as far as a product reads. `blocks` has the rows, one block per
    part, and `rows` has them in the graph's order. `places` has the part of each vertex and its
    place there. From one vertex `elements` additions lead on, those on padding included.
    """

    def __init__(
        self,
        device: Device,
        form: Form,
        parts: Parts,
        edges: list[NDArray],
        heights: NDArray[np.int64] | None,
    ):
        members, kind = parts.members, edges[0].dtype
        sizes = [m.size for m in members]
        n, count, side = sum(sizes), len(sizes), form.whole(max(sizes))
        deep = [form.whole(len(edge)) for edge in edges]
        wide = form.whole(sum(map(len, edges)))
        own = side * max(deep) + max(deep) * wide + side * side  # what goes there for each part
        places = np.empty((2, n), np.int32)
        for at, some in enumerate(members):
            places[0, some], places[1, some] = at, np.arange(some.size)
        raised = np.zeros(1, np.int64) if heights is None else heights
        beside = places.size + n + 2 * raised.size + 4 * count
        check_room(device, side * (wide + form.tile + count * side + n + sum(deep)) + own + beside)
        self.to_all = device.empty((side, wide + form.tile), kind)
        self.blocks = device.empty((count * side, side), kind)
        self.rows = device.empty((side, n), kind)
        self.on = Launches(device, form, absent_in(edges[0]))
        ends = list(accumulate(deep, initial=0))
        begins = list(accumulate(map(len, edges), initial=0))[:-1]
        stacked = np.full((ends[-1], side), absent_in(edges[0]))
        for first, edge in zip(ends, edges, strict=False):
            stacked[first : first + len(edge), : edge.shape[1]] = edge
        self.ways = device.array(stacked)
        # Through a part without separators no way leads on.
        across = [form.whole(size) if rows else 0 for size, rows in zip(sizes, deep, strict=True)]
        # A row of ways stands `shift` behind the number of its separator among all.
        shifts = [first - begin for first, begin in zip(ends, begins, strict=False)]
        last = [begin + whole for begin, whole in zip(begins, deep, strict=True)]
        self.table = device.array(table_of(shifts, begins, last, across))
        self.places, self.heights = device.array(places), device.array(raised)
        order: Any = device.array(np.concatenate(members).astype(np.int32))
        firsts = accumulate(sizes, initial=0)
        self.members: list[DeviceArray] = [order[a:b] for a, b in pairwise(firsts)]
        self.elements = sum(a * b for a, b in zip(deep, across, strict=True))
