"""What H-BF may be told: each optimization on or off, and the numbers behind it.

The defaults are those of [busato2016hbf]: virtual warps of 4 to 32 threads, 32 vertices a warp,
T_DP = 4,096.
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
        Who keeps a vertex from being visited twice in a round: the 64-bit atomic, a lookup table
        between rounds, or nobody.
    dynamic_virtual_warps : bool
        Whether each round sets the threads of a virtual warp again; if not, they are `warp_size`.
    warp_workload : {1, 2, 4, 8, 16, 32}
        Vertices that a warp takes at most; with 1, each virtual warp takes one.
    dynamic_parallelism : bool
        Whether a child kernel takes vertices of more than `child_threshold` arcs.
    coalesced_enqueue : bool
        Whether a warp writes what it has found through shared memory, side by side.
    cache_hints : bool
        Whether loads and stores tell the caches what becomes of them.
    min_warp_size : {1, 2, 4, 8, 16, 32}
        Threads of the narrowest virtual warp that a round may set.
    warp_size : {1, 2, 4, 8, 16, 32}
        Threads of a virtual warp where rounds do not set them.
    child_threshold : int
        Arcs of the largest vertex that the child kernel leaves alone, T_DP.
    threads : int
        Threads a block.

    Raises
    ------
    InvalidArgument
        If an option is none of these.
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
        """Return how many vertices a warp takes: at least one a group, at most `warp_workload`.

        Between these as many, in powers of two, as leave no warp that may be resident without any.
        """
        share = max(frontier * WARP_SIZE // resident_threads, 1)
        return max(WARP_SIZE // warp_size, min(self.warp_workload, 1 << (share.bit_length() - 1)))
