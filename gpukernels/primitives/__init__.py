"""Building blocks that kernels share: scans, searches, rank by ballot, queue append, a barrier.

Device functions are called from kernels
(``from gpukernels.primitives import warp_inclusive_scan``). Host drivers run one scan or search on
an array, so that it can be tested and studied alone: ``warp_scan``, ``warp_rank``, ``block_scan``,
``shared_scan`` and ``find_owners``. ``device_scan`` makes offsets from any number of sizes, by
several launches or by one launch whose blocks look back (``lookback_scan``). ``DeviceScan`` and
``PaddedScan`` do this many times in the same memory.
"""

from .ballot_rank import warp_binary_rank, warp_rank
from .block_scan import block_exclusive_scan, block_scan
from .device_scan import DeviceScan, device_scan, scan_sizes
from .find_owners import find_owners
from .grid_barrier import grid_barrier
from .launch_shape import FULL_MASK, THREADS, WARP_SIZE, blocks_for, check_threads
from .padded_scan import PaddedScan
from .queue_append import queue_append
from .searches import (
    binary_search_two_sided,
    guarded_interpolation_owner,
    interpolation_owner,
    upper_owner,
    warp_owner,
)
from .shared_scan import padded_cell, plain_cell, shared_scan, sweep_scan
from .warp_scan import warp_exclusive_scan, warp_inclusive_scan, warp_scan
from .warp_sum import warp_sum

__all__ = [
    "FULL_MASK",
    "THREADS",
    "WARP_SIZE",
    "DeviceScan",
    "PaddedScan",
    "binary_search_two_sided",
    "block_exclusive_scan",
    "block_scan",
    "blocks_for",
    "check_threads",
    "device_scan",
    "find_owners",
    "grid_barrier",
    "guarded_interpolation_owner",
    "interpolation_owner",
    "padded_cell",
    "plain_cell",
    "queue_append",
    "scan_sizes",
    "shared_scan",
    "sweep_scan",
    "upper_owner",
    "warp_binary_rank",
    "warp_exclusive_scan",
    "warp_inclusive_scan",
    "warp_owner",
    "warp_rank",
    "warp_scan",
    "warp_sum",
]
