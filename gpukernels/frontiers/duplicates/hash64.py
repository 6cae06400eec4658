"""hash64: a table in shared memory tells most of the duplicates that a block makes.

BFS-4K [busato2015bfs4k], section 6 and Fig. 11; [busato2017chapter], section 2.2. A thread that has
found v writes one 64-bit word, v and its own number, to the slot of v, and reads the slot back. Its
own word: v is kept. The same vertex with another number: a duplicate, dropped. Another vertex: a
conflict, and v is kept, since nobody can tell. Of the threads of a block that hold one vertex, the
last to write never reads another's word for it, so at least one keeps it.

Which duplicates are found depends on the order: writing before the other's reading is enough, but a
thread that has read its own word back already keeps the vertex whatever comes later. Threads of
other blocks have other tables. The paper counts on the lanes of a warp going in step; since Volta
they need the ``syncwarp`` between write and read.
"""

from __future__ import annotations

from numba import cuda, int64


@cuda.jit(device=True)
def hash64(hash_table, v, has):
    """Return whether another thread of the block is seen to hold `v` too; all lanes call.

    `hash_table` is the block's array of int64, a power of two long. It need not be cleared:
    each thread reads a slot that it has written. Lanes without a vertex pass ``has=False``.
    """
    slot = v & (hash_table.size - 1)
    if has:
        hash_table[slot] = (int64(v) << 32) | cuda.threadIdx.x
    cuda.syncwarp()
    repeated = False
    if has:
        word = hash_table[slot]
        repeated = (word >> 32) == v and (word & 0xFFFFFFFF) != cuda.threadIdx.x
    cuda.syncwarp()  # the next call writes what this one has read
    return repeated
