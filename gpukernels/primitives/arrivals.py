"""A counter at which threads arrive and see who has come: PTX's release and acquire.

Whoever *arrives* releases: what the thread has written by then, or its block before a
``syncthreads``, goes along. Whoever *acquires* has all that those brought who have arrived. A look
in between is relaxed: it tells how many have come, and no more.

Both are less than numba's ``threadfence``, which is sequentially consistent: in the machine code of
an H200 that is ``MEMBAR.SC.GPU`` and then ``CCTL.IVALL``, which empties L1. To arrive takes the
weaker ``MEMBAR.ALL.GPU``, to acquire only the ``CCTL.IVALL``.
"""

from __future__ import annotations

from numba import cuda

from .ptx import counter_instruction


@counter_instruction("red.release.gpu.global.add.u32 {at}, 1;")
def arrive(arrived):
    """Add 1 to ``arrived[0]``, an int32; what the thread has by then goes along."""
    cuda.threadfence()
    cuda.atomic.add(arrived, 0, 1)


@counter_instruction("ld.relaxed.gpu.global.s32 {result}, {at};", returns=True)
def arrivals(arrived):
    """Return ``arrived[0]``, an int32: how many have arrived."""
    return cuda.atomic.add(arrived, 0, 0)


@counter_instruction("ld.acquire.gpu.global.s32 {result}, {at};", returns=True)
def acquire(arrived):
    """Return ``arrived[0]``, an int32, and have what those brought who have arrived."""
    come = cuda.atomic.add(arrived, 0, 0)
    cuda.threadfence()
    return come
