"""Exercises of the chapter "Storing a graph"."""

from __future__ import annotations

import numpy as np
from numba import cuda

from gpukernels.device import SimtDevice
from gpukernels.graphs.generators import erdos_renyi, path, rmat, star
from gpukernels.graphs.graph import Graph
from gpukernels.primitives import THREADS, blocks_for, warp_sum
from gpukernels.representations import adjacency_matrix
from gpukernels.trace import metrics

from ..judge.case import Budget, CaseOf, Results, cases_of, launched, unpacked
from ..judge.completing import completions
from ..judge.counters import bound, coalesced, no_atomics, on, sharing
from ..judge.exercise import KernelExercise, PredictionExercise
from ..judge.inputs import Draw, Inputs, graphs_from_0
from .simt import neighbor_sums

WITH_WARP_SUM = "from numba import cuda\n\nfrom gpukernels.primitives import warp_sum"


def web() -> Graph:
    """Return the chapter's R-MAT graph: 1,024 vertices, sorted rows, no arc twice."""
    return rmat(10, edge_factor=8, seed=1, parallel="min", self_loops="remove")


def small_web() -> Graph:
    """Return a smaller graph of the same kind: 64 vertices."""
    return rmat(6, edge_factor=4, seed=1, parallel="min", self_loops="remove")


def no_arcs(n: int) -> Graph:
    """Return `n` vertices without an arc."""
    return Graph(np.zeros(n + 1, np.int32), np.zeros(0, np.int32))


def stars(*degrees: int) -> Graph:
    """Return a graph whose vertices have so many arcs each, to vertices 0, 1, 2, ..."""
    targets = np.concatenate([np.arange(degree) for degree in degrees])
    return Graph(np.concatenate([[0], np.cumsum(degrees)]), targets)


def numbers(g: Graph) -> np.ndarray:
    """Return a number for each vertex of `g`, int32, among them the least and the largest."""
    values = np.arange(g.n, dtype=np.int32)
    values[:2] = (2**31 - 1, -(2**31))[: g.n]
    return values


# representations-1: predict the sectors of narrow cells


def count_sectors() -> dict[str, int]:
    """Count the largest request to a matrix of one byte per cell, for both mappings."""
    n, pitch = 1001, 1024
    cells = np.zeros((n, pitch), np.int8)
    cells[:, :n] = erdos_renyi(n, 8, seed=1).to_scipy().toarray() != 0
    launches = {
        "a warp per row": (adjacency_matrix.matrix_row_sum, 32 * n),
        "a thread per row": (adjacency_matrix.matrix_row_sum_by_thread, n),
    }
    counted = {}
    for mapping, (kernel, threads) in launches.items():
        device = SimtDevice(trace=True)
        arguments = cells.ravel(), pitch, np.int8(0), np.zeros(n, np.int64)
        device.launch(kernel, blocks_for(threads), THREADS, *arguments)
        counted[mapping] = int(metrics.sectors(device.trace.select(array="matrix")).max())
    return counted


PREDICT = PredictionExercise(
    "representations-1",
    answer={"a warp per row": 1, "a thread per row": 32},
    measure=count_sectors,
)

# representations-2: one warp for each row of CSR

#: Draws the graphs of representations-2 and -3.
DRAWN = graphs_from_0(most=100).draw


@cuda.jit
def warp_neighbor_sum(offsets, targets, values, sums):
    """Sum `values` over the neighbors of each vertex, one warp per row."""
    u = cuda.grid(1) // 32
    lane = cuda.laneid
    if u < sums.size:
        total = 0
        # Your lines go here.
        for i in range(offsets[u] + lane, offsets[u + 1], 32):  # added
            total += values[targets[i]]  # added
        total = warp_sum(total)
        if lane == 0:
            sums[u] = total


def run_by_warp(kernel, device, g: Graph) -> Results:
    """Launch a warp for each vertex of `g`."""
    blocks, sums = max(blocks_for(32 * g.n), 1), np.full(g.n, -1, np.int64)
    return launched(kernel, device, blocks, THREADS, g.offsets, g.targets, numbers(g), sums=sums)


