"""The steps of a computation in blocks: a pivot block, its rows and columns, and the remainder.

Slots on the device are shared out so that tasks can overlap: two for blocks of the pivot's columns,
of which one holds the pivot itself first; two for its rows; and two for the rest. The old blocks of
the pivot's rows and columns go through the slots of rows; the new ones come out of those of the
rest, and the remainder reads them from the next matrix.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukernels.device import Device
from gpukernels.graphs.progress import Progress

from .blocked import close, panel_of
from .kept_steps import InMemory
from .lengths import Lengths
from .out_of_core_blocks import AT_ONCE, NOTED, Blocks, fill_block
from .out_of_core_pipeline import Move, Pipeline, Slot, Task
from .result import make_infinite, name_cycle, no_cycle
from .tiles import Form, product


class Run:
    """One computation.

    Parameters
    ----------
    kept : InMemory or InFiles
        Where the matrix is. A step is a pivot block.

    Attributes
    ----------
    through : ndarray or None
        The vertex through which a pair's path was last made shorter, if that is noted.
    """

    def __init__(
        self, lengths: Lengths, device: Device, form: Form, blocks: Blocks, kept: InMemory
    ):
        self.lengths, self.device, self.form = lengths, device, form
        self.blocks, self.kept = blocks, kept
        self.through: NDArray | None = None
        if form.noting:
            self.through = np.full((blocks.n, blocks.n), -1, np.int32)
        self.launches = self.read_backs = 0
        self.infinite = lengths.dtype.type(lengths.infinite)

    def close(self) -> dict[str, Any]:
        """Close the matrix over all vertices, or go on with that; return the stats."""
        blocks, kept, device = self.blocks, self.kept, self.device
        if kept.done == 0:
            for first, last in self.lengths.slabs():
                kept.fill(first, self.lengths.rows(first, last))
        resumed_at, count = kept.done, blocks.count
        steps = range(resumed_at, count)
        self.flags = device.full(2, 0, np.int32)
        kind, noting = self.lengths.dtype, self.form.noting
        slots = self._slots(kind, AT_ONCE if steps else 0)
        self.columns, self.rows, self.rest = slots[:2], slots[2:4], slots[4:]
        self.noted = self._slots(np.int32, NOTED if steps and noting else 0)
        self.none = None if noting else device.full((1, 1), -1, np.int32)
        finished = resumed_at * count**2
        name = "gk.apsp out_of_core"
        with Progress(name, count**3, "block") as bar, device.copy_stream() as copies:

            def done() -> None:
                nonlocal finished
                finished += 1
                bar.reach(finished)

            pipeline = Pipeline(copies, done)
            for k in steps:
                pipeline.run([self._closing(k)])
                self._look_for_cycle(k)
                pipeline.run(self._panels(k))
                pipeline.run(self._remainder(k))
                if k + 1 == count:
                    no_cycle(self.lengths, kept.next)
                    kept.change(partial(make_infinite, self.lengths))
                kept.reached(k + 1)
        return {
            "method": "out_of_core",
            "launches": self.launches,
            "read_backs": self.read_backs,
            "operations": blocks.operations,
            "block": blocks.rows,
            "pivot_blocks": count,
            "resumed_at": resumed_at,
            "device_bytes": blocks.device_bytes(noting),
            "bytes_to_device": pipeline.to_device,
            "bytes_from_device": pipeline.from_device,
        }

    def _slots(self, kind: Any, number: int) -> list[Slot]:
        """Return so many slots, or one if there is but one block."""
        number = number if self.blocks.count > 1 else min(number, 1)
        return [Slot(self.device, self.blocks.elements, kind) for _ in range(number)]

    # --- what goes there and back ---------------------------------------------------------------

    def _load(self, slot: Slot, i: int, j: int, *, new: bool = False) -> Move:
        """Return the way of block `i`, `j` to the device, as it was before this step or is now."""
        rows, columns = self.blocks.span(i), self.blocks.span(j)
        matrix, absent = self.kept.next if new else self.kept.now, self.lengths.absent
        return Move(
            slot, self.blocks.shape(i, j),
            lambda block: fill_block(block, matrix, rows, columns, absent),
        )  # fmt: skip

    def _store(self, slot: Slot, i: int, j: int) -> Move:
        return Move(slot, self.blocks.shape(i, j), lambda block: self.kept.put(i, j, block))

    def _noting(self, turn: int, i: int, j: int, k: int) -> tuple[Any, list[Move]]:
        """Return where a launch notes vertices, and the way back of what it has noted."""
        if self.through is None:
            return self.none, []
        slot, shape, through = self.noted[turn % len(self.noted)], self.blocks.shape(i, j), None
        rows, columns, first = self.blocks.span(i), self.blocks.span(j), self.blocks.span(k).start
        through = self.through[rows, columns]

        def take(block: NDArray) -> None:
            new = block[: through.shape[0], : through.shape[1]]
            np.copyto(through, new + np.int32(first), where=new >= 0)

        return slot.block(shape), [Move(slot, shape, take)]

    # --- the three parts of a step --------------------------------------------------------------

    def _closing(self, k: int) -> Task:
        slot, shape = self.columns[0], self.blocks.shape(k, k)
        via, noted = self._noting(0, k, k, k)

        def launch() -> None:
            if noted:
                self.device.fill(via, -1)
            block, panel = slot.block(shape), panel_of(shape[0])
            self.launches += close(
                self.device, self.form, block, via, self.infinite, self.flags, panel
            )

        return Task([self._load(slot, k, k)], launch, [self._store(slot, k, k), *noted])

    def _look_for_cycle(self, k: int) -> None:
        """Raise the error if the pivot block has a negative way from a vertex to itself."""
        self.read_backs += 1
        if self.device.read(self.flags)[0]:
            span = self.blocks.span(k)
            diagonal = self.kept.next[span, span].diagonal()
            name_cycle(self.lengths, span.start + int(np.argmax(diagonal < 0)))

    def _panels(self, k: int) -> Iterator[Task]:
        """Yield the blocks of the pivot's rows and columns, each a product with the pivot."""
        others = [at for at in range(self.blocks.count) if at != k]
        pivot = self.columns[0].block(self.blocks.shape(k, k))
        rows_and_columns = [(k, at) for at in others] + [(at, k) for at in others]
        for turn, (i, j) in enumerate(rows_and_columns):
            slot, out = self.rows[turn % 2], self.rest[turn % 2]
            old, new = (s.block(self.blocks.shape(i, j)) for s in (slot, out))
            a, b = (pivot, old) if i == k else (old, pivot)
            via, noted = self._noting(turn, i, j, k)
            launch = self._product(a, b, old, new, via)
            yield Task([self._load(slot, i, j)], launch, [self._store(out, i, j), *noted])

    def _remainder(self, k: int) -> Iterator[Task]:
        """Yield all other blocks, each lowered by a product of one of the columns and the rows."""
        others = [at for at in range(self.blocks.count) if at != k]
        turn = 0
        for across, i in enumerate(others):
            column = self.columns[across % 2]
            loads = [self._load(column, i, k, new=True)]
            for j in others:
                row, rest = self.rows[turn % 2], self.rest[turn % 2]
                a = column.block(self.blocks.shape(i, k))
                b = row.block(self.blocks.shape(k, j))
                both = rest.block(self.blocks.shape(i, j))
                via, noted = self._noting(turn, i, j, k)
                loads += [self._load(row, k, j, new=True), self._load(rest, i, j)]
                launch = self._product(a, b, both, both, via)
                yield Task(loads, launch, [self._store(rest, i, j), *noted])
                loads, turn = [], turn + 1

    def _product(self, a: Any, b: Any, old: Any, new: Any, via: Any) -> Any:
        """Return what launches new = min(old, a x b)."""
        form, tile = self.form, self.form.tile
        (high, wide), depth = new.shape, a.shape[1]

        def launch() -> None:
            if form.noting:
                self.device.fill(via, -1)
            self.launches += 1
            self.device.launch(
                product(form), (wide // tile, high // tile), form.block,
                a, b, old, new, via, self.infinite, 0, 0, 0, depth, self.flags,
            )  # fmt: skip

        return launch
