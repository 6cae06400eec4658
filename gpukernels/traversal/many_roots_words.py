"""Where the words of many searches lie, and which of them a lane sees to.

Search i is bit i % 64 of word i // 64, and a vertex has 1, 2 or 4 words side by side: the 32 bytes
of a memory sector hold those of 256 searches. Four lanes are a *group* and take one vertex. With
four words a vertex each lane takes its own word of one neighbor; with one word each lane takes
another neighbor; with two, two lanes share each of two neighbors.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import cuda, int32, int64, uint32

from gpukernels.frontiers.state import kernel_argument
from gpukernels.primitives.launch_shape import FULL_MASK, MAX_THREADS, WARP_SIZE

#: Searches that share a word, and words that a vertex may have.
BITS, WORDS = 64, (1, 2, 4)
#: Lanes that take a vertex together, and such groups of a warp.
GROUP, GROUPS = 4, 8
#: Levels of which the frontiers are kept, and rows of them, one more: see `many_roots_rows`.
KEPT = 7
ROWS = KEPT + 1
#: Places of a row of counts behind `ENTRIES` and `ARCS`: the arcs that lead to vertices which have
#: just been found by their last search, and the next piece of work that a warp may take.
FINISHED, TICKET, PLACES = 2, 3, 4
#: Rows of the list of pieces: the vertex, and which piece of its arcs.
VERTEX, PART = 0, 1


@kernel_argument
class Searches(NamedTuple):
    """The graph in both directions, and what all searches of a batch know of its vertices."""

    offsets: Any
    targets: Any
    reverse_offsets: Any
    sources: Any
    seen: Any  #: int64, (words n): the searches that have come to the vertex
    fronts: Any  #: int64, (ROWS, words n): row l % ROWS, those that found it at level l
    some: Any  #: uint32, (ROWS, n / 32): bit v of row l % ROWS, whether any search did
    left: Any  #: uint32, (n / 32): who misses a search and has from 1 to `piece` in-neighbors
    out_pieces: Any  #: int32, (2, ...): pieces of the lists of more than `piece` targets
    in_pieces: Any  #: int32, (2, ...): pieces of the lists of more than `piece` sources
    listed: Any  #: int32, how many there are of both
    distance: Any  #: int8, int16 or int32, (searches n)
    searches: int  #: how many there are
    shift: int  #: the logarithm of the words of a vertex
    piece: int  #: arcs of the longest list that one warp goes through alone


class Lane(NamedTuple):
    """What a lane sees to; made in a kernel."""

    shift: Any  #: uint32, the logarithm of the words of a vertex
    word: Any  #: uint32, which of them is the lane's
    slot: Any  #: uint32, which neighbor of those that its group looks at together
    apart: Any  #: uint32, how many those are
    group: Any  #: uint32, its group's number in the warp
    every: Any  #: int64, all searches of its word


@cuda.jit(device=True)
def bits_of(count, word):
    """Return the bits that stand for searches in a word, of `count` searches in all."""
    here = int64(count) - int64(BITS) * int64(word)
    if here >= BITS:
        return int64(-1)
    if here <= 0:
        return int64(0)
    return (int64(1) << here) - int64(1)


@cuda.jit(device=True)
def this_lane(searches):
    """Return what the calling lane sees to."""
    shift, lane = uint32(searches.shift), uint32(cuda.laneid)
    inside = uint32(lane & uint32(GROUP - 1))
    word = uint32(inside & uint32((uint32(1) << shift) - uint32(1)))
    return Lane(
        shift, word, uint32(inside >> shift), uint32(uint32(GROUP) >> shift),
        uint32(lane >> uint32(2)), bits_of(searches.searches, word),
    )  # fmt: skip


@cuda.jit(device=True)
def place(v, lane):
    """Return where the lane's word of vertex `v` (uint32) lies in a row of words."""
    return uint32(uint32(v << lane.shift) | lane.word)


@cuda.jit(device=True)
def warp_or(word):
    """Return the bits that any lane of the warp has, in every lane; all 32 lanes must call."""
    apart = WARP_SIZE // 2
    while apart > 0:
        word |= cuda.shfl_xor_sync(FULL_MASK, word, apart)
        apart //= 2
    return word


@cuda.jit(device=True)
def over_groups(word):
    """Return the bits that the same lane of any group has; all 32 lanes must call."""
    word |= cuda.shfl_xor_sync(FULL_MASK, word, 4)
    word |= cuda.shfl_xor_sync(FULL_MASK, word, 8)
    return word | cuda.shfl_xor_sync(FULL_MASK, word, 16)


@cuda.jit(device=True)
def set_bit(bits, v):
    """Set the bit of vertex `v` (uint32), while others may set bits beside it."""
    cuda.atomic.or_(bits, v >> uint32(5), uint32(uint32(1) << uint32(v & uint32(31))))


@cuda.jit(device=True)
def line_up(slots, takes):
    """Put the lanes that `takes` into the warp's slots, in order; all 32 lanes must call.

    Returns the lanes as bits. ``slots`` is shared, with room for as many as a block has threads.
    """
    votes = uint32(cuda.ballot_sync(FULL_MASK, takes))
    cuda.syncwarp()  # nobody reads what was there before
    if takes:
        first = cuda.threadIdx.x // WARP_SIZE * WARP_SIZE
        slots[first + cuda.popc(votes & cuda.lanemask_lt())] = cuda.laneid
    cuda.syncwarp()
    return votes


@cuda.jit(device=True)
def turn(slots, longs, shorts, number, lane):
    """Return whose list the lane helps with in a turn, -1 for nobody's; all lanes call.

    First each of the `longs` has a turn of the whole warp, then eight of the `shorts` at a time one
    of a group each; `number` counts the latter. Both are lanes, as bits.
    """
    if longs != 0:
        return int32(cuda.ffs(longs) - 1)
    rank = number * GROUPS + lane.group
    if rank < cuda.popc(shorts):
        return int32(slots[cuda.threadIdx.x // WARP_SIZE * WARP_SIZE + rank])
    return int32(-1)


@cuda.jit(device=True)
def warp_number():
    """Return the number of the calling warp in the grid."""
    return (cuda.grid(1) - cuda.laneid) // WARP_SIZE


#: Slots of a block of any size.
SLOTS = MAX_THREADS
