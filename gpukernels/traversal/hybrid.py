"""Merrill's hybrid: contract-expand while an edge frontier is small, two-phase while it is large.

The fourth search of Merrill, Garland and Grimshaw [merrill2012scalable]; [busato2017chapter],
section 2, names it. It has no kernels of its own: a level is one launch of `contract_expand` or two
of `two_phase`, chosen by the entries of the edge frontier, which both begin and end with. What
decides is latency against throughput. While an edge frontier does not fill the GPU, the launch and
the barrier saved are worth more than the lanes that idle after the contraction; once it does, two
kernels without idle lanes are. Work O(V + E).

The original's small levels are one persistent kernel whose blocks wait for each other at Xiao and
Feng's inter-block barrier [xiao2009interblock], so that a run of small levels costs one launch.
Here every level is a launch and a read-back. `luo` and `direction_optimizing` show the barrier, as
the grid sync of a cooperative launch.
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
    """Search `g` from `root`: one launch or two a level, by the size of its edge frontier.

    Parameters
    ----------
    two_phase_above : int, optional
        Edge frontiers of more entries are visited in two phases; by default as many as the device
        holds threads, for up to there every entry has a thread at once, and idle lanes cost
        nothing that others could use. The original's bound is proportional to the same number. 0
        for two phases always.
    **options
        See :class:`~gpukernels.traversal.merrill.Options`.

    Returns
    -------
    BFSResult
        ``stats`` as of :class:`~gpukernels.traversal.merrill.MerrillSearch`, and ``kernels``: by
        which search each edge frontier was visited, "contract_expand" or "two_phase".

    Raises
    ------
    InvalidArgument
        If `two_phase_above` is no whole number of at least 0, or another argument is not allowed.
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
            found, size = contract_by_edges(s, edges, size, queue, level, clear=True)
            # It has counted the arcs of what it enqueued, so nobody waits for the expansion.
            if size:
                expand_by_vertices(s, queue.next_frontier, found, next_edges)
                s.inspected += size
        else:
            kernels.append("contract_expand")
            size = contract_and_expand_once(s, edges, size, next_edges)
        if size:
            s.edges.append(size)
        edges = next_edges
    return s.result("hybrid", kernels=kernels)
