"""Exercises of the chapter "Duplicates: who enqueues a vertex twice"."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import cuda, int32, int64

from gpukernels.device import SimtDevice, benign_race
from gpukernels.frontiers.duplicates import hash64
from gpukernels.graphs.graph import Graph
from gpukernels.primitives import blocks_for
from gpukernels.trace import LOAD, Trace, metrics
from gpukernels.traversal import bfs

from ..judge.case import Budget, Case, CaseOf, Results, Wrong, cases_of, one_each
from ..judge.completing import completions
from ..judge.counters import Bound, atomics, bound, on, sharing
from ..judge.exercise import KernelExercise, PredictionExercise
from ..judge.inputs import Draw, Inputs
from ..judge.variants import ORDINALS, Variants, spelled

WITH_RACES = "from numba import cuda, int64\n\nfrom gpukernels.device import benign_race"
WITH_SHARED = "from numba import cuda, int32"

#: Threads per block, in all kernels of this chapter's exercises.
THREADS = 128
#: Slots of the table of duplicates-2.
SLOTS = 64


def inputs() -> dict[str, np.ndarray]:
    """Return the hidden vertices, by name; thread i has found element i."""
    draw = np.random.default_rng(7)
    return {
        SEVERAL: draw.integers(0, 100, 300),
        "no vertices": np.zeros(0, int),
        "75 vertices below 64": draw.integers(0, 64, 75),
        "large vertices that share a slot": 1_000_000 + 256 * (np.arange(200) // 3),
        "one vertex 130 times": np.full(130, 9),
        DIFFERENT: draw.permutation(256),
        "one vertex alone": np.array([0]),
        "33 vertices, the last as the first": np.r_[np.arange(32), 0],
        "129 vertices up to the largest number": 2**31 - 1 - np.arange(129) // 2 * 64,
    }


def drawn_vertices(rng: Draw) -> dict[str, np.ndarray]:
    """Draw vertices for a cull: many alike, and different ones that share the slots of a table."""
    count, first = int(rng.integers(2, 300)), int(rng.integers(0, 2**30))
    return {
        "drawn vertices, many of them alike": first + rng.integers(0, 60, count),
        "drawn vertices that share slots": first % 256 + 256 * rng.integers(0, 90, count),
    }


VERTICES = Inputs(inputs, drawn_vertices)
#: The inputs on which budgets are counted.
SEVERAL, DIFFERENT = "300 vertices, 100 of them different", "256 different vertices"


#: Culls vertices, one thread each; ``kept[i]`` says whether thread i keeps its own.
run_cull = one_each(THREADS, kept=np.int32)


def judge_cull(
    vertices: np.ndarray, least: int, most: int, slots: int = 0
) -> Callable[[Results], Wrong | None]:
    """Return a judge of the vertices that are kept.

    If a vertex is held by some of `least` consecutive threads, at least one of them keeps it; of
    `most` consecutive threads, at most one keeps it. With `slots`, two of them may if another
    vertex of the block has its slot, its remainder modulo `slots`.
    """

    def judge(results: Results) -> Wrong | None:
        kept = results["kept"]
        for i in np.flatnonzero((kept != 0) & (kept != 1))[:1].tolist():
            return Wrong(f"`kept[{i}]` is {kept[i]} and should be 0 or 1", "kept", i)
        for begin in range(0, vertices.size, least):
            part = slice(begin, begin + least)
            for v in np.unique(vertices[part]).tolist():
                mine = begin + np.flatnonzero(vertices[part] == v)
                if not kept[mine].any():
                    text = f"vertex {v} is lost: of threads {begin} to {begin + least - 1}, none"
                    return Wrong(f"{text} that holds it keeps it", "kept", int(mine[-1]))
        for begin in range(0, vertices.size, most):
            part = slice(begin, begin + most)
            for v in np.unique(vertices[part]).tolist():
                mine = begin + np.flatnonzero(vertices[part] == v)
                if kept[mine].sum() > 1 and not (slots and _shared(vertices, begin, v, slots)):
                    text = f"vertex {v} is kept by {kept[mine].sum()} of the {mine.size} threads"
                    text += f" from {begin} to {begin + most - 1} that hold it"
                    return Wrong(text, "kept", int(mine[-1]))
        return None

    return judge


def _shared(vertices: np.ndarray, begin: int, v: int, slots: int) -> bool:
    """Return whether a thread of the block has another vertex for the slot of `v`."""
    first = begin // THREADS * THREADS
    block = vertices[first : first + THREADS]
    return bool(((block % slots == v % slots) & (block != v)).any())


def culled(least: int, most: int, slots: int = 0) -> Callable[[str, object], Case]:
    """Return a function that makes cases of names and vertices, judged by `judge_cull`."""
    return cases_of(run_cull, lambda vertices: judge_cull(vertices, least, most, slots))


# duplicates-1: predict entries, kept vertices and conflicts


@benign_race("hash_table")
@cuda.jit
def cull_block(vertices, kept):
    """Filter by hash64, with a table of 32 slots: thread i holds ``vertices[i]``, -1 for none."""
    hash_table = cuda.shared.array(32, int64)
    i = cuda.grid(1)
    v = -1
    if i < vertices.size:
        v = vertices[i]
    repeated = hash64(hash_table, v, v >= 0)
    if v >= 0:
        kept[i] = not repeated


def diamonds(count: int) -> Graph:
    """Return a chain of `count` diamonds, directed: two ways from each tip to the next."""
    tip = 3 * np.arange(count)
    source = np.concatenate([tip, tip, tip + 1, tip + 2])
    target = np.concatenate([tip + 1, tip + 2, tip + 3, tip + 3])
    return Graph.from_arcs(3 * count + 1, source.astype(np.int32), target.astype(np.int32))


def count_duplicates(count: int = 6, vertex: int = 9) -> dict[str, int]:
    """Count what the queue and the table of this chapter do on small inputs."""
    search = bfs(diamonds(count), 0, "frontier", SimtDevice(), capacity=1000)
    counted = {"entries of the last tip": search.stats["frontier_sizes"][2 * count]}
    for name, vertices in (("one", np.full(64, vertex)), ("all", np.arange(64))):
        for schedule in ("lockstep", "warp"):
            device = SimtDevice(schedule, trace=True)
            kept = device.full(64, -1, np.int32)
            device.launch(cull_block, 1, 64, device.array(vertices.astype(np.int32)), kept)
            if name == "one":
                counted[f"kept, {schedule}"] = int(device.read(kept).sum())
            else:
                counted[f"conflicts, {schedule}"] = _conflicts(device.trace, vertices)
    return counted


def _conflicts(trace: Trace, vertices: np.ndarray) -> int:
    """Count the lanes that read another vertex in their slot; thread i holds ``vertices[i]``."""
    r = trace.select(array="hash_table").requests
    row = r.lane_row()
    loads = r.kind[row] == LOAD
    thread = 32 * r.warp[row] + r.lane_id()
    stored = r.value.astype(np.int64) >> 32
    return int((stored[loads] != vertices[thread[loads]]).sum())


PREDICT = PredictionExercise(
    "duplicates-1",
    answer={
        "entries of the last tip": 64,
        "kept, lockstep": 1,
        "kept, warp": 2,
        "conflicts, lockstep": 32,
        "conflicts, warp": 0,
    },
    measure=count_duplicates,
    variants=Variants(  # the tips of each chain have room in the queue
        lambda rng: {"count": int(rng.integers(3, 10)), "vertex": int(rng.integers(1, 100))},
        lambda count, vertex: {
            "diamonds": spelled(count),
            "power": ORDINALS[count],
            "all": 2**count,
        },
    ),
)

# duplicates-line and duplicates-lines: the second half of hash64


@benign_race("hash_table")
@cuda.jit
def cull_by_hash(vertices, kept):
    """Filter by hash64: thread i holds ``vertices[i]``, -1 for none."""
    hash_table = cuda.shared.array(64, int64)
    i = cuda.grid(1)
    kept[i] = not hash64(hash_table, vertices[i], vertices[i] >= 0)


def run_hash(kernel, device, vertices) -> Results:
    """Cull `vertices` as `run_cull`, with a vertex or -1 for each thread of a block."""
    threads = THREADS * max(blocks_for(len(vertices), THREADS), 1)
    padded = np.full(threads, -1)
    padded[: len(vertices)] = vertices
    return {"kept": run_cull(kernel, device, padded)["kept"][: len(vertices)]}


COMPLETE = completions(
    "duplicates",
    "repeated = (word >> 32) == v and (word & 0xFFFFFFFF) != cuda.threadIdx.x",
    ("repeated = False", 4),
    parts=(hash64, cull_by_hash),
    imports=WITH_RACES,
    inputs=VERTICES,
    case=cases_of(run_hash, lambda vertices: judge_cull(vertices, THREADS, 32, SLOTS)),
    writes=("kept",),
    benign=("hash_table",),
)

# duplicates-2: a conflict taken for a duplicate


@benign_race("hash_table")
@cuda.jit
def cull_by_number(vertices, kept):
    """Keep every vertex: one or more of a block's threads that hold v write ``kept[i] = 1``."""
    hash_table = cuda.shared.array(64, int64)
    i = cuda.grid(1)
    slot = 0
    if i < vertices.size:
        slot = vertices[i] & 63
        hash_table[slot] = (int64(vertices[i]) << 32) | cuda.threadIdx.x
    cuda.syncwarp()
    if i < vertices.size:
        word = hash_table[slot]
        repeated = (word & 0xFFFFFFFF) != cuda.threadIdx.x
        if (word >> 32) != vertices[i]:  # added
            repeated = False  # added
        kept[i] = not repeated


