"""The result of an expansion."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gpukernels.graphs.stats import Stats
from gpukernels.graphs.summary import shape_of


@dataclass(frozen=True, eq=False)
class Mapping:
    """A workload whose units have all been visited once.

    Attributes
    ----------
    item : ndarray of int32, shape (units,), or None
        The item that owns each unit; None in the read direction.
    total : ndarray of int64 or float64, shape (items,), or None
        Sum of the values of each item's units; None in the write direction.
    stats : Stats
        Statistics of the technique. Every technique gives ``method``, ``launches`` (kernel
        launches), ``blocks`` and ``threads`` (per block) of the kernel that visits the units,
        ``units`` and ``items``; the technique's own module names what it adds.

    Examples
    --------
    >>> import gpukernels as gk
    >>> m = gk.expand([0, 2, 2, 5], method="direct_search")
    >>> m.item
    array([0, 0, 2, 2, 2], dtype=int32)
    >>> m.stats["units"], m.stats["items"]
    (5, 3)
    """

    item: np.ndarray | None
    total: np.ndarray | None
    stats: Stats = field(default_factory=lambda: Stats({}))

    def __repr__(self) -> str:
        by = f" of {self.stats['method']}" if "method" in self.stats else ""
        arrays = f"item {shape_of(self.item)}, total {shape_of(self.total)}"
        return f"Mapping{by}: {arrays}, stats of {len(self.stats)} entries"
