"""The common part of searches that put far vertices off: delta, the pile, and its least distance.

A vertex whose distance falls, but stays above a limit, waits in a pile. When the frontier is empty,
the limit rises. Vertices of the pile within the new limit are the next frontier; the rest waits in
the other of two piles. A vertex whose distance has meanwhile fallen to the old limit has already
been in a frontier, and is dropped.

The limit is inclusive. It stays on the device, like the least waiting distance: no number has to
come to the host between finding the limit and going on. The new limit is never below the least
waiting distance, so even a delta that rounding makes 0 in a sum cannot stop the search.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from numba import cuda

from gpukernels.checks import check_real
from gpukernels.device import Device
from gpukernels.frontiers.arc_queue import ArcQueue
from gpukernels.frontiers.enqueue import warp_minimum
from gpukernels.graphs.graph import Graph
from gpukernels.graphs.weight_facts import weight_facts
from gpukernels.primitives.launch_shape import THREADS, WARP_SIZE

from .non_negative import check_non_negative
from .result import SSSPResult, infinity
from .sweep import Search, Sweep

#: A factor for mean weight / mean degree: [davidson2014workefficient] take a warp's width.
WIDTH = WARP_SIZE


@cuda.jit
def find_least(search: Search, waiting_vertex, size, limit, least, now, infinite, cleared):
    """Find the least distance above ``limit[now]`` in a pile; all of `cleared` becomes 0.

    ``least[now]`` is infinite before.
    """
    for i in range(cuda.grid(1), cleared.size, cuda.gridsize(1)):
        cleared[i] = 0
    nearest = infinite
    for i in range(cuda.grid(1), size, cuda.gridsize(1)):
        distance = search.distance[waiting_vertex[i]]
        if distance > limit[now]:
            nearest = min(nearest, distance)
    nearest = warp_minimum(nearest)
    if cuda.laneid == 0 and nearest < infinite:
        cuda.atomic.min(least, now, nearest)


@cuda.jit(device=True)
def next_limit(limit, least, used, now, reach, infinite):
    """Make `reach` the next limit; the least distance beyond it is not known. Set all `used` to 0.

    Only one thread may call, at the end of the launch that has split a pile.
    """
    limit[1 - now] = reach
    least[1 - now] = infinite
    for i in range(used.size):
        used[i] = 0


@dataclass(frozen=True)
class Options:
    """The options of both searches, by keyword.

    Attributes
    ----------
    delta : float, optional
        The distance between two limits, which is the width of a bucket; by default 32 times the
        mean weight over the mean degree, or 1 if that is 0. Infinity puts no vertex off.
    threads : int
        Threads per block.
    parents : bool
        Whether the result holds parents.
    """

    delta: float | None = None
    threads: int = THREADS
    parents: bool = True


def default_delta(g: Graph) -> float:
    """Return 32 times the mean weight over the mean degree; 1 if that is 0."""
    mean = weight_facts(g).mean
    return WIDTH * mean * g.n / g.m if g.m and mean else 1.0


def check_delta(delta: float | None, g: Graph) -> float:
    """Return `delta`, or the default for None; InvalidArgument unless it is a number above 0."""
    if delta is None:
        return default_delta(g)
    allowed = "a number above 0; with infinity, no vertex is put off"
    return check_real("delta", delta, math.ulp(0), math.inf, allowed)


class Piles(Sweep):
    """The state of a search that puts far vertices off.

    Attributes
    ----------
    delta : float
        The distance between two limits.
    splits : int
        How often the limit has risen.
    """

    def __init__(self, method: str, g: Graph, root: int, device: Device, options: Options):
        check_non_negative(g, method)
        self.method, self.parents = method, options.parents
        self.delta = check_delta(options.delta, g)
        super().__init__(g, root, device, options.threads, self.delta)
        distance = self.search.distance
        self.infinite = infinity(distance.dtype)
        self.least = device.full(2, self.infinite, distance.dtype)
        self.most_blocks = max(1, device.resident_threads // self.threads)
        self.splits = self.put_off_in_all = 0

    def relax(self, search: Search, frontier: ArcQueue, size: int, arcs: int) -> None:
        """Relax the `arcs` of `size` vertices; enqueue or put off the vertices that fall."""
        before = self.put_off
        super().relax(search, frontier, size, arcs)
        self.put_off_in_all += self.put_off - before

    def look(self, kernel, *more) -> None:
        """Launch `kernel`, which reads all waiting vertices."""
        pile = self.piles[self.side].next_frontier
        self.launch(
            kernel, self.put_off, self.search, pile, self.put_off, self.limit, self.least, self.now,
            *more, most=self.most_blocks,
        )  # fmt: skip

    def find_least(self, cleared) -> None:
        """Find the least waiting distance, and clear the counters of the next launches."""
        self.look(find_least, self.infinite, cleared)

    def split(self, kernel, *more) -> None:
        """Launch `kernel`, which raises the limit, to split the pile into a frontier and a pile."""
        pile, other = self.piles[self.side], self.piles[1 - self.side]
        queue, counts, used = self.next_queue()
        self.launch(
            kernel, self.put_off, self.search, pile.next_frontier, self.put_off, queue, other,
            counts, used, self.limit, self.least, self.infinite, self.now, self.delta, *more,
            most=self.most_blocks,
        )  # fmt: skip
        self.now, self.side = 1 - self.now, 1 - self.side
        self.splits += 1
        self.read()

    def final_result(self, **more) -> SSSPResult:
        """Return the result of the search, with `more` statistics."""
        own_stats = {"delta": self.delta, "splits": self.splits, "put_off": self.put_off_in_all}
        return self.result(self.method, self.parents, **own_stats, **more)
