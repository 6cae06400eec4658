"""Steps bottom-up for many roots: a vertex gathers missing searches from its in-neighbors.

Reading a neighbor's word moves a sector of 32 bytes, however little of it is used. So four lanes
read the words of 256 searches for the price of one. A group goes through a short list, a warp
through a long one, until no search is missing; each lane loads the words of four neighbors at the
same time. A warp owns the 32 vertices of a word of `left`, so no atomic is needed. It takes the
next word when it is done, since the lists differ in length. Lists of more than `piece` arcs are
cut: warps share them, and atomics add bits to their words.
"""

from __future__ import annotations

from numba import cuda, int32, int64, uint32

from gpukernels.frontiers.counts import ARCS, ENTRIES, count_up
from gpukernels.primitives.launch_shape import FULL_MASK, WARP_SIZE

from .many_roots_words import (
    FINISHED,
    GROUP,
    GROUPS,
    PART,
    TICKET,
    VERTEX,
    bits_of,
    line_up,
    over_groups,
    place,
    set_bit,
    turn,
    warp_number,
    warp_or,
)

#: A whole warp gathers for a vertex of more in-neighbors, and checks after so many turns whether
#: any search is still missing.
LONG, TURNS = 64, 4
#: Words, of 32 vertices each, that a warp takes at a time.
TAKEN = 4


@cuda.jit(device=True)
def look(sources, here, lane, i, last):
    """Return which searches of the lane's word have reached one of the four sources that it reads.

    The sources begin at `i`. Past the end of the list, its `last` source is read again.
    """
    k = uint32(i + lane.slot)
    m = uint32(k + lane.apart)
    p = uint32(m + lane.apart)
    q = uint32(p + lane.apart)
    a, b = uint32(sources[min(k, last)]), uint32(sources[min(m, last)])
    c, d = uint32(sources[min(p, last)]), uint32(sources[min(q, last)])
    one, other = here[place(a, lane)], here[place(b, lane)]
    third, fourth = here[place(c, lane)], here[place(d, lane)]
    return one | other | third | fourth


@cuda.jit(device=True)
def gather(sources, here, lane, i, end, step, missing, whole):
    """Return which of the `missing` searches have reached a source of the list; all lanes call.

    Each lane passes the place of its group in its list, and the distance between the group's turns.
    If `whole`, all groups share one list.
    """
    found = int64(0)
    last = uint32(end - uint32(1))
    turns = 0
    first = uint32(lane.group * uint32(GROUP))
    votes = uint32(cuda.ballot_sync(FULL_MASK, i < end and missing != 0))
    while votes != 0:
        if uint32(votes >> first) & uint32(2**GROUP - 1) != 0:
            found |= look(sources, here, lane, i, last)
            i = uint32(i + step)
        if lane.apart > 1:
            found |= cuda.shfl_xor_sync(FULL_MASK, found, 2)
        if lane.apart > 2:
            found |= cuda.shfl_xor_sync(FULL_MASK, found, 1)
        turns += 1
        if whole and turns % TURNS == 0:
            found = over_groups(found)
        votes = uint32(cuda.ballot_sync(FULL_MASK, i < end and missing & ~found != 0))
    if whole:
        found = over_groups(found)
    return found & missing


