"""Report an H-BF search; slow counts are made only when they are read."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from ..result import SSSPResult
from ..tight import with_parents
from .classes import ID_BITS, IN_DEGREE, NORMAL, OUT_DEGREE, SELF_LOOP
from .rounds import Rounds

CLASSES = {"self_loop": SELF_LOOP, "out_degree": OUT_DEGREE, "in_degree": IN_DEGREE}


def report(rounds: Rounds, parents: bool) -> SSSPResult:
    """Return the result of a search after its last round."""
    g, root, device, options = rounds.g, rounds.root, rounds.device, rounds.options
    distance = rounds.end()
    targets, times, only_plain = rounds.search.targets, rounds.search.times, rounds.only_plain

    @functools.cache
    def kinds() -> np.ndarray:
        """Return the class of each arc."""
        if not options.edge_classes:
            return np.full(g.m, NORMAL)
        return device.read(targets) >> ID_BITS

    @functools.cache
    def relaxed() -> np.ndarray:
        """Return how often each arc was relaxed or skipped."""
        return np.repeat(device.read(times), g.out_degree)

    def by_class(weights) -> dict[str, int]:
        """Add the `weights` of each class's arcs; arcs of the root count as the source class."""
        from_root = slice(g.offsets[root], g.offsets[root + 1])
        source = 0
        if only_plain:
            source = int(weights[from_root][kinds()[from_root] == NORMAL].sum())
        sums = {name: int(weights[kinds() == k].sum()) for name, k in CLASSES.items()}
        return sums | {"source": source}

    def skipped() -> int:
        """Return how often an arc was skipped."""
        return sum(by_class(relaxed())[name] for name in ("self_loop", "out_degree"))

    stats = {
        "method": "hbf",
        "options": dataclasses.asdict(options),
        "launches": rounds.launches,
        "launches_for_classes": int(rounds.marked_now),
        "read_backs": rounds.read_backs,
        "iterations": len(rounds.sizes),
        "frontier_sizes": rounds.sizes,
        "warp_sizes": rounds.warp_sizes,
        "vertices_a_warp": rounds.vertices_a_warp,
        "child_launches": rounds.child_launches,
        "child_vertices": rounds.child_vertices,
        "relaxations": lambda: int(relaxed().sum()) - skipped(),
        "relaxations_at_the_end": lambda: int((kinds() == OUT_DEGREE).sum()),
        "class_of_arc": lambda: (kinds() & 3).astype(np.int8),
        "edge_classes": lambda: by_class(np.ones(g.m, np.int64)),
        "saved": lambda: by_class(relaxed()),
        "enqueues": rounds.enqueues,
        "duplicates": rounds.duplicates,
        "duplicates_removed": rounds.removed,
        "overflows": rounds.overflows,
    }
    return with_parents(
        g, root, device, rounds.arcs, distance, options.threads, parents, stats
    )  # fmt: skip
