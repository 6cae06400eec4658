"""Two-phase BFS: one kernel expands a vertex frontier, another contracts the edge frontier.

The third search of Merrill, Garland and Grimshaw [merrill2012scalable]; [busato2017chapter],
section 2. A level is two launches, and both frontiers lie in memory between them. Work O(V + E).

1. Expansion. Mapping: vertex of the frontier to thread, its arcs to the block by `cta_warp_scan`.
   All neighbors are written, visited or not.
2. Contraction. Mapping: entry of the edge frontier to thread, so every thread has the same to do.

The edge frontiers cost two passes over every arc, O(E) words written and read again. In return
neither kernel waits on the other's kind of work: the expansion only copies, and the contraction,
with its scattered reads of bits and distances, has no idle lanes.

The contraction also counts the arcs that leave what it enqueues. So the host knows how long the
next edge frontier is before it is made, and reads back once a level.
"""

from __future__ import annotations

from numba import cuda, int32, int64

from gpukernels.device import benign_race
from gpukernels.graph import Graph
from gpukernels.primitives.launch_shape import THREADS

from .duplicates import HISTORY_CULLING, MERRILL, forget
from .edge_frontier import contract, expand
from .enqueue_by_block import ARCS, DROPPED, count_up, enqueue
from .merrill import MerrillSearch
from .result import BFSResult


@cuda.jit
def expand_vertices(
    offsets, targets, frontier, size, edge_frontier, edge_parent, next_size, cta_threshold
):
    """Write the neighbors of all `size` vertices of the frontier to the edge frontier."""
    for first in range(cuda.blockIdx.x * cuda.blockDim.x, size, cuda.gridsize(1)):
        i = first + cuda.threadIdx.x
        u = int32(0)
        if i < size:
            u = frontier[i]
        expand(
            offsets, targets, u, i < size, edge_frontier, edge_parent, next_size, cta_threshold
        )  # fmt: skip


@benign_race("distance", "parent", "bitmask", "hash_table", "table")
@cuda.jit
def contract_edges(
    offsets, edge_frontier, edge_parent, size, distance, parent, bitmap, bitmask, how,
    next_frontier, next_size, level,
):  # fmt: skip
    """Enqueue the unvisited vertices among the `size` entries of the edge frontier.

    Threads that hold one vertex may all find it unvisited; they store the same distance, and each a
    parent that is right. A bit that is lost from the bitmask, or a word from the tables of a cull,
    costs a duplicate and nothing else.
    """
    hash_table = cuda.shared.array(0, int64)
    table = cuda.shared.array(0, int32)
    if how == HISTORY_CULLING or how == MERRILL:
        forget(table)
    cuda.syncthreads()
    arcs, dropped = int64(0), int64(0)
    for first in range(cuda.blockIdx.x * cuda.blockDim.x, size, cuda.gridsize(1)):
        v, keep, told = contract(
            how, first + cuda.threadIdx.x, size, edge_frontier, edge_parent,
            distance, parent, bitmap, bitmask, hash_table, table, level,
        )  # fmt: skip
        enqueue(next_frontier, next_size, v, keep)
        dropped += told
        if keep:
            arcs += offsets[v + 1] - offsets[v]
    count_up(next_size, ARCS, arcs)
    count_up(next_size, DROPPED, dropped)


def bfs(
    g: Graph,
    root: int,
    device,
    *,
    duplicates: str = "merrill",
    bitmask: bool = True,
    threads: int = THREADS,
    cta_threshold: int | None = None,
    parents: bool = True,
) -> BFSResult:
    """Search `g` from `root`: expand, then contract, two launches a level.

    Parameters
    ----------
    g : Graph
        The graph; its outgoing arcs are followed.
    root : int
        Where to start.
    device : SimtDevice or CudaDevice
        Where to run.
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
        ``stats`` as of :class:`~gpukernels.traversal.merrill.MerrillSearch`.
    """
    s = MerrillSearch(g, root, device, duplicates, bitmask, threads, cta_threshold, parents)
    edge_frontier, edge_parent = s.room(g.m), s.room(g.m * parents)
    queues = s.room(g.n), s.room(g.n)
    frontier, size, arcs = s.full(1, root), 1, int(g.out_degree[root])
    s.enqueued.append(1)
    while arcs:
        level = len(s.edges)
        s.edges.append(arcs)
        s.inspected += arcs
        s.launch(
            expand_vertices, size, s.offsets, s.targets, frontier, size,
            edge_frontier, edge_parent, s.next_size, s.cta_threshold, clear=True,
        )  # fmt: skip
        frontier = queues[level % 2]
        s.launch(
            contract_edges, arcs, s.offsets, edge_frontier, edge_parent, arcs, *s.state,
            frontier, s.next_size, level, shared=s.shared,
        )  # fmt: skip
        size, arcs = s.read_counts()
        s.enqueued.append(size)
        if size > g.n or arcs > g.m:
            size, arcs = s.collect(frontier, level + 1)
    return s.result("two_phase")
