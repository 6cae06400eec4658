"""A delta that adapts: it doubles where steps are small, and halves where work is done twice.

Delta weighs two costs. Each step, and each round of one, has waits in which `fill` more vertices
could have been relaxed. A vertex that is taken more than once between two splits has been relaxed
for nothing. Where the waits cost eight times what was taken again, delta doubles; where they cost
less than twice as much, it halves. So it grows on a road network, whose steps are small, and stays
near the least weights where arcs are many.

By default a search begins with the mean weight by the mean degree, which is small: growing takes a
few short phases, and a first delta that is too great would have relaxed everything before it could
be told. [meyer2003delta] choose it as the reciprocal of the degree, for weights up to 1.
"""

from __future__ import annotations

import math

import numpy as np
from numba import cuda, int32
from numpy.typing import DTypeLike

from gpukernels.checks import check_real
from gpukernels.graphs.graph import Graph
from gpukernels.graphs.weight_facts import weight_facts

from .waiting_word import NONE, bits_of, length_of

#: How far the delta of float distances may fall below the first.
FINER = 1024.0
FINITE = float(np.finfo(np.float64).max)


@cuda.jit(device=True)
def adapted(delta, finest, fill, steps, again):
    """Return the next delta after so many steps that took `again` vertices more than once."""
    if 8 * again <= steps * fill:
        return delta * 2
    if 2 * again > steps * fill:
        return max(delta / 2, finest)
    return delta


@cuda.jit(device=True)
def bound_beyond(least, delta, infinite, weights):
    """Return the bits of the split `delta` beyond `least`, at least one above its bits."""
    length = length_of(least, weights) + delta
    if length >= infinite:
        return int32(NONE)
    return int32(max(bits_of(length, weights), least + 1))


def deltas(g: Graph, delta: float | None, degree: float, kind: DTypeLike) -> tuple[float, float]:
    """Return the first delta and the least that it may become, whole numbers for whole distances.

    The first is `delta`, or for None the mean weight by the mean `degree`.

    Raises
    ------
    InvalidArgument
        If `delta` is no finite number above 0.
    """
    default = weight_facts(g).mean / degree or 1.0
    if delta is None:
        delta = default
    else:
        check_real("delta", delta, math.ulp(0), FINITE, "a finite number above 0")
    if np.issubdtype(kind, np.integer):
        return float(max(math.ceil(delta), 1)), 1.0
    return float(delta), min(float(delta), default) / FINER
