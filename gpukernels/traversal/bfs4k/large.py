"""Choose vertices for the child kernel: K2, a share of the vertices by the rank of their degree.

BFS-4K [busato2015bfs4k], section 5.3: the K2 n vertices of highest degree. The host turns the rank
into a degree, once per graph and setting, so that a kernel needs one comparison. A vertex is not
taken if it would not fill one block of the child kernel, with K3 x K6 arcs. Fig. 5 (a) warns of
blocks with nothing to do, and the rule of section 7, a maximum degree above 2,048, is the same
bound for K3 = 16 and K6 = 128.
"""

from __future__ import annotations

import math
import weakref

import numpy as np

from gpukernels.frontiers.pieces import Large, larger_than
from gpukernels.graphs.graph import Graph
from gpukernels.primitives.offsets import MAX_UNITS

from .knobs import Knobs

_known: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def large_vertices(g: Graph, knobs: Knobs) -> Large:
    """Return the vertices of `g` for the child kernel; computed once per graph and knobs.

    If degrees are equal, there may be fewer than K2 n.
    """
    block = knobs.child_queue * knobs.threads
    known = _known.setdefault(g, {})
    key = knobs.child_share, block
    if key not in known:
        degree = g.out_degree
        most = min(math.floor(knobs.child_share * g.n), g.n - 1)
        above = MAX_UNITS
        if most > 0 and degree.max() > block:
            above = max(int(np.partition(degree, g.n - 1 - most)[g.n - 1 - most]), block)
        known[key] = larger_than(g, above, block)
    return known[key]
