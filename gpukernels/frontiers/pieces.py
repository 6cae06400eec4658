"""Vertices of very many arcs, cut into pieces that a child kernel visits, one block per piece.

With dynamic parallelism (BFS-4K [busato2015bfs4k], section 5.3; H-BF [busato2016hbf], section 5.3),
a thread that meets such a vertex starts a kernel for it from the device. numba.cuda cannot launch
from the device. So the level's kernel queues the vertex in pieces, and the host launches one child
kernel after it for all pieces. The host waits for no number from the device: a bound over the graph
sizes the grid, and the blocks read the number of pieces.
"""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from gpukernels.graphs.graph import Graph
from gpukernels.mapping.virtual_warp import virtual_warp

from .state import kernel_argument

#: Places in ``next_size``: pieces queued, and vertices that the pieces belong to.
PIECES, CHILDREN = 1, 2

_known: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


class Large(NamedTuple):
    """The vertices that a child kernel takes: all with more than `above` arcs."""

    above: int  #: the threshold
    vertices: int  #: the number of vertices above the threshold
    pieces: int  #: the number of pieces of their arcs, rounded up for each vertex


@kernel_argument
class Children(NamedTuple):
    """The vertices that the child kernel takes, and the queue of their pieces."""

    child_above: int  #: the child kernel takes vertices of more arcs
    piece: int  #: arcs per piece
    pieces: Any  #: int32, shape (2, most): the vertex and the first arc of each


@cuda.jit(device=True)
def queue_pieces(visit, work, item, u, begin, end, lane, lanes, children):
    """Queue the arcs of `u` in pieces; the `lanes` lanes of its group call, each with its `lane`.

    The queue has room for every large vertex of the graph once. Duplicates in the frontier may need
    more room. If there is no room for a piece, its lane visits the piece itself, as `item`.
    """
    if lane == 0:
        cuda.atomic.add(work.queue.next_size, CHILDREN, 1)
    for first in range(begin + lane * children.piece, end, lanes * children.piece):
        slot = cuda.atomic.add(work.queue.next_size, PIECES, 1)
        if slot < children.pieces.shape[1]:
            children.pieces[0, slot] = u
            children.pieces[1, slot] = first
        else:
            virtual_warp(visit, work, item, first, min(first + children.piece, end), 0, 1)


def larger_than(g: Graph, above: int, piece: int) -> Large:
    """Return how many vertices have more than `above` arcs, and their pieces of `piece` arcs.

    They are counted once per graph.
    """
    known = _known.setdefault(g, {})
    if (above, piece) not in known:
        taken = g.out_degree[g.out_degree > above].astype(np.int64)
        known[above, piece] = Large(above, taken.size, int((-(-taken // piece)).sum()))
    return known[above, piece]
