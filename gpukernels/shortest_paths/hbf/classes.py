"""Edge classes: facts about an arc that hold in every search, in the two high bits of its target.

H-BF [busato2016hbf], section 4.1 and Algorithm 4. Five kinds of arc; two bits distinguish four.

=============  =====================================  =============================================
class          an arc u -> v where                    treatment in the search
=============  =====================================  =============================================
self-loop      u is v                                 skipped, unless its weight is negative
out-degree     v has no arc out (undirected: this)    skipped; v gets its distance at the end
in-degree      v has no other arc in                  relaxed by a plain store, without an atomic
source         u is the root                          the same; needs no bits, as u shows it
(none)         none of these                          relaxed by an atomic
=============  =====================================  =============================================

The two classes that are skipped have the sign bit, so that one comparison skips them before a
weight is loaded. No class depends on the root, so an arc is marked once per graph. The paper marks
in every search, and finds the source class by the same read of u.

This differs from the paper where the paper would be wrong:

- A plain store needs a comparison with the old distance. Algorithm 4 stores every new distance: if
  one arc leads back to the root, it raises the root's distance above 0.
- Parallel arcs from the root need an atomic: the lanes of one warp relax them together, and the
  last store would win, not the smallest. So the source class is only used for a root whose row is
  sorted and names no vertex twice.
- A self-loop of negative weight is a cycle of negative length, and so is an undirected edge of
  negative weight, there and back. Neither may be skipped.

If several classes fit, the first in the table is taken: skipping an arc costs least. A self-loop of
v that is itself skipped does not count as an arc of v, as in the paper's Fig. 2: there, (0, 2) is
of the in-degree class next to (2, 2).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int32

from gpukernels.errors import InvalidArgument
from gpukernels.frontiers.state import kernel_argument
from gpukernels.graphs.graph import Graph
from gpukernels.mapping.dynamic_virtual_warp import choose_warp_size
from gpukernels.mapping.virtual_warp import virtual_warp
from gpukernels.primitives.launch_shape import blocks_for

#: Bits of a target that name the vertex; the class is to their left.
ID_BITS = 30
ID_MASK = 2**ID_BITS - 1
#: Classes as in the two high bits; arcs of the negative ones, with the sign bit, are skipped.
SELF_LOOP, OUT_DEGREE, NORMAL, IN_DEGREE = range(-2, 2)


@kernel_argument
class Arcs(NamedTuple):
    """A graph as compressed rows, or its reverse graph."""

    offsets: Any
    ends: Any  #: the vertex that each arc leads to, or comes from
    weights: Any


@cuda.jit(device=True)
def has_only(arcs, v, most):
    """Return whether `v` has exactly `most` (0 or 1) arcs, or these and one self-loop.

    A self-loop of negative weight counts as an arc.
    """
    begin, end = arcs.offsets[v], arcs.offsets[v + 1]
    if end - begin == most + 1:
        for i in range(begin, end):
            if arcs.ends[i] == v and arcs.weights[i] >= 0:
                return True
    return end - begin == most


@cuda.jit(device=True)
def class_of(arcs, arcs_in, leaf, u, arc):
    """Return the class of `arc`, which leaves `u`."""
    v = arcs.ends[arc]
    if u == v:
        if arcs.weights[arc] < 0:
            return NORMAL
        return SELF_LOOP
    if has_only(arcs, v, leaf) and (leaf == 0 or arcs.weights[arc] >= 0):
        return OUT_DEGREE
    if has_only(arcs_in, v, 1):
        return IN_DEGREE
    return NORMAL


@cuda.jit(device=True)
def mark_arc(work, u, arc):
    """Store the target of `arc` and its class in the new targets."""
    arcs, arcs_in, leaf, marked = work
    marked[arc] = int32(arcs.ends[arc] | class_of(arcs, arcs_in, leaf, u, arc) << ID_BITS)


@cuda.jit
def mark_classes(arcs: Arcs, arcs_in: Arcs, leaf, marked, warp_size):
    """Mark every arc, `warp_size` threads per vertex; `leaf` is the number of arcs of a leaf."""
    work = arcs, arcs_in, leaf, marked
    lane, n = cuda.grid(1) % warp_size, arcs.offsets.size - 1
    for u in range(cuda.grid(1) // warp_size, n, cuda.gridsize(1) // warp_size):
        virtual_warp(mark_arc, work, u, arcs.offsets[u], arcs.offsets[u + 1], lane, warp_size)


def check_ids(n: int) -> None:
    """Raise InvalidArgument if the ids of `n` vertices leave no two bits for a class."""
    if n - 1 > ID_MASK:
        allowed = f"at most {ID_MASK + 1}, or edge_classes=False: a class takes two bits of an id"
        raise InvalidArgument("g.n", n, allowed)


def leaf_degree(g: Graph) -> int:
    """Return the number of arcs out of a leaf, a vertex that no shortest path passes through."""
    return 0 if g.directed else 1


def turned_around(g: Graph, device, arcs: Arcs) -> Arcs:
    """Return the reverse graph's arcs; `arcs` are the arcs of `g`, on the device."""
    back = g.reverse
    weights = arcs.weights if g.weights is None else device.keep(back.weights)
    return Arcs(device.keep(back.offsets), device.keep(back.targets), weights)


def marked_targets(g: Graph, device, arcs: Arcs, arcs_in: Arcs, threads: int):
    """Return device targets with classes, and whether this call has marked them.

    A GPU keeps them as long as `g` lives.
    """
    marking = []

    def mark():
        marking.append(True)
        marked = device.empty(g.m, np.int32)
        group = choose_warp_size(g.n, g.m, 0, 1)
        blocks = blocks_for(g.n * group, threads)
        device.launch(mark_classes, blocks, threads, arcs, arcs_in, leaf_degree(g), marked, group)
        return marked

    return device.keep_made(g, "edge classes", mark), bool(marking)
