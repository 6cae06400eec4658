"""The steps of a persistent near-far search: relax near vertices or pieces, or split the far pile.

A vertex waits near if it is closer than the split, else far; see `near_far_persistent` for the
search. One bit of `waiting_word` says that a vertex waits. Its consequences are:

- A waiting vertex that is closer than the split is in one near queue, once. So a queue of n places
  has room for all.
- The split only grows, and distances only fall. So a vertex enters the far pile at most once in a
  search, and n places are enough. The pile may hold vertices that have moved near meanwhile; these
  are dropped when it is split.

A block copies its portion of the near pile into shared memory, and its warps spread the arcs over
their lanes. Vertices that fall near go to a second queue there. The block may relax these at once,
for up to `rounds` rounds, while other blocks do the same: all blocks share the distances, but each
has its own queue. Then it hands on the vertices that it holds. A vertex of more than `piece` arcs
is not relaxed by the warp that takes it: it is cut into pieces, which all warps of the grid share
in a separate step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import cuda, int32

from gpukernels.frontiers.enqueue import warp_minimum
from gpukernels.frontiers.state import kernel_argument
from gpukernels.mapping.local_warp_search import search_registers
from gpukernels.mapping.virtual_warp import virtual_warp
from gpukernels.primitives.launch_shape import FULL_MASK, WARP_SIZE
from gpukernels.primitives.warp_append import warp_append

from .waiting_word import NONE, bits_of, length_of, lower, take

#: Vertices that a block holds in each of its queues in shared memory.
ROOM = 1024
#: Counters of each kind: one is read, the next is filled, and the one after it is cleared. Three
#: are enough, but a mask can select one of four, where three need a division.
TURNS = 4
LAST = TURNS - 1
#: The first of each kind in ``counts``: near vertices; far vertices, the least of their distances,
#: and vertices taken again; pieces.
NEAR, FAR, LEAST, AGAIN, PIECES, COUNTS = (TURNS * kind for kind in range(6))
#: Places of a block's own counters after the sizes of its near queues: as above, and the places in
#: the piles where it puts the vertices that it hands on.
FAR_HERE, LEAST_HERE, AGAIN_HERE, NEAR_PLACE, FAR_PLACE, COUNTS_HERE = range(TURNS, TURNS + 6)
#: Places in the counters of each thread: arcs relaxed, vertices put into a pile, and vertices that
#: fell while they waited and were not put there again.
ARCS, ENTRIES, DROPPED, TALLIES = range(4)


@kernel_argument
class Search(NamedTuple):
    """The graph, the words of its vertices, and the piles."""

    offsets: Any
    targets: Any
    weights: Any
    infinite: Any  #: the distance of unreached vertices, in the type of distances
    word: Any  #: uint32, see `waiting_word`
    near: Any  #: int32, shape (2, n): queues in turn
    far: Any  #: int32, shape (2, n): the far pile, in turn
    pieces: Any  #: int32, shape (3, the most pieces): first arc, the arc after the last, distance
    piece: int  #: arcs of a piece
    counts: Any  #: int32, shape (COUNTS,)


class Block(NamedTuple):
    """The queues and counters that a block holds in shared memory; made in a kernel."""

    near: Any  #: int32, shape (2, ROOM): queues in turn
    far: Any  #: int32, shape (ROOM,): vertices that fell far
    bits: Any  #: int32, shape (ROOM,): distances of the relaxed vertices, by place in the queue
    counts: Any  #: int32, shape (COUNTS_HERE,)


class Piles(NamedTuple):
    """Where a step puts vertices that fall; made in a kernel."""

    filled: Any  #: the block's near queue
    near: Any  #: the near queue that is filled, counted from 0 through all steps
    far: Any  #: the far pile, counted from 0 through all splits
    bound: Any  #: bits of the split


@cuda.jit(device=True)
def put_near(search, block, piles, v):
    """Put `v` into a near queue: the block's, if it has room and `v` is not cut into pieces."""
    slot = int32(ROOM)
    if search.pieces.shape[1] == 0 or search.offsets[v + 1] - search.offsets[v] <= search.piece:
        slot = cuda.atomic.add(block.counts, piles.filled & LAST, 1)
    if slot < ROOM:
        block.near[piles.filled & 1, slot] = v
    else:
        place = cuda.atomic.add(search.counts, NEAR + (piles.near & LAST), 1)
        search.near[piles.near & 1, place] = v


@cuda.jit(device=True)
def put_far(search, block, piles, v):
    """Put `v` into the far pile."""
    slot = cuda.atomic.add(block.counts, FAR_HERE, 1)
    if slot < ROOM:
        block.far[slot] = v
    else:
        place = cuda.atomic.add(search.counts, FAR + (piles.far & LAST), 1)
        search.far[piles.far & 1, place] = v


