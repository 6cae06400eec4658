"""What a BFS returns, and the state that every BFS starts from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

#: ``distance`` of a vertex that the search has not reached.
UNVISITED = -1


@dataclass(frozen=True, eq=False)
class BFSResult:
    """A breadth-first search from one root.

    Attributes
    ----------
    distance : ndarray of int32, shape (n,)
        Number of arcs on a shortest path from the root; -1 where no path leads.
    parent : ndarray of int32, shape (n,)
        The vertex before this one on such a path; the root is its own parent; -1 where no path
        leads. Where several vertices qualify, any of them may stand here.
    levels : int
        Number of levels, the root's included: the largest distance plus 1.
    stats : dict
        What the search did. Every method gives ``method``, ``launches`` (kernel launches),
        ``threads`` (work-items that were given a thread, summed over the launches) and
        ``frontier_sizes`` (a list, one entry a level); the method's own module names what it adds.
    """

    distance: np.ndarray
    parent: np.ndarray
    levels: int
    stats: dict[str, Any] = field(default_factory=dict)

    @property
    def reached(self) -> int:
        """Number of vertices that the search reached, the root included."""
        return int(np.count_nonzero(self.distance != UNVISITED))


def start_at(root: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return host arrays ``distance`` and ``parent`` in which only `root` is visited."""
    distance = np.full(n, UNVISITED, dtype=np.int32)
    parent = np.full(n, UNVISITED, dtype=np.int32)
    distance[root], parent[root] = 0, root
    return distance, parent


def vertices_per_level(distance: np.ndarray) -> list[int]:
    """Return how many vertices lie at distance 0, 1, 2, ... from the root."""
    return np.bincount(distance[distance != UNVISITED]).tolist()
