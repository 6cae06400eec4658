"""Exercises of the chapter "Better queues"."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import cuda, int32

from gpukernels.device import SimtDevice
from gpukernels.frontiers.hierarchical_queue import CAPACITY, SUBQUEUES, Nearby, enqueue_nearby
from gpukernels.graphs.generators import rmat
from gpukernels.graphs.graph import Graph
from gpukernels.primitives import THREADS, blocks_for, queue_append
from gpukernels.trace import ATOMIC, Trace, metrics
from gpukernels.traversal import bfs

from ..judge import queued
from ..judge.case import (
    Budget,
    CaseOf,
    HostGaveUp,
    Results,
    Wrong,
    cases_of,
    equal_to,
    launched,
    unpacked,
)
from ..judge.completing import completions
from ..judge.counters import atomics, on, sharing, waiting
from ..judge.exercise import KernelExercise, PredictionExercise
from ..judge.inputs import Inputs, Search, graphs_from_0
from ..judge.variants import Variants, spelled
from .frontier_bfs import ROAD, SEARCHES, SMALL_WORLD, graphs, judge_search, queue_case, rays
from .representations import no_arcs, stars

WITH_COLLECT = (
    "from numba import cuda, int32\n\nfrom gpukernels.exercises.better_queues import collect"
)

WITH_SUBQUEUES = (
    "from numba import cuda\n\n"
    "from gpukernels.frontiers.hierarchical_queue import CAPACITY, SUBQUEUES, Nearby"
)

# queues-1: predict the atomics at a counter


def count_asking(count: int = 200) -> dict[str, int]:
    """Count the atomics at the global queue's counter on :func:`rays`, in two searches."""
    counters = ("frontier", "next_size"), ("luo", "sizes")
    plain, nearby = (_asking(method, counter, count) for method, counter in counters)
    return {
        "frontier, lanes": metrics.accesses(plain),
        "frontier, requests": metrics.requests(plain, space=None),
        "luo, lanes that spill": metrics.accesses(nearby.select(function="enqueue_nearby")),
        "luo, lanes": metrics.accesses(nearby),
    }


def _asking(method: str, counter: str, count: int) -> Trace:
    device = SimtDevice(trace=True)
    bfs(rays(count), 0, method, device)
    return device.trace.select(array=[counter], kind=ATOMIC)


PREDICT = PredictionExercise(
    "queues-1",
    answer={
        "frontier, lanes": 200 + 200,
        "frontier, requests": 200 + 7,
        "luo, lanes that spill": 200 - 128,
        "luo, lanes": 72 + 1 + 2 + 2,
    },
    measure=count_asking,
    variants=Variants(
        lambda rng: {"count": int(rng.integers(140, 256))},
        lambda count: {
            "vertices": 2 * count + 1,
            "warps": spelled(blocks_for(count, 32)),
            "appended": 2 * count,
            "spill": count - 128,
        },
    ),
)

# queues-line and queues-lines: a vertex for a sub-queue


@cuda.jit
def enqueue_all(vertices, found, counts, queues, size):
    """Let one block enqueue vertices; its sub-queues are arrays that the checker can read."""
    nearby = Nearby(found, counts, counts)
    for i in range(cuda.threadIdx.x, vertices.size, cuda.blockDim.x):
        enqueue_nearby(nearby, queues, 0, size, vertices[i])


def shuffled(count: int) -> np.ndarray:
    """Return the numbers of `count` vertices in another order."""
    return np.random.default_rng(count).permutation(count).astype(np.int32)


def run_nearby(kernel, device, count: int, threads: int) -> Results:
    """Let a block of `threads` threads enqueue `count` vertices."""
    return launched(
        kernel, device, 1, int(threads), shuffled(count),
        found=np.full((SUBQUEUES, CAPACITY), -1, np.int32),
        counts=np.zeros(SUBQUEUES, np.int32),
        queues=np.full((1, count), -1, np.int32),
        size=np.zeros(1, np.int32),
    )  # fmt: skip


