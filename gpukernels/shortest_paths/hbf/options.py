"""The options of H-BF: each optimization on or off, and the numbers behind it.

The defaults are the ones of [busato2016hbf]: virtual warps of 4 to 32 threads, 32 vertices per
warp, T_DP = 4,096.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from gpukernels.checks import as_python, check_choice, check_flag, check_whole
from gpukernels.mapping.dynamic_virtual_warp import choose_warp_size
from gpukernels.mapping.virtual_warp import check_warp_size
from gpukernels.primitives.launch_shape import THREADS, WARP_SIZE, check_threads
from gpukernels.primitives.offsets import MAX_UNITS

from .relax import DUPLICATES

FLAGS = (
    "edge_classes",
    "dynamic_virtual_warps",
    "dynamic_parallelism",
    "coalesced_enqueue",
    "cache_hints",
)


@dataclass(frozen=True)
class Options:
    """The options of one search, checked when they are made.

    Attributes
    ----------
    edge_classes : bool
        Whether arcs are classified, so that some are skipped and some relaxed without an atomic.
    duplicates : {"atomic64", "table", "none"}
        How to keep a vertex from being visited twice in a round: by the 64-bit atomic, by a lookup
        table between rounds, or not at all.
    dynamic_virtual_warps : bool
        Whether each round sets the threads of a virtual warp again; if not, there are `warp_size`.
    warp_workload : {1, 2, 4, 8, 16, 32}
        The most vertices that a warp takes; with 1, each virtual warp takes one.
    dynamic_parallelism : bool
        Whether a child kernel takes vertices of more than `child_threshold` arcs.
    coalesced_enqueue : bool
        Whether a warp writes its found vertices through shared memory, side by side.
    cache_hints : bool
        Whether loads and stores give the caches hints on how long to keep the data.
    min_warp_size : {1, 2, 4, 8, 16, 32}
        Threads of the narrowest virtual warp that a round may set.
    warp_size : {1, 2, 4, 8, 16, 32}
        Threads of a virtual warp if rounds do not set them.
    child_threshold : int
        The most arcs of a vertex that the child kernel does not take, T_DP.
    threads : int
        Threads per block.

    Raises
    ------
    InvalidArgument
        If an option has a value that is not allowed.
    """

    edge_classes: bool = True
    duplicates: str = "atomic64"
    dynamic_virtual_warps: bool = True
    warp_workload: int = 32
    dynamic_parallelism: bool = True
    coalesced_enqueue: bool = True
    cache_hints: bool = True
    min_warp_size: int = 4
    warp_size: int = 1
    child_threshold: int = 4096
    threads: int = THREADS

    def __post_init__(self) -> None:
        for name in (field.name for field in fields(self)):
            object.__setattr__(self, name, as_python(getattr(self, name)))
        for name in FLAGS:
            check_flag(name, getattr(self, name))
        check_choice("duplicates", self.duplicates, DUPLICATES)
        for name in ("warp_workload", "min_warp_size", "warp_size"):
            check_warp_size(getattr(self, name), name)
        check_whole("child_threshold", self.child_threshold, 0, MAX_UNITS)
        check_threads(self.threads)

    def virtual_warp(self, frontier: int, resident_threads: int) -> int:
        """Return the threads of a virtual warp: nearest_pow2(resident / frontier) in [min, 32]."""
        if not self.dynamic_virtual_warps:
            return self.warp_size
        return choose_warp_size(frontier, 0, resident_threads, self.min_warp_size)

    def vertices_a_warp(self, frontier: int, resident_threads: int, warp_size: int) -> int:
        """Return how many vertices a warp takes: at least one per group, at most `warp_workload`.

        Between these bounds it is the largest power of two that gives every resident warp a vertex.
        """
        share = max(frontier * WARP_SIZE // resident_threads, 1)
        return max(WARP_SIZE // warp_size, min(self.warp_workload, 1 << (share.bit_length() - 1)))
