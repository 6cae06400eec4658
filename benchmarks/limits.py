"""What a GPU reaches at most, measured in the same run, and how far from it a time is.

Two things bound a kernel that does nothing in vain: how many bytes a second a plain copy moves
(`bandwidth`), and how many additions with a minimum a second the GPU issues (`issue_rate`). Beside
each time stands the least that its result needs of both, whatever the kernel really did, and the
share of either limit that this makes. Where both shares are small, something else bounds it:
launches, barriers, waiting for memory, or work in vain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchmarks.bandwidth import WORDS, measured_bandwidth
from benchmarks.issue_rate import ROUNDS, measured_issue_rate
from gpukernels.notebook import cold_cache

#: What files say of the state in which each timed run begins.
CACHE = "flushed"


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
