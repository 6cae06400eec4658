"""Exercises of the chapter "Time, power, energy"."""

from __future__ import annotations

import numpy as np
from numba import cuda

from gpukernels.device import SimtDevice
from gpukernels.primitives import FULL_MASK, THREADS, WARP_SIZE, blocks_for

from ..judge.case import Results, cases_of, launched, unpacked
from ..judge.completing import completions
from ..judge.counters import coalesced, on, sharing
from ..judge.exercise import KernelExercise, PredictionExercise
from ..judge.inputs import Draw, Inputs, sizes_of_items
from ..judge.variants import Variants, listed

# energy-1: three stopwatches


def five(short: int, long: int) -> tuple[int, ...]:
    """Return what the five kernels of energy-1 take, in microseconds."""
    return (short, long, short, long, short)


def draw_queued(rng: Draw) -> dict[str, int]:
    """Draw kernels of which short ones end before the next launch, and long ones do not."""
    launch = int(rng.integers(6, 13))
    short, long = int(rng.integers(2, launch - 2)), int(rng.integers(2 * launch, 4 * launch))
    fused = 2 * (long - int(rng.integers(1, short + 1)))
    watts = {"working": 100 * int(rng.integers(3, 8)), "waiting": 50 * int(rng.integers(1, 3))}
    return {"launch": launch, "short": short, "long": long, "fused": fused, **watts}


def _named_in_queued(launch, short, long, fused, working, waiting) -> dict[str, object]:
    kernels, launches, spans, done = five(short, long), [launch * k for k in range(1, 6)], [], 0
    for queued, kernel in zip(launches, kernels, strict=True):
        begin = max(queued, done)
        done = begin + kernel
        spans.append(f"{begin} to {done}")
    alone = sum(kernels)
    return {
        "launches": listed(launches),
        "spans": f"{', '.join(spans[:-1])} and {spans[-1]}",
        "queued": launches[-1],
        "done": done,
        "alone": alone,
        "waits": done - alone,
        "energy": working * alone + waiting * (done - alone),
    }


@cuda.jit
def play(kernels, launch, clocks):
    """Play a queue of launches: when the last is queued, when all is done, how long the GPU waits.

    The kernels take ``kernels`` microseconds each, and the host needs `launch` for each of them.
    """
    queued, done, waits = 0, 0, 0
    for kernel in range(kernels.size):
        queued += launch
        if queued > done:
            waits += queued - done
            done = queued
        done += kernels[kernel]
    clocks[0], clocks[1], clocks[2] = queued, done, waits


def read_clocks(device, kernels, launch: int) -> np.ndarray:
    """Return when the last launch is queued, when all is done, and how long the GPU waits."""
    return run_clocks(play, device, np.array(kernels), launch)["clocks"]


def run_clocks(kernel, device, kernels, launch) -> Results:
    """Play a queue with one thread."""
    return launched(kernel, device, 1, 1, kernels, launch, clocks=np.zeros(3, np.int64))


def measure_clocks(
    launch=10, short=4, long=30, fused=60, working=500, waiting=100
) -> dict[str, int]:
    """Play five launches and one, and read the clocks and a meter."""
    runs = []
    for kernels in (five(short, long), (fused,)):
        device = SimtDevice(trace=True)
        queued, done, waits = read_clocks(device, kernels, launch).tolist()
        energy = working * (done - waits) + waiting * waits
        runs.append((queued, done, done - waits, energy))
    names = "clock stopped without waiting", "clock stopped after waiting", "kernels alone"
    counts = dict(zip((*names, "microjoules"), runs[0], strict=True))
    return {**counts, "microjoules, one launch": runs[1][-1]}


CLOCKS = PredictionExercise(
    "energy-1",
    answer={
        "clock stopped without waiting": 50,
        "clock stopped after waiting": 88,
        "kernels alone": 72,
        "microjoules": 37_600,
        "microjoules, one launch": 31_000,
    },
    measure=measure_clocks,
    variants=Variants(draw_queued, _named_in_queued),
)

# energy-line, energy-lines: the kernel that counts energy-1


def clocks_of(kernels, launch) -> Results:
    """Return the right clocks: a kernel and all later ones run after its launch is queued."""
    queued = launch * np.arange(1, kernels.size + 1, dtype=np.int64)
    last = queued.max(initial=0)
    done = (queued + kernels[::-1].cumsum()[::-1]).max(initial=0)
    return {"clocks": np.array([last, done, done - kernels.sum()])}


PLAYED = Inputs(
    lambda: {
        "six kernels, short and long": (np.array([3, 25, 7, 1, 60, 2]), 8),
        "no kernels": (np.zeros(0, int), 10),
        "one kernel": (np.array([7]), 10),
        "three long kernels": (np.array([40, 50, 60]), 10),
        "40 short kernels": (np.arange(40) % 5, 6),
        "kernels that end when the next is queued": (np.full(5, 10), 10),
        "large times": (2**33 * np.array([1, 5, 2], np.int64), 2**34),
    },
    lambda rng: {"drawn kernels": (rng.integers(1, 40, rng.integers(2, 60)), 20)},
)
COMPLETE = completions(
    "energy",
    "waits += queued - done",
    ("for kernel in range(kernels.size):", 6),
    parts=(play,),
    inputs=PLAYED,
    case=cases_of(unpacked(run_clocks), unpacked(clocks_of)),
    writes=("clocks",),
)

