"""Breadth-first search, one technique per file; `bfs` finds a method by its name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gpukernels.device import Device, chosen_device, shown_if_slow
from gpukernels.graphs.faces import GraphLike, takes_labels
from gpukernels.graphs.graph import check_root
from gpukernels.graphs.stats import Stats
from gpukernels.methods import AUTO, Method, driver_of, help_text

from . import (
    auto,
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
    "harish": Method(
        harish.bfs,
        "Vertex-parallel BFS: one thread per vertex, every vertex at every level",
        paper="harish2007accelerating",
        work="O(V D + E)",
    ),
    "virtual_warp": Method(
        virtual_warp.bfs,
        "Virtual-warp BFS: a group of 1 to 32 threads per vertex, every vertex at every level",
        paper="hong2011accelerating",
        work="O(V D + E)",
    ),
    "edge_parallel": Method(
        edge_parallel.bfs,
        "Edge-parallel BFS: one thread per arc, every arc at every level",
        paper="jia2011edge",
        work="O(E D)",
    ),
    "spmv": Method(
        spmv.bfs,
        "BFS as one sparse matrix-vector product per level: every row, every arc, at every level",
        paper="deng2009taming",
        work="O(V D + E D)",
    ),
    "bottom_up": Method(
        bottom_up.bfs,
        "Bottom-up BFS: every unvisited vertex looks for a parent, and stops at the first",
        paper="beamer2012direction",
        work="O(V D + E D)",
    ),
    "frontier": Method(
        frontier.bfs,
        "Frontier BFS: a queue of the vertices of one level, filled with an atomic append",
        paper="busato2017chapter",
        work="O(V + E)",
    ),
    "luo": Method(
        luo.bfs,
        "BFS with a hierarchical queue: all levels in one launch, without the host in between",
        paper="luo2010effective",
        work="O(V + E)",
    ),
    "linear_work": Method(
        linear_work.bfs,
        "Linear-work BFS: scan the degrees, gather the neighbors, cull; scans fill the queues",
        paper="padamata2013graph",
        work="O(V + E)",
    ),
    "expand_contract": Method(
        expand_contract.bfs,
        "Expand-contract BFS: one kernel per level, from vertex frontier to vertex frontier",
        paper="merrill2012scalable",
        work="O(V + E)",
    ),
    "contract_expand": Method(
        contract_expand.bfs,
        "Contract-expand BFS: one kernel per level, from edge frontier to edge frontier",
        paper="merrill2012scalable",
        work="O(V + E)",
    ),
    "two_phase": Method(
        two_phase.bfs,
        "Two-phase BFS: one kernel expands a vertex frontier, another contracts the edge frontier",
        paper="merrill2012scalable",
        work="O(V + E)",
    ),
    "hybrid": Method(
        hybrid.bfs,
        "Merrill's hybrid: contract-expand while an edge frontier is small, two-phase "
        "while it is large",
        paper="merrill2012scalable",
        work="O(V + E)",
    ),
    "direction_optimizing": Method(
        direction_optimizing.bfs,
        "Direction-optimizing BFS: top-down while the frontier is small, bottom-up while "
        "it is large",
        paper="beamer2012direction",
        work="O(V + E)",
    ),
    "bfs4k": Method(
        bfs4k.bfs,
        "BFS-4K: a search that chooses its technique again at every level",
        paper="busato2015bfs4k",
        work="O(V + E)",
    ),
    "persistent": Method(
        persistent.bfs,
        "BFS in one launch for graphs of many small levels: as few waits per level as possible",
        paper="luo2010effective",
        work="O(V + E)",
    ),
}


@takes_labels("root", weighted=False)
def bfs(
    g: GraphLike,
    root: Any = 0,
    method: str = AUTO,
    device: Device | None = None,
    **options: Any,
) -> BFSResult:
    """Search `g` breadth-first from `root`.

    Parameters
    ----------
    g : Graph, NetworkX graph or SciPy sparse matrix
        Its outgoing arcs are followed. A graph of another library is converted at each call.
    root : vertex
        The vertex to start from: its label if the graph has labels, or else its position. The
        default is the vertex at position 0.
    method : str
        ``"auto"``, or one of the methods below; ``gk.methods("bfs")`` returns a table of them. On a
        GPU ``"auto"`` is ``"direction_optimizing"``, or ``"persistent"`` if the graph has many
        small levels. Without a GPU it is a loop on the CPU. With a SIMT machine as `device`, or
        inside :func:`gpukernels.trace`, it is ``"frontier"``.
    device : SimtDevice or CudaDevice, optional
        Where kernels run; by default :func:`gpukernels.default_device`.
    **options
        Options of the method, such as ``warp_size=8`` of ``"virtual_warp"``; see below. ``"auto"``
        takes `parents`.

    Returns
    -------
    BFSResult
        ``distance`` (-1 where unreachable), ``parent``, ``levels`` and ``stats``. After ``"auto"``,
        ``stats`` names the ``method`` that has run, and the reason as ``why``.

    Raises
    ------
    UnknownMethod
        If there is no such method.
    InvalidArgument
        If an argument or an option has a value that is not allowed; nothing has been launched then.
    VertexOutOfRange
        If `root` is not a vertex of `g`; InvalidArgument if no vertex has this label.
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
    search, options = driver_of("bfs", {AUTO: auto.on_cpu, **METHODS}, method, options)
    root = check_root(g, root)
    if method != AUTO:
        where = chosen_device(device)
        with shown_if_slow("bfs", device, where, g.n + g.m):
            return search(g, root, where, **options)
    chosen = auto.choice(g, device)
    if chosen.method is None:
        result = auto.on_cpu(g, root, **options)
    else:
        result = bfs(g, root, chosen.method, chosen.device, **options)
    return replace(result, stats=Stats(result.stats) | {"why": chosen.why})


bfs.__doc__ = help_text(bfs.__doc__, METHODS)

__all__ = ["METHODS", "UNVISITED", "BFSResult", "bfs"]
