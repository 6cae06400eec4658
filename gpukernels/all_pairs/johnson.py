"""Johnson: heights that make all weights non-negative, then a search from each root.

Johnson [johnson1977efficient], as in [busato2017chapter], section 4. Mapping: as in the search.
Work O(n^2 (n + m)) at worst with the Bellman-Ford searches used here; with Dijkstra's it would be
O(n (m + n log n)). The height of a vertex is the length of a shortest path to it from anywhere. One
search from an added vertex finds all heights. An arc's weight rises by the height of its source and
falls by the height of its target. So no weight is negative, and all paths from u to v change alike.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gpukernels.cores.compiled import compiled
from gpukernels.device import Device
from gpukernels.graphs.graph import Graph, arc_weights
from gpukernels.methods import takes_fields_of
from gpukernels.reference.johnson import with_source

from .encoding import ABSENT, none_in
from .lengths import Lengths
from .per_root import Searches, rows_of, search_from
from .result import APSPResult, no_path

#: The search that finds the heights: one that takes negative weights.
FOR_HEIGHTS = "topology_driven"


@takes_fields_of(Searches)
def apsp(lengths: Lengths, device: Device, **options: Any) -> APSPResult:
    """Find all shortest paths, with one search for heights and one search per vertex.

    ``operations`` are relaxations; their number depends on the order of the threads. If floats are
    negative, raised weights are rounded. They then decide the paths alone, and a distance is the
    sum of the weights of its path.
    """
    searches = Searches(**options).checked()
    g, dtype = lengths.graph(), lengths.dtype
    if g.n == 0:
        return rows_of(lengths, g, device, searches, "johnson")
    heights = search_from(with_source(g), g.n, device, FOR_HEIGHTS, searches.threads, False)
    exact = np.int64 if dtype == np.int32 else np.float64
    height = heights.distance[: g.n].astype(exact)
    source, target = g.coo
    weights, every = arc_weights(g), np.arange(g.n)
    raised = np.maximum(weights.astype(exact) + height[source] - height[target], 0)
    # Longer arcs are part of no path that can be held.
    held = raised < (2 * ABSENT if dtype == np.int32 else np.inf)
    flat = Graph.from_arcs(g.n, source[held], target[held], raised[held].astype(dtype))
    rounded = dtype != np.int32 and bool((weights < 0).any())
    hops = searches.next_hops or rounded
    result = rows_of(lengths, flat, device, replace(searches, next_hops=hops), "johnson")
    if rounded:
        distance = _lengths_along(lengths.matrix, result.next_hop)
    else:
        distance = result.distance.astype(exact) - height[:, None] + height[None, :]
    none = no_path(result.distance) | (distance >= lengths.infinite)
    distance[none] = none_in(result.distance)
    distance[every, every] = 0
    first = heights.stats
    stats = dict(result.stats)
    stats["launches"] += first["launches"]
    stats["operations"] += first["relaxations"]
    for name in ("read_backs", "iterations"):
        stats[name] += first[name]
    return APSPResult(
        distance.astype(dtype), result.next_hop if searches.next_hops else None, stats
    )


@compiled()
def _lengths_along(matrix, next_hop):
    """Return the length of each pair's path, added up in float64 from its end: O(n^2).

    The hops to a vertex are a tree. A path is followed until it gets to where the length is known.
    """
    n = len(next_hop)
    length, way = np.full((n, n), np.inf), np.empty(n, np.int32)
    for j in range(n):
        length[j, j] = 0
        for start in range(n):
            u, steps = start, 0
            while next_hop[u, j] >= 0 and length[u, j] == np.inf:
                way[steps] = u
                u, steps = next_hop[u, j], steps + 1
            for k in range(steps - 1, -1, -1):
                length[way[k], j] = matrix[way[k], u] + length[u, j]
                u = way[k]
    return length
