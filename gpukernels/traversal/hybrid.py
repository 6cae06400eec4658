"""Merrill's hybrid: contract-expand while an edge frontier is small, two-phase while it is large.

The fourth search of Merrill, Garland and Grimshaw [merrill2012scalable]; [busato2017chapter],
section 2, names it. It has no kernels of its own: a level is one launch of `contract_expand` or two
of `two_phase`, which both begin and end with an edge frontier. The number of its entries chooses
between them, latency against throughput. As long as an edge frontier does not fill the GPU, one
launch and one barrier fewer gain more than the lanes cost that idle after the contraction. When it
fills the GPU, two kernels without idle lanes gain more. Work O(V + E).

In the original, one persistent kernel runs a series of small levels. Its blocks wait for each other
at Xiao and Feng's inter-block barrier [xiao2009interblock], so the series costs one launch. Here
every level is a launch and a read-back. `luo` and `direction_optimizing` show the barrier, as the
grid sync of a cooperative launch.
"""

from __future__ import annotations

from typing import Any

from gpukernels.checks import check_whole
from gpukernels.device import Device
from gpukernels.graphs.graph import Graph
from gpukernels.methods import takes_fields_of
from gpukernels.primitives.offsets import MAX_UNITS

from .contract_expand import contract_and_expand_once
from .merrill import MerrillSearch, Options
from .result import BFSResult
from .two_phase import contract_by_edges, expand_by_vertices


@takes_fields_of(Options)
def bfs(
    g: Graph, root: int, device: Device, *, two_phase_above: int | None = None, **options: Any
) -> BFSResult:
    """Search `g` from `root`: one or two launches per level, by the size of its edge frontier.

    Parameters
    ----------
    two_phase_above : int, optional
        Edge frontiers of more entries are visited in two phases; by default as many as the device
        holds threads. Up to this bound every entry has a thread at once, and no other thread could
        use the idle lanes. The original's bound is proportional to the same number. 0 for two
        phases always.
    **options
        See :class:`~gpukernels.traversal.merrill.Options`.

    Returns
    -------
    BFSResult
        ``stats`` as in :class:`~gpukernels.traversal.merrill.MerrillSearch`, and ``kernels``: the
        search that visited each edge frontier, "contract_expand" or "two_phase".

    Raises
    ------
    InvalidArgument
        If `two_phase_above` is not a whole number of at least 0, or another option is not allowed.
    """
    if two_phase_above is None:
        two_phase_above = device.resident_threads
    check_whole("two_phase_above", two_phase_above, 0, MAX_UNITS)
    s = MerrillSearch(g, root, device, Options(**options))
    queues, queue = (s.edges_room(), s.edges_room()), s.queue()
    edges, size = s.first_edges(root), 1
    kernels = []
    while size:
        next_edges = queues[len(kernels) % 2]
        if size > two_phase_above:
            kernels.append("two_phase")
            level = len(s.enqueued) - 1
            count, size = contract_by_edges(s, edges, size, queue, level, clear=True)
            # Its launch has counted the arcs, so the host need not wait for the expansion.
            if size:
                expand_by_vertices(s, queue.next_frontier, count, next_edges)
                s.inspected += size
        else:
            kernels.append("contract_expand")
            size = contract_and_expand_once(s, edges, size, next_edges)
        if size:
            s.edges.append(size)
        edges = next_edges
    return s.result("hybrid", kernels=kernels)
