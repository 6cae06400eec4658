"""Breadth-first searches from many roots at once: a bit a root, in one word a vertex.

MS-BFS [then2014msbfs]; on GPUs iBFS [liu2016ibfs]. Searches of one graph from many roots soon have
most vertices in common. So 64 of them share each vertex's words: the searches that have *seen* it,
those in whose frontier it is *here*, and those that come *there* next. An arc from u to v serves
all of them in one turn: ``there[v] |= here[u] & ~seen[v]``.

Mapping: top-down, `cta_warp_scan` spreads the arcs of frontier vertices over each block, and a
target's word grows by an atomic. Bottom-up, vertex to thread, and those of many arcs to a warp: who
misses searches gathers them from its in-neighbors, without an atomic, until none is missing. A
level goes bottom-up when the arcs that leave the frontiers, times `alpha`, are more than those that
lead to vertices which miss some search. Work O(levels V + E) in all where the searches' levels
meet, 64 times that at worst. There is no queue: where 64 frontiers overlap, a queue would hold
nearly all vertices. One cooperative launch does all levels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int32, int64
from numpy.typing import ArrayLike, NDArray

from gpukernels.checks import as_array, check_real
from gpukernels.device import Device, chosen_device
from gpukernels.errors import InvalidArgument, VertexOutOfRange
from gpukernels.frontiers.counts import ARCS, ENTRIES, count_up
from gpukernels.frontiers.state import kernel_argument
from gpukernels.graph import Graph, check_graph
from gpukernels.mapping.cta_warp_scan import cta_warp_scan
from gpukernels.primitives.large_blocks import LARGE_BLOCKS
from gpukernels.primitives.launch_shape import FULL_MASK, WARP_SIZE, blocks_for, check_threads
from gpukernels.summary import shape_of

from .direction_optimizing import MOST_LOGGED, read_log
from .result import UNVISITED

#: Searches that share a word.
BITS = 64
#: Threads a block by default.
BLOCK = 256
#: The place in a row of counts of the arcs that lead to vertices which miss a search.
WAITING = 2
#: In-neighbors beyond which a whole warp gathers for a vertex, and how many turns it takes between
#: two questions whether anything is missing yet.
LONG, TURNS = 64, 4


@kernel_argument
class Searches(NamedTuple):
    """The graph in both directions, and a word a vertex: bit i stands for search i."""

    offsets: Any
    targets: Any
    reverse_offsets: Any
    sources: Any
    seen: Any  #: int64, the searches that have come to the vertex
    here: Any  #: int64, those in whose frontier it is
    there: Any  #: int64, those in whose next frontier it will be
    distance: Any  #: int32, shape (searches, n)


@cuda.jit(device=True)
def reach(work, u, arc):
    """Let all searches that are at `u` and have not seen the arc's target come there."""
    searches = work[0]
    v = searches.targets[arc]
    new = searches.here[u] & ~searches.seen[v]
    if new != 0:
        cuda.atomic.or_(searches.there, v, new)


@cuda.jit(device=True)
def top_down(searches, cta_threshold):
    """Follow the arcs of all vertices in a frontier; all threads of the grid call."""
    for first in range(cuda.blockIdx.x * cuda.blockDim.x, searches.seen.size, cuda.gridsize(1)):
        u = int32(first + cuda.threadIdx.x)
        begin, end = int32(0), int32(0)
        if u < searches.seen.size and searches.here[u] != 0:
            begin, end = searches.offsets[u], searches.offsets[u + 1]
        cta_warp_scan(reach, (searches,), u, begin, end, cta_threshold, WARP_SIZE)


@cuda.jit(device=True)
def warp_or(word):
    """Return the bits that any lane of the warp has, in every lane; all 32 lanes must call."""
    apart = 16
    while apart > 0:
        word |= cuda.shfl_xor_sync(FULL_MASK, word, apart)
        apart //= 2
    return word


@cuda.jit(device=True)
def gather(sources, here, begin, end, missing):
    """Return which of the `missing` searches are at a source from `begin` to `end`."""
    found = int64(0)
    for i in range(begin, end):
        found |= here[sources[i]] & missing
        if found == missing:
            break
    return found


@cuda.jit(device=True)
def gather_by_warp(sources, here, begin, end, missing):
    """Return the same to every lane; all lanes of the warp call, for one vertex."""
    found = int64(0)
    while begin < end and found != missing:
        for _ in range(TURNS):
            if begin + cuda.laneid < end:
                found |= here[sources[begin + cuda.laneid]] & missing
            begin += WARP_SIZE
        found = warp_or(found)
    return found


