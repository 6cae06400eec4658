"""A barrier of all blocks made by hand: thread 0 of each arrives at a counter and waits there.

The simple barrier of [xiao2009interblock], as searches used it before CUDA had grid syncs. A block
meets at ``syncthreads``, its thread 0 adds 1 to a counter in global memory and asks it until it
tells that all blocks have come, and a second ``syncthreads`` lets the block go on. The counter is
never set back: round k is over when it has counted k times all blocks.

The fence before thread 0 arrives makes what its block has written visible to the others, the fence
after keeps later loads from going ahead of the wait. ``cuda.cg.this_grid().sync()`` does the same
and asks the driver to hold all blocks on the GPU at once. Here that is up to the caller: if one
block has to wait for room until another one ends, the launch never ends. So launch it as a grid
sync is launched, ``device.launch(..., cooperative=True)``, which on the SIMT machine holds all
blocks, on ``device.cooperative_blocks(...)`` blocks at most: so many fit a GPU that nobody else
uses. The driver is not asked: numba launches as cooperative what names the grid.

The counter is asked by an atomic that adds 0. A plain load may be answered by a cache of the
block's own, and numba's hinted loads (``ldcv``) have no side effects for its compiler, which moves
them out of the loop.
"""

from __future__ import annotations

from numba import cuda


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
        cuda.threadfence()
        cuda.atomic.add(arrived, 0, 1)
        while cuda.atomic.add(arrived, 0, 0) < round * cuda.gridDim.x:
            pass
        cuda.threadfence()
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
