"""Blocked Floyd-Warshall on CPU and GPU together: pivots on the CPU, all other blocks on the GPU.

Matsumoto, Nakasato and Sedukhin [matsumoto2011blocked], in the survey [busato2017chapter], section
4. Mapping: tile to block. Work O(n^3). The matrix stays on the host. The CPU closes each pivot
block and multiplies its row and its column of blocks by it, on all cores. The GPU has the large
part, a product for each other block, D = min(D, C x R): D and R go there, and D comes back. Both
work at once: the GPU first lowers the row and the column of the next pivot, and while it lowers the
others, the CPU works on that pivot.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np

from gpukernels.checks import check_whole
from gpukernels.cores.slabs import on_all_cores
from gpukernels.device import Device
from gpukernels.errors import InvalidArgument
from gpukernels.methods import takes_fields_of

from .encoding import absent_in
from .floyd_warshall import Pivot, floyd_warshall
from .host_tiles import close_rows, lower_columns
from .lengths import Lengths
from .result import APSPResult, no_cycle
from .streamed import Streamed
from .streamed_blocks import Blocks, check_fits
from .tiles import Form, Options

#: Rows of a block at most unless a caller says so. A product of such blocks adds 2^30 times for 12
#: MiB that are copied.
MOST_ROWS = 1024
#: Blocks across, unless a block would have more rows than that: with eight, nearly a quarter of the
#: additions are the CPU's.
BLOCKS = 8


@takes_fields_of(Options)
def apsp(
    lengths: Lengths, device: Device, *, block: int | None = None, **options: Any
) -> APSPResult:
    """Find all shortest paths, the pivots by the CPU and the rest by the device.

    The ``stats`` also have ``block``, ``pivot_blocks``, ``device_bytes``, ``bytes_to_device``,
    ``bytes_from_device``, and ``host_operations``: the CPU's share of the operations.

    Parameters
    ----------
    block : int, optional
        Rows and columns of a block, a multiple of `tile`; the device has room for six, and for two
        more with `next_hops`. Unless given, an eighth of the matrix, and at most 1,024.
    """
    chosen = Options(**options)
    form = chosen.form(lengths.n, lengths.dtype)
    blocks = _blocks(lengths.n, form, block, device)
    count = blocks.count
    stream = Both(lengths, device, form, blocks)
    with stream.open("matsumoto", 0, count * (count - 1) ** 2):
        floyd_warshall(stream, count)
    sizes = [blocks.padded(k) for k in range(count)]
    by_device = sum(size * (sum(sizes) - size) ** 2 for size in sizes)
    return stream.result(
        "matsumoto", pivot_blocks=count, operations=by_device + stream.by_host,
        host_operations=stream.by_host,
    )  # fmt: skip


def _blocks(n: int, form: Form, block: int | None, device: Device) -> Blocks:
    """Return the blocks of a caller's choice, or of ours; InvalidArgument unless they fit."""
    rows = min(form.whole(MOST_ROWS), max(form.tile, form.whole(-(-n // BLOCKS))))
    if block is not None:
        rows = check_whole("block", block, form.tile, 2**31 - form.tile)
    if rows % form.tile:
        raise InvalidArgument("block", block, f"a multiple of tile={form.tile}")
    blocks = Blocks(n, form.tile, rows, -(-n // rows), alone=0)
    check_fits(blocks, form, device, "block", block)
    return blocks


class Both(Streamed):
    """A matrix whose pivots the CPU closes, by `by_host` additions so far, one pivot ahead."""

    by_host = 0

    @contextmanager
    def open(self, method: str, done: int, total: int) -> Iterator[None]:
        """Take room on the device, and let the CPU begin with the first pivot."""
        with super().open(method, done, total), ThreadPoolExecutor(1, "pivots") as self._cpu:
            self._following = self._cpu.submit(self.close, 0)
            yield

    def cross(self, pivot: Pivot) -> None:
        """Wait for the CPU."""
        self._following.result()

    def lower(self, pivot: Pivot) -> None:
        """Lower the other blocks, those first that the CPU needs for the next pivot."""
        others, after = [*pivot.rest], pivot.end
        soon = [at for at in others if after in at[:2]]
        self.pipeline.run(self.products(soon, new=True))
        if after < pivot.across:
            self._following = self._cpu.submit(self.close, after)
        later = (at for at in others if after not in at[:2])
        self.pipeline.run(self.products(later, new=True))

    def close(self, k: int) -> None:
        """Close a pivot block, and bring its row and its column of blocks up to date with it.

        NegativeCycleError if a way from one of its vertices to itself is negative.
        """
        blocks, matrix, through = self.blocks, self.kept.now, self.through
        span = blocks.span(k)
        pivot, absent = np.array(matrix[span, span]), absent_in(matrix)
        via = () if through is None else (through[span, span], span.start)
        self.by_host += int(close_rows(pivot, absent, *via))
        matrix[span, span] = pivot
        no_cycle(self.lengths, pivot, range(span.start, span.stop))
        beside = Pivot(k, k + 1, blocks.count)
        panels = [(blocks.span(i), blocks.span(j)) for i, j, _ in beside.row + beside.column]

        def lower(first: int, last: int) -> int:
            operations = 0
            for at in panels[first:last]:
                old = np.array(matrix[at])
                factors = (pivot, 0, old) if at[0] == span else (old, 0, pivot)
                via = () if through is None else (through[at], span.start)
                operations += int(lower_columns(matrix[at], 0, *factors, absent, *via))
            return operations

        self.by_host += sum(on_all_cores(lower, (len(panels), blocks.elements)))
