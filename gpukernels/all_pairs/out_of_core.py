"""Floyd-Warshall on a matrix larger than the device, block by block, with copies beside kernels.

Blocked Floyd-Warshall [venkataraman2003blocked], once more around itself, with blocks of many tiles
that a device has room for. Mapping: tile to block. Work O(n^3). The matrix stays on the host, or in
a file. For each diagonal block: the paths inside it; then its rows and columns of blocks, products
with it; then all the rest, D = min(D, C x R). The bytes copied are about 12 n^3 / r for blocks of r
rows: with four times the memory, half of them.

In memory, all of this changes one matrix. In files, each pivot block makes a new matrix, so that a
killed run can go on: see `kept_steps`.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import nullcontext
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from gpukernels.checks import is_whole
from gpukernels.device import Device
from gpukernels.distributed.disk import MatrixFile
from gpukernels.distributed.resuming import Sidecar, checked_place
from gpukernels.errors import InvalidArgument, NegativeCycleError
from gpukernels.methods import takes_fields_of

from .kept_steps import InFiles, InMemory, files_of
from .lengths import Lengths
from .out_of_core_blocks import Blocks, blocks_for
from .out_of_core_steps import Run
from .result import APSPResult, check_held, next_hops_of
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

    Parameters
    ----------
    memory : int, optional
        Bytes of the device that may be in use at once. Unless given, half of what it has free, and
        no more than 2^30.
    file : path, optional
        Where the distances are kept: a new ``.npy``, whose memory map becomes ``r.distance``. If a
        call with a file is interrupted or killed, or the disk is full, the same call goes on from
        its last pivot block, to the same bits. During the run the disk holds two matrices (four
        while it looks for paths that int32 cannot hold), and a second call with the same file is
        refused. Unless given, the distances are in the host's memory.
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
    form, place = chosen.form(lengths.n, lengths.dtype), None
    if file is not None:
        place = checked_place("file", file, ".npy")
        if chosen.next_hops:
            allowed = "False with a file: what hops are made of is kept in memory alone"
            raise InvalidArgument("next_hops", chosen.next_hops, allowed)
    with nullcontext() if place is None else Sidecar("file", place, FORMAT) as sidecar:
        blocks, kept = _kept(lengths, device, form, memory, sidecar)
        run = Run(lengths, device, form, blocks, kept)
        try:
            stats = run.close()
            next_hop = next_hops_of(kept.now, run.through)
            if lengths.too_long:
                joined, other = lengths.pattern(), None if place is None else _joined(place)
                told = options | {"next_hops": False}
                if sidecar is not None and not os.path.lexists(f"{other}.json"):
                    _remove(sidecar, joined)  # a run was killed after it had used this file
                found = apsp(joined, device, memory=memory, file=other, **told)
                try:
                    check_held(kept.now, found.distance)
                finally:
                    if sidecar is not None:
                        _remove(sidecar, joined)
        except (NegativeCycleError, FloatingPointError, OverflowError):
            kept.remove()  # another run would come to the same
            raise
        return APSPResult(kept.finished(), next_hop, stats)


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
    spans = [blocks.span(k) for k in range(blocks.count)]
    if sidecar is None:
        return blocks, InMemory(lengths.dtype, spans)
    made_from = {
        "n": lengths.n, "dtype": lengths.dtype.name, "tile": form.tile, "block": blocks.rows,
        "arcs": _digest(lengths),
    }  # fmt: skip
    kept = InFiles(lengths.dtype, spans, sidecar, blocks.count, made_from)
    kept.begin(state)
    return blocks, kept


def _joined(place: Path) -> Path:
    """Return where another such matrix is for a while: which pairs are joined at all."""
    return place.with_name(place.name + ".joined.npy")


def _remove(sidecar: Sidecar, joined: Lengths) -> None:
    shape = joined.n, joined.n
    sidecar.delete(MatrixFile(_joined(sidecar.place), joined.dtype, shape))


def _digest(lengths: Lengths) -> str:
    """Return what tells apart what runs are of, in few letters."""
    digest = hashlib.blake2b(f"{lengths.infinite} {lengths.too_long}".encode(), digest_size=16)
    for first, last in lengths.slabs():
        digest.update(np.ascontiguousarray(lengths.rows(first, last)))
    return digest.hexdigest()
