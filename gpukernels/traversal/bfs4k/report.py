"""Report a BFS-4K search level by level; slow counts are made only when they are read."""

from __future__ import annotations

import dataclasses
import functools

from gpukernels.frontiers.counts import ARCS, DROPPED

from ..result import BFSResult, read_tree, repeats
from .levels import Levels


def report(search: Levels, levels: int) -> BFSResult:
    """Return the result of `search`, which went through `levels` levels."""
    knobs, device = search.knobs, search.device
    distance, parent = read_tree(device, search.distance, search.parent, search.parents)
    # The functions below keep only these alive, not the buffers of the search.
    sizes, totals, resident = search.sizes, search.counted, search.resident
    kernels, sizes_by_level, collected = search.kernels, search.enqueued, search.collected
    child_threads = search.child_threads

    @functools.cache
    def enqueued() -> list[int]:
        """Sizes of the frontiers as they were enqueued; the single block noted its own."""
        noted = device.read(sizes[:levels]) if "single_block" in kernels else {}
        return [sizes_by_level[i] if i in sizes_by_level else int(noted[i]) for i in range(levels)]

    def visited() -> list[int]:
        """Sizes of the frontiers as they were visited."""
        return [collected.get(i, size) for i, size in enumerate(enqueued())]

    @functools.cache
    def groups() -> list[int]:
        """Threads of a virtual warp at each level."""
        held = {"single_block": knobs.block_threads, "multi_block": resident}
        return [
            knobs.virtual_warp(size, held[kernel]) if kernel in held else 0
            for size, kernel in zip(visited(), kernels, strict=True)
        ]

    def threads() -> int:
        """Threads that had a vertex, or an arc of the child kernel."""
        busy = sum(size * (group or 1) for size, group in zip(visited(), groups(), strict=True))
        return busy + child_threads

    @functools.cache
    def counted() -> list[int]:
        return device.read(totals).tolist()

    def missed() -> int:
        return sum(repeats(enqueued(), distance))

    stats = {
        "method": "bfs4k",
        "knobs": dataclasses.asdict(knobs),
        "launches": search.launches,
        "read_backs": search.read_backs,
        "threads": threads,
        "frontier_sizes": enqueued,
        "kernels": kernels,
        "warp_sizes": groups,
        "child_above": search.large.above,
        "child_vertices": search.child_vertices,
        "child_launches": search.child_launches,
        "arcs_inspected": lambda: counted()[ARCS],
        "duplicates": lambda: repeats(enqueued(), distance),
        "duplicates_detected": lambda: counted()[DROPPED],
        "duplicates_missed": missed,
        "duplicates_made": lambda: counted()[DROPPED] + missed(),
        "overflows": search.overflows,
    }
    return BFSResult(distance, parent, levels, stats)
