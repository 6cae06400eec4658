"""Exercises of the chapter "Beyond one GPU"."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numba import cuda

from gpukernels.all_pairs.part_rows_kernels import table_of, ways_on
from gpukernels.all_pairs.separators import parted, ruled
from gpukernels.all_pairs.tiles import Form
from gpukernels.device import SimtDevice
from gpukernels.graphs.generators import erdos_renyi, path, road_grid, star
from gpukernels.graphs.graph import Graph
from gpukernels.primitives import THREADS, WARP_SIZE, blocks_for

from ..judge.case import Budget, Case, CaseOf, Results, cases_of, equal_to, launched
from ..judge.completing import completions
from ..judge.counters import no_atomics, on, sharing
from ..judge.exercise import KernelExercise, PredictionExercise
from ..judge.inputs import Draw, Inputs
from ..judge.variants import ORDINALS, Variants, spelled
from .all_pairs_otherwise import ABSENT, TILE, TILES, matrix_of, multiplied
from .sssp_spectrum import NO_PATH, weighted

WITH_VOTES = "from numba import cuda\n\nFULL_MASK = 0xFFFFFFFF"
IMPORTS = f"from numba import cuda\n\nNO_PATH = {NO_PATH}"
WITH_TILES = TILES.format(
    imports="from gpukernels.all_pairs.part_rows_kernels import BEGIN, END, SHIFT, WIDE\n"
    "from gpukernels.all_pairs.tiles import Form, multiplier",
    options="",
)
FULL_MASK = 0xFFFFFFFF

# beyond-1: predict the separators, counted below by the kernel of beyond-2


def streets(rows: int, columns: int) -> Graph:
    """Return corners in rows and columns, each joined to the next ones, row by row."""
    corner = np.arange(rows * columns).reshape(rows, columns)
    along = np.stack([corner[:, :-1].ravel(), corner[:, 1:].ravel()])
    across = np.stack([corner[:-1].ravel(), corner[1:].ravel()])
    u, v = np.concatenate([along, across], axis=1)
    return Graph.from_arcs(rows * columns, np.concatenate([u, v]), np.concatenate([v, u]))


# beyond-2: mark the separators


def in_parts(g: Graph, rng: Draw, parts: int = 4) -> tuple[Graph, np.ndarray]:
    """Return a graph, and a part drawn for each vertex."""
    return g, rng.integers(0, parts, g.n).astype(np.int32)


def on_the_map(g: Graph, parts: int, lengths: Draw | None = None) -> tuple[Graph, np.ndarray]:
    """Return a graph that has a map, with drawn lengths or none, and its parts by a ruler."""
    part = ruled(g.positions, parts).astype(np.int32)
    return (g if lengths is None else weighted(g, lengths)), part


#: Neighbors of the hub of a star: a whole number of strides of 32 lanes, so that a shorter stride
#: takes one more.
LEAVES = 7 * WARP_SIZE
#: The input on which beyond-2 is counted: no vertex has a neighbor in another part.
WHOLE_STAR = f"a star of {LEAVES} leaves in one part"
#: Neighbors of a list with one of another part: two strides of 32 lanes and a few neighbors more.
LISTED = 2 * WARP_SIZE + 7


def one_far_neighbor() -> tuple[Graph, np.ndarray]:
    """Return a graph in which the k-th vertex has a far neighbor at place k of its list alone.

    All these vertices have the same neighbors, one of them in another part.
    """
    first, near = np.arange(LISTED), np.arange(LISTED, 2 * LISTED - 1)
    far = 2 * LISTED - 1
    lists = [np.insert(near, place, far) for place in range(LISTED)] + LISTED * [first]
    part = np.zeros(2 * LISTED, np.int32)
    part[far] = 3
    return Graph(LISTED * np.arange(2 * LISTED + 1), np.concatenate(lists)), part


def fixed_cuts() -> dict[str, tuple]:
    """Return the fixed inputs of beyond-2: graphs and the parts of their vertices."""
    hub = star(LEAVES + 1)
    alone, last, none = np.zeros((3, hub.n), np.int32)
    alone[int(np.argmax(hub.out_degree))] = 5
    last[-1] = 1
    return {
        "roads of 45 vertices, cut by a ruler": on_the_map(road_grid(9, 5, seed=1), 4),
        f"a star whose {LEAVES} leaves are in another part": (hub, alone),
        "a star whose last leaf is in another part": (hub, last),
        WHOLE_STAR: (hub, none),
        f"one far neighbor at each place of {LISTED}": one_far_neighbor(),
        "33 vertices in a row, each a part": (path(33), np.arange(33, dtype=np.int32)),
        "one part": (road_grid(6, 6, seed=2), np.full(36, 7, np.int32)),
        "no vertices": (Graph([0], []), np.zeros(0, np.int32)),
        "one vertex": (path(1), np.zeros(1, np.int32)),
        "40 vertices without edges": in_parts(
            Graph(np.zeros(41, int), []), np.random.default_rng(8)
        ),
    }


def _drawn_cuts(rng: Draw) -> dict[str, tuple]:
    one, other = (
        erdos_renyi(int(rng.integers(4, 90)), 3, seed=int(rng.integers(2**31))) for _ in "ab"
    )
    return {
        "a drawn graph in four parts": in_parts(one, rng),
        "a drawn graph, nearly all in one part": (
            other, (rng.random(other.n) < 0.05).astype(np.int32),
        ),
    }  # fmt: skip


@cuda.jit
def mark(offsets, targets, part, border):
    """Set ``border[v]`` to 1 if `v` has a neighbor in another part, else to 0, by one warp."""
    v, lane = cuda.grid(1) // 32, cuda.laneid
    if v < border.shape[0]:
        far = False
        # Your lines go here.
        own = part[v]  # added
        for k in range(offsets[v] + lane, offsets[v + 1], 32):  # added
            if part[targets[k]] != own:  # added
                far = True  # added
        any_far = cuda.any_sync(FULL_MASK, far)  # added
        if lane == 0:  # added
            border[v] = 1 if any_far else 0  # added


def _run_marks(kernel, device, given: tuple) -> Results:
    g, part = given
    arrays = (a.astype(np.int32) for a in (g.offsets, g.targets, part))
    blocks, border = blocks_for(g.n * WARP_SIZE), np.full(g.n, -1, np.int32)
    return launched(kernel, device, blocks, THREADS, *arrays, border=border)


def _judge_marks(given: tuple):
    g, part = given
    source, target = g.coo
    expected = np.zeros(g.n, np.int32)
    expected[source[part[source] != part[target]]] = 1
    return equal_to("{wrong:,} are wrong", border=expected)


MARK = KernelExercise(
    "beyond-2",
    parts=(mark,),
    imports=WITH_VOTES,
    inputs=Inputs(fixed_cuts, _drawn_cuts),
    case=cases_of(_run_marks, _judge_marks),
    budgets=on(
        WHOLE_STAR,
        lambda: fixed_cuts()[WHOLE_STAR],
        sharing(at_most=2 * LEAVES // WARP_SIZE + 4),
        no_atomics(),
    ),
    writes=("border",),
)


# beyond-line, beyond-lines: the ways on to all parts


def whole(count: int) -> int:
    """Return the rows of whole tiles that hold so many."""
    return -(-count // TILE) * TILE


def ways_to(rng: Draw, *parts: tuple[int, int], high: int = 1) -> tuple:
    """Return rows to all separators, ways on to each part, rows so far, and the parts.

    A part is a pair: its vertices in tiles, and its separators. There are `high` tiles of rows.
    """
    counts = [count for _, count in parts]
    total, side = sum(counts), TILE * max(wide for wide, _ in parts)

    def drawn(rows: int, columns: int, known: int) -> np.ndarray:
        lengths = rng.integers(0, 40, (rows, columns)).astype(np.int32)
        lengths[rng.random(lengths.shape) < 0.3] = ABSENT
        lengths[:, known:] = ABSENT
        return lengths

    to_all = drawn(TILE * high, whole(total) + TILE, total)
    ways = [drawn(side, whole(count), count).T for count in counts]
    blocks = [drawn(TILE * high, side, TILE * wide) for wide, _ in parts]
    return to_all, ways, np.concatenate(blocks), parts


def _run_onward(kernel, device, given: tuple) -> Results:
    to_all, ways, blocks, parts = given
    begins = np.cumsum([0, *(count for _, count in parts)])[:-1]
    deep = np.array([len(rows) for rows in ways])
    shifts, wide = deep.cumsum() - deep - begins, [TILE * wide * (c > 0) for wide, c in parts]
    high, across = len(to_all), blocks.shape[1] // TILE
    return launched(
        kernel, device, (across * len(parts), high // TILE), (TILE, TILE), to_all,
        np.ascontiguousarray(np.concatenate(ways)), table_of(shifts, begins, begins + deep, wide),
        made=blocks, via=np.full((1, 1), -1, np.int32), infinite=ABSENT, high=high, across=across,
    )  # fmt: skip


def gone_on(given: tuple) -> Results:
    """Return the rows after all ways on, a part at a time and without padding."""
    to_all, ways, blocks, parts = given
    begin, high, blocks = 0, len(to_all), blocks.copy()
    for at, (wide, count) in enumerate(parts):
        own = blocks[at * high : (at + 1) * high, : TILE * wide]
        for k in range(count):
            np.minimum(own, to_all[:, begin + k, None] + ways[at][k, : TILE * wide], out=own)
        begin += count
    return {"made": blocks}


def _drawn_ways(rng: Draw) -> dict[str, tuple]:
    parts = zip(rng.integers(1, 3, 3).tolist(), rng.integers(0, 30, 3).tolist(), strict=True)
    return {"three drawn parts": ways_to(rng, *parts)}


def fixed_ways() -> dict[str, tuple]:
    """Return the fixed inputs of beyond-line: ways on to parts."""
    rng = np.random.default_rng(3)
    return {
        "three parts of 1, 3 and 2 tiles": ways_to(rng, (1, 5), (3, 17), (2, 3), high=2),
        "one part": ways_to(rng, (2, 20)),
        "a part without separators": ways_to(rng, (1, 4), (1, 0), (2, 16)),
        "large parts with a separator each": ways_to(rng, (3, 1), (3, 1)),
    }


COMPLETE = completions(
    "beyond",
    "column = uint32(cuda.blockIdx.x) % uint32(across) * uint32(tile)",
    ("if column < table[part, WIDE]:", 6),
    parts=(ways_on(Form(TILE, "1x1")),),
    imports=WITH_TILES,
    inputs=Inputs(fixed_ways, _drawn_ways, lambda given: f"tiles and separators {given[-1]}"),
    case=cases_of(_run_onward, gone_on),
    writes=("made",),
)


def _named_in_map(columns: int) -> dict[str, object]:
    n, half = 4 * columns, columns // 2
    share = Fraction(half + 1, columns)
    about: dict[str, object] = {
        "columns": spelled(columns),
        "n": n,
        "left": ORDINALS[half],
        "right": ORDINALS[half + 1],
        "each": spelled(half + 1),
        "share": f"{spelled(share.numerator)} of {spelled(share.denominator)}",
    }
    for parts, own in ((2, 4), (4, half + 1)):
        size, border = n // parts, parts * own
        sums = parts * size**3, border**3, size * border**2, size * border * n
        about |= {
            f"size_{parts}": size,
            f"border_{parts}": border,
            f"edges_{parts}": size * border,
            f"sums_{parts}": " + ".join(f"{part:,}" for part in sums),
            f"all_{parts}": sum(sums),
        }
        if parts == 2:
            percent = round(100 * sum(sums) / n**3)
            about["part_of_all"] = "half" if columns == 6 else f"{percent}%"
    return about


def count_separators(columns: int = 6) -> dict[str, int]:
    """Cut a map of four rows in two and in four, and mark the separators."""
    g = streets(4, columns)
    row, column = np.divmod(np.arange(4 * columns), columns)
    right = column // (columns // 2)
    cuts = {"2 parts": right, "4 parts": right + 2 * (row // 2)}
    counted = {}
    for name, part in cuts.items():
        border = _run_marks(mark, SimtDevice(trace=True), (g, part))["border"]
        separators = int(border.sum())
        counted[f"separators, {name}"] = separators
        counted[f"boundary matrix in bytes, {name}"] = 4 * separators**2
        size, own = np.bincount(part), np.bincount(part, border).astype(int)
        inside, edges = int((size**3).sum()), int((size * own).sum())
        counted[f"additions, {name}"] = inside + separators**3 + edges * (separators + g.n)
    return counted


PREDICT = PredictionExercise(
    "beyond-1",
    answer={
        "separators, 2 parts": 8,
        "boundary matrix in bytes, 2 parts": 256,
        "additions, 2 parts": 7040,
        "separators, 4 parts": 16,
        "boundary matrix in bytes, 4 parts": 1024,
        "additions, 4 parts": 8800,
    },
    measure=count_separators,
    variants=Variants(lambda rng: {"columns": 2 * int(rng.integers(2, 9))}, _named_in_map),
)

# beyond-3: rows that are joined


@cuda.jit
def join(inside, to_border, onward, place, rows):
    """Join the ways from a part's vertices to all vertices, one thread per element of `rows`."""
    j, i = cuda.grid(2)
    if i < rows.shape[0] and j < rows.shape[1]:
        best = NO_PATH
        if place[j] >= 0:  # added
            best = inside[i, place[j]]  # added
        for a in range(to_border.shape[1]):
            first, second = to_border[i, a], onward[a, j]
            if first != NO_PATH and second != NO_PATH:
                best = min(best, first + second)
        rows[i, j] = best


