"""The layout of the words of many searches, and the words and neighbors that a lane reads.

Search i is bit i % 64 of word i // 64. A vertex has 1, 2 or 4 words side by side, so a memory
sector of 32 bytes holds 256 searches. Four lanes are a *group* and take one vertex. With four words
per vertex, each lane takes its own word of the same neighbor. With one word, each lane takes
another neighbor. With two words, two lanes share each of two neighbors.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import cuda, int32, int64, uint32

from gpukernels.frontiers.state import kernel_argument
from gpukernels.primitives.launch_shape import FULL_MASK, MAX_THREADS, WARP_SIZE

#: Searches per word, and words that a vertex may have.
BITS, WORDS = 64, (1, 2, 4)
#: Lanes that take a vertex together, and such groups in a warp.
GROUP, GROUPS = 4, 8
#: Levels whose frontiers are kept, and their rows, one more: see `many_roots_rows`.
KEPT = 7
ROWS = KEPT + 1
#: Places of a row of counts after `ENTRIES` and `ARCS`: the arcs that lead to vertices whose last
#: search has just found them, and the next piece of work that a warp may take.
FINISHED, TICKET, PLACES = 2, 3, 4
#: Rows of the list of pieces: the vertex, and which piece of its arcs.
VERTEX, PART = 0, 1


@kernel_argument
class Searches(NamedTuple):
    """The graph in both directions, and the searches of a batch that have reached each vertex."""

    offsets: Any
    targets: Any
    reverse_offsets: Any
    sources: Any
    seen: Any  #: int64, (words n): the searches that have come to the vertex
    fronts: Any  #: int64, (ROWS, words n): row l % ROWS, the searches that found it at level l
    some: Any  #: uint32, (ROWS, n / 32): one bit per vertex, whether any search did so
    left: Any  #: uint32, (n / 32): vertices that miss a search, of 1 to `piece` in-neighbors
    out_pieces: Any  #: int32, (2, ...): pieces of the lists of more than `piece` targets
    in_pieces: Any  #: int32, (2, ...): pieces of the lists of more than `piece` sources
    listed: Any  #: int32, the number of both kinds of pieces
    distance: Any  #: int8, int16 or int32, (searches n)
    searches: int  #: the number of searches
    shift: int  #: the logarithm of the words of a vertex
    piece: int  #: arcs of the longest list that one warp goes through alone


class Lane(NamedTuple):
    """The words and neighbors of a lane; made in a kernel."""

    shift: Any  #: uint32, the logarithm of the words of a vertex
    word: Any  #: uint32, the number of the lane's word among these
    slot: Any  #: uint32, which of its group's neighbors the lane takes
    apart: Any  #: uint32, how many neighbors the group takes together
    group: Any  #: uint32, the number of its group in the warp
    every: Any  #: int64, all searches of its word


@cuda.jit(device=True)
def bits_of(count, word):
    """Return the bits of a word that stand for searches, of `count` searches in all."""
    here = int64(count) - int64(BITS) * int64(word)
    if here >= BITS:
        return int64(-1)
    if here <= 0:
        return int64(0)
    return (int64(1) << here) - int64(1)


@cuda.jit(device=True)
def this_lane(searches):
    """Return the words and neighbors of the calling lane."""
    shift, lane = uint32(searches.shift), uint32(cuda.laneid)
    inside = uint32(lane & uint32(GROUP - 1))
    word = uint32(inside & uint32((uint32(1) << shift) - uint32(1)))
    return Lane(
        shift, word, uint32(inside >> shift), uint32(uint32(GROUP) >> shift),
        uint32(lane >> uint32(2)), bits_of(searches.searches, word),
    )  # fmt: skip


@cuda.jit(device=True)
def place(v, lane):
    """Return the place of the lane's word of vertex `v` (uint32) in a row of words."""
    return uint32(uint32(v << lane.shift) | lane.word)


@cuda.jit(device=True)
def warp_or(word):
    """Return in every lane the bits that any lane of the warp has; all 32 lanes must call."""
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
    """Set the bit of vertex `v` (uint32), while other threads may set bits of the same word."""
    cuda.atomic.or_(bits, v >> uint32(5), uint32(uint32(1) << uint32(v & uint32(31))))


@cuda.jit(device=True)
def line_up(slots, takes):
    """Put the lanes that have `takes` into the warp's slots, in order; all 32 lanes must call.

    Return these lanes as bits. ``slots`` is shared memory with one place per thread of a block.
    """
    votes = uint32(cuda.ballot_sync(FULL_MASK, takes))
    cuda.syncwarp()  # no lane reads the earlier slots any more
    if takes:
        first = cuda.threadIdx.x // WARP_SIZE * WARP_SIZE
        slots[first + cuda.popc(votes & cuda.lanemask_lt())] = cuda.laneid
    cuda.syncwarp()
    return votes


@cuda.jit(device=True)
def turn(slots, longs, shorts, number, lane):
    """Return the lane whose list the calling lane reads in a turn, or -1 for none; all lanes call.

    First the whole warp takes each of the `longs` in turn. Then it takes eight of the `shorts` at a
    time, one per group; `number` counts these turns. Both masks hold one bit per lane.
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
