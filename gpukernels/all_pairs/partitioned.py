"""Parts with few vertices between them: all pairs in each, then between separators, then joined.

Djidjev, Thulasidasan, Chapuis, Andonov and Lavenier [djidjev2014efficient], as in
[busato2017chapter], section 4. Mapping: tile to block. Work O(n^2.25) on a planar graph in sqrt(n)
parts, O(n^3) at worst. A path can leave a part, or enter its target's part, only through a
separator. So three steps find all paths:

1. The shortest paths inside each part: blocked Floyd-Warshall on one small matrix per part.
2. The paths between all separators, in a graph of the separators alone. Its arcs are the arcs
   between parts and, in each part, the paths that step 1 has found.
3. For each two parts a product of three matrices over (min, +): to the separators of one part, to
   those of the other, and on. Inside one part, the path from step 1 may be shorter.

Except in step 2, parts, and rows of the result, do not depend on one another, so workers share
them. Negative integer weights are first raised by heights, as in Johnson's algorithm, so that paths
in parts cannot fall further than those in the graph.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from math import isqrt
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukernels.checks import check_seed, check_whole
from gpukernels.device import Device
from gpukernels.distributed import digest_of
from gpukernels.graphs.graph import Graph
from gpukernels.reference import bellman_ford_queue
from gpukernels.reference.johnson import with_source

from .encoding import absent_of
from .host_tiles import Algebra, Done, closed
from .in_tiles import InTiles, counts
from .lengths import Lengths
from .part_rows import rows_from
from .result import APSPResult
from .separators import Parts, cut
from .tiles import Options


def apsp(
    lengths: Lengths,
    device: Device | None,
    client: Any = None,
    *,
    parts: int | None = None,
    seed: int = 0,
    tile: int | None = None,
    per_thread: str | None = None,
    engine: str = "kernels",
    into: str | PathLike | None = None,
) -> APSPResult:
    """Find all shortest paths part by part, which the workers of a `client` share.

    There are no next hops. ``operations`` counts this call alone. The ``stats`` also have
    ``parts``, ``separators``, ``work`` (additions without padding), ``predicted`` (the same,
    computed from the numbers of parts and separators alone), ``tiles`` and ``resumed``.

    Parameters
    ----------
    parts : int, optional
        Parts of the graph; unless given, the square root of its vertices.
    seed : int
        Seed of METIS, which finds the parts.
    tile, per_thread : int, str, optional
        As in :class:`~gpukernels.all_pairs.tiles.Options`.
    engine : str
        ``"kernels"``, or ``"cpu"``: one core per worker, compiled by numba.
    into : path, optional
        A ``.npy`` or ``.zarr`` file that keeps the distances as they come, so that the same call
        can continue.
    """
    seed = check_seed(seed) & (2**31 - 1)
    call = _Parts(lengths, device, client, engine, into, Options(tile, per_thread))
    if parts is None:
        parts = max(1, isqrt(lengths.n))
    parts = check_whole("parts", parts, 1, 2**31 - 1)
    call.heights = heights_of(call.graph) if lengths.dtype.kind == "i" else None
    call.parts = divided = cut(call.graph, parts, seed)
    members, separators = divided.members, divided.separators.size
    made_from = call.made_from(parts=len(members), seed=seed, cut=digest_of(*members))
    args = lengths.infinite, call.algebra
    result = call.result(lambda: call.tiles(call.names, members), rows_of_part, args, made_from)
    stats = {"parts": len(members), "separators": separators, "work": divided.work()}
    stats |= {"predicted": divided.predicted}
    return replace(result, stats=result.stats | stats)


class _Parts(InTiles):
    """The first two steps for the `parts` of a graph, and the `heights` of its vertices."""

    method = "partitioned"
    parts: Parts
    heights: NDArray | None

    def steps(self, at: int) -> tuple:
        """Return what the rows of part number `at` are made from."""
        shared, inside, between, edges = self._shared
        return at, shared, inside[at], between, edges

    @property
    def names(self) -> list[str]:
        """The name of each part in messages."""
        return [
            f"part {at}, of {members.size:,} vertices from {members[0]:,} on"
            for at, members in enumerate(self.parts.members)
        ]

    @cached_property
    def _shared(self) -> tuple[Any, list[Any], Any, list[Any]]:
        """The data that all tiles share, the parts, ways between separators, and ways from them."""
        parts, names, heights = self.parts, self.names, self.heights
        inputs = self.graph_there, self.algebra
        inside = self.each(
            names, close_part, [(*inputs, members, heights) for members in parts.members]
        )
        edges = self.each(names, take, list(zip(inside, parts.borders, strict=True)))
        name = f"{parts.separators.size:,} separators"
        between = self.do(name, close_separators, *inputs, parts, edges, heights)
        shared: Any = parts, heights
        if self.client is not None:
            shared = self.client.submit(tuple, shared, pure=False)
        return shared, inside, between, edges


def heights_of(g: Graph) -> NDArray[np.int64] | None:
    """Return the length of a shortest path to each vertex from anywhere; None if no weight is < 0.

    NegativeCycleError if there is a cycle of negative length; names one.
    """
    if g.weights is None or not (g.weights < 0).any():
        return None
    return bellman_ford_queue(with_source(g), g.n).distance[: g.n].astype(np.int64)


def arcs_among(
    g: Graph, vertices: NDArray, part: NDArray | None, heights: NDArray | None
) -> NDArray:
    """Return the matrix of the arcs between some vertices.

    With `part`, arcs inside a part are left out. An arc weighs more by the height at its source and
    less by that at its target.
    """
    place = np.full(g.n, -1)
    place[vertices] = np.arange(vertices.size)
    count = g.out_degree[vertices].astype(np.int64)
    source, before = np.repeat(vertices, count), np.cumsum(count) - count
    arc = np.repeat(g.offsets[vertices] - before, count) + np.arange(source.size)
    target = g.targets[arc]
    chosen = (place[target] >= 0) & (source != target)
    if part is not None:
        chosen &= part[source] != part[target]
    source, target, arc = source[chosen], target[chosen], arc[chosen]
    arc_weights = g.weights
    weights: Any = np.ones(source.size, np.int32) if arc_weights is None else arc_weights[arc]
    dtype, absent = weights.dtype, absent_of(weights.dtype)
    if heights is not None:  # which differ by less than half of `absent`: no sum wraps around
        weights = np.minimum(weights, absent).astype(np.int64)
        weights += heights[source] - heights[target]
    weights = np.minimum(weights, absent).astype(dtype)
    matrix = np.full((vertices.size, vertices.size), absent, dtype)
    np.minimum.at(matrix, (place[source], place[target]), weights)
    np.fill_diagonal(matrix, 0)
    return matrix


def close_part(g: Graph, algebra: Algebra, members: NDArray, heights: NDArray | None) -> Done:
    """Return the shortest paths inside a part; a task of the first step."""
    return closed(algebra, arcs_among(g, members, None, heights), g, members)


def take(part: Done, border: NDArray) -> NDArray:
    """Return the ways from a part's separators to all of it."""
    return part.matrix[border]


