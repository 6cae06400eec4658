"""A search for shortest paths from each root in turn: for sparse graphs, where n^3 is too much.

Harish and Narayanan's [harish2007accelerating] answer to all pairs, as surveyed in
[busato2017chapter], section 4. Mapping: as in the search. Work O(n^2 (n + m)) at worst; in most
graphs a search takes few rounds, so about n (n + m) times their number. The device holds one row of
the result at a time, or a batch of rows: then one launch does a round of all searches of the batch.

For next hops the searches follow the arcs backwards. The parents in the search from root j form a
tree, and are the next hops to j.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukernels.checks import check_choice, check_whole
from gpukernels.device import Device
from gpukernels.errors import (
    InvalidArgument,
    LengthOverflow,
    NegativeCycleError,
    NegativeWeightError,
)
from gpukernels.graphs.graph import Graph
from gpukernels.graphs.stats import Stats
from gpukernels.methods import takes_fields_of
from gpukernels.primitives.launch_shape import THREADS, check_threads
from gpukernels.shortest_paths import METHODS as SEARCHES
from gpukernels.shortest_paths import SSSPResult
from gpukernels.shortest_paths.batches import sssp_many
from gpukernels.shortest_paths.many_roots import (
    AT_ONCE,
    MOST_ROOTS,
    bytes_for,
    roots_within,
    search_from_all,
)

from .lengths import Lengths, lengths_of
from .result import APSPResult, make_infinite


@dataclass(frozen=True)
class Searches:
    """How to search from all roots, by keyword.

    Attributes
    ----------
    search : str
        A method of :func:`gpukernels.sssp`; not all take negative weights.
    threads : int
        Threads per block.
    batch : int, optional
        Roots to search from at once, with one launch per round for all of them; only with the
        searches ``"topology_driven"`` and ``"hbf"``. By default, one search follows the other.
    memory : int, optional
        Bytes of the device that a batch may use. ``"topology_driven"`` takes 4 (n + 2 m) for the
        graph and 8 n per root, ``"hbf"`` 4 (3 n + 5 m) and 20 n, both a little more. Unless `batch`
        is given, it has as many roots as fit.
    next_hops : bool
        Whether the result holds next hops.
    """

    search: str = "topology_driven"
    threads: int = THREADS
    batch: int | None = None
    memory: int | None = None
    next_hops: bool = False

    def checked(self) -> Searches:
        """Return a copy with Python's own numbers; InvalidArgument if an option is not allowed."""
        check_choice("search", self.search, SEARCHES)
        options = {"batch": self.batch, "memory": self.memory}
        limits = {"batch": (1, MOST_ROOTS), "memory": (1, 2**63 - 1)}
        for name, value in options.items():
            if value is not None:
                options[name] = check_whole(name, value, *limits[name])
                if self.search not in AT_ONCE:
                    some = " or ".join(map(repr, AT_ONCE))
                    allowed = f"None with search={self.search!r}: batches are for {some}"
                    raise InvalidArgument(name, value, allowed)
        return replace(self, threads=check_threads(self.threads), **options)

    def roots_at_once(self, g: Graph, device: Device) -> int | None:
        """Return how many roots a batch has; None for searches one by one.

        Raises
        ------
        InvalidArgument
            If that many do not fit.
        """
        if self.batch is None and self.memory is None:
            return None
        free = device.free_bytes()
        bound = free if self.memory is None else min(self.memory, free)
        most = roots_within(g, bound, self.next_hops, self.search)
        if most == 0 or (self.batch is not None and min(self.batch, g.n) > most):
            needed = bytes_for(g, self.batch if most else 1, self.next_hops, self.search)
            name = "batch" if self.memory is None or most else "memory"
            where = f"memory={bound}" if bound == self.memory else f"the {bound:,} bytes free"
            allowed = f"at most {most} with {where}" if most else f"at least {needed} for one root"
            raise InvalidArgument(name, getattr(self, name), allowed)
        return most if self.batch is None else self.batch


def search_from(
    g: Graph, root: int, device: Device, search: str, threads: int, parents: bool
) -> SSSPResult:
    """Return the shortest paths from one root."""
    return SEARCHES[search](g, root, device, threads=threads, parents=parents)


