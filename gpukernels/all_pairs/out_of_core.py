"""Floyd-Warshall on a matrix larger than the device, block by block, with copies beside kernels.

Blocked Floyd-Warshall [venkataraman2003blocked], once more around itself, with blocks of many tiles
that a device has room for. Mapping: tile to block. Work O(n^3). The matrix stays on the host, or in
a file. For each diagonal block: the paths inside it; then its rows and columns of blocks, products
with it; then all the rest, D = min(D, C x R). The bytes copied are about 12 n^3 / r for blocks of r
rows: with four times the memory, half of them.

Panels (the pivot block, its rows and its columns) are kept apart from the matrix until they are
all made: see `out_of_core_files` for why a step can then be repeated.
"""

from __future__ import annotations

import hashlib
from os import PathLike
from typing import Any

import numpy as np

from gpukernels.checks import is_whole
from gpukernels.device import Device
from gpukernels.errors import InvalidArgument, NegativeCycleError
from gpukernels.front_door import takes_fields_of

from .length_rows import LengthRows
from .out_of_core_blocks import blocks_for
from .out_of_core_files import InFile, InMemory, beside, checked_file, joined_beside, state_of
from .out_of_core_steps import Run
from .result import APSPResult, check_held, result_of
from .tiles import Options


@takes_fields_of(Options)
def apsp(
    lengths: LengthRows,
    device: Device,
    *,
    memory: int | None = None,
    file: str | PathLike | None = None,
    **options: Any,
) -> APSPResult:
    """Find all shortest paths with a bounded part of the matrix on the device.

    Parameters
    ----------
    memory : int, optional
        Bytes of the device that may be in use at once. Unless given, half of what it has free, and
        no more than 2^30.
    file : path, optional
        Where the distances are kept: a new ``.npy``, whose memory map becomes ``r.distance``. If a
        call with a file is interrupted or killed, the same call goes on from its last pivot block,
        to the same bits; one process at a time. Unless given, they are in the host's memory.
    **options
        See :class:`~gpukernels.all_pairs.tiles.Options`; no `next_hops` with `file`.

    Returns
    -------
    APSPResult
        The same in every run. ``stats`` has beside ``block`` (rows of a block), ``pivot_blocks``,
        ``resumed_at`` (pivot blocks that an interrupted run had done), ``device_bytes``, at most
        `memory`, and ``bytes_to_device`` and ``bytes_from_device``.
    """
    chosen = Options(**options)
    form, next_hops = chosen.form(lengths.n, lengths.dtype), chosen.next_hops
    place = None if file is None else checked_file(file)
    if place is not None and next_hops:
        allowed = "False with a file: what hops are made of is kept in memory alone"
        raise InvalidArgument("next_hops", next_hops, allowed)
    state = None if place is None else state_of(place)
    rows = None if state is None else state["made_from"].get("block")
    if not is_whole(rows) or rows <= 0 or rows % form.tile:
        rows = None
    blocks = blocks_for(lengths.n, form, memory, device, rows)
    panels = min(2, blocks.count), blocks.count, blocks.elements
    if place is None:
        kept = InMemory(lengths.n, lengths.dtype, panels)
    else:
        made_from = {
            "n": lengths.n, "dtype": lengths.dtype.name, "tile": form.tile, "block": blocks.rows,
            "arcs": _digest(lengths),
        }  # fmt: skip
        kept = InFile(place, lengths.n, lengths.dtype, panels, made_from, state)
    run = Run(lengths, device, form, blocks, kept)
    try:
        stats = run.close()
        result = result_of(lengths, kept.matrix, run.through, stats)
        if lengths.too_long:
            other = None if place is None else joined_beside(place)
            if other is not None and not beside(other)[1].exists():
                other.unlink(missing_ok=True)  # this run was killed when it had just been used
            told = options | {"next_hops": False}
            joined = apsp(lengths.pattern(), device, memory=memory, file=other, **told)
            try:
                check_held(result.distance, joined.distance)
            finally:
                if other is not None:
                    other.unlink()
    except (NegativeCycleError, FloatingPointError, OverflowError):
        kept.remove()  # another run would come to the same
        raise
    return APSPResult(kept.finished(), result.next_hop, stats)


def _digest(lengths: LengthRows) -> str:
    """Return what tells apart what runs are of, in few letters."""
    digest = hashlib.blake2b(f"{lengths.infinite} {lengths.too_long}".encode(), digest_size=16)
    for first, last in lengths.slabs():
        digest.update(np.ascontiguousarray(lengths.rows(first, last)))
    return digest.hexdigest()
