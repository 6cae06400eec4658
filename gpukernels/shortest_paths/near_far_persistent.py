"""Near-far in one launch, with a delta that adapts: near vertices are relaxed, far vertices wait.

ADDS of Wang, Fussell and Lin [wang2021fast] is the state of the art that this method stands for:
delta-stepping [meyer2003delta] without one launch per step, whose delta follows the search. The
piles are the ones of [davidson2014workefficient]. Work O(n m) at worst, and close to O(n + m) if
delta is small; space O(n + m). Mapping: a warp takes up to 32 vertices and spreads their arcs over
its lanes; vertices of many arcs are cut into pieces that all warps share.

One cooperative launch does all steps. A vertex whose distance falls waits in the near pile if it is
closer than the split, else in the far pile. Steps relax near vertices until none is left; then the
split moves on by delta, and the far pile is divided again. One grid sync ends a step: after it,
every thread reads the counters and knows the next step. One counter of each kind is read, the next
one is filled, and the one after it is cleared.

A grid sync takes as long as some hundred instructions, and a road network has thousands of steps,
each too small to fill a GPU. So a block relaxes the vertices that it finds for some rounds before
all meet again. If the whole near pile is one block's share, its rounds have no limit.

Delta doubles if the waits of steps cost more than repeated relaxations, and halves if they cost
less: see `adaptive_delta`.

ADDS has no barrier at all: one block manages 32 buckets for the other blocks, which take vertices
when they can. Here all blocks are alike, and there are two piles. Three ideas are the same: no step
waits for the host, a block does not wait for others while it has work, and delta follows.
"""

from __future__ import annotations

import functools

import numpy as np
from numba import cuda, int32, int64

from gpukernels.checks import check_flag, check_whole
from gpukernels.device import Device, benign_race
from gpukernels.frontiers.counts import count_up
from gpukernels.frontiers.pieces import larger_than
from gpukernels.graphs.graph import Graph
from gpukernels.primitives.large_blocks import LARGE_BLOCKS
from gpukernels.primitives.launch_shape import WARP_SIZE, blocks_for, check_threads
from gpukernels.primitives.offsets import MAX_UNITS

from .adaptive_delta import adapted, bound_beyond, deltas
from .near_far_steps import (
    AGAIN,
    ARCS,
    COUNTS,
    COUNTS_HERE,
    DROPPED,
    ENTRIES,
    FAR,
    LAST,
    LEAST,
    NEAR,
    PIECES,
    ROOM,
    TALLIES,
    TURNS,
    Block,
    Search,
    relax_near,
    relax_pieces,
    rounds_of,
    split_far,
)
from .non_negative import check_non_negative
from .result import SSSPResult, arcs_on, infinity
from .tight import with_parents
from .waiting_word import NONE, bits_of, length_of

#: Threads per block by default.
BLOCK = 256
#: Arcs of a piece by default: eight turns of a warp.
PIECE = 256
#: Rounds that a block continues alone, by default.
ROUNDS = 32
#: By default, `fill` vertices have arcs for a fourth of the threads. Relaxing them takes as long as
#: a step waits: some 3 microseconds on a GPU that relaxes 20 arcs per nanosecond.
SHARE = 4
#: Arcs that a thread should have before another block is launched.
ARCS_A_THREAD = 4
#: Places in the kernel's output: first the `TALLIES` counters; then steps and splits.
STEPS, SPLITS, TOLD = TALLIES, TALLIES + 1, TALLIES + 2


@cuda.jit(device=True)
def begin(search, root):
    """Make all distances infinite except the root's, which waits near; a sync must follow."""
    none = 2 * int64(bits_of(search.infinite, search.weights))
    for v in range(cuda.grid(1), search.word.size, cuda.gridsize(1)):
        search.word[v] = 1 if v == root else none
    for i in range(cuda.grid(1), COUNTS, cuda.gridsize(1)):
        search.counts[i] = NONE if LEAST <= i < LEAST + TURNS else int32(i == NEAR)
    if cuda.grid(1) == 0:
        search.near[0, 0] = root


@benign_race("word")
@cuda.jit(**LARGE_BLOCKS)
def search_near_and_far(
    search: Search, root, delta, finest, adapt, fill, fair, rounds, distance, told, last_delta
):
    """Search from `root` until both piles are empty; a cooperative launch.

    ``told`` receives the sums of all threads' counters, the steps and the splits; ``last_delta[0]``
    receives the delta at the end.

    A plain read of a word saves the atomic if an arc lowers nothing. The read may be late: then the
    word has fallen further, and the atomic, which decides, lowers nothing either.
    """
    block = Block(
        cuda.shared.array((2, ROOM), int32),
        cuda.shared.array(ROOM, int32),
        cuda.shared.array(ROOM, int32),
        cuda.shared.array(COUNTS_HERE, int32),
    )
    tally = cuda.local.array(TALLIES, int64)
    for what in range(TALLIES):
        tally[what] = 0
    begin(search, root)
    cuda.cg.this_grid().sync()
    counts = search.counts
    first = cuda.grid(1) == 0
    bound = bound_beyond(0, delta, search.infinite, search.weights)
    step, near, far, since = 0, 0, 0, 0
    while True:
        row = PIECES + (step + 1 & LAST)
        if first:
            counts[PIECES + (step + 2 & LAST)] = 0
        size = int32(0)
        if search.pieces.shape[1] > 0:
            size = counts[PIECES + (step & LAST)]
        if size > 0:
            since += 1
            relax_pieces(search, block, near, far, bound, size, tally)
        else:
            if first:
                counts[NEAR + (near + 2 & LAST)] = 0
            size = counts[NEAR + (near & LAST)]
            if size > 0:
                times = rounds_of(size, fair, rounds)
                since += min(times, rounds)
                relax_near(search, block, near, far, bound, row, size, fair, times, tally)
            else:
                size = counts[FAR + (far & LAST)]
                if size == 0:
                    break
                if first:
                    counts[FAR + (far + 2 & LAST)] = 0
                    counts[LEAST + (far + 2 & LAST)] = NONE
                    counts[AGAIN + (far + 2 & LAST)] = 0
                if adapt:
                    delta = adapted(delta, finest, fill, since, counts[AGAIN + (far & LAST)])
                old_bound = bound
                bound = bound_beyond(
                    counts[LEAST + (far & LAST)], delta, search.infinite, search.weights
                )  # fmt: skip
                split_far(search, near, far, old_bound, bound, size)
                far += 1
                since = 1
            near += 1
        step += 1
        cuda.cg.this_grid().sync()
    for v in range(cuda.grid(1), distance.size, cuda.gridsize(1)):
        distance[v] = length_of(search.word[v] >> 1, search.weights)
    for what in range(TALLIES):
        count_up(told, what, tally[what])
    if first:
        told[STEPS], told[SPLITS], last_delta[0] = step, far, delta


