"""Exercises of the chapter "Floyd-Warshall, tile by tile"."""

from __future__ import annotations

import numpy as np
from numba import cuda, int32
from numpy.typing import NDArray

from gpukernels.all_pairs import apsp
from gpukernels.all_pairs.naive import relax_pivot
from gpukernels.device import SimtDevice
from gpukernels.graphs.generators import star
from gpukernels.graphs.graph import Graph
from gpukernels.primitives import blocks_for
from gpukernels.trace import LOAD, metrics
from gpukernels.trace.costs import SECTOR_BYTES

from ..judge.case import Results, cases_of, launched
from ..judge.completing import completions
from ..judge.counters import bank_conflicts, bound, coalesced, on, sharing
from ..judge.exercise import KernelExercise, PredictionExercise
from ..judge.inputs import Draw, Inputs

#: Stands where no path leads; twice it fits an int32.
NO_PATH = 2**30 - 1
#: How wide the way from a vertex to itself is.
WIDEST = 2**31 - 1
#: A length that a float32 does not hold; the sum of 15 of them is less than NO_PATH.
LONG = 60_000_001
#: Rows and columns of a tile that 16 x 16 threads close.
SIDE = 16
#: Rows and columns of a tile that 8 x 8 threads multiply.
TILE, PADDED = 32, (32, 33)

WITH_A_SIDE = f"from numba import cuda, int32\n\nSIDE, NO_PATH = {SIDE}, {NO_PATH}"
WITH_A_TILE = f"from numba import cuda, int32\n\nTILE, PADDED = {TILE}, {PADDED}"


def closed(lengths: NDArray) -> NDArray:
    """Return the shortest paths of a matrix of arc lengths."""
    distance = lengths.copy()
    for k in range(len(distance)):
        distance = np.minimum(distance, distance[:, k, None] + distance[k])
    return distance


def matrix(n: int, source, target, weight) -> NDArray[np.int32]:
    """Return arc lengths as a matrix."""
    lengths = np.full((n, n), NO_PATH, np.int32)
    lengths[source, target] = weight
    np.fill_diagonal(lengths, 0)
    return lengths


def random_lengths(n: int, density: float, most: int, rng: Draw) -> NDArray[np.int32]:
    """Return arcs between so many of all pairs, at most `most` long."""
    lengths = rng.integers(0, most + 1, (n, n)).astype(np.int32)
    lengths[rng.random((n, n)) >= density] = NO_PATH
    np.fill_diagonal(lengths, 0)
    return lengths


def _matrices(most: int) -> Inputs:
    """Return matrices of at most `most` rows."""
    rng = np.random.default_rng(4)
    shuffled, back = rng.permutation(most), np.arange(most - 1, 0, -1)
    few = random_lengths(most - 1, 0.1, 1, rng)
    dense = random_lengths(most, 0.9, 1_000, rng)
    shuffled_arcs = np.divmod(rng.permutation(121)[:45], 11)

    def draw(rng: Draw) -> dict[str, NDArray]:
        n, sparse = int(rng.integers(2, most + 1)), float(rng.uniform(0.05, 0.3))
        return {"a drawn matrix": random_lengths(n, sparse, int(rng.integers(1, 1_000)), rng)}

    return Inputs(
        lambda: {
            f"a path of {most} vertices": matrix(most, shuffled[:-1], shuffled[1:], back),
            "no vertices": np.zeros((0, 0), np.int32),
            "one vertex": np.zeros((1, 1), np.int32),
            f"a path of {most} vertices, back to front": matrix(most, back, back - 1, 1),
            f"a star of {most} vertices": matrix(most, *star(most).coo, 3),
            f"{most} vertices without arcs": matrix(most, [], [], 0),
            f"arcs between most of {most} vertices": dense,
            "11 vertices and 45 arcs": matrix(11, *shuffled_arcs, 7),
            f"few arcs, 0 or {LONG:,} long": np.where(few == 1, LONG, few),
        },
        draw,
    )


MATRICES = _matrices(45)
#: For one launch of many blocks that wait for each other, which takes the machine longer.
SMALL = _matrices(14)

# floyd-1: predict launches and bytes

#: Name, method and tile of the searches that floyd-1 asks about.
ASKED = {"naive": ("naive", None), "tiles of 16": ("blocked", 16), "tiles of 32": ("blocked", 32)}


def count_bytes() -> dict[str, int]:
    """Count what searches of 64 vertices launch, and what they load of the matrix."""
    g, counted = Graph.from_arcs(64, [], []), {}
    for name, (method, tile) in ASKED.items():
        device = SimtDevice(trace=True)
        options = {"tile": tile} if tile else {}
        counted[f"{name}, launches"] = apsp(g, method, device, **options).stats["launches"]
        trace = device.trace.select(array=["distance"])
        what = "bytes loaded"
        if tile:
            trace, what = trace.select(kernel="remaining_tiles"), "bytes loaded by third launches"
        counted[f"{name}, {what}"] = SECTOR_BYTES * int(metrics.sectors(trace, (LOAD,)).sum())
    return counted


