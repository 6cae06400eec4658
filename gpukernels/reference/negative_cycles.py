"""Decide exactly whether a graph has a cycle of negative length.

Sums of floats are rounded. So a search may end although there is a negative cycle, whose length is
lost in the rounding, and distances may fall around a cycle whose exact length is 0 or more. Sums of
int64 are exact, but a search ends at the first one that int64 does not hold.

Heights prove that no cycle is negative if every arc is at least as long as the height of its target
less the height of its source: around a cycle the heights cancel. All heights will do for a proof,
and distances are nearly such heights. Three steps find a cycle, or prove that there is none:

1. The heights are lowered in float64, as Bellman and Ford's queue lowers distances.
2. Some arcs may still be too short, by a little that rounding has hidden. Around a cycle that
   repeats no vertex, these faults add up to at most the sum of the largest one at each vertex. An
   arc that exceeds its difference of heights by more is part of no negative cycle, nor is an arc
   between two strong components of the others.
3. The remaining arcs, which are few or none, are searched with exact fractions.

Weights are rounded themselves if they are whole numbers that float64 does not hold, or floats so
large that they are scaled down and small ones lose their last bits. Then each arc counts as shorter
by as much as its weight may have changed.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from gpukernels.checks import needed
from gpukernels.cores.compiled import compiled
from gpukernels.errors import NegativeCycleError
from gpukernels.graphs.graph import Graph
from gpukernels.graphs.paths import NO_PARENT, negative_cycle, vertex_on_cycle
from gpukernels.graphs.weight_facts import may_be_too_long, weight_facts

from .checked_sums import too_far, too_short

#: A factor for the bound on the faults, in case that their sum was rounded.
MARGIN = 1 + 1e-6
#: A factor for weights close to the end of float64. Sums of 2^64 of them are held.
SCALE = 2.0**-64
#: Largest relative error of a whole number as float64, and largest absolute one of a scaled float.
RELATIVE, ABSOLUTE = 2.0**-53, 2.0**-1074


def find_negative_cycle(g: Graph, heights: ArrayLike) -> NegativeCycleError | None:
    """Return the error that names a negative cycle of `g`; None if there is none.

    O(n m) at worst, and O(n + m) if no sum of weights is rounded and the heights are right.

    Parameters
    ----------
    g : Graph
        The graph; its weights may be of any type.
    heights : array_like, shape (n,)
        Distances that a search has found, at least one of which is not infinite. Only cycles are
        found to which a path leads from a vertex whose height is not infinite.
    """
    if g.weights is None or weight_facts(g).least >= 0:
        return None
    least = float(np.finfo(np.float64).min) / 4  # from which no sum becomes infinite
    height, weights, error = np.asarray(heights, np.float64), g.weights, (0.0, 0.0)
    if weights.dtype == np.int64:
        weights, error = weights.astype(np.float64), (RELATIVE, 0.0)
    elif may_be_too_long(g, 4 * (g.n + g.m)):
        height, weights, error = height * SCALE, weights * SCALE, (0.0, ABSOLUTE)
    height = np.maximum(height, least)
    arcs = g.offsets, g.targets, weights
    _reach(g.offsets, g.targets, height)
    first = _first_to_fall(*arcs, height)
    if first.size:
        queue = np.empty(g.n, np.int32)
        queue[: first.size] = first
        parent = np.full(g.n, NO_PARENT, np.int32)
        on_cycle = lower(*arcs, queue, first.size, height, parent, np.zeros(4, np.int64), None)
        if on_cycle >= 0 and (named := negative_cycle(g, parent, int(on_cycle))):
            return named
    excess, faults = _excess(*arcs, height, *error)
    if faults == 0:
        return None
    near = np.flatnonzero(excess <= faults * MARGIN)
    source = np.repeat(np.arange(g.n, dtype=np.int32), g.out_degree)[near]
    target = g.targets[near]
    sparse, csgraph = needed("scipy.sparse", "graphs"), needed("scipy.sparse.csgraph", "graphs")
    joined = sparse.csr_array((np.ones(near.size, np.int8), (source, target)), shape=(g.n, g.n))
    component = csgraph.connected_components(joined, connection="strong")[1]
    inside = component[source] == component[target]
    chosen = source[inside].tolist(), target[inside].tolist(), g.weights[near[inside]].tolist()
    cycle = _exact_cycle(list(zip(*chosen, strict=True)))
    return None if cycle is None else NegativeCycleError(cycle)


@compiled()
def _reach(offsets, targets, height):
    """Set the height of each vertex to 0 that is infinite and to which a path leads from others."""
    waiting = np.flatnonzero(height != np.inf).astype(np.int32)
    stack = np.empty(height.size, np.int32)
    size = waiting.size
    stack[:size] = waiting
    while size:
        size -= 1
        u = stack[size]
        for i in range(offsets[u], offsets[u + 1]):
            v = targets[i]
            if height[v] == np.inf:
                height[v] = 0
                stack[size] = v
                size += 1


@compiled()
def _first_to_fall(offsets, targets, weights, height):
    """Return the vertices that have an arc which lowers a height."""
    vertices = np.empty(height.size, np.int32)
    count = 0
    for u in range(height.size):
        if height[u] != np.inf:
            for i in range(offsets[u], offsets[u + 1]):
                if height[u] + weights[i] < height[targets[i]]:
                    vertices[count] = u
                    count += 1
                    break
    return vertices[:count]


@compiled()
def lower(offsets, targets, weights, queue, size, distance, parent, counts, checked):
    """Relax arcs until none lowers a distance; return a vertex on a cycle of parents, or -1.

    The queue is the one of Bellman and Ford's algorithm, and begins with `size` vertices, no vertex
    twice. Parents are searched for a cycle once in n improvements, which does not add to the work,
    and at the end. If there is a negative cycle, there is one among the parents from some moment
    on; rounded sums may close one, too. If `checked` is the largest int64 in place of None, a sum
    beyond it gives no path; the result is `TOO_SHORT` at the first sum below the range of int64.
    """
    n = parent.size
    seen = np.empty(n, np.int32)
    queued = np.zeros(n, np.bool_)
    for i in range(size):
        queued[queue[i]] = True
    head, relaxations, improvements, enqueues, iterations = 0, 0, 0, size, 0
    unsearched = 0
    while size:
        u = queue[head]
        head = head + 1 if head + 1 < n else 0
        size -= 1
        queued[u] = False
        iterations += 1
        for i in range(offsets[u], offsets[u + 1]):
            v = targets[i]
            relaxations += 1
            if checked is not None and too_far(distance[u], weights[i], checked):
                if weights[i] < 0:
                    return too_short(parent, seen)
                continue
            length = distance[u] + weights[i]
            if length < distance[v]:
                distance[v], parent[v] = length, u
                if v == u:
                    return v
                improvements += 1
                unsearched += 1
                if not queued[v]:
                    queued[v] = True
                    queue[(head + size) % n] = v
                    size += 1
                    enqueues += 1
        if unsearched >= n or (size == 0 and unsearched):
            unsearched = 0
            vertex = vertex_on_cycle(parent, seen)
            if vertex >= 0:
                return vertex
    counts[:] = relaxations, improvements, enqueues, iterations
    return -1


@compiled()
def _excess(offsets, targets, weights, height, relative, absolute):
    """Return by how much each arc exceeds its difference of heights, and the bound on the faults.

    A sum and its rounding error are added separately, so that each sign is right. Arcs count as
    shorter by the largest error of their weights.
    """
    excess = np.full(targets.size, np.inf)
    fault = np.zeros(height.size)
    for u in range(height.size):
        if height[u] != np.inf:
            for i in range(offsets[u], offsets[u + 1]):
                v = targets[i]
                total, rest = _two_sum(height[u], np.float64(weights[i]))
                difference, more = _two_sum(total, -height[v])
                excess[i] = difference + (more + rest)
                excess[i] -= abs(weights[i]) * relative + absolute
                fault[v] = max(fault[v], -excess[i])
    return excess, fault.sum()


@compiled()
def _two_sum(a, b):
    """Return the rounded sum of two float64, and its rounding error, which is exact."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _exact_cycle(arcs: list[tuple[int, int, float]]) -> list[int] | None:
    """Return the vertices of a negative cycle of these arcs, found in exact arithmetic, or None."""
    distance = dict.fromkeys((vertex for u, v, _ in arcs for vertex in (u, v)), Fraction(0))
    exact = [(u, v, Fraction(weight)) for u, v, weight in arcs]
    parent: dict[int, int] = {}
    fell = -1
    for _ in distance:
        fell = -1
        for u, v, weight in exact:
            if distance[u] + weight < distance[v]:
                distance[v], parent[v], fell = distance[u] + weight, u, v
        if fell < 0:
            return None
    if fell < 0:
        return None
    # A vertex whose distance still falls in round n is behind a cycle of parents.
    for _ in distance:
        fell = parent[fell]
    cycle = [fell]
    while parent[cycle[-1]] != fell:
        cycle.append(parent[cycle[-1]])
    return cycle[::-1]
