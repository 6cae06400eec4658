"""Shortest paths between all pairs, one technique per file; `apsp` finds them by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import ArrayLike, NDArray

from gpukernels.checks import check_choice
from gpukernels.device import Device, chosen_device, shown_if_slow
from gpukernels.distributed import ENGINES, check_client
from gpukernels.errors import InvalidArgument
from gpukernels.graphs.faces import GraphLike, takes_labels
from gpukernels.graphs.graph import Graph
from gpukernels.graphs.kernel_weights import with_rounding
from gpukernels.graphs.stats import Stats
from gpukernels.methods import AUTO, Driver, Method, driver_of, help_text

from . import (
    auto,
    block_tasks,
    blocked,
    johnson,
    kleene,
    matsumoto,
    naive,
    out_of_core,
    partitioned,
    per_root,
    repeated_squaring,
    shared_rows,
    tran,
)
from .encoding import UNREACHED
from .lengths import Lengths, checked_source, lengths_of, vertices_of
from .min_plus import min_plus
from .result import APSPResult, check_cycles, checked


@dataclass(frozen=True)
class AllPairs(Method):
    """A method of `apsp`, the places where it runs, and the arc lengths that it takes there.

    Lengths are a whole ``"matrix"``, one that may be ``"resident"`` on the device, ``"rows"`` made
    when they are needed, or the graph or matrix as ``"given"``.

    Attributes
    ----------
    lengths : str
        The lengths that the driver takes.
    finds_too_long : bool
        Whether the driver itself finds paths that are too long to be held; else `apsp` does.
    devices : callable, optional
        The driver for several devices of this machine, which takes a whole matrix.
    tiles : callable, optional
        The driver for tiles that are made by the workers of a client, or here one by one. It takes
        the client after the device.
    tile_lengths : str
        The lengths that this driver takes.
    """

    lengths: str = "resident"
    finds_too_long: bool = False
    devices: Driver | None = None
    tiles: Driver | None = None
    tile_lengths: str = "rows"

    def is_in_tiles(self, client: Any, options: Mapping[str, Any]) -> bool:
        """Return whether a call with these options makes tiles."""
        apart = client is not None or options.get("engine", "kernels") != "kernels"
        apart = apart or any(options.get(name) is not None for name in ("into", "block"))
        return self.tiles is not None and (apart or self.tiles is self.driver)


METHODS = {
    "naive": AllPairs(
        naive.apsp,
        "Floyd-Warshall with one launch per pivot: one thread per pair tries the way through "
        "the pivot",
        paper="floyd1962shortest",
        work="O(n^3)",
    ),
    "blocked": AllPairs(
        blocked.apsp,
        "Floyd-Warshall in shared memory and registers, tile by tile: three launches per tile of "
        "pivots",
        paper="venkataraman2003blocked",
        work="O(n^3)",
        devices=shared_rows.apsp,
        tiles=block_tasks.apsp,
    ),
    "repeated_squaring": AllPairs(
        repeated_squaring.apsp,
        "The matrix times itself, again and again: each (min, +) product doubles the arcs of a "
        "path",
        paper="padamata2013graph",
        work="O(n^3 log n)",
    ),
    "kleene": AllPairs(
        kleene.apsp,
        "Kleene's recursion: half of the vertices, then the other half, joined by (min, +) "
        "products",
        paper="buluc2010solving",
        work="O(n^3)",
    ),
    "out_of_core": AllPairs(
        out_of_core.apsp,
        "Floyd-Warshall on a matrix larger than the device, block by block; copies run beside "
        "kernels",
        paper="venkataraman2003blocked",
        work="O(n^3)",
        lengths="rows",
        finds_too_long=True,
    ),
    "tran": AllPairs(
        tran.apsp,
        "The matrix squared again and again, tile by tile, where it is larger than the device",
        paper="tran2010designing",
        work="O(n^3 log n)",
        lengths="rows",
    ),
    "matsumoto": AllPairs(
        matsumoto.apsp,
        "Blocked Floyd-Warshall on CPU and GPU together: pivots on the CPU, all other blocks on "
        "the GPU",
        paper="matsumoto2011blocked",
        work="O(n^3)",
        lengths="rows",
    ),
    "per_root": AllPairs(
        per_root.apsp,
        "A search for shortest paths from each root in turn: for sparse graphs, where n^3 is "
        "too much",
        paper="harish2007accelerating",
        work="O(n^2 (n + m))",
        tiles=per_root.in_tiles,
        tile_lengths="given",
    ),
    "johnson": AllPairs(
        johnson.apsp,
        "Johnson: heights that make all weights non-negative, then a search from each root",
        paper="johnson1977efficient",
        work="O(n^2 (n + m))",
        lengths="matrix",
    ),
    "partitioned": AllPairs(
        partitioned.apsp,
        "Parts with few vertices between them: all pairs in each, then between separators, then "
        "joined",
        paper="djidjev2014efficient",
        work="O(n^2.25)",
        tiles=partitioned.apsp,
    ),
}


@takes_labels()
def apsp(
    g: GraphLike | ArrayLike,
    method: str = AUTO,
    device: Device | None = None,
    *,
    client: Any = None,
    **options: Any,
) -> APSPResult:
    """Find shortest paths between all pairs of vertices.

    Parameters
    ----------
    g : Graph, NetworkX graph, SciPy sparse matrix or array, shape (n, n)
        The graph. An arc without a weight counts 1; of parallel arcs the shortest counts. Or a
        matrix of arc lengths, integers or floats, with a diagonal of 0. No arc is infinity or, for
        integers, the largest of the type: 2^31 - 1, or for int64 2^63 - 1. Kernels take int32 and
        float32. For other lengths see :func:`gpukernels.sssp`, and for 2^31 - 1 in int64, which
        kernels also take as no arc. The CPU takes lengths as given. At most 32,768 vertices; with
        `out_of_core`, as many as fit in the host's memory or on a disk, and the matrix is read
        from a memory map some rows at a time.
    method : str
        ``"auto"``, or one of the methods below, which ``gk.methods("apsp")`` lists. On a
        GPU ``"auto"`` is ``"blocked"``, ``"repeated_squaring"`` for some hundred vertices, or
        ``"out_of_core"`` if the matrix does not fit. Without a GPU, or if kernels do not take a
        length, the CPU runs: Floyd and Warshall's loops, or Dijkstra's algorithm from each root
        if there are few arcs. With a SIMT machine as `device`, or inside :func:`gpukernels.trace`,
        ``"auto"`` is ``"blocked"``.
    device : SimtDevice or CudaDevice, optional
        Where kernels run; by default :func:`gpukernels.default_device`. With a client, each worker
        runs on its own.
    client : dask.distributed.Client, optional
        Client with workers that share the work of `blocked`, `per_root` or `partitioned`; see
        :func:`gpukernels.local_client`. Then ``distance`` is an array of Dask, unless it is kept in
        a file.
    **options
        Further options of the method; see below. ``"auto"`` takes `next_hops`,
        `into`, `engine`, `block` and `devices`.

    Returns
    -------
    APSPResult
        ``distance``, ``next_hop``, ``path`` and ``stats``. After ``"auto"`` the ``method`` among
        the stats is what has run, and ``why`` tells the reason.

    Raises
    ------
    UnknownMethod
        If there is no such method.
    InvalidArgument
        If an argument or an option has a value that is not allowed, or kernels cannot take a
        length; nothing has been launched then.
    NegativeCycleError
        If there is a cycle of negative length; names one.
    NegativeWeightError
        If a weight is negative and `per_root` is to search by a method that takes none.
    LengthOverflow
        If a shortest path is longer than can be held. In int32 that is 2^30 - 2, less what negative
        weights can add up to along a path, and in int64 2^62 - 2, less the same.
    RoundingError
        If sums of floats, some of them negative, are rounded so far that shortest paths are not
        known, or if float64 lengths make a cycle negative only because they are rounded.
    OSError
        If the disk of `file` or `into` is full; when there is room, the same call goes on.
    TypeError
        If the method does not take an option.
    TileError
        If a worker could not make its part: out of memory, or dead again and again.
    MissingTool
        If Dask or Zarr is needed and not installed.

    Examples
    --------
    >>> import gpukernels as gk
    >>> g = gk.Graph.from_arcs(3, [0, 0, 1, 2], [1, 2, 2, 0], [4, 9, 2, 1])
    >>> r = gk.apsp(g, next_hops=True)
    >>> r.distance
    array([[0, 4, 6],
           [3, 0, 2],
           [1, 5, 0]], dtype=int32)
    >>> r.path(0, 2)
    [0, 1, 2]
    """
    _, options = driver_of("apsp", {AUTO: auto.on_cpu, **METHODS}, method, options)
    g = checked_source(g)
    if client is not None:
        if method != AUTO and METHODS[method].tiles is None:
            sharing = ", ".join(name for name, other in METHODS.items() if other.tiles)
            allowed = f"None with method={method!r}; workers share {sharing}"
            raise InvalidArgument("client", client, allowed)
        check_client(client, device)
    if method != AUTO:
        return _by(method, g, device, client, options)
    chosen = auto.choice(g, device, client, **options)
    if chosen.method is None:
        result = auto.on_cpu(g, **options)
    else:
        given = {name: value for name, value in options.items() if value is not None}
        _, options = driver_of("apsp", METHODS, chosen.method, given | dict(chosen.options))
        result = _by(chosen.method, g, chosen.device, client, options)
    return replace(result, stats=Stats(result.stats) | {"why": chosen.why})


def _by(
    method: str, g: Graph | NDArray, device: Device | None, client: Any, options: dict[str, Any]
) -> APSPResult:
    """Return the result by a method, in the place that the arguments name."""
    places, engine = METHODS[method], options.get("engine", "kernels")
    check_choice("engine", engine, ENGINES)
    work: Any = places.driver
    kind: str = places.lengths
    where: list[Any] = [device]
    if places.is_in_tiles(client, options):
        work, kind, where = places.tiles, places.tile_lengths, [device, client]
    elif options.get("devices") is None:
        where = [chosen_device(device)]
    else:
        if device is not None:
            raise InvalidArgument("device", device, "None with devices=, where it runs")
        work, kind = places.devices, "matrix"
    cells = vertices_of(g) ** 2 if engine == "kernels" else 0
    with shown_if_slow("apsp", device, where[0], cells, frames=2):
        if kind == "given":
            return work(g, *where, **options)

        def run(lengths: Lengths) -> APSPResult:
            return work(lengths, *where, **options)

        lengths = lengths_of(
            g,
            kernels=engine == "kernels",
            whole=kind != "rows",
            device=where[0] if kind == "resident" else None,
        )
        signed = check_cycles(g, lengths)
        result = run(lengths) if places.finds_too_long else checked(lengths, run)
    return with_rounding(result, lengths.rounding, lengths.given, signed)


apsp.__doc__ = help_text(apsp.__doc__, METHODS)

__all__ = ["METHODS", "UNREACHED", "APSPResult", "apsp", "min_plus"]