@cuda.jit(device=True)
def gather_pieces(searches, here, there, lane):
    """Gather for the vertices of long lists, one warp per piece; all threads of the grid call."""
    step = uint32(uint32(4 * GROUPS) * lane.apart)
    for p in range(warp_number(), searches.listed[1], cuda.gridsize(1) // WARP_SIZE):
        v = uint32(searches.in_pieces[VERTEX, p])
        begin = searches.reverse_offsets[v] + searches.in_pieces[PART, p] * searches.piece
        end = uint32(min(begin + searches.piece, int64(searches.reverse_offsets[v + uint32(1)])))
        i = uint32(uint32(begin) + uint32(4) * lane.group * lane.apart)
        missing = lane.every & ~searches.seen[place(v, lane)]
        found = gather(searches.sources, here, lane, i, end, step, missing, True)
        if cuda.laneid < GROUP and lane.slot == 0 and found != 0:
            cuda.atomic.or_(there, place(v, lane), found)


@cuda.jit(device=True)
def settle_pieces(searches, there, some_there, counts):
    """Add the searches found for vertices of long lists to `seen`; all threads of the grid call."""
    entries, leaving, finished = int64(0), int64(0), int64(0)
    for p in range(cuda.grid(1), searches.listed[1], cuda.gridsize(1)):
        if searches.in_pieces[PART, p] == 0:
            v = uint32(searches.in_pieces[VERTEX, p])
            new, missing = int64(0), int64(0)
            for w in range(1 << searches.shift):
                at = uint32(uint32(v << uint32(searches.shift)) + uint32(w))
                found, known = there[at], searches.seen[at]
                new |= found
                missing |= bits_of(searches.searches, w) & ~(known | found)
                if found != 0:
                    searches.seen[at] = known | found
            if new != 0:
                set_bit(some_there, v)
                entries += 1
                leaving += searches.offsets[v + uint32(1)] - searches.offsets[v]
                if missing == 0:
                    finished += searches.reverse_offsets[v + uint32(1)]
                    finished -= searches.reverse_offsets[v]
    count_up(counts, ENTRIES, entries)
    count_up(counts, ARCS, leaving)
    count_up(counts, FINISHED, finished)


@cuda.jit(device=True)
def gather_for_32(searches, here, there, lane, slots, k, mine, begin, end):
    """Gather for those of 32 vertices that miss searches; all lanes of the warp call.

    Each lane passes the arcs of its own vertex. Return one bit per vertex: in the lower 32 bits,
    whether a search found it, in the upper 32, whether it still misses a search.
    """
    is_long = end - begin > LONG
    longs = uint32(cuda.ballot_sync(FULL_MASK, is_long))
    shorts = line_up(slots, begin < end and not is_long)
    share = uint32(uint32(4) * lane.apart)
    told = int64(0)
    number = 0
    while longs != 0 or number * GROUPS < cuda.popc(shorts):
        whole = longs != 0
        whose = turn(slots, longs, shorts, number, lane)
        i = uint32(cuda.shfl_sync(FULL_MASK, int32(begin), max(whose, 0)))
        stop = uint32(cuda.shfl_sync(FULL_MASK, int32(end), max(whose, 0)))
        step = share
        if whole:
            i = uint32(i + lane.group * share)
            step = uint32(share * uint32(GROUPS))
            longs = uint32(longs & uint32(longs - uint32(1)))
        else:
            number += 1
        at = place(uint32(k * WARP_SIZE + max(whose, 0)), lane)
        known, missing = int64(0), int64(0)
        if whose >= 0:
            known = searches.seen[at]
            missing = lane.every & ~known
        found = gather(searches.sources, here, lane, i, stop, step, missing, whole)
        cuda.syncwarp()  # all have read `seen`: neither votes nor shuffles order memory
        if whose >= 0 and lane.slot == 0 and (not whole or lane.group == 0):
            if found != 0:
                there[at] = found
                searches.seen[at] = known | found
                told |= int64(1) << int64(whose)
            if found != missing:
                told |= int64(1) << int64(whose + 32)
    return warp_or(told)


@cuda.jit(device=True)
def bottom_up(searches, here, there, some_there, counts, lane, slots):
    """Let every vertex that misses searches gather them; all threads of the grid call.

    ``there`` and ``some_there`` are zeros before. Vertices of long lists are settled later.
    """
    gather_pieces(searches, here, there, lane)
    entries, leaving, finished = int64(0), int64(0), int64(0)
    first = 0
    while first < searches.left.size:
        taken = int64(0)
        if cuda.laneid == 0:
            taken = cuda.atomic.add(counts, TICKET, TAKEN)
        first = cuda.shfl_sync(FULL_MASK, taken, 0)
        for k in range(first, min(first + TAKEN, searches.left.size)):
            mine = searches.left[k]
            if mine != 0:
                v = uint32(k * WARP_SIZE + cuda.laneid)
                begin, end = uint32(0), uint32(0)
                if uint32(mine >> uint32(cuda.laneid)) & uint32(1) != 0:
                    begin = uint32(searches.reverse_offsets[v])
                    end = uint32(searches.reverse_offsets[v + uint32(1)])
                told = gather_for_32(searches, here, there, lane, slots, k, mine, begin, end)
                came = uint32(told & int64(0xFFFFFFFF))
                still = uint32((told >> int64(32)) & int64(0xFFFFFFFF))
                if uint32(came >> uint32(cuda.laneid)) & uint32(1) != 0:
                    entries += 1
                    leaving += searches.offsets[v + uint32(1)] - searches.offsets[v]
                    if uint32(still >> uint32(cuda.laneid)) & uint32(1) == 0:
                        finished += int64(end) - int64(begin)
                cuda.syncwarp()  # all lanes have read the word
                if cuda.laneid == 0:
                    searches.left[k] = uint32(mine & still)
                    some_there[k] = came
    count_up(counts, ENTRIES, entries)
    count_up(counts, ARCS, leaving)
    count_up(counts, FINISHED, finished)
