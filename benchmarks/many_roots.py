"""Searches per second: many roots at once, compared with one root after another.

In `gk.bfs_many`, up to 256 searches share the arcs that they all follow. It is compared with the
fastest single search, `direction_optimizing`, from each of some roots in turn, on the same graph in
the same run. Roots are drawn from one component. Every distance is compared with that of a search
on all cores of the CPU.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import record, steps
from benchmarks.graphs import kron, rmat
from benchmarks.limits import Limits, measured_limits
from benchmarks.roots import draw, least_bytes
from benchmarks.searches import Family, large_graphs
from gpukernels.graphs.graph import Graph
from gpukernels.notebook.kernel_time import kernel_ms, wall_ms
from gpukernels.notebook.spread import Median
from gpukernels.reference import multicore
from gpukernels.traversal import bfs
from gpukernels.traversal.many_roots import bfs_many
from gpukernels.traversal.many_roots_words import BITS, WORDS

FAMILIES: tuple[Family, ...] = (
    ("kron", "gk.kron(22, 16, seed=1)", lambda k: kron(22 - k, 16, seed=1)),
    ("rmat", "gk.rmat(20, 16, seed=1)", lambda k: rmat(20 - k, 16, seed=1)),
)
FAMILY_NAMES = tuple(family for family, *_ in FAMILIES)

#: The numbers of roots that are searched at once, and how many of them are searched in turn.
TOGETHER, ALONE = (64, 128, 256), 16
#: Rounds, in each of which every way to search is measured once.
ROUNDS = 3
SINGLE = "direction_optimizing"
#: The most seconds for repetitions of one setting.
PATIENCE = 1.5

WHAT = (
    "gk.bfs_many from 64, 128 and 256 random roots of one component, and gk.bfs by "
    f"{SINGLE} without parents from {ALONE} of them one after the other, the graph on the GPU "
    "already, every distance checked. All figures are for one search: kernel_ms (events, the GPU "
    "kept busy before each launch, its cache cold), call_ms (the whole call, distances copied "
    "back), medians of `rounds`, each of many runs and after "
    "the other ways, with the outermost quartiles of all; searches_per_second by kernels; "
    "times_as_many: this by that of one after the other"
)


def widest(rounds: Sequence[Median]) -> Median:
    """Return the median of the rounds' medians, and the outermost of their quartiles."""
    low, high = zip(*(ms.spread for ms in rounds), strict=True)
    return round(Median(statistics.median(rounds), (min(low), max(high))), 5)


def measure(
    device, g: Graph, root: int, limits: Limits, repeat: int, together: Sequence[int]
) -> dict[str, Any]:
    """Return the number of roots searched in turn, and the figures of each way to search."""
    component, most = multicore.bfs(g, root).distance >= 0, max(together)
    # In a very small graph, some roots occur several times.
    roots = np.resize(draw(g, root, component, most), most)
    expected = np.stack([multicore.bfs(g, v).distance for v in roots.tolist()])
    vertices = int(component.sum())
    arcs = int(g.out_degree[component].sum(dtype=np.int64))
    kept: list[Any] = [None]

    def search(device, count: int, label: str) -> None:
        kept[0] = None  # results take gigabytes, so only one is kept at a time
        if label == SINGLE:
            alone = roots[:count].tolist()
            kept[0] = [bfs(g, v, SINGLE, device, parents=False).distance for v in alone]
        else:
            kept[0] = bfs_many(g, roots[:count], device).distance

    def check(count: int, label: str) -> None:
        for i in range(count):
            if not np.array_equal(kept[0][i], expected[i]):
                raise AssertionError(f"{label}: wrong distances from root {roots[i]}")

    ways = {SINGLE: min(ALONE, most), **{f"bfs_many {count} roots": count for count in together}}
    rounds: dict[str, list[tuple[Median, Median]]] = {label: [] for label in ways}
    for _ in range(ROUNDS):
        for label, count in ways.items():
            run = partial(search, count=count, label=label)
            right = partial(check, count, label)
            ms = kernel_ms(device, run, repeat, check=right, patience=PATIENCE)
            call = wall_ms(partial(run, device), repeat, patience=PATIENCE)
            rounds[label].append((ms.times(1 / count), call.times(1 / count)))
    rows: dict[str, dict[str, Any]] = {}
    for label, count in ways.items():
        kernels, calls = zip(*rounds[label], strict=True)
        ms = widest(kernels)
        rows[label] = row = {"kernel_ms": ms, "rounds": len(kernels), "call_ms": widest(calls)}
        # Offsets and targets are read once for all searches; distances are written for each search.
        sharing = 1 if label == SINGLE else min(count, BITS * WORDS[-1])
        shared = least_bytes(vertices, arcs) - 4 * vertices
        row |= limits.judged(ms, shared // sharing + 4 * vertices, arcs // sharing)
        row["searches_per_second"] = round(1e3 / max(ms, 1e-9), 1)
        by_one = rows[SINGLE]["searches_per_second"]
        row["times_as_many"] = round(row["searches_per_second"] / max(by_one, 1e-9), 2)
        steps.tell(
            f"  {label}: {ms:,} ms a search {list(ms.spread)}, {row['times_as_many']} as many"
        )
    return {"one_after_the_other": ways[SINGLE], "searches": rows}


def write(
    device,
    circumstances: dict[str, Any],
    folder: Path,
    *,
    shrink: int = 0,
    repeat: int = 9,
    families: Sequence[str] = FAMILY_NAMES,
    together: Sequence[int] = TOGETHER,
) -> Path:
    """Measure and write the file; return its path. It is written after each graph."""
    steps.expect(len(families) * (1 + len(together)))
    limits = measured_limits(device, shrink)
    rows: list[dict[str, Any]] = []
    measured = {**limits.figures, "times": rows}
    for head, g in large_graphs(FAMILIES, shrink, families):
        steps.tell(f"{head['graph']}: n={g.n:,} m={g.m:,}", 0)
        rows.append({**head, **measure(device, g, head["root"], limits, repeat, together)})
        path = record.write("many_roots", WHAT, measured, circumstances, folder)
    return path
