"""A counter at which threads arrive and learn how many have come: PTX's release and acquire.

A thread that *arrives* releases: all that it has written, or its block before a ``syncthreads``, is
visible to threads that acquire later. A thread that *acquires* sees the writes of all threads that
have arrived. A read in between is relaxed: it only returns how many have come.

Both cost less than numba's ``threadfence``, which is sequentially consistent: in the machine code
of an H200 it is ``MEMBAR.SC.GPU`` and then ``CCTL.IVALL``, which empties L1. Arriving takes the
weaker ``MEMBAR.ALL.GPU``; acquiring takes only the ``CCTL.IVALL``.
"""

from __future__ import annotations

from numba import cuda

from .ptx import counter_instruction


@counter_instruction("red.release.gpu.global.add.u32 {at}, 1;")
def arrive(arrived):
    """Add 1 to ``arrived[0]``, an int32, and release the thread's earlier writes."""
    cuda.threadfence()
    cuda.atomic.add(arrived, 0, 1)


@counter_instruction("ld.relaxed.gpu.global.s32 {result}, {at};", returns=True)
def arrivals(arrived):
    """Return ``arrived[0]``, an int32: the number of threads that have arrived."""
    return cuda.atomic.add(arrived, 0, 0)


@counter_instruction("ld.acquire.gpu.global.s32 {result}, {at};", returns=True)
def acquire(arrived):
    """Return ``arrived[0]``, an int32, and acquire the writes of all threads that have arrived."""
    come = cuda.atomic.add(arrived, 0, 0)
    cuda.threadfence()
    return come
