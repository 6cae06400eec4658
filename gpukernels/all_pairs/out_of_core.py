"""Floyd-Warshall on a matrix larger than the device, block by block; copies run beside kernels.

Blocked Floyd-Warshall [venkataraman2003blocked] on a second level, with blocks of many tiles that
fit on the device. Mapping: tile to block. Work O(n^3). The matrix stays on the host, or in
a file. For each diagonal block: the paths inside it; then the blocks in its rows and columns, by
products with it; then all other blocks, D = min(D, C x R). About 12 n^3 / r bytes are copied with
blocks of r rows: four times the memory halves them.

In memory, all of this changes one matrix. In files, each pivot block makes a new matrix, so that a
killed run can go on: see `kept_steps`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from gpukernels.checks import is_whole
from gpukernels.cores.slabs import slabs_of
from gpukernels.device import Device
from gpukernels.distributed.disk import MatrixFile
from gpukernels.distributed.resuming import Sidecar, checked_place
from gpukernels.errors import InvalidArgument, NegativeCycleError
from gpukernels.methods import takes_fields_of

from .blocked import close, panel_of
from .floyd_warshall import Pivot, floyd_warshall
from .kept_steps import InFiles, InMemory, files_of
from .lengths import Lengths
from .result import APSPResult, check_held, make_infinite, next_hops_of, no_cycle
from .streamed import Streamed
from .streamed_blocks import Blocks, blocks_for
from .streamed_tasks import Task
from .tiles import Form, Options

FORMAT = "gpukernels.apsp out_of_core 2"


@takes_fields_of(Options)
def apsp(
    lengths: Lengths,
    device: Device,
    *,
    memory: int | None = None,
    file: str | PathLike | None = None,
    **options: Any,
) -> APSPResult:
    """Find all shortest paths with a bounded part of the matrix on the device.

    The ``stats`` also have ``block`` (rows of a block), ``pivot_blocks``, ``resumed_at`` (pivot
    blocks that an interrupted run had done), ``device_bytes``, at most `memory`, and
    ``bytes_to_device`` and ``bytes_from_device``. There are no `next_hops` with a `file`.

    Parameters
    ----------
    memory : int, optional
        Bytes of the device that may be in use at once. By default half of its free memory, at
        most 2^30.
    file : path, optional
        Where to keep the distances: a new ``.npy``, whose memory map becomes ``r.distance``. If a
        call with a file is interrupted or killed, or the disk is full, the same call continues from
        its last pivot block, with the same bits in its result. During the run the disk holds two
        matrices (four during the search for paths that int32 cannot hold), and a second call with
        the same file is refused. By default the distances are in the host's memory.
    """
    chosen = Options(**options)
    form, place = chosen.form(lengths.n, lengths.dtype), None
    if file is not None:
        place = checked_place("file", file, ".npy")
        if chosen.next_hops:
            allowed = "False with a file: next hops are computed from values kept in memory alone"
            raise InvalidArgument("next_hops", chosen.next_hops, allowed)
    with nullcontext() if place is None else Sidecar("file", place, FORMAT) as sidecar:
        blocks, matrices = _kept(lengths, device, form, memory, sidecar)
        stream = _Blocks(lengths, device, form, blocks, matrices)
        try:
            stats = stream.closed()
            next_hop = next_hops_of(matrices.now, stream.through)
            if lengths.too_long:
                joined, other = lengths.pattern(), None if place is None else _joined(place)
                other_options = options | {"next_hops": False}
                if sidecar is not None and not os.path.lexists(f"{other}.json"):
                    _remove(sidecar, joined)  # a run was killed after it had used this file
                result = apsp(joined, device, memory=memory, file=other, **other_options)
                try:
                    check_held(matrices.now, result.distance)
                finally:
                    if sidecar is not None:
                        _remove(sidecar, joined)
        except (NegativeCycleError, FloatingPointError, OverflowError):
            matrices.remove()  # another run would come to the same
            raise
        return APSPResult(matrices.finished(), next_hop, stats)


def _kept(
    lengths: Lengths, device: Device, form: Form, memory: int | None, sidecar: Sidecar | None
) -> tuple[Blocks, InMemory]:
    """Return the blocks of the matrix, and where it is kept: in files, if there is a sidecar."""
    state, rows = None, None
    if sidecar is not None:
        others = [*files_of(sidecar)[1:], _joined(sidecar.place)]
        state = sidecar.read(others, lengths.n)
        rows = None if state is None else state["made_from"].get("block")
    if not is_whole(rows) or rows <= 0 or rows % form.tile:
        rows = None
    blocks = blocks_for(lengths.n, form, memory, device, rows)
    if sidecar is None:
        return blocks, InMemory(lengths.dtype, blocks.spans)
    made_from = {
        "n": lengths.n, "dtype": lengths.dtype.name, "tile": form.tile, "block": blocks.rows,
        "arcs": _digest(lengths),
    }  # fmt: skip
    files = InFiles(lengths.dtype, blocks.spans, sidecar, blocks.count, made_from)
    files.begin(state)
    return blocks, files


def _joined(place: Path) -> Path:
    """Return where another such matrix is for a while: which pairs are joined at all."""
    return place.with_name(place.name + ".joined.npy")


def _remove(sidecar: Sidecar, joined: Lengths) -> None:
    shape = joined.n, joined.n
    sidecar.delete(MatrixFile(_joined(sidecar.place), joined.dtype, shape))


def _digest(lengths: Lengths) -> str:
    """Return a short fingerprint of the run's input."""
    digest = hashlib.blake2b(f"{lengths.infinite} {lengths.too_long}".encode(), digest_size=16)
    for first, last in slabs_of(lengths.n):
        digest.update(np.ascontiguousarray(lengths.rows(first, last)))
    return digest.hexdigest()


