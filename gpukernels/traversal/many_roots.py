"""Breadth-first searches from many roots at once: a bit a root, up to 256 of them a vertex.

MS-BFS [then2014msbfs]; on GPUs iBFS [liu2016ibfs]. Searches of one graph from many roots soon have
most vertices in common. So they share each vertex's words: the searches that have *seen* it, and
those that find it at a level. An arc from u to v serves all of them in one turn:
``there[v] |= here[u] & ~seen[v]``.

What bounds it is the gather of words at random places, a sector of 32 bytes each, whatever is taken
of it: 256 searches, four words a vertex, took an H200 2.8 times as long as 64 (``python -m
gpukernels.bench many_roots``). Counted on ``gk.kron(18, 16, seed=1)`` with 256 roots, at whose
first levels few arcs are followed: the three large levels look at 1, 0.3 and 0.06 times all arcs,
as most vertices stop early in the latter two. All distances are written once, 4 bytes each: the
other large part.

Mapping: four lanes to a vertex's words, and a warp to a vertex of many arcs; longer lists are cut
into pieces, a warp each. Top-down, a target's word grows by an atomic: `many_roots_down`.
Bottom-up, who misses searches gathers them from its in-neighbors until none is missing:
`many_roots_up`. A level goes bottom-up when the arcs that leave the frontiers, times `alpha`, are
more than those that lead to vertices which miss some search. Distances are made of the words of
some levels together: `many_roots_rows`. Work O(levels V / 32 + V + E) in all where the searches'
levels meet, as many times E as there are searches at worst. One cooperative launch does all levels.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int32, int64, uint32
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
from gpukernels.copy_streams import Copied, CopyStream
from gpukernels.device import Device, DeviceArray, chosen_device
from gpukernels.errors import InvalidArgument
from gpukernels.frontiers.counts import ARCS, ENTRIES
from gpukernels.graph import Graph, checked_roots
from gpukernels.primitives.large_blocks import LARGE_BLOCKS
from gpukernels.primitives.launch_shape import FULL_MASK, WARP_SIZE, blocks_for, check_threads
from gpukernels.summary import shape_of

from .direction_optimizing import MOST_LOGGED, read_log
from .many_roots_down import settle, top_down
from .many_roots_rows import go_through_row, write_all
from .many_roots_up import bottom_up, settle_pieces
from .many_roots_words import (
    BITS,
    FINISHED,
    KEPT,
    PART,
    PLACES,
    ROWS,
    SLOTS,
    VERTEX,
    WORDS,
    Searches,
    set_bit,
    this_lane,
    warp_number,
)

#: Threads a block by default.
BLOCK = 256
#: Arcs of the longest list that one warp goes through alone, by default.
PIECE = 2048


@cuda.jit(device=True)
def list_pieces(pieces, listed, which, v, arcs, piece):
    """Append the pieces of a list of `arcs` arcs; any thread may call."""
    count = (arcs + piece - 1) // piece
    first = cuda.atomic.add(listed, which, count)
    for part in range(count):
        pieces[VERTEX, first + part] = v
        pieces[PART, first + part] = part


@cuda.jit(device=True)
def begin_at(searches, roots):
    """Put the roots into their frontiers and say who is left; all threads of the grid call."""
    for i in range(cuda.grid(1), roots.size, cuda.gridsize(1)):
        at = (int64(roots[i]) << searches.shift) + i // BITS
        cuda.atomic.or_(searches.fronts[0], at, int64(1) << int64(i % BITS))
        set_bit(searches.some[0], uint32(roots[i]))
    n = searches.offsets.size - 1
    for k in range(warp_number(), searches.left.size, cuda.gridsize(1) // WARP_SIZE):
        v = k * WARP_SIZE + cuda.laneid
        arcs = int32(0)
        if v < n:
            arcs = searches.reverse_offsets[v + 1] - searches.reverse_offsets[v]
            leaving = searches.offsets[v + 1] - searches.offsets[v]
            if leaving > searches.piece:
                list_pieces(searches.out_pieces, searches.listed, 0, v, leaving, searches.piece)
            if arcs > searches.piece:
                list_pieces(searches.in_pieces, searches.listed, 1, v, arcs, searches.piece)
        votes = cuda.ballot_sync(FULL_MASK, 0 < arcs and arcs <= searches.piece)
        if cuda.laneid == 0:
            searches.left[k] = votes


@cuda.jit(**LARGE_BLOCKS)
def search_many(searches, roots, counts, log, alpha):
    """Search from all `roots`, a bit each; a cooperative launch.

    Row ``level % 3`` of `counts` is what is told of a level: of three rows one is read, one is
    filled and one, read a level ago, is cleared. ``log[0, 0]`` receives the number of levels and
    ``log[1 + level]`` the vertices of each, and 1 for bottom-up. All rows begin as 0.
    """
    slots = cuda.shared.array(SLOTS, int32)
    lane = this_lane(searches)
    begin_at(searches, roots)
    cuda.cg.this_grid().sync()
    level, turned = 0, False
    waiting = int64(searches.sources.size)  # arcs that lead to vertices which miss a search
    while True:
        here, there = level % ROWS, (level + 1) % ROWS
        told, to_tell = counts[level % 3], counts[(level + 1) % 3]
        if level == KEPT:
            write_all(searches, level)
            cuda.cg.this_grid().sync()
        if level >= KEPT:  # the next level needs the row of one that is past
            go_through_row(searches, level - KEPT, level >= 2 * KEPT, True)
        if not turned:
            settle(searches, searches.fronts[here], searches.some[here], told)
        elif searches.listed[1] > 0:
            settle_pieces(searches, searches.fronts[here], searches.some[here], told)
        if level >= KEPT or not turned or searches.listed[1] > 0:
            cuda.cg.this_grid().sync()
        if told[ENTRIES] == 0:
            break
        waiting -= told[FINISHED]
        turned = told[ARCS] * alpha > waiting
        if cuda.grid(1) == 0:
            log[1 + level, 0], log[1 + level, 1] = told[ENTRIES], turned
            for what in range(PLACES):
                counts[(level + 2) % 3, what] = 0
        if turned:
            bottom_up(
                searches, searches.fronts[here], searches.fronts[there], searches.some[there],
                to_tell, lane, slots,
            )  # fmt: skip
        if not turned:
            top_down(
                searches, searches.fronts[here], searches.some[here], searches.fronts[there],
                searches.some[there], lane, slots,
            )  # fmt: skip
        cuda.cg.this_grid().sync()
        level += 1
    if level < KEPT:
        write_all(searches, level)
    for past in range(max(KEPT, level + 1 - KEPT), level):
        go_through_row(searches, past, True, False)
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
        What the searches did: ``method``, ``batches`` (of 256 roots or fewer), ``launches``,
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
    words: int = 4,
    piece: int = PIECE,
    threads: int = BLOCK,
    batch: int | None = None,
    memory: int | None = None,
    engine: str = "kernels",
    into: str | PathLike | None = None,
    client: Any = None,
) -> BFSManyResult:
    """Search `g` breadth-first from many roots, 256 at a time, in one pass over common frontiers.

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
    words : {1, 2, 4}
        Words of 64 searches that a vertex has at most: 64, 128 or 256 roots make a batch.
    piece : int
        Arcs of the longest list that one warp goes through alone; longer ones are cut into pieces.
    threads : int
        Threads a block.
    batch : int, optional
        Roots of a tile of the result, which one task makes; by default all of them here, and with a
        client so many that each worker has four tiles.
    memory : int, optional
        Bytes of a device that may be used: 8 (n + m) for the graph in both directions (4 (n + m) if
        it is undirected), a little more than 72 n for each word, and 4 n a root. Where all roots
        of a batch do not fit, it has fewer. By default as many as the device has room for; and if
        there is room for its distances, too, one batch is searched while another's come here.
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
    words = check_whole("words", words, 1, WORDS[-1])
    if words not in WORDS:
        raise InvalidArgument("words", words, "1, 2 or 4")
    piece = check_whole("piece", piece, WARP_SIZE, 2**31 - 1)
    at_once = _roots_at_once(g, chosen.size, words * BITS, engine, memory)
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
        (g if client is None else placed(client, g), device, alpha, piece, threads, at_once,
         engine, memory is None),
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


