"""Direction-optimizing search by words: bottom-up over 32 vertices per word, four arcs at a time.

The search of `direction_optimizing`, with bottom-up steps that are made for speed
(``frontier="words"``). XBFS and Enterprise keep bits as well; this search differs in these points:

- *Unvisited vertices* have a bit, too. A warp reads the word of 32 vertices and goes on if it is 0;
  the distances of 32 vertices are four sectors. It owns the word, so nothing is atomic.
- *Four arcs at a time.* With one at a time, a lane waits for a source, then for its bit, then for
  the next source, and has no other work meanwhile. Here four sources are loaded together, and then
  their bits. Up to three arcs are read without need, and past the end of a list its last arc is
  read again.
- *No queue.* A bottom-up step counts the vertices that it finds. Only a search that turns back
  makes a queue, from the bits.
- *A barrier made by hand.* The blocks meet once or twice per level. With the grid sync, a search of
  a Kronecker graph took a tenth more time on an H200: see `meeting`.
- *Unsigned indices.* numba lets an index be negative, counted from the end. With signed indices,
  compiled code tests the sign at every access. An arc took 36 instructions of an H200 by distances
  and 42 by bits; here four arcs take 68 (counted in the loops of ``gk.sass``, numba-cuda 0.30.4).
"""

from __future__ import annotations

from numba import cuda, int32, int64, uint32

from gpukernels.device import benign_race
from gpukernels.frontiers.counts import ARCS, ENTRIES, count_up
from gpukernels.frontiers.state import Queue
from gpukernels.primitives.large_blocks import LARGE_BLOCKS
from gpukernels.primitives.launch_shape import FULL_MASK, WARP_SIZE
from gpukernels.primitives.warp_append import warp_append

from .frontier_bitmap import bit_of, store_votes
from .meeting import meet_by_grid, meet_by_hand
from .result import UNVISITED, adopt
from .top_down import Search, top_down

#: Arcs that a lane loads together.
AT_ONCE = 4


@cuda.jit(device=True)
def parent_of_four(offsets, sources, bits, v, none):
    """Return the first in-neighbor of `v` (uint32) whose bit is set, or `none`.

    The code computes one number from all four bits: with a condition for each bit, the compiler
    would load one after the other.
    """
    i, end = uint32(offsets[v]), uint32(offsets[v + uint32(1)])
    last = uint32(end - uint32(1))
    while i < end:
        a = uint32(sources[i])
        b = uint32(sources[min(uint32(i + uint32(1)), last)])
        c = uint32(sources[min(uint32(i + uint32(2)), last)])
        d = uint32(sources[min(uint32(i + uint32(3)), last)])
        first, second = bit_of(bits, a), bit_of(bits, b)
        third, fourth = bit_of(bits, c), bit_of(bits, d)
        if first | second | third | fourth != 0:
            of_last = cuda.selp(third != 0, int32(c), int32(d))
            of_others = cuda.selp(second != 0, int32(b), of_last)
            return cuda.selp(first != 0, int32(a), of_others)
        i = uint32(i + uint32(4))
    return none


@cuda.jit(device=True)
def mark(distance, level, bits, left):
    """Set `bits` to the vertices at `level` and `left` to those unvisited; all threads call."""
    for first in range(cuda.blockIdx.x * cuda.blockDim.x, distance.size, cuda.gridsize(1)):
        v = first + cuda.threadIdx.x
        known = int32(level)
        if v < distance.size:
            known = distance[v]
        store_votes(bits, v, distance.size, v < distance.size and known == level)
        store_votes(left, v, distance.size, v < distance.size and known == UNVISITED)


@cuda.jit(device=True)
def enqueue_bits(bits, queue, size):
    """Append every vertex whose bit is set, of `size` vertices; all threads call."""
    for first in range(cuda.blockIdx.x * cuda.blockDim.x, size, cuda.gridsize(1)):
        v = first + cuda.threadIdx.x
        has = v < size and bit_of(bits, uint32(v)) != 0
        warp_append(queue.next_frontier, queue.next_size, v, has)


