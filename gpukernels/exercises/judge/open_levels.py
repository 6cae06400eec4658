"""The graphs, the rules and the price of bfs-open, a breadth-first search."""

from __future__ import annotations

import numpy as np

from gpukernels.graphs.generators import path, rmat, road_grid, small_world, star
from gpukernels.graphs.graph import Graph
from gpukernels.reference import bfs
from gpukernels.trace import Trace, metrics
from gpukernels.views.frontier.levels import read_levels

from .bench import in_short

#: Launches in addition to one per level: one that finds nothing new, and one to begin with.
SPARE = 2


def graphs() -> dict[str, tuple[Graph, int]]:
    """Return the three graphs of the chapter, each with its root."""
    return {
        "R-MAT": (rmat(10, edge_factor=8, seed=1), 0),
        "small world": (small_world(1024, degree=8, rewire=0.1, seed=1), 0),
        "roads": (road_grid(32, 32, seed=1), 0),
    }


def awkward(seed: int) -> dict[str, Graph]:
    """Return graphs to be searched from vertex 0, the last one drawn with `seed`."""
    draw = np.random.default_rng(seed)
    n = int(draw.integers(2, 80))
    arcs = draw.integers(0, n, (2, int(draw.integers(1, 6 * n))))
    return {
        "one vertex": Graph.from_arcs(1, [], []),
        "a self-loop and parallel arcs": Graph.from_arcs(4, [0, 0, 0, 1, 1], [0, 1, 1, 2, 2]),
        "a path of 35 vertices": path(35),
        "a star of 150 vertices": star(150),
        "a long way and a short one": Graph.from_arcs(5, [0, 0, 1, 2, 3], [1, 4, 2, 3, 4]),
        "a drawn graph": Graph.from_arcs(n, *arcs),
    }


def levels_of(g: Graph, root: int) -> np.ndarray:
    """Return the right distances as float64, infinite where no path leads."""
    return finite(bfs(g, root).distance)


def finite(distance: np.ndarray) -> np.ndarray:
    """Return distances as float64, infinite in place of the negative ones."""
    return np.where(distance < 0, np.inf, distance)


def read_search(trace: Trace, g: Graph, root: int) -> tuple[str | None, np.ndarray, None]:
    """Return a broken rule, or None, and the distances that the kernels found."""
    distance = np.full(g.n, np.inf)
    distance[root] = 0
    shared = [info.name for info in trace.arrays if info.space == "shared"]
    if shared:
        return f"a block shares the memory `{shared[0]}`, which this task rules out", distance, None
    source = np.repeat(np.arange(g.n), g.out_degree)
    try:
        levels = read_levels(trace, g.n, source, root)
    except Exception as error:
        return f"the search cannot be read from its trace: {in_short(error)}", distance, None
    for k, level in enumerate(levels):
        distance[level.new_vertices] = np.minimum(distance[level.new_vertices], k + 1)
    expected = levels_of(g, root)
    launches, deep = len(trace.launches), int(expected[np.isfinite(expected)].max())
    if launches > deep + SPARE:
        count = f"{launches} launches for {deep} levels beyond the root's"
        return f"{count}, and one launch per level is wanted", distance, None
    return None, distance, None


def sectors(trace: Trace, _: None) -> int:
    """Return the price of bfs-open, as the chapter counts it.

    A warp asks a queue's one counter once, as the compiler has it.
    """
    waits = metrics.atomic_conflicts(trace.select(array=["next_size"]))
    return int(metrics.sectors(trace).sum() - waits.sum())