@cuda.jit(device=True)
def relax(work, slot, arc):
    """Relax an arc of the vertex whose distance is ``bits[slot]``; put its target into a pile."""
    search, block, piles, tally = work
    v = search.targets[arc]
    length = length_of(block.bits[slot], search.weights) + search.weights[arc]
    tally[ARCS] += 1
    if length >= search.infinite:
        return
    bits = bits_of(length, search.weights)
    if bits >= int32(search.word[v] >> 1):
        return
    old = lower(search.word, v, bits)
    before, waited = int32(old >> 1), int32(old & 1)
    if bits >= before:
        return
    # A vertex that waited far and falls near goes to a near queue; its far entry is dropped later.
    if waited == 1 and (before < piles.bound or bits >= piles.bound):
        tally[DROPPED] += 1
    else:
        tally[ENTRIES] += 1
    if bits >= piles.bound:
        cuda.atomic.min(block.counts, LEAST_HERE, bits)
        if waited == 0:
            put_far(search, block, piles, v)
    elif waited == 0 or before >= piles.bound:
        if before < piles.bound:
            cuda.atomic.add(block.counts, AGAIN_HERE, 1)
        put_near(search, block, piles, v)


@cuda.jit(device=True)
def cut(search, row, bits, begin, end):
    """Cut the vertices of more than `piece` arcs; return the new begin of the caller's own arcs.

    All lanes of the warp call, each with its own vertex; the pieces are for the next step.
    """
    large = end - begin > search.piece
    votes = cuda.ballot_sync(FULL_MASK, large)
    if votes == 0:
        return begin
    count, place = int32(0), int32(0)
    if large:
        count = int32((end - begin + search.piece - 1) // search.piece)
        place = cuda.atomic.add(search.counts, row, count)
    while votes != 0:
        winner = cuda.ffs(votes) - 1
        its_begin = cuda.shfl_sync(FULL_MASK, begin, winner)
        its_end = cuda.shfl_sync(FULL_MASK, end, winner)
        its_bits = cuda.shfl_sync(FULL_MASK, bits, winner)
        its_count = cuda.shfl_sync(FULL_MASK, count, winner)
        its_place = cuda.shfl_sync(FULL_MASK, place, winner)
        for k in range(cuda.laneid, its_count, WARP_SIZE):
            first = its_begin + k * search.piece
            search.pieces[0, its_place + k] = first
            search.pieces[1, its_place + k] = min(first + search.piece, its_end)
            search.pieces[2, its_place + k] = its_bits
        votes &= votes - 1
    if large:
        begin = end
    return begin


@cuda.jit(device=True)
def relax_held(search, block, piles, row, size, tally):
    """Take the `size` vertices of the block's queue before `filled` and relax their arcs.

    All threads of the block call. A warp takes from 1 to 32 vertices, by the size of the queue.
    """
    warps = int32(cuda.blockDim.x // WARP_SIZE)
    each = int32(1)
    while each < WARP_SIZE and each * warps < size:
        each = int32(2 * each)
    first = int32(cuda.threadIdx.x // WARP_SIZE * each)
    while first < size:
        i = int32(first + cuda.laneid)
        begin, end, bits = int32(0), int32(0), int32(0)
        if cuda.laneid < each and i < size:
            u = block.near[(piles.filled + 1) & 1, i]
            bits = take(search.word, u)
            block.bits[i] = bits
            begin, end = search.offsets[u], search.offsets[u + 1]
        begin = cut(search, row, bits, begin, end)
        cuda.syncwarp()
        search_registers(relax, (search, block, piles, tally), i, begin, end)
        first = int32(first + warps * each)


@cuda.jit(device=True)
def open_block(block):
    """Make the block's queues empty; all threads call, and a barrier has passed after."""
    if cuda.threadIdx.x < COUNTS_HERE:
        block.counts[cuda.threadIdx.x] = NONE if cuda.threadIdx.x == LEAST_HERE else 0
    cuda.syncthreads()


@cuda.jit(device=True)
def hand_on(search, block, piles, size):
    """Hand on `size` vertices of the block's `filled` queue, and the vertices that fell far.

    All threads of the block call, after a barrier; one has passed when they return.
    """
    counts = block.counts
    far = min(counts[FAR_HERE], ROOM)
    if cuda.threadIdx.x == 0:
        if size > 0:
            counts[NEAR_PLACE] = cuda.atomic.add(search.counts, NEAR + (piles.near & LAST), size)
        if far > 0:
            counts[FAR_PLACE] = cuda.atomic.add(search.counts, FAR + (piles.far & LAST), far)
        if counts[LEAST_HERE] != NONE:
            cuda.atomic.min(search.counts, LEAST + (piles.far & LAST), counts[LEAST_HERE])
        if counts[AGAIN_HERE] > 0:
            cuda.atomic.add(search.counts, AGAIN + (piles.far & LAST), counts[AGAIN_HERE])
    cuda.syncthreads()
    i = int32(cuda.threadIdx.x)
    while i < size:
        search.near[piles.near & 1, counts[NEAR_PLACE] + i] = block.near[piles.filled & 1, i]
        i = int32(i + cuda.blockDim.x)
    i = int32(cuda.threadIdx.x)
    while i < far:
        search.far[piles.far & 1, counts[FAR_PLACE] + i] = block.far[i]
        i = int32(i + cuda.blockDim.x)
    cuda.syncthreads()


@cuda.jit(device=True)
def rounds_of(size, fair, rounds):
    """Return how many rounds the blocks continue alone with a near pile of `size` vertices.

    With at most `fair` vertices per block, whose arcs are enough for all its threads: `rounds`. If
    one block has all vertices: until none is left. Else one.
    """
    if size <= cuda.blockDim.x // WARP_SIZE:
        return NONE
    if size <= fair * cuda.gridDim.x:
        return rounds
    return 1


@cuda.jit(device=True)
def relax_near(search, block, near, far, bound, row, size, fair, rounds, tally):
    """Relax the `size` vertices of near queue `near`; all threads of the grid call.

    A block takes at least one vertex per warp. It continues with the vertices that it finds up to
    `rounds` times, if there are no more than `fair` of them, and hands on the rest.
    """
    portion = int32((size + cuda.gridDim.x - 1) // cuda.gridDim.x)
    portion = int32(min(max(portion, cuda.blockDim.x // WARP_SIZE), ROOM))
    first = int32(cuda.blockIdx.x * portion)
    while first < size:
        open_block(block)
        held = int32(min(size - first, portion))
        i = int32(cuda.threadIdx.x)
        while i < held:
            block.near[0, i] = search.near[near & 1, first + i]
            i = int32(i + cuda.blockDim.x)
        cuda.syncthreads()
        round = 0
        while round < rounds and held > 0 and (round == 0 or held <= fair):
            if cuda.threadIdx.x == 0:
                block.counts[round + 2 & LAST] = 0
            piles = Piles(round + 1, near + 1, far, bound)
            relax_held(search, block, piles, row, held, tally)
            cuda.syncthreads()
            round += 1
            held = int32(min(block.counts[round & LAST], ROOM))
        hand_on(search, block, Piles(round, near + 1, far, bound), held)
        first = int32(first + cuda.gridDim.x * portion)


@cuda.jit(device=True)
def relax_pieces(search, block, near, far, bound, size, tally):
    """Relax `size` pieces, one warp per piece; all threads of the grid call."""
    warp = cuda.threadIdx.x // WARP_SIZE
    open_block(block)
    piles = Piles(1, near, far, bound)
    work = search, block, piles, tally
    job = int32(warp * cuda.gridDim.x + cuda.blockIdx.x)
    while job < size:
        # Each thread has its own place and reads only this one: no lane waits for another.
        block.bits[cuda.threadIdx.x] = search.pieces[2, job]
        begin, end = search.pieces[0, job], search.pieces[1, job]
        virtual_warp(relax, work, cuda.threadIdx.x, begin, end, cuda.laneid, WARP_SIZE)
        job = int32(job + cuda.gridDim.x * (cuda.blockDim.x // WARP_SIZE))
    cuda.syncthreads()
    hand_on(search, block, piles, int32(min(block.counts[1], ROOM)))


@cuda.jit(device=True)
def split_far(search, near, far, old_bound, bound, size):
    """Split a far pile of `size` vertices: those closer than `bound` become near, others stay far.

    Vertices closer than the old split have been near already and are dropped. All threads call.
    """
    least = int32(NONE)
    for first in range(cuda.blockIdx.x * cuda.blockDim.x, size, cuda.gridsize(1)):
        i = first + cuda.threadIdx.x
        v, bits = int32(0), int32(0)
        if i < size:
            v = search.far[far & 1, i]
            bits = int32(search.word[v] >> 1)
        is_near = i < size and bits >= old_bound and bits < bound
        stays = i < size and bits >= bound
        if stays:
            least = min(least, bits)
        to_near, to_far = search.near[(near + 1) & 1], search.far[(far + 1) & 1]
        warp_append(to_near, search.counts[NEAR + (near + 1 & LAST) :], v, is_near)
        warp_append(to_far, search.counts[FAR + (far + 1 & LAST) :], v, stays)
    least = warp_minimum(least)
    if cuda.laneid == 0 and least != NONE:
        cuda.atomic.min(search.counts, LEAST + (far + 1 & LAST), least)
