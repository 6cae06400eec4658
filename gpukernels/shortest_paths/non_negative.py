"""Refuse negative weights for methods that take the closest vertices first."""

from __future__ import annotations

from gpukernels.graphs import weight_facts
from gpukernels.graphs.graph import Graph

#: Methods of `gk.sssp` that a refusal names.
TAKE_NEGATIVE = ("harish", "topology_driven", "workfront_sweep", "hbf")


def check_non_negative(g: Graph, method: str) -> None:
    """Raise NegativeWeightError, naming the first arc that weighs less than 0."""
    weight_facts.check_non_negative(g, method, TAKE_NEGATIVE)
