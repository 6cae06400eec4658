"""Direction-optimizing BFS on all cores: top-down by queues, bottom-up by a bitmap.

Beamer, Asanović and Patterson [beamer2012direction], with the thresholds of [beamer2015gap]. It
decides as `gpukernels.traversal.direction_optimizing` does. One core does a level of few arcs, as
starting the others would take longer.

The cores do not disturb each other. Top-down, each has its own queue. Two cores that find a vertex
at the same time store the same distance, and each its own parent; the parent that remains decides
whose queue keeps the vertex. So the next frontier holds no vertex twice. Bottom-up, a core writes
only the distances, parents and bitmap words of its own vertices, and reads the bitmap of the level
before.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from gpukernels import reference
from gpukernels.cores import all_cores
from gpukernels.cores.compiled import compiled
from gpukernels.graphs.faces import GraphLike, takes_labels
from gpukernels.graphs.graph import check_root

ALPHA, BETA = 15.0, 18.0

#: Arcs of a level that one core follows in the time that the others need to wake up.
ALONE = 4096

#: Vertices per word of the bitmap, and words that a core takes at once when it goes bottom-up.
WORD, PORTION = 64, 16


@takes_labels("root", weighted=False)
def bfs(g: GraphLike, root: Any = 0) -> reference.Traversal:
    """Search breadth-first on all cores.

    Parameters
    ----------
    g : Graph, NetworkX graph or SciPy sparse matrix
        The graph; its weights are not used. The reverse graph is made if it does not exist yet.
    root : int
        The vertex where the search starts.

    Returns
    -------
    Traversal
        Distances, parents and the number of levels, as in :func:`gpukernels.reference.bfs`. If
        several parents are possible, the order of the cores decides.

    Raises
    ------
    VertexOutOfRange
        If `root` is not a vertex of `g`.
    """
    root = check_root(g, root)
    distance = np.full(g.n, -1, np.int32)
    parent = np.full(g.n, -1, np.int32)
    words = -(-g.n // WORD)
    with all_cores() as count:
        # Only the written parts of these take memory.
        next_queues, by = np.empty((count, g.n), np.int32), np.empty((count, g.n), np.int32)
        levels = _search(
            g.offsets, g.targets, g.reverse.offsets, g.reverse.targets, root, distance, parent,
            np.empty(g.n, np.int32), next_queues, by,
            np.empty(words, np.uint64), np.empty(words, np.uint64), ALPHA, BETA,
        )  # fmt: skip
    return reference.Traversal(distance, parent, int(levels))


@compiled()
def _search(
    offsets, targets, reverse_offsets, sources, root, distance, parent, queue, next_queues, by,
    bits, next_bits, alpha, beta,
):  # fmt: skip
    """Fill `distance` and `parent`, which hold -1; return the number of levels."""
    count = next_queues.shape[0]
    bounds = np.empty(count + 1, np.int64)
    sizes, leaving = np.zeros(count, np.int64), np.zeros(count, np.int64)
    distance[root], parent[root] = 0, root
    queue[0] = root
    size, arcs = 1, np.int64(offsets[root + 1] - offsets[root])
    level, before, turned = 0, 0, False
    left = np.int64(targets.size)  # arcs that leave vertices not yet visited
    while size > 0:
        left -= arcs
        growing = size > before
        before = size
        if not turned and growing and arcs * alpha > left:
            turned = True
            _to_bits(queue, size, bits)
        elif turned and not growing and size * beta < distance.size:
            turned = False
            _to_queue(bits, queue, sizes, size)
        if turned:
            _bottom_up(
                reverse_offsets, sources, offsets, distance, parent, bits, next_bits, sizes,
                leaving, level,
            )  # fmt: skip
            bits, next_bits = next_bits, bits
            size, arcs = sizes.sum(), leaving.sum()
        elif arcs <= ALONE or count == 1:
            size, arcs = _alone(
                offsets, targets, distance, parent, queue, size, next_queues[0], level
            )
        else:
            _share(offsets, queue, size, arcs, bounds)
            _top_down(
                offsets, targets, distance, parent, queue, bounds, next_queues, by, sizes, level
            )
            _keep_own(offsets, parent, next_queues, by, sizes, leaving)
            _join(next_queues, sizes, queue)
            size, arcs = sizes.sum(), leaving.sum()
        level += 1
    return level


@compiled()
def _alone(offsets, targets, distance, parent, queue, size, next_queue, level):
    """Visit the arcs of the frontier on one core; return the next one's vertices and arcs."""
    tail, arcs = 0, np.int64(0)
    for i in range(size):
        u = queue[i]
        for k in range(offsets[u], offsets[u + 1]):
            v = targets[k]
            if distance[v] < 0:
                distance[v] = level + 1
                parent[v] = u
                next_queue[tail] = v
                tail += 1
                arcs += offsets[v + 1] - offsets[v]
    for i in range(tail):
        queue[i] = next_queue[i]
    return tail, arcs


