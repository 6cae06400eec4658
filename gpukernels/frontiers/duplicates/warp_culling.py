"""Warp culling: the lanes of a warp compare their vertices through a small table.

Merrill et al. [merrill2012scalable], section 4.5; compared with hash64 in [busato2015bfs4k], Fig.
13. Each lane writes its vertex to the vertex's slot. Lanes whose vertex stayed write their number.
All of these except the one whose number stayed hold duplicates. This takes two writes and two
reads of 32 bits (hash64: one each of 64 bits), and does not see duplicates of other warps.
"""

from __future__ import annotations

from numba import cuda

from gpukernels.primitives.launch_shape import WARP_SIZE

#: Slots of a warp's table, of int32.
WARP_SLOTS = 128


@cuda.jit(device=True)
def cull_by_warp(table, v, has):
    """Return whether another lane of the warp holds `v` too and keeps it; all lanes call.

    `table` is an array of int32 in the block's shared memory, with `WARP_SLOTS` elements per warp.
    It need not be cleared.
    """
    slot = cuda.threadIdx.x // WARP_SIZE * WARP_SLOTS + (v & (WARP_SLOTS - 1))
    if has:
        table[slot] = v
    cuda.syncwarp()
    stayed = False
    if has:
        stayed = table[slot] == v
    cuda.syncwarp()
    if stayed:
        table[slot] = cuda.laneid
    cuda.syncwarp()
    repeated = False
    if stayed:
        repeated = table[slot] != cuda.laneid
    cuda.syncwarp()
    return repeated
