"""Ways to keep a vertex from entering the frontier twice, as parts that a search can exchange.

There are two moments to do so. When a thread finds an unvisited vertex, it can *claim* it by an
atomic, which is exact. Or the thread marks the vertex by a plain store, as any other thread may do
at the same moment. Then a *cull* compares the vertices found by the warp or the block, before they
are enqueued. This is cheaper, but some duplicates are missed, and the next level does their work
again.

==================  =====================================================================
``none``            mark by plain stores, enqueue everything
``hash64``          a table of 64-bit words per block: :mod:`.hash64`
``warp_culling``    a small table per warp: :mod:`.warp_culling`
``history_culling`` a block remembers the vertices that it has seen lately: :mod:`.history_culling`
``merrill``         warp culling, then history culling
``compare_and_swap``  exact: one atomic on the distance per find
``bitmap``          exact: one atomic on a bit per find
==================  =====================================================================

The first five mark by plain stores, and all but ``none`` have a cull. The exact ways are a claim
that the search makes, such as `traversal.claim`.

A cull knows only the vertices of its own warp or block. If different blocks find copies of a vertex
at the same moment, all copies stay, and on a graph with many shortest paths each copy finds the
next vertex again. So a larger block can help if it shares one table (``hash64``), but not if each
warp has its own (``warp_culling``).
"""

from __future__ import annotations

from numba import cuda

from gpukernels.checks import check_choice
from gpukernels.primitives.launch_shape import WARP_SIZE

from .hash64 import hash64
from .history_culling import HISTORY_SLOTS, cull_by_history, forget
from .warp_culling import WARP_SLOTS, cull_by_warp

NONE, HASH64, WARP_CULLING, HISTORY_CULLING, MERRILL, COMPARE_AND_SWAP, BITMAP = range(7)

#: Values of a search's option ``duplicates``, and the number of each in kernels.
DUPLICATES = {
    "none": NONE,
    "hash64": HASH64,
    "warp_culling": WARP_CULLING,
    "history_culling": HISTORY_CULLING,
    "merrill": MERRILL,
    "compare_and_swap": COMPARE_AND_SWAP,
    "bitmap": BITMAP,
}


@cuda.jit(device=True)
def is_repeated(how, v, has, hash_table, table):
    """Return whether the cull `how` finds that `v` of this lane is a duplicate; all lanes call.

    `hash_table` (int64) and `table` (int32) are two views of the block's dynamic shared memory.
    Only one of them is used.
    """
    repeated = False
    if how == HASH64:
        repeated = hash64(hash_table, v, has)
    if how == WARP_CULLING or how == MERRILL:
        repeated = cull_by_warp(table, v, has)
    if how == HISTORY_CULLING or how == MERRILL:
        repeated = cull_by_history(table, v, has and not repeated) or repeated
    return repeated


def shared_bytes(how: int, threads: int, hash_slots: int) -> int:
    """Return the dynamic shared memory in bytes that the cull `how` takes for `threads` threads."""
    warp_tables = 4 * WARP_SLOTS * (threads // WARP_SIZE)
    return {
        HASH64: 8 * hash_slots,
        WARP_CULLING: warp_tables,
        HISTORY_CULLING: warp_tables + 4 * HISTORY_SLOTS,
        MERRILL: warp_tables + 4 * HISTORY_SLOTS,
    }.get(how, 0)


def check_duplicates(duplicates: str) -> int:
    """Return the number of `duplicates`, or raise InvalidArgument if there is no such way."""
    check_choice("duplicates", duplicates, DUPLICATES)
    return DUPLICATES[duplicates]


__all__ = ["DUPLICATES", "check_duplicates", "forget", "is_repeated", "shared_bytes"]