@cuda.jit(device=True)
def bottom_up(searches, every):
    """Let every vertex that misses searches look for them; all threads of the grid call."""
    for first in range(cuda.blockIdx.x * cuda.blockDim.x, searches.seen.size, cuda.gridsize(1)):
        v = first + cuda.threadIdx.x
        begin, end, missing = int32(0), int32(0), int64(0)
        if v < searches.seen.size:
            missing = every & ~searches.seen[v]
            if missing != 0:
                begin, end = searches.reverse_offsets[v], searches.reverse_offsets[v + 1]
        long = end - begin > LONG
        found = int64(0)
        if not long:
            found = gather(searches.sources, searches.here, begin, end, missing)
        votes = cuda.ballot_sync(FULL_MASK, long)
        while votes != 0:
            lane = cuda.ffs(votes) - 1
            its = gather_by_warp(
                searches.sources, searches.here, cuda.shfl_sync(FULL_MASK, begin, lane),
                cuda.shfl_sync(FULL_MASK, end, lane), cuda.shfl_sync(FULL_MASK, missing, lane),
            )  # fmt: skip
            if cuda.laneid == lane:
                found = its
            votes &= votes - 1
        if v < searches.seen.size:
            searches.there[v] = found


@cuda.jit(device=True)
def settle(searches, every, level, counts):
    """Make what was reached the frontiers of `level`; all threads of the grid call.

    ``counts`` receives how many vertices are in a frontier, the arcs that leave them, and those
    that lead to vertices which still miss a search.
    """
    entries, leaving, waiting = int64(0), int64(0), int64(0)
    for v in range(cuda.grid(1), searches.seen.size, cuda.gridsize(1)):
        new = searches.there[v]
        if new != 0:
            searches.there[v] = 0
            searches.seen[v] |= new
            entries += 1
            leaving += searches.offsets[v + 1] - searches.offsets[v]
        searches.here[v] = new
        if searches.seen[v] != every:
            waiting += searches.reverse_offsets[v + 1] - searches.reverse_offsets[v]
        while new != 0:
            searches.distance[cuda.ffs(new) - 1, v] = level
            new &= new - 1
    count_up(counts, ENTRIES, entries)
    count_up(counts, ARCS, leaving)
    count_up(counts, WAITING, waiting)


@cuda.jit(**LARGE_BLOCKS)
def search_many(searches, roots, every, counts, log, alpha, cta_threshold):
    """Search from all `roots`, one bit of `every` each; a cooperative launch.

    Row ``level % 3`` of `counts` is what :func:`settle` says of a level: of three rows one is read,
    one is filled and one, read a level ago, is cleared. ``log[0, 0]`` receives the number of levels
    and ``log[1 + level]`` the vertices of each, and 1 for bottom-up. All words begin as 0.
    """
    for i in range(cuda.grid(1), roots.size, cuda.gridsize(1)):
        cuda.atomic.or_(searches.there, roots[i], int64(1) << i)
    cuda.cg.this_grid().sync()
    settle(searches, every, 0, counts[0])
    cuda.cg.this_grid().sync()
    level = 0
    while counts[level % 3, ENTRIES] > 0:
        turned = counts[level % 3, ARCS] * alpha > counts[level % 3, WAITING]
        if cuda.grid(1) == 0:
            log[1 + level, 0], log[1 + level, 1] = counts[level % 3, ENTRIES], turned
            for what in range(WAITING + 1):
                counts[(level + 2) % 3, what] = 0
        if turned:
            bottom_up(searches, every)
        else:
            top_down(searches, cta_threshold)
        cuda.cg.this_grid().sync()
        settle(searches, every, level + 1, counts[(level + 1) % 3])
        cuda.cg.this_grid().sync()
        level += 1
    if cuda.grid(1) == 0:
        log[0, 0] = level


@dataclass(frozen=True, eq=False, repr=False)
class BFSManyResult:
    """Breadth-first searches from many roots.

    Attributes
    ----------
    roots : ndarray of int32, shape (k,)
        Where they start.
    distance : ndarray of int32, shape (k, n)
        ``distance[i, v]`` is the number of arcs on a shortest path from root i to v; -1 where no
        path leads.
    stats : mapping
        What the searches did: ``method``, ``batches`` (of 64 roots or fewer), ``launches``,
        ``read_backs``, and for each batch ``levels``, ``frontier_sizes`` (vertices in any frontier,
        a list a batch) and ``directions`` ("top_down" or "bottom_up", a list a batch).

    Examples
    --------
    >>> import gpukernels as gk
    >>> gk.bfs_many(gk.path(4), [0, 2])
    BFSManyResult of 2 roots; distance int32 (2, 4)
    """

    roots: NDArray[np.int32]
    distance: NDArray[np.int32]
    stats: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"BFSManyResult of {len(self.roots):,} roots; distance {shape_of(self.distance)}"


