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
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int32, int64
from numpy.typing import ArrayLike, NDArray

from gpukernels import sequential
from gpukernels.beyond import (
    ENGINES,
    RowTile,
    check_client,
    digest_of,
    make_rows,
    placed,
    rows_a_tile,
    tiles_of,
)
from gpukernels.checks import check_choice, check_real, check_whole
from gpukernels.device import Device, chosen_device
from gpukernels.errors import InvalidArgument
from gpukernels.frontiers.counts import ARCS, ENTRIES, count_up
from gpukernels.frontiers.state import kernel_argument
from gpukernels.graph import Graph, checked_roots
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
    distance : array of int32, shape (k, n)
        ``distance[i, v]`` is the number of arcs on a shortest path from root i to v; -1 where no
        path leads. An array of NumPy; with a client or of a ``.zarr`` one of Dask, of which
        ``[2:4].compute()`` brings a part here; of a ``.npy`` a memory map.
    stats : mapping
        What the searches did: ``method``, ``batches`` (of 64 roots or fewer), ``launches``,
        ``read_backs``, and for each batch ``levels``, ``frontier_sizes`` (vertices in any frontier,
        a list a batch) and ``directions`` ("top_down" or "bottom_up", a list a batch). Where the
        result is made in tiles, those of this call; and ``tiles``, and ``resumed`` (tiles that were
        there already).

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
    batch: int | None = None,
    memory: int | None = None,
    engine: str = "kernels",
    into: str | PathLike | None = None,
    client: Any = None,
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
        Where to run; by default :func:`gpukernels.default_device`. With a client, each worker runs
        on its own.
    alpha : float
        A level goes bottom-up if more arcs leave the frontiers than 1 / `alpha` of those that lead
        to vertices which miss some search; 0 for never.
    threads : int
        Threads a block.
    batch : int, optional
        Roots of a tile of the result, which one task makes; by default all of them here, and with a
        client so many that each worker has four tiles.
    memory : int, optional
        Bytes of a device that may be used: 8 (n + m) for the graph in both directions, 24 n for the
        words, and 4 n a root. Fewer than 64 roots share a word where no more fit.
    engine : str
        ``"kernels"``, or ``"cpu"``: one core a worker, one search after the other, for large graphs
        where there is no GPU.
    into : path, optional
        Where the distances are kept as they come: a new ``.npy`` or ``.zarr``. The same call with
        it goes on where an interrupted one ended; one process at a time.
    client : dask.distributed.Client, optional
        Whose workers do it; see :func:`gpukernels.local_client`. They need `gpukernels`.

    Returns
    -------
    BFSManyResult
        ``distance`` of shape (k, n), and ``stats``.

    Raises
    ------
    InvalidArgument
        If `roots` are not whole numbers in a row, another argument has a value that is not allowed,
        or `into` leads to what is damaged or is not this result; nothing has been written then.
    VertexOutOfRange
        If a root is no vertex.
    TileError
        If a tile could not be made: a device out of memory, a worker that died again and again.
    MissingTool
        If Dask or Zarr is needed and not installed.

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
    chosen = checked_roots(g, roots)
    threads = check_threads(threads)
    alpha = check_real("alpha", alpha, 0, math.inf, "a number, at least 0")
    check_choice("engine", engine, ENGINES)
    at_once = _roots_at_once(g, chosen.size, engine, memory)
    if batch is not None:
        batch = check_whole("batch", batch, 1, 2**31 - 1)
    if client is not None:
        check_client(client, device)
    elif device is not None or engine == "kernels":
        device = chosen_device(device)

    def tiles(before: int | None) -> list[RowTile]:
        each = batch or before
        if each is None:
            each = chosen.size if client is None else rows_a_tile(chosen.size, g.n, client)
            each = -(-each // at_once) * at_once
        return tiles_of("roots", chosen, max(1, each))

    made_from = {"call": "bfs_many", "engine": engine}
    if into is not None:
        made_from |= {"graph": digest_of(g.offsets, g.targets), "roots": digest_of(chosen)}
    made = make_rows(
        "bfs_many", (chosen.size, g.n), np.int32, tiles, search_tile,
        (g if client is None else placed(client, g), device, alpha, threads, at_once, engine),
        client, into, made_from,
    )  # fmt: skip
    stats: dict[str, Any] = {"method": "many_roots", "batches": 0, "launches": 0, "read_backs": 0}
    stats |= {"levels": [], "frontier_sizes": [], "directions": []}
    for told in made.stats:
        for name in told:
            stats[name] += told[name]
    if client is not None or into is not None or batch is not None:
        stats |= {"tiles": made.tiles, "resumed": made.resumed}
    return BFSManyResult(chosen, made.matrix, stats)


def _roots_at_once(g: Graph, k: int, engine: str, memory: int | None) -> int:
    """Return how many roots share a word."""
    if memory is None:
        return BITS
    memory = check_whole("memory", memory, 1, 2**63 - 1)
    if engine != "kernels":
        raise InvalidArgument("memory", memory, "None with engine='cpu': it is of a device")
    most = (memory - bytes_for(g, 0)) // (4 * g.n) if g.n else BITS
    if most < 1 and k:
        allowed = f"at least {bytes_for(g, 1)} for one root"
        raise InvalidArgument("memory", memory, allowed)
    return max(1, min(BITS, most))


def bytes_for(g: Graph, roots: int) -> int:
    """Return how many bytes of a device the searches from so many roots of a word take."""
    directions = 2 if g.directed else 1
    beside = 8 * 3 * (WAITING + 1) + 8 * (g.n + 1) + 8 * BITS
    return 4 * directions * (g.n + 1 + g.m) + 3 * 8 * g.n + 4 * roots * g.n + beside


def search_tile(
    g: Graph,
    device: Device | None,
    alpha: float,
    threads: int,
    at_once: int,
    engine: str,
    roots: NDArray[np.int32],
) -> tuple[NDArray[np.int32], dict[str, Any]]:
    """Return the distances from some roots, and what the searches did."""
    distance = np.empty((roots.size, g.n), np.int32)
    stats: dict[str, Any] = {"batches": 0, "launches": 0, "read_backs": 0}
    stats |= {"levels": [], "frontier_sizes": [], "directions": []}
    if engine == "cpu":
        for row, root in zip(distance, roots.tolist(), strict=True):
            row[:] = sequential.bfs(g, root).distance
        return distance, stats
    device = chosen_device(device)
    for first in range(0, roots.size, at_once):
        some = roots[first : first + at_once]
        needed = 4 * some.size * g.n
        if (free := device.free_bytes()) < needed:
            raise MemoryError(f"{some.size} roots take {needed:,} bytes; {free:,} are free")
        distance[first : first + some.size], sizes, turned = _batch(g, some, device, alpha, threads)
        stats["batches"] += 1
        stats["launches"] += 1
        stats["levels"].append(len(sizes))
        stats["frontier_sizes"].append(sizes)
        stats["directions"].append(["bottom_up" if up else "top_down" for up in turned])
    return distance, stats


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
