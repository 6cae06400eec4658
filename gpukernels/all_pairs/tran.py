"""The matrix squared again and again, tile by tile, where it is larger than the device.

Tran [tran2010designing], in the survey [busato2017chapter], section 4. Mapping: tile to block. Work
O(n^3 log n). The matrix stays on the host, and so does its square. For each block of the square, a
row and a column of blocks stream through the device, and their products lower it; copies and
launches overlap. No product waits for a pivot, and the device needs room for a few blocks. A round
moves about 8 n^3 / r bytes for blocks of r rows. The last round is one that changes nothing, so
that few are needed where shortest paths have few arcs.
"""

from __future__ import annotations

from typing import Any

from gpukernels.device import Device
from gpukernels.methods import takes_fields_of

from .kept_steps import InMemory
from .lengths import Lengths
from .result import APSPResult
from .streamed import Streamed
from .streamed_blocks import blocks_for
from .tiles import Options


@takes_fields_of(Options)
def apsp(
    lengths: Lengths, device: Device, *, memory: int | None = None, **options: Any
) -> APSPResult:
    """Find all shortest paths by squaring, with a bounded part of the matrix on the device.

    The result has the same bits as by `repeated_squaring`. The ``stats`` also have
    ``iterations`` (rounds), ``block`` (rows of a block), ``device_bytes``, at most `memory`, and
    ``bytes_to_device`` and ``bytes_from_device``.

    Parameters
    ----------
    memory : int, optional
        Bytes of the device that may be in use at once. By default half of its free memory, at
        most 2^30.
    """
    chosen = Options(**options)
    form = chosen.form(lengths.n, lengths.dtype)._replace(watching=True)
    blocks = blocks_for(lengths.n, form, memory, device, alone=3)
    matrices = InMemory(lengths.dtype, blocks.spans, apart=True)
    stream = Streamed(lengths, device, form, blocks, matrices)
    most = max(lengths.n - 1, 0).bit_length()  # cycles of up to n arcs are looked for
    every = range(blocks.count)
    rounds, goes_on = 0, most > 0
    with stream.open("tran", 0, most * blocks.count**3):
        while goes_on and rounds < most:
            device.clear(stream.flags)
            triples = ((i, j, k) for i in every for j in every for k in every)
            stream.pipeline.run(stream.products(triples, new=False))
            rounds += 1
            matrices.reached(rounds)
            stream.read_backs += 1
            goes_on = bool(device.read(stream.flags)[1]) and not (matrices.now.diagonal() < 0).any()
    return stream.result("tran", iterations=rounds, operations=rounds * blocks.operations)