def bfs_many(
    g: Graph,
    roots: ArrayLike,
    device: Device | None = None,
    *,
    alpha: float = 4.0,
    threads: int = BLOCK,
) -> BFSManyResult:
    """Search `g` breadth-first from many roots, 64 at a time, in one pass over common frontiers.

    The reverse graph is made if it is not there yet. Parents are not kept.

    Parameters
    ----------
    g : Graph
        The graph; its outgoing arcs are followed.
    roots : array_like of int, shape (k,)
        Where to start. A root may be there twice.
    device : SimtDevice or CudaDevice, optional
        Where to run; by default :func:`gpukernels.default_device`.
    alpha : float
        A level goes bottom-up if more arcs leave the frontiers than 1 / `alpha` of those that lead
        to vertices which miss some search; 0 for never.
    threads : int
        Threads a block.

    Returns
    -------
    BFSManyResult
        ``distance`` of shape (k, n), and ``stats``.

    Raises
    ------
    InvalidArgument
        If `roots` are not whole numbers in a row, `alpha` is no number of at least 0, or `threads`
        cannot be a block's.
    VertexOutOfRange
        If a root is no vertex.

    References
    ----------
    [then2014msbfs], [liu2016ibfs]

    Examples
    --------
    >>> import gpukernels as gk
    >>> gk.bfs_many(gk.path(4), [0, 2]).distance
    array([[0, 1, 2, 3],
           [2, 1, 0, 1]], dtype=int32)
    """
    check_graph(g)
    chosen = checked_roots(g, roots)
    check_threads(threads)
    check_real("alpha", alpha, 0, math.inf, "a number, at least 0")
    device = chosen_device(device)
    distance = np.empty((chosen.size, g.n), np.int32)
    stats: dict[str, Any] = {"method": "many_roots", "batches": 0, "launches": 0, "read_backs": 0}
    stats |= {"levels": [], "frontier_sizes": [], "directions": []}
    for first in range(0, chosen.size, BITS):
        some = chosen[first : first + BITS]
        distance[first : first + some.size], sizes, turned = _batch(
            g, some, device, float(alpha), threads
        )
        stats["batches"] += 1
        stats["launches"] += 1
        stats["levels"].append(len(sizes))
        stats["frontier_sizes"].append(sizes)
        stats["directions"].append(["bottom_up" if up else "top_down" for up in turned])
    return BFSManyResult(chosen, distance, stats)


def checked_roots(g: Graph, roots: ArrayLike) -> NDArray[np.int32]:
    """Return roots as int32.

    Raises
    ------
    InvalidArgument
        If they are not whole numbers in a row.
    VertexOutOfRange
        If one is no vertex of `g`.
    """
    array = as_array("roots", roots)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InvalidArgument("roots", roots, "whole numbers, 1-D")
    wrong = (array < 0) | (array >= g.n)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise VertexOutOfRange(f"roots[{i}]", array[i].item(), g.n)
    return array.astype(np.int32)


def _batch(
    g: Graph, roots: NDArray[np.int32], device: Device, alpha: float, threads: int
) -> tuple[NDArray[np.int32], list[int], list[int]]:
    """Return the distances from up to 64 roots; vertices in frontiers and turns, level by level."""
    offsets, targets = device.keep(g.offsets), device.keep(g.targets)
    reverse_offsets, sources = device.keep(g.reverse.offsets), device.keep(g.reverse.targets)
    words = device.full_all((g.n, g.n, g.n), 0, np.int64)
    distance = device.full((roots.size, g.n), UNVISITED, np.int32)
    counts, log = device.full((3, WAITING + 1), 0, np.int64), device.empty((g.n + 1, 2), np.int32)
    searches = Searches(
        offsets, targets, reverse_offsets, sources, words[0], words[1], words[2], distance
    )
    # All bits of 64 searches are the int64 -1.
    every = np.int64(-1) if roots.size == BITS else np.int64((1 << roots.size) - 1)
    args = searches, device.array(roots), every, counts, log, alpha, threads
    blocks = min(
        blocks_for(g.n, threads), device.cooperative_blocks(search_many, threads, *args)
    )  # fmt: skip
    device.launch(search_many, blocks, threads, *args, cooperative=True)
    found, told = device.read_all(distance, log[:MOST_LOGGED])
    return found, *read_log(device, log, told)
