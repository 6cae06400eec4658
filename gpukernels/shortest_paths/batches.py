"""Shortest paths from many roots, tile by tile: here, or by the workers of a Dask client.

A tile of the result holds the rows of some roots. The topology-driven search
[burtscher2012quantitative] and H-BF compute these together, with one launch per round for all
roots; the other searches compute them one by one. Mapping: as in the search. Work O(k n (n + m)) at
worst for k roots, the same on one worker and on many: the roots have nothing in common but the
graph, which each worker gets once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpukernels import reference
from gpukernels.checks import check_whole
from gpukernels.cores.slabs import for_each
from gpukernels.device import Device, chosen_device
from gpukernels.distributed import (
    RowTile,
    check_client,
    chosen_engine,
    digest_of,
    make_rows,
    placed,
    rows_a_tile,
    tiles_of,
)
from gpukernels.errors import InvalidArgument
from gpukernels.graphs.answers import Answer
from gpukernels.graphs.faces import GraphLike, takes_labels
from gpukernels.graphs.graph import Graph, checked_roots, no_arc, weight_type
from gpukernels.graphs.kernel_weights import kernel_graph, rounding_of, with_rounding
from gpukernels.graphs.summary import shape_of
from gpukernels.graphs.weight_facts import weight_facts
from gpukernels.methods import AUTO, known_method
from gpukernels.primitives.launch_shape import THREADS, check_threads
from gpukernels.reference.in_type import in_type

from . import METHODS
from .auto import from_many_roots
from .given_cycles import cycles_of
from .many_roots import AT_ONCE, MOST_ROOTS, bytes_for, roots_within, search_from_all

#: The search by kernels, unless another is named.
BATCHED = "topology_driven"
#: The counts of each tile.
COUNTED = ("launches", "read_backs", "iterations", "relaxations")


@dataclass(frozen=True, eq=False, repr=False)
class SSSPManyResult(Answer):
    """Shortest paths from many roots.

    Attributes
    ----------
    roots : ndarray of int32, shape (k,)
        The roots of the searches, by position.
    distance : array of int32 or float32, shape (k, n)
        ``distance[i, v]`` is the length of a shortest path from root i to v: int32 or float32, with
        ``engine="cpu"`` the type of the weights; int32 without weights. If there is no path:
        infinity, or for whole numbers the largest of the type. An array of NumPy; with a client or
        a ``.zarr``, one of Dask: its ``[2:4].compute()`` brings two rows here; with a ``.npy``, a
        memory map.
    stats : mapping
        Statistics of the searches of this call: ``method``, ``tiles``, ``resumed`` (tiles that
        existed before), ``batch`` (roots per tile), ``launches``, ``read_backs``, ``iterations``,
        ``relaxations``; with float64 weights, also the additional ones of :class:`SSSPResult`.

    Examples
    --------
    >>> import gpukernels as gk
    >>> gk.sssp_many(gk.path(4), [0, 2])
    SSSPManyResult of 2 roots; distance int32 (2, 4)
    """

    roots: NDArray[np.int32]
    distance: NDArray[Any]
    stats: Mapping[str, Any] = field(default_factory=dict)

    @property
    def _unreached(self) -> float | int:
        return no_arc(self.distance.dtype)

    def __repr__(self) -> str:
        return f"SSSPManyResult of {len(self.roots):,} roots; distance {shape_of(self.distance)}"


@takes_labels(roots="roots")
def sssp_many(
    g: GraphLike,
    roots: ArrayLike,
    method: str = AUTO,
    device: Device | None = None,
    *,
    batch: int | None = None,
    memory: int | None = None,
    threads: int = THREADS,
    engine: str | None = None,
    into: str | PathLike | None = None,
    client: Any = None,
) -> SSSPManyResult:
    """Find shortest paths from many roots, tile by tile, here or by the workers of a client.

    Without a client, the call runs here. The result is the same, bit by bit.

    Parameters
    ----------
    g : Graph, NetworkX graph or SciPy sparse matrix
        The graph; its outgoing arcs are followed, and an arc without a weight counts 1.
    roots : array_like of vertices, shape (k,)
        Vertices where paths begin. A root may occur twice.
    method : str
        A method of :func:`gpukernels.sssp`; not all take negative weights. ``"auto"`` is
        ``"topology_driven"`` with a client, on the SIMT machine, and with `batch` or `memory`;
        otherwise, on a GPU, it is the fastest one for this graph.
    device : SimtDevice or CudaDevice, optional
        Where kernels run; by default :func:`gpukernels.default_device`. With a client, each worker
        runs on its own device.
    batch : int, optional
        Roots per tile; ``"topology_driven"`` and ``"hbf"`` search from all of them at once.
    memory : int, optional
        Bytes of a device that a tile may use. ``"topology_driven"`` takes 4 (n + 2 m) for the graph
        and 8 n per root, ``"hbf"`` takes 4 (3 n + 5 m) and 20 n, both a little more. Unless `batch`
        is given, a tile has as many roots as fit. Only for these two methods on a device.
    threads : int
        Threads per block.
    engine : {"kernels", "cpu"}, optional
        Search with kernels, or with all cores of the CPU (one core per worker of a client). The CPU
        runs Dijkstra's algorithm, or Bellman and Ford's if a weight is negative. By default
        kernels, if a method is named, a GPU answers, or a SIMT machine is given or traces; else the
        CPU. The CPU also takes weights of 64 bits. It adds up float32 weights in 64 bits and rounds
        the sums at the end.
    into : path, optional
        A new ``.npy`` or ``.zarr``, which keeps the distances as they come. If a call was
        interrupted, the same call with the same path continues it, with the same bits. A second
        call with this path is refused until the first has ended.
    client : dask.distributed.Client, optional
        A client whose workers search; see :func:`gpukernels.local_client`. They need `gpukernels`.

    Returns
    -------
    SSSPManyResult
        ``distance`` of shape (k, n), and ``stats``.

    Raises
    ------
    InvalidArgument, UnknownMethod, VertexOutOfRange
        If an argument has a value that is not allowed, or `into` is damaged or holds another
        result; nothing has been written then.
    NegativeWeightError, NegativeCycleError, OverflowError, RoundingError
        As in one search.
    TileError
        If a tile could not be made: a device is out of memory, or a worker died several times.
    OSError
        If the disk of `into` is full. When there is room again, the same call continues.
    MissingTool
        If Dask or Zarr is needed and not installed.

    Examples
    --------
    >>> import gpukernels as gk
    >>> g = gk.Graph.from_arcs(4, [0, 0, 1, 2], [1, 2, 3, 3], [4, 1, 1, 7])
    >>> gk.sssp_many(g, [0, 1]).distance
    array([[         0,          4,          1,          5],
           [2147483647,          0, 2147483647,          1]], dtype=int32)
    """
    chosen = checked_roots(g, roots)
    known_method("sssp", {AUTO: sssp_many, **METHODS}, method)
    threads = check_threads(threads)
    if method != AUTO and engine is None:
        engine = "kernels"
    engine = chosen_engine(engine, device)
    if engine == "cpu" and method not in (AUTO, BATCHED):
        allowed = "left out with engine='cpu': it runs Dijkstra's, or Bellman and Ford's"
        raise InvalidArgument("method", method, allowed)
    if client is not None:
        check_client(client, device)
    elif engine == "kernels":
        device = chosen_device(device)
    if method == AUTO:
        plain = device is None or batch is not None or memory is not None
        method = BATCHED if plain else from_many_roots(g, device)
    given, rounding = g, None
    if engine == "kernels":
        rounding, g = rounding_of(g), kernel_graph(g)
    each = _roots_of_a_tile(g, chosen.size, method, engine, batch, memory)

    dtype = weight_type(g)

    def tiles(before: int | None) -> list[RowTile]:
        size = each or before
        if size is None:
            size = rows_a_tile(chosen.size, dtype.itemsize * g.n, client)
            if device is not None and method in AT_ONCE:
                size = max(1, min(size, roots_within(g, device.free_bytes(), False, method)))
        return tiles_of("roots", chosen, min(size, MOST_ROOTS))

    made_from = {"call": "sssp_many", "method": method, "engine": engine}
    if into is not None:
        made_from |= {"graph": digest_of(g.offsets, g.targets, g.weights)}
        made_from |= {"roots": digest_of(chosen)}
    with nullcontext() if rounding is None else cycles_of(given, chosen):
        rows = make_rows(
            "sssp_many", (chosen.size, g.n), dtype, tiles, search_tile,
            (g if client is None else placed(client, g), method, device, threads, engine,
             client is None),
            client, into, made_from,
        )  # fmt: skip
    if engine == "cpu":
        method = f"reference.{_search_by_cpu(g).__name__}"
    stats: dict[str, Any] = {"method": method, "tiles": rows.tiles, "resumed": rows.resumed}
    stats["batch"] = rows.batch
    for name in COUNTED:
        stats[name] = sum(one[name] for one in rows.stats)
    return with_rounding(SSSPManyResult(chosen, rows.matrix, stats), rounding, given)


def _roots_of_a_tile(
    g: Graph, k: int, method: str, engine: str, batch: int | None, memory: int | None
) -> int | None:
    """Return how many roots a tile has; None if the caller gives neither number."""
    if memory is not None:
        memory = check_whole("memory", memory, 1, 2**63 - 1)
        if method not in AT_ONCE or engine != "kernels":
            some = " or ".join(map(repr, AT_ONCE))
            allowed = f"None unless {some} runs on a device: others search root by root"
            raise InvalidArgument("memory", memory, allowed)
        most = roots_within(g, memory, False, method)
        if most == 0 and k:
            needed = bytes_for(g, 1, False, method)
            raise InvalidArgument("memory", memory, f"at least {needed} for one root")
    if batch is None:
        return None if memory is None else max(1, most)
    batch = check_whole("batch", batch, 1, MOST_ROOTS)
    if memory is not None and min(batch, k) > most:
        raise InvalidArgument("batch", batch, f"at most {most} with memory={memory}")
    return batch


def search_tile(
    g: Graph,
    method: str,
    device: Device | None,
    threads: int,
    engine: str,
    together: bool,
    roots: NDArray,
) -> tuple[NDArray, dict[str, Any]]:
    """Return the rows of some roots, and statistics of the searches; runs on a worker, or here."""
    if engine == "cpu":
        return _by_cpu(g, roots, together)
    device = chosen_device(device)
    if method in AT_ONCE:
        # The graph may already be on the device.
        needed = bytes_for(g, roots.size, False, method) - bytes_for(g, 0, False, method)
        if (free := device.free_bytes()) < needed:
            raise MemoryError(f"{roots.size} roots take {needed:,} bytes; {free:,} are free")
        result = search_from_all(g, roots, device, method, roots.size, threads, False)
        return result.distance, {name: getattr(result, name) for name in COUNTED}
    rows, stats = [], dict.fromkeys(COUNTED, 0)
    for root in roots.tolist():
        one = METHODS[method](g, root, device, threads=threads, parents=False)
        rows.append(one.distance)
        for name in stats:
            stats[name] += one.stats[name]
    return np.stack(rows), stats


def _search_by_cpu(g: Graph) -> Callable[[Graph, int], reference.ShortestPaths]:
    """Return the search of one core: if a weight is negative, Dijkstra's cannot be used."""
    return reference.bellman_ford_queue if weight_facts(g).least < 0 else reference.dijkstra


def _by_cpu(g: Graph, roots: NDArray, together: bool) -> tuple[NDArray, dict[str, Any]]:
    """Return rows and statistics of searches on the CPU, with all cores or one."""
    search = _search_by_cpu(g)
    rows = np.empty((roots.size, g.n), weight_type(g))
    stats = dict.fromkeys(COUNTED, 0)
    counts = np.zeros((roots.size, 2), np.int64)

    def one(i: int) -> None:
        result = search(g, int(roots[i]))
        in_type(result.distance, result.parent >= 0, int(roots[i]), rows[i])
        counts[i] = result.iterations, result.relaxations

    for_each(one, roots.size, together)
    stats["iterations"], stats["relaxations"] = counts.sum(axis=0).tolist()
    return rows, stats
