"""Linear-work BFS: scan the degrees, gather the neighbors, cull; scans fill the queues.

The "optimized linear work" search of [padamata2013graph], after [merrill2012scalable]. A level:

1. Scan the degrees of the frontier: this gives the places of the neighbors of each vertex. Mapping:
   vertex of the frontier to thread. ``scan="padded"`` is the paper's scan (trees in shared memory
   with padding), ``"shuffle"`` the one of `device_scan`, which takes fewer words and barriers.
2. Gather: copy the neighbors to an edge frontier. ``"serial"``: one thread per vertex. ``"fine"``:
   one thread per `tile` places; a block searches their owners in shared memory, between bounds that
   another kernel has found. The paper tried this two-phase mapping and did not finish it.
3. Cull by scan, in linear work or with a mask over all vertices: see `linear_cull`. A scan costs
   too much for a short list, so one thread compacts it without a scan. The paper does this if the
   frontier has fewer than 512 vertices, a value that its authors chose by experiment.

Work O(V + E), as the name promises. The original does not keep the promise: its mask costs O(V) at
every level, O(V D + E) in all. If the frontier is short, one thread reads the original's whole
mask, V flags one after another. On a road network most levels are so short, and neither a GPU nor
the SIMT machine finishes in reasonable time. So the default is ``cull="linear"``, which keeps the
promise: one thread then reads fewer than `sequential_below` flags. ``cull="mask"`` is the paper's
search with these reads; with ``sequential_below=0`` all threads always scan its mask.

The host sizes the launches of a level, so it needs the number of the frontier's vertices and of the
arcs that leave them. Both are counted where the frontier is made, and one read-back per level
brings both; the paper's host reads a flag, and the totals of its scans. The sum of the arcs takes
one atomic per warp, unless one thread compacts; the only other atomics claim vertices.
"""

from __future__ import annotations

import numpy as np
from numba import cuda, int32

from gpukernels.checks import check_choice, check_whole
from gpukernels.graphs.graph import Graph
from gpukernels.mapping.two_phase import expand_chunk, partition
from gpukernels.mapping.work_item_to_thread import one_thread
from gpukernels.mapping.workload import SHARED_WORDS
from gpukernels.primitives import DeviceScan, PaddedScan
from gpukernels.primitives.launch_shape import THREADS, blocks_for, check_threads
from gpukernels.primitives.offsets import MAX_UNITS
from gpukernels.primitives.padded_scan import check_padded_threads

from .linear_cull import claim_unvisited, compact, compact_alone, mask_unvisited, set_depth
from .result import BFSResult, adopt, read_tree, start_at

GATHERS = ("serial", "fine")
CULLS = ("linear", "mask")
SCANS = {"shuffle": DeviceScan, "padded": PaddedScan}


@cuda.jit
def find_degrees(offsets, frontier, degree):
    """Write the degree of each of the first ``degree.size`` vertices; one thread per vertex."""
    i = cuda.grid(1)
    if i < degree.size:
        u = frontier[i]
        degree[i] = offsets[u + 1] - offsets[u]


@cuda.jit(device=True)
def copy_neighbor(work, i, place):
    """Copy a neighbor of the frontier's i-th vertex to its `place` in the edge frontier."""
    offsets, targets, frontier, begins, neighbor, source = work
    u = frontier[i]
    neighbor[place] = targets[offsets[u] + place - begins[i]]
    adopt(source, place, u)


@cuda.jit
def gather_serial(offsets, targets, frontier, begins, neighbor, source):
    """Copy the neighbors of the frontier to the places from `begins` on; one thread per vertex."""
    i = cuda.grid(1)
    if i < begins.size - 1:
        work = (offsets, targets, frontier, begins, neighbor, source)
        one_thread(copy_neighbor, work, i, begins[i], begins[i + 1])


@cuda.jit
def gather_fine(offsets, targets, frontier, begins, boundary, neighbor, source, tile):
    """Copy the neighbors of the frontier; one thread per `tile` consecutive places."""
    window = cuda.shared.array(0, int32)
    work = (offsets, targets, frontier, begins, neighbor, source)
    expand_chunk(copy_neighbor, work, begins, boundary, tile, window)


