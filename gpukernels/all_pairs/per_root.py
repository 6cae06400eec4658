"""A search for shortest paths from each root in turn: for sparse graphs, where n^3 is too much.

Harish and Narayanan's [harish2007accelerating] answer to all pairs, as surveyed in
[busato2017chapter], section 4. Mapping: that of the search. Work O(n^2 (n + m)) at worst; in most
graphs a search takes few rounds, so about n (n + m) times their number. On the device is one row of
the result at a time.

For next hops the searches follow the arcs backwards: their parents from root j are the next hops to
j, a tree by themselves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpukernels.checks import check_choice
from gpukernels.device import Device
from gpukernels.errors import NegativeCycleError, NegativeWeightError
from gpukernels.graph import Graph
from gpukernels.primitives.launch_shape import THREADS, check_threads
from gpukernels.shortest_paths import METHODS as SEARCHES
from gpukernels.shortest_paths import SSSPResult

from .lengths import UNREACHED, Lengths
from .result import APSPResult


def check_search(search: str, threads: int) -> int:
    """Return `threads`; InvalidArgument unless there is such a search and such blocks."""
    check_choice("search", search, SEARCHES)
    return check_threads(threads)


def search_from(g: Graph, root: int, device: Device, search: str, threads: int) -> SSSPResult:
    """Return the shortest paths from one root."""
    return SEARCHES[search](g, root, device, threads=threads)


def apsp(
    lengths: Lengths,
    device: Device,
    *,
    search: str = "topology_driven",
    threads: int = THREADS,
    next_hops: bool = False,
) -> APSPResult:
    """Find all shortest paths, a search a vertex.

    Parameters
    ----------
    search : str
        A method of :func:`gpukernels.sssp`; not all take negative weights.
    threads : int
        Threads a block.
    next_hops : bool
        Whether the result holds next hops.

    Returns
    -------
    APSPResult
        ``operations`` are relaxations; with most searches their number depends on the order of the
        threads.
    """
    threads = check_search(search, threads)
    result = rows_of(lengths, lengths.graph(), device, search, threads, next_hops, "per_root")
    if result.distance.dtype == np.int32:
        # What no other method can hold is held by none.
        result.distance[result.distance >= lengths.infinite] = UNREACHED
    return result


def _turned_around(error: Exception) -> Exception:
    """Return what an error of a search against the arcs says of the arcs."""
    if isinstance(error, NegativeCycleError):
        return NegativeCycleError(error.cycle[::-1])
    if isinstance(error, NegativeWeightError):
        return NegativeWeightError(
            error.method, error.arc[::-1], error.weight, error.alternatives
        )  # fmt: skip
    return OverflowError(str(error).replace("a path from", "a path to"))


def rows_of(
    lengths: Lengths,
    g: Graph,
    device: Device,
    search: str,
    threads: int,
    next_hops: bool,
    method: str,
) -> APSPResult:
    """Return what the searches from all vertices of `g` find."""
    distance: NDArray = np.empty((g.n, g.n), lengths.matrix.dtype)
    parent = np.empty((g.n, g.n), np.int32) if next_hops else None
    stats = {"method": method, "launches": 0, "read_backs": 0, "operations": 0, "iterations": 0}
    arcs = g.reverse if next_hops else g
    for root in range(g.n):
        try:
            found = search_from(arcs, root, device, search, threads)
        except (NegativeCycleError, NegativeWeightError, OverflowError) as error:
            raise (_turned_around(error) if next_hops else error) from None
        distance[root] = found.distance
        if parent is not None:
            parent[root] = found.parent
        stats["launches"] += found.stats["launches"] + found.stats["launches_for_parents"]
        stats["read_backs"] += found.stats["read_backs"]
        stats["operations"] += found.stats["relaxations"]
        stats["iterations"] += found.stats["iterations"]
    if parent is None:
        return APSPResult(distance, None, stats)
    return APSPResult(np.ascontiguousarray(distance.T), np.ascontiguousarray(parent.T), stats)