def judge_nearby(count: int, threads: int) -> Callable[[Results], Wrong | None]:
    """Return a judge that wants each vertex once, in its lane's sub-queue unless that is full."""
    mine = np.arange(count) % threads % 32 % SUBQUEUES
    counts = np.bincount(mine, minlength=SUBQUEUES)
    kept = np.minimum(counts, CAPACITY)
    judge_counts = equal_to(counts=counts, size=np.array([count - kept.sum()]))

    def judge(results: Results) -> Wrong | None:
        wrong = judge_counts(results)
        if wrong is not None:
            return wrong
        nearby = [row[:length] for row, length in zip(results["found"], kept, strict=True)]
        for q, entries in enumerate(nearby):
            stray = np.flatnonzero(~np.isin(entries, shuffled(count)[mine == q]))
            if stray.size:
                k = int(stray[0])
                text = f"`found[{q}, {k}]` is {entries[k]}, which no lane of this sub-queue has"
                return Wrong(text, "found", q * CAPACITY + k)
        spilled = results["queues"][0, : count - kept.sum()]
        missing = np.setdiff1d(np.arange(count), np.concatenate([spilled, *nearby]))
        return Wrong(f"vertex {missing[0]} is in no queue") if missing.size else None

    return judge


COMPLETE = completions(
    "queues",
    "mine = cuda.laneid % SUBQUEUES",
    ("slot = cuda.atomic.add(nearby.counts, mine, 1)", 5),
    parts=(enqueue_nearby, enqueue_all),
    imports=WITH_SUBQUEUES,
    inputs=Inputs(
        lambda: {
            "75 vertices, 128 threads": (75, 128),
            "no vertices, 64 threads": (0, 64),
            "300 vertices, one thread": (300, 1),
            "1,025 vertices, 64 threads": (1_025, 64),
            "400 vertices, 33 threads": (400, 33),
        },
        lambda rng: {"drawn vertices and threads": rng.integers(1, [1_500, 128])},
    ),
    case=cases_of(unpacked(run_nearby), unpacked(judge_nearby)),
    writes=("found", "counts", "queues", "size"),
)

# queues-2: one atomic per block


@cuda.jit(device=True)
def collect(u, offsets, targets, distance, parent, level, found, asked, queue, size):
    """Put every neighbor of `u` that this thread claims into `found`, or, if full, into `queue`.

    The threads of a block share `found` and ``asked[0]``, the number of slots requested in it.
    """
    for k in range(offsets[u], offsets[u + 1]):
        v = targets[k]
        if cuda.atomic.cas(distance, v, -1, level + 1) == -1:
            parent[v] = u
            slot = cuda.atomic.add(asked, 0, 1)
            if slot < found.size:
                found[slot] = v
            else:
                queue_append(queue, size, v)


@cuda.jit
def expand_by_block(
    offsets, targets, distance, parent, frontier, frontier_size, next_frontier, next_size, level
):
    """Collect the finds of the block in shared memory, then enqueue all of them together."""
    found = cuda.shared.array(128, int32)
    asked = cuda.shared.array(1, int32)
    begin = cuda.shared.array(1, int32)
    if cuda.threadIdx.x == 0:
        asked[0] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < frontier_size[0]:
        search = (offsets, targets, distance, parent, level)
        collect(frontier[i], *search, found, asked, next_frontier, next_size)
    # Your lines go here.
    cuda.syncthreads()  # added
    kept = min(asked[0], found.size)  # added
    if cuda.threadIdx.x == 0:  # added
        begin[0] = cuda.atomic.add(next_size, 0, kept)  # added
    cuda.syncthreads()  # added
    for slot in range(cuda.threadIdx.x, kept, cuda.blockDim.x):  # added
        next_frontier[begin[0] + slot] = found[slot]  # added


