"""hash64: a table in shared memory that finds most of the duplicates within a block.

BFS-4K [busato2015bfs4k], section 6 and Fig. 11; [busato2017chapter], section 2.2. A thread that has
found v writes one 64-bit word, v and its own number, to the slot of v, and reads the slot back. Its
own word: it keeps v. Vertex v with another number: v is a duplicate, and is dropped. Another
vertex: a conflict, and it keeps v to be safe. If several threads of a block hold v, the last one to
write never reads v with another number, so at least one keeps v.

The order decides which duplicates are found: a thread drops v if another thread writes v before it
reads. After it has read its own word, it keeps v, whatever comes later. Threads of other blocks
have other tables. The paper relies on the lanes of a warp running in step; since Volta, they need
the ``syncwarp`` between write and read.
"""

from __future__ import annotations

from numba import cuda, int64


@cuda.jit(device=True)
def hash64(hash_table, v, has):
    """Return whether the table shows that another thread of the block holds `v`; all lanes call.

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
    cuda.syncwarp()  # the next call writes to the slots that this one has read
    return repeated
