"""Exercises of the chapter "All pairs, otherwise"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numba import cuda

from gpukernels.all_pairs import min_plus
from gpukernels.all_pairs.tiles import Form, product
from gpukernels.device import SimtDevice, benign_race
from gpukernels.graphs.generators import complete, path, road_grid, star
from gpukernels.graphs.graph import Graph
from gpukernels.primitives import FULL_MASK, THREADS, WARP_SIZE, blocks_for
from gpukernels.shortest_paths import sssp
from gpukernels.trace import Trace, metrics

from ..judge.case import Budget, CaseOf, HostGaveUp, Results, Wrong, cases_of, equal_to, launched
from ..judge.completing import completions
from ..judge.counters import bound, on, sharing
from ..judge.exercise import KernelExercise, PredictionExercise
from ..judge.inputs import Draw, Inputs, changed, graphs_from_0
from ..judge.variants import ORDINALS, Variants, spelled
from .sssp_spectrum import NO_PATH, weighted

IMPORTS = f"from numba import cuda\n\nNO_PATH = {NO_PATH}"
#: The head of a kernel that multiplies tiles; its imports and the options of its product differ.
TILES = """\
from numba import cuda, uint32

{imports}

tile = 16
multiply = multiplier(Form(tile, "1x1"{options}))"""
WITH_TILES = TILES.format(
    imports="from gpukernels.all_pairs.tiles import Form, multiplier\n"
    "from gpukernels.device import benign_race",
    options=", watching=True",
)
WITH_SHUFFLES = (
    "from numba import cuda\n\nfrom gpukernels.device import benign_race\n\n"
    f"FULL_MASK = 0xFFFFFFFF\nNO_PATH = {NO_PATH}"
)


def matrix_of(g: Graph) -> np.ndarray:
    """Return the lengths of all arcs, NO_PATH where there is none, 0 from a vertex to itself."""
    matrix = g.dense(NO_PATH).astype(np.int32)
    np.fill_diagonal(matrix, 0)
    return matrix


def multiplied(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the (min, +) product, a row at a time; no path is what int32 cannot hold."""
    none = float("inf")
    a, b = (np.where(x == NO_PATH, none, x) for x in (a, b))
    rows = [np.min(row[:, None] + b, axis=0, initial=none) for row in a]
    product = np.array(rows).reshape(len(a), b.shape[1])
    return np.minimum(product, NO_PATH).astype(np.int32)


# otherwise-1: predict the rounds


def of_squares(n: int) -> Graph:
    """Return arcs between all vertices, as long as the square of how far apart they are."""
    g = complete(n)
    source, target = g.coo
    return Graph(g.offsets, g.targets, ((source - target) ** 2).astype(np.int32))


def count_squarings(g: Graph) -> int:
    """Return the rounds until one changes nothing, or until no path can have more arcs.

    The lengths must not be negative: :func:`gpukernels.apsp` squares once more on some graphs,
    because a negative cycle may have one arc more than any path.
    """
    distance, arcs, rounds, falls = matrix_of(g), 1, 0, True
    while falls and arcs < g.n - 1:
        before, distance = distance, min_plus(distance, distance, SimtDevice(trace=True))
        falls = bool((distance != before).any())
        arcs, rounds = 2 * arcs, rounds + 1
    return rounds


def draw_rounds(rng: Draw) -> dict[str, int]:
    """Draw rounds of products that do not reach the end of the path."""
    rounds, squares = int(rng.integers(4, 6)), int(rng.integers(7, 25))
    return {"rounds": rounds, "squares": squares, "products": int(rng.integers(2, rounds))}


def _named_in_rounds(rounds: int, squares: int, products: int) -> dict[str, object]:
    return {
        "short": 2**rounds,
        "long": 2**rounds + 1,
        "before": 2**rounds - 1,
        "rounds": spelled(rounds),
        "next": ORDINALS[rounds + 1],
        "last": squares - 1,
        "products": spelled(products),
        "Products": spelled(products).capitalize(),
        "arcs": spelled(2**products),
        "vertices": spelled(2**products + 1),
        "few": spelled(products + 1),
        "reached": spelled(products + 2),
    }


