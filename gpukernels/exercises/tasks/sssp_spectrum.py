"""Exercises of the chapter "From Dijkstra to Bellman and Ford"."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import cuda, int32

from gpukernels.device import SimtDevice, benign_race
from gpukernels.graphs.generators import path, road_grid, small_world
from gpukernels.graphs.graph import Graph
from gpukernels.primitives import THREADS, blocks_for, queue_append
from gpukernels.primitives.warp_append import warp_append
from gpukernels.reference import bellman_ford_queue, dijkstra
from gpukernels.shortest_paths import sssp
from gpukernels.shortest_paths.topology_driven import relax_all

from ..judge import queued
from ..judge.case import Budget, CaseOf, HostGaveUp, Results, Wrong, cases_of, equal_to, launched
from ..judge.completing import completions
from ..judge.counters import atomics, loads, sharing
from ..judge.exercise import KernelExercise, PredictionExercise
from ..judge.inputs import Draw, Inputs, Search, changed, searches
from ..judge.variants import Variants, spelled

#: Distance of a vertex that no path has reached.
NO_PATH = 2**31 - 1

IMPORTS = f"from numba import cuda\n\nNO_PATH = {NO_PATH}"
WITH_RACES = "from numba import cuda\n\nfrom gpukernels.device import benign_race"
WITH_QUEUE = (
    "from numba import cuda\n\nfrom gpukernels.device import benign_race\n"
    f"from gpukernels.primitives import queue_append\n\nNO_PATH = {NO_PATH}"
)
WITH_APPEND = (
    "from numba import cuda, int32\n\nfrom gpukernels.primitives.warp_append import warp_append"
)


def weighted(g: Graph, rng: Draw, negative: bool = False) -> Graph:
    """Return `g` with drawn weights from 1 to 40, on arcs of its own each.

    With `negative`, each vertex gets a height, and an arc gains what it climbs: many weights are
    negative then, while around a cycle nothing has changed.
    """
    weights = rng.integers(1, 41, g.m)
    if negative:
        height = rng.integers(0, 60, g.n)
        source, target = g.coo
        weights += height[target] - height[source]
    return Graph(g.offsets, g.targets, weights.astype(np.int32))


def weighted_searches(negative: bool) -> Inputs:
    """Return searches of weighted graphs.

    The detours lower distances by 1 and by 2^30, and those of long arcs have distances that
    float32 would round.
    """
    plain = searches(most=67)

    def with_weights(search: Search, rng: Draw) -> Search:
        return Search(weighted(search.g, rng, negative), search.root)

    def fixed() -> dict[str, Search]:
        return changed(first | plain.fixed(), with_weights, np.random.default_rng(5)) | {
            "detours that are shorter by 1": Search(detours(12)),
            "long detours that are shorter by 1": Search(detours(12, long=2**25 + 1)),
            "a detour that is shorter by 2^30": Search(
                Graph.from_arcs(4, [0, 0, 1, 2], [2, 1, 2, 3], [2**30 + 3, 1, 2, 5])
            ),
        }

    circles = [0, 1, 2, 3, 4, 5], [1, 2, 0, 4, 5, 3]
    first = {
        "roads of 75 vertices": Search(road_grid(15, 5, seed=1)),
        "two circles, one out of reach": Search(Graph.from_arcs(6, *map(np.array, circles)), 4),
    }
    return Inputs(fixed, lambda rng: changed(plain.draw(rng), with_weights, rng))


def judge_distances(search: Search, array: str = "distance") -> Callable[[Results], Wrong | None]:
    """Return a judge of the distances from the root, in the array that the kernel calls `array`."""
    g, root = search
    result = bellman_ford_queue(g, root)
    expected = np.where(result.parent >= 0, result.distance, NO_PATH)
    judge_rest = equal_to("{wrong} of {size} are wrong", **{array: expected})
    return lambda results: queued.judge(results, "given a shorter distance") or judge_rest(results)


def start(device, search: Search):
    """Return device distances of which that of the root is 0 and no other is reached."""
    return queued.begun(device, search.g.n, search.root, elsewhere=NO_PATH)


# sssp-1: predict the relaxations


def detours(count: int, long: int = 1) -> Graph:
    """Return a chain of `count` arcs, each of which is longer by 1 than a detour of two arcs.

    The first arc of a detour is `long`, the second has length 1.
    """
    first = 2 * np.arange(count)
    source = np.concatenate([first, first, first + 1])
    target = np.concatenate([first + 2, first + 1, first + 2])
    weights = np.repeat(np.int32([long + 2, long, 1]), count)
    return Graph.from_arcs(2 * count + 1, source, target, weights)


def _named_in_chains(n: int, count: int) -> dict[str, object]:
    numbers = {"arcs": 2 * (n - 1), "largest": 2 * n - 3, "rounds": n - 1, "end": 2 * count}
    return {**numbers, "long": spelled(count)}


def count_relaxations(n: int = 64, count: int = 10) -> dict[str, int]:
    """Count the relaxations of two methods and of Dijkstra's on a chain and on detours."""
    counted = {}
    for name, g in {"chain": path(n), "detours": detours(count)}.items():
        for method in ("harish", "topology_driven"):
            if (name, method) != ("detours", "topology_driven"):
                r = sssp(g, 0, method, SimtDevice(trace=True))
                counted[f"{name}, {method}"] = int(r.stats["relaxations"])
        counted[f"{name}, Dijkstra"] = dijkstra(g, 0).relaxations
    return counted


