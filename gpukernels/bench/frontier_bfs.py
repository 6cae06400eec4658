"""What the chapter on frontier BFS says of a real GPU: times, duplicates, and a race that is lost.

``python -m gpukernels.bench frontier_bfs`` measures on the current GPU, half a minute,
and writes ``data/benchmarks/frontier_bfs.json``; ``--shrink K`` halves the graphs K times.

Times are those of `gpukernels.bench.bfs`: of the kernels and of whole calls, from vertex 0 and from
random roots. The rest depends on who comes first, so it is counted in several runs.
"""

from __future__ import annotations

import runpy
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gpukernels import reference
from gpukernels.bench import record, steps
from gpukernels.bench.bfs import measure
from gpukernels.bench.graphs import rmat, road_grid, small_world
from gpukernels.bench.kernel_time import LaunchTimer
from gpukernels.bench.limits import measured_limits
from gpukernels.bench.roots import ROOTS
from gpukernels.bench.search_time import timer_for
from gpukernels.bench.searches import judge
from gpukernels.exercises.tasks.frontier_bfs import SPREAD, run_spread
from gpukernels.graphs.graph import Graph
from gpukernels.traversal import bfs

#: The chapter's searches as `gpukernels.bench.bfs.searches` names them.
SEARCHES: list[tuple[str, str, dict[str, Any]]] = [
    ("harish", "harish", {}),
    ("virtual_warp", "virtual_warp", {"warp_size": 8}),
    ("edge_parallel", "edge_parallel", {}),
    ("frontier", "frontier", {}),
]

#: The chapter's graphs of 2**scale vertices, and the call that makes them.
FAMILIES: dict[str, tuple[str, Callable[[int, int], Graph]]] = {
    "rmat": (
        "gk.rmat({scale}, {degree}, seed=1)",
        lambda scale, degree: rmat(scale, degree, seed=1),
    ),
    "small world": (
        "gk.small_world(2**{scale}, {degree}, 0.1, seed=1)",
        lambda scale, degree: small_world(1 << scale, degree, 0.1, seed=1),
    ),
    "road": (
        "gk.road_grid(2**({scale}//2), 2**({scale}//2), seed=1)",
        lambda scale, degree: road_grid(1 << scale // 2, 1 << scale // 2, seed=1),
    ),
}

#: (scale, arcs a vertex) of the chapter's graphs, of those that a core searches in a millisecond,
#: and of those that it does not.
SMALL, MEDIUM, LARGE = (10, 8), (16, 8), (20, 16)


WHAT = (
    "the chapter's searches, figures as in bfs.json, from vertex 0 and from random roots of its "
    "component; duplicates (of frontier) and wrong distances (of the racing kernel of bfs-3) by run"
)


def times(
    timer: LaunchTimer, scale: int, degree: int, repeat: int, bandwidth: float, roots: int = ROOTS
) -> list[dict[str, Any]]:
    """Return a row a family: the times of every search, and the queue's duplicates by run."""
    rows = []
    for family, (call, make) in FAMILIES.items():
        g = make(scale, degree)
        steps.tell(f"{family}: n={g.n:,} m={g.m:,}", 0)
        row = measure(timer, g, 0, repeat, bandwidth, SEARCHES, roots)
        head = {"graph": family, "call": call.format(scale=scale, degree=degree), "root": 0}
        made = duplicates(timer.device, g, 3)
        rows.append({**head, "n": g.n, "m": g.m, **row, "duplicates": made})
    return rows


def duplicates(device, g: Graph, runs: int) -> list[int]:
    """Return how many vertices `frontier` enqueues once more, in each of some runs."""
    return [bfs(g, 0, "frontier", device).stats["duplicates_made"] for _ in range(runs)]


def lost_races(kernel, device, g: Graph, runs: int) -> list[int]:
    """Return how many distances of `g` the racing `kernel` gets wrong, in each of some runs."""
    right = reference.bfs(g, 0).distance
    found = (run_spread(kernel, device, g)["distance"] for _ in range(runs))
    return [int(np.count_nonzero(distance != right)) for distance in found]


def racing_kernel(folder: Path) -> Any:
    """Return the kernel of the chapter's third exercise as readers get it, written to `folder`."""
    file = folder / "skeleton.py"
    file.write_text(SPREAD.skeleton)
    return runpy.run_path(str(file))["spread"]


def races(device, sizes: Mapping[str, tuple[int, int]], runs: int) -> dict[str, dict[str, Any]]:
    """Return :func:`lost_races` of the exercise's kernel, every family at each of some sizes."""
    with tempfile.TemporaryDirectory() as folder:
        kernel = racing_kernel(Path(folder))
        return {
            size: {
                family: lost_races(kernel, device, make(scale, degree), runs)
                for family, (_, make) in FAMILIES.items()
            }
            for size, (scale, degree) in sizes.items()
        }


def write(device, here: dict[str, Any], folder: Path, *, shrink: int = 0, repeat: int = 9) -> Path:
    """Measure and write the file; return its path."""
    small, medium, large = (_halved(size, shrink) for size in (SMALL, MEDIUM, LARGE))
    steps.expect(2 * len(FAMILIES) * (4 + len(SEARCHES)))
    steps.tell("duplicates and races", 0)
    made = {family: duplicates(device, make(*small), 6) for family, (_, make) in FAMILIES.items()}
    sizes = {f"2**{scale} vertices": (scale, degree) for scale, degree in (small, medium, large)}
    limits = measured_limits(device, shrink)
    timer, bandwidth = timer_for(device), limits.gigabytes_per_second
    rows = [row for size in (medium, large) for row in times(timer, *size, repeat, bandwidth)]
    for row in rows:
        judge(limits, row["searches"].values())
    measured = {
        "duplicates_1024": made,
        "wrong_distances_of_bfs_3": races(device, sizes, 3),
        **limits.figures,
        "times": rows,
    }
    return record.write("frontier_bfs", WHAT, measured, here, folder)


def _halved(size: tuple[int, int], shrink: int) -> tuple[int, int]:
    """Return (scale, arcs a vertex) with the vertices halved, but for the smallest graphs."""
    return max(size[0] - shrink, min(size[0], 5)), size[1]