def count_rounds(rounds: int = 5, squares: int = 16, products: int = 3) -> dict[str, int]:
    """Count the rounds of repeated squaring, and the vertices that a few rounds reach."""
    n, few = 2**rounds, spelled(products)
    graphs = {
        f"path of {n}": path(n), f"path of {n + 1}": path(n + 1), "star of 64": star(64),
        "complete of 64": complete(64),
        f"complete of {squares}, squares": of_squares(squares),
    }  # fmt: skip
    counted = {f"rounds, {name}": count_squarings(g) for name, g in graphs.items()}
    arcs = matrix_of(path(n + 1))
    for name, squaring in (("D x D", True), ("D x W", False)):
        distance = arcs
        for _ in range(products):
            distance = min_plus(distance, distance if squaring else arcs, SimtDevice(trace=True))
        counted[f"reached in {few} rounds, {name}"] = int(np.count_nonzero(distance[0] != NO_PATH))
    return counted


PREDICT = PredictionExercise(
    "otherwise-1",
    answer={
        "rounds, path of 32": 5,
        "rounds, path of 33": 5,
        "rounds, star of 64": 2,
        "rounds, complete of 64": 1,
        "rounds, complete of 16, squares": 4,
        "reached in three rounds, D x D": 9,
        "reached in three rounds, D x W": 5,
    },
    measure=count_rounds,
    variants=Variants(
        draw_rounds,
        _named_in_rounds,
        (
            "rounds, shorter path",
            "rounds, longer path",
            "rounds, star",
            "rounds, complete",
            "rounds, complete with squares",
            "reached, D x D",
            "reached, D x W",
        ),
    ),
)

# otherwise-line, otherwise-lines: a product in tiles

#: Rows and columns of a tile, and the length that stands for no path.
TILE, ABSENT = 16, 2**30 - 1


def factors(rows: int, depth: int, columns: int, seed: int, most: int = 40, **begin: int) -> dict:
    """Return matrices of so many tiles; a product of them may begin at a `row` and a `column`."""
    rng = np.random.default_rng(seed)
    sides = {"a": (rows, depth), "b": (depth, columns), "old": (rows, columns)}
    matrices = {}
    for name, (high, wide) in sides.items():
        matrices[name] = rng.integers(0, most + 1, (TILE * high, TILE * wide)).astype(np.int32)
        matrices[name][rng.random(matrices[name].shape) < 0.3] = ABSENT
    return matrices | {"row": 0, "column": 0, "stopped": 0} | begin


def _run_product(kernel, device, given: dict) -> Results:
    a, b, old, row, column, stopped = given.values()
    tiles = (b.shape[1] - column) // TILE, (a.shape[0] - row) // TILE
    new, via = np.full(old.shape, -7, np.int32), np.full((1, 1), -1, np.int32)
    return launched(
        kernel, device, tiles, (TILE, TILE), a, b, old, new=new, via=via, infinite=ABSENT, row=row,
        column=column, begin=0, end=a.shape[1], flags=np.array([stopped, 0], np.int32),
    )  # fmt: skip


def right_product(given: dict) -> Results:
    """Return the tiles that are made, and whether anything in them is less than before."""
    a, b, old, row, column, stopped = given.values()
    new, less = np.full(old.shape, -7, np.int32), False
    if not stopped:
        lower = np.minimum(old, (a[:, :, None] + b).min(axis=1))[row:, column:]
        new[row:, column:] = lower
        less = bool((lower < old[row:, column:]).any())
    return {"new": new, "flags": np.array([stopped, less])}


FACTORS = Inputs(
    lambda: {
        "2 × 1 × 3 tiles": factors(2, 1, 3, 1),
        "one tile": factors(1, 1, 1, 2),
        "3 × 2 × 2 tiles, from the second row and column on": factors(
            3, 2, 2, 3, row=16, column=16
        ),
        "a negative cycle was found before": factors(1, 1, 2, 4, stopped=1),
        "nothing becomes less": factors(1, 2, 1, 5, most=0) | {"old": np.zeros((16, 16), np.int32)},
        "large lengths": factors(2, 1, 1, 6, most=ABSENT),
    },
    lambda rng: {"drawn tiles": factors(*rng.integers(1, 3, 3).tolist(), int(rng.integers(2**31)))},
    lambda given: " x ".join(str(side) for side in (*given["a"].shape, given["b"].shape[1])),
)

