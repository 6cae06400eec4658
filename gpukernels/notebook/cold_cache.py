"""Every timed run begins with none of its data in the GPU's second cache.

A kernel that is run again and again on arrays of a few megabytes finds them in that cache, where a
program that came from elsewhere would not. Before a run an array of several times its size is read.
Reading, not writing: what is written has to leave the cache again, in the time of the run to come.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
from numba import cuda

from gpukernels.device import CudaDevice

#: How many times the cache's size is read.
TIMES = 4
#: Bytes of the cache where the GPU does not tell: more than any has in 2026.
UNTOLD = 1 << 27
THREADS = 256
BLOCKS = 1024

#: What is read, by device.
_arrays: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


@cuda.jit
def read_all(words, found):
    """Read every word, and write only if one is not 0, as none is."""
    seen = words[0]
    for i in range(cuda.grid(1), words.size, cuda.gridsize(1)):
        seen |= words[i]
    if seen != 0:
        cuda.atomic.max(found, 0, seen)


def l2_bytes(device) -> int:
    """Return the size of the device's second cache in bytes; the SIMT machine has none."""
    if not isinstance(device, CudaDevice):
        return 0
    try:
        return int(cuda.get_current_device().L2_CACHE_SIZE) or UNTOLD
    except AttributeError:
        return UNTOLD


def flush(device) -> None:
    """Read so much that nothing which was there before is left in the device's second cache."""
    size = TIMES * l2_bytes(device)
    if not size:
        return
    if device not in _arrays:
        _arrays[device] = device.full(size // 8, 0, np.int64), device.full(1, 0, np.int64)
    device.launch(read_all, BLOCKS, THREADS, *_arrays[device])
