"""The least, mean and greatest weight of a graph, found once, and the refusal of a negative one.

O(m) on the host.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from gpukernels.errors import NegativeWeightError
from gpukernels.graph import Graph


class WeightFacts(NamedTuple):
    """What methods ask of all weights before they begin; 1, 1 and 1 where there are none."""

    least: float
    mean: float
    most: float


_known: WeakKeyDictionary[Graph, WeightFacts] = WeakKeyDictionary()


def weight_facts(g: Graph) -> WeightFacts:
    """Return the facts of `g`, whose weights nobody can change; kept as long as `g` lives."""
    facts = _known.get(g)
    if facts is None:
        facts = WeightFacts(1, 1.0, 1)
        if g.weights is not None and g.m:
            mean = float(g.weights.mean(dtype=np.float64))
            facts = WeightFacts(g.weights.min().item(), mean, g.weights.max().item())
        _known[g] = facts
    return facts


def check_non_negative(g: Graph, method: str, alternatives: tuple[str, ...]) -> None:
    """Raise NegativeWeightError, naming the first arc that weighs less than 0."""
    if g.weights is None or weight_facts(g).least >= 0:
        return
    at = int(np.argmax(g.weights < 0))
    arc = int(np.searchsorted(g.offsets, at, side="right")) - 1, int(g.targets[at])
    raise NegativeWeightError(method, arc, g.weights[at].item(), alternatives)