NUMBER = KernelExercise(
    "duplicates-2",
    parts=(cull_by_number,),
    imports=WITH_RACES,
    inputs=VERTICES,
    case=culled(least=THREADS, most=32, slots=SLOTS),
    budgets=on(SEVERAL, lambda: inputs()[SEVERAL], sharing(at_most=12)),
    writes=("kept",),
    benign=("hash_table",),
)

# duplicates-3: the lanes of a warp, without a table


@cuda.jit
def cull_warp(vertices, kept):
    """Keep each vertex once per warp: one of its lanes that hold v writes 1, the others write 0."""
    i = cuda.grid(1)
    v = int32(-1)
    if i < vertices.size:
        v = vertices[i]
    first = False
    # Your lines go here.
    same = cuda.match_any_sync(0xFFFFFFFF, v)  # added
    first = same & cuda.lanemask_lt() == 0  # added
    if i < vertices.size:
        kept[i] = first


def shared_requests(trace: Trace) -> int:
    """Return the number of requests to shared memory."""
    return metrics.requests(trace, space="shared")


WARP = KernelExercise(
    "duplicates-3",
    parts=(cull_warp,),
    imports=WITH_SHARED,
    inputs=VERTICES,
    case=culled(least=32, most=32),
    budgets=on(
        SEVERAL,
        lambda: inputs()[SEVERAL],
        bound("requests to shared memory", shared_requests, at_most=0),
        bound("warp steps", metrics.warp_steps, at_most=110),
    ),
    writes=("kept",),
)

