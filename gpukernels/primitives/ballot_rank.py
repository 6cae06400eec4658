"""Binary scan by ballot: the prefix sum of 32 flags in two instructions.

If every lane has at most one item to write, the scan need not add. A ballot collects the 32 flags
as the bits of one word, and a lane's rank is the number of bits below its own
([harris2011optimizing]; used by [busato2015bfs4k], section 5.1).
"""

from __future__ import annotations

import numpy as np
from numba import cuda

from gpukernels.checks import as_array
from gpukernels.device import chosen_device
from gpukernels.errors import InvalidArgument

from .launch_shape import FULL_MASK, THREADS, blocks_for, check_threads


@cuda.jit(device=True)
def warp_binary_rank(flag):
    """Return how many lanes below this one have a true `flag`; all 32 lanes must call."""
    votes = cuda.ballot_sync(FULL_MASK, flag)
    return cuda.popc(votes & cuda.lanemask_lt())


@cuda.jit
def rank_warps(flags, rank):
    """Rank the true flags among every 32 consecutive `flags`."""
    i = cuda.grid(1)
    flag = i < flags.size and flags[i] != 0
    below = warp_binary_rank(flag)
    if i < flags.size:
        rank[i] = below


def warp_rank(flags, *, threads: int = THREADS, device=None) -> np.ndarray:
    """Count, for each flag, the true flags before it in its run of 32.

    Parameters
    ----------
    flags : array_like of bool, shape (n,)
        Flags, one per lane.
    threads : int
        Threads per block.
    device : SimtDevice or CudaDevice, optional
        Where kernels run; by default :func:`gpukernels.default_device`.

    Returns
    -------
    ndarray of int32, shape (n,)
        The exclusive prefix sum of the flags, from 0 again at every multiple of 32.
    """
    check_threads(threads)
    flags = as_array("flags", flags)
    if flags.size and flags.dtype.kind not in "biu":
        raise InvalidArgument("flags.dtype", flags.dtype.name, "bool or an integer type")
    if flags.ndim != 1:
        raise InvalidArgument("flags.shape", flags.shape, "1-D")
    flags = np.ascontiguousarray(flags, dtype=np.bool_).astype(np.uint8)
    device = chosen_device(device)
    rank = device.empty(flags.size, np.int32)
    device.launch(rank_warps, blocks_for(flags.size, threads), threads, device.array(flags), rank)
    return device.read(rank)
