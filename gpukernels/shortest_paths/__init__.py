"""Shortest paths from one root, one technique per file; `sssp` finds a method by its name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gpukernels.device import Device, chosen_device, shown_if_slow
from gpukernels.graphs.faces import GraphLike, takes_labels
from gpukernels.graphs.graph import check_root
from gpukernels.graphs.kernel_weights import kernel_graph, rounding_of, with_rounding
from gpukernels.graphs.stats import Stats
from gpukernels.methods import AUTO, Method, driver_of, help_text

from . import (
    auto,
    delta_stepping,
    harish,
    hbf,
    near_far,
    near_far_persistent,
    ortega,
    topology_driven,
    workfront_sweep,
)
from .given_cycles import cycles_of
from .result import UNREACHED, SSSPResult

METHODS = {
    "harish": Method(
        harish.sssp,
        "Bellman-Ford with one thread per vertex and a mask: the next round relaxes "
        "changed vertices",
        paper="harish2007accelerating",
        work="O(n (n + m))",
    ),
    "topology_driven": Method(
        topology_driven.sssp,
        "Bellman-Ford with one thread per vertex: every vertex in every round, distances in place",
        paper="burtscher2012quantitative",
        work="O(n (n + m))",
    ),
    "workfront_sweep": Method(
        workfront_sweep.sssp,
        "Bellman-Ford by a queue: only the arcs of vertices whose distance has fallen are relaxed",
        paper="davidson2014workefficient",
        work="O(n m)",
    ),
    "near_far": Method(
        near_far.sssp,
        "Near-far piles: vertices within a limit are relaxed, vertices beyond it wait "
        "for a later limit",
        paper="davidson2014workefficient",
        work="O(n m)",
    ),
    "delta_stepping": Method(
        delta_stepping.sssp,
        "Delta-stepping, its buckets made by sorting: the nearest bucket is relaxed until "
        "it is empty",
        paper="meyer2003delta",
        work="O(n m)",
    ),
    "hbf": Method(
        hbf.sssp,
        "H-BF: Bellman-Ford on a frontier, with every optimization a keyword that can be "
        "switched off",
        paper="busato2016hbf",
        work="O(n m)",
    ),
    "near_far_persistent": Method(
        near_far_persistent.sssp,
        "Near-far in one launch, with a delta that adapts: near vertices are relaxed, far "
        "vertices wait",
        paper="wang2021fast",
        work="O(n m)",
    ),
    "ortega": Method(
        ortega.sssp,
        "Dijkstra's algorithm in rounds: each settles all vertices that no path can bring "
        "nearer any more",
        paper="ortega2013new",
        work="O(n (n + m))",
    ),
}


@takes_labels("root")
def sssp(
    g: GraphLike,
    root: Any = 0,
    method: str = AUTO,
    device: Device | None = None,
    **options: Any,
) -> SSSPResult:
    """Find shortest paths in `g` from `root`.

    Parameters
    ----------
    g : Graph, NetworkX graph or SciPy sparse matrix
        The graph; its outgoing arcs are followed, and an arc without a weight counts 1. Kernels
        take weights as int32 or float32. Other whole numbers must fit int32. Other floats are
        rounded to the nearest float32, and `stats` has a bound on the error. The CPU takes all
        weights as they are given.
    root : vertex
        The vertex where the paths begin, as in :func:`gpukernels.bfs`.
    method : str
        ``"auto"``, or one of the methods below; ``gk.methods("sssp")`` returns a table of them. On
        a GPU ``"auto"`` is ``"near_far_persistent"``; if a weight is negative, it is ``"hbf"`` or
        ``"harish"``. Without a GPU, or if kernels do not take a weight, it is an algorithm on the
        CPU. With a SIMT machine as `device`, or inside :func:`gpukernels.trace`, it is
        ``"topology_driven"``.
    device : SimtDevice or CudaDevice, optional
        Where kernels run; by default :func:`gpukernels.default_device`.
    **options
        Options of the method; see below. ``"auto"`` takes `parents`.

    Returns
    -------
    SSSPResult
        ``distance``, ``parent``, ``path_to`` and ``stats``. After ``"auto"``, the entry ``method``
        of ``stats`` names the method that has run, and ``why`` gives the reason.

    Raises
    ------
    UnknownMethod
        If there is no such method.
    InvalidArgument
        If an argument or an option has a value that is not allowed; nothing has been launched then.
        Also if int32 does not hold a whole weight, or if a float is beyond float32 or so small that
        it would become 0.
    VertexOutOfRange
        If `root` is not a vertex of `g`; InvalidArgument if no vertex has this label.
    NegativeWeightError
        If the method needs weights of at least 0, and an arc weighs less.
    NegativeCycleError
        If a path from the root leads to a cycle of negative length; names one.
    LengthOverflow
        If the length of a path is too large for the type of distances, or too low for floats.
    RoundingError
        If sums of floats, some of them negative, are rounded so far that shortest paths are not
        known, or if float64 weights make a cycle negative only because they are rounded. This is
        checked without parents, too.
    TypeError
        If the method does not take an option.

    Examples
    --------
    >>> import gpukernels as gk
    >>> g = gk.Graph.from_arcs(4, [0, 0, 1, 2], [1, 2, 3, 3], [4, 1, 1, 7])
    >>> r = gk.sssp(g, root=0)
    >>> r.distance, r.path_to(3)
    (array([0, 4, 1, 5], dtype=int32), [0, 1, 3])
    """
    search, options = driver_of("sssp", {AUTO: auto.on_cpu, **METHODS}, method, options)
    root = check_root(g, root)
    if method == AUTO:
        chosen = auto.choice(g, device)
        if chosen.method is None:
            result = auto.on_cpu(g, root, **options)
        else:
            result = sssp(g, root, chosen.method, chosen.device, **chosen.options, **options)
        return replace(result, stats=Stats(result.stats) | {"why": chosen.why})
    graph = kernel_graph(g)
    where = chosen_device(device)
    with shown_if_slow("sssp", device, where, g.n + g.m), cycles_of(g, root):
        result = search(graph, root, where, **options)
    return with_rounding(result, rounding_of(g), g)


sssp.__doc__ = help_text(sssp.__doc__, METHODS)

__all__ = ["METHODS", "UNREACHED", "SSSPResult", "sssp"]