def bfs(
    g: Graph,
    root: int,
    device,
    *,
    gather: str = "serial",
    cull: str = "linear",
    scan: str = "shuffle",
    sequential_below: int = 512,
    tile: int = 8,
    threads: int = THREADS,
    parents: bool = True,
) -> BFSResult:
    """Search `g` from `root`: scan, gather and cull at every level.

    Parameters
    ----------
    gather : {"serial", "fine"}
        How threads copy the neighbors: one thread per vertex, or one per `tile` places.
    cull : {"linear", "mask"}
        The list that is culled: the edge frontier, or all vertices as in the paper.
    scan : {"shuffle", "padded"}
        The scan: by shuffles, or the paper's, padded.
    sequential_below : int
        One thread compacts the next frontier, without a scan, if fewer arcs leave this one. With
        ``cull="mask"``, it does so if this one has fewer vertices, as in the paper. It then reads
        the flag of every vertex of the graph. 0 for never.
    tile : int
        Places per thread with ``gather="fine"``, the paper's ``GATHER_TILE_SIZE``.
    threads : int
        Threads per block; a power of two with ``scan="padded"``.
    parents : bool
        Whether the result holds parents.

    Returns
    -------
    BFSResult
        ``stats`` adds ``gather``, ``cull``, ``scan``, ``arcs_inspected`` (each arc that leaves a
        reached vertex, once) and ``vertices_masked``: flags of vertices that the mask holds, summed
        over the levels; 0 with ``cull="linear"``. ``threads`` counts a scanned value as one. Both
        culls are exact and do not count what they drop: ``duplicates_made`` is 0.

    Raises
    ------
    InvalidArgument
        If a choice is not one of these, `threads` does not suit the scan, `sequential_below` is
        negative, or `tile` is less than 1 or more than fits 48 KB of shared memory.
    """
    check_threads(threads)
    check_choice("gather", gather, GATHERS)
    check_choice("cull", cull, CULLS)
    check_choice("scan", scan, SCANS)
    if scan == "padded":
        check_padded_threads(threads)
    check_whole("sequential_below", sequential_below, 0, MAX_UNITS)
    check_whole("tile", tile, 1, (SHARED_WORDS - 1) // threads)
    search = _Search(g, root, device, gather, cull, scan, sequential_below, tile, threads, parents)
    sizes, arcs = [1], [int(g.out_degree[root])]
    while arcs[-1]:
        next_size, leaving = search.level(len(arcs) - 1, sizes[-1], arcs[-1])
        sizes.append(next_size)
        arcs.append(leaving)
    levels = len(sizes) - (sizes[-1] == 0)
    stats = {
        "method": "linear_work",
        "gather": gather,
        "cull": cull,
        "scan": scan,
        "launches": search.launches + search.scan.launches,
        "read_backs": len(arcs) - 1,
        "threads": search.threads_used,
        "frontier_sizes": sizes[:levels],
        "arcs_inspected": sum(arcs),
        "vertices_masked": (len(arcs) - 1) * g.n if cull == "mask" else 0,
    }
    return BFSResult(*read_tree(device, search.distance, search.parent, parents), levels, stats)


class _Search:
    """The buffers of one search, allocated once, and its launches."""

    def __init__(
        self, g, root, device, gather, cull, scan, sequential_below, tile, threads, parents
    ):
        def room(size):
            return device.empty(size, np.int32)

        self.device, self.gather, self.cull, self.tile = device, gather, cull, tile
        self.threads, self.sequential_below = threads, sequential_below
        self.offsets, self.targets = device.keep(g.offsets), device.keep(g.targets)
        self.distance, self.parent = start_at(root, g.n, device, parents)
        self.queues = room(g.n), room(g.n)
        device.put(self.queues[0], 0, root)
        self.degree, self.neighbor, self.source = room(g.n), room(g.m), room(g.m * parents)
        self.boundary = room(blocks_for(g.m, threads * tile) + 1)
        if cull == "mask":
            self.candidate = device.array(np.arange(g.n, dtype=np.int32))
        self.chosen = room(g.n if cull == "mask" else g.m)
        self.scan = SCANS[scan](max(g.n, g.m), device, threads=threads)
        self.counts, self.host_counts = device.empty(2, np.int32), device.pinned(2, np.int32)
        self.launches = self.threads_used = 0

    def run(self, kernel, items, *args, threads=None, shared=0):
        """Launch `kernel` with a thread for each of `items`."""
        threads = threads or self.threads
        self.device.launch(kernel, blocks_for(items, threads), threads, *args, shared=shared)
        self.launches += 1
        self.threads_used += items

    def level(self, level: int, size: int, arcs: int) -> tuple[int, int]:
        """Visit a frontier of `size` vertices and `arcs` arcs; return both numbers for the next."""
        frontier, next_frontier = self.queues[level % 2], self.queues[1 - level % 2]
        degree = self.degree[:size]
        self.run(find_degrees, size, self.offsets, frontier, degree)
        self.threads_used += size
        begins = self.scan(degree)
        self.gather_neighbors(frontier, begins, size, arcs)
        arrays = self.neighbor, self.source, self.distance, self.parent
        if self.cull == "mask":
            candidate, chosen = self.candidate, self.chosen
            self.device.clear(chosen)
            self.run(mask_unvisited, arcs, *arrays, chosen, arcs)
            self.run(set_depth, chosen.size, chosen, self.distance, level)
        else:
            candidate, chosen = self.neighbor, self.chosen[:arcs]
            self.run(claim_unvisited, arcs, *arrays, chosen, level)
        self.device.clear(self.counts)
        lists = self.offsets, candidate, chosen
        if (size if self.cull == "mask" else arcs) < self.sequential_below:
            self.run(compact_alone, 1, *lists, next_frontier, self.counts, threads=1)
        else:
            self.threads_used += chosen.size
            place = self.scan(chosen)
            self.run(compact, chosen.size, *lists, place, next_frontier, self.counts)
        next_size, leaving = self.device.read(self.counts, into=self.host_counts).tolist()
        return next_size, leaving

    def gather_neighbors(self, frontier, begins, size: int, arcs: int) -> None:
        """Copy the `arcs` neighbors of the `size` vertices of the frontier."""
        graph = self.offsets, self.targets, frontier, begins
        if self.gather == "serial":
            return self.run(gather_serial, size, *graph, self.neighbor, self.source)
        chunk = self.threads * self.tile
        chunks = blocks_for(arcs, chunk)
        self.run(partition, chunks + 1, begins, self.boundary[: chunks + 1], chunk)
        self.run(
            gather_fine, blocks_for(arcs, self.tile),
            *graph, self.boundary, self.neighbor, self.source, self.tile, shared=4 * (chunk + 1),
        )  # fmt: skip
