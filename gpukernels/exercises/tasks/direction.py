"""Exercises of the chapter "Changing direction: who looks for whom"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import cuda, int32

from gpukernels.device import SimtDevice, benign_race
from gpukernels.frontiers.state import Queue
from gpukernels.graphs.generators import complete, path, star
from gpukernels.graphs.graph import Graph
from gpukernels.primitives import WARP_SIZE, blocks_for
from gpukernels.reference import bfs as sequential_bfs
from gpukernels.traversal import bfs
from gpukernels.traversal.direction_optimizing import bottom_up
from gpukernels.traversal.top_down import Search as State

from ..judge import queued
from ..judge.case import Budget, CaseOf, Results, Wrong, cases_of, equal_to, launched, unpacked
from ..judge.completing import completions
from ..judge.counters import loads, on, sharing
from ..judge.exercise import KernelExercise, PredictionExercise
from ..judge.inputs import Draw, Inputs, Search, graphs_from_0
from ..judge.variants import Variants
from .frontier_bfs import SEARCHES, SMALL_WORLD, graphs, judge_search, late_arc, rays

IMPORTS = "from numba import cuda, int32"
UPWARD = """\
from numba import cuda, int64

from gpukernels.device import benign_race
from gpukernels.frontiers.counts import ARCS, count_up
from gpukernels.frontiers.state import Queue
from gpukernels.primitives.warp_append import warp_append
from gpukernels.traversal.bottom_up import first_parent
from gpukernels.traversal.frontier_bitmap import first_parent_by_bits, store_votes
from gpukernels.traversal.result import UNVISITED, adopt
from gpukernels.traversal.top_down import Search as State
"""

#: The name of the graph in which the arc that counts stands far back in a list.
LATE = "a vertex whose 300th arc counts"
THREADS = 512

# direction-1: predict the arcs that are read


def two_levels(children: int) -> Graph:
    """Return a tree whose root has so many children, and each of them as many; both directions."""
    parent, child = rays(children, children).coo
    return Graph.from_arcs(child.size + 1, np.r_[parent, child], np.r_[child, parent])


def draw_sizes(rng: Draw) -> dict[str, int]:
    """Draw a tree with so many children that its search turns around at level 1."""
    drawn = rng.integers((20, 8, 60), (49, 13, 141)).tolist()
    return dict(zip(("vertices", "children", "length"), drawn, strict=True))


def _named_in_sizes(vertices: int, children: int, length: int) -> dict[str, object]:
    leaves = children**2
    return {
        "complete": vertices,
        "path": length,
        "others": vertices - 1,
        "arcs": vertices * (vertices - 1),
        "rest": (vertices - 1) ** 2,
        "leaves": leaves,
        "tree": 2 * (children + leaves),
        "below": children + 2 * leaves,
        "edges": children + leaves,
        "chain": 2 * length - 3,
    }


def count_arcs_read(vertices: int = 32, children: int = 8, length: int = 100) -> dict[str, int]:
    """Count the arcs that searches read, and levels bottom-up."""
    plain: dict[str, Any] = {"frontier": "distance", "beta": 18}
    counted = {}
    graphs_by_name = {"complete": complete(vertices), "tree": two_levels(children)}
    for name, g in graphs_by_name.items():
        for alpha in (0, 15):
            device = SimtDevice(trace=True)
            result = bfs(g, 0, "direction_optimizing", device, alpha=alpha, **plain)
            counted[f"arcs, {name}, alpha={alpha}"] = int(result.stats["arcs_inspected"])
    searched = bfs(path(length), 0, "direction_optimizing", SimtDevice(), **plain)
    counted["levels bottom-up, path"] = searched.stats["directions"].count("bottom_up")
    return counted


PREDICT = PredictionExercise(
    "direction-1",
    answer={
        "arcs, complete, alpha=0": 992,
        "arcs, complete, alpha=15": 31,
        "arcs, tree, alpha=0": 144,
        "arcs, tree, alpha=15": 72,
        "levels bottom-up, path": 0,
    },
    measure=count_arcs_read,
    variants=Variants(draw_sizes, _named_in_sizes),
)

# direction-2: any visited neighbor will do, if no vertex is visited meanwhile


@cuda.jit
def search_bottom_up(offsets, sources, distance):
    """Search from vertex 0, bottom-up at every level; one block, one thread per vertex."""
    v = cuda.threadIdx.x
    level, found = 0, True
    while cuda.syncthreads_or(int32(found)):
        found = False
        if v < distance.size and distance[v] == -1:
            for k in range(offsets[v], offsets[v + 1]):
                if distance[sources[k]] != -1:
                    found = True
                    break
        cuda.syncthreads()  # added
        if found:
            distance[v] = level + 1
        level += 1


def run_bottom_up(kernel, device, g: Graph) -> Results:
    """Search `g` from vertex 0 with one block of 512 threads, over the arcs that enter a vertex."""
    distance, back = np.full(g.n, -1, np.int32), g.reverse
    distance[0] = 0
    return launched(kernel, device, 1, THREADS, back.offsets, back.targets, distance=distance)


VISITED = KernelExercise(
    "direction-2",
    parts=(search_bottom_up,),
    imports=IMPORTS,
    inputs=Inputs(lambda: graphs() | {LATE: late_arc()}, graphs_from_0(most=100).draw),
    case=cases_of(run_bottom_up, judge_search),
    budgets=on(SMALL_WORLD, lambda: graphs()[SMALL_WORLD], sharing(260)),
    writes=("distance",),
    benign=("distance",),
)

# direction-3: a frontier of bits


@cuda.jit
def bottom_up_level(offsets, sources, bits, distance, next_bits, level):
    """Visit the neighbors of the frontier `bits`; store the bits of those found in `next_bits`."""
    v = cuda.grid(1)
    found = False
    # Your lines go here.
    if v < distance.size and distance[v] == -1:  # added
        for k in range(offsets[v], offsets[v + 1]):  # added
            u = sources[k]  # added
            if bits[u // 32] >> (u % 32) & 1:  # added
                found = True  # added
                break  # added
    if found:  # added
        distance[v] = level + 1  # added
    word = cuda.ballot_sync(0xFFFFFFFF, found)  # added
    if cuda.laneid == 0 and v < distance.size:  # added
        next_bits[v // 32] = word  # added


def run_levels(kernel, device, g: Graph, root: int = 0) -> Results:
    """Search `g` with one launch per level until no bit should be set; two rows of bits in turn.

    The search ends at the first level whose ``bits`` are wrong.
    """
    right = sequential_bfs(g, root).distance
    distance, size = queued.begun(device, g.n, root), -(-g.n // WARP_SIZE)
    # The row that is written first holds what no level has left there.
    first = np.zeros(size, np.uint32)
    first[root // WARP_SIZE] = 1 << root % WARP_SIZE
    rows = [device.array(first), device.array(np.full(size, 2**32 - 1, np.uint32))]
    arrays = device.array(g.reverse.offsets), device.array(g.reverse.targets)
    for level in range(right.max() + 1):
        bits, next_bits = rows[level % 2], rows[(level + 1) % 2]
        shape = blocks_for(g.n, 2 * WARP_SIZE), 2 * WARP_SIZE
        device.launch(kernel, *shape, *arrays, bits, distance, next_bits, level)
        left = bits_of(device.read(next_bits))
        if (left[: g.n] != (right == level + 1)).any() or left[g.n :].any():
            break
    return {"distance": device.read(distance), "bits": left, "level": np.array(level)}


def bits_of(words: np.ndarray) -> np.ndarray:
    """Return the bits of uint32 words as bool, the lowest of each word first."""
    return (words[:, None] >> np.arange(WARP_SIZE, dtype=np.uint32) & 1).astype(bool).ravel()


def _judge_levels(search: Search) -> Callable[[Results], Wrong | None]:
    right, judge_rest = sequential_bfs(*search).distance, judge_search(*search)

    def judge(results: Results) -> Wrong | None:
        level, wanted = results["level"], np.zeros(results["bits"].size, bool)
        wanted[: right.size] = right == level + 1
        for v in np.flatnonzero(results["bits"] != wanted)[:1].tolist():
            place = f"bit {v % WARP_SIZE} of `next_bits[{v // WARP_SIZE}]`"
            if wanted[v]:
                why = f"is 0, but vertex {v} must be found at level {level}"
            elif v >= right.size:
                why = "is 1, but it is the bit of no vertex"
            else:
                why = f"is 1, but vertex {v} must not be found at level {level}"
            return Wrong(f"{place} {why}", "next_bits", v // WARP_SIZE)
        return judge_rest(results)

    return judge


def _bits_budgets(case_of: CaseOf) -> list[Budget]:
    case = case_of("a complete graph of 64 vertices", Search(complete(64)))
    world = case_of(SMALL_WORLD, SEARCHES.fixed()[SMALL_WORLD])
    read = loads(at_most=100, what="arcs read", array="sources")
    return [read(case), sharing(1, "next_bits")(case), sharing(at_most=60)(world)]


BITS = KernelExercise(
    "direction-3",
    parts=(bottom_up_level,),
    inputs=Inputs(
        lambda: {
            **SEARCHES.fixed(),
            "a complete graph of 32 vertices": Search(complete(32)),
            "a star of 1,100 vertices": Search(star(1_100), 70),
            LATE: Search(late_arc()),
        },
        SEARCHES.draw,
    ),
    case=cases_of(unpacked(run_levels), _judge_levels),
    budgets=_bits_budgets,
    writes=("distance", "next_bits"),
)

# direction-line, direction-lines: a level bottom-up


@benign_race("distance")
@cuda.jit
def visit_level(
    offsets, targets, reverse_offsets, sources, distance, parent, next_frontier, next_size, level
):
    """Append the vertices at distance `level` + 1 to the queue, and count their arcs."""
    bits = sources[:0]  # no elements: the kernel reads distances instead
    search = State(offsets, targets, reverse_offsets, sources, distance, parent)
    bottom_up(search, bits, bits, Queue(next_frontier, next_size), level)


def run_upward(kernel, device, g: Graph, root: int = 0) -> Results:
    """Search `g` with one launch per level, which all append to one queue."""
    distance, parent = queued.begun(device, g.n, root), queued.begun(device, g.n, root, root)
    queue = device.full(g.n, -1, np.int32)
    size, seen, wrong_queue = device.full(2, 0, np.int64), 0, {}
    arcs = [device.array(a) for way in (g, g.reverse) for a in (way.offsets, way.targets)]
    for level in range(g.n):
        shape = blocks_for(g.n, 2 * WARP_SIZE), 2 * WARP_SIZE
        device.launch(kernel, *shape, *arcs, distance, parent, queue, size, level)
        before, seen = seen, int(device.read(size)[0])
        now = device.read(queue)[before:seen]
        wrong_queue = queued.compare(now, device.read(distance) == level + 1, level)
        if wrong_queue or seen == before:
            break
    arrays = {"distance": device.read(distance), "parent": device.read(parent)}
    return {**arrays, **wrong_queue, "next_size": device.read(size)}


def judge_upward(search: Search) -> Callable[[Results], Wrong | None]:
    """Return a judge of distances, parents and queue, and of the arcs that were counted."""
    later = sequential_bfs(*search).distance > 0
    arcs = search.g.out_degree[later].sum()
    judge_tree = judge_search(*search)
    judge_size = equal_to(next_size=np.array([later.sum(), arcs]))
    return lambda results: judge_tree(results) or judge_size(results)


COMPLETE = completions(
    "direction",
    "found = u != UNVISITED",
    ("if found:", 5),
    parts=(bottom_up, visit_level),
    imports=UPWARD,
    inputs=SEARCHES,
    case=cases_of(unpacked(run_upward), judge_upward),
    writes=("distance", "parent", "next_frontier", "next_size"),
    benign=("distance",),
)

EXERCISES = (*COMPLETE, PREDICT, VISITED, BITS)
