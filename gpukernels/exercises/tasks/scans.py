"""Exercises of the chapter "Where does my output begin?"."""

from __future__ import annotations

import numpy as np
from numba import cuda, int32

from gpukernels.device import SimtDevice
from gpukernels.primitives import (
    block_exclusive_scan,
    blocks_for,
    device_scan,
    find_owners,
    shared_scan,
)
from gpukernels.primitives.warp_scan import scan_warps_inclusive, warp_inclusive_scan
from gpukernels.trace import metrics

from ..judge.case import Results, cases_of, launched, one_each
from ..judge.completing import completions
from ..judge.counters import bound, on, sharing
from ..judge.exercise import KernelExercise, PredictionExercise
from ..judge.inputs import Draw, Inputs, drawn_numbers
from ..judge.variants import Variants, spelled

WITH_BLOCK_SCAN = (
    "from numba import cuda, int32\n\nfrom gpukernels.primitives import block_exclusive_scan"
)

WITH_MASK = "from numba import cuda, int32\n\nFULL_MASK, WARP_SIZE = 0xFFFFFFFF, 32"

#: Threads a block, in all kernels of this chapter's exercises.
THREADS = 64


def inputs() -> dict[str, np.ndarray]:
    """Return the hidden numbers, by name."""
    draw = np.random.default_rng(11)
    skewed = np.ones(75, int)
    skewed[40] = 1_000_000
    largest = np.zeros(129, int)
    largest[0] = 2**31 - 1
    # Sums that float32 would round.
    odd = np.arange(300) % 3
    odd[:2] = 2**24 + 1, 2**25
    return {
        "300 numbers": draw.integers(0, 20, 300),
        "no numbers": np.zeros(0, int),
        "75 numbers, one of them large": skewed,
        "64 numbers": draw.integers(0, 20, 64),
        ODD: 2 * draw.integers(0, 9, 1000) + (draw.random(1000) < 0.9),
        "129 zeros": np.zeros(129, int),
        "one number": np.array([6]),
        "300 numbers, the first two beyond 2^24": odd,
        "1,500 numbers": draw.integers(0, 2_000, 1_500),
        "the largest number of all, then 128 zeros": largest,
        "257 times the largest and the least in turn": np.where(
            np.arange(257) % 2, -(2**31), 2**31 - 1
        ),
    }


#: The input on which budgets are counted.
ODD = "1,000 numbers, most of them odd"
NUMBERS = Inputs(inputs, drawn_numbers(most=500, low=0, high=1_000))


def exclusive(values) -> np.ndarray:
    """Return the sum of all values before each."""
    return np.cumsum(values) - values


def in_runs(scan, values: np.ndarray, length: int) -> np.ndarray:
    """Return the scan of each `length` values on their own."""
    parts = [scan(values[k : k + length]) for k in range(0, values.size, length)]
    return np.concatenate([np.zeros(0, int), *parts])


# scans-1: predict passes, barriers, reads and launches


def draw_lengths(rng: Draw) -> dict[str, int]:
    """Draw items that are no power of two, and values of at least two tiles and at most 16."""
    levels = int(rng.integers(6, 13))
    items = int(rng.integers(2 ** (levels - 1) + 1, 2**levels))
    return {"items": items, "values": 500 * int(rng.integers(5, 33))}


def _named_in_lengths(items: int, values: int) -> dict[str, object]:
    tiles = spelled(blocks_for(values, 1024))
    return {"plain": str(items), "reads": items.bit_length(), "tiles": tiles}


def count_scans(items: int = 1000, values: int = 10_000) -> dict[str, int]:
    """Count what the scans and a search of this chapter do on small inputs."""
    counted = {}
    for name, padding in (("plain", False), ("padded", True)):
        device = SimtDevice(trace=True)
        shared_scan(np.ones(64, int), padding=padding, threads=32, device=device)
        counted[f"extra passes, {name}"] = int(metrics.bank_conflicts(device.trace).sum())
    counted["barriers"] = metrics.barriers(device.trace)
    device = SimtDevice(trace=True)
    offsets, unit = np.arange(items + 1), items // 2
    find_owners(offsets, [unit], "one_sided", threads=32, device=device)
    counted["reads"] = metrics.requests(device.trace.select(array="offsets"))
    device = SimtDevice(trace=True)
    device_scan(np.ones(values, int), threads=128, device=device)
    counted["launches"] = len(device.trace.launches)
    return counted


PREDICT = PredictionExercise(
    "scans-1",
    answer={
        "extra passes, plain": 40,
        "extra passes, padded": 0,
        "barriers": 15,
        "reads": 10,
        "launches": 4,
    },
    measure=count_scans,
    variants=Variants(draw_lengths, _named_in_lengths),
)

# scans-2: a pass of a radix sort, in a warp