COMPLETE = completions(
    "otherwise",
    "row = uint32(row) + uint32(cuda.blockIdx.y) * uint32(tile)",
    ("if flags[0] == 0:", 5),
    parts=(product(Form(TILE, "1x1", watching=True)),),
    imports=WITH_TILES,
    inputs=FACTORS,
    case=cases_of(_run_product, right_product),
    writes=("new", "flags"),
    benign=("flags",),
)

# otherwise-2: heights by hand


def draw_downhill(rng: Draw) -> dict[str, int]:
    """Draw a cycle that is not negative, and a way along the fall that is the shortest."""
    fall = int(rng.integers(4, 10))
    on, start = int(rng.integers(1, fall)), int(rng.integers(2, fall + 1))
    back = fall - on + int(rng.integers(1, 5))
    return {"start": start, "across": int(rng.integers(1, 6)), "fall": fall, "on": on, "back": back}


def _named_in_downhill(start: int, across: int, fall: int, on: int, back: int) -> dict[str, object]:
    sums = {"low": on - fall, "cycle": on + back - fall, "true": start - fall + on}
    return {"fall": -fall, **sums}


def find_heights(start=4, across=1, fall=6, on=3, back=5) -> dict[str, int]:
    """Search from a vertex before all others, and raise the arcs by its distances."""
    lengths = start, across, -fall, on, back
    downhill = np.column_stack([(0, 0, 1, 2, 3), (1, 2, 2, 3, 1), lengths])
    source, target, length = downhill.T
    before = np.column_stack([np.full(4, 4), np.arange(4), np.zeros(4, int)])
    g = Graph.from_arcs(5, *np.concatenate([downhill, before]).T)
    height = sssp(g, 4, "topology_driven", SimtDevice(trace=True)).distance.astype(int)
    numbers = {f"height of {v}": int(height[v]) for v in range(4)}
    raised = length + height[source] - height[target]
    numbers |= {f"{u} -> {v}": int(w) for u, v, w in zip(source, target, raised, strict=True)}
    flat = sssp(Graph.from_arcs(4, source, target, raised), 0, "harish", SimtDevice(trace=True))
    return numbers | {"raised way from 0 to 3": int(flat.distance[3])}


HEIGHTS = PredictionExercise(
    "otherwise-2",
    answer={
        "height of 0": 0,
        "height of 1": 0,
        "height of 2": -6,
        "height of 3": -3,
        "0 -> 1": 4,
        "0 -> 2": 7,
        "1 -> 2": 0,
        "2 -> 3": 0,
        "3 -> 1": 2,
        "raised way from 0 to 3": 4,
    },
    measure=find_heights,
    variants=Variants(draw_downhill, _named_in_downhill),
)

# otherwise-3: a lazy square


PLAIN = graphs_from_0(most=34)


def with_weights(g: Graph, rng: Draw) -> Graph:
    """Return `g` with weights of both signs."""
    return weighted(g, rng, negative=True)


def _fixed_graphs() -> dict[str, Graph]:
    rng, longest = np.random.default_rng(6), NO_PATH - 1
    return {
        "roads of 45 vertices": with_weights(road_grid(9, 5, seed=1), rng),
        "an arc of -5 from a vertex that 0 does not reach": Graph.from_arcs(3, [1], [2], [-5]),
        "a path of the greatest lengths": Graph.from_arcs(3, [0, 1], [1, 2], [longest, longest]),
        "paths through arcs of 2^30 and more": Graph.from_arcs(
            5, [0, 1, 2, 3], [1, 2, 3, 4], [3, 2**30 + 1, -7, 2**30]
        ),
        "a way that does not touch vertex 0": Graph.from_arcs(
            12, np.arange(1, 9), np.arange(2, 10), np.arange(1, 9)
        ),
        "no vertices": Graph.from_arcs(0, [], []),
        **changed(PLAIN.fixed(), with_weights, rng),
    }


