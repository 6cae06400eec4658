"""A barrier of all blocks made by hand: thread 0 of a block arrives at a counter and waits there.

The simple barrier of [xiao2009interblock], as searches used it before CUDA had grid syncs. A block
meets at ``syncthreads``. Its thread 0 adds 1 to a counter in global memory and reads it until all
blocks have come. A second ``syncthreads`` lets the block continue. The counter is never set back:
round k ends when it has counted every block k times.

Arriving releases, and the read after all have come acquires, see `arrivals`: writes of a block
before the barrier are visible to all reads after it. The reads of the counter in between are
relaxed, as many of them find that blocks are missing. With the sequentially consistent fences that
numba offers, and atomics that add 0, a meeting of 64 blocks took a sixth longer on an H200. The
grid sync takes more than a third longer (the repository's ``data/benchmarks/knobs.json``).

If one block had to wait for room until another one ends, the launch would never end. So launch it
like a grid sync, with ``device.launch(..., cooperative=True)``: then the driver holds all blocks at
once or refuses, as the SIMT machine does. ``device.cooperative_blocks(...)`` returns the most
blocks that are allowed.
"""

from __future__ import annotations

from numba import cuda

from .arrivals import acquire, arrivals, arrive


@cuda.jit(device=True)
def grid_barrier(arrived, round):
    """Wait until all threads of the grid have called.

    Parameters
    ----------
    arrived : device array of int32, shape (1,)
        The number of blocks that have arrived, over all rounds; 0 before the launch.
    round : int
        The number of times that the grid has met at this barrier, this time included: 1 at first.

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
