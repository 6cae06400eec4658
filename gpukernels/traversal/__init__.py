"""Breadth-first search, one technique a file; `bfs` looks them up by name."""

from __future__ import annotations

from typing import Any

from gpukernels.device import Device, chosen_device
from gpukernels.graphs.graph import Graph, check_root
from gpukernels.methods import driver_of, help_text

from . import (
    bfs4k,
    bottom_up,
    contract_expand,
    direction_optimizing,
    edge_parallel,
    expand_contract,
    frontier,
    harish,
    hybrid,
    linear_work,
    luo,
    persistent,
    spmv,
    two_phase,
    virtual_warp,
)
from .result import UNVISITED, BFSResult

METHODS = {
    "harish": harish.bfs,
    "virtual_warp": virtual_warp.bfs,
    "edge_parallel": edge_parallel.bfs,
    "spmv": spmv.bfs,
    "bottom_up": bottom_up.bfs,
    "frontier": frontier.bfs,
    "luo": luo.bfs,
    "linear_work": linear_work.bfs,
    "expand_contract": expand_contract.bfs,
    "contract_expand": contract_expand.bfs,
    "two_phase": two_phase.bfs,
    "hybrid": hybrid.bfs,
    "direction_optimizing": direction_optimizing.bfs,
    "bfs4k": bfs4k.bfs,
    "persistent": persistent.bfs,
}


def bfs(
    g: Graph,
    root: int = 0,
    method: str = "frontier",
    device: Device | None = None,
    **options: Any,
) -> BFSResult:
    """Search `g` breadth-first from `root`.

    Parameters
    ----------
    g : Graph
        The graph; its outgoing arcs are followed.
    root : int
        Where to start.
    method : str
        One of those below; ``gk.methods("bfs")`` is a table of them.
    device : SimtDevice or CudaDevice, optional
        Where to run; by default :func:`gpukernels.default_device`.
    **options
        What the method takes beside, such as ``warp_size=8`` of ``"virtual_warp"``; see below.

    Returns
    -------
    BFSResult
        ``distance`` (-1 where unreachable), ``parent``, ``levels`` and ``stats``.

    Raises
    ------
    UnknownMethod
        If there is no such method.
    InvalidArgument
        If an argument or an option has a value that is not allowed; nothing has been launched then.
    VertexOutOfRange
        If `root` is not a vertex of `g`.
    TypeError
        If the method does not take an option.

    Examples
    --------
    >>> import gpukernels as gk
    >>> g = gk.rmat(scale=6, edge_factor=4, seed=1)
    >>> r = gk.bfs(g, root=0, method="virtual_warp", warp_size=8)
    >>> r.levels, r.reached
    (4, 44)
    >>> r.distance[:8]
    array([0, 1, 1, 1, 1, 1, 2, 1], dtype=int32)
    """
    search, options = driver_of("bfs", METHODS, method, options)
    root = check_root(g, root)
    return search(g, root, chosen_device(device), **options)


bfs.__doc__ = help_text(bfs.__doc__, METHODS)

__all__ = ["METHODS", "UNVISITED", "BFSResult", "bfs"]
