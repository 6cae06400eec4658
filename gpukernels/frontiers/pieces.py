"""Vertices of very many arcs, cut into pieces that a child kernel visits, a block a piece.

What dynamic parallelism does from the device (BFS-4K [busato2015bfs4k], section 5.3; H-BF
[busato2016hbf], section 5.3): a thread that meets such a vertex starts a kernel for it. numba.cuda
has no launch from the device, so the level's kernel queues the vertex in pieces, and the host
launches one child kernel behind it for all of them. Neither needs a word from the device: the grid
is sized by a bound over the graph, and the blocks read the number of pieces.
"""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from gpukernels.graphs.graph import Graph
from gpukernels.mapping.virtual_warp import virtual_warp

from .state import kernel_argument

#: Places in ``next_size``: pieces queued, and vertices that these belong to.
PIECES, CHILDREN = 1, 2

_known: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


class Large(NamedTuple):
    """Which vertices a child kernel takes: those of more than `above` arcs."""

    above: int  #: the threshold
    vertices: int  #: how many vertices lie above it
    pieces: int  #: how many pieces their arcs fill, the last of each rounded up


@kernel_argument
class Children(NamedTuple):
    """Which vertices the child kernel takes, and the queue of their pieces."""

    child_above: int  #: vertices of more arcs are for the child kernel
    piece: int  #: arcs of a piece
    pieces: Any  #: int32, shape (2, most): the vertex and the first arc of each


@cuda.jit(device=True)
def queue_pieces(visit, work, item, u, begin, end, lane, lanes, children):
    """Queue the arcs of `u` in pieces; its `lanes` lanes call, each with its own.

    The queue holds every vertex of the graph that is large enough once. Duplicates in the frontier
    may ask for more: a piece that no longer fits is visited by the lane that has it, as `item`.
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
    """Return what is known of the vertices of more than `above` arcs, in pieces of `piece` arcs.

    Counted once a graph.
    """
    known = _known.setdefault(g, {})
    if (above, piece) not in known:
        taken = g.out_degree[g.out_degree > above].astype(np.int64)
        known[above, piece] = Large(above, taken.size, int((-(-taken // piece)).sum()))
    return known[above, piece]
