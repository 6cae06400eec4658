"""After the last round: take distances from their words, and find those of vertices left out.

The final kernel of H-BF [busato2016hbf], section 4.1. A vertex without arcs out (undirected: with
one) was never relaxed. Its distance is the least sum of the arcs into it. All of these arcs count,
as no arc into it was relaxed before. Only one group writes its distance, so that no atomic is
needed.

Mapping: vertex to a virtual warp as wide as the mean number of arcs in.
"""

from __future__ import annotations

from numba import cuda, int64

from gpukernels.mapping.dynamic_virtual_warp import choose_warp_size
from gpukernels.mapping.virtual_warp import virtual_warp
from gpukernels.primitives.launch_shape import FULL_MASK, blocks_for

from ..result import infinity
from .classes import Arcs, has_only, leaf_degree
from .words import NEVER, key_of, longer, put_distance


@cuda.jit(device=True)
def take_less(work, v, arc):
    """Lower the thread's `least` to the distance that `arc` gives to v, which it enters."""
    arcs_in, words, floats, least = work
    key = key_of(words[arcs_in.ends[arc]])
    if key != NEVER:
        least[0] = min(least[0], longer(key, arcs_in.weights[arc], floats))


@cuda.jit
def end_postponed(
    arcs: Arcs, arcs_in: Arcs, leaf, words, floats, infinite, distance, warp_size
):  # fmt: skip
    """Give every vertex its distance, `warp_size` threads per vertex; find those of leaves now.

    `leaf` is the number of arcs out of a vertex that was left out.
    """
    least = cuda.local.array(1, int64)
    lane = cuda.grid(1) % warp_size
    groups = cuda.gridsize(1) // warp_size
    for first in range((cuda.grid(1) - cuda.laneid) // warp_size, distance.size, groups):
        v = first + cuda.laneid // warp_size
        least[0] = NEVER
        if v < distance.size:
            least[0] = key_of(words[v])
            if has_only(arcs, v, leaf):
                work = arcs_in, words, floats, least
                begin, end = arcs_in.offsets[v], arcs_in.offsets[v + 1]
                virtual_warp(take_less, work, v, begin, end, lane, warp_size)
        apart = warp_size // 2
        while apart > 0:
            least[0] = min(least[0], cuda.shfl_xor_sync(FULL_MASK, least[0], apart))
            apart //= 2
        if lane == 0 and v < distance.size:
            put_distance(distance, v, least[0], infinite, floats)


@cuda.jit
def unpack(words, floats, infinite, distance):
    """Give every vertex the distance of its word."""
    v = cuda.grid(1)
    if v < distance.size:
        put_distance(distance, v, key_of(words[v]), infinite, floats)


def unpacked(search, device, dtype, threads: int):
    """Return device distances of the words of `search`; vertices left out may have none."""
    n = search.words.size
    distance = device.empty(n, dtype)
    device.launch(
        unpack, blocks_for(n, threads), threads, search.words, search.floats, infinity(dtype),
        distance,
    )  # fmt: skip
    return distance


def ended(g, arcs: Arcs, arcs_in: Arcs, search, device, dtype, threads: int):
    """Return device distances, including those of the vertices that were left out."""
    distance = device.empty(g.n, dtype)
    group = choose_warp_size(g.n, g.m, 0, 1) if g.directed else 1
    device.launch(
        end_postponed, blocks_for(g.n * group, threads), threads, arcs, arcs_in, leaf_degree(g),
        search.words, search.floats, infinity(dtype), distance, group,
    )  # fmt: skip
    return distance
