"""A cheap test of a graph's depth: few levels that soon hold all of it, or many small ones.

A search on a street map has thousands of levels with some hundred vertices each; on a social
network it has ten levels. A method that is fast for one kind is slow for the other. The levels near
one vertex show the kind of a graph.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from gpukernels.graphs.graph import Graph

#: A graph is deep if so many levels together hold fewer than so many vertices. In a square grid, 24
#: levels hold 1,200 vertices; with 16 random neighbors each, four levels hold 70,000.
LEVELS, VERTICES = 24, 4096

_known: WeakKeyDictionary[Graph, bool] = WeakKeyDictionary()


def is_deep(g: Graph) -> bool:
    """Return whether searches of `g` have many small levels; kept as long as `g` lives.

    O(n) for the first call, which visits the levels around the vertex with the most arcs.
    """
    known = _known.get(g)
    if known is None:
        known = _known[g] = g.m > 0 and _is_deep_around(g, int(np.argmax(g.out_degree)))
    return known


def _is_deep_around(g: Graph, start: int) -> bool:
    seen = np.zeros(g.n, bool)
    seen[start] = True
    frontier, held = np.array([start]), 1
    for _ in range(LEVELS):
        degrees = g.out_degree[frontier].astype(np.int64)
        ends = np.cumsum(degrees)
        if not frontier.size or held + ends[-1] > 16 * VERTICES:
            return False
        arcs = np.repeat(g.offsets[frontier] - ends + degrees, degrees) + np.arange(ends[-1])
        ends_of_arcs = np.unique(g.targets[arcs])
        frontier = ends_of_arcs[~seen[ends_of_arcs]]
        seen[frontier] = True
        held += frontier.size
        if held >= VERTICES:
            return False
    return frontier.size > 0