@cuda.jit(device=True)
def bottom_up_by_words(search, left, bits, next_bits, next_size, level):
    """Visit every vertex of `left` that has a neighbor in `bits`; all threads of the grid call.

    ``next_bits`` receives the vertices that are found, `left` loses them, and `next_size` counts
    them and their arcs.
    """
    found_here, leaving = int64(0), int64(0)
    warps = cuda.gridsize(1) // WARP_SIZE
    for k in range((cuda.grid(1) - cuda.laneid) // WARP_SIZE, left.size, warps):
        word = left[k]
        found = False
        if word != 0:
            v = uint32(k * WARP_SIZE + cuda.laneid)
            if (word >> uint32(cuda.laneid)) & uint32(1) != uint32(0):
                u = parent_of_four(search.reverse_offsets, search.sources, bits, v, UNVISITED)
                found = u != UNVISITED
                if found:
                    search.distance[v] = level + 1
                    adopt(search.parent, v, u)
                    found_here += 1
                    leaving += search.offsets[v + uint32(1)] - search.offsets[v]
        votes = cuda.ballot_sync(FULL_MASK, found)
        cuda.syncwarp()  # all have read the word: a vote does not order memory
        if cuda.laneid == 0:
            next_bits[k] = votes
            if votes != 0:
                left[k] = word & ~uint32(votes)
    count_up(next_size, ENTRIES, found_here)
    count_up(next_size, ARCS, leaving)


@cuda.jit(device=True)
def search_levels(
    meet, search, root, bits, left, queues, turned_size, arrived, counts, log, alpha, beta,
    cta_threshold,
):  # fmt: skip
    """Search from `root` until a frontier is empty; all threads of a cooperative launch call.

    ``turned_size[0]`` counts the queue that is made from bits when the search turns back. It is
    cleared when the search turns bottom-up, at least one barrier before.
    """
    if cuda.grid(1) == 0:
        queues[0, 0] = root
        counts[0, ENTRIES], counts[0, ARCS] = 1, search.offsets[root + 1] - search.offsets[root]
        counts[1, ENTRIES], counts[1, ARCS] = 0, 0
    turn = 1
    meet(arrived, turn)
    level, before, turned = 0, int64(0), False
    unexplored = int64(search.targets.size)  # arcs that leave vertices not yet visited
    while counts[level % 3, ENTRIES] > 0:
        here, there = level % 2, (level + 1) % 2
        size, arcs = counts[level % 3, ENTRIES], counts[level % 3, ARCS]
        queue = Queue(queues[there], counts[(level + 1) % 3])
        unexplored -= arcs
        growing = size > before
        was_turned = turned
        if not turned:
            turned = growing and arcs * alpha > unexplored
        elif not growing:
            turned = size * beta >= search.distance.size
        if cuda.grid(1) == 0:
            counts[(level + 2) % 3, ENTRIES] = 0
            counts[(level + 2) % 3, ARCS] = 0
            log[1 + level, 0] = size
            log[1 + level, 1] = turned
        if turned != was_turned:
            if turned:
                mark(search.distance, level, bits[here], left)
                if cuda.grid(1) == 0:
                    turned_size[0] = 0
            else:
                made = Queue(queues[here], turned_size)
                enqueue_bits(bits[here], made, search.distance.size)
            turn += 1
            meet(arrived, turn)
        if turned:
            bottom_up_by_words(search, left, bits[here], bits[there], queue.next_size, level)
        else:
            top_down(search, queues[here], size, arcs, queue, level, cta_threshold)
        turn += 1
        meet(arrived, turn)
        before = size
        level += 1
    if cuda.grid(1) == 0:
        log[0, 0] = level


@benign_race("distance")
@cuda.jit(**LARGE_BLOCKS)
def search_and_meet_by_hand(
    search: Search, root, bits, left, queues, turned_size, arrived, counts, log, alpha, beta,
    cta_threshold,
):  # fmt: skip
    """Search as `direction_optimizing.search_both_ways` does, bottom-up by words.

    The blocks wait at the barrier made by hand. The race is the one of the top-down steps.
    """
    search_levels(
        meet_by_hand, search, root, bits, left, queues, turned_size, arrived, counts, log, alpha,
        beta, cta_threshold,
    )  # fmt: skip


@benign_race("distance")
@cuda.jit(**LARGE_BLOCKS)
def search_and_meet_by_grid(
    search: Search, root, bits, left, queues, turned_size, arrived, counts, log, alpha, beta,
    cta_threshold,
):  # fmt: skip
    """Search as `direction_optimizing.search_both_ways` does, bottom-up by words.

    The blocks wait at the grid sync. The race is the one of the top-down steps.
    """
    search_levels(
        meet_by_grid, search, root, bits, left, queues, turned_size, arrived, counts, log, alpha,
        beta, cta_threshold,
    )  # fmt: skip
