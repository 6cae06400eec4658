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

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain
from math import ceil, sqrt
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukernels.checks import check_whole, needed
from gpukernels.device import Device
from gpukernels.distributed import RowTile, result_of, task
from gpukernels.distributed.placing import NO_WARNING
from gpukernels.distributed.resuming import Sidecar, checked_place
from gpukernels.errors import InvalidArgument
from gpukernels.graphs.graph import Graph

from .blocked import Choices
from .host_tiles import Algebra, Done, closed, lowered
from .in_tiles import InTiles, counts
from .kept_steps import InFiles, files_of
from .lengths import Lengths
from .pivots import Pivot, pivots
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
    call = InTiles("blocked", lengths, device, client, chosen.engine, into, chosen)
    if block is None:
        workers = 1 if client is None else len(client.nthreads())
        block = min(MOST_ROWS, max(1, ceil(lengths.n / (1 + ceil(2 * sqrt(workers))))))
    block = check_whole("block", block, 1, 2**31 - 1)
    made_from = call.made_from(block=block)
    spans = [slice(a, min(a + block, lengths.n)) for a in range(0, lengths.n, block)]
    with nullcontext() if into is None else _pivots_beside(into) as sidecar:
        files = None
        if sidecar is not None and len(spans) > 1:
            files = InFiles(lengths.dtype, spans, sidecar, len(spans) - 1, made_from)
        tasks = _Tasks(call, spans, files)
        try:
            result = call.result(tasks.tiles, rows_of_blocks, (lengths.infinite,), made_from)
        except BaseException:
            if files is not None and files.new and files.done == 0:
                files.remove()  # nothing is lost
            raise
        if files is not None:
            files.remove()
    stats = {"block": block, "blocks": len(spans) ** 2, "resumed_at": tasks.resumed_at}
    return replace(result, stats=result.stats | stats)


def _pivots_beside(into: str | PathLike) -> Sidecar:
    """Return the sidecar of the blocks after a pivot, from which a killed call goes on.

    Every block comes to this process for that, so it is only done for a call that keeps its result.
    """
    result = checked_place("into", into, ".npy", ".zarr")
    return Sidecar("into", result.with_name(result.name + ".pivots"), FORMAT)


class _Tasks:
    """Updates of blocks: done here, or tasks whose results stay with the workers.

    `resumed_at` is how many pivots a killed call had done that has left its blocks.
    """

    def __init__(self, call: InTiles, spans: list[slice], files: InFiles | None):
        self._call, self._spans, self._files, self.resumed_at = call, spans, files, 0

    def tiles(self) -> list[RowTile]:
        """Return a tile of the result for each row of blocks."""
        if self._files is not None:
            sidecar = self._files.sidecar
            left = sidecar.read(files_of(sidecar)[1:], len(self._spans))
            if left is not None or not sidecar.place.with_suffix(".json").exists():
                lengths = self._call.lengths
                self._files.begin(left, lengths.n**2 * lengths.dtype.itemsize)
        return [
            RowTile(
                f"rows {of.start:,} to {of.stop - 1:,}", np.arange(of.start, of.stop),
                partial(self._row, at),
            )
            for at, of in enumerate(self._spans)
        ]  # fmt: skip

    def _row(self, at: int) -> tuple:
        return (self._closed[at],)

    @cached_property
    def _closed(self) -> list[list[Any]]:
        """All blocks, closed over all vertices."""
        g, files = self._call.graph_there, self._files
        if files is not None:
            if not files.begun:
                files.begin(None)
            self.resumed_at = files.done
        blocks = self._left(files) if files is not None and files.done else self._arcs(g)
        for pivot in pivots(len(blocks), begin=self.resumed_at):
            self._close(g, blocks, pivot)
            # After the last pivot, the rows of the result are kept instead.
            if files is not None and pivot.end < len(blocks):
                for i, row in enumerate(blocks):
                    for j, block in enumerate(row):
                        files.put(i, j, self._done(block).matrix)
                files.reached(pivot.end)
        return blocks

    def _do(self, name: str, work: Any, *args: Any) -> Any:
        return task(self._call.client, self._call.call, name, work, *args)

    def _done(self, block: Any) -> Done:
        call = self._call
        return block if call.client is None else result_of(call.call, block, {})

    def _each(self, block: Callable[[int, int], Any]) -> list[list[Any]]:
        """Return all blocks, each as `block` gives it."""
        every = range(len(self._spans))
        return [[block(i, j) for j in every] for i in every]

    def _arcs(self, g: Any) -> list[list[Any]]:
        """Return the blocks of the matrix of arcs."""
        about = replace(self._call.lengths, given=None)
        slabs = [
            self._do(f"rows {i} of blocks", rows_of_arcs, g, about, span)
            for i, span in enumerate(self._spans)
        ]
        return self._each(
            lambda i, j: self._do(f"block {i}, {j}", part_of, slabs[i], self._spans[j])
        )

    def _left(self, files: InFiles) -> list[list[Any]]:
        """Return the blocks that a killed call has left: each a task, which can be done again."""

        def block(i: int, j: int) -> Any:
            rows = np.array(files.now[self._spans[i], self._spans[j]])
            return self._do(f"block {i}, {j}", part_of, rows, slice(None))

        local = self._call.client is None
        with nullcontext() if local else needed("dask", "dask").config.set(NO_WARNING):
            return self._each(block)

    def _close(self, g: Any, blocks: list[list[Any]], pivot: Pivot) -> None:
        """Let paths lead through the vertices of a pivot."""
        k, algebra = pivot.first, self._call.algebra

        def update(i: int, j: int, work: Any, *args: Any) -> None:
            name = f"block {i}, {j} at pivot {k}"
            blocks[i][j] = self._do(name, work, *args)

        update(k, k, close_pivot, g, algebra, self._spans[k], blocks[k][k])
        crossed = chain.from_iterable(zip(pivot.row, pivot.column, strict=True))
        for i, j, _ in chain(crossed, pivot.rest):
            update(i, j, lower, algebra, blocks[i][j], blocks[i][k], blocks[k][j])


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
