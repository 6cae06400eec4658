"""The roots of a benchmark's searches, and the right results from them.

A single root is not enough: a search from the vertex with the most arcs ends sooner than others.
Graph500 searches from random vertices that have arcs. Here they are drawn from one component, so
that all searches reach the same vertices and follow the same arcs. It is the strongly connected
component of a given first root. In an undirected graph, this is its connected component.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpukernels import reference
from gpukernels.graphs.graph import Graph

#: Random roots in addition to the first one, a quarter of Graph500's number.
ROOTS = 16


@dataclass(frozen=True, eq=False)
class Case:
    """A root and the right result of a search from it.

    Attributes
    ----------
    root : int
        The vertex from which the search starts.
    distance : ndarray of int32, shape (n,)
        The distances of the sequential search.
    levels, reached, arcs : int
        Numbers of levels, of reached vertices, and of arcs that leave these.
    """

    root: int
    distance: NDArray[np.int32]
    levels: int
    reached: int
    arcs: int

    @property
    def least_bytes(self) -> int:
        """The bytes that a search of every arc must move: see :func:`least_bytes`."""
        return least_bytes(self.reached, self.arcs)


def least_bytes(reached: int, arcs: int) -> int:
    """Return the bytes of a search that reads each offset and target once and writes each distance.

    These are 4 bytes for the offset, the distance and every target of each reached vertex. A search
    that skips arcs, such as a bottom-up one, needs less.
    """
    return 4 * (2 * reached + arcs)


def find(g: Graph, root: int) -> Case:
    """Search `g` from `root` on one core."""
    tree = reference.bfs(g, root)
    reached = tree.distance >= 0
    arcs = int(g.out_degree[reached].sum(dtype=np.int64))
    return Case(root, tree.distance, tree.levels, int(reached.sum()), arcs)


def draw(
    g: Graph, root: int, reached: NDArray[np.bool_], count: int = ROOTS, seed: int = 1
) -> list[int]:
    """Return up to `count` random vertices of the component of `root`, which reaches `reached`.

    Only vertices with arcs are drawn, and none twice. `root` itself is drawn only if it is alone.
    """
    leads_here = reference.bfs(g.reverse, root).distance >= 0
    component = np.flatnonzero(leads_here & reached & (g.out_degree > 0))
    others = component[component != root]
    drawn = np.random.default_rng(seed).choice(others, min(count, others.size), replace=False)
    return drawn.tolist() or [root]


def cases(g: Graph, root: int, count: int = ROOTS, seed: int = 1) -> list[Case]:
    """Return the case of `root`, and the cases of the vertices that :func:`draw` returns."""
    first = find(g, root)
    drawn = draw(g, root, first.distance >= 0, count, seed)
    return [first, *(first if v == root else find(g, v) for v in drawn)]