class _Blocks(Streamed):
    """A matrix whose blocks stream through the device, the pivot's through it alone."""

    def closed(self) -> dict[str, Any]:
        """Close the matrix over all vertices, or go on with that; return the stats."""
        resumed_at, count = self.kept.done, self.blocks.count
        with self.open("out_of_core", resumed_at * count**2, count**3):
            floyd_warshall(self, count, begin=resumed_at)
        return self.stats("out_of_core") | {"pivot_blocks": count, "resumed_at": resumed_at}

    def cross(self, pivot: Pivot) -> None:
        """Close a pivot, look for a negative cycle, and bring its row and column up to date."""
        span, k = self.blocks.span(pivot.first), pivot.first
        self.pipeline.run([self._closing(k)])
        self.read_backs += 1
        if self.device.read(self.flags)[0]:
            no_cycle(self.lengths, self.kept.next[span, span], range(span.start, span.stop))
        self.pipeline.run(self._panels(pivot))

    def lower(self, pivot: Pivot) -> None:
        """Lower the blocks that are left; the last pivot ends with the lengths that users see."""
        self.pipeline.run(self.products(pivot.rest, new=True))
        if pivot.end == pivot.across:
            no_cycle(self.lengths, self.kept.next)
            self.kept.change(partial(make_infinite, self.lengths.infinite))
        self.kept.reached(pivot.end)

    def _closing(self, k: int) -> Task:
        """Return the task of the pivot block, which is closed over its own vertices."""
        slot, shape = self.columns[0], self.blocks.shape(k, k)
        via, noted = self.noting(0, k, k, k)

        def launch() -> None:
            if noted:
                self.device.fill(via, -1)
            close(self, slot.block(shape), via, panel_of(shape[0]))

        return Task([self.load(slot, k, k)], launch, [self.store(slot, k, k), *noted])

    def _panels(self, pivot: Pivot) -> Iterator[Task]:
        """Yield the blocks of the pivot's rows and columns, each a product with the pivot.

        The old blocks go there through the slots of rows, the new ones come from those of the rest.
        """
        k = pivot.first
        closed = self.columns[0].block(self.blocks.shape(k, k))
        for turn, (i, j, _) in enumerate(pivot.row + pivot.column):
            slot, out = self.rows[turn % 2], self.rest[turn % 2]
            old, new = (s.block(self.blocks.shape(i, j)) for s in (slot, out))
            a, b = (closed, old) if i == k else (old, closed)
            via, noted = self.noting(turn, i, j, k)
            launch = partial(self.multiply, a, b, old, new, via)
            yield Task([self.load(slot, i, j)], launch, [self.store(out, i, j), *noted])
