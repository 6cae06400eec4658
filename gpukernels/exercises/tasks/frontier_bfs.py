"""Exercises of the chapter "Breadth-first search by frontiers"."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numba import cuda

from gpukernels.device import SimtDevice, benign_race
from gpukernels.graphs.generators import erdos_renyi, path, rmat, road_grid, small_world, star
from gpukernels.graphs.graph import Graph
from gpukernels.primitives import THREADS, blocks_for, queue_append
from gpukernels.reference import bfs as sequential_bfs
from gpukernels.trace import LOAD, Trace, metrics
from gpukernels.traversal import bfs
from gpukernels.traversal.frontier import expand_frontier

from ..judge import queued
from ..judge.case import (
    HostGaveUp,
    Results,
    Wrong,
    cases_of,
    equal_to,
    unpacked,
)
from ..judge.completing import completions
from ..judge.counters import bound, on, sharing
from ..judge.exercise import KernelExercise, PredictionExercise
from ..judge.inputs import Inputs, Search, bush
from ..judge.inputs import searches as usual_searches
from ..judge.variants import Variants
from .representations import stars

WITH_QUEUE = "from numba import cuda\n\nfrom gpukernels.primitives import queue_append"
WITH_RACES = "from numba import cuda\n\nfrom gpukernels.device import benign_race"


#: The name of a graph whose frontiers are wide enough for sharing to show.
SMALL_WORLD = "a small world of 200 vertices"
#: A search of the chapter's road graph, on which budgets are counted.
ROAD = "a road graph of 1,024 vertices", lambda: Search(road_grid(32, 32, seed=1))


def graphs() -> dict[str, Graph]:
    """Return the hidden graphs, by name; each is searched from vertex 0."""
    return {
        SMALL_WORLD: small_world(200, 6, rewire=0.1, seed=2),
        "one vertex without arcs": path(1),
        "a path of 12 vertices": path(12),
        "an R-MAT graph of 256 vertices": rmat(8, edge_factor=3, seed=3),
        "a star of 67 vertices": star(67),
        "a random graph in many pieces": erdos_renyi(130, 1.2, seed=5),
        "a complete graph of 33 vertices": stars(*[33] * 33),
        "196 vertices that meet in three": _meeting(14, 3),
    }


def searches() -> dict[str, Search]:
    """Return the hidden graphs with their roots, and searches from another vertex, by name."""
    further = {
        "a path of 12 vertices, from its middle": Search(path(12), 5),
        "a tree whose root has 300 arcs": bush(np.random.default_rng(8)),
    }
    return {name: Search(g) for name, g in graphs().items()} | further


#: Searches from any vertex, some of them drawn in every check.
SEARCHES = Inputs(searches, usual_searches(most=100).draw)


def late_arc(n: int = 500) -> Graph:
    """Return a graph with a vertex that can be reached over the last of 300 arcs alone.

    Vertex 0 leads to the last vertex, and this one to vertex 301, to which 299 arcs lead from
    vertices that cannot be reached.
    """
    source, target = np.r_[0, 1:300, n - 1], np.r_[n - 1, np.full(300, 301)]
    return Graph.from_arcs(n, source, target)


def rays(count: int, further: int = 1) -> Graph:
    """Return a root with `count` arcs, each to a vertex with `further` arcs to own leaves."""
    leaves = count * further
    parent = np.r_[np.zeros(count, int), 1 + np.arange(leaves) // further]
    child = np.arange(1, 1 + count + leaves)
    return Graph.from_arcs(child.size + 1, parent.astype(np.int32), child.astype(np.int32))


def _meeting(width: int, last: int) -> Graph:
    """Return a tree of three levels, `width` arcs per vertex, whose leaves all lead to `last`."""
    leaves = width * width
    v = np.arange(1, width + leaves + 1)
    end = v[-1] + 1 + np.arange(last)
    source = np.concatenate([(v - 1) // width, np.repeat(v[width:], last)])
    target = np.concatenate([v, np.tile(end, leaves)])
    return Graph.from_arcs(v.size + 1 + last, source.astype(np.int32), target.astype(np.int32))


def judge_search(
    g: Graph, root: int = 0, highest: bool = False
) -> Callable[[Results], Wrong | None]:
    """Return a judge of distances, and of parents and queue entries where there are any.

    With `highest`, a parent must be the one of the highest number.
    """
    expected = sequential_bfs(g, root).distance
    arcs = set(zip(*(ends.tolist() for ends in g.coo), strict=True)) | {(root, root)}
    best = np.full(g.n, -1)
    source, target = g.coo
    nearer = (expected[source] >= 0) & (expected[source] == expected[target] - 1)
    np.maximum.at(best, target[nearer], source[nearer])
    best[root] = root
    judge_distance = equal_to("{wrong} of {size} are wrong", distance=expected)

    def judge(results: Results) -> Wrong | None:
        wrong = queued.judge(results, "found") or judge_distance(results)
        if wrong is not None:
            return wrong
        distance = results["distance"]
        reached = np.flatnonzero(expected >= 0)
        for v in reached.tolist() if "parent" in results else ():
            u = int(results["parent"][v])
            # Only an arc says that u is a vertex at all.
            if (u, v) not in arcs or not (v == root or distance[u] == distance[v] - 1):
                return Wrong(f"`parent[{v}]` is {u}, which is no vertex before it", "parent", v)
            if highest and u != best[v]:
                return Wrong(f"`parent[{v}]` is {u} and should be {best[v]}", "parent", v)
        if "entries" in results and results["entries"].sum() != reached.size:
            entries = results["entries"].sum()
            return Wrong(f"{entries:,} entries were queued for {reached.size:,} vertices reached")
        return None

    return judge


# bfs-1: predict the loads


def count_loads(n: int = 64) -> dict[str, int]:
    """Count checks and arcs of three methods on a chain, from its end and from its middle."""
    counted = {}
    for root in (0, n // 2):
        for method in ("harish", "edge_parallel", "frontier"):
            device = SimtDevice(trace=True)
            bfs(path(n), root, method, device)
            counted[f"{method}, root {root}"] = _loads(device.trace, method)
    return counted


def _loads(trace: Trace, method: str) -> int:
    if method == "edge_parallel":
        return _lane_loads(trace, "source") + _lane_loads(trace, "target")
    if method == "frontier":
        return _lane_loads(trace, "frontier") + _lane_loads(trace, "targets")
    return _lane_loads(trace, "distance", "== level") + _lane_loads(trace, "targets")


def _lane_loads(trace: Trace, array: str, statement: str | None = None) -> int:
    """Count the loads of `array` by all lanes, in lines that hold `statement`."""
    return metrics.accesses(trace.select(array=array, statement=statement), kinds=LOAD)


PREDICT = PredictionExercise(
    "bfs-1",
    answer={
        "harish, root 0": 64 * 64 + 126,
        "edge_parallel, root 0": 2 * 126 * 64,
        "frontier, root 0": 64 + 126,
        "harish, root 32": 64 * 33 + 126,
        "edge_parallel, root 32": 2 * 126 * 33,
        "frontier, root 32": 64 + 126,
    },
    measure=count_loads,
    variants=Variants(
        lambda rng: {"n": int(rng.integers(40, 100))},
        lambda n: {"middle": n // 2, "arcs": 2 * (n - 1), "levels": n // 2 + 1},
        tuple(
            f"{method}, {root}"
            for root in ("root 0", "middle")
            for method in ("harish", "edge_parallel", "frontier")
        ),
    ),
)

# bfs-2: every vertex once, under one parent


def run_queue(kernel, device, g: Graph, root: int = 0, duplicates: bool = False) -> Results:
    """Search `g` with a kernel that expands one queue into the next, to the first wrong queue.

    With `duplicates`, a vertex may be queued more than once, and all but one are taken out between
    the launches. The ``entries`` are the sizes of the queue at each level.
    """
    distance, parent = queued.begun(device, g.n, root), queued.begun(device, g.n, root, root)
    capacity = g.n + 64 + (g.m if duplicates else 0)
    queue = queued.closed(device, np.array([root]), capacity)
    offsets, targets = device.array(g.offsets), device.array(g.targets)
    size, entries = device.full(1, 1, np.int32), [1]
    wrong_queue: Results = {}
    while entries[-1] and not wrong_queue:
        level = len(entries) - 1
        if level > g.n:
            raise HostGaveUp(f"level {level} of {g.n} vertices still has a queue")
        next_queue, next_size = device.full(capacity, -1, np.int32), device.full(1, 0, np.int32)
        arrays = offsets, targets, distance, parent, queue, size, next_queue, next_size
        device.launch(kernel, blocks_for(entries[-1]), THREADS, *arrays, level)
        size = next_size
        entries.append(int(device.read(size)[0]))
        if not 0 <= entries[-1] <= capacity:
            raise HostGaveUp(f"level {level} queued {entries[-1]:,} entries for {g.n:,} vertices")
        found_now = device.read(distance) == level + 1
        now = device.read(next_queue)[: entries[-1]]
        wrong_queue = queued.compare(now, found_now, level)
        if duplicates:
            now = np.unique(now)
            entries[-1] = now.size
            size = device.array(np.array([now.size], np.int32))
        queue = queued.closed(device, now, capacity)
    results = {"distance": device.read(distance), "parent": device.read(parent)}
    return {**results, **wrong_queue, "entries": np.array(entries)}


queue_case = cases_of(unpacked(run_queue), unpacked(judge_search))


COMPLETE = completions(
    "bfs",
    "distance[v] = level + 1",
    ("for k in range(offsets[u], offsets[u + 1]):", 6),
    parts=(expand_frontier,),
    imports=f"{WITH_RACES}\nfrom gpukernels.primitives import queue_append\n\nUNVISITED = -1",
    inputs=SEARCHES,
    case=cases_of(unpacked(partial(run_queue, duplicates=True)), unpacked(judge_search)),
    writes=("distance", "parent", "next_frontier", "next_size"),
    benign=("distance", "parent"),
)


@cuda.jit
def expand_once(
    offsets, targets, distance, parent, frontier, frontier_size, next_frontier, next_size, level
):
    """Give each unvisited neighbor of the frontier its distance and highest parent; enqueue it."""
    i = cuda.grid(1)
    if i < frontier_size[0]:
        u = frontier[i]
        for k in range(offsets[u], offsets[u + 1]):
            v = targets[k]
            # Your lines go here.
            before = cuda.atomic.cas(distance, v, -1, level + 1)  # added
            if before == -1 or before == level + 1:  # added
                cuda.atomic.max(parent, v, u)  # added
            if before == -1:  # added
                queue_append(next_frontier, next_size, v)  # added


ONCE = KernelExercise(
    "bfs-2",
    parts=(expand_once,),
    imports=WITH_QUEUE,
    inputs=SEARCHES,
    case=cases_of(unpacked(run_queue), lambda search: judge_search(*search, highest=True)),
    budgets=on(*ROAD, bound("warp steps", metrics.warp_steps, at_most=4_000)),
    writes=("distance", "parent", "next_frontier", "next_size"),
)

# bfs-3: a race that is not benign


@benign_race("distance", "changed")
@cuda.jit
def spread(offsets, targets, distance, changed, level):
    """Give every unvisited neighbor of a visited vertex its distance."""
    u = cuda.grid(1)
    if u >= distance.size or distance[u] == -1:
        return
    if distance[u] != level:  # added
        return  # added
    for i in range(offsets[u], offsets[u + 1]):
        v = targets[i]
        if distance[v] == -1:
            distance[v] = distance[u] + 1
            changed[0] = 1


def run_spread(kernel, device, g: Graph, root: int = 0) -> dict[str, np.ndarray]:
    """Search `g` with one thread per vertex, until a launch changes nothing."""
    distance = queued.begun(device, g.n, root)
    offsets, targets = device.array(g.offsets), device.array(g.targets)
    for level in range(g.n + 1):
        changed = device.full(1, 0, np.int32)
        arrays = offsets, targets, distance, changed
        device.launch(kernel, blocks_for(g.n), THREADS, *arrays, level)
        if not device.read(changed)[0]:
            return {"distance": device.read(distance)}
    raise HostGaveUp(f"launch {g.n + 1} for {g.n} vertices still found something to change")


SPREAD = KernelExercise(
    "bfs-3",
    parts=(spread,),
    imports=WITH_RACES,
    inputs=SEARCHES,
    case=cases_of(unpacked(run_spread), unpacked(judge_search)),
    budgets=on(SMALL_WORLD, lambda: searches()[SMALL_WORLD], sharing(at_most=64)),
    writes=("distance", "changed"),
    benign=("distance", "changed"),
)

EXERCISES = (*COMPLETE, PREDICT, ONCE, SPREAD)
