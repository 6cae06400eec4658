"""Exercises of the chapter "How a GPU runs threads"."""

from __future__ import annotations

import numpy as np
from numba import cuda

from gpukernels.device import SimtDevice
from gpukernels.graphs.generators import path, rmat, star
from gpukernels.graphs.graph import Graph
from gpukernels.representations.csr import csr_neighbor_sum
from gpukernels.trace import metrics

from ..judge.case import Results, cases_of, launched, one_each
from ..judge.completing import completions
from ..judge.counters import bound, on, requests, sharing
from ..judge.exercise import KernelExercise, PredictionExercise
from ..judge.inputs import Inputs, drawn_numbers, graphs_from_0
from ..judge.variants import Variants, spelled

# simt-1: predict the sectors


@cuda.jit
def read_at(index, values, out):
    """Read `values` wherever `index` sends each thread."""
    i = cuda.grid(1)
    out[i] = values[index[i]]


def read_through(device, index, dtype) -> np.ndarray:
    """Return what one warp reads at `index` from an array of 1,024 numbers."""
    values, out = device.array(np.arange(1024, dtype=dtype)), device.full(32, 0, dtype)
    device.launch(read_at, 1, 32, device.array(index.astype(np.int32)), values, out)
    return device.read(out)


def _named_in_patterns(apart: int, sharing: int) -> dict[str, object]:
    last = 31 // sharing
    return {
        "last": 31 * apart,
        "span": 31 * apart // 8 + 1,
        "elements": spelled(last + 1),
        "sectors": "two sectors" if last >= 8 else "one sector",
    }


def count_sectors(apart: int = 3, sharing: int = 2) -> dict[str, int]:
    """Count the sectors of the four requests of simt-1."""
    lane = np.arange(32)
    patterns = {
        "a": (apart * lane, np.int32),
        "b": (31 - lane, np.int32),
        "c": (lane // sharing, np.int32),
        "d": (lane, np.int64),
    }
    counted = {}
    for name, (index, dtype) in patterns.items():
        device = SimtDevice(trace=True)
        read_through(device, index, dtype)
        counted[name] = int(metrics.sectors(device.trace.select(array="values"))[0])
    return counted


PREDICT = PredictionExercise(
    "simt-1",
    answer={"a": 12, "b": 4, "c": 2, "d": 8},
    measure=count_sectors,
    variants=Variants(  # no pattern skips a sector
        lambda rng: {"apart": int(rng.integers(2, 9)), "sharing": int(rng.integers(2, 10))},
        _named_in_patterns,
    ),
)

# simt-2: runs of four


@cuda.jit
def square_runs(values, out):
    """Square the values; each thread takes four in a row."""
    first = 4 * cuda.grid(1)
    last = first + 4
    last = min(last, values.size)  # added
    for i in range(first, last):
        out[i] = values[i] * values[i]


def to_square() -> dict[str, np.ndarray]:
    """Return the fixed inputs of simt-2; the first fills its threads."""
    draw = np.random.default_rng(3)
    return {
        "128 numbers": draw.integers(-100, 100, 128),
        "75 numbers": draw.integers(-100, 100, 75),
        "no numbers": np.zeros(0, int),
        "one number": np.array([7]),
        "3 large numbers": np.array([50_000, -(2**31), 2**31 - 1]),
        "300 numbers in order": np.arange(300),
        "129 numbers": np.arange(129),
        "126 numbers": np.arange(126),
        "1,500 numbers": draw.integers(-100, 100, 1_500),
    }


RUNS = KernelExercise(
    "simt-2",
    parts=(square_runs,),
    inputs=Inputs(to_square, drawn_numbers(most=500, low=-1_000_000, high=1_000_000)),
    case=cases_of(
        one_each(32, each=4, out=np.int64),
        lambda values: {"out": np.asarray(values, np.int64) ** 2},
    ),
    budgets=on("400 numbers", lambda: np.arange(400), sharing(at_most=12)),
    writes=("out",),
)

# simt-3: equals side by side


@cuda.jit
def ordered_neighbor_sum(offsets, targets, values, order, sums):
    """Sum `values` over the neighbors of each vertex; `order` lists the vertices by degree."""
    i = cuda.grid(1)
    # Your lines go here.
    if i < order.size:  # added
        u = order[i]  # added
        total = 0  # added
        for k in range(offsets[u], offsets[u + 1]):  # added
            total += values[targets[k]]  # added
        sums[u] = total  # added


def some_values(g: Graph) -> np.ndarray:
    """Return a number for each vertex, most of them more than float32 holds exactly."""
    return np.random.default_rng(5).integers(-(2**26), 2**26, g.n).astype(np.int32)


def run_sums(kernel, device, g: Graph, *order: np.ndarray) -> Results:
    """Sum over the neighbors of all vertices of `g`, with blocks of 128 threads, at least one."""
    arrays, sums = (g.offsets, g.targets, some_values(g), *order), np.full(g.n, -1, np.int64)
    return launched(kernel, device, max(-(-g.n // 128), 1), 128, *arrays, sums=sums)


def run_ordered(kernel, device, g: Graph) -> Results:
    """Do what `run_sums` does with a kernel that also takes the vertices in order of degree."""
    order = np.argsort(-g.out_degree, kind="stable").astype(np.int32)
    return run_sums(kernel, device, g, order)


def neighbor_sums(g: Graph, values: np.ndarray) -> Results:
    """Return the sum of each vertex's neighbors' `values`, by NumPy alone."""
    sums = np.zeros(g.n, np.int64)
    source, target = g.coo
    np.add.at(sums, source, values[target].astype(np.int64))
    return {"sums": sums}


def _fixed_graphs() -> dict[str, Graph]:
    return {
        "a path of 300 vertices": path(300),
        "no vertices": path(0),
        "a star of 40 vertices": star(40),
        "33 vertices without arcs": Graph.from_arcs(33, [], []),
        "one vertex with two self-loops": Graph.from_arcs(1, [0, 0], [0, 0]),
        "an R-MAT graph of 256 vertices": rmat(8, edge_factor=4, seed=2),
    }


GRAPHS = Inputs(_fixed_graphs, graphs_from_0(most=100).draw)


ORDERED = KernelExercise(
    "simt-3",
    parts=(ordered_neighbor_sum,),
    inputs=GRAPHS,
    case=cases_of(run_ordered, lambda g: neighbor_sums(g, some_values(g))),
    budgets=on(
        "an R-MAT graph of 1,024 vertices",
        lambda: rmat(10, edge_factor=8, seed=1),
        bound("warp steps", metrics.warp_steps, at_most=1500),
        requests(at_most=700, array="targets"),
    ),
    writes=("sums",),
)

# simt-line and simt-lines

COMPLETE = completions(
    "simt",
    "sums[u] = total",
    ("if u < sums.size:", 5),
    parts=(csr_neighbor_sum,),
    inputs=GRAPHS,
    case=cases_of(run_sums, lambda g: neighbor_sums(g, some_values(g))),
    writes=("sums",),
)

EXERCISES = (*COMPLETE, PREDICT, RUNS, ORDERED)