PREDICT = PredictionExercise(
    "sssp-1",
    answer={
        "chain, harish": 126,
        "chain, topology_driven": 63 * 63 + 126,
        "chain, Dijkstra": 126,
        "detours, harish": 3 * 10 * 11 // 2,
        "detours, Dijkstra": 3 * 10,
    },
    measure=count_relaxations,
    variants=Variants(
        lambda rng: {"n": int(rng.integers(40, 100)), "count": int(rng.integers(6, 15))},
        _named_in_chains,
    ),
)

# sssp-2: relax an arc

WITH_NEGATIVE = weighted_searches(negative=True)


def run_rounds(kernel, device, search: Search) -> Results:
    """Launch until `changed` is not set, one thread per vertex."""
    g = search.g
    arcs = [device.array(a) for a in (g.offsets, g.targets, g.weights)]
    distance, times = start(device, search), device.full(g.n, 0, np.int32)
    for _ in range(g.n + 1):
        changed = device.full(1, 0, np.int32)
        arrays = *arcs, distance, np.int32(NO_PATH), times, changed
        device.launch(kernel, blocks_for(g.n), THREADS, *arrays)
        if device.read(changed)[0] == 0:
            return {"distance": device.read(distance)}
    raise HostGaveUp(f"launch {g.n + 1} for {g.n} vertices still set `changed[0]`")


COMPLETE = completions(
    "sssp",
    "length = near + weights[i]",
    ("for i in range(offsets[u], offsets[u + 1]):", 6),
    parts=(relax_all,),
    imports=WITH_RACES,
    inputs=WITH_NEGATIVE,
    case=cases_of(run_rounds, judge_distances),
    writes=("distance", "times", "changed"),
    benign=("distance", "changed"),
)


@cuda.jit
def relax_arcs(source, target, weights, distance, lower):
    """Lower ``lower[v]`` to the length of the path over arc u -> v, one thread per arc."""
    i = cuda.grid(1)
    if i < source.size:
        near, v = distance[source[i]], target[i]
        # Your lines go here.
        length = near + weights[i]  # added
        if near != NO_PATH and length < distance[v]:  # added
            cuda.atomic.min(lower, v, length)  # added


def run_relax(kernel, device, search: Search) -> Results:
    """Launch until no distance falls; the next launch gets the lowered distances as `distance`."""
    g = search.g
    arcs = [device.array(np.ascontiguousarray(a, np.int32)) for a in (*g.coo, g.weights)]
    distance = start(device, search)
    for _ in range(g.n + 1):
        before = device.read(distance)
        lower = device.array(before)
        device.launch(kernel, blocks_for(g.m), THREADS, *arcs, distance, lower)
        if (device.read(lower) == before).all():
            return {"lower": before}
        distance = lower
    raise HostGaveUp(f"launch {g.n + 1} for {g.n} vertices still lowered a distance")


def _useful(g: Graph) -> int:
    """Return how many arcs offer less than there is, over all launches of sssp-2."""
    source, target = g.coo
    distance, offers = np.full(g.n, np.inf), 0
    distance[0] = 0
    while True:
        better = distance[source] + g.weights < distance[target]
        if not better.any():
            return offers
        offers += int(better.sum())
        lower = distance.copy()
        np.minimum.at(lower, target[better], (distance[source] + g.weights)[better])
        distance = lower