@benign_race("less")
@cuda.jit
def square(distance, new, less):
    """Make ``new`` the square of `distance`, a warp per row; set ``less[0]`` if any is less."""
    i, lane, n = cuda.grid(1) // 32, cuda.laneid, distance.shape[0]
    if i < n:
        fell = False
        # Your lines go here.
        for column in range(lane, n + lane, 32):  # added
            best = NO_PATH  # added
            if column < n:  # added
                best = distance[i, column]  # added
            before = best  # added
            for first in range(0, n, 32):  # added
                mine = NO_PATH  # added
                if first + lane < n:  # added
                    mine = distance[i, first + lane]  # added
                for k in range(first, min(first + 32, n)):  # added
                    there = cuda.shfl_sync(FULL_MASK, mine, k - first)  # added
                    if there != NO_PATH and column < n:  # added
                        on = distance[k, column]  # added
                        if on != NO_PATH:  # added
                            best = min(best, there + on)  # added
            if column < n:  # added
                new[i, column] = best  # added
                fell = fell or best < before  # added
        if cuda.any_sync(FULL_MASK, fell) and lane == 0:  # added
            less[0] = 1  # added


def run_squares(kernel, device, g: Graph) -> Results:
    """Square until the kernel says that nothing has become less."""
    distance, n = device.array(matrix_of(g)), g.n
    for launch in range(n + 2):
        less, new = device.full(1, 0, np.int32), device.full((n, n), -7, np.int32)
        device.launch(kernel, blocks_for(n * WARP_SIZE), THREADS, distance, new, less)
        distance = new
        if device.read(less)[0] == 0:
            return {"new": device.read(new), "launches": np.array([launch + 1])}
    raise HostGaveUp(f"`less[0]` is set after launch {n + 2} for {n} vertices")


def rounds_of(matrix: np.ndarray) -> list[np.ndarray]:
    """Return the matrix, and its squares up to the one that is equal to the one before."""
    matrices = [matrix]
    while len(matrices) < 2 or (matrices[-1] != matrices[-2]).any():
        matrices.append(np.minimum(matrices[-1], multiplied(matrices[-1], matrices[-1])))
    return matrices


def judge_squares(g: Graph) -> Callable[[Results], Wrong | None]:
    """Return a judge of the last square, and of how many there were."""
    rounds = rounds_of(matrix_of(g))
    judge_last = equal_to(new=rounds[-1])

    def judge(results: Results) -> Wrong | None:
        wrong = judge_last(results)
        if wrong is not None:
            fault = wrong.text.partition(";")[0]
            launches = f"after {results['launches'][0]} of {len(rounds) - 1} launches"
            return replace(wrong, text=f"{launches} {fault}")
        if results["launches"][0] > len(rounds) - 1:
            return Wrong("`less[0]` is set in a launch that has made nothing less", "less", 0)
        return None

    return judge


def rings(count: int, size: int = 6) -> Graph:
    """Return so many cycles of a few vertices each."""
    vertex = np.arange(size * count, dtype=np.int32)
    target = vertex - vertex % size + (vertex + 1) % size
    return Graph.from_arcs(size * count, vertex, target, vertex % size + 1)


def squares_budgets(case_of: CaseOf) -> list[Budget]:
    """Return the bounds of otherwise-3: six of 66 elements of a row are finite in the end."""
    g = rings(11)
    case = case_of("11 rings", g)
    rounds = rounds_of(matrix_of(g))
    fell = sum(int((after < before).any(axis=1).sum()) for before, after in pairwise(rounds))

    def accesses(trace: Trace) -> int:
        return metrics.accesses(trace.select(array=["less"]))

    return [bound("accesses to `less`", accesses, fell)(case), sharing(at_most=44)(case)]