# duplicates-4: a block, exactly


@cuda.jit
def cull_exactly(vertices, kept):
    """Keep each vertex once per block: one of its threads that hold v writes 1, the others 0."""
    table = cuda.shared.array(256, int32)
    for slot in range(cuda.threadIdx.x, 256, cuda.blockDim.x):
        table[slot] = -1
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < vertices.size:
        v = vertices[i]
        slot = v & 255
        # Your lines go here.
        seen = cuda.atomic.cas(table, slot, -1, v)  # added
        while seen != -1 and seen != v:  # added
            slot = (slot + 1) & 255  # added
            seen = cuda.atomic.cas(table, slot, -1, v)  # added
        kept[i] = seen == -1  # added


def _exact_budgets(case_of: CaseOf) -> list[Budget]:
    different, several = (case_of(name, inputs()[name]) for name in (DIFFERENT, SEVERAL))
    bounds = ((different, probes(256)), (several, probes(300)), (different, sharing(at_most=12)))
    return [bound(case) for case, bound in bounds]


def probes(at_most: int) -> Bound:
    """Bound how often a thread tries a slot of the table by an atomic operation."""
    return atomics(at_most, what="slots tried", array="table")


EXACT = KernelExercise(
    "duplicates-4",
    parts=(cull_exactly,),
    imports=WITH_SHARED,
    inputs=VERTICES,
    case=culled(least=THREADS, most=THREADS),
    budgets=_exact_budgets,
    writes=("kept",),
)

EXERCISES = (*COMPLETE, PREDICT, NUMBER, WARP, EXACT)
