"""Blocked Floyd-Warshall in blocks that workers hold: each update of a block is a task.

The same three phases as `blocked`, on a second level [venkataraman2003blocked], with blocks of many
tiles. The block on the diagonal is closed; then the blocks of its rows and columns are multiplied
by it; then all other blocks are updated, D = min(D, C x R). A worker that updates a block gets the
pivot's blocks from a worker that has them, and keeps them for its other blocks: each goes to every
worker once, as in a broadcast. A block stays on its worker, unless another worker is idle.

There are n^3 additions, for blocks of any size. A worker receives about 8 n^2 bytes, 8 n b for each
of n / b pivots, while it does n^3 / w additions.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property
from itertools import chain
from math import ceil, sqrt
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukernels.checks import check_whole, needed
from gpukernels.device import Device
from gpukernels.distributed import RowTile, result_of
from gpukernels.distributed.placing import NO_WARNING
from gpukernels.distributed.resuming import Sidecar, checked_place
from gpukernels.errors import InvalidArgument
from gpukernels.graphs.graph import Graph

from .blocked import Choices
from .floyd_warshall import Pivot, floyd_warshall
from .host_tiles import Algebra, Done, closed, lowered
from .in_tiles import InTiles, counts
from .kept_steps import InFiles, files_of
from .lengths import Lengths
from .result import APSPResult, make_infinite

FORMAT = "gpukernels blocks after a pivot 2"
#: Rows of a block at most unless a caller says so: 256 MiB.
MOST_ROWS = 8192


def apsp(lengths: Lengths, device: Device | None, client: Any, **options: Any) -> APSPResult:
    """Find all shortest paths, with one update of a block per task; see `blocked.Choices`."""
    chosen = Choices(**options)
    block, into = chosen.block, chosen.into
    for name, none in (("next_hops", False), ("panel", None), ("devices", None)):
        if (value := getattr(chosen, name)) is not none:
            allowed = f"{none} where blocks are tasks"
            if name == "next_hops":
                allowed += (
                    ": a call on one device, without client, block, engine and into, has them"
                )
            raise InvalidArgument(name, value, allowed)
    call = _Blocks(lengths, device, client, chosen.engine, into, chosen)
    if block is None:
        workers = 1 if client is None else len(client.nthreads())
        block = min(MOST_ROWS, max(1, ceil(lengths.n / (1 + ceil(2 * sqrt(workers))))))
    block = check_whole("block", block, 1, 2**31 - 1)
    made_from = call.made_from(block=block)
    call.spans = [slice(a, min(a + block, lengths.n)) for a in range(0, lengths.n, block)]
    count = len(call.spans)
    with nullcontext() if into is None else _pivots_beside(into) as sidecar:
        if sidecar is not None and count > 1:
            call.files = InFiles(lengths.dtype, call.spans, sidecar, count - 1, made_from)
        files = call.files
        try:
            result = call.result(call.rows, rows_of_blocks, (lengths.infinite,), made_from)
        except BaseException:
            if files is not None and files.new and files.done == 0:
                files.remove()  # nothing is lost
            raise
        if files is not None:
            files.remove()
    stats = {"block": block, "blocks": count**2, "resumed_at": call.resumed_at}
    return replace(result, stats=result.stats | stats)


def _pivots_beside(into: str | PathLike) -> Sidecar:
    """Return the sidecar of the blocks after a pivot, from which a killed call goes on.

    Every block comes to this process for that, so it is only done for a call that keeps its result.
    """
    result = checked_place("into", into, ".npy", ".zarr")
    return Sidecar("into", result.with_name(result.name + ".pivots"), FORMAT)


class _Blocks(InTiles):
    """Blocks of some `spans` of rows: made here, or results of tasks that stay with the workers.

    They are kept in `files` after each pivot. A killed call had done `resumed_at` pivots.
    """

    method = "blocked"
    spans: list[slice]
    files: InFiles | None = None
    resumed_at = 0

    def rows(self) -> list[RowTile]:
        """Return a tile of the result for each row of blocks."""
        if self.files is not None:
            sidecar = self.files.sidecar
            left = sidecar.read(files_of(sidecar)[1:], len(self.spans))
            if left is not None or not sidecar.place.with_suffix(".json").exists():
                self.files.begin(left, self.lengths.n**2 * self.lengths.dtype.itemsize)
        names = [f"rows {of.start:,} to {of.stop - 1:,}" for of in self.spans]
        return self.tiles(names, [np.arange(of.start, of.stop) for of in self.spans])

    def steps(self, at: int) -> tuple:
        """Return a row of blocks, closed over all vertices."""
        return (self._closed[at],)

    @cached_property
    def _closed(self) -> list[list[Any]]:
        files = self.files
        if files is not None:
            if not files.begun:
                files.begin(None)
            self.resumed_at = files.done
        self._blocks = self._arcs() if files is None or not files.done else self._left(files)
        floyd_warshall(self, len(self.spans), begin=self.resumed_at)
        return self._blocks

    def cross(self, pivot: Pivot) -> None:
        """Close the pivot, then update its row and its column."""
        k = pivot.first
        self._update(k, k, k, close_pivot, self.graph_there, self.algebra, self.spans[k])
        for at in chain(*zip(pivot.row, pivot.column, strict=True)):
            self._lower(*at)

    def lower(self, pivot: Pivot) -> None:
        """Update the other blocks; after all but the last pivot, whose rows are kept, keep all."""
        for at in pivot.rest:
            self._lower(*at)
        if self.files is not None and pivot.end < pivot.across:
            for i, row in enumerate(self._blocks):
                for j, block in enumerate(row):
                    done = block if self.client is None else result_of(self.call, block, {})
                    self.files.put(i, j, done.matrix)
            self.files.reached(pivot.end)

    def _lower(self, i: int, j: int, k: int) -> None:
        factors = self._blocks[i][k], self._blocks[k][j]
        self._update(i, j, k, lower, self.algebra, after=factors)

    def _update(self, i: int, j: int, k: int, work: Any, *args: Any, after: tuple = ()) -> None:
        name = f"block {i}, {j} at pivot {k}"
        self._blocks[i][j] = self.do(name, work, *args, self._blocks[i][j], *after)

    def _arcs(self) -> list[list[Any]]:
        """Return the blocks of the matrix of arcs."""
        args = self.graph_there, replace(self.lengths, given=None)
        slabs = [
            self.do(f"rows {i} of blocks", rows_of_arcs, *args, span)
            for i, span in enumerate(self.spans)
        ]
        return [
            [self.do(f"block {i}, {j}", part_of, slab, of) for j, of in enumerate(self.spans)]
            for i, slab in enumerate(slabs)
        ]

    def _left(self, files: InFiles) -> list[list[Any]]:
        """Return the blocks that a killed call has left: each a task, which can be done again."""
        local = self.client is None
        with nullcontext() if local else needed("dask", "dask").config.set(NO_WARNING):
            return [
                [
                    self.do(f"block {i}, {j}", part_of, np.array(files.now[rows, of]), slice(None))
                    for j, of in enumerate(self.spans)
                ]
                for i, rows in enumerate(self.spans)
            ]


def rows_of_arcs(g: Graph, about: Lengths, span: slice) -> NDArray:
    """Return some rows of the matrix of arcs."""
    return replace(about, given=g).rows(span.start, span.stop)


def part_of(slab: NDArray, span: slice) -> Done:
    """Return some columns of them as a block on which this call has done nothing."""
    return Done(np.ascontiguousarray(slab[:, span]), 0, 0)


def close_pivot(g: Graph, algebra: Algebra, span: slice, block: Done) -> Done:
    """Close a block on the diagonal; NegativeCycleError if a way back to a vertex is negative."""
    return _and_before(closed(algebra, block.matrix, g, range(span.start, span.stop)), block)


def lower(algebra: Algebra, block: Done, a: Done, b: Done) -> Done:
    """Lower a block by a product of two others."""
    return _and_before(lowered(algebra, block.matrix, a.matrix, b.matrix), block)


def _and_before(now: Done, before: Done) -> Done:
    launches, operations = now.launches + before.launches, now.operations + before.operations
    return Done(now.matrix, launches, operations)


def rows_of_blocks(infinite: float, blocks: list[Done]) -> tuple[NDArray, dict[str, Any]]:
    """Return rows of the result, and what was done to all of their blocks."""
    rows = np.concatenate([block.matrix for block in blocks], axis=1)
    make_infinite(infinite, rows)
    return rows, counts(blocks)