def closed(matrix: np.ndarray) -> np.ndarray:
    """Return all shortest lengths by squaring until nothing falls."""
    while True:
        lower = np.minimum(matrix, multiplied(matrix, matrix))
        if (lower == matrix).all():
            return lower
        matrix = lower


def ways(g: Graph, part: np.ndarray, of: int = 0) -> dict[str, np.ndarray]:
    """Return the lengths that are joined for one part, and the rows that result."""
    arcs = matrix_of(g)
    within = np.where(part[:, None] == part[None, :], arcs, NO_PATH)
    within, all_pairs = closed(within), closed(arcs)
    members = np.flatnonzero(part == of)
    border = parted(g, part).separators
    place = np.full(g.n, -1, np.int32)
    place[members] = np.arange(members.size)
    return {
        "inside": within[np.ix_(members, members)],
        "to_border": all_pairs[np.ix_(members, border)],
        "onward": within[border],
        "place": place,
        "rows": all_pairs[members],
    }


def fixed_roads() -> dict[str, tuple]:
    """Return the fixed inputs of beyond-3: graphs and the parts of their vertices."""
    rng = np.random.default_rng(9)
    # Corners in a horseshoe: the short way between the ends of one part leads through the other.
    horseshoe = Graph.from_arcs(
        6, [0, 1, 2, 3, 4, 5, 0, 3], [1, 0, 3, 2, 5, 4, 3, 0], [9, 9, 1, 1, 9, 9, 1, 1]
    )
    detour = Graph.from_arcs(4, [0, 1, 0, 3], [1, 2, 3, 2], [9, 9, 1, 1])
    # Vertices 0 to 2 are a part. No path leads from 0 to 1 or from 2 to 0. The path from 0 to 4 is
    # longer by 1 than an int32 holds; the paths from 0 to 5 and to 7 fit.
    lengths = [2**30, 2**30, 2**30 - 2, -5, -7, 2**31 - 2, -5]
    long = Graph.from_arcs(8, [0, 3, 3, 1, 1, 0, 6], [3, 4, 5, 2, 3, 6, 7], lengths)
    streets = road_grid(7, 5, seed=4)
    return {
        "roads of 45 vertices, cut by a ruler": on_the_map(road_grid(9, 5, seed=1), 3, rng),
        "one part, no separators": (
            weighted(road_grid(5, 5, seed=2), rng), np.zeros(25, np.int32),
        ),
        "a star whose hub is a part": (
            weighted(star(9), rng), (star(9).out_degree > 1).astype(np.int32),
        ),
        "a short way that leaves the part": (detour, np.int32([0, 0, 0, 1])),
        "a horseshoe": (horseshoe, np.int32([0, 0, 0, 1, 1, 1])),
        "lengths of 2^30 and more, and negative ones": (
            long, np.int32([0, 0, 0, 1, 1, 1, 1, 1]),
        ),
        "roads with negative lengths, cut by a ruler": (
            weighted(streets, rng, negative=True), on_the_map(streets, 3)[1],
        ),
        "130 vertices, each a part": (weighted(path(130), rng), np.arange(130, dtype=np.int32)),
        "two parts without an edge between them": (
            Graph.from_arcs(4, [0, 2], [1, 3], [5, 6]), np.int32([0, 0, 1, 1]),
        ),
        "one vertex": (path(1), np.zeros(1, np.int32)),
    }  # fmt: skip


