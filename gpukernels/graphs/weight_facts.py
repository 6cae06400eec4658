"""The least, mean and greatest weight of a graph, computed once, and conclusions from them.

Some methods refuse negative weights, and all methods that add up in int64 or float64 refuse paths
that are too long for these. O(m) on the host.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from gpukernels.errors import NegativeWeightError
from gpukernels.graphs.graph import Graph, no_arc


class WeightFacts(NamedTuple):
    """The facts about all weights that methods need first; 1, 1 and 1 without weights."""

    least: float
    mean: float
    most: float


_known: WeakKeyDictionary[Graph, WeightFacts] = WeakKeyDictionary()


def weight_facts(g: Graph) -> WeightFacts:
    """Return the facts of `g`, whose weights cannot change; kept as long as `g` lives."""
    facts = _known.get(g)
    if facts is None:
        facts = WeightFacts(1, 1.0, 1)
        if g.weights is not None and g.m:
            with np.errstate(over="ignore"):
                mean = float(g.weights.mean(dtype=np.float64))
            facts = WeightFacts(g.weights.min().item(), mean, g.weights.max().item())
        _known[g] = facts
    return facts


def may_be_too_long(g: Graph, arcs: int) -> bool:
    """Return whether the sum of `arcs` weights may be more than int64 or float64 holds."""
    facts = weight_facts(g)
    largest = max(facts.most, -facts.least)
    most = float(np.finfo(np.float64).max) if isinstance(largest, float) else 2**63 - 1
    return largest > most // (arcs + 1)


def is_held(g: Graph, distance: NDArray) -> bool:
    """Return whether `distance`, of shape (n,), holds the length of every path from its root.

    Otherwise a vertex has stayed at infinity, although an arc leads to it from a reached vertex, or
    a float has become minus infinity.
    """
    source, target = g.coo
    is_reached = distance != no_arc(distance.dtype)
    beyond = is_reached[source] & ~is_reached[target]
    return not (beyond.any() or (distance == -np.inf).any())


def check_non_negative(g: Graph, method: str, alternatives: tuple[str, ...]) -> None:
    """Raise NegativeWeightError, naming the first arc that weighs less than 0."""
    if g.weights is None or weight_facts(g).least >= 0:
        return
    at = int(np.argmax(g.weights < 0))
    arc = int(np.searchsorted(g.offsets, at, side="right")) - 1, int(g.targets[at])
    raise NegativeWeightError(method, arc, g.weights[at].item(), alternatives)
