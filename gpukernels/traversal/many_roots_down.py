"""Steps top-down for many roots: the vertices of a frontier pass searches to their out-neighbors.

One bit per vertex says whether it is in any frontier, so a step costs O(n / 32) and the arcs of
these vertices. An atomic adds to a target's word the searches that have not seen it yet.
"""

from __future__ import annotations

from numba import cuda, int32, int64, uint32

from gpukernels.frontiers.counts import ARCS, ENTRIES, count_up
from gpukernels.primitives.launch_shape import FULL_MASK, WARP_SIZE

from .frontier_bitmap import bit_of
from .many_roots_words import (
    FINISHED,
    GROUPS,
    PART,
    VERTEX,
    bits_of,
    line_up,
    place,
    set_bit,
    turn,
    warp_number,
)

#: A whole warp takes a vertex that has more out-neighbors.
LONG = 64


@cuda.jit(device=True)
def reach(there, some, lane, v, new):
    """Mark that the searches `new` reach `v`; all 32 lanes must call."""
    if new != 0:
        cuda.atomic.or_(there, place(v, lane), new)
    votes = uint32(cuda.ballot_sync(FULL_MASK, new != 0))
    # Several lanes may have a word of this neighbor; the first that brings a search sets its bit.
    before = uint32((uint32(1) << lane.word) - uint32(1))
    shared = uint32(votes >> uint32(uint32(cuda.laneid) - lane.word))
    if new != 0 and shared & before == 0:
        set_bit(some, v)


@cuda.jit(device=True)
def spread(searches, there, some, lane, i, end, step, word):
    """Let the searches of `word` reach the targets from `i` to `end`; all lanes call.

    Each lane passes the place of its group's list; it loads four targets at the same time.
    """
    last = uint32(end - uint32(1))
    apart = lane.apart
    while cuda.any_sync(FULL_MASK, i < end):
        a, b, c, d = uint32(0), uint32(0), uint32(0), uint32(0)
        of_a, of_b, of_c, of_d = int64(0), int64(0), int64(0), int64(0)
        if i < end:
            k = uint32(i + lane.slot)
            m = uint32(k + apart)
            p = uint32(m + apart)
            q = uint32(p + apart)
            a, b = uint32(searches.targets[min(k, last)]), uint32(searches.targets[min(m, last)])
            c, d = uint32(searches.targets[min(p, last)]), uint32(searches.targets[min(q, last)])
            of_a = word & ~searches.seen[place(a, lane)]
            of_b = word & ~searches.seen[place(b, lane)]
            of_c = word & ~searches.seen[place(c, lane)]
            of_d = word & ~searches.seen[place(d, lane)]
            # Past the end of the list, lanes have loaded the last target again.
            of_a = cuda.selp(k < end, of_a, int64(0))
            of_b = cuda.selp(m < end, of_b, int64(0))
            of_c = cuda.selp(p < end, of_c, int64(0))
            of_d = cuda.selp(q < end, of_d, int64(0))
            i = uint32(i + step)
        reach(there, some, lane, a, of_a)
        reach(there, some, lane, b, of_b)
        reach(there, some, lane, c, of_c)
        reach(there, some, lane, d, of_d)


@cuda.jit(device=True)
def spread_pieces(searches, here, some_here, there, some_there, lane):
    """Follow the arcs of the frontier's long lists, one warp per piece; all threads call."""
    every_warp = cuda.gridsize(1) // WARP_SIZE
    step = uint32(uint32(4 * GROUPS) * lane.apart)
    for p in range(warp_number(), searches.listed[0], every_warp):
        u = uint32(searches.out_pieces[VERTEX, p])
        if bit_of(some_here, u) != 0:
            begin = searches.offsets[u] + searches.out_pieces[PART, p] * searches.piece
            end = uint32(min(begin + searches.piece, int64(searches.offsets[u + uint32(1)])))
            i = uint32(uint32(begin) + uint32(4) * lane.group * lane.apart)
            spread(searches, there, some_there, lane, i, end, step, here[place(u, lane)])


@cuda.jit(device=True)
def top_down(searches, here, some_here, there, some_there, lane, slots):
    """Follow the arcs of all vertices in a frontier; all threads of the grid call."""
    spread_pieces(searches, here, some_here, there, some_there, lane)
    share = uint32(uint32(4) * lane.apart)
    for k in range(warp_number(), searches.left.size, cuda.gridsize(1) // WARP_SIZE):
        mine = some_here[k]
        if mine != 0:
            u = uint32(k * WARP_SIZE + cuda.laneid)
            begin, end = uint32(0), uint32(0)
            if uint32(mine >> uint32(cuda.laneid)) & uint32(1) != 0:
                begin = uint32(searches.offsets[u])
                end = uint32(searches.offsets[u + uint32(1)])
                if end - begin > searches.piece:
                    end = begin
            is_long = end - begin > LONG
            longs = uint32(cuda.ballot_sync(FULL_MASK, is_long))
            shorts = line_up(slots, begin < end and not is_long)
            number = 0
            while longs != 0 or number * GROUPS < cuda.popc(shorts):
                whose = turn(slots, longs, shorts, number, lane)
                i = uint32(cuda.shfl_sync(FULL_MASK, int32(begin), max(whose, 0)))
                stop = uint32(cuda.shfl_sync(FULL_MASK, int32(end), max(whose, 0)))
                step, word = share, int64(0)
                if whose < 0:
                    stop = i
                else:
                    word = here[place(uint32(k * WARP_SIZE + whose), lane)]
                if longs != 0:
                    i = uint32(i + lane.group * share)
                    step = uint32(share * uint32(GROUPS))
                    longs = uint32(longs & uint32(longs - uint32(1)))
                else:
                    number += 1
                spread(searches, there, some_there, lane, i, stop, step, word)


@cuda.jit(device=True)
def settle(searches, there, some_there, counts):
    """Add to `seen` the searches that reached a vertex; all threads of the grid call.

    ``counts`` receives the number of vertices reached, of the arcs that leave them, and of the arcs
    that lead to those that miss no search any more.
    """
    entries, leaving, finished = int64(0), int64(0), int64(0)
    words = 1 << searches.shift
    for k in range(warp_number(), searches.left.size, cuda.gridsize(1) // WARP_SIZE):
        mine = some_there[k]
        if mine != 0:
            v = uint32(k * WARP_SIZE + cuda.laneid)
            done = False
            if uint32(mine >> uint32(cuda.laneid)) & uint32(1) != 0:
                missing = int64(0)
                for w in range(words):
                    at = uint32(uint32(v << uint32(searches.shift)) + uint32(w))
                    known = searches.seen[at] | there[at]
                    searches.seen[at] = known
                    missing |= bits_of(searches.searches, w) & ~known
                done = missing == 0
                entries += 1
                leaving += searches.offsets[v + uint32(1)] - searches.offsets[v]
                if done:
                    finished += searches.reverse_offsets[v + uint32(1)]
                    finished -= searches.reverse_offsets[v]
            votes = uint32(cuda.ballot_sync(FULL_MASK, done))
            if cuda.laneid == 0 and votes != 0:
                searches.left[k] = uint32(searches.left[k] & uint32(~votes))
    count_up(counts, ENTRIES, entries)
    count_up(counts, ARCS, leaving)
    count_up(counts, FINISHED, finished)
