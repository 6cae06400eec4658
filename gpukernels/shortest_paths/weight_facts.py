"""The least and the mean weight of a graph, found once: O(m) on the host."""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from gpukernels.graph import Graph


class WeightFacts(NamedTuple):
    """What methods ask of all weights before they begin; 1 and 1 where there are none."""

    least: float
    mean: float


_known: WeakKeyDictionary[Graph, WeightFacts] = WeakKeyDictionary()


def weight_facts(g: Graph) -> WeightFacts:
    """Return the facts of `g`, whose weights nobody can change; kept as long as `g` lives."""
    facts = _known.get(g)
    if facts is None:
        facts = WeightFacts(1, 1.0)
        if g.weights is not None and g.m:
            facts = WeightFacts(g.weights.min().item(), float(g.weights.mean(dtype=np.float64)))
        _known[g] = facts
    return facts
