"""Negative weights: check that int32 holds all lengths, and find cycles of negative length.

A method that relaxes arcs until no distance falls never ends on a cycle of negative length. But
there is a bound: a search that has not ended after n rounds has such a cycle. Most cycles are found
long before, from the arcs that the distances may have come from.
"""

from __future__ import annotations

import numpy as np

from gpukernels.cores.compiled import compiled
from gpukernels.errors import InvalidArgument, RoundingError
from gpukernels.graphs.graph import Graph
from gpukernels.graphs.paths import NO_PARENT, negative_cycle, vertex_on_cycle
from gpukernels.graphs.weight_facts import weight_facts
from gpukernels.reference.negative_cycles import find_negative_cycle

from .result import infinity

INT32_MIN = np.iinfo(np.int32).min


class Watch:
    """Check the distances of a search from time to time, if its graph has negative weights.

    Parameters
    ----------
    g : Graph
        The graph.
    root : int
        The vertex where the paths begin.
    device : SimtDevice or CudaDevice
        Where the distances of the search are.

    Raises
    ------
    InvalidArgument
        If the negative weights add up to so much that a length may be below the range of int32.
    """

    def __init__(self, g: Graph, root: int, device):
        self._g, self._root, self._device = g, root, device
        self.negative = weight_facts(g).least < 0
        self._next, self._every = 1, np.inf
        #: No int32 distance is less than this without a negative cycle; floats have no bound.
        self.least = -np.inf
        if self.negative and g.weights.dtype == np.int32:
            # In one round each arc is relaxed once, so no distance falls by more than their sum.
            fall = -int(g.weights[g.weights < 0].sum(dtype=np.int64))
            self._every, self.least = (-INT32_MIN - fall) // fall, -fall
            if self._every < 1:
                allowed = f"at least {INT32_MIN // 2}, or float32 weights"
                raise InvalidArgument("the sum of negative g.weights", -fall, allowed)

    def due(self, round: int) -> bool:
        """Return whether `look` checks distances in this round; if not, it needs none."""
        # From round n on, no distance falls unless there is a negative cycle.
        late = round >= self._g.n
        return self.negative and (round == self._next or late or not round % self._every)

    def look(self, round: int, distance) -> None:
        """Raise an error if the distances, `round` rounds old, show that the search does not end.

        The distances are checked in rounds 1, 2, 4, 8, ..., often enough that int32 holds all of
        them, and after as many rounds as there are vertices.
        """
        if not self.due(round):
            return
        self._next = max(self._next, 2 * round)
        g, lengths = self._g, self._device.read(distance)
        arcs = g.offsets, g.targets, g.weights
        via = np.full(g.n, -1, np.int32)
        parent = np.full(g.n, NO_PARENT, np.int32)
        _possible_parents(*arcs, lengths, infinity(lengths.dtype), parent, via)
        on_cycle = int(_on_negative_cycle(parent, via, g.weights))
        if on_cycle >= 0 and (error := negative_cycle(g, parent, on_cycle)):
            raise error
        if round >= g.n or lengths.min() < self.least:
            self.prove(round, int(vertex_on_cycle(parent, via)))

    def prove(self, round: int, on_cycle: int = -1) -> None:
        """Raise the error for a search that has not ended after `round` rounds.

        Raises
        ------
        NegativeCycleError
            If there is a negative cycle; names one.
        RoundingError
            If there is none, and distances are floats; names the vertex `on_cycle` if it is known.
        """
        from_root = np.full(self._g.n, np.inf)
        from_root[self._root] = 0
        if error := find_negative_cycle(self._g, from_root):
            raise error
        if self._g.weights.dtype.kind == "f":
            raise RoundingError(self._root if on_cycle < 0 else on_cycle)
        raise AssertionError(f"{round} rounds have not ended and there is no negative cycle")


@compiled()
def _possible_parents(offsets, targets, weights, distance, infinite, parent, via):
    """Give each vertex a parent from which its distance may have come, if there is one.

    The distance of the vertex that lowered v has not risen since. So an arc whose sum is not above
    the distance of v may be the one; around a cycle of such arcs, the weights add up to 0 or less.
    """
    for u in range(parent.size):
        if distance[u] != infinite:
            for i in range(offsets[u], offsets[u + 1]):
                v = targets[i]
                if distance[u] + weights[i] <= distance[v]:
                    parent[v], via[v] = u, i


@compiled()
def _on_negative_cycle(parent, via, weights):
    """Return a vertex on a cycle of `parent` of negative length, or -1: O(n)."""
    seen = np.zeros(parent.size, np.int32)
    for start in range(parent.size):
        v = start
        while v != NO_PARENT and seen[v] == 0:
            seen[v] = start + 1
            v = parent[v]
        if v == NO_PARENT or seen[v] != start + 1:
            continue
        length, at = 1.0 * weights[via[v]], parent[v]
        while at != v:
            length += weights[via[at]]
            at = parent[at]
        if length < 0:
            return v
    return -1
