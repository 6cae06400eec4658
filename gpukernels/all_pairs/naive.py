"""Floyd-Warshall with one launch per pivot: one thread per pair tries the way through the pivot.

Floyd [floyd1962shortest] on a GPU, as in [padamata2013graph] and [busato2017chapter], section 4.
Mapping: work-item (pair of vertices) to thread. Work O(n^3). The loop over pivots must be the outer
loop: a way through k consists of ways through lower pivots alone, and those must be final. So there
is one launch per pivot, and each launch reads the whole matrix and compares each element.
"""

from __future__ import annotations

from numba import cuda

from gpukernels.device import Device
from gpukernels.primitives.launch_shape import WARP_SIZE, blocks_for, check_threads

from .lengths import Lengths
from .on_device import OnDevice
from .result import APSPResult
from .tiles import Form


@cuda.jit
def relax_pivot(distance, via, k):
    """Let each path go through `k` if that is shorter, in place.

    No thread reads an element that another thread writes: row and column k change only if the path
    from k to k is shorter than 0. Without a negative cycle, its length is 0. With one, the kernel
    lets no path go through k, because distances would double with each pivot around the cycle.
    """
    j, i = cuda.grid(2)
    if i < distance.shape[0] and j < distance.shape[1] and distance[k, k] >= 0:
        length = distance[i, k] + distance[k, j]
        if length < distance[i, j]:
            distance[i, j] = length
            if via.size > 1:
                via[i, j] = k


def apsp(
    lengths: Lengths, device: Device, *, threads: int = 256, next_hops: bool = False
) -> APSPResult:
    """Find all shortest paths, with one launch per vertex.

    Parameters
    ----------
    threads : int
        Threads per block, in rows of 32.
    next_hops : bool
        Whether the result holds next hops.
    """
    threads = check_threads(threads)
    n, form = lengths.n, Form(tile=1, noting=next_hops)
    matrix = OnDevice(lengths, device, form)
    block = WARP_SIZE, threads // WARP_SIZE
    blocks = blocks_for(n, block[0]), blocks_for(n, block[1])
    for k in range(n):
        device.launch(relax_pivot, blocks, block, matrix.distance, matrix.via, k)
    matrix.launches = n
    return matrix.result("naive", operations=n**3)
