"""Exercises of the chapter "H-BF"."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import cuda, int32, int64, uint64

from gpukernels.device import SimtDevice, benign_race
from gpukernels.frontiers.state import Local, Queue
from gpukernels.graphs.generators import path, star
from gpukernels.graphs.graph import Graph
from gpukernels.primitives import FULL_MASK, THREADS, WARP_SIZE, blocks_for, queue_append
from gpukernels.reference import bellman_ford_queue
from gpukernels.shortest_paths import sssp
from gpukernels.shortest_paths.hbf.classes import ID_BITS
from gpukernels.shortest_paths.hbf.relax import ATOMIC64, relax
from gpukernels.shortest_paths.hbf.relax import Search as State
from gpukernels.shortest_paths.hbf.words import BIAS

from ..judge.case import Budget, CaseOf, Results, Wrong, cases_of, launched
from ..judge.completing import completions
from ..judge.counters import atomics, on, sharing
from ..judge.exercise import KernelExercise, PredictionExercise
from ..judge.inputs import Draw, Inputs, Search, changed, searches
from ..judge.variants import Variants
from .sssp_spectrum import NO_PATH, detours, judge_distances, run_paths, weighted

#: All bits of the lower half of a word.
LOWER_HALF = 2**32 - 1

TO_RELAX = """\
from numba import cuda, int32, int64

