"""Recorded searches, and counts of them that several chapters show."""

from __future__ import annotations

from typing import Any

from gpukernels.device import Traced, traced
from gpukernels.graphs.graph import Graph
from gpukernels.trace import LOAD, metrics
from gpukernels.trace.record import Record
from gpukernels.traversal import bfs


class Recorded:
    """Searches from vertex 0, each with its trace; the same search is run once.

    Parameters
    ----------
    method : str
        The method of ``gk.bfs`` that is taken where none is named.
    **options
        The options of that method, where a call names no others.

    Examples
    --------
    >>> import gpukernels as gk
    >>> ran, g = Recorded("virtual_warp", warp_size=4), gk.example()
    >>> ran(g).result.reached, ran(g) is ran(g), ran(g, "frontier") is ran(g)
    (15, True, False)
    """

    def __init__(self, method: str, **options: Any):
        self.method, self.options = method, options
        self._runs: dict[tuple, tuple[Graph, Traced]] = {}

    def __call__(self, g: Graph, method: str = "", **options: Any) -> Traced:
        """Return the result and the trace of a search of `g`."""
        if method in ("", self.method):
            method, options = self.method, self.options | options
        key = id(g), method, *sorted(options.items())
        if key not in self._runs:  # the graph is kept, too, so that no other has its id
            self._runs[key] = g, traced(bfs, g, 0, method, **options)
        return self._runs[key][1]


def lane_loads(trace: Record, array: str | list[str], statement: str | None = None) -> int:
    """Return how many elements of an array all lanes load, in lines that hold `statement`."""
    return metrics.accesses(trace.select(array=array, statement=statement), kinds=LOAD)


def sectors_moved(trace: Record) -> int:
    """Return the sectors of a search, the counter of a queue as the compiler has it.

    There the lanes of a warp draw their slots by one atomic, so that none waits for another.
    """
    waits = metrics.atomic_conflicts(trace.select(array=["next_size"]))
    return int(metrics.sectors(trace).sum() - waits.sum())


def busiest(trace: Record) -> int:
    """Return the requests to global memory of the busiest warp of each launch, added up."""
    requests = trace.select(space="global").requests
    return sum(int(metrics.per_warp(requests, launch).max()) for launch in trace.launches)