def _drawn_roads(rng: Draw) -> dict[str, tuple]:
    plain = erdos_renyi(int(rng.integers(6, 40)), 3, seed=int(rng.integers(2**31)))
    g = weighted(plain, rng, negative=True)
    return {"a drawn graph in three parts": in_parts(g, rng, 3)}


def _run_join(kernel, device, arrays: dict[str, np.ndarray]) -> Results:
    tall, wide = arrays["rows"].shape
    blocks, rows = (blocks_for(wide, 32), blocks_for(tall, 4)), np.full((tall, wide), -7, np.int32)
    given = (arrays[name] for name in ("inside", "to_border", "onward", "place"))
    return launched(kernel, device, blocks, (32, 4), *given, rows=rows)


def _join_case(name: str, given: tuple) -> Case:
    judged = cases_of(
        _run_join, lambda arrays: equal_to("{wrong:,} are wrong", rows=arrays["rows"])
    )
    return judged(name, ways(*given))


def join_budgets(case_of: CaseOf) -> list[Budget]:
    """Return the bound of beyond-3: two elements a separator, the part's own, and the result."""
    given = on_the_map(road_grid(8, 8, seed=3), 2, np.random.default_rng(3))
    separators = parted(*given).separators.size
    return [sharing(at_most=2 * int(separators) + 4)(case_of("64 roads in two parts", given))]


JOIN = KernelExercise(
    "beyond-3",
    parts=(join,),
    imports=IMPORTS,
    inputs=Inputs(fixed_roads, _drawn_roads),
    case=_join_case,
    budgets=join_budgets,
    writes=("rows",),
)

EXERCISES = (*COMPLETE, PREDICT, MARK, JOIN)
