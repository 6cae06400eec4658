"""The child kernel: one block for every few thousand arcs of the vertices with very many arcs.

H-BF [busato2016hbf], section 5.3: dynamic parallelism above T_DP arcs. `frontiers.pieces` explains
how vertices are queued for it. Mapping: piece to block, arc to thread.
"""

from __future__ import annotations

from numba import cuda, int32

from gpukernels.device import benign_race
from gpukernels.frontiers.local_queue import LOCAL
from gpukernels.frontiers.pieces import PIECES, Children
from gpukernels.frontiers.state import Local, Queue
from gpukernels.mapping.virtual_warp import virtual_warp
from gpukernels.primitives.cache_hints import load_past_l1
from gpukernels.primitives.large_blocks import LARGE_BLOCKS

from .frontier import flush
from .relax import Search, Visit, relax
from .words import key_of


@benign_race("words")
@cuda.jit(**LARGE_BLOCKS)
def relax_pieces(search: Search, queue: Queue, round, alone, coalesced, children: Children):
    """Relax the arcs of the queued pieces, one block per piece.

    Distances are read while other threads lower them, as in `relax_frontier`.
    """
    slots = cuda.shared.array(0, int32)
    found = cuda.local.array(LOCAL, int32)
    held = cuda.local.array(1, int32)
    held[0] = 0
    work = Visit(search, round, alone, Local(found, held), queue)
    window = LOCAL * cuda.blockDim.x
    for p in range(
        cuda.blockIdx.x, min(queue.next_size[PIECES], children.pieces.shape[1]), cuda.gridDim.x
    ):
        u, begin = children.pieces[0, p], children.pieces[1, p]
        end = min(begin + children.piece, search.offsets[u + 1])
        key = key_of(load_past_l1(search.words, u, search.hints))
        for first in range(begin, end, window):
            last = min(first + window, end)
            virtual_warp(relax, work, key, first, last, cuda.threadIdx.x, cuda.blockDim.x)
            flush(work.local, queue, slots, coalesced, search.hints)