def _fixed_rows() -> dict[str, Graph]:
    return {
        "an R-MAT graph of 64 vertices": small_web(),
        "no vertices": no_arcs(0),
        "33 vertices without arcs": no_arcs(33),
        "a path of 45 vertices": path(45),
        "a star of 600 vertices": star(600),
        "one vertex with an arc to itself": stars(1),
        "degrees 0, 1, 31, 32, 33, 63 and 64": stars(0, 1, 31, 32, 33, 63, 64, *[0] * 57),
    }


def sums_of(g: Graph) -> Results:
    """Return the sums of representations-2 and -3."""
    return neighbor_sums(g, numbers(g))


WARP_ROW = KernelExercise(
    "representations-2",
    parts=(warp_neighbor_sum,),
    imports=WITH_WARP_SUM,
    inputs=Inputs(_fixed_rows, DRAWN),
    case=cases_of(run_by_warp, sums_of),
    budgets=on(
        "the R-MAT graph of the chapter",
        web,
        coalesced(at_most=2, array="targets"),
        no_atomics(),
        sharing(at_most=24),
    ),
    writes=("sums",),
)

# representations-line and representations-lines: one warp for each row of a matrix

#: The value of a cell without an arc.
ABSENT = 2**31 - 1


def cells_of(g: Graph) -> np.ndarray:
    """Return the matrix of `g`, with three columns behind the last vertex that are no cells."""
    cells = np.full((g.n, g.n + 3), ABSENT, np.int32)
    source, target = g.coo
    cells[source, target] = (5 * source + 7 * target) % 64 - 32
    cells[:, g.n :] = 1
    return cells


def matrices() -> dict[str, Graph]:
    """Return those inputs of representations-2 whose matrices are small."""
    return {name: g for name, g in _fixed_rows().items() if g.n < 100}


def run_matrix(kernel, device, g: Graph) -> Results:
    """Sum the rows of the matrix of `g`, with a warp for each."""
    cells, blocks = cells_of(g), max(blocks_for(32 * g.n), 1)
    given, sums = (cells.ravel(), cells.shape[1], ABSENT), np.full(g.n, -1, np.int64)
    return launched(kernel, device, blocks, THREADS, *given, sums=sums)


def row_sums(g: Graph) -> Results:
    """Return the sums of the rows of the matrix of `g`, by NumPy alone."""
    cells = cells_of(g)[:, : g.n]
    return {"sums": np.where(cells == ABSENT, 0, cells).sum(axis=1)}


COMPLETE = completions(
    "representations",
    "weight = matrix[u * pitch + v]",
    ("for v in range(lane, sums.size, WARP_SIZE):", 5),
    parts=(adjacency_matrix.matrix_row_sum,),
    imports="from numba import cuda\n\nfrom gpukernels.primitives import WARP_SIZE, warp_sum",
    inputs=Inputs(matrices, DRAWN),
    case=cases_of(run_matrix, row_sums),
    budgets=on("an R-MAT graph of 64 vertices", small_web, coalesced(at_most=5, array="matrix")),
    writes=("sums",),
)

# representations-3: runs of arcs, with a bug


@cuda.jit
def hasty_neighbor_sum(source, target, values, sums):
    """Sum the values of the targets of each run of arcs, one thread per run."""
    i = cuda.grid(1)
    if i < source.size:
        u = source[i]
        if i > 0 and source[i - 1] == u:  # added
            return  # added
        total = 0
        while i < source.size and source[i] == u:
            total += values[target[i]]
            i += 1
        sums[u] = total


def run_by_arc(kernel, device, g: Graph) -> Results:
    """Launch a thread for each arc of `g`, sorted by source."""
    blocks, sums = max(blocks_for(g.m), 1), np.zeros(g.n, np.int64)
    return launched(kernel, device, blocks, THREADS, *g.coo, numbers(g), sums=sums)


def _fixed_runs() -> dict[str, Graph]:
    return {
        "a directed path of 64 vertices": path(64, directed=True),
        "no arcs": no_arcs(5),
        "an R-MAT graph of 64 vertices": small_web(),
        "a path of 40 vertices": path(40),
        "a star of 100 vertices": star(100),
        "one arc": stars(1),
        "runs of 31, 0, 33, 1 and 32 arcs": stars(31, 0, 33, 1, 32, *[0] * 28),
        "129 arcs of the last vertex": stars(*[0] * 128, 129),
    }


HASTY = KernelExercise(
    "representations-3",
    parts=(hasty_neighbor_sum,),
    inputs=Inputs(_fixed_runs, DRAWN),
    case=cases_of(run_by_arc, sums_of),
    budgets=on("a path of 300 vertices", lambda: path(300), no_atomics(), sharing(at_most=20)),
    writes=("sums",),
)