from gpukernels.device import benign_race
from gpukernels.frontiers.local_queue import hold
from gpukernels.frontiers.state import Local, Queue
from gpukernels.primitives import queue_append
from gpukernels.primitives.cache_hints import load_past_l1, store_past_l1
from gpukernels.shortest_paths.hbf.classes import ID_BITS, ID_MASK, IN_DEGREE, NORMAL
from gpukernels.shortest_paths.hbf.relax import ATOMIC64, BELOW
from gpukernels.shortest_paths.hbf.relax import Search as State
from gpukernels.shortest_paths.hbf.words import BIAS, key_of, longer, packed, round_of
"""
WITH_WORDS = (
    "from numba import cuda, int64, uint64\n\nfrom gpukernels.primitives import queue_append\n\n"
    "LOWER_HALF = 2**32 - 1"
)
WITH_QUEUE = (
    "from numba import cuda\n\nfrom gpukernels.device import benign_race\n"
    "from gpukernels.primitives import queue_append"
)
WITH_SHUFFLES = f"from numba import cuda\n\nFULL_MASK = 0xFFFFFFFF\nNO_PATH = {NO_PATH}"

# hbf-1: predict what becomes of an arc

#: A cycle through vertex 0, a self-loop, and a vertex without arcs out.
SMALL = np.array(
    [(0, 1, 2), (0, 2, 5), (1, 2, 1), (2, 2, 3), (2, 3, 4), (2, 4, 6), (3, 0, 1), (3, 4, 1),
     (4, 5, 2)], np.int32
)  # fmt: skip


def count_classes(vertices: int = 64, rays: int = 64) -> dict[str, int]:
    """Count what the search of hbf-1 skips, stores and lowers by atomics."""
    searched = {
        name: sssp(g, 0, "hbf", SimtDevice(trace=True)).stats
        for name, g in {
            "small": Graph.from_arcs(6, *SMALL.T),
            "path": path(vertices), "star": star(rays),
        }.items()
    }  # fmt: skip
    classes = searched["small"]["edge_classes"]
    return {
        "small, skipped": classes["self_loop"] + classes["out_degree"],
        "small, stored": classes["in_degree"] + classes["source"],
        "small, by an atomic": len(SMALL) - sum(classes.values()),
        "path, enqueued": int(searched["path"]["enqueues"]),
        "star, relaxed in rounds": int(searched["star"]["relaxations"]),
        "star, relaxed at the end": int(searched["star"]["relaxations_at_the_end"]),
    }


PREDICT = PredictionExercise(
    "hbf-1",
    answer={
        "small, skipped": 2,
        "small, stored": 4,
        "small, by an atomic": 3,
        "path, enqueued": 63,
        "star, relaxed in rounds": 0,
        "star, relaxed at the end": 63,
    },
    measure=count_classes,
    variants=Variants(
        lambda rng: {"vertices": int(rng.integers(40, 100)), "rays": int(rng.integers(40, 100))},
        lambda vertices, rays: {
            "path": vertices,
            "star": rays,
            "last": vertices - 1,
            "leaves": rays - 1,
        },
    ),
)

# hbf-2: a word for one atomic


@cuda.jit
def lower_words(vertex, length, round, words, queue, size):
    """Lower ``words[vertex[i]]`` to an offer, and enqueue the vertex that is the first to fall."""
    i = cuda.grid(1)
    if i < vertex.size:
        v, offer, now = vertex[i], int64(length[i]), uint64(round)
        # Your lines go here.
        key = uint64(offer + 2**31)  # added
        old = cuda.atomic.min(words, v, (key << uint64(32)) | now)  # added
        if key < old >> uint64(32) and old & uint64(LOWER_HALF) != now:  # added
            queue_append(queue, size, v)  # added


def packed(lengths, rounds) -> np.ndarray:
    """Return words of distances and rounds; None stands for no path."""
    keys = [2**32 - 1 if length is None else int(length) + 2**31 for length in lengths]
    pairs = zip(keys, rounds, strict=True)
    return np.array([key << 32 | int(round) for key, round in pairs], np.uint64)


#: The word of a vertex that no path has reached.
NOT_YET = packed([None], [2**32 - 1])[0]


def offers(n: int, count: int, rng: Draw, low: int, high: int, round: int = 7) -> tuple:
    """Return (vertices, lengths, words, round): offers to n vertices, some of them reached."""
    words = packed(rng.integers(low, high + 1, n), rng.integers(0, round, n))
    words[rng.random(n) < 0.3] = NOT_YET
    vertex = rng.integers(0, max(n, 1), count).astype(np.int32)
    length = rng.integers(low, high + 1, count).astype(np.int32)
    equal = np.flatnonzero((rng.random(count) < 0.2) & (words[vertex] != NOT_YET))
    length[equal] = (words[vertex[equal]] >> np.uint64(32)).astype(np.int64) - 2**31
    return vertex, length, words, round


def _drawn_offers(rng: Draw) -> dict[str, tuple]:
    count, n = int(rng.integers(1, 400)), int(rng.integers(1, 60))
    low = -int(rng.integers(1, 10**9))
    high, round = low + int(rng.integers(1, 2 * 10**9)), int(rng.integers(1, 2**31))
    return {"drawn offers": offers(n, count, rng, low, high, round)}


def _fixed_offers() -> dict[str, tuple]:
    rng = np.random.default_rng(3)
    ends = np.array([-(2**31), -1, 0, 2**31 - 2, -(2**31) + 1, 1], np.int32)
    return {
        "70 offers to 9 vertices": offers(9, 70, rng, -50, 50),
        "300 offers to 200 vertices in round 2,147,483,647": offers(
            200, 300, rng, 2**25, 2**25 + 4, 2**31 - 1
        ),
        "no offers": offers(3, 0, rng, -9, 9),
        "one offer": (np.int32([2]), np.int32([-4]), packed([5, 5, 0], [1, 2, 3]), 7),
        "a large crowd, 67 equal offers to a vertex": (
            np.zeros(67, np.int32), np.full(67, 8, np.int32), packed([9], [6]), 7,
        ),
        "67 offers that are no better": (
            np.zeros(67, np.int32), np.full(67, -3, np.int32), packed([-3], [2]), 7,
        ),
        "the least and the greatest distances": (
            np.arange(6, dtype=np.int32), ends, packed([0, 0, -1, None, -(2**31), 1], range(6)), 7,
        ),
    }  # fmt: skip


OFFERS = Inputs(_fixed_offers, _drawn_offers)


def _run_words(kernel, device, given: tuple) -> Results:
    vertex, length, words, round = given
    queue, size = np.full(vertex.size, -1, np.int32), np.zeros(1, np.int32)
    return launched(
        kernel, device, blocks_for(vertex.size), THREADS, vertex, length, np.int32(round),
        words=words, queue=queue, size=size,
    )  # fmt: skip


def judge_words(given: tuple) -> Callable[[Results], Wrong | None]:
    """Return a judge that wants the least word of every vertex, and who fell, once each."""
    vertex, length, before, round = given
    expected = before.tolist()
    for v, offer in zip(vertex.tolist(), length.tolist(), strict=True):
        if offer + 2**31 < expected[v] >> 32:
            expected[v] = (offer + 2**31) << 32 | round
    fell = np.flatnonzero(np.array(expected, np.uint64) != before)

    def judge(results: Results) -> Wrong | None:
        for v, word in enumerate(results["words"].tolist()):
            if word != expected[v]:
                text, right = _read(word), _read(expected[v])
                return Wrong(f"`words[{v}]` holds {text} and should hold {right}", "words", v)
        size = int(results["size"][0])
        if size != fell.size:
            return Wrong(f"`size[0]` is {size} and should be {fell.size}", "size", 0)
        missing = np.setdiff1d(fell, results["queue"][:size])
        if missing.size:
            return Wrong(f"vertex {missing[0]}, whose distance fell, is not in `queue`", "queue")
        return None

    return judge


def _read(word: int) -> str:
    return f"distance {(word >> 32) - 2**31} of round {word % 2**32}"


def words_budgets(case_of: CaseOf) -> list[Budget]:
    """Return the bounds of hbf-2: an atomic for each offer, and one for each vertex enqueued."""
    given = offers(40, 1_000, np.random.default_rng(8), -500, 500)
    vertex, length, before, _ = given
    least = (before >> np.uint64(32)).astype(np.int64)
    after = least.copy()
    np.minimum.at(after, vertex, length + np.int64(2**31))
    case = case_of("1,000 offers to 40 vertices", given)
    most = vertex.size + int((after < least).sum())
    return [atomics(at_most=most)(case), sharing(at_most=8)(case)]


WORDS = KernelExercise(
    "hbf-2",
    parts=(lower_words,),
    imports=WITH_WORDS,
    inputs=OFFERS,
    case=cases_of(_run_words, judge_words),
    budgets=words_budgets,
    writes=("words", "queue", "size"),
)

# hbf-line, hbf-lines: on the offers of hbf-2


@benign_race("words")
@cuda.jit
def relax_each(targets, weights, round, words, queue, size):
    """Relax all arcs of a vertex at distance 0, one per thread; enqueue the targets that fall."""
    i = cuda.grid(1)
    if i < targets.size:
        none, found, held = targets[:0], cuda.local.array(1, int32), cuda.local.array(1, int32)
        held[0] = 0
        state = State(none, targets, weights, words, none, none, 0, False, True, ATOMIC64, False)
        relax((state, round, False, Local(found, held), Queue(queue, size)), int64(BIAS), i)
        if held[0] > 0:
            queue_append(queue, size, found[0])


def run_relax(kernel, device, given: tuple) -> Results:
    """Make all offers by arcs; the only arc to a vertex is of the in-degree class."""
    vertex, *others = given
    only = np.bincount(vertex, minlength=1)[vertex] == 1
    return _run_words(kernel, device, ((vertex | only << ID_BITS).astype(np.int32), *others))


COMPLETE = completions(
    "hbf",
    "v = v & ID_MASK",
    ("if kind == IN_DEGREE or alone:", 4),
    parts=(relax, relax_each),
    imports=TO_RELAX,
    inputs=OFFERS,
    case=cases_of(run_relax, judge_words),
    writes=("words", "queue", "size"),
    benign=("words",),
)

# hbf-3: a store in place of an atomic


def tree(n: int) -> Graph:
    """Return a tree of n vertices, three arcs out of each that has any, from vertex 0 outward."""
    child = np.arange(1, n, dtype=np.int32)
    return Graph.from_arcs(n, (child - 1) // 3, child, child * 7 % 11 + 1)


def rings(n: int, weight: int) -> Graph:
    """Return a cycle through all n vertices."""
    return Graph.from_arcs(n, np.arange(n), (np.arange(n) + 1) % n, np.full(n, weight, np.int32))


PLAIN = searches(most=67)


def with_weights(search: Search, rng: Draw) -> Search:
    """Return a search of the same graph with drawn weights."""
    return Search(weighted(search.g, rng), search.root)


SEARCHES = Inputs(
    lambda: {
        "a ring of 5 vertices": Search(rings(5, 3)),
        "a ring of 5 vertices, from vertex 2": Search(rings(5, 3), 2),
        "a tree of 75 vertices": Search(tree(75)),
        "two ways, the second shorter": Search(
            Graph.from_arcs(5, [0, 0, 1, 2, 3], [1, 2, 2, 3, 4], [1, 9, 1, 1, 1])
        ),
        # Whichever of two lanes stores last, it is the longer way to one of the two.
        "two ways in one round": Search(
            Graph.from_arcs(5, [0, 0, 1, 1, 2, 2], [1, 2, 3, 4, 3, 4], [1, 1, 1, 9, 9, 1])
        ),
        "detours that are shorter by 1": Search(detours(12)),
        "long detours that are shorter by 1": Search(detours(12, long=2**25 + 1)),
        **changed(PLAIN.fixed(), with_weights, np.random.default_rng(5)),
    },
    lambda rng: changed(PLAIN.draw(rng), with_weights, rng),
)


@benign_race("distance")
@cuda.jit
def relax_by_class(
    offsets, targets, weights, ways_in, distance, frontier, frontier_size, next_frontier, next_size
):
    """Relax the arcs of the frontier, by a store where only one arc leads to a vertex."""
    i = cuda.grid(1)
    if i < frontier_size[0]:
        u = frontier[i]
        for k in range(offsets[u], offsets[u + 1]):
            v = targets[k]
            before, length = distance[v], distance[u] + weights[k]
            if length >= before:  # added
                continue  # added
            if ways_in[v] == 1:
                distance[v] = length
            else:
                before = cuda.atomic.min(distance, v, length)
            if length < before:
                queue_append(next_frontier, next_size, v)


def run_classes(kernel, device, search: Search) -> Results:
    """Search with a kernel that also takes how many arcs lead to each vertex."""
    ways_in = np.bincount(search.g.targets, minlength=search.g.n).astype(np.int32)
    return run_paths(kernel, device, search, ways_in)


STORES = KernelExercise(
    "hbf-3",
    parts=(relax_by_class,),
    imports=WITH_QUEUE,
    inputs=SEARCHES,
    case=cases_of(run_classes, judge_distances),
    budgets=on(
        "a tree of 300 vertices",
        lambda: Search(tree(300)),
        atomics(at_most=0, what="atomics on `distance`", array="distance"),
        sharing(at_most=40),
    ),
    writes=("distance", "next_frontier", "next_size"),
    benign=("distance",),
)

# hbf-4: those that were left for the end


@cuda.jit
def end_leaves(offsets_in, sources, weights, out_degree, distance):
    """Lower each vertex without outgoing arcs over its incoming arcs, one warp per vertex."""
    v, lane = cuda.grid(1) // 32, cuda.laneid
    if v < distance.size and out_degree[v] == 0:
        begin, end = offsets_in[v], offsets_in[v + 1]
        # Your lines go here.
        least = NO_PATH  # added
        if lane == 0:  # added
            least = distance[v]  # added
        for k in range(begin + lane, end, 32):  # added
            near = distance[sources[k]]  # added
            if near != NO_PATH:  # added
                least = min(least, near + weights[k])  # added
        for apart in (16, 8, 4, 2, 1):  # added
            least = min(least, cuda.shfl_xor_sync(FULL_MASK, least, apart))  # added
        if lane == 0:  # added
            distance[v] = least  # added


def funnel(width: int) -> Graph:
    """Return vertex 0, `width` vertices that it leads to, and one that all of these lead to."""
    middle = np.arange(1, width + 1)
    source = np.concatenate([np.zeros(width, int), middle])
    target = np.concatenate([middle, np.full(width, width + 1)])
    weights = (np.arange(2 * width, dtype=np.int32) * 37 + 11) % 101
    return Graph.from_arcs(width + 2, source, target, weights)


def with_leaves(search: Search, rng: Draw) -> Search:
    """Return a search without the arcs out of a third of all vertices, weights of both signs."""
    g, root = search
    source, target = g.coo
    kept = (rng.random(g.n) < 2 / 3)[source]
    cropped = Graph.from_arcs(g.n, source[kept], target[kept])
    return Search(weighted(cropped, rng, negative=True), root)


#: Places in a list of arcs: all of a warp's first two rounds, and others next to multiples of 32.
PLACES = np.r_[:65, 95, 96, 127, 128, 255, 256, 299]


def sieve(leaf: int) -> Graph:
    """Return leaves whose shortest arc is at another one of `PLACES` for each of them.

    Vertex 0 leads to 300 vertices by arcs of length 0, and all of these to each leaf, by arcs of
    length `leaf` of which one is shorter by 1.
    """
    width = PLACES[-1] + 1
    middle, k = (part.ravel() for part in np.indices((width, PLACES.size)))
    source = np.r_[np.zeros(width, int), 1 + middle]
    target = np.r_[1 + np.arange(width), 1 + width + k]
    weights = np.r_[np.zeros(width, int), leaf - (PLACES[k] == middle)]
    return Graph.from_arcs(1 + width + PLACES.size, source, target, weights.astype(np.int32))


def _run_leaves(kernel, device, search: Search) -> Results:
    g, root = search
    result = bellman_ford_queue(g, root)
    before = np.where(result.parent >= 0, result.distance, NO_PATH).astype(np.int32)
    before[g.out_degree == 0] = NO_PATH
    before[root] = 0
    back, ends = g.reverse, g.out_degree.astype(np.int32)
    arrays = back.offsets, back.targets, back.weights, ends
    return launched(kernel, device, blocks_for(g.n * WARP_SIZE), THREADS, *arrays, distance=before)


def _drawn_leafy(rng: Draw) -> dict[str, Search]:
    funnels = {"a drawn wide funnel": Search(funnel(int(rng.integers(65, 200))))}
    return changed(PLAIN.draw(rng), with_leaves, rng) | funnels


LEAVES = KernelExercise(
    "hbf-4",
    parts=(end_leaves,),
    imports=WITH_SHUFFLES,
    inputs=Inputs(
        lambda: {
            "a funnel of 75 vertices": Search(funnel(73)),
            "a tree of 75 vertices": Search(tree(75)),
            "parallel arcs, the least between": Search(
                Graph.from_arcs(2, [0] * 5, [1] * 5, [7, 3, -2, 3, 9])
            ),
            "a root without arcs out": Search(
                Graph.from_arcs(4, [0, 2, 3], [1, 1, 1], [-5, 4, 7]), 1
            ),
            "a leaf that nobody reaches": Search(Graph.from_arcs(4, [0, 2], [1, 3], [5, -8])),
            "300 long arcs into each leaf, one of them shorter by 1": Search(sieve(2**25 + 4)),
            **changed(PLAIN.fixed(), with_leaves, np.random.default_rng(9)),
        },
        _drawn_leafy,
    ),
    case=cases_of(_run_leaves, judge_distances),
    budgets=on(
        "a funnel of 1,002 vertices",
        lambda: Search(funnel(1_000)),
        atomics(at_most=0),
        sharing(at_most=103),
    ),
    writes=("distance",),
)

EXERCISES = (*COMPLETE, PREDICT, WORDS, STORES, LEAVES)
