"""How many integer operations a second the GPU issues: additions, each with a minimum after it.

That pair is what a step of a shortest path costs, and nothing in a search is cheaper. A GPU of 2022
and later does both in one instruction (VIADDMNMX), older ones in two, so it is pairs that count.
Every thread has four chains, in which each pair needs the one before: they wait for no memory, and
with as many threads as the GPU holds others issue while one chain waits.
"""

from __future__ import annotations

import numpy as np
from numba import cuda, int32

from gpukernels.errors import InvalidArgument
from gpukernels.notebook.kernel_time import kernel_ms

THREADS = 256
#: Steps of each chain in a round, which the compiler writes out, and so pairs of a thread.
STEPS = 16
PAIRS = 4 * STEPS
#: Rounds of a thread: a millisecond.
ROUNDS = 1 << 10


@cuda.jit
def add_and_compare(step, bound, rounds, out):
    """Go up by `step` as far as `bound`, in four chains a thread, `rounds` times STEPS pairs each.

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
    AssertionError
        If a chain does not end where it must.
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
    # Digits rather than decimals: what a machine without a GPU does is no 0 either.
    return float(f"{threads * rounds * PAIRS / max(ms, 1e-9) / 1e9:.5g}")
