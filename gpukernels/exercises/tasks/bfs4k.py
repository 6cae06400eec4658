"""Exercises of the chapter "BFS-4K: one technique per level"."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import cuda, int32

from gpukernels.device import SimtDevice
from gpukernels.frontiers.enqueue import enqueue_by_warp
from gpukernels.frontiers.local_queue import LOCAL
from gpukernels.frontiers.state import Queue, Writes
from gpukernels.graphs.generators import star
from gpukernels.graphs.graph import Graph
from gpukernels.primitives import FULL_MASK, WARP_SIZE, blocks_for, warp_inclusive_scan
from gpukernels.trace import STORE, Trace, metrics
from gpukernels.traversal import bfs

from ..judge.case import Budget, CaseOf, Results, Wrong, cases_of, launched
from ..judge.completing import completions
from ..judge.counters import bound, on, sharing
from ..judge.exercise import KernelExercise, PredictionExercise
from ..judge.inputs import Draw, Inputs, graphs_from_0
from ..judge.variants import Variants, listed
from .frontier_bfs import SMALL_WORLD, graphs, judge_search, rays

IMPORTS = "from numba import cuda, int32"
WITH_SCAN = (
    "from numba import cuda, int32\n\nfrom gpukernels.primitives import FULL_MASK, "
    "warp_inclusive_scan"
)

TO_ENQUEUE = """\
from numba import cuda, int32

from gpukernels.frontiers.counts import ENTRIES
from gpukernels.frontiers.enqueue import warp_minimum
from gpukernels.frontiers.state import Queue, Writes
from gpukernels.primitives import FULL_MASK, WARP_SIZE, warp_inclusive_scan
from gpukernels.primitives.warp_append import warp_append
"""


# bfs4k-1: predict launches, groups and sectors


def binary_tree(levels: int) -> Graph:
    """Return the complete binary tree of so many levels, its arcs leading away from vertex 0."""
    child = np.arange(1, 2**levels - 1, dtype=np.int32)
    return Graph.from_arcs(2**levels - 1, (child - 1) // 2, child)


def draw_device(rng: Draw) -> dict[str, int]:
    """Draw numbers with which only the last level has fewer threads per vertex than K1."""
    levels, resident = ((9, 512), (10, 512), (10, 1024), (11, 1024), (11, 2048))[rng.integers(5)]
    widest = resident.bit_length() - 6  # the first level that has at most 32 threads per vertex
    middle = widest + int(rng.integers(0, 3))
    block = 2 ** int(rng.integers(5, levels - 2))
    return {"levels": levels, "resident": resident, "block": block, "middle": middle}


def _named_in_device(levels: int, resident: int, block: int, middle: int) -> dict[str, object]:
    width = 2 ** (levels - 1)
    alone = block.bit_length() - 1
    return {
        "last": levels - 1,
        "width": width,
        "alone": alone,
        "larger": listed(2**level for level in range(alone + 1, levels)),
        "launches": levels - alone,
        "vertices": 2**middle,
        "group": resident // 2**middle,
        "share": f"{resident / width:g}",
    }


def count_what_the_host_sees(levels=10, resident=1024, block=64, middle=5) -> dict[str, int]:
    """Count launches of two searches of a tree, the groups of a level, and sectors of stores."""
    counted: dict[str, int] = {}
    many = {"child_share": 0.0, "resident_threads": resident, "block_threads": block}
    for single_block in (0, 1):
        options = {"single_block": single_block, "edge_discover": 0, **many}
        stats = bfs(binary_tree(levels), 0, "bfs4k", SimtDevice(), **options).stats
        counted[f"launches, single_block={single_block}"] = stats["launches"]
        if not single_block:
            for level in (middle, levels - 1):
                counted[f"threads a vertex, level {level}"] = stats["warp_sizes"][level]
    for coalesce_from in (0, LOCAL + 1):
        device = SimtDevice(trace=True)
        options = {"single_block": 0, "coalesce_from": coalesce_from, **many}
        bfs(star(1025), 0, "bfs4k", device, **options)
        stores = device.trace.select(array="next_frontier", launch=0)
        sectors = metrics.sectors(stores, kinds=(STORE,))
        counted[f"sectors a store, coalesce_from={coalesce_from}"] = (
            int(sectors.sum()) // sectors.size
        )
    return counted


PREDICT = PredictionExercise(
    "bfs4k-1",
    answer={
        "launches, single_block=0": 10,
        "threads a vertex, level 5": 32,
        "threads a vertex, level 9": 4,
        "launches, single_block=1": 4,
        "sectors a store, coalesce_from=0": 4,
        "sectors a store, coalesce_from=17": 32,
    },
    measure=count_what_the_host_sees,
    variants=Variants(
        draw_device,
        _named_in_device,
        (
            "launches, single_block=0",
            "threads per vertex, first of the two levels",
            "threads per vertex, second of the two levels",
            "launches, single_block=1",
            "sectors a store, coalesce_from=0",
            "sectors a store, coalesce_from=17",
        ),
    ),
)

# bfs4k-2: all levels in one block, and a size that is read too late


@cuda.jit
def search_by_one_block(offsets, targets, distance):
    """Search from vertex 0, all levels in one launch of one block; no more than 512 vertices."""
    queues = cuda.shared.array((2, 512), int32)
    size = cuda.shared.array(1, int32)
    if cuda.threadIdx.x == 0:
        queues[0, 0] = 0
    level, length = 0, 1
    while length > 0:
        if cuda.threadIdx.x == 0:
            size[0] = 0
        cuda.syncthreads()
        for i in range(cuda.threadIdx.x, length, cuda.blockDim.x):
            u = queues[level % 2, i]
            for k in range(offsets[u], offsets[u + 1]):
                v = targets[k]
                if cuda.atomic.cas(distance, v, -1, level + 1) == -1:
                    queues[(level + 1) % 2, cuda.atomic.add(size, 0, 1)] = v
        cuda.syncthreads()
        length = size[0]
        cuda.syncthreads()  # added
        level += 1


def run_one_block(kernel, device, g: Graph) -> Results:
    """Search `g` from vertex 0 with one block of 128 threads."""
    distance = np.full(g.n, -1, np.int32)
    distance[0] = 0
    return launched(kernel, device, 1, 128, g.offsets, g.targets, distance=distance)


#: The graphs that bfs4k-2 and bfs4k-4 search from vertex 0.
GRAPHS = Inputs(lambda: graphs() | {"200 rays": rays(200)}, graphs_from_0(most=100).draw)
search_case = cases_of(run_one_block, judge_search)


ONE_BLOCK = KernelExercise(
    "bfs4k-2",
    parts=(search_by_one_block,),
    imports=IMPORTS,
    inputs=GRAPHS,
    case=search_case,
    budgets=on(SMALL_WORLD, lambda: graphs()[SMALL_WORLD], sharing(400)),
    writes=("distance",),
    benign=("distance",),
)

# bfs4k-3: coalescing to the last value


@cuda.jit(device=True)
def write_queues(found, length, begin, out):
    """Write the first `length` values of every lane's `found` to `out`; all lanes call."""
    # Your lines go here.
    for k in range(16):  # added
        votes = cuda.ballot_sync(FULL_MASK, k < length)  # added
        if k < length:  # added
            out[begin + cuda.popc(votes & cuda.lanemask_lt())] = found[k]  # added
        begin += cuda.popc(votes)  # added


