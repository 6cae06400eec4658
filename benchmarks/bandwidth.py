"""How many bytes a second the GPU's memory moves: what a plain copy reaches."""

from __future__ import annotations

import numpy as np
from numba import cuda

from gpukernels.errors import InvalidArgument
from gpukernels.notebook.kernel_time import kernel_ms
from gpukernels.notebook.spread import Median

THREADS = 256
#: Words of a block, of which a copy has a whole number.
PORTION = 4 * THREADS
#: Words of 8 bytes of the copy: a gibibyte, far more than any cache holds.
WORDS = 1 << 27


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


def copy_ms(device, words: int, repeat: int = 20) -> Median:
    """Return the milliseconds of a copy of so many words of 8 bytes, from memory to memory.

    Raises
    ------
    InvalidArgument
        If `words` is no positive multiple of `PORTION`.
    AssertionError
        If a word was not copied.
    """
    if words <= 0 or words % PORTION:
        raise InvalidArgument("words", words, f"a positive multiple of {PORTION}")
    values, out = device.full(words, -1, np.int64), device.full(words, 0, np.int64)

    def check() -> None:
        left = np.flatnonzero(device.read(out) != -1)
        assert left.size == 0, f"copy_words left {left.size:,} words out, the first is {left[0]}"

    return kernel_ms(
        device,
        lambda d: d.launch(copy_words, words // PORTION, THREADS, values, out),
        repeat,
        prepare=lambda: device.clear(out),
        check=check,
    )


def measured_bandwidth(device, words: int = WORDS, repeat: int = 20) -> float:
    """Return the gigabytes a second that :func:`copy_ms` reads and writes."""
    # Digits rather than decimals: what a machine without a GPU copies is no 0 either.
    return float(f"{16 * words / copy_ms(device, words, repeat) / 1e6:.5g}")
