"""The limits of a GPU, measured in the same run as the kernels, and the distance of a time to them.

Two rates limit a kernel that does no useless work: the bytes per second of a plain copy, and the
integer operations per second that the GPU can issue. An operation is an addition and the minimum
after it. A step of a shortest path takes one such pair, and no step of a search takes less. A GPU
of 2022 or later does both in one instruction (VIADDMNMX), and older ones in two, so pairs are
counted.

Each time gets the least bytes and operations that its result needs, whatever the kernel really did,
and their shares of both limits. If both shares are small, something else limits the kernel:
launches, barriers, waiting for memory, or useless work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import cuda, int32

from gpukernels.errors import InvalidArgument
from gpukernels.notebook import cold_cache
from gpukernels.notebook.kernel_time import kernel_ms

#: The entry of a file for the state of the cache at the start of each timed run.
CACHE = "flushed"
THREADS = 256
#: Words that one block copies; a copy has a multiple of them.
PORTION = 4 * THREADS
#: Words of 8 bytes of the copy: a gibibyte, far more than any cache holds.
WORDS = 1 << 27
#: Steps of each chain in a round, which the compiler unrolls, and so pairs of a thread.
STEPS = 16
PAIRS = 4 * STEPS
#: Rounds of a thread: a millisecond.
ROUNDS = 1 << 10


@cuda.jit
def copy_words(values, out):
    """Copy four words per thread; neighboring threads copy neighboring words.

    All four are read before one is written. With one read at a time, even a full GPU would not have
    enough reads in flight to keep its memory busy.
    """
    step = cuda.blockDim.x
    i = cuda.blockIdx.x * 4 * step + cuda.threadIdx.x
    if i + 3 * step < out.size:
        a, b = values[i], values[i + step]
        c, d = values[i + 2 * step], values[i + 3 * step]
        out[i], out[i + step] = a, b
        out[i + 2 * step], out[i + 3 * step] = c, d


def measured_bandwidth(device, words: int = WORDS, repeat: int = 20) -> float:
    """Return the gigabytes per second that a copy of `words` words of 8 bytes reads and writes.

    Raises
    ------
    InvalidArgument
        If `words` is not a positive multiple of `PORTION`.
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
    # Digits rather than decimals, because a slow copy without a GPU should not be rounded to 0.
    return float(f"{16 * words / ms / 1e6:.5g}")


@cuda.jit
def add_and_compare(step, bound, rounds, out):
    """Add `step` up to `bound`, in four chains per thread of `rounds` times STEPS pairs each.

    In a chain, each pair needs the result of the one before. The chains wait for no memory, and
    with as many threads as the GPU holds, other threads issue while one chain waits. The sums are
    cast back at once, because numba adds int32 numbers in 64 bits, which takes twice as long.
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
    """Return how many trillion (10^12) additions with a minimum the device does per second.

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
        Gigabytes that a copy reads and writes.
    tera_add_mins_per_second : float
        Trillions (10^12) of pairs of an addition and a minimum.
    l2_bytes : int
        Size of the cache that is emptied before each run.
    """

    gigabytes_per_second: float
    tera_add_mins_per_second: float
    l2_bytes: int = 0

    @property
    def figures(self) -> dict[str, Any]:
        """The entries of a file's head for the limits."""
        return {
            "copy_gigabytes_per_second": self.gigabytes_per_second,
            "tera_add_mins_per_second": self.tera_add_mins_per_second,
            "cache": CACHE,
            "l2_bytes": self.l2_bytes,
        }

    def shares(self, ms: float, least_bytes: int, least_operations: int) -> dict[str, float]:
        """Return the shares of both limits for a time in milliseconds and its least needs."""
        ms = max(ms, 1e-9)
        moved = least_bytes / ms / 1e6 / self.gigabytes_per_second
        issued = least_operations / ms / 1e9 / self.tera_add_mins_per_second
        return {"share_of_bandwidth": round(moved, 4), "share_of_issue_rate": round(issued, 4)}

    def judged(self, ms: float, least_bytes: int, least_operations: int) -> dict[str, Any]:
        """Return the least needs, and their :meth:`shares`."""
        counted = {"least_bytes": int(least_bytes), "least_operations": int(least_operations)}
        return {**counted, **self.shares(ms, least_bytes, least_operations)}


def measured_limits(device, shrink: int = 0) -> Limits:
    """Measure both limits on `device`, in less time if sizes are halved."""
    return Limits(
        measured_bandwidth(device, max(WORDS >> shrink, 1024)),
        measured_issue_rate(device, max(ROUNDS >> shrink, 1)),
        cold_cache.l2_bytes(device),
    )
