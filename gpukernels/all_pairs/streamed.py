"""A matrix on the host, or in files, whose blocks go through a device; copies and launches overlap.

Slots on the device are shared out so that tasks can overlap: two for a product's left factor, two
for its right one, and two for the blocks that it lowers. One of each is in use while the blocks of
the next task are on their way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukernels.cores.progress import Progress
from gpukernels.cores.slabs import slabs_of
from gpukernels.device import Device

from .encoding import fill_padded
from .kept_steps import InMemory
from .lengths import Lengths
from .on_device import Launches
from .result import APSPResult, result_of
from .streamed_blocks import AT_ONCE, NOTED, Blocks
from .streamed_tasks import Move, Pipeline, Slot, Task
from .tiles import Form


class Streamed(Launches):
    """A matrix that is changed block by block: `kept` in memory or in files, cut into `blocks`.

    If that is noted, `through` has the vertex through which a pair's path was last made shorter.
    """

    def __init__(
        self,
        lengths: Lengths,
        device: Device,
        form: Form,
        blocks: Blocks,
        kept: InMemory | None = None,
    ):
        super().__init__(device, form, lengths.dtype.type(lengths.infinite))
        self.lengths, self.blocks = lengths, blocks
        self.kept = InMemory(lengths.dtype, blocks.spans) if kept is None else kept
        self.through: NDArray | None = None
        if form.noting:
            self.through = np.full((blocks.n, blocks.n), -1, np.int32)
        self.read_backs = 0

    @contextmanager
    def open(self, method: str, done: int, total: int) -> Iterator[None]:
        """Take room on the device, for a run of `total` tasks of which so many are done."""
        blocks, noting = self.blocks, self.form.noting
        if self.kept.done == 0:
            for first, last in slabs_of(blocks.n):
                self.kept.fill(first, self.lengths.rows(first, last))
        at_once, noted = (AT_ONCE, NOTED) if blocks.count > 1 else (blocks.alone, 1)
        used = done < total
        slots = self._slots(self.lengths.dtype, at_once * used)
        each = 2 if blocks.count > 1 else 1
        self.columns, self.rows, self.rest = (slots[i * each : (i + 1) * each] for i in range(3))
        self.noted = self._slots(np.int32, noted * noting * used)
        with (
            Progress(f"gk.apsp {method}", total, "block") as bar,
            self.device.copy_stream() as copies,
        ):

            def reach() -> None:
                nonlocal done
                done += 1
                bar.reach(done)

            self.pipeline = Pipeline(copies, reach)
            yield

    def _slots(self, kind: Any, number: int) -> list[Slot]:
        return [Slot(self.device, self.blocks.elements, kind) for _ in range(number)]

    def result(self, method: str, **stats: Any) -> APSPResult:
        """Return the result, as `result_of`."""
        matrices = self.kept.finished(), self.through
        return result_of(self.lengths, *matrices, self.stats(method) | stats)

    def stats(self, method: str) -> dict[str, Any]:
        """Return the stats of every method that streams blocks."""
        return {
            "method": method,
            "launches": self.launches,
            "read_backs": self.read_backs,
            "operations": self.blocks.operations,
            "block": self.blocks.rows,
            "device_bytes": self.blocks.device_bytes(self.form.noting),
            "bytes_to_device": self.pipeline.to_device,
            "bytes_from_device": self.pipeline.from_device,
        }

    # --- what goes there and back ---------------------------------------------------------------

    def load(self, slot: Slot, i: int, j: int, *, new: bool = False) -> Move:
        """Return the way of block `i`, `j` to the device, as it was before this step or is now."""
        part = (self.kept.next if new else self.kept.now)[self.blocks.span(i), self.blocks.span(j)]
        fill = partial(fill_padded, part=part, absent=self.lengths.absent, diagonal=i == j)
        return Move(slot, self.blocks.shape(i, j), fill)

    def store(self, slot: Slot, i: int, j: int) -> Move:
        """Return the way of a block of the next matrix back to the host."""
        return Move(slot, self.blocks.shape(i, j), lambda block: self.kept.put(i, j, block))

    def noting(self, turn: int, i: int, j: int, k: int) -> tuple[Any, list[Move]]:
        """Return the array in which a launch notes vertices, and the moves that bring it back."""
        if self.through is None:
            return self.via, []
        slot, shape = self.noted[turn % len(self.noted)], self.blocks.shape(i, j)
        first = self.blocks.span(k).start
        through = self.through[self.blocks.span(i), self.blocks.span(j)]

        def take(block: NDArray) -> None:
            new = block[: through.shape[0], : through.shape[1]]
            np.copyto(through, new + np.int32(first), where=new >= 0)

        return slot.block(shape), [Move(slot, shape, take)]

    # --- what is done there ---------------------------------------------------------------------

    def products(self, triples: Iterable[tuple[int, int, int]], *, new: bool) -> Iterator[Task]:
        """Yield a task for each i, j, k: block i, j is lowered by the product of i, k and k, j.

        A block stays on the device while the next task needs it in the same place. Factors are of
        the `new` matrix, or of that before this step.
        """
        column = row = rest = -1
        before: tuple[int, int, int] | None = None
        for turn, (at, following) in enumerate(pairwise(chain(triples, [None]))):
            i, j, k = at
            loads = []
            if before is None or (before[0], before[2]) != (i, k):
                column += 1
                loads.append(self.load(self._turn(self.columns, column), i, k, new=new))
            if before is None or before[1:] != (j, k):
                row += 1
                loads.append(self.load(self._turn(self.rows, row), k, j, new=new))
            if before is None or before[:2] != (i, j):
                rest += 1
                loads.append(self.load(self._turn(self.rest, rest), i, j))
            before = at
            slot = self._turn(self.rest, rest)
            a = self._turn(self.columns, column).block(self.blocks.shape(i, k))
            b = self._turn(self.rows, row).block(self.blocks.shape(k, j))
            both = slot.block(self.blocks.shape(i, j))
            via, stores = self.noting(turn, i, j, k)
            if following is None or following[:2] != (i, j):
                stores = [self.store(slot, i, j), *stores]
            yield Task(loads, partial(self.multiply, a, b, both, both, via), stores)

    @staticmethod
    def _turn(slots: list[Slot], turn: int) -> Slot:
        return slots[turn % len(slots)]

    def multiply(self, a: Any, b: Any, old: Any, new: Any, via: Any) -> None:
        """Launch new = min(old, a x b), and note the vertices of this product alone."""
        if self.form.noting:
            self.device.fill(via, -1)
        self.product(a, b, old, new, via=via)
