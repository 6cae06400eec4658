"""The knobs of BFS-4K: seven named numbers K1 to K7, their allowed values, and the derived sizes.

[busato2015bfs4k], sections 5 and 7. The knobs choose between techniques, level by level; `rules`
sets them for a graph. The sizes of tables in shared memory come from the formulas of section 5.5,
with 48 KB and 2,048 threads per multiprocessor.

Slip: those formulas print the size of a frontier as "F_Threshold x 4 / 2" bytes. The single block
may take a frontier of F_Threshold vertices of 4 bytes, so half of that is too small. Here each of
the two frontiers takes ``4 x frontier_room`` bytes. The table takes the largest power of two of
bytes that is left.

Slip: the paper turns edge-discover off with K4 = 0, but the printed condition |F| < resident / K4
does not. Here 0 is tested first.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from gpukernels.checks import as_python, check_flag, check_real, check_whole
from gpukernels.errors import InvalidArgument
from gpukernels.frontiers.duplicates import BITMAP, HASH64, check_duplicates, shared_bytes
from gpukernels.mapping.dynamic_virtual_warp import choose_warp_size
from gpukernels.mapping.virtual_warp import check_warp_size
from gpukernels.primitives.launch_shape import MAX_THREADS, check_threads
from gpukernels.primitives.offsets import MAX_UNITS

#: Shared memory in bytes, and threads, per multiprocessor in the formulas of section 5.5.
SHARED_BYTES = 48 * 1024
THREADS_PER_MULTIPROCESSOR = 2048
#: Bytes of shared memory that a kernel needs for variables, ``Var_size``.
VARIABLES = 64
WIDEST = 32


@dataclass(frozen=True)
class Knobs:
    """The knobs of one search, checked when they are made.

    Attributes
    ----------
    min_warp_size : {1, 2, 4, 8, 16, 32}
        K1: threads of the narrowest virtual warp.
    child_share : float
        K2: share of the vertices, by the highest degrees, that the child kernel may take; 0 for no
        child kernel.
    child_queue : int
        K3: neighbors that each thread of the child kernel visits.
    edge_discover : int
        K4: edge-discover visits a frontier of fewer than resident threads / K4 vertices, unless the
        single-block kernel takes it (K5); 0 for never.
    single_block : int
        K5: the single-block kernel takes frontiers of at most `block_threads` x K5 vertices; 0 for
        never.
    threads : int
        K6: threads per block of the multi-block kernels.
    coalesce_from : int
        K7: mean length from which induced coalescing writes the local queues of a warp.
    extended : bool
        EXT: a whole warp visits a vertex with 32 arcs left, without another search.
    ahead : bool
        Whether to use the multi-block and the child kernel that are made for speed, see `ahead`;
        only with ``duplicates="bitmap"``. Not the paper's.
    duplicates : str
        The way to keep duplicates out, one of ``frontiers.duplicates.DUPLICATES``.
    hash_slots : int, optional
        Slots of a block's hash table, a power of two; by default from the formulas of section 5.5.
    binary_scan : bool
        Whether a warp scans by ballot if no lane holds more than one vertex.
    warp_size : {1, 2, 4, 8, 16, 32}, optional
        Fixes the virtual warp at this size, for experiments, and turns edge-discover off.
    block_threads : int
        Threads of the single-block kernel, ``MaxThreadsPerBlock``.

    Raises
    ------
    InvalidArgument
        If a knob has a value that is not allowed.
    """

    min_warp_size: int = 4
    child_share: float = 0.0015
    child_queue: int = 16
    edge_discover: int = 2
    single_block: int = 1
    threads: int = 128
    coalesce_from: int = 10
    extended: bool = True
    ahead: bool = False
    duplicates: str = "hash64"
    hash_slots: int | None = None
    binary_scan: bool = True
    warp_size: int | None = None
    block_threads: int = MAX_THREADS

    def __post_init__(self) -> None:
        for name in (field.name for field in fields(self)):
            object.__setattr__(self, name, as_python(getattr(self, name)))
        check_warp_size(self.min_warp_size, "min_warp_size")
        if self.warp_size is not None:
            check_warp_size(self.warp_size)
        check_real("child_share", self.child_share, 0, 1, "a number from 0 to 1")
        check_whole("child_queue", self.child_queue, 1, MAX_UNITS // MAX_THREADS)
        check_whole("edge_discover", self.edge_discover, 0, MAX_UNITS)
        check_whole("coalesce_from", self.coalesce_from, 0, MAX_UNITS)
        check_threads(self.threads)
        check_threads(self.block_threads, "block_threads")
        for name in ("extended", "ahead", "binary_scan"):
            check_flag(name, getattr(self, name))
        if check_duplicates(self.duplicates) != BITMAP and self.ahead:
            raise InvalidArgument("ahead", self.ahead, "False unless duplicates='bitmap'")
        slots = self.hash_slots
        if slots is not None:
            check_whole("hash_slots", slots, 1, SHARED_BYTES // 8)
            if slots & (slots - 1):
                raise InvalidArgument("hash_slots", slots, "a power of two")
        fixed = shared_bytes(self.how, self.block_threads, 32)
        most = (SHARED_BYTES - VARIABLES - fixed) // (8 * self.block_threads)
        check_whole("single_block", self.single_block, 0, most)

    @property
    def how(self) -> int:
        """The number by which kernels know `duplicates`."""
        return check_duplicates(self.duplicates)

    @property
    def frontier_room(self) -> int:
        """Vertices of the largest frontier that the single-block kernel takes: F_Threshold."""
        return self.block_threads * self.single_block

    @property
    def multi_block_slots(self) -> int:
        """Slots of a table in the multi-block kernels: a block's share of a multiprocessor."""
        share = (SHARED_BYTES - VARIABLES) * self.threads // THREADS_PER_MULTIPROCESSOR
        return self.hash_slots or _nearest_pow2(share // 8)

    @property
    def single_block_slots(self) -> int:
        """Slots of the table in the single-block kernel, which its two frontiers leave free."""
        left = _nearest_pow2((SHARED_BYTES - VARIABLES - 8 * self.frontier_room) // 8)
        return min(self.hash_slots or left, left)

    def cull_bytes(self, threads: int, slots: int) -> int:
        """Return the bytes of shared memory that the cull takes in a block."""
        return shared_bytes(self.how, threads, slots if self.how == HASH64 else 0)

    def virtual_warp(self, frontier: int, resident_threads: int) -> int:
        """Return the threads of a virtual warp: nearest_pow2(resident / frontier) in [K1, 32]."""
        if self.warp_size is not None:
            return self.warp_size
        return choose_warp_size(frontier, 0, resident_threads, self.min_warp_size)

    def discovers_edges(self, frontier: int, resident_threads: int) -> bool:
        """Return whether edge-discover visits a frontier of `frontier` vertices."""
        if self.edge_discover == 0 or self.warp_size is not None:
            return False
        return frontier < resident_threads / self.edge_discover


def _nearest_pow2(number: int) -> int:
    return 1 << (max(number, 1).bit_length() - 1)
