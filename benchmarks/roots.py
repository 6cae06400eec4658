"""Where the searches of a benchmark begin, and what they then find.

A single root says little: from the vertex of most arcs a search is over sooner than from others.
Graph500 searches from random vertices that have arcs. Here they are drawn from one component, so
that all searches reach the same vertices and follow the same arcs: the strongly connected component
of a given first root, which is the connected component where the graph is undirected.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpukernels import reference
from gpukernels.graphs.graph import Graph

#: Random roots beside the first, as many as a quarter of Graph500's.
ROOTS = 16


@dataclass(frozen=True, eq=False)
class Case:
    """A root and what a search from it must find.

    Attributes
    ----------
    root : int
        Where it begins.
    distance : ndarray of int32, shape (n,)
        By the sequential search.
    levels, reached, arcs : int
        Levels, vertices reached, and arcs that leave these.
    """

    root: int
    distance: NDArray[np.int32]
    levels: int
    reached: int
    arcs: int

    @property
    def least_bytes(self) -> int:
        """What a search that follows every arc must move: see :func:`least_bytes`."""
        return least_bytes(self.reached, self.arcs)


def least_bytes(reached: int, arcs: int) -> int:
    """Return the bytes of an offset and a target a time read once, and a distance written.

    For each vertex that is reached its offset and its distance, for each of its arcs the target, 4
    bytes each. A search that skips arcs, as bottom-up ones do, can do with less.
    """
    return 4 * (2 * reached + arcs)


def find(g: Graph, root: int) -> Case:
    """Search `g` from `root` on one core."""
    found = reference.bfs(g, root)
    reached = found.distance >= 0
    arcs = int(g.out_degree[reached].sum(dtype=np.int64))
    return Case(root, found.distance, found.levels, int(reached.sum()), arcs)


def draw(
    g: Graph, root: int, reached: NDArray[np.bool_], count: int = ROOTS, seed: int = 1
) -> list[int]:
    """Return up to `count` random vertices of the component of `root`, which reaches `reached`.

    Only vertices that have arcs are drawn, and none twice; `root` itself only if it is alone.
    """
    leads_here = reference.bfs(g.reverse, root).distance >= 0
    component = np.flatnonzero(leads_here & reached & (g.out_degree > 0))
    others = component[component != root]
    drawn = np.random.default_rng(seed).choice(others, min(count, others.size), replace=False)
    return drawn.tolist() or [root]


def cases(g: Graph, root: int, count: int = ROOTS, seed: int = 1) -> list[Case]:
    """Return the case of `root`, and those of vertices that :func:`draw` gives."""
    first = find(g, root)
    drawn = draw(g, root, first.distance >= 0, count, seed)
    return [first, *(first if v == root else find(g, v) for v in drawn)]
