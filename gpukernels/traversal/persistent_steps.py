"""Expand a level within one launch: by one block out of shared memory, or by all blocks.

An entry of a queue holds a vertex and the places where its arcs begin and end. So no thread has to
load offsets between an entry and its arcs; the offsets are loaded during the claim, which waits as
long. `lanes` neighboring threads share an entry. An entry of more than `long_above` arcs goes into
a separate queue: blocks share its entries, and if there are few, each takes a slice of every list.

A level waits for these loads and atomics, one after another:

- all blocks: the entry (with the number of entries) - the target - the claim (with the offsets) -
  room in the queue: 4 accesses to the memory that all blocks share, and a barrier of all.
- one block: the entry in shared memory - the target - the claim - room in shared memory: 2 accesses
  to the memory that all blocks share, and a barrier of the block.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import cuda, int32, int64

from gpukernels.frontiers.state import kernel_argument
from gpukernels.primitives.launch_shape import FULL_MASK

from .result import UNVISITED, adopt

#: Entries that one block holds in shared memory.
ROOM = 1024
#: An entry's parts: the vertex, where its arcs begin and where they end.
VERTEX, BEGIN, END, PARTS = 0, 1, 2, 3
#: Places of a row of counts: entries found (short ones, and long ones times LONG), and the level.
FOUND, LEVEL, PLACES = 0, 1, 2
LONG = 1 << 32
#: Places of the counts of one block in shared memory: the same two numbers, separately.
SHORT_HERE, LONG_HERE, COUNTED_HERE = 0, 1, 2


@kernel_argument
class Search(NamedTuple):
    """The graph, the distances and parents so far, the queues, and the options."""

    offsets: Any
    targets: Any
    distance: Any  #: int32, UNVISITED at vertices not reached yet
    parent: Any  #: int32; without elements if parents are not kept
    queue: Any  #: int32, (2, PARTS, n): the entries of this turn and of the next one
    longs: Any  #: int32, (2, PARTS, ...): the entries of long lists
    counts: Any  #: int64, (3, PLACES): one row is read, one is filled, one is cleared
    shift: int  #: the logarithm of the lanes that share an entry
    long_above: int  #: a list of more arcs is long
    alone: int  #: one block visits a frontier of at most so many short lists
    eager: int  #: a larger frontier reads a distance before it claims


class Turn(NamedTuple):
    """The level that threads expand; made in a kernel."""

    level: int  #: distance of the vertices whose arcs are followed
    look: bool  #: whether a thread reads the distance before the claim
    there: int  #: the row of the queues that is filled
    filled: int  #: the row of counts that is filled


class Here(NamedTuple):
    """The queue and counts that one block keeps in shared memory; made in a kernel."""

    queue: Any  #: int32, (2, PARTS, ROOM)
    counted: Any  #: int32, (3, COUNTED_HERE)
    row: int  #: the row of the queue that is filled
    filled: int  #: the row of the counts that is filled


@cuda.jit(device=True)
def put_entry(queue, row, place, v, begin, end):
    """Store an entry."""
    queue[row, VERTEX, place] = v
    queue[row, BEGIN, place] = begin
    queue[row, END, place] = end


@cuda.jit(device=True)
def enqueue_for_all(search, turn, here, v, begin, end, found):
    """Append the entries of lanes that `found` one, with one atomic per warp; all lanes call."""
    is_long = found and end - begin > search.long_above
    longs = cuda.ballot_sync(FULL_MASK, is_long)
    shorts = cuda.ballot_sync(FULL_MASK, found and not is_long)
    if shorts != 0 or longs != 0:
        first = int64(0)
        if cuda.laneid == 0:
            brought = cuda.popc(shorts) + cuda.popc(longs) * LONG
            first = cuda.atomic.add(search.counts, (turn.filled, FOUND), int64(brought))
        first = cuda.shfl_sync(FULL_MASK, first, 0)
        below = cuda.lanemask_lt()
        if is_long:
            place = int32(first >> 32) + cuda.popc(longs & below)
            put_entry(search.longs, turn.there, place, v, begin, end)
        elif found:
            place = int32(first) + cuda.popc(shorts & below)
            put_entry(search.queue, turn.there, place, v, begin, end)


@cuda.jit(device=True)
def enqueue_here(search, turn, here, v, begin, end, found):
    """Append to the block's queue, and to all blocks' for the turn after it; all lanes call."""
    is_long = found and end - begin > search.long_above
    longs = cuda.ballot_sync(FULL_MASK, is_long)
    shorts = cuda.ballot_sync(FULL_MASK, found and not is_long)
    if shorts != 0 or longs != 0:
        first, first_long = int32(0), int32(0)
        if cuda.laneid == 0:
            first = cuda.atomic.add(
                here.counted, (here.filled, SHORT_HERE), int32(cuda.popc(shorts))
            )
            if longs != 0:
                first_long = cuda.atomic.add(
                    here.counted, (here.filled, LONG_HERE), int32(cuda.popc(longs))
                )
        first = cuda.shfl_sync(FULL_MASK, first, 0)
        first_long = cuda.shfl_sync(FULL_MASK, first_long, 0)
        below = cuda.lanemask_lt()
        if is_long:
            place = first_long + cuda.popc(longs & below)
            put_entry(search.longs, turn.there, place, v, begin, end)
        elif found:
            place = first + cuda.popc(shorts & below)
            put_entry(search.queue, turn.there, place, v, begin, end)
            if place < ROOM:
                put_entry(here.queue, here.row, place, v, begin, end)


@cuda.jit(device=True)
def follow(enqueue, search, turn, here, u, arc, end, step):
    """Claim the targets of a list's arcs, every `step`-th from `arc` on; all lanes of a warp call.

    The offsets of a target are loaded before the claim returns, so that a lane waits once for both.
    A lane that loses the claim has loaded them without need.
    """
    while cuda.any_sync(FULL_MASK, arc < end):
        v, first, last, found = int32(0), int32(0), int32(0), False
        if arc < end:
            v = search.targets[arc]
            if not turn.look or search.distance[v] == UNVISITED:
                first, last = search.offsets[v], search.offsets[v + 1]
                before = cuda.atomic.cas(search.distance, v, UNVISITED, turn.level + 1)
                found = before == UNVISITED
                if found:
                    adopt(search.parent, v, u)
        enqueue(search, turn, here, v, first, last, found)
        arc += step


@cuda.jit(device=True)
def expand_by_all(search, turn, here, row, size, longs, u, begin, end):
    """Expand `size` short and `longs` long lists of a row; all threads of the grid call.

    Each thread passes the entry at its own place, the first that it takes.
    """
    threads = cuda.blockDim.x
    if longs > 0:
        slices = max(1, cuda.gridDim.x // longs)
        for job in range(cuda.blockIdx.x, longs * slices, cuda.gridDim.x):
            entry = job // slices
            arc = search.longs[row, BEGIN, entry] + job % slices * threads + cuda.threadIdx.x
            follow(
                enqueue_for_all, search, turn, here, search.longs[row, VERTEX, entry], arc,
                search.longs[row, END, entry], slices * threads,
            )  # fmt: skip
    lanes = 1 << search.shift
    lane = cuda.laneid & (lanes - 1)
    of_warp = (cuda.grid(1) - cuda.laneid) >> search.shift  # the warp's first entry
    place = cuda.grid(1) >> search.shift
    while of_warp < size:
        if place >= size:
            end = begin
        follow(enqueue_for_all, search, turn, here, u, begin + lane, end, lanes)
        of_warp += cuda.gridsize(1) >> search.shift
        place += cuda.gridsize(1) >> search.shift
        if place < size:
            u = search.queue[row, VERTEX, place]
            begin, end = search.queue[row, BEGIN, place], search.queue[row, END, place]


@cuda.jit(device=True)
def expand_here(search, turn, here, size):
    """Expand the `size` lists in the block's other row; all threads of the block call."""
    lanes = 1 << search.shift
    lane = cuda.laneid & (lanes - 1)
    row = 1 - here.row
    for of_warp in range(
        (cuda.threadIdx.x - cuda.laneid) >> search.shift, size, cuda.blockDim.x >> search.shift
    ):
        place = of_warp + (cuda.laneid >> search.shift)
        u, begin, end = int32(0), int32(0), int32(0)
        if place < size:
            u = here.queue[row, VERTEX, place]
            begin, end = here.queue[row, BEGIN, place], here.queue[row, END, place]
        follow(enqueue_here, search, turn, here, u, begin + lane, end, lanes)