@compiled()
def _share(offsets, queue, size, arcs, bounds):
    """Divide the frontier so that each core gets about as many of its `arcs`."""
    count = bounds.size - 1
    t, before = 0, np.int64(0)
    for i in range(size):
        while t < count and before * count >= t * arcs:
            bounds[t] = i
            t += 1
        before += offsets[queue[i] + 1] - offsets[queue[i]]
    for rest in range(t, count + 1):
        bounds[rest] = size


@compiled(parallel=True)
def _top_down(offsets, targets, distance, parent, queue, bounds, next_queues, by, sizes, level):
    """Visit the arcs of the frontier.

    ``next_queues[t]`` gets the vertices that core `t` reaches, and ``by[t]`` their parents.
    """
    for t in prange(sizes.size):
        tail = 0
        for i in range(bounds[t], bounds[t + 1]):
            u = queue[i]
            for k in range(offsets[u], offsets[u + 1]):
                v = targets[k]
                if distance[v] < 0:
                    distance[v] = level + 1
                    parent[v] = u
                    next_queues[t, tail] = v
                    by[t, tail] = u
                    tail += 1
        sizes[t] = tail


@compiled(parallel=True)
def _keep_own(offsets, parent, next_queues, by, sizes, leaving):
    """Drop from every queue the vertices with another core's parent; count the arcs of the rest."""
    for t in prange(sizes.size):
        tail, arcs = 0, np.int64(0)
        for i in range(sizes[t]):
            v = next_queues[t, i]
            if parent[v] == by[t, i]:
                next_queues[t, tail] = v
                tail += 1
                arcs += offsets[v + 1] - offsets[v]
        sizes[t] = tail
        leaving[t] = arcs


@compiled(parallel=True)
def _join(next_queues, sizes, queue):
    """Copy all queues one after the other."""
    for t in prange(sizes.size):
        begin = sizes[:t].sum()
        for i in range(sizes[t]):
            queue[begin + i] = next_queues[t, i]


@compiled()
def _to_bits(queue, size, bits):
    bits[:] = 0
    for i in range(size):
        bits[queue[i] // WORD] |= np.uint64(1) << np.uint64(queue[i] % WORD)


@compiled(parallel=True)
def _to_queue(bits, queue, sizes, size):
    """List the vertices of the bitmap; each core lists those of one part of its words."""
    count = sizes.size
    for t in prange(count):
        count_of_part = 0
        for w in range(bits.size * t // count, bits.size * (t + 1) // count):
            word = bits[w]
            while word:
                word &= word - np.uint64(1)
                count_of_part += 1
        sizes[t] = count_of_part
    for t in prange(count):
        tail = sizes[:t].sum()
        for w in range(bits.size * t // count, bits.size * (t + 1) // count):
            if bits[w]:
                for b in range(WORD):
                    if (bits[w] >> np.uint64(b)) & np.uint64(1):
                        queue[tail] = w * WORD + b
                        tail += 1


@compiled(parallel=True)
def _bottom_up(
    reverse_offsets, sources, offsets, distance, parent, bits, next_bits, sizes, leaving, level
):
    """Let every unvisited vertex search for a neighbor in the frontier, and stop at the first.

    The cores take portions in turn, as vertices of many arcs often have neighboring numbers.
    """
    count, n = sizes.size, distance.size
    portions = (bits.size + PORTION - 1) // PORTION
    for t in prange(count):
        size, arcs = 0, np.int64(0)
        for portion in range(t, portions, count):
            for w in range(portion * PORTION, min((portion + 1) * PORTION, bits.size)):
                word = np.uint64(0)
                for v in range(w * WORD, min((w + 1) * WORD, n)):
                    if distance[v] < 0:
                        for k in range(reverse_offsets[v], reverse_offsets[v + 1]):
                            u = sources[k]
                            if (bits[u // WORD] >> np.uint64(u % WORD)) & np.uint64(1):
                                distance[v] = level + 1
                                parent[v] = u
                                word |= np.uint64(1) << np.uint64(v % WORD)
                                size += 1
                                arcs += offsets[v + 1] - offsets[v]
                                break
                next_bits[w] = word
        sizes[t] = size
        leaving[t] = arcs
