"""The result of a search for the shortest paths of all pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukernels.cores.compiled import compiled
from gpukernels.cores.slabs import on_all_cores, slabs_of
from gpukernels.errors import LengthOverflow, RoundingError
from gpukernels.graphs.answers import Answer
from gpukernels.graphs.graph import Graph, weight_type
from gpukernels.graphs.summary import by_method, shape_of
from gpukernels.graphs.weight_facts import weight_facts
from gpukernels.reference import bellman_ford_queue
from gpukernels.reference.negative_cycles import find_negative_cycle

from .encoding import SMALL, none_in
from .lengths import Lengths, graph_of


@dataclass(frozen=True, eq=False, repr=False)
class APSPResult(Answer):
    """Shortest paths between all pairs of vertices.

    Attributes
    ----------
    distance : ndarray of int32 or float32, shape (n, n)
        ``distance[i, j]`` is the length of a shortest path from i to j: int32 or float32, from the
        CPU in the type of the weights; int32 without weights. No path is infinity or, for
        integers, the largest of the type, 2^31 - 1 in int32. With a client, or from a ``.zarr``, it
        is a Dask array; ``[2:4].compute()`` loads a part of it.
    next_hop : ndarray of int32, shape (n, n), or None
        The vertex after i on such a path to j; i itself for i = j, -1 where no path leads. A walk
        from hop to hop ends at j. None unless asked for.
    stats : mapping
        Counts of the search. Every method gives ``method``, ``launches``, ``read_backs`` (how often
        the host waited for a number from the device) and ``operations`` (additions, each followed
        by a minimum; those on padding count). With float lengths there are ``rounding_error``
        and ``rounded_weights``, as in :class:`~gpukernels.shortest_paths.SSSPResult`, except for a
        float32 matrix without negative lengths.

    Examples
    --------
    >>> import gpukernels as gk
    >>> gk.apsp(gk.path(5), "naive")
    APSPResult by naive: 25 of 25 pairs; distance int32 (5, 5), next_hop none
    """

    distance: NDArray[Any]
    next_hop: NDArray[np.int32] | None
    stats: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        n = len(self.distance)
        if not isinstance(self.distance, np.ndarray):  # to count would bring all of it here
            shape = shape_of(self.distance)
            return f"APSPResult by {by_method(self.stats)}: distance {shape}, an array of Dask"
        return (
            f"APSPResult by {by_method(self.stats)}: {self.joined:,} of {n * n:,} pairs; "
            f"distance {shape_of(self.distance)}, next_hop {shape_of(self.next_hop)}"
        )

    @property
    def _unreached(self) -> Any:
        return none_in(self.distance)

    @property
    def joined(self) -> int:
        """Number of pairs (i, j) with a path from i to j, those with i = j included."""
        return self.distance.size - not_joined(self.distance)

    def path(self, i: Any, j: Any) -> list[Any]:
        """Return the vertices of a shortest path from `i` to `j`, by label; none if there is none.

        Raises
        ------
        ValueError
            If the search kept no next hops.
        InvalidArgument, VertexOutOfRange
            If `i` or `j` is no vertex.
        """
        i, j = self._position("i", i), self._position("j", j)
        if self.next_hop is None:
            raise ValueError("this search kept no next hops: gk.apsp(..., next_hops=True) does")
        if self.next_hop[i, j] < 0:
            return []
        path = [i]
        while path[-1] != j:
            path.append(int(self.next_hop[path[-1], j]))
        return self._labels(path)


def no_path(distance: NDArray) -> NDArray[np.bool_]:
    """Return where no path leads."""
    return distance == none_in(distance)


def not_joined(distance: Any) -> int:
    """Return between how many pairs no path leads; of an array of Dask, too."""
    if not isinstance(distance, np.ndarray):
        return int(no_path(distance).sum())

    def count(first: int, last: int) -> int:
        return int(np.count_nonzero(no_path(distance[first:last])))

    return sum(on_all_cores(count, distance.shape))


def result_of(
    lengths: Lengths,
    matrix: NDArray,
    through: NDArray | None,
    stats: Mapping[str, Any],
    *,
    is_decoded: bool = False,
) -> APSPResult:
    """Return the result, without padding; infinite lengths are decoded in place.

    Unless it `is_decoded`: then the device has done so.

    NegativeCycleError, which names one, if there is a negative cycle; RoundingError if there is
    none, but distances are rounded so far that it looks as if.
    """
    n = lengths.n
    matrix = np.ascontiguousarray(matrix[:n, :n])
    through = None if through is None else np.ascontiguousarray(through[:n, :n])
    no_cycle(lengths, matrix)
    if not is_decoded:
        make_infinite(lengths.infinite, matrix)
    return APSPResult(matrix, next_hops_of(matrix, through), stats)


def no_cycle(
    of: Lengths | Graph, matrix: NDArray, vertices: Sequence[int] | NDArray | None = None
) -> None:
    """Raise the error if a way from a vertex to itself is negative.

    `matrix` has the distances between these `vertices`, or between all.
    """
    on_cycle = np.flatnonzero(matrix.diagonal() < 0)
    if on_cycle.size:
        first = int(on_cycle[0])
        vertex = first if vertices is None else int(vertices[first])
        g = of if isinstance(of, Graph) else of.graph()
        bellman_ford_queue(g, vertex)  # finds it, and names it
        raise RoundingError(vertex, str(weight_type(g)))


def make_infinite(infinite: float, matrix: NDArray) -> None:
    """Write what users see for no path, in place, rows at a time; of floats it stands there."""
    if matrix.dtype.kind == "i":
        limit, none = matrix.dtype.type(infinite), none_in(matrix)
        if matrix.size <= SMALL:
            matrix[matrix >= limit] = none
            return

        def tell(first: int, last: int) -> None:
            _tell(matrix[first:last], limit, none)

        on_all_cores(tell, matrix.shape, one_pass=True)


def next_hops_of(matrix: NDArray, through: NDArray | None) -> NDArray[np.int32] | None:
    """Return the next hops of all pairs; None if no vertices that paths go through were noted.

    RoundingError if distances are rounded so far that paths cannot be followed.
    """
    if through is None:
        return None
    next_hop = np.full(matrix.shape, -1, np.int32)
    lost = int(_follow(through, no_path(matrix), next_hop))
    if lost >= 0:
        raise RoundingError(lost, str(matrix.dtype))
    return next_hop


@compiled(nogil=True)
def _tell(rows, limit, none):
    """Replace what is not below `limit`."""
    for i in range(len(rows)):
        row = rows[i]
        for j in range(len(row)):
            if row[j] >= limit:  # what is written of a file has to be kept
                row[j] = none


def check_cycles(g: Graph | NDArray, lengths: Lengths) -> bool:
    """Return whether some lengths are negative floats, if they have no negative cycle.

    NegativeCycleError if they have one, even if rounding would hide it. `lengths` are made from
    `g`, what the caller has given; RoundingError if they have a negative cycle only because they
    are rounded to float32. O(n m) at worst on the host, and only if a float is negative.
    """
    source = lengths.given
    if isinstance(source, Graph):
        signed = source.weights is not None and source.weights.dtype.kind == "f"
        signed = signed and weight_facts(source).least < 0
    else:
        signed = source.dtype.kind == "f" and source.size > 0 and bool(source.min() < 0)
    if not signed:
        return False
    if lengths.rounding is not None:
        exact = g if isinstance(g, Graph) else graph_of(g)
        if error := find_negative_cycle(exact, np.zeros(exact.n)):
            raise error
    graph = lengths.graph()
    if error := find_negative_cycle(graph, np.zeros(graph.n)):
        raise error if lengths.rounding is None else RoundingError(error.cycle[0])
    return True


def checked(lengths: Lengths, run: Callable[[Lengths], APSPResult]) -> APSPResult:
    """Return the result of `run`; LengthOverflow if a path is too long to be held.

    If paths may be, it runs once more, to see which pairs are joined at all.
    """
    result = run(lengths)
    if lengths.too_long and not_joined(result.distance):
        check_held(result.distance, run(lengths.pattern()).distance)
    return result


def check_held(distance: NDArray, joined: NDArray) -> None:
    """Raise LengthOverflow if what looks infinite is not where all arcs count 0."""
    for first, last in slabs_of(len(distance)):
        wrong = no_path(distance[first:last]) & ~no_path(joined[first:last])
        wrong = np.asarray(wrong)  # what Dask has, too
        if wrong.any():
            i, j = (int(ends[0]) for ends in wrong.nonzero())
            raise LengthOverflow("longer", distance.dtype, first + i, j)


@compiled()
def _follow(via, none, next_hop):
    """Fill `next_hop`, which holds -1; return a vertex from which a path never ends, or -1.

    ``via[i, j]`` is the vertex through which the path from i to j was last made shorter: it is the
    path to there and the path from there on, -1 an arc. A path is unrolled until it gets to where
    the way is known. Steps that come back to a vertex of this way (which happens around cycles of
    length 0) are taken back. So the hops to j are a tree.
    """
    n = len(via)
    way, place = np.empty(n, np.int32), np.full(n, -1, np.int32)
    ends = np.empty((16 * n + 16, 2), np.int32)
    for j in range(n):
        next_hop[j, j] = j
        for start in range(n):
            if none[start, j] or next_hop[start, j] >= 0:
                continue
            way[0], place[start], length = start, 0, 1
            ends[0, 0], ends[0, 1], waiting, steps = start, j, 1, 0
            while next_hop[way[length - 1], j] < 0:
                steps += 1
                if waiting == 0 or waiting + 2 > len(ends) or steps > 16 * n:
                    return start
                waiting -= 1
                u, v = ends[waiting]
                k = via[u, v]
                if k >= 0:
                    ends[waiting, 0], ends[waiting, 1] = k, v
                    ends[waiting + 1, 0], ends[waiting + 1, 1] = u, k
                    waiting += 2
                elif place[v] >= 0:
                    while way[length - 1] != v:
                        length -= 1
                        place[way[length]] = -1
                else:
                    way[length], place[v] = v, length
                    length += 1
            for at in range(length):
                if at + 1 < length:
                    next_hop[way[at], j] = way[at + 1]
                place[way[at]] = -1
    return -1