# representations-4: binary search in a list


@cuda.jit
def csr_search(offsets, targets, source, target, found):
    """Say for each query whether its arc exists, by halving the list of its source."""
    i = cuda.grid(1)
    if i < found.size:
        u, v = source[i], target[i]
        first, last = offsets[u], offsets[u + 1]
        # Your lines go here.
        while first < last:  # added
            middle = (first + last) // 2  # added
            if targets[middle] < v:  # added
                first = middle + 1  # added
            else:  # added
                last = middle  # added
        found[i] = first < offsets[u + 1] and targets[first] == v


def run_queries(kernel, device, g, source, target) -> Results:
    """Ask for each pair whether `g` has that arc, a thread a query."""
    arrays = g.offsets, g.targets, source.astype(np.int32), target.astype(np.int32)
    blocks, has_arc = max(blocks_for(source.size), 1), np.zeros(source.size, np.bool_)
    return launched(kernel, device, blocks, THREADS, *arrays, found=has_arc)


def answers(g: Graph, source: np.ndarray, target: np.ndarray) -> Results:
    """Return what `run_queries` should, by sets of Python."""
    arcs = set(zip(*(ends.tolist() for ends in g.coo), strict=True))
    queries = zip(source.tolist(), target.tolist(), strict=True)
    return {"found": np.array([query in arcs for query in queries], bool)}


def some_arcs(g: Graph, arcs: int, pairs: int) -> tuple:
    """Return a graph, and queries for some of its arcs and for random pairs."""
    draw = np.random.default_rng(1)
    some = draw.integers(g.m, size=arcs) if g.m else np.zeros(0, int)
    random = draw.integers(max(g.n, 1), size=(2, pairs))
    return g, *np.concatenate([np.stack(g.coo)[:, some], random], axis=1)


def every_pair(g: Graph) -> tuple:
    """Return a graph, and a query for every pair of its vertices."""
    return g, *np.divmod(np.arange(g.n * g.n), g.n)


def _fixed_queries() -> dict[str, tuple]:
    steps = stars(0, 34, 1, 0, 33, *[2] * 27, 31, 0)
    return {
        "100 queries to an R-MAT graph of 64 vertices": some_arcs(small_web(), 50, 50),
        "no queries": some_arcs(small_web(), 0, 0),
        "40 queries to 9 vertices without arcs": some_arcs(no_arcs(9), 0, 40),
        "70 queries to a star of 1,100 vertices": some_arcs(star(1100), 40, 30),
        "all arcs asked for, in a path of 45 vertices": some_arcs(path(45), 90, 0),
        "every pair of 34 vertices of degree 0, 1, 2, 31, 33 and 34": every_pair(steps),
        "every pair of 3 vertices without arcs": every_pair(no_arcs(3)),
        "one vertex with an arc to itself": every_pair(stars(1)),
    }


def query_budgets(case_of: CaseOf) -> list[Budget]:
    """Return the bound of representations-4: a target a turn, and one more."""
    g = web()
    turns = int(np.log2(g.out_degree.max())) + 1
    return on(
        "256 queries to the R-MAT graph of the chapter",
        lambda: some_arcs(g, 128, 128),
        bound(
            "targets that a thread looks at",
            lambda trace: int(metrics.work_per_thread(trace, "targets").max()),
            at_most=turns + 1,
        ),
    )(case_of)


def _drawn_queries(rng: Draw) -> dict[str, tuple]:
    g = rmat(6, edge_factor=4, seed=int(rng.integers(2**31)), parallel="min", self_loops="remove")
    arcs = np.stack(g.coo)[:, rng.integers(g.m, size=30)]
    queries = np.concatenate([arcs, rng.integers(g.n, size=(2, 30))], axis=1)
    return {"60 drawn queries to a drawn R-MAT graph": (g, *queries)}


SEARCH = KernelExercise(
    "representations-4",
    parts=(csr_search,),
    inputs=Inputs(_fixed_queries, _drawn_queries),
    case=cases_of(unpacked(run_queries), unpacked(answers)),
    budgets=query_budgets,
    writes=("found",),
)

EXERCISES = (*COMPLETE, PREDICT, WARP_ROW, HASTY, SEARCH)
