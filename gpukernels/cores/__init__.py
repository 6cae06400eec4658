"""The number of cores that this process may use, and their kind."""

from __future__ import annotations

import contextlib
import platform
import threading
from pathlib import Path

import numba

#: Files in which Linux gives a container's share of the processor, and the processor's model.
QUOTA = Path("/sys/fs/cgroup/cpu.max")
CPU_INFO = Path("/proc/cpuinfo")
_ONE_AT_A_TIME = threading.RLock()


def cores() -> int:
    """Return how many threads run at once: those that numba starts, or a container's share."""
    threads = numba.config.NUMBA_NUM_THREADS
    try:
        quota, period = QUOTA.read_text().split()[:2]
        share = max(1, int(quota) // int(period))
    except (OSError, ValueError):  # no such file, or "max": no limit
        return threads
    return min(threads, share)


def processor() -> str:
    """Return the name of the processor."""
    try:
        lines = CPU_INFO.read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


@contextlib.contextmanager
def all_cores():
    """Let parallel loops of the block run on :func:`cores` threads, the number that it gives.

    More threads than a container's share would wait for one another. One block runs at a time:
    not every pool of threads that numba may choose stands two Python threads that use it at once.
    """
    with _ONE_AT_A_TIME:
        before = numba.get_num_threads()
        numba.set_num_threads(cores())
        try:
            yield cores()
        finally:
            numba.set_num_threads(before)
