"""Exercises of the chapter "Shared memory and races"."""

from __future__ import annotations

import numpy as np
from numba import cuda, int32

from gpukernels.device import SimtDevice
from gpukernels.graphs.generators import erdos_renyi, path, star
from gpukernels.trace import metrics

from ..judge.case import Budget, Case, equal_to
from ..judge.counters import bank_conflicts, coalesced, no_atomics, sharing
from ..judge.exercise import KernelExercise, PredictionExercise
from ..judge.words import words

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


def count_passes() -> dict[str, int]:
    """Count the passes of three requests to shared memory, and lanes that wait at an atomic."""
    lane = np.arange(32)
    counted = {}
    for name, word in {"a": 40 * lane, "b": lane // 2, "c": 36 * lane}.items():
        device = SimtDevice(trace=True)
        read_words(device, word)
        counted[name] = int(metrics.bank_conflicts(device.trace.select(array="tile"))[-1]) + 1
    device = SimtDevice(trace=True)
    count_lanes(device, lane % 5)
    counted["d"] = int(metrics.atomic_conflicts(device.trace).sum())
    return counted


PREDICT = PredictionExercise(
    words("shared-1"),
    answer={"a": 8, "b": 1, "c": 4, "d": 27},
    measure=count_passes,
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


def run_block_sum(kernel, device, values) -> dict[str, np.ndarray]:
    """Add up at most 128 numbers with one block of 128 threads."""
    total = device.full(1, -1, np.int64)
    device.launch(kernel, 1, 128, device.array(values.astype(np.int32)), total)
    return {"total": device.read(total)}


def block_sum_cases() -> list[Case]:
    """Return the hidden inputs of shared-2; the first is full."""
    draw = np.random.default_rng(0)
    skewed = np.zeros(128, int)
    skewed[97] = 1_000_000
    extremes = np.zeros(33, int)
    extremes[[0, 32]] = LEAST, MOST
    inputs = {
        "128 numbers": draw.integers(0, 100, 128),
        "no numbers": np.zeros(0, int),
        "75 numbers": draw.integers(-50, 50, 75),
        "one number": np.array([7]),
        "one large number among zeros": skewed,
        "33 numbers, of them the least and the largest": extremes,
        "127 numbers, all alike": np.full(127, -(2**24)),
    }
    return [
        Case(
            name,
            lambda kernel, device, values=values: run_block_sum(kernel, device, values),
            equal_to(total=np.array([values.sum()])),
        )
        for name, values in inputs.items()
    ]


def block_sum_budgets() -> list[Budget]:
    """Return the bounds of shared-2: four warps, and two loads and a store at each level."""
    full = block_sum_cases()[0]
    return [
        Budget("warp steps", full, metrics.warp_steps, at_most=160),
        Budget("divergent branches", full, metrics.divergent_branches, at_most=6),
        Budget("barriers of all warps", full, metrics.barriers, at_most=4 * (1 + LEVELS)),
        no_atomics(full),
        sharing(full, at_most=5 + 3 * LEVELS),
    ]


WAKE = KernelExercise(
    words("shared-2"),
    parts=(block_sum,),
    imports=IMPORTS,
    cases=block_sum_cases,
    budgets=block_sum_budgets,
    writes=("total",),
)

# shared-3: a race


@cuda.jit
def rotate(values, rounds):
    """Move the values `rounds` places to the left, one place a round."""
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


def run_rotate(kernel, device, n, rounds) -> dict[str, np.ndarray]:
    """Rotate :func:`numbers` with a block of `n` threads."""
    values = device.array(numbers(n))
    device.launch(kernel, 1, n, values, rounds)
    return {"values": device.read(values)}


def numbers(n: int) -> np.ndarray:
    """Return `n` int32 numbers, the first the least that there is and the last the largest.

    The others are odd, differ from each other, and are spread over all of int32, so that a float32
    holds hardly any of them.
    """
    values = (np.arange(1, 2 * n, 2, dtype=np.uint32) * np.uint32(0x9E3779B1)).view(np.int32)
    values[:1], values[1:][-1:] = LEAST, MOST
    return values


def _rotate_case(n: int, rounds: int) -> Case:
    return Case(
        f"{n} number{'s' if n > 1 else ''}, {rounds} rounds",
        lambda kernel, device: run_rotate(kernel, device, n, rounds),
        equal_to(values=np.roll(numbers(n), -rounds)),
    )


def rotate_cases() -> list[Case]:
    """Return the hidden inputs of shared-3."""
    shapes = ((64, 3), (64, 0), (50, 7), (2, 5), (128, 40), (1, 2), (32, 2), (33, 33), (127, 2))
    return [_rotate_case(*shape) for shape in shapes]


def rotate_budgets() -> list[Budget]:
    """Return the bound of shared-3."""
    return [sharing(_rotate_case(128, 3), at_most=16)]


ROTATE = KernelExercise(
    words("shared-3"),
    parts=(rotate,),
    imports=IMPORTS,
    cases=rotate_cases,
    budgets=rotate_budgets,
    writes=("values",),
)

# shared-4: a tile


@cuda.jit
def transpose(a, out):
    """Store the transpose of `a` in `out`, a tile of 32 x 32 a block."""
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, column = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    # Your lines go here.
    tile = cuda.shared.array((32, 33), int32)  # added
    if row + y < a.shape[0] and column + x < a.shape[1]:  # added
        tile[y, x] = a[row + y, column + x]  # added
    cuda.syncthreads()  # added
    if row + x < a.shape[0] and column + y < a.shape[1]:  # added
        out[column + y, row + x] = tile[x, y]  # added


def run_transpose(kernel, device, rows, columns) -> dict[str, np.ndarray]:
    """Transpose a matrix of :func:`numbers`, a block of 32 x 32 threads per tile."""
    a = device.array(numbers(rows * columns).reshape(rows, columns))
    out = device.full((columns, rows), -1, np.int32)
    blocks = max(-(-columns // 32), 1), max(-(-rows // 32), 1)
    device.launch(kernel, blocks, (32, 32), a, out)
    return {"out": device.read(out)}


def _transpose_case(rows: int, columns: int) -> Case:
    return Case(
        f"a {rows} × {columns} matrix",
        lambda kernel, device: run_transpose(kernel, device, rows, columns),
        equal_to(out=numbers(rows * columns).reshape(rows, columns).T),
    )


def transpose_cases() -> list[Case]:
    """Return the hidden inputs of shared-4."""
    shapes = ((32, 32), (0, 5), (40, 33), (1, 90), (64, 64), (1, 1), (65, 1), (31, 64), (3, 300))
    return [_transpose_case(*shape) for shape in shapes]


def transpose_budgets() -> list[Budget]:
    """Return the bounds of shared-4."""
    case = _transpose_case(64, 64)
    return [
        coalesced(case, at_most=4),
        bank_conflicts(case),
        sharing(case, at_most=6),
    ]


TRANSPOSE = KernelExercise(
    words("shared-4"),
    parts=(transpose,),
    imports=IMPORTS,
    cases=transpose_cases,
    budgets=transpose_budgets,
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


def run_histogram(kernel, device, degree) -> dict[str, np.ndarray]:
    """Count degrees below 32 with blocks of 128 threads, at least one."""
    count = device.full(32, 0, np.int32)
    blocks = max(-(-degree.size // 128), 1)
    device.launch(kernel, blocks, 128, device.array(degree), count)
    return {"count": device.read(count)}


def histogram_cases() -> list[Case]:
    """Return the hidden inputs of shared-5; the last is the one that is counted."""
    degrees = {
        "a path of 300 vertices": path(300).out_degree,
        "no vertices": path(0).out_degree,
        "a star of 30 vertices": star(30).out_degree,
        "a star of 32 vertices": star(32).out_degree,
        "33 vertices without arcs": np.zeros(33, np.int32),
        "1,153 vertices of degree 31": np.full(1153, 31, np.int32),
        "one vertex of degree 1": np.ones(1, np.int32),
        "five vertices of each degree from 0 to 31": np.arange(160, dtype=np.int32) % 32,
        "a random graph of 1,024 vertices": erdos_renyi(1024, 8).out_degree,
    }
    return [
        Case(
            name,
            lambda kernel, device, degree=degree: run_histogram(kernel, device, degree),
            equal_to(count=np.bincount(degree, minlength=32)),
        )
        for name, degree in degrees.items()
    ]


def histogram_budgets() -> list[Budget]:
    """Return the bounds of shared-5."""
    case = histogram_cases()[-1]
    return [
        Budget(
            "lanes that wait at an atomic on `count`",
            case,
            lambda trace: int(metrics.atomic_conflicts(trace.select(array="count")).sum()),
            at_most=0,
        ),
        Budget(
            "requests to `count`",
            case,
            lambda trace: metrics.requests(trace.select(array="count")),
            at_most=8,
        ),
        sharing(case, at_most=10),
    ]


HISTOGRAM = KernelExercise(
    words("shared-5"),
    parts=(histogram,),
    imports=IMPORTS,
    cases=histogram_cases,
    budgets=histogram_budgets,
    writes=("count",),
)

EXERCISES = (PREDICT, WAKE, ROTATE, TRANSPOSE, HISTOGRAM)
