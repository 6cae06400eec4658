"""Exercises of the chapter "Breadth-first search by frontiers"."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import cuda, int32

from gpukernels.device import SimtDevice, benign_race
from gpukernels.generators import erdos_renyi, path, rmat, road_grid, small_world, star
from gpukernels.graph import Graph
from gpukernels.primitives import THREADS, blocks_for, queue_append
from gpukernels.sequential import bfs as sequential_bfs
from gpukernels.trace import ATOMIC, LOAD, Trace, metrics
from gpukernels.traversal import bfs

from .case import Budget, Case, HostGaveUp, Results, Wrong
from .counters import sharing
from .exercise import KernelExercise, PredictionExercise
from .representations import no_arcs, stars
from .words import words

IMPORTS = "from numba import cuda"
WITH_QUEUE = "from numba import cuda\n\nfrom gpukernels.primitives import queue_append"
WITH_COLLECT = (
    "from numba import cuda, int32\n\nfrom gpukernels.exercises.frontier_bfs import collect"
)
WITH_RACES = "from numba import cuda\n\nfrom gpukernels.device import benign_race"


def graphs() -> dict[str, Graph]:
    """Return the hidden graphs, by name; each is searched from vertex 0."""
    return {
        "a small world of 200 vertices": small_world(200, 6, rewire=0.1, seed=2),
        "one vertex without arcs": path(1),
        "a path of 12 vertices": path(12),
        "an R-MAT graph of 256 vertices": rmat(8, edge_factor=3, seed=3),
        "a star of 67 vertices": star(67),
        "a random graph in many pieces": erdos_renyi(130, 1.2, seed=5),
        "a complete graph of 33 vertices": stars(*[33] * 33),
        "196 vertices that meet in three": _meeting(14, 3),
    }


def _meeting(width: int, last: int) -> Graph:
    """Return a tree of three levels with `width` arcs a vertex, whose leaves all lead to `last`."""
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

    def judge(found: Results) -> Wrong | None:
        distance = found["distance"]
        wrong = np.flatnonzero(distance != expected)
        if wrong.size:
            v = int(wrong[0])
            text = f"`distance[{v}]` is {distance[v]} and should be {expected[v]}"
            return Wrong(f"{text}; {wrong.size} of {g.n} are wrong", "distance", v)
        reached = np.flatnonzero(expected >= 0)
        for v in reached.tolist() if "parent" in found else ():
            u = int(found["parent"][v])
            # Only an arc says that u is a vertex at all.
            if (u, v) not in arcs or not (v == root or distance[u] == distance[v] - 1):
                return Wrong(f"`parent[{v}]` is {u}, which is no vertex before it", "parent", v)
            if highest and u != best[v]:
                return Wrong(f"`parent[{v}]` is {u} and should be {best[v]}", "parent", v)
        if "entries" in found and found["entries"].sum() != reached.size:
            entries = found["entries"].sum()
            return Wrong(f"{entries:,} entries were queued for {reached.size:,} vertices reached")
        return None

    return judge


# bfs-1: predict the loads


def count_loads() -> dict[str, int]:
    """Count checks and arcs of three methods on a chain, from its end and from its middle."""
    counted = {}
    for root in (0, 32):
        for method in ("harish", "edge_parallel", "frontier"):
            device = SimtDevice(trace=True)
            bfs(path(64), root, method, device)
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
    words("bfs-1"),
    answer={
        "harish, root 0": 64 * 64 + 126,
        "edge_parallel, root 0": 2 * 126 * 64,
        "frontier, root 0": 64 + 126,
        "harish, root 32": 64 * 33 + 126,
        "edge_parallel, root 32": 2 * 126 * 33,
        "frontier, root 32": 64 + 126,
    },
    measure=count_loads,
)

# bfs-2: every vertex once, under one parent


def run_queue(kernel, device, g: Graph, root: int = 0) -> dict[str, np.ndarray]:
    """Search `g` with a kernel that expands one queue into the next.

    Returns
    -------
    dict of ndarray
        ``distance`` and ``parent``, int32 (n,); ``entries``, the size of the queue at each level.
    """
    host = np.full(g.n, -1, np.int32)
    host[root] = 0
    distance = device.array(host)
    host[root] = root
    parent = device.array(host)
    capacity = g.n + 64
    queue, other = (device.full(capacity, root, np.int32) for _ in range(2))
    offsets, targets = device.array(g.offsets), device.array(g.targets)
    size, entries = device.full(1, 1, np.int32), [1]
    while entries[-1]:
        level = len(entries) - 1
        if level > g.n:
            raise HostGaveUp(f"level {level} of {g.n} vertices still has a queue")
        next_size = device.full(1, 0, np.int32)
        arrays = offsets, targets, distance, parent, queue, size, other, next_size
        device.launch(kernel, blocks_for(entries[-1]), THREADS, *arrays, level)
        queue, other, size = other, queue, next_size
        entries.append(int(device.read(size)[0]))
        if not 0 <= entries[-1] <= capacity:
            raise HostGaveUp(f"level {level} queued {entries[-1]:,} entries for {g.n:,} vertices")
    found = {"distance": device.read(distance), "parent": device.read(parent)}
    return {**found, "entries": np.array(entries)}


def _queue_case(name: str, g: Graph, highest: bool = False) -> Case:
    judge = judge_search(g, highest=highest)
    return Case(name, lambda kernel, device: run_queue(kernel, device, g), judge)


def queue_cases() -> list[Case]:
    """Return the hidden inputs of bfs-5."""
    return [_queue_case(name, g) for name, g in graphs().items()]


def once_cases() -> list[Case]:
    """Return the hidden inputs of bfs-2."""
    return [_queue_case(name, g, highest=True) for name, g in graphs().items()]


def _road() -> Case:
    return _queue_case("a road graph of 1,024 vertices", road_grid(32, 32, seed=1))


def once_budgets() -> list[Budget]:
    """Return the bound of bfs-2."""
    return [Budget("warp steps", _road(), metrics.warp_steps, at_most=4_000)]


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
    words("bfs-2"),
    parts=(expand_once,),
    imports=WITH_QUEUE,
    cases=once_cases,
    budgets=once_budgets,
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
    """Search `g` with a thread a vertex, until a launch changes nothing."""
    host = np.full(g.n, -1, np.int32)
    host[root] = 0
    distance = device.array(host)
    offsets, targets = device.array(g.offsets), device.array(g.targets)
    for level in range(g.n + 1):
        changed = device.full(1, 0, np.int32)
        arrays = offsets, targets, distance, changed
        device.launch(kernel, blocks_for(g.n), THREADS, *arrays, level)
        if not device.read(changed)[0]:
            return {"distance": device.read(distance)}
    raise HostGaveUp(f"launch {g.n + 1} for {g.n} vertices still found something to change")


def spread_cases() -> list[Case]:
    """Return the hidden inputs of bfs-3."""
    return [
        Case(name, lambda kernel, device, g=g: run_spread(kernel, device, g), judge_search(g))
        for name, g in graphs().items()
    ]


def spread_budgets() -> list[Budget]:
    """Return the bound of bfs-3."""
    return [sharing(spread_cases()[0], at_most=64)]


SPREAD = KernelExercise(
    words("bfs-3"),
    parts=(spread,),
    imports=WITH_RACES,
    cases=spread_cases,
    budgets=spread_budgets,
    benign=("distance", "changed"),
)

# bfs-4: one atomic a warp and queue

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


def run_classes(kernel, device, g: Graph) -> dict[str, np.ndarray]:
    """Sort all vertices of `g`, in random order, into queues by their degrees.

    Returns
    -------
    dict of ndarray
        ``queues`` int32 (4, n), -1 where nothing was stored; ``sizes`` int32 (4,).
    """
    frontier = np.random.default_rng(g.n).permutation(g.n).astype(np.int32)
    queues = device.full((len(CLASSES) + 1, g.n), -1, np.int32)
    sizes = device.full(len(CLASSES) + 1, 0, np.int32)
    arrays = device.array(g.offsets), device.array(frontier), queues, sizes
    device.launch(kernel, blocks_for(g.n), THREADS, *arrays)
    return {"queues": device.read(queues), "sizes": device.read(sizes)}


def judge_classes(g: Graph) -> Callable[[Results], Wrong | None]:
    """Return a judge that wants each vertex once, in the queue of its class, from place 0 on."""
    kinds = np.searchsorted(CLASSES, g.out_degree, side="right")

    def judge(found: Results) -> Wrong | None:
        for kind in range(len(CLASSES) + 1):
            wanted = np.flatnonzero(kinds == kind)
            if found["sizes"][kind] != wanted.size:
                text = f"`sizes[{kind}]` is {found['sizes'][kind]} and should be {wanted.size}"
                return Wrong(text, "sizes", kind)
            got = found["queues"][kind, : wanted.size]
            missing = np.setdiff1d(wanted, got)
            if missing.size:
                v = int(missing[0])
                text = f"vertex {v}, of degree {g.out_degree[v]}, is not in queue {kind}"
                return Wrong(f"{text}; {missing.size} of its {wanted.size} are missing", "queues")
        return None

    return judge


def _classes_case(name: str, g: Graph) -> Case:
    return Case(name, lambda kernel, device: run_classes(kernel, device, g), judge_classes(g))


def classes_cases() -> list[Case]:
    """Return the hidden inputs of bfs-4."""
    limits = stars(3, 4, 5, 31, 32, 33, 255, 256, 257, 0, 1, *[0] * 247)
    return [
        *(_classes_case(name, g) for name, g in graphs().items()),
        _classes_case("degrees beside the limits of the classes", limits),
        _classes_case("129 vertices without arcs", no_arcs(129)),
    ]


def classes_budgets() -> list[Budget]:
    """Return the bounds of bfs-4, which only lanes that share an atomic can meet."""
    g = rmat(10, edge_factor=8, seed=1)
    frontier = np.random.default_rng(g.n).permutation(g.n)
    kinds = np.searchsorted(CLASSES, g.out_degree[frontier], side="right").reshape(-1, 32)
    needed = sum(np.unique(warp).size for warp in kinds)

    def waiting(trace: Trace) -> int:
        return int(metrics.atomic_conflicts(trace.select(array=["sizes"])).sum())

    def asking(trace: Trace) -> int:
        return metrics.accesses(trace.select(array=["sizes"]), kinds=ATOMIC)

    case = _classes_case("an R-MAT graph of 1,024 vertices", g)
    return [
        Budget("lanes that wait at a counter", case, waiting, at_most=0),
        Budget("atomics at the counters", case, asking, at_most=needed),
        sharing(case, at_most=16),
    ]


BY_CLASS = KernelExercise(
    words("bfs-4"),
    parts=(append_by_class, sort_by_degree),
    imports=f"from numba import cuda\n\nCLASSES = {CLASSES}",
    cases=classes_cases,
    budgets=classes_budgets,
)

# bfs-5: one atomic a block


@cuda.jit(device=True)
def collect(u, offsets, targets, distance, parent, level, found, asked, queue, size):
    """Put every neighbor of `u` that this thread visits first into `found`, or else into `queue`.

    `found` and ``asked[0]``, how many slots of it have been asked for, are the block's.
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
    """Collect what the block finds in shared memory, then enqueue all of it together."""
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


def by_block_budgets() -> list[Budget]:
    """Return the bounds of bfs-5: an atomic for each of the 63 blocks that the search launches."""

    def asking(trace: Trace) -> int:
        return metrics.accesses(trace.select(array=["next_size"]), kinds=ATOMIC)

    return [
        Budget("atomics at the queue's counter", _road(), asking, at_most=63),
        sharing(_road(), at_most=48),
    ]


BY_BLOCK = KernelExercise(
    words("bfs-5"),
    parts=(expand_by_block,),
    imports=WITH_COLLECT,
    cases=queue_cases,
    budgets=by_block_budgets,
)

EXERCISES = (PREDICT, ONCE, SPREAD, BY_CLASS, BY_BLOCK)
