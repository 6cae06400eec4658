"""Exercises of the chapter "Before the first warp"."""

from __future__ import annotations

import numpy as np
from numba import cuda

from gpukernels.device import SimtDevice
from gpukernels.primitives.launch_shape import blocks_for

from ..judge.case import Results, cases_of, launched, unpacked
from ..judge.counters import on, sharing
from ..judge.exercise import KernelExercise, PredictionExercise
from ..judge.inputs import Draw, Inputs, drawn_numbers
from ..judge.variants import Variants, listed, spelled

# start-1: predict indices


@cuda.jit
def note_numbers(place, met):
    """Store each thread's number in the grid by its block and its thread; count the threads."""
    i = cuda.grid(1)
    place[cuda.blockIdx.x, cuda.threadIdx.x] = i
    if i < met.size:
        met[i] += 1


@cuda.jit
def note_cells(place):
    """Store each thread's element of a table of 64 columns by its block and its thread."""
    x, y = cuda.grid(2)
    place[cuda.blockIdx.y, cuda.blockIdx.x, cuda.threadIdx.y, cuda.threadIdx.x] = 64 * y + x


def draw_places(rng: Draw) -> dict[str, int]:
    """Draw a launch whose last block is not full, and threads of it that are not its first."""
    threads = 32 * int(rng.integers(2, 8))
    whole = int(rng.integers(4, 12))
    numbers = whole * threads + int(rng.integers(1, threads))
    block, thread = int(rng.integers(2, whole)), int(rng.integers(1, threads))
    drawn = {"numbers": numbers, "threads": threads, "block": block, "thread": thread}
    return {**drawn, "x": int(rng.integers(2, 16)), "y": int(rng.integers(2, 8))}


def _named_in_places(numbers, threads, block, thread, x, y) -> dict[str, object]:
    blocks = blocks_for(numbers, threads)
    return {
        "fewer": spelled(blocks - 1),
        "held": (blocks - 1) * threads,
        "blocks": blocks,
        "all": blocks * threads,
        "idle": blocks * threads - numbers,
        "before": spelled(block),
        "number": block * threads + thread,
        "column": 16 + x,
        "rows": spelled(y).capitalize(),
        "element": 64 * y + 16 + x,
    }


def number_threads(numbers=1000, threads=128, block=3, thread=5, x=3, y=2) -> dict[str, int]:
    """Count the threads of two launches."""
    device, blocks = SimtDevice(trace=True), blocks_for(numbers, threads)
    place, met = device.full((blocks, threads), -1, np.int32), device.full(numbers, 0, np.int32)
    device.launch(note_numbers, blocks, threads, place, met)
    cells = device.full((2, 4, 8, 16), -1, np.int32)
    device.launch(note_cells, (4, 2), (16, 8), cells)
    placed, cells = device.read(place), device.read(cells)
    return {
        "a": blocks if device.read(met).all() else 0,
        "b": int(np.sum(placed >= numbers)),
        "c": int(placed[block, thread]),
        "d": int(np.sum(cells >= 0)),
        "e": int(cells[0, 1, y, x]),
    }


PLACES = PredictionExercise(
    "start-1",
    answer={"a": 8, "b": 24, "c": 389, "d": 1024, "e": 147},
    measure=number_threads,
    variants=Variants(draw_places, _named_in_places),
)

# start-2: predict atomics


@cuda.jit
def count_up(counter, old):
    """Take a number from a counter."""
    old[cuda.threadIdx.x] = cuda.atomic.add(counter, 0, 1)


@cuda.jit
def find_best(best):
    """Keep the largest of eight values."""
    cuda.atomic.max(best, 0, 5 * cuda.threadIdx.x % 8)


@cuda.jit
def take(owner, old):
    """Put the thread's number there if nobody has done so."""
    i = cuda.threadIdx.x
    old[i] = cuda.atomic.cas(owner, 0, -1, i)


@cuda.jit
def count_below(mask, bit, found):
    """Count the bits of a mask below one of its bits."""
    found[0] = cuda.popc(mask & ((1 << bit) - 1))


@cuda.jit
def add_up(values, levels):
    """Add up numbers by the threads of one block, and count the levels."""
    i, half, level = cuda.threadIdx.x, values.size // 2, 0
    while half > 0:
        if i < half:
            values[i] += values[i + half]
        cuda.syncthreads()
        half //= 2
        level += 1
    levels[i] = level


def draw_operations(rng: Draw) -> dict[str, object]:
    """Draw a mask of which at least two bits count, and a tree for at most 1,024 threads."""
    bits = tuple(sorted(rng.choice(12, rng.integers(4, 7), replace=False).tolist()))
    below = bits[int(rng.integers(2, len(bits)))]
    held, threads = int(rng.integers(5, 60)), 32 * int(rng.integers(1, 9))
    numbers = 2 ** int(rng.integers(7, 12))
    return {"held": held, "threads": threads, "bits": bits, "below": below, "numbers": numbers}


