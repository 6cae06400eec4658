"""Exercises of the chapter "Shared memory and races"."""

from __future__ import annotations

import numpy as np
from numba import cuda, int32

from gpukernels.device import SimtDevice
from gpukernels.graphs.generators import erdos_renyi, path, star
from gpukernels.trace import metrics

from ..judge.case import Results, cases_of, launched, unpacked
from ..judge.completing import completions
from ..judge.counters import (
    bank_conflicts,
    bound,
    coalesced,
    no_atomics,
    on,
    requests,
    sharing,
    waiting,
)
from ..judge.exercise import KernelExercise, PredictionExercise
from ..judge.inputs import Draw, Inputs, drawn_numbers
from ..judge.variants import Variants, spelled

IMPORTS = "from numba import cuda, int32"

#: The extremes of int32.
LEAST, MOST = -(2**31), 2**31 - 1
#: Levels of a tree over 128 numbers.
LEVELS = 7

# shared-1: predict passes and waiting lanes


@cuda.jit
def read_word_at(word, out):
    """Read a shared array of 1,280 words wherever `word` sends each lane."""
    tile = cuda.shared.array(1280, int32)
    lane = cuda.threadIdx.x
    for k in range(lane, 1280, 32):
        tile[k] = k
    cuda.syncwarp()
    out[lane] = tile[word[lane]]


@cuda.jit
def count_at(kind, counters):
    """Add 1 to the counter of each lane's kind."""
    cuda.atomic.add(counters, kind[cuda.threadIdx.x], 1)


def read_words(device, word) -> np.ndarray:
    """Return what one warp reads at `word` from a shared array that holds 0, 1, 2, ..."""
    out = device.full(32, -1, np.int32)
    device.launch(read_word_at, 1, 32, device.array(word.astype(np.int32)), out)
    return device.read(out)


def count_lanes(device, kind) -> np.ndarray:
    """Return how many lanes of one warp are of each kind."""
    counters = device.full(32, 0, np.int32)
    device.launch(count_at, 1, 32, device.array(kind.astype(np.int32)), counters)
    return device.read(counters)


def draw_accesses(rng: Draw) -> dict[str, int]:
    """Draw two strides that go around the banks, within the words of the shared array."""
    a, c = rng.choice([34, 36, 40], 2, replace=False).tolist()
    return {"a": a, "c": c, "counters": int(rng.integers(3, 17))}


