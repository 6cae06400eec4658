"""Compute the blocks and threads of a launch."""

from __future__ import annotations

from gpukernels.checks import is_whole
from gpukernels.errors import InvalidArgument

WARP_SIZE = 32

#: The mask of a warp whose 32 lanes all take part in a ``*_sync`` intrinsic.
FULL_MASK = 0xFFFFFFFF

#: Threads per block, unless a driver gets another number.
THREADS = 128

MAX_THREADS = 1024


def check_threads(threads: int, argument: str = "threads") -> int:
    """Return `threads` as a Python number if it is a block size of whole warps.

    Parameters
    ----------
    threads : int
        Threads per block.
    argument : str
        The caller's name for them.

    Raises
    ------
    InvalidArgument
        If `threads` is not a multiple of 32 from 32 to 1024: a warp intrinsic under a full mask
        needs all lanes of every warp.
    """
    if not is_whole(threads) or threads % WARP_SIZE or not WARP_SIZE <= threads <= MAX_THREADS:
        allowed = f"a multiple of {WARP_SIZE} from {WARP_SIZE} to {MAX_THREADS}"
        raise InvalidArgument(argument, threads, allowed)
    return int(threads)


def blocks_for(items: int, threads: int = THREADS) -> int:
    """Return how many blocks of `threads` threads give each of `items` items its own thread."""
    return -(-items // threads)
