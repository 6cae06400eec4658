"""Methods that take what is closest first need weights of at least 0, and refuse others by name."""

from __future__ import annotations

import numpy as np

from gpukernels.errors import NegativeWeightError
from gpukernels.graph import Graph

from .weight_facts import weight_facts

#: Methods of `gk.sssp` that a refusal names.
TAKE_NEGATIVE = ("harish", "topology_driven", "workfront_sweep", "hbf")


def check_non_negative(g: Graph, method: str) -> None:
    """Raise NegativeWeightError, naming the first arc that weighs less than 0."""
    if g.weights is None or weight_facts(g).least >= 0:
        return
    at = int(np.argmax(g.weights < 0))
    arc = int(np.searchsorted(g.offsets, at, side="right")) - 1, int(g.targets[at])
    raise NegativeWeightError(method, arc, g.weights[at].item(), TAKE_NEGATIVE)
