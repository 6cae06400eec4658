"""Breadth-first searches from many roots at once: one bit per root, up to 256 bits per vertex.

MS-BFS [then2014msbfs]; on GPUs iBFS [liu2016ibfs]. Searches of one graph from many roots soon have
most vertices in common. So they share words of each vertex: one bit for each search that has *seen*
it, and one for each search that finds it at this level. An arc from u to v serves all searches
together: ``there[v] |= here[u] & ~seen[v]``.

The gather of words at random places bounds the speed. A gather moves a whole sector of 32 bytes,
however little of it is used: 256 searches (four words per vertex) took an H100 2.8 times as long as
64 searches. On ``gk.kron(18, 16, seed=1)`` with 256 roots, few arcs are followed at the first
levels. The three large levels look at 1, 0.3 and 0.06 times all arcs, as most vertices stop early
in the latter two. The other large part of the time is writing all distances.

Mapping: four lanes to the words of a vertex, and a warp to a vertex of many arcs; longer lists are
cut into pieces, one warp each. Top-down, an atomic adds bits to a target's word: `many_roots_down`.
Bottom-up, a vertex gathers the searches that it misses from its in-neighbors until it misses none:
`many_roots_up`. A level goes bottom-up if the arcs that leave the frontiers, times `alpha`, are
more than those to vertices that miss some search. `many_roots_rows` makes the distances from the
words of some levels together. Work O(levels V / 32 + V + E) in all if the searches meet at the same
levels; at worst, E counts once per search. One cooperative launch does all levels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from gpukernels.checks import check_real, check_whole
from gpukernels.device import Device, chosen_device
from gpukernels.distributed import (
    RowTile,
    check_client,
    chosen_engine,
    digest_of,
    make_rows,
    placed,
    rows_a_tile,
    tiles_of,
)
from gpukernels.errors import InvalidArgument
from gpukernels.graphs.answers import Answer
from gpukernels.graphs.faces import GraphLike, takes_labels
from gpukernels.graphs.graph import Graph, checked_roots
from gpukernels.graphs.summary import shape_of
from gpukernels.primitives.launch_shape import WARP_SIZE, check_threads

from .many_roots_batches import Knobs, bytes_for, roots_within, search_tile
from .many_roots_words import BITS, WORDS

#: Threads per block by default.
BLOCK = 256
#: The longest list that one warp goes through alone, by default: this share of all arcs, but no
#: fewer and no more than these bounds.
SHARE_OF_ARCS, PIECES = 1 << 15, (256, 2048)
#: Types that a distance may have.
DTYPES = "int8", "int16", "int32"


@dataclass(frozen=True, eq=False, repr=False)
class BFSManyResult(Answer):
    """Breadth-first searches from many roots.

    Attributes
    ----------
    roots : ndarray of int32, shape (k,)
        The roots of the searches, by position.
    distance : array of int32, int16 or int8, shape (k, n)
        ``distance[i, v]`` is the number of arcs on a shortest path from root i to v; -1 if there is
        no path. An array of NumPy; with a client or a ``.zarr``, one of Dask: its
        ``[2:4].compute()`` brings two rows here; with a ``.npy``, a memory map.
    stats : mapping
        Facts about the searches: ``method``, ``batches`` (of 256 roots or fewer), ``launches`` and
        ``read_backs``. Lists with one entry per batch: ``levels``, ``frontier_sizes`` (vertices in
        any frontier, a list) and ``directions`` ("top_down" or "bottom_up", a list). If the result
        is made in tiles, these are the batches of this call; ``stats`` adds ``tiles``, and
        ``resumed`` (tiles that existed before).

    Examples
    --------
    >>> import gpukernels as gk
    >>> gk.bfs_many(gk.path(4), [0, 2])
    BFSManyResult of 2 roots; distance int32 (2, 4)
    """

    roots: NDArray[np.int32]
    distance: NDArray
    stats: Mapping[str, Any] = field(default_factory=dict)

    @property
    def _unreached(self) -> int:
        return -1

    def __repr__(self) -> str:
        return f"BFSManyResult of {len(self.roots):,} roots; distance {shape_of(self.distance)}"


@takes_labels(roots="roots", weighted=False)
def bfs_many(
    g: GraphLike,
    roots: ArrayLike,
    device: Device | None = None,
    *,
    alpha: float = 4.0,
    words: int = 4,
    piece: int | None = None,
    threads: int = BLOCK,
    dtype: DTypeLike = np.int32,
    batch: int | None = None,
    memory: int | None = None,
    engine: str | None = None,
    into: str | PathLike | None = None,
    client: Any = None,
) -> BFSManyResult:
    """Search `g` breadth-first from many roots, 256 at a time, in one pass over common frontiers.

    The reverse graph is made if it is not there yet. Parents are not kept.

    Parameters
    ----------
    g : Graph, NetworkX graph or SciPy sparse matrix
        The graph; its outgoing arcs are followed.
    roots : array_like of vertices, shape (k,)
        Vertices to start from. A root may occur twice.
    device : SimtDevice or CudaDevice, optional
        Where kernels run; by default :func:`gpukernels.default_device`. With a client, each worker
        runs on its own device.
    alpha : float
        A level goes bottom-up if more arcs leave the frontiers than 1 / `alpha` of the arcs that
        lead to vertices which miss some search; 0 for never.
    words : {1, 2, 4}
        The most words per vertex, of 64 searches each: 64, 128 or 256 roots make a batch.
    piece : int, optional
        Arcs of the longest list that one warp goes through alone; longer ones are cut into pieces.
        The default is a 32,768th of all arcs, but from 256 to 2048: on a small graph all warps wait
        for the one with the longest list, on a large graph pieces are more work.
    threads : int
        Threads per block.
    dtype : {int32, int16, int8}
        The type of a distance. Copying distances to the host takes longer than finding them. int8,
        which holds up to 127, has a quarter of the bytes of int32.
    batch : int, optional
        Roots per tile of the result, which one task makes; by default all roots here, and with a
        client a number that gives each worker four tiles.
    memory : int, optional
        Bytes of a device that may be used: 8 (n + m) for the graph in both directions (4 (n + m) if
        it is undirected), a little more than 72 n for each word, and n distances for each root. If
        not all roots of a batch fit, it has fewer. By default as many as the device has room for.
        If another batch's distances fit too, they are copied to the host while the next batch is
        searched.
    engine : {"kernels", "cpu"}, optional
        Search with kernels, or with all cores of the CPU (one core per worker of a client). By
        default kernels, if a GPU answers or a SIMT machine is given or traces; else the CPU.
    into : path, optional
        A new ``.npy`` or ``.zarr``, which keeps the distances as they come. If a call was
        interrupted, the same call with the same path continues it. A second call with this path is
        refused until the first has ended.
    client : dask.distributed.Client, optional
        A client whose workers search; see :func:`gpukernels.local_client`. They need `gpukernels`.

    Returns
    -------
    BFSManyResult
        ``distance`` of shape (k, n), and ``stats``.

    Raises
    ------
    InvalidArgument
        If `roots` are not whole numbers in one row, another argument has a value that is not
        allowed, or `into` is damaged or holds another result; nothing has been written then. Also
        if a distance is more than `dtype` holds; then the earlier tiles are in `into`.
    VertexOutOfRange
        If a root is not a vertex.
    TileError
        If a tile could not be made: a device is out of memory, or a worker died several times.
    OSError
        If the disk of `into` is full. When there is room again, the same call continues.
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
    engine = chosen_engine(engine, device)
    words = check_whole("words", words, 1, WORDS[-1])
    if words not in WORDS:
        raise InvalidArgument("words", words, "1, 2 or 4")
    if piece is None:
        piece = min(max(g.m // SHARE_OF_ARCS, PIECES[0]), PIECES[1])
    piece = check_whole("piece", piece, WARP_SIZE, 2**31 - 1)
    kind = _checked_dtype(dtype)
    at_once = _roots_at_once(g, chosen.size, words * BITS, engine, memory, kind.itemsize)
    knobs = Knobs(alpha, piece, threads, engine, kind, at_once, memory is None, client is None)
    if batch is not None:
        batch = check_whole("batch", batch, 1, 2**31 - 1)
    if client is not None:
        check_client(client, device)
    elif engine == "kernels":
        device = chosen_device(device)

    def tiles(before: int | None) -> list[RowTile]:
        each = batch or before
        if each is None:
            each = chosen.size
            if client is not None:
                each = rows_a_tile(chosen.size, kind.itemsize * g.n, client)
            each = -(-each // at_once) * at_once
        return tiles_of("roots", chosen, max(1, each))

    made_from = {"call": "bfs_many", "engine": engine}
    if into is not None:
        made_from |= {"graph": digest_of(g.offsets, g.targets), "roots": digest_of(chosen)}
    rows = make_rows(
        "bfs_many", (chosen.size, g.n), kind, tiles, search_tile,
        (g if client is None else placed(client, g), device, knobs), client, into, made_from,
    )  # fmt: skip
    stats: dict[str, Any] = {"method": "many_roots", "batches": 0, "launches": 0, "read_backs": 0}
    stats |= {"levels": [], "frontier_sizes": [], "directions": []}
    for tile_stats in rows.stats:
        for name in tile_stats:
            stats[name] += tile_stats[name]
    if client is not None or into is not None or batch is not None:
        stats |= {"tiles": rows.tiles, "resumed": rows.resumed}
    return BFSManyResult(chosen, rows.matrix, stats)


def _checked_dtype(dtype: DTypeLike) -> np.dtype:
    """Return a type of distances; InvalidArgument unless it is one of `DTYPES`."""
    # A value that names no type differs from each, but ``np.dtype(value)`` may raise many errors.
    for name in DTYPES if isinstance(dtype, str | type | np.dtype) else ():
        if np.dtype(name) == dtype:
            return np.dtype(name)
    raise InvalidArgument("dtype", dtype, f"one of {DTYPES}")


def _roots_at_once(
    g: Graph, k: int, most: int, engine: str, memory: int | None, itemsize: int
) -> int:
    """Return how many roots a batch has, `most` or fewer."""
    if memory is None:
        return most
    memory = check_whole("memory", memory, 1, 2**63 - 1)
    if engine != "kernels":
        raise InvalidArgument("memory", memory, "None with engine='cpu': it is a device's memory")
    fit = roots_within(g, memory, most, itemsize=itemsize)
    if fit < 1 and k:
        allowed = f"at least {bytes_for(g, 1, itemsize=itemsize)} for one root"
        raise InvalidArgument("memory", memory, allowed)
    return max(1, fit)