PREDICT = PredictionExercise(
    "floyd-1",
    answer={
        "naive, launches": 64,
        "naive, bytes loaded": 2_621_440,
        "tiles of 16, launches": 12,
        "tiles of 16, bytes loaded by third launches": 110_592,
        "tiles of 32, launches": 6,
        "tiles of 32, bytes loaded by third launches": 24_576,
    },
    measure=count_bytes,
)

# floyd-line, floyd-lines: a pivot in one launch


def _run_naive(kernel, device, lengths: NDArray) -> Results:
    n = len(lengths)
    blocks = blocks_for(n, 16), blocks_for(n, 4)
    for size in (1, n):
        distance = device.array(lengths.astype(np.int32))
        via = device.full((size, size), -1, np.int32)
        for k in range(n):
            device.launch(kernel, blocks, (16, 4), distance, via, k)
    return {"distance": device.read(distance), "via": device.read(via)}


def through_pivots(lengths: NDArray) -> Results:
    """Return the distances, and the pivot that lowered each one last."""
    distance, via = lengths.copy(), np.full(lengths.shape, -1, np.int32)
    for k in range(len(lengths)):
        if distance[k, k] >= 0:
            length = distance[:, k, None] + distance[k]
            via[length < distance] = k
            distance = np.minimum(distance, length)
    return {"distance": distance, "via": via}


def downhill() -> NDArray[np.int32]:
    """Return arcs of 0 and -1 between 14 vertices, with cycles of negative length."""
    lengths = random_lengths(14, 0.2, 1, np.random.default_rng(1))
    return np.where(lengths == 1, -1, lengths)


COMPLETE = completions(
    "floyd",
    "length = distance[i, k] + distance[k, j]",
    ("if i < distance.shape[0] and j < distance.shape[1] and distance[k, k] >= 0:", 6),
    parts=(relax_pivot,),
    inputs=Inputs(
        lambda: SMALL.fixed() | {"14 vertices with a negative cycle": downhill()}, SMALL.draw
    ),
    case=cases_of(_run_naive, through_pivots),
    writes=("distance", "via"),
)

# floyd-2: close a tile


