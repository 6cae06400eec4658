"""History culling: a block remembers the vertices that it has seen lately.

Merrill et al. [merrill2012scalable], section 4.5. A cache in shared memory; a vertex has the slot
of its number modulo the size. A thread that finds its vertex there drops it, otherwise stores it.
Unlike warp culling and hash64, it also finds duplicates that come much later, if no other vertex
has taken the slot. But two threads that read at the same moment both find nothing.

The cache must be cleared once (`forget`), because another kernel's data would look like history.
"""

from __future__ import annotations

from numba import cuda

from gpukernels.primitives.launch_shape import WARP_SIZE

from .warp_culling import WARP_SLOTS

#: Slots of a block's cache, of int32, a power of two; it comes after the tables of warp culling.
HISTORY_SLOTS = 1024


@cuda.jit(device=True)
def history_begin():
    """Return where the cache begins in the block's shared memory."""
    return (cuda.blockDim.x + WARP_SIZE - 1) // WARP_SIZE * WARP_SLOTS


@cuda.jit(device=True)
def forget(table):
    """Clear the block's cache; all threads call, and a ``syncthreads`` must follow."""
    for slot in range(cuda.threadIdx.x, HISTORY_SLOTS, cuda.blockDim.x):
        table[history_begin() + slot] = -1


@cuda.jit(device=True)
def cull_by_history(table, v, has):
    """Return whether the block has seen `v` lately, and remember it; any thread may call."""
    slot = history_begin() + (v & (HISTORY_SLOTS - 1))
    seen = False
    if has:
        seen = table[slot] == v
        if not seen:
            table[slot] = v
    return seen