@cuda.jit
def split_warps(values, out):
    """Put the even ones of each warp's 32 values first, then the odd ones, all in their order."""
    i = cuda.grid(1)
    first = i - cuda.laneid
    even = i < values.size and values[i] % 2 == 0
    # Your lines go here.
    votes = cuda.ballot_sync(0xFFFFFFFF, even)  # added
    place = cuda.popc(votes & cuda.lanemask_lt())  # added
    if not even:  # added
        place = cuda.popc(votes) + cuda.laneid - place  # added
    if i < values.size:  # added
        out[first + place] = values[i]  # added


def split(values: np.ndarray) -> Results:
    """Return each 32 of `values` with the even ones first, by NumPy alone."""
    warp = np.arange(values.size) // 32
    return {"out": values[np.lexsort((values % 2, warp))]}


SPLIT = KernelExercise(
    "scans-2",
    parts=(split_warps,),
    inputs=Inputs(
        lambda: {
            **inputs(),
            "32 odd numbers, then 32 even ones": 2 * np.arange(64) + 1 - np.arange(64) // 32,
            "33 odd numbers": 2 * np.arange(33) - 31,
        },
        drawn_numbers(most=500, low=-(2**31), high=2**31 - 1),
    ),
    case=cases_of(one_each(THREADS, out=np.int32), split),
    budgets=on(
        ODD,
        lambda: inputs()[ODD],
        bound("warp steps", metrics.warp_steps, at_most=400),
        sharing(at_most=4),
    ),
    writes=("out",),
)

# scans-line and scans-lines: the scan of a warp


COMPLETE = completions(
    "scans",
    "below = cuda.shfl_up_sync(FULL_MASK, value, step)",
    ("while step < WARP_SIZE:", 5),
    parts=(warp_inclusive_scan, scan_warps_inclusive),
    imports=WITH_MASK,
    inputs=NUMBERS,
    case=cases_of(
        one_each(THREADS, scanned=np.int32),
        lambda values: {"scanned": in_runs(np.cumsum, values, 32)},
    ),
    writes=("scanned",),
)

# scans-3: the bug of prefixscan2


@cuda.jit
def complete_scan(scanned, block_totals):
    """Add to the scan of every block what all the blocks before it hold."""
    i = cuda.grid(1)
    if i < scanned.size and cuda.blockIdx.x > 0:
        before = block_totals[cuda.blockIdx.x - 1]
        for block in range(cuda.blockIdx.x - 1):  # added
            before += block_totals[block]  # added
        scanned[i] += before


def run_complete(kernel, device, values) -> Results:
    """Complete the scan of `values`, of which each 64 have been scanned on their own."""
    values = np.asarray(values, np.int32)
    blocks = max(blocks_for(values.size, THREADS), 1)
    padded = np.zeros(blocks * THREADS, np.int32)
    padded[: values.size] = values
    runs = padded.reshape(blocks, THREADS)
    scanned = (np.cumsum(runs, axis=1) - runs).ravel()[: values.size].astype(np.int32)
    totals = runs.sum(axis=1).astype(np.int32)
    arrays = launched(kernel, device, blocks, THREADS, scanned=scanned, block_totals=totals)
    return {"scanned": arrays["scanned"]}


BLOCKS = KernelExercise(
    "scans-3",
    parts=(complete_scan,),
    inputs=NUMBERS,
    case=cases_of(run_complete, lambda values: {"scanned": exclusive(values)}),
    budgets=on(ODD, lambda: inputs()[ODD], sharing(at_most=20)),
    writes=("scanned",),
)

# scans-4: several values a thread


@cuda.jit
def scan_four(values, scanned):
    """Scan each block's 4 x blockDim.x values, four neighbors per thread, with one block scan."""
    warp_totals = cuda.shared.array(32, int32)
    first = 4 * cuda.grid(1)
    end = min(first + 4, values.size)
    mine = int32(0)
    # Your lines go here.
    for i in range(first, end):  # added
        mine = int32(mine + values[i])  # added
    before, _ = block_exclusive_scan(mine, warp_totals)
    for i in range(first, end):
        scanned[i] = before
        before = int32(before + values[i])  # added


FOUR = KernelExercise(
    "scans-4",
    parts=(scan_four,),
    imports=WITH_BLOCK_SCAN,
    inputs=NUMBERS,
    case=cases_of(
        one_each(THREADS, each=4, scanned=np.int32),
        lambda values: {"scanned": in_runs(exclusive, values, 4 * THREADS)},
    ),
    budgets=on(
        ODD,
        lambda: inputs()[ODD],
        bound("barriers of all warps", metrics.barriers, at_most=16),
        bound("warp steps", metrics.warp_steps, at_most=800),
    ),
    writes=("scanned",),
)

EXERCISES = (*COMPLETE, PREDICT, SPLIT, BLOCKS, FOUR)