def _named_in_operations(held, threads, bits, below, numbers) -> dict[str, object]:
    return {
        "bits": listed(bits),
        "set": spelled(below),
        "top": below - 1,
        "last": held + threads - 1,
        "lower": spelled(sum(bit < below for bit in bits)),
        "levels": numbers.bit_length() - 1,
    }


def follow_atomics(held=10, threads=64, bits=(3, 4, 7, 9), below=9, numbers=1024) -> dict[str, int]:
    """Follow atomics, bits and a tree through five launches."""
    device = SimtDevice(trace=True)

    def run(kernel, threads, held, size=0):
        given = [device.full(1, held, np.int32)]
        given += [device.full(size, 0, np.int32)] if size else []
        device.launch(kernel, 1, threads, *given)
        return device.read(given[-1])

    mask, counter = np.int32(sum(1 << bit for bit in bits)), device.full(1, 0, np.int32)
    device.launch(count_below, 1, 1, mask, below, counter)
    pairs = numbers // 2
    values, levels = device.full(2 * pairs, 1, np.int32), device.full(pairs, 0, np.int32)
    device.launch(add_up, 1, pairs, values, levels)
    return {
        "a": int(run(count_up, threads, held, threads).max()),
        "b": int(run(find_best, 8, 3)[0]),
        "c": int(np.sum(run(take, 32, -1, 32) == -1)),
        "d": int(device.read(counter)[0]),
        "e": int(device.read(levels).max()),
    }


ATOMICS = PredictionExercise(
    "start-2",
    answer={"a": 73, "b": 7, "c": 1, "d": 3, "e": 10},
    measure=follow_atomics,
    variants=Variants(draw_operations, _named_in_operations),
)

# start-3: a number in the block


@cuda.jit
def negate(values):
    """Change the sign of each number."""
    i = cuda.threadIdx.x
    i = i + cuda.blockIdx.x * cuda.blockDim.x  # added
    if i < values.size:
        values[i] = -values[i]


def _run_negate(kernel, device, values) -> Results:
    values = np.asarray(values, np.int64)
    return launched(kernel, device, max(blocks_for(values.size, 32), 1), 32, values=values)


NEGATE = KernelExercise(
    "start-3",
    parts=(negate,),
    inputs=Inputs(
        lambda: {
            "20 numbers": np.arange(1, 21),  # which fit into one block
            "40 numbers": np.arange(1, 41),
            "no numbers": np.zeros(0, int),
            "32 numbers": np.arange(1, 33, dtype=np.int64) ** 5,
            "75 numbers": np.arange(-37, 38),
            "1,000 large numbers": np.arange(1, 1001, dtype=np.int64) * 2**40,
        },
        drawn_numbers(most=500, low=-1_000_000, high=1_000_000),
    ),
    case=cases_of(_run_negate, lambda values: {"values": -np.asarray(values, np.int64)}),
    budgets=on("300 numbers", lambda: np.arange(300), sharing(at_most=2)),
    writes=("values",),
)

# start-4: a first kernel


@cuda.jit
def add_multiple(a, x, y, out):
    """Store a * x[i] + y[i] in out[i] for each i."""
    n = out.size
    # Your lines go here.
    i = cuda.grid(1)  # added
    if i < n:  # added
        out[i] = a * x[i] + y[i]  # added


def run_multiple(kernel, device, a, x) -> Results:
    """Add with blocks of 64 threads, at least one; y is what stands in :func:`others`."""
    x = np.asarray(x, np.int64)
    out = np.full(x.size, -(2**62), np.int64)
    blocks = max(blocks_for(x.size, 64), 1)
    return launched(kernel, device, blocks, 64, int(a), x, others(x.size), out=out)


def others(n: int) -> np.ndarray:
    """Return `n` numbers that differ from each other and that no float64 holds exactly."""
    return 2**55 + 3 * np.arange(n, dtype=np.int64)


def _drawn_factor(rng: Draw) -> dict[str, tuple]:
    drawn = rng.integers(-1_000_000, 1_000_000, rng.integers(2, 400))
    return {"a drawn factor and drawn numbers": (int(rng.integers(-99, 100)), drawn)}


MULTIPLE = KernelExercise(
    "start-4",
    parts=(add_multiple,),
    # The factor and the numbers.
    inputs=Inputs(
        lambda: {
            "3 numbers, a = 2": (2, np.array([1, 10, 100])),
            "64 numbers, a = -1": (-1, np.arange(64)),
            "75 numbers, a = 3": (3, np.arange(75) ** 2),
            "no numbers": (7, np.zeros(0, int)),
            "one number, a = 0": (0, np.array([-5])),
            "1,000 large numbers, a = 9": (9, np.arange(-500, 500, dtype=np.int64) * 2**40),
        },
        _drawn_factor,
    ),
    case=cases_of(
        unpacked(run_multiple),
        unpacked(lambda a, x: {"out": int(a) * np.asarray(x, np.int64) + others(len(x))}),
    ),
    budgets=on("300 numbers", lambda: (3, np.arange(300)), sharing(at_most=3)),
    writes=("out",),
)

EXERCISES = (PLACES, ATOMICS, NEGATE, MULTIPLE)