def _named_in_accesses(a: int, c: int, counters: int) -> dict[str, object]:
    about: dict[str, object] = {"kinds": spelled(counters), "waiting": 32 - counters}
    for name, apart in (("a", a), ("c", c)):
        bank = apart % 32
        about |= {f"bank_{name}": bank, f"times_{name}": spelled(bank)}
        about[f"lanes_{name}"] = spelled(32 // bank).capitalize()
    return about


def count_passes(a: int = 40, c: int = 36, counters: int = 5) -> dict[str, int]:
    """Count the passes of three requests to shared memory, and lanes that wait at an atomic."""
    lane = np.arange(32)
    counted = {}
    for name, word in {"a": a * lane, "b": lane // 2, "c": c * lane}.items():
        device = SimtDevice(trace=True)
        read_words(device, word)
        counted[name] = int(metrics.bank_conflicts(device.trace.select(array="tile"))[-1]) + 1
    device = SimtDevice(trace=True)
    count_lanes(device, lane % counters)
    counted["d"] = int(metrics.atomic_conflicts(device.trace).sum())
    return counted


PREDICT = PredictionExercise(
    "shared-1",
    answer={"a": 8, "b": 1, "c": 4, "d": 27},
    measure=count_passes,
    variants=Variants(draw_accesses, _named_in_accesses),
)

# shared-line and shared-lines: the plain tree of a sum


@cuda.jit
def a_tree_in_shared(values, total):
    """Add up the 128 numbers of each block in shared memory, then the blocks by an atomic."""
    tile = cuda.shared.array(128, int32)
    i = cuda.threadIdx.x
    tile[i] = values[cuda.grid(1)]
    apart = 1
    while apart < 128:
        cuda.syncthreads()
        if i % (2 * apart) == 0:
            tile[i] += tile[i + apart]
        apart *= 2
    if i == 0:
        cuda.atomic.add(total, 0, tile[0])


def _run_tree(kernel, device, values) -> Results:
    values, blocks = values.astype(np.int32), values.size // 128
    return launched(kernel, device, blocks, 128, values, total=np.zeros(1, np.int64))


def added(values: np.ndarray) -> Results:
    """Return the sum of the values, by NumPy alone."""
    return {"total": values.sum(dtype=np.int64, keepdims=True)}


def whole_blocks() -> dict[str, np.ndarray]:
    """Return the fixed inputs of the plain tree."""
    draw = np.random.default_rng(2)
    return {
        "128 numbers": draw.integers(-100, 100, 128),
        "384 numbers, all alike": np.full(384, -(2**24)),
        "640 numbers in order": np.arange(640),
    }


COMPLETE = completions(
    "shared",
    "cuda.syncthreads()",
    ("while apart < 128:", 5),
    parts=(a_tree_in_shared,),
    imports=IMPORTS,
    inputs=Inputs(
        whole_blocks,
        lambda rng: {"drawn numbers": rng.integers(-(2**20), 2**20, 128 * rng.integers(1, 6))},
    ),
    case=cases_of(_run_tree, added),
    writes=("total",),
)

# shared-2: the tree of a sum


@cuda.jit
def block_sum(values, total):
    """Add up at most 128 numbers with one block of 128 threads."""
    tile = cuda.shared.array(128, int32)
    i = cuda.threadIdx.x
    tile[i] = 0
    if i < values.size:
        tile[i] = values[i]
    cuda.syncthreads()
    # Your lines go here.
    apart = 64  # added
    while apart > 0:  # added
        if i < apart:  # added
            tile[i] += tile[i + apart]  # added
        cuda.syncthreads()  # added
        apart //= 2  # added
    if i == 0:
        total[0] = tile[0]


def to_add() -> dict[str, np.ndarray]:
    """Return the fixed inputs of shared-2; the first is full."""
    draw = np.random.default_rng(0)
    skewed = np.zeros(128, int)
    skewed[97] = 1_000_000
    extremes = np.zeros(33, int)
    extremes[[0, 32]] = LEAST, MOST
    return {
        "128 numbers": draw.integers(0, 100, 128),
        "no numbers": np.zeros(0, int),
        "75 numbers": draw.integers(-50, 50, 75),
        "one number": np.array([7]),
        "one large number among zeros": skewed,
        "33 numbers, of them the least and the largest": extremes,
        "127 numbers, all alike": np.full(127, -(2**24)),
    }


WAKE = KernelExercise(
    "shared-2",
    parts=(block_sum,),
    imports=IMPORTS,
    inputs=Inputs(to_add, drawn_numbers(most=128, low=-1_000, high=1_000_000)),
    case=cases_of(
        lambda kernel, device, values: launched(
            kernel, device, 1, 128, values.astype(np.int32), total=np.full(1, -1, np.int64)
        ),
        added,
    ),
    # Four warps, and two loads and a store at each level.
    budgets=on(
        "128 numbers",
        lambda: to_add()["128 numbers"],
        bound("warp steps", metrics.warp_steps, at_most=160),
        bound("divergent branches", metrics.divergent_branches, at_most=6),
        bound("barriers of all warps", metrics.barriers, at_most=4 * (1 + LEVELS)),
        no_atomics(),
        sharing(at_most=5 + 3 * LEVELS),
    ),
    writes=("total",),
)

# shared-3: a race


@cuda.jit
def rotate(values, rounds):
    """Move the values `rounds` places to the left, one place per round."""
    tile = cuda.shared.array(128, int32)
    i = cuda.threadIdx.x
    tile[i] = values[i]
    cuda.syncthreads()
    for _ in range(rounds):
        mine = tile[(i + 1) % values.size]
        cuda.syncthreads()  # added
        tile[i] = mine
        cuda.syncthreads()
    values[i] = tile[i]


def _run_rotate(kernel, device, n, rounds) -> Results:
    return launched(kernel, device, 1, int(n), values=numbers(n), rounds=int(rounds))


#: Rows and columns of the fixed inputs of shared-4.
SHAPES = ((32, 32), (0, 5), (40, 33), (1, 90), (64, 64), (1, 1), (65, 1), (31, 64), (3, 300))


def numbers(n: int) -> np.ndarray:
    """Return `n` int32 numbers, the first the least that there is and the last the largest.

    The others are odd, differ from each other, and are spread over all of int32, so that a float32
    holds hardly any of them.
    """
    values = (np.arange(1, 2 * n, 2, dtype=np.uint32) * np.uint32(0x9E3779B1)).view(np.int32)
    values[:1], values[1:][-1:] = LEAST, MOST
    return values


def to_rotate() -> dict[str, tuple]:
    """Return the fixed inputs of shared-3: numbers and rounds."""
    shapes = ((64, 3), (64, 0), (50, 7), (2, 5), (128, 40), (1, 2), (32, 2), (33, 33), (127, 2))
    return {
        f"{n} number{'s' if n > 1 else ''}, {rounds} rounds": (n, rounds) for n, rounds in shapes
    }


ROTATE = KernelExercise(
    "shared-3",
    parts=(rotate,),
    imports=IMPORTS,
    inputs=Inputs(
        to_rotate, lambda rng: {"drawn numbers and rounds": rng.integers([2, 0], [129, 40])}
    ),
    case=cases_of(
        unpacked(_run_rotate), unpacked(lambda n, rounds: {"values": np.roll(numbers(n), -rounds)})
    ),
    budgets=on("128 numbers, 3 rounds", lambda: (128, 3), sharing(at_most=16)),
    writes=("values",),
)

# shared-4: a tile


@cuda.jit
def transpose(a, out):
    """Store the transpose of `a` in `out`, one tile of 32 x 32 per block."""
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, column = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    # Your lines go here.
    tile = cuda.shared.array((32, 33), int32)  # added
    if row + y < a.shape[0] and column + x < a.shape[1]:  # added
        tile[y, x] = a[row + y, column + x]  # added
    cuda.syncthreads()  # added
    if row + x < a.shape[0] and column + y < a.shape[1]:  # added
        out[column + y, row + x] = tile[x, y]  # added


def run_transpose(kernel, device, rows, columns) -> Results:
    """Transpose a matrix of :func:`numbers`, a block of 32 x 32 threads per tile."""
    a = numbers(rows * columns).reshape(rows, columns)
    blocks = max(-(-int(columns) // 32), 1), max(-(-int(rows) // 32), 1)
    return launched(kernel, device, blocks, (32, 32), a, out=np.full((columns, rows), -1, np.int32))


TRANSPOSE = KernelExercise(
    "shared-4",
    parts=(transpose,),
    imports=IMPORTS,
    inputs=Inputs(
        lambda: {f"a {rows} × {columns} matrix": (rows, columns) for rows, columns in SHAPES},
        lambda rng: {"a matrix of drawn sides": rng.integers(1, 70, 2)},
    ),
    case=cases_of(
        unpacked(run_transpose),
        unpacked(lambda rows, columns: {"out": numbers(rows * columns).reshape(rows, columns).T}),
    ),
    budgets=on(
        "a 64 × 64 matrix",
        lambda: (64, 64),
        coalesced(at_most=4),
        bank_conflicts(),
        sharing(at_most=6),
    ),
    writes=("out",),
)

# shared-5: a histogram


@cuda.jit
def histogram(degree, count):
    """Count the vertices of each degree."""
    u = cuda.grid(1)
    i = cuda.threadIdx.x
    # Your lines go here.
    part = cuda.shared.array(32, int32)  # added
    if i < 32:  # added
        part[i] = 0  # added
    cuda.syncthreads()  # added
    if u < degree.size:  # added
        cuda.atomic.add(part, degree[u], 1)  # added
    cuda.syncthreads()  # added
    if i < 32:  # added
        cuda.atomic.add(count, i, part[i])  # added


def _run_histogram(kernel, device, degree) -> Results:
    degree, blocks = degree.astype(np.int32), max(-(-degree.size // 128), 1)
    return launched(kernel, device, blocks, 128, degree, count=np.zeros(32, np.int32))


def _fixed_degrees() -> dict[str, np.ndarray]:
    return {
        "a path of 300 vertices": path(300).out_degree,
        "no vertices": path(0).out_degree,
        "a star of 30 vertices": star(30).out_degree,
        "a star of 32 vertices": star(32).out_degree,
        "33 vertices without arcs": np.zeros(33, np.int32),
        "1,153 vertices of degree 31": np.full(1153, 31, np.int32),
        "one vertex of degree 1": np.ones(1, np.int32),
        "five vertices of each degree from 0 to 31": np.arange(160, dtype=np.int32) % 32,
        COUNTED: erdos_renyi(1024, 8).out_degree,
    }


#: The input on which shared-5 is counted.
COUNTED = "a random graph of 1,024 vertices"


HISTOGRAM = KernelExercise(
    "shared-5",
    parts=(histogram,),
    imports=IMPORTS,
    inputs=Inputs(
        _fixed_degrees, lambda rng: {"drawn degrees": rng.integers(0, 32, rng.integers(1, 500))}
    ),
    case=cases_of(_run_histogram, lambda degree: {"count": np.bincount(degree, minlength=32)}),
    budgets=on(
        COUNTED,
        lambda: _fixed_degrees()[COUNTED],
        waiting("lanes that wait at an atomic on `count`", array="count"),
        requests(at_most=8, array="count"),
        sharing(at_most=10),
    ),
    writes=("count",),
)

EXERCISES = (*COMPLETE, PREDICT, WAKE, ROTATE, TRANSPOSE, HISTOGRAM)
