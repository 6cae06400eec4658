"""A graph on which searches meet themselves: of all it takes the most room for duplicates."""

from __future__ import annotations

import numpy as np

import gpukernels as gk


def diamonds(k: int) -> gk.Graph:
    """Return a chain of k diamonds: 2**k shortest paths from the first vertex to the last."""
    top = 3 * np.arange(k)
    source = np.concatenate([top, top, top + 1, top + 2])
    target = np.concatenate([top + 1, top + 2, top + 3, top + 3])
    return gk.Graph.from_arcs(3 * k + 1, source, target)
