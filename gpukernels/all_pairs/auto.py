"""The method that `apsp` takes unless one is named: the fastest that is known for this graph.

On a GPU `blocked` is fastest, even with eight arcs per vertex (data/benchmarks/apsp.json). A matrix
of some hundred vertices is squared faster, and `out_of_core` takes one that does not fit the GPU.
On the CPU the number of additions decides between Floyd and Warshall's loops and Dijkstra's
algorithm from each root.
"""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukernels import reference
from gpukernels.device import Device, default_device, place_of
from gpukernels.errors import InvalidArgument
from gpukernels.graphs.graph import DENSE_LIMIT, Graph, weight_type
from gpukernels.graphs.kernel_weights import kernel_graph
from gpukernels.graphs.weight_facts import weight_facts
from gpukernels.methods import Choice
from gpukernels.reference.in_type import in_type

from . import all_cores
from .lengths import lengths_of, vertices_of
from .result import APSPResult

#: Nanoseconds of one core: an addition of `all_cores` and of `reference.floyd_warshall`, and what
#: Dijkstra's algorithm takes from each root for each vertex and arc.
BLOCKED_NS, LOOPS_NS, DIJKSTRA_NS = 0.05, 1.4, 34.0
#: Between these numbers of vertices, one row and column of tiles does not keep a GPU busy. A few
#: products of the whole matrix, each for paths of twice as many arcs, are faster. On an H100 the
#: factor is 1.1 to 1.8 on grids of 144 to 1,024 vertices; on paths, from 1.5 to 0.88.
SQUARED = 128, 1024
#: Vertices up to which one core takes a fifth of a second: no need to compile for all of them.
SMALL = 512


def choice(g: Graph | NDArray, device: Device | None, client: Any, **given: Any) -> Choice:
    """Return the choice for `g`, with the options that `on_cpu` takes."""
    engine, next_hops = given.get("engine"), given.get("next_hops", False)
    options = {"engine": engine} if engine is not None else {}
    if given.get("devices") is not None:
        return Choice("blocked", device, "devices share its rows", options)
    place = place_of(device if device is not None or engine != "kernels" else default_device())
    device, why = place.device, place.why
    if place.is_looked_at:
        return Choice("blocked", None if client is not None else device, why, options)
    if engine == "cpu":
        device, why = None, "engine is cpu"
    if device is not None and isinstance(g, Graph):
        try:
            kernel_graph(g)
        except InvalidArgument as refused:
            device, why = None, f"kernels do not take {refused.argument} = {refused.value}"
    n = vertices_of(g)
    is_sparse = device is None and not next_hops and _is_sparse(g, n)
    block = given.get("block")
    if client is not None or given.get("into") is not None or block is not None:
        method = "per_root" if is_sparse and block is None else "blocked"
        where = None if client is not None else device
        options = {"engine": "cpu" if device is None else "kernels"}
        return Choice(method, where, why or "it is made in blocks", options)
    if device is None:
        return Choice("per_root" if is_sparse else None, None, why, {"engine": "cpu"})
    if n > DENSE_LIMIT or 4 * n**2 * (1 + next_hops) > device.free_bytes():
        return Choice("out_of_core", device, "the matrix does not fit the GPU")
    if SQUARED[0] <= n <= SQUARED[1] and not next_hops:
        return Choice("repeated_squaring", device, "the matrix is small")
    return Choice("blocked", device, "the matrix fits the GPU")


def _is_sparse(g: Graph | NDArray, n: int) -> bool:
    """Return whether a search from each root is faster than n^3 additions."""
    if not isinstance(g, Graph) or weight_facts(g).least < 0:
        return False
    return n > DENSE_LIMIT or DIJKSTRA_NS * (n + g.m) < BLOCKED_NS * n**2


def on_cpu(
    g: Graph | NDArray,
    *,
    next_hops: bool = False,
    into: str | PathLike | None = None,
    engine: str | None = None,
    block: int | None = None,
    devices: Any = None,
) -> APSPResult:
    """Find the paths on the CPU; the last four options are for `blocked` alone."""
    n = vertices_of(g)
    if not next_hops and n > SMALL:
        return all_cores.apsp_of(g)
    arcs = g if isinstance(g, Graph) else lengths_of(g, kernels=False, whole=False).graph()
    is_sparse = DIJKSTRA_NS * (arcs.n + arcs.m) < LOOPS_NS * arcs.n**2
    search = reference.johnson if is_sparse else reference.floyd_warshall
    result = search(arcs)
    distance: NDArray = np.empty((arcs.n, arcs.n), weight_type(arcs))
    for root in range(arcs.n):
        in_type(result.distance[root], result.next_hop[root] >= 0, root, distance[root])
    stats = {"method": f"reference.{search.__name__}", "operations": result.operations}
    hops = result.next_hop if next_hops else None
    return APSPResult(distance, hops, {"launches": 0, "read_backs": 0, **stats})
