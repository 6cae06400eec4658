"""Searches a second: many roots at once beside one after the other.

`gk.bfs_many` lets 64 searches share the arcs that they all follow. It is compared with the fastest
single search, `direction_optimizing`, from each of some roots in turn, on the same graph in the
same run. Roots are drawn from one component; every distance is compared with that of a search on
all cores of the CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gpukernels import multicore
from gpukernels.bench import record, steps
from gpukernels.bench.graphs import kron, rmat
from gpukernels.bench.kernel_time import kernel_ms, wall_ms
from gpukernels.bench.limits import Limits, measured_limits
from gpukernels.bench.roots import draw, least_bytes
from gpukernels.bench.searches import Family, large_graphs
from gpukernels.bench.spread import Median
from gpukernels.graph import Graph
from gpukernels.traversal import bfs
from gpukernels.traversal.many_roots import bfs_many

FAMILIES: tuple[Family, ...] = (
    ("kron", "gk.kron(22, 16, seed=1)", lambda k: kron(22 - k, 16, seed=1)),
    ("rmat", "gk.rmat(20, 16, seed=1)", lambda k: rmat(20 - k, 16, seed=1)),
)
FAMILY_NAMES = tuple(family for family, *_ in FAMILIES)

#: Roots that are searched from at once, and of these as many in turn as a GPU has the time for.
TOGETHER, ALONE = 64, 16
#: What is tried of the knob that decides between top-down and bottom-up.
ALPHAS = (4.0, 1.0, 16.0, 64.0)
SINGLE = "direction_optimizing"
#: Seconds that one setting is repeated at most.
PATIENCE = 4.0

WHAT = (
    f"gk.bfs_many from {TOGETHER} random roots of one component, and gk.bfs by {SINGLE} without "
    f"parents from {ALONE} of them one after the other, the graph on the GPU already, every "
    "distance checked. All figures are for one search: kernel_ms (events, the GPU kept busy before "
    "each launch, its cache cold), call_ms (the whole call, distances copied back), medians; "
    "searches_per_second by kernels; times_as_many: this by that of one after the other"
)


def measure(
    device, g: Graph, root: int, limits: Limits, repeat: int, alphas: Sequence[float]
) -> dict[str, Any]:
    """Return how many roots there are, and the figures of each way to search from them.

    Raises
    ------
    AssertionError
        If a distance is wrong.
    """
    roots = draw(g, root, multicore.bfs(g, root).distance >= 0, TOGETHER)
    expected = np.stack([multicore.bfs(g, v).distance for v in roots])
    alone = roots[:ALONE]
    reached = expected[0] >= 0
    arcs = int(g.out_degree[reached].sum(dtype=np.int64))
    kept: list[Any] = [None]

    def one_by_one(there) -> None:
        kept[0] = np.stack([bfs(g, v, SINGLE, there, parents=False).distance for v in alone])

    def together(there, alpha: float) -> None:
        kept[0] = bfs_many(g, roots, there, alpha=alpha).distance

    ways = {SINGLE: (one_by_one, len(alone), 1)} | {
        f"bfs_many alpha={alpha:g}": (
            lambda there, alpha=alpha: together(there, alpha), len(roots), len(roots)
        )
        for alpha in alphas
    }  # fmt: skip
    found: dict[str, dict[str, Any]] = {}
    for label, (run, count, sharing) in ways.items():

        def check(label=label, count=count) -> None:
            np.testing.assert_array_equal(kept[0], expected[:count], err_msg=label)

        def each(ms: Median, count=count) -> Median:
            return round(ms.times(1 / count), 5)

        ms = each(kernel_ms(device, run, repeat, check=check, patience=PATIENCE))
        call = each(wall_ms(lambda run=run: run(device), repeat, patience=PATIENCE))
        # Offsets and targets are read once for all that share them, distances written for each.
        vertices = int(reached.sum())
        shared = least_bytes(vertices, arcs) - 4 * vertices
        needed = limits.judged(ms, shared // sharing + 4 * vertices, arcs // sharing)
        rate = round(1e3 / max(ms, 1e-9), 1)
        row = {"kernel_ms": ms, "call_ms": call, "searches_per_second": rate, **needed}
        found[label] = row
        row["times_as_many"] = round(rate / max(found[SINGLE]["searches_per_second"], 1e-9), 2)
        steps.tell(f"  {label}: {ms:,} ms a search, {row['times_as_many']} times as many a second")
    return {"roots": len(roots), "one_after_the_other": len(alone), "searches": found}


def write(
    device,
    here: dict[str, Any],
    folder: Path,
    *,
    shrink: int = 0,
    repeat: int = 9,
    families: Sequence[str] = FAMILY_NAMES,
    alphas: Sequence[float] = ALPHAS,
) -> Path:
    """Measure and write the file; return its path. It is written after each graph."""
    steps.expect(len(families) * (1 + len(alphas)))
    limits = measured_limits(device, shrink)
    rows: list[dict[str, Any]] = []
    measured = {**limits.figures, "times": rows}
    for head, g in large_graphs(FAMILIES, shrink, families):
        steps.tell(f"{head['graph']}: n={g.n:,} m={g.m:,}", 0)
        rows.append({**head, **measure(device, g, head["root"], limits, repeat, alphas)})
        path = record.write("many_roots", WHAT, measured, here, folder)
    return path
