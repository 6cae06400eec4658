"""The frontier as a bitmap: one bit per vertex, which a bottom-up step reads at each arc.

The benchmark suite of Beamer et al. [beamer2015gap] keeps a bitmap for its bottom-up steps. At
every arc such a step asks "is u in the frontier?", and the source u may be anywhere in the graph.
The distance answers it too, but a sector holds the bits of 256 vertices or the distances of 8. The
bits of a million vertices take 125 KB, which stay in a cache; their distances take 4 MB.

The bitmap is not cleared, and no atomic sets its bits. Lane i of a warp has vertex 32 k + i. So the
warp's vote is the whole word of these 32 vertices, which one lane stores.
"""

from __future__ import annotations

from numba import cuda, uint32

from gpukernels.primitives.launch_shape import FULL_MASK

#: Values of a search's option ``frontier``.
FRONTIERS = ("distance", "bitmap")


@cuda.jit(device=True)
def bit_of(bits, v):
    """Return the bit of `v` (uint32), 0 or 1."""
    return uint32(uint32(bits[v >> uint32(5)]) >> (v & uint32(31))) & uint32(1)


@cuda.jit(device=True)
def store_votes(bits, v, size, has):
    """Store the bits of 32 vertices, set where `has` is true; all lanes of a warp call.

    Lane i has the vertex `v` = 32 k + i, of `size` vertices in all.
    """
    votes = cuda.ballot_sync(FULL_MASK, has)
    if cuda.laneid == 0 and v < size:
        bits[v >> 5] = votes


@cuda.jit(device=True)
def mark_level(distance, level, bits):
    """Set `bits` to the vertices at distance `level`; all threads of the grid call."""
    for first in range(cuda.blockIdx.x * cuda.blockDim.x, distance.size, cuda.gridsize(1)):
        v = first + cuda.threadIdx.x
        store_votes(bits, v, distance.size, v < distance.size and distance[v] == level)


@cuda.jit(device=True)
def first_parent_by_bits(offsets, sources, bits, v, none):
    """Return the first in-neighbor of `v` whose bit is set, or `none` if it has none."""
    for i in range(offsets[v], offsets[v + 1]):
        u = sources[i]
        if (bits[u >> 5] >> (u & 31)) & 1:
            return u
    return none


def words(n: int) -> int:
    """Return how many elements the bitmap of `n` vertices has."""
    return (n + 31) // 32