SQUARE = KernelExercise(
    "otherwise-3",
    parts=(square,),
    imports=WITH_SHUFFLES,
    inputs=Inputs(_fixed_graphs, lambda rng: changed(PLAIN.draw(rng), with_weights, rng)),
    case=cases_of(run_squares, judge_squares),
    budgets=squares_budgets,
    writes=("new", "less"),
    benign=("less",),
)

# otherwise-4: infinity less three


@cuda.jit
def multiply(a, b, product):
    """Make ``product`` the (min, +) product of `a` and `b`, one thread per element."""
    j, i = cuda.grid(2)
    if i < product.shape[0] and j < product.shape[1]:
        best = NO_PATH
        for k in range(a.shape[1]):
            first, second = a[i, k], b[k, j]
            if first == NO_PATH or second == NO_PATH:  # added
                continue  # added
            best = min(best, first + second)
        product[i, j] = best


def drawn_lengths(rows: int, columns: int, rng: Draw, low: int = -40, high: int = 40) -> np.ndarray:
    """Return drawn lengths, three of five of them no arc."""
    lengths = rng.integers(low, high + 1, (rows, columns)).astype(np.int32)
    lengths[rng.random((rows, columns)) < 0.6] = NO_PATH
    return lengths


def pair(n: int, depth: int, m: int, rng: Draw, **span: int) -> tuple:
    """Return two matrices that fit each other."""
    return drawn_lengths(n, depth, rng, **span), drawn_lengths(depth, m, rng, **span)


def _drawn_pairs(rng: Draw) -> dict[str, tuple]:
    n, depth, m = (int(size) for size in rng.integers(1, 45, 3))
    return {"drawn matrices": pair(n, depth, m, rng)}


def _fixed_pairs() -> dict[str, tuple]:
    rng = np.random.default_rng(2)
    none, below = np.full((3, 3), NO_PATH, np.int32), np.full((3, 3), -3, np.int32)
    far = 2**30
    return {
        "no arc, then arcs of -3": (none, below),
        "arcs of -3, then no arc": (below, none),
        "no arcs at all": (none, none),
        "two large ways, of 2^30 and more": (
            np.int32([[far, NO_PATH]]), np.int32([[far - 2, 0], [-far, -far]]),
        ),
        "sums that an int32 does not hold, and large ones that it holds": (
            np.int32([[far, NO_PATH - 1, 5], [-far, NO_PATH, NO_PATH]]),
            np.int32(
                [
                    [far, NO_PATH, NO_PATH, NO_PATH, -far],
                    [NO_PATH, NO_PATH - 1, -5, NO_PATH, NO_PATH],
                    [NO_PATH, NO_PATH, NO_PATH, far + 1, NO_PATH],
                ]
            ),
        ),
        "5 × 40 × 7": pair(5, 40, 7, rng),
        "no vertices between": (np.zeros((3, 0), np.int32), np.zeros((0, 4), np.int32)),
        "no rows": (np.zeros((0, 5), np.int32), np.zeros((5, 3), np.int32)),
        "one element": (np.int32([[-7]]), np.int32([[9]])),
        "45 × 20 × 33": pair(45, 20, 33, rng),
    }  # fmt: skip


def _run_multiply(kernel, device, given: tuple) -> Results:
    a, b = given
    product = np.full((a.shape[0], b.shape[1]), -7, np.int32)
    blocks = blocks_for(b.shape[1], 32), blocks_for(a.shape[0], 4)
    return launched(kernel, device, blocks, (32, 4), a, b, product=product)


INFINITY = KernelExercise(
    "otherwise-4",
    parts=(multiply,),
    imports=IMPORTS,
    inputs=Inputs(_fixed_pairs, _drawn_pairs),
    case=cases_of(
        _run_multiply, lambda given: equal_to("{wrong:,} are wrong", product=multiplied(*given))
    ),
    budgets=on(
        "40 × 50 × 64", lambda: pair(40, 50, 64, np.random.default_rng(4)), sharing(at_most=101)
    ),
    writes=("product",),
)

EXERCISES = (*COMPLETE, PREDICT, HEIGHTS, SQUARE, INFINITY)
