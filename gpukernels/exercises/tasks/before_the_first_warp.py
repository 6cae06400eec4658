"""Exercises of the chapter "Before the first warp"."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import cuda

from gpukernels.device import SimtDevice
from gpukernels.primitives.launch_shape import blocks_for

from ..judge.case import Results, cases_of, launched, unpacked
from ..judge.counters import sharing
from ..judge.exercise import KernelExercise, PredictionExercise
from ..judge.inputs import Draw, Inputs, drawn_numbers
from ..judge.variants import Variants, listed, spelled
from ..judge.words import words

IMPORTS = "from numba import cuda"

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


class Places(NamedTuple):
    """The numbers of start-1: of a launch in rows, of a thread in it, and of one in a table."""

    numbers: int = 1000
    threads: int = 128
    block: int = 3
    thread: int = 5
    x: int = 3
    y: int = 2

    @property
    def blocks(self) -> int:
        """The blocks that the numbers need."""
        return blocks_for(self.numbers, self.threads)


def draw_places(rng: Draw) -> Places:
    """Draw a launch whose last block is not full, and threads of it that are not its first."""
    threads = 32 * int(rng.integers(2, 8))
    whole = int(rng.integers(4, 12))
    numbers = whole * threads + int(rng.integers(1, threads))
    block, thread = int(rng.integers(2, whole)), int(rng.integers(1, threads))
    x, y = int(rng.integers(2, 16)), int(rng.integers(2, 8))
    return Places(numbers, threads, block, thread, x, y)


def named_in_places(given: Places) -> dict[str, object]:
    """Return the numbers in the words of start-1, by name."""
    numbers, threads, block, thread, x, y = given
    return {
        **given._asdict(),
        "fewer": spelled(given.blocks - 1),
        "held": (given.blocks - 1) * threads,
        "blocks": given.blocks,
        "all": given.blocks * threads,
        "idle": given.blocks * threads - numbers,
        "before": spelled(block),
        "number": block * threads + thread,
        "column": 16 + x,
        "rows": spelled(y).capitalize(),
        "element": 64 * y + 16 + x,
    }


def count_threads(device, given: Places) -> dict[str, int]:
    """Return what start-1 asks for, as two launches store it."""
    size, threads, blocks = given.numbers, given.threads, given.blocks
    place, met = device.full((blocks, threads), -1, np.int32), device.full(size, 0, np.int32)
    device.launch(note_numbers, blocks, threads, place, met)
    cells = device.full((2, 4, 8, 16), -1, np.int32)
    device.launch(note_cells, (4, 2), (16, 8), cells)
    numbers, cells = device.read(place), device.read(cells)
    return {
        "a": blocks if device.read(met).all() else 0,
        "b": int(np.sum(numbers >= size)),
        "c": int(numbers[given.block, given.thread]),
        "d": int(np.sum(cells >= 0)),
        "e": int(cells[0, 1, given.y, given.x]),
    }


def number_threads(given: Places) -> dict[str, int]:
    """Count the threads of two launches."""
    return count_threads(SimtDevice(trace=True), given)


PLACES = PredictionExercise(
    words("start-1"),
    answer={"a": 8, "b": 24, "c": 389, "d": 1024, "e": 147},
    measure=number_threads,
    variants=Variants(Places(), draw_places, named_in_places),
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


class Operations(NamedTuple):
    """The numbers of start-2: of a counter, of a mask whose bits below one count, and of a tree."""

    held: int = 10
    threads: int = 64
    bits: tuple[int, ...] = (3, 4, 7, 9)
    below: int = 9
    numbers: int = 1024


def draw_operations(rng: Draw) -> Operations:
    """Draw a mask of which at least two bits count, and a tree for at most 1,024 threads."""
    bits = tuple(sorted(rng.choice(12, rng.integers(4, 7), replace=False).tolist()))
    below = bits[int(rng.integers(2, len(bits)))]
    held, threads = int(rng.integers(5, 60)), 32 * int(rng.integers(1, 9))
    return Operations(held, threads, bits, below, 2 ** int(rng.integers(7, 12)))


def named_in_operations(given: Operations) -> dict[str, object]:
    """Return the numbers in the words of start-2, by name."""
    return {
        **given._asdict(),
        "bits": listed(given.bits),
        "set": spelled(given.below),
        "top": given.below - 1,
        "last": given.held + given.threads - 1,
        "lower": spelled(sum(bit < given.below for bit in given.bits)),
        "levels": given.numbers.bit_length() - 1,
    }


def count_atomics(device, given: Operations) -> dict[str, int]:
    """Return what start-2 asks for, as five launches store it."""

    def run(kernel, threads, held, size=0):
        given = [device.full(1, held, np.int32)]
        given += [device.full(size, 0, np.int32)] if size else []
        device.launch(kernel, 1, threads, *given)
        return device.read(given[-1])

    mask = np.int32(sum(1 << bit for bit in given.bits))
    counter = device.full(1, 0, np.int32)
    device.launch(count_below, 1, 1, mask, given.below, counter)
    pairs = given.numbers // 2
    numbers, levels = device.full(2 * pairs, 1, np.int32), device.full(pairs, 0, np.int32)
    device.launch(add_up, 1, pairs, numbers, levels)
    return {
        "a": int(run(count_up, given.threads, given.held, given.threads).max()),
        "b": int(run(find_best, 8, 3)[0]),
        "c": int(np.sum(run(take, 32, -1, 32) == -1)),
        "d": int(device.read(counter)[0]),
        "e": int(device.read(levels).max()),
    }


def follow_atomics(given: Operations) -> dict[str, int]:
    """Follow atomics, bits and a tree through five launches."""
    return count_atomics(SimtDevice(trace=True), given)


ATOMICS = PredictionExercise(
    words("start-2"),
    answer={"a": 73, "b": 7, "c": 1, "d": 3, "e": 10},
    measure=follow_atomics,
    variants=Variants(Operations(), draw_operations, named_in_operations),
)

# start-3: a number in the block


@cuda.jit
def negate(values):
    """Change the sign of each number."""
    i = cuda.threadIdx.x
    i = i + cuda.blockIdx.x * cuda.blockDim.x  # added
    if i < values.size:
        values[i] = -values[i]


def run_negate(kernel, device, values) -> Results:
    """Change signs with blocks of 32 threads, at least one."""
    values = np.asarray(values, np.int64)
    return launched(kernel, device, max(blocks_for(values.size, 32), 1), 32, values=values)


def to_negate() -> dict[str, np.ndarray]:
    """Return the fixed inputs of start-3; the first fits into one block."""
    return {
        "20 numbers": np.arange(1, 21),
        "40 numbers": np.arange(1, 41),
        "no numbers": np.zeros(0, int),
        "32 numbers": np.arange(1, 33, dtype=np.int64) ** 5,
        "75 numbers": np.arange(-37, 38),
        "1,000 large numbers": np.arange(1, 1001, dtype=np.int64) * 2**40,
    }


NEGATE = KernelExercise(
    words("start-3"),
    parts=(negate,),
    imports=IMPORTS,
    inputs=Inputs(to_negate, drawn_numbers(most=500, low=-1_000_000, high=1_000_000)),
    case=cases_of(run_negate, lambda values: {"values": -np.asarray(values, np.int64)}),
    budgets=lambda case_of: [sharing(case_of("300 numbers", np.arange(300)), at_most=2)],
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


def to_add() -> dict[str, tuple]:
    """Return the fixed inputs of start-4: the factor and the numbers."""
    return {
        "3 numbers, a = 2": (2, np.array([1, 10, 100])),
        "64 numbers, a = -1": (-1, np.arange(64)),
        "75 numbers, a = 3": (3, np.arange(75) ** 2),
        "no numbers": (7, np.zeros(0, int)),
        "one number, a = 0": (0, np.array([-5])),
        "1,000 large numbers, a = 9": (9, np.arange(-500, 500, dtype=np.int64) * 2**40),
    }


def draw_factor(rng) -> dict[str, tuple]:
    """Return a drawn factor and drawn numbers."""
    drawn = rng.integers(-1_000_000, 1_000_000, rng.integers(2, 400))
    return {"a drawn factor and drawn numbers": (int(rng.integers(-99, 100)), drawn)}


MULTIPLE = KernelExercise(
    words("start-4"),
    parts=(add_multiple,),
    imports=IMPORTS,
    inputs=Inputs(to_add, draw_factor),
    case=cases_of(
        unpacked(run_multiple),
        unpacked(lambda a, x: {"out": int(a) * np.asarray(x, np.int64) + others(len(x))}),
    ),
    budgets=lambda case_of: [sharing(case_of("300 numbers", (3, np.arange(300))), at_most=3)],
    writes=("out",),
)

EXERCISES = (PLACES, ATOMICS, NEGATE, MULTIPLE)
