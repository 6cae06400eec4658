"""What searches share that put far vertices off: delta, the pile, and its least distance.

A vertex whose distance falls, but not to a limit, waits in a pile. When the frontier is empty, the
limit rises, and those of the pile that are within it now are the next frontier; the rest waits on,
in the other of two piles. Who has fallen to the limit meanwhile has been in a frontier already, and
leaves the pile for nothing.

The limit is inclusive and lies on the device, as the least distance that waits does: no number has
to come to the host between finding it and going on, and as the new limit is never below it, a delta
that vanishes beside a distance cannot bring a search to a halt.
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

#: What mean weight / mean degree is multiplied by: [davidson2014workefficient] take a warp's width.
WIDTH = WARP_SIZE


@cuda.jit
def find_least(search: Search, waiting_vertex, size, limit, least, now, infinite, cleared):
    """Find the least distance above ``limit[now]`` in a pile; all of `cleared` becomes 0.

    ``least[now]`` was infinite.
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
    """Make `reach` the next limit, beyond which nothing is known; all of `used` becomes 0.

    For one thread, at the end of the launch that has split a pile.
    """
    limit[1 - now] = reach
    least[1 - now] = infinite
    for i in range(used.size):
        used[i] = 0


@dataclass(frozen=True)
class Options:
    """What both searches may be told, by keyword.

    Attributes
    ----------
    delta : float, optional
        By how much a limit is beyond the one before, which is the width of a bucket; by default 32
        times the mean weight over the mean degree, or 1 where that is 0. Infinity puts nothing off.
    threads : int
        Threads a block.
    parents : bool
        Whether the result holds parents.
    """

    delta: float | None = None
    threads: int = THREADS
    parents: bool = True


def default_delta(g: Graph) -> float:
    """Return 32 times the mean weight over the mean degree; 1 where that is 0."""
    mean = weight_facts(g).mean
    return WIDTH * mean * g.n / g.m if g.m and mean else 1.0


def check_delta(delta: float | None, g: Graph) -> float:
    """Return `delta`, or the default for None; InvalidArgument unless it is a number above 0."""
    if delta is None:
        return default_delta(g)
    allowed = "a number above 0; infinity puts nothing off"
    return check_real("delta", delta, math.ulp(0), math.inf, allowed)


class Piles(Sweep):
    """The state of a search that puts far vertices off.

    Attributes
    ----------
    delta : float
        How far a limit reaches.
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
        """Launch `kernel`, which looks at all that waits."""
        pile = self.piles[self.side].next_frontier
        self.launch(
            kernel, self.put_off, self.search, pile, self.put_off, self.limit, self.least, self.now,
            *more, most=self.most_blocks,
        )  # fmt: skip

    def find_least(self, cleared) -> None:
        """Find the least distance that waits, and clear what the next launches count in."""
        self.look(find_least, self.infinite, cleared)

    def split(self, kernel, *more) -> None:
        """Launch `kernel`, which raises the limit, and make a frontier and a pile of the pile."""
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

    def found(self, **more) -> SSSPResult:
        """Return what was found, and the statistics with `more` of them."""
        told = {"delta": self.delta, "splits": self.splits, "put_off": self.put_off_in_all}
        return self.result(self.method, self.parents, **told, **more)