def _roots_at_once(g: Graph, k: int, most: int, engine: str, memory: int | None) -> int:
    """Return how many roots a batch has, `most` or fewer."""
    if memory is None:
        return most
    memory = check_whole("memory", memory, 1, 2**63 - 1)
    if engine != "kernels":
        raise InvalidArgument("memory", memory, "None with engine='cpu': it is of a device")
    fit = roots_within(g, memory, most)
    if fit < 1 and k:
        allowed = f"at least {bytes_for(g, 1)} for one root"
        raise InvalidArgument("memory", memory, allowed)
    return max(1, fit)


def words_for(roots: int) -> int:
    """Return how many words a vertex has for the searches from so many roots, 256 or fewer."""
    return next(words for words in WORDS if roots <= words * BITS)


def bytes_for(g: Graph, roots: int, graph: bool = True) -> int:
    """Return how many bytes of a device so many searches at once take, or all but the graph's."""
    directions = (2 if g.directed else 1) if graph else 0
    each = 8 * words_for(roots) * (1 + ROWS) * g.n + 4 * roots * g.n
    bits = 4 * (1 + ROWS) * blocks_for(g.n, WARP_SIZE)
    lists = 2 * 4 * 2 * _pieces(g, WARP_SIZE)  # at most: with the shortest pieces
    beside = 8 * 3 * PLACES + 8 * (g.n + 1) + 4 * roots + 8
    return 4 * directions * (g.n + 1 + g.m) + each + bits + lists + beside