@cuda.jit(device=True)
def search_alone(search, shared_queue, counted, row, filled, size, level, log):
    """Go from level to level as long as the frontier is small; all threads of one block call.

    Row `row` of the queue of all blocks holds the first level's entries. The last level's entries
    go to its other row, and their number goes to row `filled` of the counts.
    """
    for i in range(cuda.threadIdx.x, size, cuda.blockDim.x):
        for part in range(PARTS):
            shared_queue[0, part, i] = search.queue[row, part, i]
    if cuda.threadIdx.x < COUNTED_HERE:
        counted[0, cuda.threadIdx.x] = 0
    cuda.syncthreads()
    to, now, after, longs = 1, 0, 1, 0
    while longs == 0 and 0 < size <= search.alone:
        if cuda.threadIdx.x < COUNTED_HERE:
            counted[after, cuda.threadIdx.x] = 0
        if cuda.threadIdx.x == 0:
            log[1 + level, 0] = size
            log[1 + level, 1] = 1
        here = Here(shared_queue, counted, to, now)
        expand_here(search, Turn(level, False, 1 - row, filled), here, size)
        cuda.syncthreads()
        size, longs = counted[now, SHORT_HERE], counted[now, LONG_HERE]
        level += 1
        to = 1 - to
        now, after = after, 3 - now - after
    if cuda.threadIdx.x == 0:
        search.counts[filled, FOUND] = size + longs * LONG
        search.counts[filled, LEVEL] = level
