"""Search from many roots, batch by batch: the memory that a batch takes, and the copies of results.

One batch is searched while the distances of the batch before are copied to the host, if both fit
the device.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpukernels import reference
from gpukernels.cores.slabs import for_each
from gpukernels.device import Device, DeviceArray, chosen_device
from gpukernels.device.copy_streams import Copied, CopyStream
from gpukernels.errors import InvalidArgument
from gpukernels.graphs.graph import Graph
from gpukernels.primitives.launch_shape import WARP_SIZE, blocks_for

from .direction_optimizing import MOST_LOGGED, read_log
from .many_roots_levels import search_many
from .many_roots_words import BITS, PLACES, ROWS, WORDS, Searches


class Knobs(NamedTuple):
    """The options of the searches, and the type of their distances.

    Attributes
    ----------
    alpha, piece, threads, engine
        The options of `bfs_many`.
    dtype : numpy.dtype
        The type of a distance.
    at_once : int
        The most roots in a batch.
    ahead : bool
        Whether a batch may be searched while the distances of another one are copied.
    together : bool
        Whether all cores of the CPU search; on a worker, one core does.
    """

    alpha: float
    piece: int
    threads: int
    engine: str
    dtype: np.dtype
    at_once: int
    ahead: bool
    together: bool


def words_for(roots: int) -> int:
    """Return how many words a vertex has for searches from `roots` roots, 256 or fewer."""
    return next(words for words in WORDS if roots <= words * BITS)


def bytes_for(g: Graph, roots: int, graph: bool = True, itemsize: int = 4) -> int:
    """Return how many bytes of a device `roots` searches at once take, with or without the `graph`.

    A distance has `itemsize` bytes.
    """
    directions = (2 if g.directed else 1) if graph else 0
    each = 8 * words_for(roots) * (1 + ROWS) * g.n + itemsize * roots * g.n
    bits = 4 * (1 + ROWS) * blocks_for(g.n, WARP_SIZE)
    lists = 2 * 4 * 2 * _pieces(g, WARP_SIZE)  # an upper bound, from the shortest pieces
    beside = 8 * 3 * PLACES + 8 * (g.n + 1) + 4 * roots + 8
    return 4 * directions * (g.n + 1 + g.m) + each + bits + lists + beside


def _pieces(g: Graph, piece: int) -> int:
    """Return the largest number of pieces that lists are cut into: each list into two or more."""
    return 2 * (g.m // piece) + 1


def roots_within(g: Graph, memory: int, most: int, graph: bool = True, itemsize: int = 4) -> int:
    """Return the number of roots, up to `most`, whose searches together fit into `memory` bytes."""
    counts = range(1, most + 1)
    return bisect_right(counts, memory, key=lambda k: bytes_for(g, k, graph, itemsize))


def search_tile(
    g: Graph, device: Device | None, knobs: Knobs, roots: NDArray[np.int32]
) -> tuple[NDArray, dict[str, Any]]:
    """Return the distances from some roots, and the statistics of the searches.

    Raises
    ------
    InvalidArgument
        If a distance is more than its type holds.
    MemoryError
        If the device has no room for one root.
    """
    distance = np.empty((roots.size, g.n), knobs.dtype)
    stats: dict[str, Any] = {"batches": 0, "launches": 0, "read_backs": 0}
    stats |= {"levels": [], "frontier_sizes": [], "directions": []}
    if knobs.engine == "cpu":

        def search(i: int) -> None:
            distance_from_root = reference.bfs(g, int(roots[i])).distance
            _check_held(int(distance_from_root.max(initial=0)), knobs.dtype)
            distance[i] = distance_from_root

        for_each(search, roots.size, knobs.together)
        return distance, stats
    device = chosen_device(device)
    itemsize = knobs.dtype.itemsize
    first, begun = 0, deque[_Begun]()
    with device.copy_stream() as copies:
        while first < roots.size:
            for array in (g.offsets, g.targets, g.reverse.offsets, g.reverse.targets):
                device.keep(array)
            most = min(knobs.at_once, roots.size - first)
            fit = roots_within(g, free := device.free_bytes(), most, False, itemsize)
            if begun and (fit < most or not knobs.ahead):
                _end(begun.popleft(), device, stats)  # its memory is free again
                fit = roots_within(g, free := device.free_bytes(), most, False, itemsize)
            if fit < 1:
                needed = bytes_for(g, 1, False, itemsize)
                raise MemoryError(
                    f"one root takes {needed:,} bytes besides the graph; {free:,} are free"
                )
            some, into = roots[first : first + fit], distance[first : first + fit]
            begun.append(_begin(g, some, device, knobs, into, copies))
            if len(begun) > 1:
                _end(begun.popleft(), device, stats)
            first += fit
        if begun:
            _end(begun.popleft(), device, stats)
    return distance, stats


def _check_held(longest: int, dtype: np.dtype) -> None:
    """Raise InvalidArgument if a type of distances does not hold the longest."""
    if longest > np.iinfo(dtype).max:
        allowed = f"a type that holds {longest}, a distance from these roots"
        raise InvalidArgument("dtype", dtype.name, allowed)


class _Begun(NamedTuple):
    """A batch that is searched: its arrays on the device, and the copies that are under way.

    Attributes
    ----------
    distance, log : DeviceArray
        Arrays on the device, until they are copied.
    rows : ndarray of int32
        The first rows of the log.
    copied : tuple of Copied
        The copies of these rows and of the distances.
    """

    distance: DeviceArray
    log: DeviceArray
    rows: NDArray[np.int32]
    copied: tuple[Copied, Copied]


def _begin(
    g: Graph,
    roots: NDArray[np.int32],
    device: Device,
    knobs: Knobs,
    into: NDArray,
    copies: CopyStream,
) -> _Begun:
    """Search from up to 256 roots; their distances come `into` the host's memory afterwards."""
    k, words, of_bits = roots.size, words_for(roots.size), blocks_for(g.n, WARP_SIZE)
    shift = words.bit_length() - 1
    zeros = (words * g.n,), (ROWS, words * g.n), (3, PLACES)
    seen, fronts, counts = device.full_all(zeros, 0, np.int64)
    pieces = 2, _pieces(g, knobs.piece)
    distance, log = device.empty(k * g.n, knobs.dtype), device.empty((g.n + 1, 2), np.int32)
    searches = Searches(
        device.keep(g.offsets), device.keep(g.targets),
        device.keep(g.reverse.offsets), device.keep(g.reverse.targets),
        seen, fronts, device.full((ROWS, of_bits), 0, np.uint32), device.empty(of_bits, np.uint32),
        device.empty(pieces, np.int32), device.empty(pieces, np.int32),
        device.full(2, 0, np.int32), distance, k, shift, knobs.piece,
    )  # fmt: skip
    args = searches, device.array(roots), counts, log, knobs.alpha
    fit = device.cooperative_blocks(search_many, knobs.threads, *args)
    blocks = min(blocks_for(g.n, knobs.threads), fit)
    device.launch(search_many, blocks, knobs.threads, *args, cooperative=True)
    first = log[:MOST_LOGGED]
    rows = device.pinned(first.shape, np.int32)
    copied = copies.read(first, rows), copies.read(distance, into.reshape(-1))
    return _Begun(distance, log, rows, copied)


def _end(batch: _Begun, device: Device, stats: dict[str, Any]) -> None:
    """Wait for a batch, and add its numbers to the statistics."""
    for copied in batch.copied:
        copied.wait()
    sizes, turned = read_log(device, batch.log, batch.rows)
    _check_held(len(sizes) - 1, np.dtype(batch.distance.dtype))
    stats["batches"] += 1
    stats["launches"] += 1
    stats["levels"].append(len(sizes))
    stats["frontier_sizes"].append(sizes)
    stats["directions"].append(["bottom_up" if up else "top_down" for up in turned])