BY_BLOCK = KernelExercise(
    "queues-2",
    parts=(expand_by_block,),
    imports=WITH_COLLECT,
    inputs=SEARCHES,
    case=queue_case,
    budgets=on(
        *ROAD,
        # One for each of the search's 63 blocks.
        atomics(at_most=63, what="atomics at the queue's counter", array="next_size"),
        sharing(at_most=48),
    ),
    writes=("distance", "parent", "next_frontier", "next_size"),
)

# queues-3: flags that are not cleared


@cuda.jit
def flag_new(neighbor, arcs, distance, flags, level):
    """Claim each new vertex at one place of the edge frontier: set its distance, flag the place."""
    i = cuda.grid(1)
    if i < arcs:
        flags[i] = 0  # added
        if cuda.atomic.cas(distance, neighbor[i], -1, level + 1) == -1:
            flags[i] = 1


def run_flags(kernel, device, g: Graph, root: int = 0) -> Results:
    """Search `g` level by level; the host gathers and compacts, and `kernel` culls.

    The ``stale`` places are flagged although their vertex was found at an earlier level; the search
    ends if there are any. The ``entries`` are the sizes of each level's frontier.
    """
    distance, flags = queued.begun(device, g.n, root), device.full(max(1, g.m), 0, np.int32)
    frontier, stale, entries = np.array([root]), np.zeros(0, int), [1]
    while frontier.size and not stale.size:
        level = len(entries) - 1
        if level > g.n:
            raise HostGaveUp(f"level {level} of {g.n} vertices still has a frontier")
        lists = [g.targets[g.offsets[u] : g.offsets[u + 1]] for u in frontier.tolist()]
        neighbor = np.concatenate(lists)
        if neighbor.size > g.m:
            entries = f"{frontier.size:,} entries for {g.n:,} vertices"
            raise HostGaveUp(f"level {level - 1} queued {entries}, some of them more than once")
        blocks = blocks_for(max(1, neighbor.size))
        arrays = device.array(neighbor), neighbor.size, distance, flags, level
        device.launch(kernel, blocks, THREADS, *arrays)
        kept = np.flatnonzero(device.read(flags)[: neighbor.size])
        stale = kept[device.read(distance)[neighbor[kept]] <= level]
        frontier = neighbor[kept]
        entries.append(frontier.size)
    results = {"distance": device.read(distance), "flags": device.read(flags)}
    return {**results, "entries": np.array(entries), "stale": stale}


def _judge_flags(search: Search) -> Callable[[Results], Wrong | None]:
    judge_rest = judge_search(*search)

    def judge(results: Results) -> Wrong | None:
        if results["stale"].size:
            i, level = int(results["stale"][0]), len(results["entries"]) - 2
            text = f"`flags[{i}]` is {results['flags'][i]} and should be 0 at level {level}"
            return Wrong(f"{text}: its vertex had been found before", "flags", i)
        return judge_rest({name: results[name] for name in ("distance", "entries")})

    return judge


FLAGS = KernelExercise(
    "queues-3",
    parts=(flag_new,),
    inputs=SEARCHES,
    case=cases_of(unpacked(run_flags), _judge_flags),
    # Two stores, a load and an atomic of the busiest warp.
    budgets=on(SMALL_WORLD, lambda: SEARCHES.fixed()[SMALL_WORLD], sharing(at_most=8)),
    writes=("distance", "flags"),
    benign=("distance",),
)

# queues-4: one atomic per warp and queue

#: Degrees from which a vertex belongs to the second, third and fourth queue.
CLASSES = (4, 32, 256)