def _relax_budgets(case_of: CaseOf) -> list[Budget]:
    g = weighted(small_world(300, 6, rewire=0.1, seed=2), np.random.default_rng(1))
    case = case_of("a small world of 300 vertices", Search(g))
    return [atomics(at_most=_useful(g))(case), sharing(at_most=8)(case)]


RELAX = KernelExercise(
    "sssp-2",
    parts=(relax_arcs,),
    imports=IMPORTS,
    inputs=WITH_NEGATIVE,
    case=cases_of(run_relax, lambda search: judge_distances(search, "lower")),
    budgets=_relax_budgets,
    writes=("lower",),
)

# sssp-3: the habit of breadth-first search

POSITIVE = weighted_searches(negative=False)


@benign_race("distance")
@cuda.jit
def expand_paths(
    offsets, targets, weights, distance, frontier, frontier_size, next_frontier, next_size
):
    """Relax the arcs of the frontier, and enqueue each vertex whose distance falls."""
    i = cuda.grid(1)
    if i < frontier_size[0]:
        u = frontier[i]
        for k in range(offsets[u], offsets[u + 1]):
            v = targets[k]
            length = distance[u] + weights[k]
            before = cuda.atomic.min(distance, v, length)
            if before == NO_PATH:
                queue_append(next_frontier, next_size, v)
            elif length < before:  # added
                queue_append(next_frontier, next_size, v)  # added


def run_paths(kernel, device, search: Search, *beside: np.ndarray) -> Results:
    """Search with a kernel that relaxes one queue and fills the next, until one is empty.

    The kernel takes the arrays of the graph, the arrays `beside`, then distances and queues. The
    search ends at the first queue that :func:`queued.compare` finds wrong.
    """
    g, root = search
    capacity = 8 * g.m + 64
    queue = queued.closed(device, np.array([root]), capacity)
    arcs = [device.array(a) for a in (g.offsets, g.targets, g.weights, *beside)]
    distance, size, entries = start(device, search), device.full(1, 1, np.int32), 1
    for launch in range(g.n + 1):
        before = device.read(distance)
        next_queue, next_size = device.full(capacity, -1, np.int32), device.full(1, 0, np.int32)
        arrays = *arcs, distance, queue, size, next_queue, next_size
        device.launch(kernel, blocks_for(entries), THREADS, *arrays)
        size = next_size
        entries, after = int(device.read(size)[0]), device.read(distance)
        if not 0 <= entries <= capacity:
            raise HostGaveUp(f"a round queued {entries:,} entries for {g.n:,} vertices")
        now = device.read(next_queue)[:entries]
        wrong_queue = queued.compare(now, after < before, launch)
        queue = queued.closed(device, now, capacity)
        if entries == 0 or wrong_queue:
            return {"distance": after, **wrong_queue}
    raise HostGaveUp(f"round {g.n + 1} of {g.n} vertices still has a queue")


def paths_budgets(case_of: CaseOf) -> list[Budget]:
    """Return the bounds of sssp-3: on equal weights each arc is relaxed once."""
    g = small_world(200, 6, rewire=0.1, seed=2)
    g = Graph(g.offsets, g.targets, np.ones(g.m, np.int32))
    case = case_of("a small world of 200 vertices, all weights 1", Search(g))
    relaxed = loads(at_most=g.m, what="relaxations", array="weights")
    return [relaxed(case), sharing(at_most=96)(case)]


PATHS = KernelExercise(
    "sssp-3",
    parts=(expand_paths,),
    imports=WITH_QUEUE,
    inputs=POSITIVE,
    case=cases_of(run_paths, judge_distances),
    budgets=paths_budgets,
    writes=("distance", "next_frontier", "next_size"),
    benign=("distance",),
)

# sssp-4: split the pile


@cuda.jit
def split_pile(pile, size, distance, before, limit, near, near_size, far, far_size):
    """Move to `near` what waits within the limit, to `far` what lies beyond; drop what is done."""
    i = cuda.grid(1)
    v = int32(-1)
    if i < size:
        v = pile[i]
    # Your lines go here.
    is_near, is_far = False, False  # added
    if v >= 0:  # added
        is_far = distance[v] > limit  # added
        is_near = distance[v] > before and not is_far  # added
    warp_append(near, near_size, v, is_near)  # added
    warp_append(far, far_size, v, is_far)  # added


#: Vertices of an older pile that stand behind each pile, at the least.
OLD = 40