# energy-2: samples above idle


@cuda.jit
def spend(samples, idle, above, spent):
    """Store how far each sample is above `idle`, and its sum with the next one of its block."""
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i < samples.size:
        above[i] = max(samples[i] - idle, 0)
    cuda.syncthreads()  # added
    if i < samples.size:
        spent[i] = above[i]
        if t + 1 < cuda.blockDim.x and i + 1 < samples.size:
            spent[i] += above[i + 1]


#: Threads of a block of energy-2: a slice of so many samples.
SLICE = 64


def _run_spend(kernel, device, samples, idle) -> Results:
    samples, blank = np.asarray(samples, np.int64), np.full(len(samples), -7, np.int64)
    blocks = blocks_for(samples.size, SLICE)
    return launched(kernel, device, blocks, SLICE, samples, int(idle), above=blank, spent=blank)


def spent(samples, idle) -> Results:
    """Return the expected results of `run_spend`, by NumPy alone."""
    above = np.maximum(np.asarray(samples, np.int64) - int(idle), 0)
    after = np.append(above[1:], 0)
    after[SLICE - 1 :: SLICE] = 0
    return {"above": above, "spent": above + after[: above.size]}


def _drawn_samples(rng: Draw) -> dict[str, tuple]:
    n = int(rng.integers(65, 400))
    return {"drawn samples": (rng.integers(60, 700, n), int(rng.integers(80, 140)))}


SAMPLES = Inputs(
    lambda: {
        "300 samples": (100 + np.arange(300) * 37 % 400, 120),
        "no samples": (np.zeros(0, int), 120),
        "one sample": (np.array([500]), 120),
        "64 samples, a full slice": (np.arange(64) + 300, 0),
        "65 samples": (np.arange(65) * 3, 90),
        "all below idle": (np.full(130, 5), 120),
        "large samples": (2**60 + 3 * np.arange(100, dtype=np.int64), 2),
    },
    _drawn_samples,
)


SPEND = KernelExercise(
    "energy-2",
    parts=(spend,),
    inputs=SAMPLES,
    case=cases_of(unpacked(_run_spend), unpacked(spent)),
    # A sample, two stores, a neighbor, and a store and load more.
    budgets=on("256 samples", lambda: (np.arange(256), 7), sharing(at_most=7)),
    writes=("above", "spent"),
)

# energy-3: one warp per run


@cuda.jit
def tally(offsets, watts, total, peak):
    """Add up the samples of each run, and find the highest, by one warp per run."""
    run, lane = cuda.grid(1) // 32, cuda.laneid
    if run < total.size:
        added, most = 0, 0
        # Your lines go here.
        for k in range(offsets[run] + lane, offsets[run + 1], 32):  # added
            mine = watts[k]  # added
            added += mine  # added
            most = max(most, mine)  # added
        apart = 16  # added
        while apart > 0:  # added
            added += cuda.shfl_down_sync(FULL_MASK, added, apart)  # added
            most = max(most, cuda.shfl_down_sync(FULL_MASK, most, apart))  # added
            apart //= 2  # added
        if lane == 0:
            total[run] = added
            peak[run] = most


def watts_of(sizes: np.ndarray) -> np.ndarray:
    """Return samples for runs of these sizes: some small, some large, the peak anywhere.

    A float64 does not hold the sums. An int64 does, for runs of at most 256 samples.
    """
    count = int(np.sum(sizes))
    return np.random.default_rng(count).integers(0, 3, count) * 2**53 + np.arange(count) % 97


def _run_tally(kernel, device, sizes) -> Results:
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    blank, blocks = np.full(len(sizes), -7, np.int64), blocks_for(len(sizes) * WARP_SIZE)
    watts = watts_of(sizes)
    return launched(kernel, device, blocks, THREADS, offsets, watts, total=blank, peak=blank)


def tallies(sizes) -> Results:
    """Return the expected results of `run_tally`, by NumPy alone, for runs of these sizes."""
    parts = np.split(watts_of(sizes), np.cumsum(sizes)[:-1]) if sizes.size else []
    return {
        "total": np.array([part.sum() for part in parts], np.int64),
        "peak": np.array([part.max(initial=0) for part in parts], np.int64),
    }


RUNS = sizes_of_items(most_items=40, most_units=150)


TALLY = KernelExercise(
    "energy-3",
    parts=(tally,),
    imports="from numba import cuda\n\nFULL_MASK = 0xFFFFFFFF",
    inputs=Inputs(
        lambda: (
            {"large samples in runs of 33, 0, 67 and 1": np.array([33, 0, 67, 1])} | RUNS.fixed()
        ),
        RUNS.draw,
    ),
    case=cases_of(_run_tally, tallies),
    budgets=on(
        "nine runs of 256",
        lambda: np.full(9, 256),
        sharing(at_most=12),
        coalesced(at_most=8, array="watts"),
    ),
    writes=("total", "peak"),
)

EXERCISES = (*COMPLETE, CLOCKS, SPEND, TALLY)
