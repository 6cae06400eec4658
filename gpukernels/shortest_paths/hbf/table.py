"""Alternatives to the 64-bit atomic: a lookup table between rounds, and a frontier made again.

The table is the technique that [busato2016hbf], section 4.2, ascribes to Davidson et al., in two
kernels between rounds. Every entry of the queue writes its number to its vertex's place in a table.
Then each entry reads its vertex's place, and is kept if it finds its own number. This takes four
accesses per entry, two of them scattered, and the compaction.
"""

from __future__ import annotations

from numba import cuda, int32

from gpukernels.device import benign_race
from gpukernels.frontiers.counts import ENTRIES
from gpukernels.frontiers.enqueue import draw_room
from gpukernels.frontiers.state import Queue
from gpukernels.primitives.queue_append import queue_append

from .relax import KEPT
from .words import round_of


@benign_race("table")
@cuda.jit
def write_table(queue: Queue, table):
    """Write the number of every entry of `queue` to its vertex's place in `table`.

    If several entries name one vertex, any of their numbers may stay.
    """
    for i in range(cuda.grid(1), queue.next_size[ENTRIES], cuda.gridsize(1)):
        if i < queue.next_frontier.size:
            table[queue.next_frontier[i]] = i


@cuda.jit
def keep_those_in_table(queue: Queue, table, frontier):
    """Append the entries of `queue` whose number is in `table` to `frontier`, and count them."""
    size = min(queue.next_size[ENTRIES], queue.next_frontier.size)
    for first in range(cuda.blockIdx.x * cuda.blockDim.x, size, cuda.gridsize(1)):
        i = first + cuda.threadIdx.x
        has, v = False, int32(0)
        if i < size:
            v = queue.next_frontier[i]
            has = table[v] == i
        place = draw_room(int32(has), queue.next_size, KEPT)
        if has:
            frontier[place] = v


@cuda.jit
def append_lowered(words, round, frontier, size):
    """Enqueue every vertex whose distance fell in `round`, each once; ``size[0]`` counts them."""
    v = cuda.grid(1)
    if v < words.size and round_of(words[v]) == round:
        queue_append(frontier, size, v)
