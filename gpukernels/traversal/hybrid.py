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

from gpukernels.checks import check_whole
from gpukernels.graph import Graph
from gpukernels.primitives.launch_shape import THREADS
from gpukernels.primitives.offsets import MAX_UNITS

from .contract_expand import contract_and_expand, expand_level
from .enqueue_by_block import PLACES
from .merrill import MerrillSearch
from .result import UNVISITED, BFSResult
from .two_phase import contract_edges, expand_vertices


def bfs(
    g: Graph,
    root: int,
    device,
    *,
    two_phase_above: int | None = None,
    duplicates: str = "merrill",
    bitmask: bool = True,
    threads: int = THREADS,
    cta_threshold: int | None = None,
    parents: bool = True,
) -> BFSResult:
    """Search `g` from `root`: one launch or two a level, by the size of its edge frontier.

    Parameters
    ----------
    g : Graph
        The graph; its outgoing arcs are followed.
    root : int
        Where to start.
    device : SimtDevice or CudaDevice
        Where to run.
    two_phase_above : int, optional
        Edge frontiers of more entries are visited in two phases; by default as many as the device
        holds threads, for up to there every entry has a thread at once, and idle lanes cost
        nothing that others could use. The original's bound is proportional to the same number. 0
        for two phases always.
    duplicates : str
        How to keep duplicates out: see :mod:`gpukernels.traversal.duplicates`.
    bitmask : bool
        Whether to look at a vertex's bit before its distance.
    threads : int
        Threads a block.
    cta_threshold : int, optional
        Vertices of more arcs are expanded by the whole block; by default `threads`.
    parents : bool
        Whether the result holds parents.

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
    s = MerrillSearch(g, root, device, duplicates, bitmask, threads, cta_threshold, parents)
    device.put(s.distance, root, UNVISITED)  # the first contraction visits it
    queues = [(s.room(g.m), s.room(g.m * parents)) for _ in "ab"]
    frontier = s.room(g.n)
    edges, size = (s.full(1, root), s.full(int(parents), root)), 1
    kernels = []
    while size:
        next_edges = queues[len(kernels) % 2]
        large = size > two_phase_above
        size = (_two_phases if large else _one_phase)(s, edges, size, next_edges, frontier)
        kernels.append("two_phase" if large else "contract_expand")
        if size:
            s.edges.append(size)
        edges = next_edges
    return s.result("hybrid", kernels=kernels)


def _one_phase(s: MerrillSearch, edges, size: int, next_edges, frontier) -> int:
    """Contract and expand an edge frontier at once; return the entries of the next one."""
    level, arcs = len(s.enqueued), s.targets.size
    s.launch(
        contract_and_expand, size, s.offsets, s.targets, *edges, size, *s.state,
        *next_edges, s.next_size, level - 1, s.cta_threshold, shared=s.shared, clear=True,
    )  # fmt: skip
    found, size = s.read_counts(PLACES)
    s.enqueued.append(found)
    s.inspected += min(size, arcs)
    if size > arcs:
        s.overflows += 1
        s.launch(
            expand_level, s.distance.size, s.offsets, s.targets, s.distance, *next_edges,
            s.next_size, level, s.cta_threshold, clear=True,
        )  # fmt: skip
        _, size = s.read_counts(PLACES)
        s.inspected += size
    return size


def _two_phases(s: MerrillSearch, edges, size: int, next_edges, frontier) -> int:
    """Contract an edge frontier to `frontier`, then expand that; return the next one's entries.

    The contraction counts the arcs that leave what it enqueues, so the expansion is not waited for.
    """
    level, arcs = len(s.enqueued), s.targets.size
    s.launch(
        contract_edges, size, s.offsets, *edges, size, *s.state, frontier, s.next_size, level - 1,
        shared=s.shared, clear=True,
    )  # fmt: skip
    found, size = s.read_counts()
    s.enqueued.append(found)
    if found > s.distance.size or size > arcs:
        found, size = s.collect(frontier, level)
    if size:
        s.launch(
            expand_vertices, found, s.offsets, s.targets, frontier, found, *next_edges,
            s.next_size, s.cta_threshold, clear=True,
        )  # fmt: skip
        s.inspected += size
    return size