@cuda.jit
def collect(offsets, values, out, size):
    """Append every thread's values to `out`, at most 16 each, with one atomic per warp."""
    found = cuda.local.array(16, int32)
    i = cuda.grid(1)
    length, begin = int32(0), int32(0)
    if i < offsets.size - 1:
        length = int32(offsets[i + 1] - offsets[i])
    for k in range(length):
        found[k] = values[offsets[i] + k]
    inclusive = warp_inclusive_scan(length)
    if cuda.laneid == 31:
        begin = cuda.atomic.add(size, 0, inclusive)
    begin = cuda.shfl_sync(FULL_MASK, begin, 31)
    write_queues(found, length, begin, out)


#: The first value; float32 would round every other one.
FIRST = 2**24 + 1


def run_queues(kernel, device, lengths) -> Results:
    """Collect queues of these lengths, whose values begin at `FIRST`."""
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    values = FIRST + np.arange(offsets[-1], dtype=np.int32)
    out, size = np.full(len(values), -1, np.int32), np.zeros(1, np.int32)
    threads = WARP_SIZE * 2
    blocks = blocks_for(len(lengths), threads)
    return launched(kernel, device, blocks, threads, offsets, values, out=out, size=size)


def judge_queues(lengths) -> Callable[[Results], Wrong | None]:
    """Return a judge that wants each value once, in any order."""
    total = int(np.sum(lengths))

    def judge(results: Results) -> Wrong | None:
        if results["size"][0] != total:
            return Wrong(f"`size[0]` is {results['size'][0]} and should be {total}", "size", 0)
        strange = np.flatnonzero((results["out"] < FIRST) | (results["out"] >= FIRST + total))
        if strange.size:
            first = int(strange[0])
            text = f"`out[{first}]` is {results['out'][first]} and should be a value"
            return Wrong(text, "out", first)
        times = np.bincount(results["out"] - FIRST, minlength=total)
        again = np.flatnonzero(times > 1)
        if again.size:
            v = FIRST + int(again[0])
            at = int(np.flatnonzero(results["out"] == v)[1])
            return Wrong(f"`out[{at}]` is {v}, which stands in `out` already", "out", at)
        return None

    return judge


