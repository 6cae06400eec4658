"""Device-wide scan on shared-memory trees: sweep each block's values, then add the sums before.

The scan of [padamata2013graph], as in its linear-work search. `sweep_padded` scans each run of 2 x
blockDim.x values in a padded tree. The totals of the runs are scanned in the same way, and a last
kernel adds to each run the sum of all runs before it. The paper's last kernel (``prefixscan2``)
adds the total of the *previous* run only, which is right for two runs and wrong from the third on.
Every value is read twice and written twice, 4 n words; `device_scan` moves 3 n.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from gpukernels.errors import InvalidArgument

from .device_scan import level_sizes
from .launch_shape import THREADS, blocks_for, check_threads
from .shared_scan import BANKS, sweep_padded


@cuda.jit
def add_runs_before(begins, run, offsets):
    """Add to every offset the sum of the runs before its own, and put the total at the end.

    ``begins`` holds the offsets of the runs of `run` values: the scan of their totals.
    """
    i = cuda.grid(1)
    if i < offsets.size - 1:
        offsets[i] += begins[i // run]
    elif i == offsets.size - 1:
        offsets[i] = begins[begins.size - 1]


def check_padded_threads(threads: int) -> None:
    """Raise InvalidArgument unless `threads` is a power of two from 32 to 1024."""
    if check_threads(threads) & (threads - 1):
        raise InvalidArgument("threads", threads, "a power of two from 32 to 1024")


class PaddedScan:
    """Scans of up to `capacity` sizes, one after another in the same memory, without a read-back.

    For a caller that knows that the sizes add up to at most 2^31 - 1: nothing is checked.

    Parameters
    ----------
    capacity : int
        The most sizes that a scan will have.
    device : SimtDevice or CudaDevice
        The device that will hold them.
    threads : int
        Threads per block: 32, 64, 128, 256, 512 or 1024.

    Attributes
    ----------
    launches : int
        Kernel launches so far.

    Raises
    ------
    InvalidArgument
        If `threads` is not one of these: the number of leaves of a block's tree is a power of two.
    """

    def __init__(self, capacity: int, device, *, threads: int = THREADS):
        check_padded_threads(threads)
        self.device, self.threads, self.run = device, threads, 2 * threads
        self.launches = 0
        sizes = level_sizes(capacity, self.run)
        self._totals = [device.empty(size, np.int32) for size in sizes[1:]]
        self._offsets = [device.empty(size + 1, np.int32) for size in sizes]
        # The sum before the only run of the last level, which is 0, and its total.
        self._last = device.full(2, 0, np.int32)

    def __call__(self, values: Any) -> Any:
        """Return the offsets of `values`, a device array of int32, shape (n,).

        They have shape (n + 1,), with the total at the end, and stay valid until the next call.
        """
        if values.size == 0:
            return self._last[:1]
        return self._scan(values, 0)

    def _scan(self, values, level: int):
        size, run, threads, launch = values.size, self.run, self.threads, self.device.launch
        offsets = self._offsets[level][: size + 1]
        runs = blocks_for(size, run)
        totals = self._last[1:] if runs == 1 else self._totals[level][:runs]
        shared = 4 * (run + run // BANKS)
        launch(sweep_padded, runs, threads, values, offsets[:size], totals, shared=shared)
        begins = self._last if runs == 1 else self._scan(totals, level + 1)
        launch(add_runs_before, blocks_for(size + 1, threads), threads, begins, run, offsets)
        self.launches += 2
        return offsets
