"""The numbers of arcs that a search reads from the vertex that they enter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Backwards:
    """For each arc of the reverse graph, in its CSR order, the same arc in the graph itself.

    Attributes
    ----------
    arc : numpy.ndarray
        int64: the number of the same arc in the graph.
    target : numpy.ndarray
        int64: the vertex that it enters.
    """

    arc: np.ndarray
    target: np.ndarray

    @classmethod
    def of(cls, graph: Any) -> Backwards:
        """Return the arcs for `graph`; the k-th of parallel arcs belongs to the k-th."""
        tail, head = graph.coo
        enters, leaves = graph.reverse.coo
        arc = np.empty(len(tail), dtype=np.int64)
        arc[np.lexsort((enters, leaves))] = np.lexsort((head, tail))
        return cls(arc, enters.astype(np.int64))