def queues() -> dict[str, list]:
    """Return the fixed inputs of bfs4k-3: lengths of queues."""
    rng = np.random.default_rng(4)
    return {
        "three queues of 2, 0 and 3": [2, 0, 3],
        "300 queues of up to 16": rng.integers(0, 17, 300),
        "one large queue among 31 short ones": [1] * 7 + [16] + [1] * 24,
        "64 queues of 8 to 16": rng.integers(8, 17, 64),
        "no values, 40 empty queues": [0] * 40,
        "33 full queues": [16] * 33,
        "one value, of the last of 32 queues": [0] * 31 + [1],
    }


def sectors_stored(trace: Trace) -> int:
    """Return the sectors of `out` that are stored to."""
    return int(metrics.sectors(trace.select(array=["out"]), kinds=(STORE,)).sum())


QUEUES = Inputs(
    queues,
    lambda rng: {"queues of drawn lengths": rng.integers(0, 17, rng.integers(2, 200))},
)


COALESCED = KernelExercise(
    "bfs4k-3",
    parts=(write_queues, collect),
    imports=WITH_SCAN,
    inputs=QUEUES,
    case=cases_of(run_queues, judge_queues),
    budgets=on(
        "64 queues of 2 and 16 values in turn",
        lambda: [2, 16] * 32,
        bound("sectors stored to", sectors_stored, at_most=112),
        sharing(at_most=16, array="out"),
    ),
    writes=("out", "size"),
)

# bfs4k-line, bfs4k-lines: on the queues of bfs4k-3


@cuda.jit
def append_queues(offsets, values, out, size):
    """Append every thread's values to `out`, at most 16 each."""
    found, length, i = cuda.local.array(16, int32), int32(0), cuda.grid(1)
    if i < offsets.size - 1:
        length = int32(offsets[i + 1] - offsets[i])
    for k in range(length):
        found[k] = values[offsets[i] + k]
    enqueue_by_warp(Queue(out, size), found, length, Writes(4, False))


COMPLETE = completions(
    "bfs4k",
    "slot = begin + i * WARP_SIZE + cuda.laneid",
    ("inclusive = warp_inclusive_scan(length)", 6),
    parts=(enqueue_by_warp, append_queues),
    imports=TO_ENQUEUE,
    inputs=QUEUES,
    case=cases_of(run_queues, judge_queues),
    writes=("out", "size"),
)

# bfs4k-4: dynamic virtual warps


@cuda.jit(device=True)
def expand_level(offsets, targets, distance, queues, size, level):
    """Visit the arcs of the frontier, in groups as wide as the block allows; all threads call."""
    here, there = queues[level % 2], queues[(level + 1) % 2]
    length, filled = size[level % 3], (level + 1) % 3
    # Your lines go here.
    lanes = 32  # added
    while lanes > 4 and lanes * length > cuda.blockDim.x:  # added
        lanes //= 2  # added
    for i in range(cuda.threadIdx.x // lanes, length, cuda.blockDim.x // lanes):  # added
        u = here[i]  # added
        for k in range(offsets[u] + cuda.threadIdx.x % lanes, offsets[u + 1], lanes):  # added
            v = targets[k]  # added
            if cuda.atomic.cas(distance, v, -1, level + 1) == -1:  # added
                there[cuda.atomic.add(size, filled, 1)] = v  # added


@cuda.jit
def search_in_groups(offsets, targets, distance):
    """Search from vertex 0, all levels in one launch of one block; no more than 512 vertices."""
    queues = cuda.shared.array((2, 512), int32)
    size = cuda.shared.array(3, int32)
    if cuda.threadIdx.x == 0:
        queues[0, 0], size[0], size[1] = 0, 1, 0
    level = 0
    cuda.syncthreads()
    while size[level % 3] > 0:
        if cuda.threadIdx.x == 0:
            size[(level + 2) % 3] = 0
        expand_level(offsets, targets, distance, queues, size, level)
        cuda.syncthreads()
        level += 1


def longest_warp(trace: Trace) -> int:
    """Return the most steps that a warp of the first launch took."""
    return int(np.bincount(trace.select(launch=0).steps.warp).max())


def _groups_budgets(case_of: CaseOf) -> list[Budget]:
    case = case_of("a star of 500 vertices", star(500))
    trees = [case_of(f"a tree of {a} · {b} leaves", rays(a, b)) for a, b in ((32, 4), (8, 16))]
    longest = bound("steps of the longest warp", longest_warp, at_most=400)
    return [longest(case), *map(sharing(at_most=2, array="targets"), trees)]


GROUPS = KernelExercise(
    "bfs4k-4",
    parts=(expand_level, search_in_groups),
    imports=IMPORTS,
    inputs=GRAPHS,
    case=search_case,
    budgets=_groups_budgets,
    writes=("distance",),
    benign=("distance",),
)

EXERCISES = (*COMPLETE, PREDICT, ONE_BLOCK, COALESCED, GROUPS)