def waiting(distances, before: int, limit: int, seed: int = 0) -> tuple:
    """Return (pile, distances of all vertices, before, limit): a pile of them, in drawn order.

    The array of the pile is longer than the pile, as in a search. Its other places hold vertices of
    an older pile, some of them within the limit and some beyond it.
    """
    distances = np.asarray(distances, np.int32)
    rng = np.random.default_rng(seed)
    n = 2 * distances.size + OLD
    place = rng.permutation(n).astype(np.int32)
    of_all = np.full(n, NO_PATH, np.int32)
    of_all[place[: distances.size]] = distances
    of_all[place[distances.size : distances.size + OLD]] = np.resize([limit, limit + 1], OLD)
    return place[: distances.size], place[distances.size :], of_all, before, limit


def _drawn_piles(rng: Draw) -> dict[str, tuple]:
    before = int(rng.integers(0, 100))
    limit = before + int(rng.integers(1, 100))
    size = int(rng.integers(1, 300))
    around = rng.integers(max(before - 20, 0), limit + 60, size)
    return {"a drawn pile": waiting(around, before, limit, int(rng.integers(2**31)))}


PILES = Inputs(
    lambda: {
        "300 vertices of all kinds": waiting(np.arange(300) * 7 % 31, 10, 20, seed=4),
        "no vertices": waiting([], 10, 20),
        "one vertex at the limit": waiting([20], 10, 20),
        "75 vertices, all near": waiting(np.arange(11, 86), 10, 90),
        "67 vertices, all far": waiting(np.arange(91, 158), 10, 90),
        "128 numbers around both limits": waiting(
            np.tile([9, 10, 11, 19, 20, 21, 22, 0], 16), 10, 20
        ),
        "a large pile that is left behind": waiting(np.arange(300) % 11, 10, 20),
        "distances that float32 would round": waiting(
            2**25 + np.arange(129) % 7, 2**25 + 2, 2**25 + 4
        ),
    },
    _drawn_piles,
)


def _run_split(kernel, device, given: tuple) -> Results:
    pile, old, distance, before, limit = given
    room = pile.size + old.size
    scalars = [np.int32(number) for number in (pile.size, before, limit)]
    place, none = np.full(room, -1, np.int32), np.zeros(1, np.int32)
    return launched(
        kernel, device, blocks_for(room), THREADS, np.r_[pile, old], scalars[0], distance,
        *scalars[1:], near=place, near_size=none, far=place, far_size=none,
    )  # fmt: skip


def judge_split(given: tuple) -> Callable[[Results], Wrong | None]:
    """Return a judge that wants each vertex in its queue once, from place 0 on, in any order."""
    pile, _, distance, before, limit = given
    length = distance[pile]
    wanted = {"near": pile[(length > before) & (length <= limit)], "far": pile[length > limit]}

    def judge(results: Results) -> Wrong | None:
        for name, vertices in wanted.items():
            size = results[f"{name}_size"][0]
            if size != vertices.size:
                text = f"`{name}_size[0]` is {size} and should be {vertices.size}"
                return Wrong(text, f"{name}_size", 0)
            missing = np.setdiff1d(vertices, results[name][: vertices.size])
            if missing.size:
                v = int(missing[0])
                text = f"vertex {v}, at {distance[v]}, is not in `{name}`"
                return Wrong(f"{text}; {missing.size} of {vertices.size} are missing", name)
        return None

    return judge


def split_budgets(case_of: CaseOf) -> list[Budget]:
    """Return the bounds of sssp-4: an atomic for each warp and queue that it has something for."""
    given = waiting(np.arange(1_000) * 7 % 31, 10, 20, seed=4)
    pile, _, distance, before, limit = given
    lengths = np.pad(distance[pile], (0, -pile.size % 32)).reshape(-1, 32)
    needed = ((lengths > before) & (lengths <= limit)).any(axis=1).sum()
    needed += (lengths > limit).any(axis=1).sum()
    case = case_of("1,000 vertices of all kinds", given)
    return [atomics(at_most=int(needed))(case), sharing(at_most=10)(case)]


SPLIT = KernelExercise(
    "sssp-4",
    parts=(split_pile,),
    imports=WITH_APPEND,
    inputs=PILES,
    case=cases_of(_run_split, judge_split),
    budgets=split_budgets,
    writes=("near", "near_size", "far", "far_size"),
)

EXERCISES = (*COMPLETE, PREDICT, RELAX, PATHS, SPLIT)