def sssp(
    g: Graph,
    root: int,
    device: Device,
    *,
    delta: float | None = None,
    adapt: bool = True,
    fill: int | None = None,
    rounds: int = ROUNDS,
    piece: int = PIECE,
    threads: int = BLOCK,
    blocks: int | None = None,
    parents: bool = True,
) -> SSSPResult:
    """Search `g` from `root` in one cooperative launch.

    Parameters
    ----------
    g : Graph
        The graph; its outgoing arcs are followed. No weight may be negative.
    root : int
        The vertex where the paths begin.
    device : SimtDevice or CudaDevice
        Where kernels run.
    delta : float, optional
        The first distance of the split beyond the nearest vertex of the far pile. By default the
        mean weight divided by the mean degree.
    adapt : bool
        Whether delta doubles and halves as the search goes on.
    fill : int, optional
        How many vertices could be relaxed in the time that a step waits: the larger, the more delta
        grows. By default a fourth of the threads, divided by the mean degree.
    rounds : int
        Rounds that a block continues alone with the vertices that it finds, before all blocks meet.
    piece : int
        A vertex of more arcs is cut into pieces of so many, which all warps share.
    threads : int
        Threads per block.
    blocks : int, optional
        Blocks of the launch, if the device holds so many at once; by default as many as it holds,
        or fewer if the graph has no use for them.
    parents : bool
        Whether the result holds parents.

    Returns
    -------
    SSSPResult
        ``stats`` adds ``enqueues`` (vertices put into a pile), ``duplicates`` (vertices that fell
        while they waited in the right pile, and were not put there again), ``iterations`` (steps
        between two grid syncs), ``splits`` (steps that divided the far pile), ``delta`` (the first
        and the last) and ``blocks``. All depend on the order of the threads.

    Raises
    ------
    NegativeWeightError
        If an arc weighs less than 0.
    InvalidArgument
        If `delta` is not a finite number above 0, `adapt` is neither True nor False, or another
        option is not a whole number of at least 1.
    """
    check_threads(threads)
    adapt = check_flag("adapt", adapt)
    check_whole("rounds", rounds, 1, MAX_UNITS)
    check_whole("piece", piece, 1, MAX_UNITS)
    for name, value in (("fill", fill), ("blocks", blocks)):
        if value is not None:
            check_whole(name, value, 1, MAX_UNITS)
    check_non_negative(g, "near_far_persistent")
    arcs = arcs_on(device, g)
    kind = arcs[2].dtype
    degree = max(g.m / max(g.n, 1), 1.0)
    delta, finest = deltas(g, delta, degree, kind)
    search = Search(
        *arcs,
        kind.type(infinity(kind)),
        device.empty(g.n, np.uint32),
        device.empty((2, g.n), np.int32),
        device.empty((2, g.n), np.int32),
        device.empty((3, larger_than(g, piece, piece).pieces), np.int32),
        piece,
        device.empty(COUNTS, np.int32),
    )
    distance = device.empty(g.n, kind)
    counters, last_delta = device.full(TOLD, 0, np.int64), device.empty(1, np.float64)
    fair = min(max(threads // WARP_SIZE, int(threads / degree)), ROOM)
    args = search, root, delta, finest, adapt, 1, fair, rounds, distance, counters, last_delta
    held = device.cooperative_blocks(search_near_and_far, threads, *args)
    wanted = blocks_for(max(g.n, g.m // ARCS_A_THREAD), threads) if blocks is None else blocks
    grid = min(wanted, held)
    if fill is None:
        fill = max(int(grid * threads / (SHARE * degree)), 1)
    args = search, root, delta, finest, adapt, fill, fair, rounds, distance, counters, last_delta
    device.launch(search_near_and_far, grid, threads, *args, cooperative=True)

    @functools.cache
    def counted() -> list[int]:
        return device.read(counters).tolist()

    stats = {
        "method": "near_far_persistent",
        "launches": 1,
        "read_backs": 0,
        "iterations": lambda: counted()[STEPS],
        "splits": lambda: counted()[SPLITS],
        "relaxations": lambda: counted()[ARCS],
        "enqueues": lambda: counted()[ENTRIES] + 1,
        "duplicates": lambda: counted()[DROPPED],
        "delta": lambda: (delta, float(device.read(last_delta)[0])),
        "blocks": grid,
    }
    return with_parents(g, root, device, arcs, distance, threads, parents, stats)