def _pieces(g: Graph, piece: int) -> int:
    """Return how many pieces the lists that are cut can have in all: each list two or more."""
    return 2 * (g.m // piece) + 1


def roots_within(g: Graph, memory: int, most: int, graph: bool = True) -> int:
    """Return from how many roots, up to `most`, searches at once take no more than `memory`."""
    return max((k for k in range(1, most + 1) if bytes_for(g, k, graph) <= memory), default=0)


def search_tile(
    g: Graph,
    device: Device | None,
    alpha: float,
    piece: int,
    threads: int,
    at_once: int,
    engine: str,
    ahead: bool,
    roots: NDArray[np.int32],
) -> tuple[NDArray[np.int32], dict[str, Any]]:
    """Return the distances from some roots, and what the searches did.

    With `ahead`, where a device has room for it, a batch is searched while the distances of the one
    before are brought here.
    """
    distance = np.empty((roots.size, g.n), np.int32)
    stats: dict[str, Any] = {"batches": 0, "launches": 0, "read_backs": 0}
    stats |= {"levels": [], "frontier_sizes": [], "directions": []}
    if engine == "cpu":
        for row, root in zip(distance, roots.tolist(), strict=True):
            row[:] = sequential.bfs(g, root).distance
        return distance, stats
    device = chosen_device(device)
    first, begun = 0, deque[_Begun]()
    with device.copy_stream() as copies:
        while first < roots.size:
            for array in (g.offsets, g.targets, g.reverse.offsets, g.reverse.targets):
                device.keep(array)
            most = min(at_once, roots.size - first)
            fit = roots_within(g, free := device.free_bytes(), most, False)
            if begun and (fit < most or not ahead):
                _end(begun.popleft(), device, stats)  # its memory is lent out again
                fit = roots_within(g, free := device.free_bytes(), most, False)
            if fit < 1:
                needed = bytes_for(g, 1, False)
                raise MemoryError(
                    f"one root takes {needed:,} bytes beside the graph; {free:,} are free"
                )
            some, into = roots[first : first + fit], distance[first : first + fit]
            begun.append(_begin(g, some, device, alpha, piece, threads, into, copies))
            if len(begun) > 1:
                _end(begun.popleft(), device, stats)
            first += fit
        if begun:
            _end(begun.popleft(), device, stats)
    return distance, stats


class _Begun(NamedTuple):
    """A batch that is searched: what it has on the device, and what is being copied of that.

    Attributes
    ----------
    distance, log : DeviceArray
        On the device until they are copied.
    rows : ndarray of int32
        The first rows of the log.
    copied : tuple of Copied
        These rows, and the distances.
    """

    distance: DeviceArray
    log: DeviceArray
    rows: NDArray[np.int32]
    copied: tuple[Copied, Copied]


def _begin(
    g: Graph,
    roots: NDArray[np.int32],
    device: Device,
    alpha: float,
    piece: int,
    threads: int,
    into: NDArray[np.int32],
    copies: CopyStream,
) -> _Begun:
    """Search from up to 256 roots; their distances come `into` the host's memory afterwards."""
    k, words, of_bits = roots.size, words_for(roots.size), blocks_for(g.n, WARP_SIZE)
    shift = words.bit_length() - 1
    zeros = (words * g.n,), (ROWS, words * g.n), (3, PLACES)
    seen, fronts, counts = device.full_all(zeros, 0, np.int64)
    pieces = 2, _pieces(g, piece)
    distance, log = device.empty(k * g.n, np.int32), device.empty((g.n + 1, 2), np.int32)
    searches = Searches(
        device.keep(g.offsets), device.keep(g.targets),
        device.keep(g.reverse.offsets), device.keep(g.reverse.targets),
        seen, fronts, device.full((ROWS, of_bits), 0, np.uint32), device.empty(of_bits, np.uint32),
        device.empty(pieces, np.int32), device.empty(pieces, np.int32),
        device.full(2, 0, np.int32), distance, k, shift, piece,
    )  # fmt: skip
    args = searches, device.array(roots), counts, log, alpha
    blocks = min(
        blocks_for(g.n, threads), device.cooperative_blocks(search_many, threads, *args)
    )  # fmt: skip
    device.launch(search_many, blocks, threads, *args, cooperative=True)
    first = log[:MOST_LOGGED]
    rows = device.pinned(first.shape, np.int32)
    copied = copies.read(first, rows), copies.read(distance, into.reshape(-1))
    return _Begun(distance, log, rows, copied)


def _end(batch: _Begun, device: Device, stats: dict[str, Any]) -> None:
    """Wait for a batch, and add what its searches did."""
    for copied in batch.copied:
        copied.wait()
    sizes, turned = read_log(device, batch.log, batch.rows)
    stats["batches"] += 1
    stats["launches"] += 1
    stats["levels"].append(len(sizes))
    stats["frontier_sizes"].append(sizes)
    stats["directions"].append(["bottom_up" if up else "top_down" for up in turned])
