"""Shortest paths between all pairs, one technique a file; `apsp` looks them up by name."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from gpukernels.checks import check_choice
from gpukernels.device import Device, chosen_device
from gpukernels.distributed import ENGINES, check_client
from gpukernels.errors import InvalidArgument
from gpukernels.graphs.graph import Graph
from gpukernels.graphs.kernel_weights import with_rounding
from gpukernels.methods import Driver, driver_of, help_text

from . import hosts
from .encoding import UNREACHED
from .lengths import Lengths, lengths_of
from .min_plus import min_plus
from .result import APSPResult, check_cycles, check_held, not_joined

METHODS: dict[str, Driver] = {name: method.driver for name, method in hosts.METHODS.items()}


def apsp(
    g: Graph | ArrayLike,
    method: str = "blocked",
    device: Device | None = None,
    *,
    client: Any = None,
    **options: Any,
) -> APSPResult:
    """Find shortest paths between all pairs of vertices.

    Parameters
    ----------
    g : Graph or array, shape (n, n)
        The graph; an arc without a weight counts 1, of parallel arcs the shortest counts. Or a
        matrix of arc lengths, whole numbers or floats, its diagonal 0; no arc is infinity, or for
        whole numbers the largest of the type: 2^31 - 1, of int64 2^63 - 1. Kernels take int32 and
        float32; see :func:`gpukernels.sssp` for other lengths, and for 2^31 - 1 in int64, which
        they also take for no arc. With ``engine="cpu"`` lengths are used as given. Of up to 32,768
        vertices; by `out_of_core`, of as many as the host, or a disk, has room for, and read from a
        memory map some rows at a time.
    method : str
        One of those below; ``gk.methods("apsp")`` is a table of them.
    device : SimtDevice or CudaDevice, optional
        Where to run; by default :func:`gpukernels.default_device`. With a client, each worker runs
        on its own.
    client : dask.distributed.Client, optional
        Whose workers share the work of `blocked`, `per_root` or `partitioned`; see
        :func:`gpukernels.local_client`. Then ``distance`` is an array of Dask, unless it is kept in
        a file.
    **options
        What the method takes beside; see below.

    Returns
    -------
    APSPResult
        ``distance``, ``next_hop``, ``path`` and ``stats``.

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
    OverflowError
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
    >>> r = gk.apsp(g, tile=16, next_hops=True)
    >>> r.distance
    array([[0, 4, 6],
           [3, 0, 2],
           [1, 5, 0]], dtype=int32)
    >>> r.path(0, 2)
    [0, 1, 2]
    """
    driver, options = driver_of("apsp", METHODS, method, options)
    places, engine = hosts.METHODS[method], options.get("engine", "kernels")
    if client is not None:
        if places.tiles is None:
            sharing = ", ".join(name for name, of in hosts.METHODS.items() if of.tiles)
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
    work = driver if host is places.device else host.run
    if host.lengths == "given":
        return work(g, *where, **options)

    def run(lengths: Lengths) -> APSPResult:
        return work(lengths, *where, **options)

    lengths = lengths_of(g, kernels=engine == "kernels", whole=host.lengths == "matrix")
    check_cycles(g, lengths)
    result = run(lengths)
    if lengths.too_long and not host.finds_too_long and not_joined(result.distance):
        check_held(result.distance, run(lengths.pattern()).distance)
    return with_rounding(result, lengths.rounding)


apsp.__doc__ = help_text(apsp.__doc__, METHODS)

__all__ = ["METHODS", "UNREACHED", "APSPResult", "apsp", "min_plus"]
