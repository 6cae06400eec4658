"""Shortest paths between all pairs, one technique per file; `apsp` finds them by name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from gpukernels.checks import check_choice
from gpukernels.device import Device, chosen_device, shown_if_slow
from gpukernels.distributed import ENGINES, check_client
from gpukernels.errors import InvalidArgument
from gpukernels.graphs.faces import GraphLike, takes_labels
from gpukernels.graphs.kernel_weights import with_rounding
from gpukernels.graphs.stats import Stats
from gpukernels.methods import AUTO, Method, driver_of, help_text

from . import (
    auto,
    blocked,
    johnson,
    kleene,
    matsumoto,
    naive,
    out_of_core,
    partitioned,
    per_root,
    repeated_squaring,
    tran,
)
from .encoding import UNREACHED
from .hosts import PLACES, Places
from .lengths import Lengths, lengths_of, vertices_of
from .min_plus import min_plus
from .result import APSPResult, check_cycles, checked

METHODS = {
    "naive": Method(
        naive.apsp,
        "Floyd-Warshall with one launch per pivot: one thread per pair tries the way through "
        "the pivot",
        paper="floyd1962shortest",
        work="O(n^3)",
    ),
    "blocked": Method(
        blocked.apsp,
        "Floyd-Warshall in shared memory and registers, tile by tile: three launches per tile of "
        "pivots",
        paper="venkataraman2003blocked",
        work="O(n^3)",
    ),
    "repeated_squaring": Method(
        repeated_squaring.apsp,
        "The matrix times itself, again and again: each (min, +) product doubles the arcs of a "
        "path",
        paper="padamata2013graph",
        work="O(n^3 log n)",
    ),
    "kleene": Method(
        kleene.apsp,
        "Kleene's recursion: half of the vertices, then the other half, joined by (min, +) "
        "products",
        paper="buluc2010solving",
        work="O(n^3)",
    ),
    "out_of_core": Method(
        out_of_core.apsp,
        "Floyd-Warshall on a matrix larger than the device, block by block; copies run beside "
        "kernels",
        paper="venkataraman2003blocked",
        work="O(n^3)",
    ),
    "tran": Method(
        tran.apsp,
        "The matrix squared again and again, tile by tile, where it is larger than the device",
        paper="tran2010designing",
        work="O(n^3 log n)",
    ),
    "matsumoto": Method(
        matsumoto.apsp,
        "Blocked Floyd-Warshall on CPU and GPU together: pivots on the CPU, all other blocks on "
        "the GPU",
        paper="matsumoto2011blocked",
        work="O(n^3)",
    ),
    "per_root": Method(
        per_root.apsp,
        "A search for shortest paths from each root in turn: for sparse graphs, where n^3 is "
        "too much",
        paper="harish2007accelerating",
        work="O(n^2 (n + m))",
    ),
    "johnson": Method(
        johnson.apsp,
        "Johnson: heights that make all weights non-negative, then a search from each root",
        paper="johnson1977efficient",
        work="O(n^2 (n + m))",
    ),
    "partitioned": Method(
        partitioned.apsp,
        "Parts with few vertices between them: all pairs in each, then between separators, then "
        "joined",
        paper="djidjev2014efficient",
        work="O(n^2.25)",
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
    driver, options = driver_of("apsp", {AUTO: auto.on_cpu, **METHODS}, method, options)
    if method == AUTO:
        if client is not None:
            check_client(client, device)
        chosen = auto.choice(g, device, client, **options)
        if chosen.method is None:
            result = auto.on_cpu(g, **options)
        else:
            chosen_options = {name: value for name, value in options.items() if value is not None}
            chosen_options |= chosen.options
            result = apsp(g, chosen.method, chosen.device, client=client, **chosen_options)
        return replace(result, stats=Stats(result.stats) | {"why": chosen.why})
    places, engine = PLACES.get(method, Places()), options.get("engine", "kernels")
    if client is not None:
        if places.tiles is None:
            sharing = ", ".join(name for name, of in PLACES.items() if of.tiles)
            allowed = f"None with method={method!r}; workers share {sharing}"
            raise InvalidArgument("client", client, allowed)
        check_client(client, device)
    check_choice("engine", engine, ENGINES)
    host = places.host(client, options)
    where: tuple[Any, ...] = (device,)
    if host is places.tiles:
        where = device, client
    elif host is places.devices:
        if device is not None:
            raise InvalidArgument("device", device, "None with devices=, where it runs")
    else:
        where = (chosen_device(device),)
    work = host.run or driver
    cells = vertices_of(g) ** 2 if engine == "kernels" else 0
    with shown_if_slow("apsp", device, where[0], cells):
        if host.lengths == "given":
            return work(g, *where, **options)

        def run(lengths: Lengths) -> APSPResult:
            return work(lengths, *where, **options)

        lengths = lengths_of(
            g,
            kernels=engine == "kernels",
            whole=host.lengths in ("matrix", "resident"),
            device=where[0] if host.lengths == "resident" else None,
        )
        signed = check_cycles(g, lengths)
        result = run(lengths) if host.finds_too_long else checked(lengths, run)
    return with_rounding(result, lengths.rounding, lengths.given, signed)


apsp.__doc__ = help_text(apsp.__doc__, METHODS)

__all__ = ["METHODS", "UNREACHED", "APSPResult", "apsp", "min_plus"]
