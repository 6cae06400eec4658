"""A barrier of all blocks made by hand: thread 0 of each arrives at a counter and waits there.

The simple barrier of [xiao2009interblock], as searches used it before CUDA had grid syncs. A block
meets at ``syncthreads``, its thread 0 adds 1 to a counter in global memory and asks it until it
tells that all blocks have come, and a second ``syncthreads`` lets the block go on. The counter is
never set back: round k is over when it has counted k times all blocks.

To arrive is to release and to see all come is to acquire, see `arrivals`: what a block has written
before is what the others read behind. A look at the counter in between is relaxed, as many may be
in vain. By what numba has names for, a sequentially consistent fence before and behind and atomics
that add 0, a meeting of 64 blocks took a sixth longer on an H200; at the grid sync it takes more
than a third longer (the repository's ``data/benchmarks/knobs.json``).

If one block had to wait for room until another one ends, the launch would never end. So launch it
as a grid sync is launched, ``device.launch(..., cooperative=True)``: then the driver holds all
blocks at once or refuses, as the SIMT machine does. ``device.cooperative_blocks(...)`` tells how
many there may be.
"""

from __future__ import annotations

from numba import cuda

from .arrivals import acquire, arrivals, arrive


@cuda.jit(device=True)
def grid_barrier(arrived, round):
    """Wait until all threads of the grid have come here.

    Parameters
    ----------
    arrived : device array of int32, shape (1,)
        How many blocks have arrived so far, over all rounds; 0 before the launch.
    round : int
        How often the grid has met by this barrier, this time included: 1 at first.

    All threads of a one-dimensional grid of one-dimensional blocks must call, and all blocks must
    be resident at once.
    """
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        arrive(arrived)
        while arrivals(arrived) < round * cuda.gridDim.x:
            pass
        acquire(arrived)
    cuda.syncthreads()


@cuda.jit
def meet(arrived, rounds, met):
    """Meet `rounds` times; ``met[i]`` becomes how often thread i found that all had come."""
    times = 0
    for k in range(1, rounds + 1):
        grid_barrier(arrived, k)
        if cuda.atomic.add(arrived, 0, 0) >= k * cuda.gridDim.x:
            times += 1
    met[cuda.grid(1)] = times
