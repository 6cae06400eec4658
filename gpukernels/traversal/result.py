"""The result of a BFS, and the state from which every BFS starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba import cuda

from gpukernels.device import Device, DeviceArray
from gpukernels.graphs.answers import FromOneRoot
from gpukernels.graphs.stats import Stats
from gpukernels.graphs.summary import by_method, search_summary

#: ``distance`` of a vertex that the search has not reached.
UNVISITED = -1


@dataclass(frozen=True, eq=False)
class BFSResult(FromOneRoot):
    """A breadth-first search from one root.

    Attributes
    ----------
    distance : ndarray of int32, shape (n,)
        Number of arcs on a shortest path from the root; -1 if there is no path.
    parent : ndarray of int32, shape (n,), or None
        The vertex before this one on such a path; the root is its own parent; -1 if there is no
        path. If several vertices qualify, any of them may be given. None if the search was told not
        to keep parents.
    levels : int
        Number of levels, the root's included: the largest distance plus 1.
    stats : Stats
        Statistics of the search. Every method gives ``method``, ``launches`` (of kernels),
        ``read_backs`` (how often the host waited for a number from the device during the search),
        ``threads`` (work-items that were given a thread, summed over the launches), ``levels`` and
        ``frontier_sizes`` (a list with one entry per level). ``duplicates_made`` counts vertices
        that were found again: ``duplicates_detected`` were dropped, ``duplicates_missed`` enqueued.
        Searches without a queue count none, nor do those that settle a find exactly, by an atomic
        or by one flag per vertex. The method's own module names what it adds.

    Examples
    --------
    >>> import gpukernels as gk
    >>> r = gk.bfs(gk.path(4), root=1)
    >>> r.distance
    array([1, 0, 1, 2], dtype=int32)
    >>> r.parent
    array([1, 1, 1, 2], dtype=int32)
    >>> r.levels, r.reached, r.stats["frontier_sizes"]
    (3, 4, [1, 2, 1])
    >>> r.path_to(3), r.to_dict()
    ([1, 2, 3], {1: 0, 0: 1, 2: 1, 3: 2})
    """

    distance: np.ndarray
    parent: np.ndarray | None
    levels: int
    stats: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        none = dict.fromkeys(("duplicates_made", "duplicates_detected", "duplicates_missed"), 0)
        object.__setattr__(self, "stats", Stats({"levels": self.levels, **none}) | self.stats)

    def __repr__(self) -> str:
        by = f" of {by_method(self.stats)}" if "method" in self.stats else ""
        return f"{search_summary(self, by)}, stats of {len(self.stats)} entries"

    @property
    def _unreached(self) -> int:
        return UNVISITED


def start_at(
    root: int, n: int, device: Device, parents: bool = True
) -> tuple[DeviceArray, DeviceArray]:
    """Return device arrays ``distance`` and ``parent`` in which only `root` is visited.

    Without `parents`, ``parent`` has no elements: see :func:`adopt`.
    """
    # Made together, as `read_tree` reads them.
    distance, parent = device.full_all((n, n if parents else 0), UNVISITED, np.int32)
    device.put(distance, root, 0)
    if parents:
        device.put(parent, root, root)
    return distance, parent


@cuda.jit(device=True)
def adopt(parent, v, u):
    """Make `u` the parent of `v`, unless the search keeps no parents."""
    if v < parent.size:
        parent[v] = u


def read_tree(
    device: Device, distance: DeviceArray, parent: DeviceArray, parents: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return on the host the distances of a search, and its parents or None."""
    host_distance, *tree = device.read_all(distance, *[parent] * parents)
    return host_distance, tree[0] if parents else None


def repeats(enqueued: list[int], distance: np.ndarray) -> list[int]:
    """Return how many vertices each level enqueued again, from its total number `enqueued`."""
    return [e - f for e, f in zip(enqueued, vertices_per_level(distance), strict=False)]


def vertices_per_level(distance: np.ndarray) -> list[int]:
    """Return how many vertices are at distance 0, 1, 2, ... from the root."""
    return np.bincount(distance[distance != UNVISITED]).tolist()
