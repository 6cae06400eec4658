"""Adapt delta: it doubles while steps are small, and halves while work is done twice.

Delta balances two costs. The first: each step, and each round of a step, has waits in which `fill`
more vertices could have been relaxed. The second: if a vertex is taken more than once between two
splits, its first relaxations were wasted. If the waits cost eight times the repeated work, delta
doubles; if they cost less than twice as much, it halves. So it grows on a road network, whose steps
are small, and stays near the smallest weights if there are many arcs.

By default a search begins with the mean weight divided by the mean degree. This is small: growing
takes a few short phases, but a first delta that is too large would relax everything before the
search could notice. [meyer2003delta] choose the reciprocal of the degree, for weights up to 1.
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

#: For float distances, delta may fall to the first one divided by this.
FINER = 1024.0
FINITE = float(np.finfo(np.float64).max)


@cuda.jit(device=True)
def adapted(delta, finest, fill, steps, again):
    """Return the next delta after `steps` steps that took `again` vertices more than once.

    In the waits of each step, `fill` more vertices could have been taken up.
    """
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
    """Return the first delta and the smallest allowed one; for whole distances, whole numbers.

    The first is `delta`, or for None the mean weight divided by the mean `degree`.

    Raises
    ------
    InvalidArgument
        If `delta` is not a finite number above 0.
    """
    default = weight_facts(g).mean / degree or 1.0
    if delta is None:
        delta = default
    else:
        check_real("delta", delta, math.ulp(0), FINITE, "a finite number above 0")
    if np.issubdtype(kind, np.integer):
        return float(max(math.ceil(delta), 1)), 1.0
    return float(delta), min(float(delta), default) / FINER
