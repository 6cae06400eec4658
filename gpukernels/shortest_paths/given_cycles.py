"""Decide by the weights that a caller has given whether a search meets a negative cycle.

Kernels round float64 weights to float32. So a negative cycle may no longer be negative, and another
cycle may become negative. If a float64 weight is negative, an exact search on one core follows.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import ArrayLike

from gpukernels.errors import NegativeCycleError, RoundingError
from gpukernels.graphs.graph import Graph, weight_type
from gpukernels.reference.negative_cycles import find_negative_cycle


@contextmanager
def cycles_of(g: Graph, roots: ArrayLike) -> Iterator[None]:
    """Run a search by kernels from `roots`, and report the cycles that `g` itself has.

    Raises
    ------
    NegativeCycleError
        If a path of `g` leads from a root to a cycle of negative length; names one.
    RoundingError
        If a cycle is negative only because its weights are rounded.
    """
    failure: Exception | None = None
    try:
        yield
    except (NegativeCycleError, OverflowError, RoundingError) as error:
        failure = error
    if weight_type(g) == np.float64:
        heights = np.full(g.n, np.inf)
        heights[roots] = 0
        named = find_negative_cycle(g, heights)
        if named is None and isinstance(failure, NegativeCycleError):
            failure = RoundingError(failure.cycle[0])
        failure = named or failure
    if failure is not None:
        raise failure