@cuda.jit
def close_tiles(distance):
    """Find the shortest paths inside each diagonal tile: one block of SIDE x SIDE threads each."""
    tile = cuda.shared.array((SIDE, SIDE), int32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    first = cuda.blockIdx.x * SIDE
    # Your lines go here.
    i, j = first + y, first + x  # added
    inside = i < distance.shape[0] and j < distance.shape[0]  # added
    tile[y, x] = NO_PATH  # added
    if inside:  # added
        tile[y, x] = distance[i, j]  # added
    cuda.syncthreads()  # added
    for k in range(SIDE):  # added
        length = tile[y, k] + tile[k, x]  # added
        if length < tile[y, x]:  # added
            tile[y, x] = length  # added
        cuda.syncthreads()  # added
    if inside:  # added
        distance[i, j] = tile[y, x]  # added


def _run_closing(kernel, device, lengths: NDArray) -> Results:
    blocks, distance = blocks_for(len(lengths), SIDE), lengths.astype(np.int32)
    return launched(kernel, device, blocks, (SIDE, SIDE), distance=distance)


def closed_tiles(lengths: NDArray) -> Results:
    """Return the shortest paths inside each diagonal tile."""
    expected = lengths.copy()
    for first in range(0, len(lengths), SIDE):
        inside = slice(first, first + SIDE)
        expected[inside, inside] = closed(lengths[inside, inside])
    return {"distance": expected}


CLOSE = KernelExercise(
    "floyd-2",
    parts=(close_tiles,),
    imports=WITH_A_SIDE,
    inputs=MATRICES,
    case=cases_of(_run_closing, closed_tiles),
    # An element is loaded and stored once; there are at most 5 requests per step. Rows of 17
    # elements cost 612 bank conflicts, a tile with rows and columns exchanged more than 8,000.
    budgets=on(
        "64 vertices",
        lambda: random_lengths(64, 0.5, 1_000, np.random.default_rng(2)),
        sharing(at_most=2, array="distance"),
        sharing(at_most=5 * SIDE),
        coalesced(at_most=4),
        bank_conflicts(at_most=1_000),
    ),
    writes=("distance",),
)

# floyd-3: all pivots in one launch


@cuda.jit
def relax_all_pivots(distance):
    """Let paths go through each vertex in turn, all in one launch."""
    j, i = cuda.grid(2)
    n = distance.shape[0]
    grid = cuda.cg.this_grid()  # added
    for k in range(n):
        if i < n and j < n:
            length = distance[i, k] + distance[k, j]
            if length < distance[i, j]:
                distance[i, j] = length
        grid.sync()  # added


def run_pivots(kernel, device, lengths: NDArray) -> Results:
    """Launch once, one thread per pair, in blocks of 16 x 4."""
    n, distance = len(lengths), lengths.astype(np.int32)
    blocks = blocks_for(n, 16), blocks_for(n, 4)
    return launched(kernel, device, blocks, (16, 4), distance=distance, cooperative=True)


PIVOTS = KernelExercise(
    "floyd-3",
    parts=(relax_all_pivots,),
    inputs=SMALL,
    case=cases_of(run_pivots, lambda lengths: {"distance": closed(lengths)}),
    # Three loads and a store per pivot, by rows of 16 threads.
    budgets=on(
        "32 vertices",
        lambda: random_lengths(32, 0.5, 1_000, np.random.default_rng(3)),
        sharing(at_most=4 * 32),
        coalesced(at_most=3),
    ),
    writes=("distance",),
)

# floyd-4: widest paths, from registers


@cuda.jit
def widen_tiles(width, pivot):
    """Let paths lead through the pivot tile: 8 x 8 threads per tile outside its row and column."""
    left = cuda.shared.array(PADDED, int32)
    right = cuda.shared.array((TILE, TILE), int32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    if cuda.blockIdx.y != pivot and cuda.blockIdx.x != pivot:
        row, column, first = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE, pivot * TILE
        for e in range(8 * y + x, TILE * TILE, 64):
            left[e // TILE, e % TILE] = width[row + e // TILE, first + e % TILE]
            right[e // TILE, e % TILE] = width[first + e // TILE, column + e % TILE]
        cuda.syncthreads()
        # Your lines go here.
        best = cuda.local.array((4, 4), int32)  # added
        beside = cuda.local.array(4, int32)  # added
        for r in range(4):  # added
            for c in range(4):  # added
                best[r, c] = width[row + y + 8 * r, column + x + 8 * c]  # added
        for k in range(TILE):  # added
            for c in range(4):  # added
                beside[c] = right[k, x + 8 * c]  # added
            for r in range(4):  # added
                before = left[y + 8 * r, k]  # added
                for c in range(4):  # added
                    best[r, c] = max(best[r, c], min(before, beside[c]))  # added
        for r in range(4):  # added
            for c in range(4):  # added
                width[row + y + 8 * r, column + x + 8 * c] = best[r, c]  # added


def _run_widening(kernel, device, given: tuple) -> Results:
    widths, pivot = given
    blocks, width = (len(widths) // TILE,) * 2, widths.astype(np.int32)
    return launched(kernel, device, blocks, (8, 8), width=width, pivot=np.int32(pivot))


def widened(given: tuple) -> Results:
    """Return the widths of all paths through the pivot tile, but in its rows and columns."""
    widths, pivot = given
    inside = np.arange(len(widths)) // TILE == pivot
    through = np.minimum(widths[:, inside, None], widths[None, inside])
    expected = np.maximum(widths, through.max(axis=1))
    expected[inside], expected[:, inside] = widths[inside], widths[:, inside]
    return {"width": expected}


def pipes(n: int, source, target, width) -> NDArray[np.int32]:
    """Return arc widths as a matrix, with vertices without arcs added to whole tiles."""
    widths = np.zeros((-(-n // TILE) * TILE,) * 2, np.int32)
    widths[source, target] = width
    np.fill_diagonal(widths, WIDEST)
    return widths


def random_pipes(n: int, density: float, rng: Draw, most: int = 1_000) -> NDArray[np.int32]:
    """Return arcs between so many of all pairs, at most `most` wide."""
    source, target = np.nonzero(rng.random((n, n)) < density)
    return pipes(n, source, target, rng.integers(1, most + 1, source.size))


def fixed_pipes() -> dict[str, tuple]:
    """Return the fixed inputs of floyd-4: a matrix and the number of a tile."""
    rng = np.random.default_rng(7)
    return {
        "64 vertices, the second tile": (random_pipes(64, 0.4, rng), 1),
        "67 vertices, padded to 96": (random_pipes(67, 0.3, rng), 1),
        "a star of 45 vertices, padded to 64": (pipes(45, *star(45).coo, 3), 0),
        "one tile, so no others": (random_pipes(32, 0.4, rng), 0),
        "64 vertices without arcs": (pipes(64, [], [], 0), 0),
        "very wide arcs": (random_pipes(64, 0.2, rng, WIDEST - 1), 0),
    }


def _drawn_pipes(rng: Draw) -> dict[str, tuple]:
    widths = random_pipes(64, float(rng.uniform(0.1, 0.6)), rng)
    return {"64 vertices and drawn arcs": (widths, int(rng.integers(2)))}


WIDEN = KernelExercise(
    "floyd-4",
    parts=(widen_tiles,),
    imports=WITH_A_TILE,
    inputs=Inputs(fixed_pipes, _drawn_pipes),
    case=cases_of(_run_widening, widened),
    # On one tile that is multiplied. A warp fills 32 rows of shared memory, and a thread loads 4 +
    # 4 elements in each of 32 steps; of global memory, 32 requests fill, 16 load and 16 store.
    budgets=on(
        "64 vertices",
        lambda: fixed_pipes()["64 vertices, the second tile"],
        bound(
            "shared requests", lambda trace: metrics.requests(trace, "shared"), 2 * (32 + 8 * 32)
        ),
        bank_conflicts(),
        coalesced(at_most=4),
        sharing(at_most=64, array="width"),
    ),
    writes=("width",),
)

EXERCISES = (*COMPLETE, PREDICT, CLOSE, PIVOTS, WIDEN)
