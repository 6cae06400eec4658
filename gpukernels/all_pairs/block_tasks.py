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

from dataclasses import replace
from functools import cached_property, partial
from math import ceil, sqrt
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukernels.beyond import ENGINES, RowTile, digest_of, make_rows, placed, task
from gpukernels.checks import check_choice, check_whole
from gpukernels.device import Device, chosen_device
from gpukernels.errors import InvalidArgument
from gpukernels.graph import Graph

from .host_tiles import Algebra, Done, closed, lowered, without_cycle
from .length_rows import LengthRows
from .lengths import UNREACHED
from .result import APSPResult
from .tiles import Options

CALL = "apsp blocked"
#: Rows of a block at most unless a caller says so: 256 MiB.
MOST_ROWS = 8192


def apsp(
    lengths: LengthRows,
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
    check_choice("engine", engine, ENGINES)
    left_out = (
        ("next_hops", chosen.next_hops, False), ("panel", panel, None), ("devices", devices, None),
    )  # fmt: skip
    for name, value, none in left_out:
        if value is not none:
            raise InvalidArgument(name, value, f"{none} where blocks are tasks")
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
    tasks = _Tasks(client, replace(lengths, given=g), block, algebra)
    made_from = {"call": CALL, "block": block, "engine": engine}
    if into is not None:
        made_from |= {"graph": digest_of(g.offsets, g.targets, g.weights)}
        made_from |= {"tile": chosen.tile, "per_thread": chosen.per_thread}
    made = make_rows(
        CALL, (g.n, g.n), lengths.dtype, lambda _: tasks.tiles(), rows_of_blocks,
        (lengths.infinite,), client, into, made_from,
    )  # fmt: skip
    stats: dict[str, Any] = {"method": "blocked", "launches": 0, "read_backs": 0, "operations": 0}
    for told in made.stats:
        for name in told:
            stats[name] += told[name]
    stats |= {"block": block, "blocks": len(tasks.spans) ** 2}
    stats |= {"tiles": made.tiles, "resumed": made.resumed}
    return APSPResult(made.matrix, None, stats)


class _Tasks:
    """Updates of blocks: done here, or tasks whose results stay with the workers."""

    def __init__(self, client: Any, lengths: LengthRows, block: int, algebra: Algebra):
        self._client, self._lengths, self._algebra = client, lengths, algebra
        self.spans = [(a, min(a + block, lengths.n)) for a in range(0, lengths.n, block)]

    def tiles(self) -> list[RowTile]:
        """Return a tile of the result for each row of blocks."""
        return [
            RowTile(f"rows {a:,} to {b - 1:,}", np.arange(a, b), partial(self._row, at))
            for at, (a, b) in enumerate(self.spans)
        ]

    def _row(self, at: int) -> tuple:
        return (self._closed[at],)

    @cached_property
    def _closed(self) -> list[list[Any]]:
        """All blocks, closed over all vertices."""
        do, algebra = partial(task, self._client, CALL), self._algebra
        count = len(self.spans)
        g: Any = self._lengths.given
        if self._client is not None:
            g = placed(self._client, g)
        about = replace(self._lengths, given=None)
        blocks = []
        for i, span in enumerate(self.spans):
            slab = do(f"rows {i} of blocks", rows_of_arcs, g, about, span)
            names = (f"block {i}, {j}" for j in range(count))
            blocks.append(
                [do(name, part_of, slab, of) for name, of in zip(names, self.spans, strict=True)]
            )
        for k, span in enumerate(self.spans):
            others = [at for at in range(count) if at != k]
            at = f"at pivot {k}"
            pivot = do(f"block {k}, {k} {at}", close_pivot, g, algebra, span, blocks[k][k])
            blocks[k][k] = pivot
            for j in others:
                old = blocks[k][j]
                blocks[k][j] = do(f"block {k}, {j} {at}", lower, algebra, old, pivot, old)
                old = blocks[j][k]
                blocks[j][k] = do(f"block {j}, {k} {at}", lower, algebra, old, old, pivot)
            for i in others:
                for j in others:
                    args = blocks[i][j], blocks[i][k], blocks[k][j]
                    blocks[i][j] = do(f"block {i}, {j} {at}", lower, algebra, *args)
        return blocks


def rows_of_arcs(g: Graph, about: LengthRows, span: tuple[int, int]) -> NDArray:
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
    if rows.dtype == np.int32:
        rows[rows >= infinite] = UNREACHED
    told = {
        "launches": sum(block.launches for block in blocks),
        "operations": sum(block.operations for block in blocks),
    }
    return rows, told
