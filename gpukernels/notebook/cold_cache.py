"""Clears the GPU's level-2 cache, so that a timed run starts with none of its data there.

A kernel that runs repeatedly on arrays of a few megabytes finds them in that cache, but in a user's
program it may not. So before a run, an array several times as large as the cache is read. It is not
written, because written data would leave the cache during the timed run.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
from numba import cuda

from gpukernels.device import CudaDevice

#: Number of bytes read, in sizes of the cache.
TIMES = 4
#: Bytes of the cache if the GPU does not report them: more than any GPU has in 2026.
UNTOLD = 1 << 27
THREADS = 256
BLOCKS = 1024

#: The arrays that are read, by device.
_arrays: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


@cuda.jit
def read_all(words, found):
    """Read every word, and write only if a word is not 0; all words are 0."""
    seen = words[0]
    for i in range(cuda.grid(1), words.size, cuda.gridsize(1)):
        seen |= words[i]
    if seen != 0:
        cuda.atomic.max(found, 0, seen)


def l2_bytes(device) -> int:
    """Return the size of the device's level-2 cache in bytes, 0 for the SIMT machine."""
    if not isinstance(device, CudaDevice):
        return 0
    try:
        return int(cuda.get_current_device().L2_CACHE_SIZE) or UNTOLD
    except AttributeError:
        return UNTOLD


def flush(device) -> None:
    """Replace the contents of the device's level-2 cache by reading a large array."""
    size = TIMES * l2_bytes(device)
    if not size:
        return
    if device not in _arrays:
        _arrays[device] = device.full(size // 8, 0, np.int64), device.full(1, 0, np.int64)
    device.launch(read_all, BLOCKS, THREADS, *_arrays[device])