@cuda.jit(device=True)
def append_by_class(queues, sizes, kind, item):
    """Append `item` to ``queues[kind]``: one atomic for all lanes of a warp with that `kind`."""
    slot = queues.shape[1]
    # Your lines go here.
    peers = cuda.match_any_sync(cuda.activemask(), kind)  # added
    rank = cuda.popc(peers & cuda.lanemask_lt())  # added
    start = 0  # added
    if rank == 0:  # added
        start = cuda.atomic.add(sizes, kind, cuda.popc(peers))  # added
    slot = cuda.shfl_sync(peers, start, cuda.ffs(peers) - 1) + rank  # added
    if slot < queues.shape[1]:
        queues[kind, slot] = item


@cuda.jit
def sort_by_degree(offsets, frontier, queues, sizes):
    """Put every vertex of the frontier into the queue of its degree's class."""
    i = cuda.grid(1)
    if i < frontier.size:
        u = frontier[i]
        degree = offsets[u + 1] - offsets[u]
        kind = 0
        for least in CLASSES:
            if degree >= least:
                kind += 1
        append_by_class(queues, sizes, kind, u)


def run_classes(kernel, device, g: Graph) -> Results:
    """Sort all vertices of `g`, in random order, into queues by their degrees."""
    frontier = np.random.default_rng(g.n).permutation(g.n).astype(np.int32)
    queues = np.full((len(CLASSES) + 1, g.n), -1, np.int32)
    return launched(
        kernel, device, blocks_for(g.n), THREADS, g.offsets, frontier,
        queues=queues, sizes=np.zeros(len(CLASSES) + 1, np.int32),
    )  # fmt: skip


def judge_classes(g: Graph) -> Callable[[Results], Wrong | None]:
    """Return a judge that wants each vertex once, in the queue of its class, from place 0 on."""
    kinds = np.searchsorted(CLASSES, g.out_degree, side="right")

    def judge(results: Results) -> Wrong | None:
        for kind in range(len(CLASSES) + 1):
            wanted = np.flatnonzero(kinds == kind)
            if results["sizes"][kind] != wanted.size:
                text = f"`sizes[{kind}]` is {results['sizes'][kind]} and should be {wanted.size}"
                return Wrong(text, "sizes", kind)
            got = results["queues"][kind, : wanted.size]
            missing = np.setdiff1d(wanted, got)
            if missing.size:
                v = int(missing[0])
                text = f"vertex {v}, of degree {g.out_degree[v]}, is not in queue {kind}"
                return Wrong(f"{text}; {missing.size} of its {wanted.size} are missing", "queues")
        return None

    return judge


def _fixed_classes() -> dict[str, Graph]:
    limits = stars(3, 4, 5, 31, 32, 33, 255, 256, 257, 0, 1, *[0] * 247)
    return graphs() | {
        "degrees near the limits of the classes": limits,
        "129 vertices without arcs": no_arcs(129),
    }


def classes_budgets(case_of: CaseOf) -> list[Budget]:
    """Return the bounds of queues-4, which only lanes that share an atomic can meet."""
    g = rmat(10, edge_factor=8, seed=1)
    frontier = np.random.default_rng(g.n).permutation(g.n)
    kinds = np.searchsorted(CLASSES, g.out_degree[frontier], side="right").reshape(-1, 32)
    needed = sum(np.unique(warp).size for warp in kinds)

    return on(
        "an R-MAT graph of 1,024 vertices",
        lambda: g,
        waiting("lanes that wait at a counter", array="sizes"),
        atomics(at_most=needed, what="atomics at the counters", array="sizes"),
        sharing(at_most=16),
    )(case_of)


BY_CLASS = KernelExercise(
    "queues-4",
    parts=(append_by_class, sort_by_degree),
    imports=f"from numba import cuda\n\nCLASSES = {CLASSES}",
    inputs=Inputs(_fixed_classes, graphs_from_0(most=100).draw),
    case=cases_of(run_classes, judge_classes),
    budgets=classes_budgets,
    writes=("queues", "sizes"),
)

EXERCISES = (*COMPLETE, PREDICT, BY_BLOCK, FLAGS, BY_CLASS)