def close_separators(
    g: Graph,
    algebra: Algebra,
    parts: Parts,
    edges: list[NDArray],
    heights: NDArray | None,
) -> Done:
    """Return the shortest paths between all separators; the task of the second step."""
    part, separators = np.full(g.n, -1), parts.separators
    for at, members in enumerate(parts.members):
        part[members] = at
    matrix = arcs_among(g, separators, part, heights)
    for of, edge, border in zip(_spans(parts), edges, parts.borders, strict=True):
        matrix[of, of] = edge[:, border]
    return closed(algebra, matrix, g, separators)


def rows_of_part(
    infinite: float,
    algebra: Algebra,
    at: int,
    shared: tuple[Parts, NDArray | None],
    inside: Done,
    between: Done,
    edges: list[NDArray],
) -> tuple[NDArray, dict[str, Any]]:
    """Return the rows of a part's vertices; a task of the third step."""
    parts, heights = shared
    rows = rows_from(algebra, parts, at, inside.matrix, edges, heights)
    to_own = inside.matrix[:, parts.borders[at]]
    rows.to_separators(to_own, between.matrix[_spans(parts)[at]])
    rows.onward()
    ordered = rows.in_order(infinite)
    once = [between] if at == 0 else []  # the counts of the boundary, for one part only
    return ordered, counts([rows, inside, *once])


def _spans(parts: Parts) -> list[slice]:
    """Return where the separators of each part are among all."""
    ends = np.cumsum([0, *(border.size for border in parts.borders)]).tolist()
    return [slice(a, b) for a, b in pairwise(ends)]
