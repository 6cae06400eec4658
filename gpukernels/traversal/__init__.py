"""Breadth-first search, one technique a file; `bfs` looks them up by name."""

from __future__ import annotations

import inspect

from gpukernels.checks import check_flag, is_whole, options_as_python
from gpukernels.device import chosen_device
from gpukernels.errors import InvalidArgument, UnknownMethod, VertexOutOfRange
from gpukernels.graph import Graph, check_graph

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
}


def bfs(g: Graph, root: int = 0, method: str = "frontier", device=None, **options) -> BFSResult:
    """Search `g` breadth-first from `root`.

    Parameters
    ----------
    g : Graph
        The graph; its outgoing arcs are followed.
    root : int
        Where to start.
    method : str
        One of ``METHODS``: ``"harish"``, ``"virtual_warp"``, ``"edge_parallel"``, ``"spmv"``,
        ``"bottom_up"``, ``"frontier"``, ``"luo"``, ``"linear_work"``, ``"expand_contract"``,
        ``"contract_expand"``, ``"two_phase"``, ``"hybrid"``, ``"direction_optimizing"``,
        ``"bfs4k"``.
    device : SimtDevice or CudaDevice, optional
        Where to run; by default :func:`gpukernels.default_device`.
    **options
        What the method takes beside, such as ``warp_size=8`` of ``"virtual_warp"``.

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
    """
    options = options_as_python(options)
    if not isinstance(method, str) or method not in METHODS:
        raise UnknownMethod("bfs", method, METHODS)
    check_graph(g)
    if not is_whole(root):
        raise InvalidArgument("root", root, "a vertex, a whole number")
    if not 0 <= root < g.n:
        raise VertexOutOfRange("root", int(root), g.n)
    search = METHODS[method]
    known = [
        p.name for p in inspect.signature(search).parameters.values() if p.kind == p.KEYWORD_ONLY
    ]
    for option in options:
        if option not in known:
            raise TypeError(f"bfs method {method!r} takes no option {option!r}; it takes {known}")
    check_flag("parents", options.get("parents", True))
    return search(g, int(root), chosen_device(device), **options)


__all__ = ["METHODS", "UNVISITED", "BFSResult", "bfs"]