@takes_fields_of(Searches)
def apsp(
    lengths: Lengths,
    device: Device,
    *,
    engine: str = "kernels",
    into: str | PathLike | None = None,
    **options: Any,
) -> APSPResult:
    """Find all shortest paths, with one search per vertex; see :class:`Searches`.

    ``operations`` are relaxations; with most searches their number depends on the order of the
    threads.

    Parameters
    ----------
    engine : str
        ``"kernels"``, or ``"cpu"``: one core per worker. See :func:`gpukernels.sssp_many`.
    into : path, optional
        A ``.npy`` or ``.zarr`` file that keeps the distances as they come, so that the same call
        can continue. With it, with a client or with the other engine, any number of vertices is
        allowed, and a path is too long if the type of the weights does not hold it.
    """
    searches = Searches(**options).checked()
    result = rows_of(lengths, lengths.graph(), device, searches, "per_root")
    make_infinite(lengths.infinite, result.distance)  # what no other method holds, none does
    return result


def in_tiles(
    g: Graph | NDArray,
    device: Device | None,
    client: Any,
    *,
    engine: str = "kernels",
    into: str | PathLike | None = None,
    **options: Any,
) -> APSPResult:
    """Find the same in tiles of rows; only the tiles in work are in memory."""
    searches = Searches(**options)
    if searches.next_hops:
        allowed = "False in tiles of rows: hops would come in tiles of columns"
        raise InvalidArgument("next_hops", searches.next_hops, allowed)
    arcs = g if isinstance(g, Graph) else lengths_of(g, kernels=False, whole=False).graph()
    result = sssp_many(
        arcs, np.arange(arcs.n), searches.search, device, batch=searches.batch,
        memory=searches.memory, threads=searches.threads, engine=engine, into=into, client=client,
    )  # fmt: skip
    more = {"method": "per_root", "operations": result.stats["relaxations"]}
    stats = Stats(result.stats) | more
    return APSPResult(result.distance, None, stats)


def _turned_around(
    error: LengthOverflow | NegativeCycleError | NegativeWeightError,
) -> Exception:
    """Return an error of a search against the arcs as an error about the arcs."""
    if isinstance(error, NegativeCycleError):
        return NegativeCycleError(error.cycle[::-1])
    if isinstance(error, NegativeWeightError):
        return NegativeWeightError(
            error.method, error.arc[::-1], error.weight, error.alternatives
        )  # fmt: skip
    return LengthOverflow(error.how, error.dtype, error.target, error.source)


def rows_of(
    lengths: Lengths, g: Graph, device: Device, searches: Searches, method: str
) -> APSPResult:
    """Return the results of the searches from all vertices of `g`."""
    arcs, batch = g.reverse if searches.next_hops else g, searches.roots_at_once(g, device)
    try:
        if batch is None:
            return _one_by_one(lengths, arcs, device, searches, method)
        result = search_from_all(
            arcs, np.arange(g.n, dtype=np.int32), device, searches.search, batch, searches.threads,
            searches.next_hops,
        )  # fmt: skip
    except (NegativeCycleError, NegativeWeightError, LengthOverflow) as error:
        raise (_turned_around(error) if searches.next_hops else error) from None
    stats = {
        "method": method, "launches": result.launches, "read_backs": result.read_backs,
        "operations": result.relaxations, "iterations": result.iterations, "batch": min(batch, g.n),
    }  # fmt: skip
    return _turned(result.distance, result.parent, stats)


def _one_by_one(
    lengths: Lengths, g: Graph, device: Device, searches: Searches, method: str
) -> APSPResult:
    """Return the results of one search after the other."""
    distance: NDArray = np.empty((g.n, g.n), lengths.dtype)
    parent = np.empty((g.n, g.n), np.int32) if searches.next_hops else None
    stats = {"method": method, "launches": 0, "read_backs": 0, "operations": 0, "iterations": 0}
    for root in range(g.n):
        result = search_from(g, root, device, searches.search, searches.threads, searches.next_hops)
        distance[root] = result.distance
        if parent is not None:
            parent[root] = result.parent
        stats["launches"] += result.stats["launches"] + result.stats["launches_for_parents"]
        stats["read_backs"] += result.stats["read_backs"]
        stats["operations"] += result.stats["relaxations"]
        stats["iterations"] += result.stats["iterations"]
    return _turned(distance, parent, stats)


def _turned(distance: NDArray, parent: NDArray | None, stats: dict[str, Any]) -> APSPResult:
    """Return the result: of searches against the arcs, with rows for columns."""
    if parent is None:
        return APSPResult(distance, None, stats)
    return APSPResult(np.ascontiguousarray(distance.T), np.ascontiguousarray(parent.T), stats)
