"""What a GPU reaches at most, measured in the same run, and how far from it a time is.

Two things bound a kernel that does nothing in vain: how many bytes a second a plain copy moves, and
how many integer operations a second the GPU issues: additions, each with a minimum after it. That
pair is what a step of a shortest path costs, and nothing in a search is cheaper. A GPU of 2022 and
later does both in one instruction (VIADDMNMX), older ones in two, so it is pairs that count.

Beside each time stands the least that its result needs of both, whatever the kernel really did, and
the share of either limit that this makes. Where both shares are small, something else bounds it:
launches, barriers, waiting for memory, or work in vain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import cuda, int32

from gpukernels.errors import InvalidArgument
from gpukernels.notebook import cold_cache
from gpukernels.notebook.kernel_time import kernel_ms

#: What files say of the state in which each timed run begins.
CACHE = "flushed"
THREADS = 256
#: Words of a block, of which a copy has a whole number.
PORTION = 4 * THREADS
#: Words of 8 bytes of the copy: a gibibyte, far more than any cache holds.
WORDS = 1 << 27
#: Steps of each chain in a round, which the compiler writes out, and so pairs of a thread.
STEPS = 16
PAIRS = 4 * STEPS
#: Rounds of a thread: a millisecond.
ROUNDS = 1 << 10


@cuda.jit
def copy_words(values, out):
    """Copy four words a thread, neighboring threads neighboring words.

    All four are read before one is written: with one read at a time not even a full GPU has enough
    of them under way to keep its memory busy.
    """
    step = cuda.blockDim.x
    i = cuda.blockIdx.x * 4 * step + cuda.threadIdx.x
    if i + 3 * step < out.size:
        a, b = values[i], values[i + step]
        c, d = values[i + 2 * step], values[i + 3 * step]
        out[i], out[i + step] = a, b
        out[i + 2 * step], out[i + 3 * step] = c, d


def measured_bandwidth(device, words: int = WORDS, repeat: int = 20) -> float:
    """Return the gigabytes a second that a copy of so many words of 8 bytes reads and writes.

    Raises
    ------
    InvalidArgument
        If `words` is no positive multiple of `PORTION`.
    """
    if words <= 0 or words % PORTION:
        raise InvalidArgument("words", words, f"a positive multiple of {PORTION}")
    values, out = device.full(words, -1, np.int64), device.full(words, 0, np.int64)

    def check() -> None:
        left = np.flatnonzero(device.read(out) != -1)
        assert left.size == 0, f"copy_words left {left.size:,} words out, the first is {left[0]}"

    ms = kernel_ms(
        device,
        lambda d: d.launch(copy_words, words // PORTION, THREADS, values, out),
        repeat,
        prepare=lambda: device.clear(out),
        check=check,
    )
    # Digits rather than decimals: what a machine without a GPU copies is no 0 either.
    return float(f"{16 * words / ms / 1e6:.5g}")


@cuda.jit
def add_and_compare(step, bound, rounds, out):
    """Go up by `step` as far as `bound`, in four chains a thread, `rounds` times STEPS pairs each.

    In a chain each pair needs the one before. The chains wait for no memory, and with as many
    threads as the GPU holds others issue while one chain waits.
    The sums are cast back at once: numba adds int32 numbers in 64 bits, which takes twice as long.
    """
    i = cuda.grid(1)
    a, b = int32(i), int32(i + 1)
    c, d = int32(i + 2), int32(i + 3)
    for _ in range(rounds):
        for _ in range(STEPS):
            a, b = min(int32(a + step), bound), min(int32(b + step), bound)
            c, d = min(int32(c + step), bound), min(int32(d + step), bound)
    if i < out.size:
        out[i] = max(max(a, b), max(c, d))


def measured_issue_rate(device, rounds: int = ROUNDS, repeat: int = 9) -> float:
    """Return the million million additions with a minimum that the device does in a second.

    Raises
    ------
    InvalidArgument
        If `rounds` is below 1.
    """
    if rounds < 1:
        raise InvalidArgument("rounds", rounds, "1 or more")
    threads = max(device.resident_threads // THREADS, 1) * THREADS
    out = device.full(threads, 0, np.int32)
    step, bound = np.int32(3), np.int32(3 * STEPS * rounds + threads // 2)

    def check() -> None:
        ends = np.minimum(np.arange(threads) + 3 + 3 * STEPS * rounds, bound)
        wrong = np.flatnonzero(device.read(out) != ends)
        assert wrong.size == 0, f"add_and_compare: {wrong.size:,} chains end elsewhere"

    ms = kernel_ms(
        device,
        lambda d: d.launch(
            add_and_compare, threads // THREADS, THREADS, step, bound, np.int32(rounds), out
        ),
        repeat,
        prepare=lambda: device.clear(out),
        check=check,
    )
    return float(f"{threads * rounds * PAIRS / max(ms, 1e-9) / 1e9:.5g}")


@dataclass(frozen=True)
class Limits:
    """The two limits of a device.

    Attributes
    ----------
    gigabytes_per_second : float
        What a copy reads and writes.
    tera_add_mins_per_second : float
        Million million pairs of an addition and a minimum.
    l2_bytes : int
        Size of the cache that is emptied before each run.
    """

    gigabytes_per_second: float
    tera_add_mins_per_second: float
    l2_bytes: int = 0

    @property
    def figures(self) -> dict[str, Any]:
        """What the head of a file says of them."""
        return {
            "copy_gigabytes_per_second": self.gigabytes_per_second,
            "tera_add_mins_per_second": self.tera_add_mins_per_second,
            "cache": CACHE,
            "l2_bytes": self.l2_bytes,
        }

    def shares(self, ms: float, least_bytes: int, least_operations: int) -> dict[str, float]:
        """Return the shares of both limits of what needs so much and took so many milliseconds."""
        ms = max(ms, 1e-9)
        moved = least_bytes / ms / 1e6 / self.gigabytes_per_second
        issued = least_operations / ms / 1e9 / self.tera_add_mins_per_second
        return {"share_of_bandwidth": round(moved, 4), "share_of_issue_rate": round(issued, 4)}

    def judged(self, ms: float, least_bytes: int, least_operations: int) -> dict[str, Any]:
        """Return what is counted, and :meth:`shares` of it."""
        counted = {"least_bytes": int(least_bytes), "least_operations": int(least_operations)}
        return {**counted, **self.shares(ms, least_bytes, least_operations)}


def measured_limits(device, shrink: int = 0) -> Limits:
    """Measure both on `device`, in less time if sizes are halved."""
    return Limits(
        measured_bandwidth(device, max(WORDS >> shrink, 1024)),
        measured_issue_rate(device, max(ROUNDS >> shrink, 1)),
        cold_cache.l2_bytes(device),
    )
