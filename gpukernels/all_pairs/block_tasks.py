"""Blocked Floyd-Warshall in blocks that workers hold: each update of a block is a task.

The same three phases as `blocked`, once more around themselves [venkataraman2003blocked], with
blocks of many tiles. The block on the diagonal is closed; then the blocks of its rows and columns
are products with it; then all the rest, D = min(D, C x R). A worker that updates a block gets the
pivot's from whoever has them and keeps them for its other blocks: each goes to every worker once,
as in a broadcast. Blocks themselves stay where they are, unless a worker has nothing to do.

Additions are n^3, in whatever blocks; bytes that a worker receives are about 8 n^2, for each of n
/ b pivots 8 n b, while it does n^3 / w additions.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property, partial
from math import ceil, sqrt
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukernels.checks import check_whole
from gpukernels.device import Device, chosen_device
from gpukernels.distributed import RowTile, digest_of, make_rows, placed, result_of, task
from gpukernels.distributed.clients import needed
from gpukernels.distributed.placing import NO_WARNING
from gpukernels.distributed.resuming import Sidecar, checked_place
from gpukernels.errors import InvalidArgument
from gpukernels.graphs.graph import Graph

from .encoding import none_in
from .host_tiles import Algebra, Done, closed, lowered, without_cycle
from .kept_steps import InFiles, files_of
from .lengths import Lengths
from .result import APSPResult
from .tiles import Options

CALL = "apsp blocked"
FORMAT = "gpukernels blocks after a pivot 2"
#: Rows of a block at most unless a caller says so: 256 MiB.
MOST_ROWS = 8192


def apsp(
    lengths: Lengths,
    device: Device | None,
    client: Any,
    *,
    block: int | None = None,
    engine: str = "kernels",
    into: str | PathLike | None = None,
    panel: int | None = None,
    devices: object = None,
    **options: Any,
) -> APSPResult:
    """Find all shortest paths, an update of a block a task; see `blocked.apsp` for the options."""
    chosen = Options(**options)
    chosen.form(lengths.n, lengths.dtype)
    left_out = (
        ("next_hops", chosen.next_hops, False), ("panel", panel, None), ("devices", devices, None),
    )  # fmt: skip
    for name, value, none in left_out:
        if value is not none:
            allowed = f"{none} where blocks are tasks"
            if name == "next_hops":
                allowed += (
                    ": a call on one device, without client, block, engine and into, has them"
                )
            raise InvalidArgument(name, value, allowed)
    if into is not None and lengths.too_long:
        allowed = f"None where a path may be longer than {lengths.dtype} holds"
        raise InvalidArgument("into", into, allowed)
    if block is None:
        workers = 1 if client is None else len(client.nthreads())
        block = min(MOST_ROWS, max(1, ceil(lengths.n / (1 + ceil(2 * sqrt(workers))))))
    block = check_whole("block", block, 1, 2**31 - 1)
    if client is None and engine == "kernels":
        device = chosen_device(device)
    algebra = Algebra(engine, chosen.tile, chosen.per_thread, device, chosen.padding)
    g = lengths.graph()
    made_from = {"call": CALL, "block": block, "engine": engine}
    if into is not None:
        made_from |= {"graph": digest_of(g.offsets, g.targets, g.weights)}
        made_from |= {"tile": chosen.tile, "per_thread": chosen.per_thread}
    spans = [(a, min(a + block, g.n)) for a in range(0, g.n, block)]
    with nullcontext() if into is None else _pivots_beside(into) as sidecar:
        kept = None
        if sidecar is not None and len(spans) > 1:
            cuts = [slice(*span) for span in spans]
            kept = InFiles(lengths.dtype, cuts, sidecar, len(spans) - 1, made_from)
        tasks = _Tasks(client, replace(lengths, given=g), spans, algebra, kept, sidecar)
        try:
            made = make_rows(
                CALL, (g.n, g.n), lengths.dtype, lambda _: tasks.tiles(), rows_of_blocks,
                (lengths.infinite,), client, into, made_from,
            )  # fmt: skip
        except BaseException:
            if kept is not None and kept.new and kept.done == 0:
                kept.remove()  # nothing is lost
            raise
        if kept is not None:
            kept.remove()
    stats: dict[str, Any] = {"method": "blocked", "launches": 0, "read_backs": 0, "operations": 0}
    for told in made.stats:
        for name in told:
            stats[name] += told[name]
    stats |= {"block": block, "blocks": len(spans) ** 2, "resumed_at": tasks.resumed_at}
    stats |= {"tiles": made.tiles, "resumed": made.resumed}
    return APSPResult(made.matrix, None, stats)


def _pivots_beside(into: str | PathLike) -> Sidecar:
    """Return the sidecar of the blocks after a pivot, from which a killed call goes on.

    Every block comes to this process for that, so it is only done for a call that keeps its result.
    """
    result = checked_place("into", into, ".npy", ".zarr")
    return Sidecar("into", result.with_name(result.name + ".pivots"), FORMAT)


class _Tasks:
    """Updates of blocks: done here, or tasks whose results stay with the workers.

    Attributes
    ----------
    resumed_at : int
        Over how many pivots the blocks were closed that a killed call has left.
    """

    def __init__(
        self,
        client: Any,
        lengths: Lengths,
        spans: list[tuple[int, int]],
        algebra: Algebra,
        kept: InFiles | None,
        sidecar: Sidecar | None,
    ):
        self._client, self._lengths, self._algebra = client, lengths, algebra
        self._spans, self._kept, self._sidecar, self.resumed_at = spans, kept, sidecar, 0

    def tiles(self) -> list[RowTile]:
        """Return a tile of the result for each row of blocks."""
        if self._kept is not None and self._sidecar is not None:
            left = self._sidecar.read(files_of(self._sidecar)[1:], len(self._spans))
            if left is not None or not self._sidecar.place.with_suffix(".json").exists():
                size = self._lengths.n**2 * self._lengths.dtype.itemsize
                self._kept.begin(left, size)
        return [
            RowTile(f"rows {a:,} to {b - 1:,}", np.arange(a, b), partial(self._row, at))
            for at, (a, b) in enumerate(self._spans)
        ]

    def _row(self, at: int) -> tuple:
        return (self._closed[at],)

    @cached_property
    def _closed(self) -> list[list[Any]]:
        """All blocks, closed over all vertices."""
        g: Any = self._lengths.given
        if self._client is not None:
            g = placed(self._client, g)
        if self._kept is not None:
            if not self._kept.begun:
                self._kept.begin(None)
            self.resumed_at = self._kept.done
        blocks = self._left() if self.resumed_at else self._arcs(g)
        for k in range(self.resumed_at, len(blocks)):
            self._close(g, blocks, k)
            # Of the last one the rows of the result are kept.
            if self._kept is not None and k + 1 < len(blocks):
                for i, row in enumerate(blocks):
                    for j, block in enumerate(row):
                        self._kept.put(i, j, self._here(block).matrix)
                self._kept.reached(k + 1)
        return blocks

    def _do(self, name: str, work: Any, *args: Any) -> Any:
        return task(self._client, CALL, name, work, *args)

    def _here(self, block: Any) -> Done:
        return block if self._client is None else result_of(CALL, block, {})

    def _arcs(self, g: Any) -> list[list[Any]]:
        """Return the blocks of the matrix of arcs."""
        about, blocks = replace(self._lengths, given=None), []
        for i, span in enumerate(self._spans):
            slab = self._do(f"rows {i} of blocks", rows_of_arcs, g, about, span)
            blocks.append(
                [self._do(f"block {i}, {j}", part_of, slab, of) for j, of in enumerate(self._spans)]
            )
        return blocks

    def _left(self) -> list[list[Any]]:
        """Return the blocks that a killed call has left: each a task, which can be done again."""
        assert self._kept is not None
        quiet = nullcontext() if self._client is None else needed("dask").config.set(NO_WARNING)
        cuts, matrix = [slice(*span) for span in self._spans], self._kept.now
        with quiet:
            return [
                [
                    self._do(f"block {i}, {j}", as_left, np.array(matrix[rows, columns]))
                    for j, columns in enumerate(cuts)
                ]
                for i, rows in enumerate(cuts)
            ]

    def _close(self, g: Any, blocks: list[list[Any]], k: int) -> None:
        """Let paths lead through the vertices of a pivot."""
        do, algebra, at = self._do, self._algebra, f"at pivot {k}"
        others = [i for i in range(len(blocks)) if i != k]
        name = f"block {k}, {k} {at}"
        pivot = blocks[k][k] = do(name, close_pivot, g, algebra, self._spans[k], blocks[k][k])
        for j in others:
            old = blocks[k][j]
            blocks[k][j] = do(f"block {k}, {j} {at}", lower, algebra, old, pivot, old)
            old = blocks[j][k]
            blocks[j][k] = do(f"block {j}, {k} {at}", lower, algebra, old, old, pivot)
        for i in others:
            for j in others:
                args = blocks[i][j], blocks[i][k], blocks[k][j]
                blocks[i][j] = do(f"block {i}, {j} {at}", lower, algebra, *args)


def as_left(block: NDArray) -> Done:
    """Return a block that a killed call has left, on which this one has done nothing."""
    return Done(block, 0, 0)


def rows_of_arcs(g: Graph, about: Lengths, span: tuple[int, int]) -> NDArray:
    """Return some rows of the matrix of arcs."""
    return replace(about, given=g).rows(*span)


def part_of(slab: NDArray, span: tuple[int, int]) -> Done:
    """Return some columns of them as a block on which nothing has been done."""
    return Done(np.ascontiguousarray(slab[:, slice(*span)]), 0, 0)


def close_pivot(g: Graph, algebra: Algebra, span: tuple[int, int], block: Done) -> Done:
    """Close a block on the diagonal; NegativeCycleError if a way back to a vertex is negative."""
    return _and_before(without_cycle(g, closed(algebra, block.matrix), np.arange(*span)), block)


def lower(algebra: Algebra, block: Done, a: Done, b: Done) -> Done:
    """Lower a block by a product of two others."""
    return _and_before(lowered(algebra, block.matrix, a.matrix, b.matrix), block)


def _and_before(now: Done, before: Done) -> Done:
    launches, operations = now.launches + before.launches, now.operations + before.operations
    return Done(now.matrix, launches, operations)


def rows_of_blocks(infinite: float, blocks: list[Done]) -> tuple[NDArray, dict[str, Any]]:
    """Return rows of the result, and what was done to all of their blocks."""
    rows = np.concatenate([block.matrix for block in blocks], axis=1)
    if rows.dtype.kind == "i":
        rows[rows >= infinite] = none_in(rows)
    told = {
        "launches": sum(block.launches for block in blocks),
        "operations": sum(block.operations for block in blocks),
    }
    return rows, told
