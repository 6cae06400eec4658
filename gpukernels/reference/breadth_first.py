"""Breadth-first search with a queue."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpukernels.cores.compiled import compiled
from gpukernels.graphs.faces import GraphLike, takes_labels
from gpukernels.graphs.graph import check_root
from gpukernels.graphs.summary import search_summary


class Traversal(NamedTuple):
    """The result of a sequential breadth-first search.

    Attributes
    ----------
    distance : array of int32, shape (n,)
        Arcs on a shortest path from the root; -1 if there is none.
    parent : array of int32, shape (n,)
        The vertex before on a shortest path; the root is its own parent, -1 if there is none.
    levels : int
        Number of non-empty frontiers, the root's included: the greatest distance plus 1.

    Examples
    --------
    >>> import gpukernels as gk
    >>> distance, parent, levels = gk.reference.bfs(gk.star(4))
    >>> parent, levels
    (array([0, 0, 0, 0], dtype=int32), 2)
    """

    distance: NDArray[np.int32]
    parent: NDArray[np.int32]
    levels: int

    def __repr__(self) -> str:
        return search_summary(self)


@takes_labels("root", weighted=False)
def bfs(g: GraphLike, root: Any = 0) -> Traversal:
    """Breadth-first search with a queue: O(n + m) work, each reached arc inspected once.

    Parameters
    ----------
    g : Graph, NetworkX graph or SciPy sparse matrix
        The graph; its weights are not used.
    root : int
        The vertex where the search starts.

    Returns
    -------
    Traversal
        Distances, parents and the number of levels. Among several possible parents, the one that
        entered the queue first is taken.

    Raises
    ------
    VertexOutOfRange
        If `root` is not a vertex of `g`.

    Examples
    --------
    >>> import gpukernels as gk
    >>> gk.reference.bfs(gk.path(4), root=1).distance
    array([1, 0, 1, 2], dtype=int32)
    """
    root = check_root(g, root)
    distance = np.full(g.n, -1, dtype=np.int32)
    parent = np.full(g.n, -1, dtype=np.int32)
    queue = np.empty(g.n, dtype=np.int32)
    reached = _bfs(g.offsets, g.targets, root, distance, parent, queue)
    return Traversal(distance, parent, int(distance[queue[reached - 1]]) + 1)


@compiled(nogil=True)
def _bfs(offsets, targets, root, distance, parent, queue):
    """Fill `distance` and `parent`, which hold -1; return how many vertices were reached.

    Invariant: ``queue[:tail]`` are the vertices reached, in ascending order of distance. Indices
    are unsigned, because numba tests every signed one for being negative: that takes a third of
    the time.
    """
    distance[root] = 0
    parent[root] = root
    queue[0] = root
    one = np.uint64(1)
    head, tail = np.uint64(0), one
    while head < tail:
        u = queue[head]
        row = np.uint64(u)
        head += one
        level = distance[row] + np.int32(1)
        for i in range(np.uint64(offsets[row]), np.uint64(offsets[row + one])):
            v = targets[i]
            place = np.uint64(v)
            if distance[place] < 0:
                distance[place] = level
                parent[place] = u
                queue[tail] = v
                tail += one
    return np.int64(tail)
