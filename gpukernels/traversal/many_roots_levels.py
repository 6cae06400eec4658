"""All levels of many searches in one cooperative launch: see `many_roots`."""

from __future__ import annotations

from numba import cuda, int32, int64, uint32

from gpukernels.frontiers.counts import ARCS, ENTRIES
from gpukernels.primitives.large_blocks import LARGE_BLOCKS
from gpukernels.primitives.launch_shape import FULL_MASK, WARP_SIZE

from .many_roots_down import settle, top_down
from .many_roots_rows import go_through_row, write_all
from .many_roots_up import bottom_up, settle_pieces
from .many_roots_words import (
    BITS,
    FINISHED,
    KEPT,
    PART,
    PLACES,
    ROWS,
    SLOTS,
    VERTEX,
    set_bit,
    this_lane,
    warp_number,
)


@cuda.jit(device=True)
def list_pieces(pieces, listed, which, v, arcs, piece):
    """Append the pieces of a list of `arcs` arcs; any thread may call."""
    count = (arcs + piece - 1) // piece
    first = cuda.atomic.add(listed, which, count)
    for part in range(count):
        pieces[VERTEX, first + part] = v
        pieces[PART, first + part] = part


@cuda.jit(device=True)
def begin_at(searches, roots):
    """Put the roots into their frontiers and set `left`; all threads of the grid call."""
    for i in range(cuda.grid(1), roots.size, cuda.gridsize(1)):
        at = (int64(roots[i]) << searches.shift) + i // BITS
        cuda.atomic.or_(searches.fronts[0], at, int64(1) << int64(i % BITS))
        set_bit(searches.some[0], uint32(roots[i]))
    n = searches.offsets.size - 1
    for k in range(warp_number(), searches.left.size, cuda.gridsize(1) // WARP_SIZE):
        v = k * WARP_SIZE + cuda.laneid
        arcs = int32(0)
        if v < n:
            arcs = searches.reverse_offsets[v + 1] - searches.reverse_offsets[v]
            leaving = searches.offsets[v + 1] - searches.offsets[v]
            if leaving > searches.piece:
                list_pieces(searches.out_pieces, searches.listed, 0, v, leaving, searches.piece)
            if arcs > searches.piece:
                list_pieces(searches.in_pieces, searches.listed, 1, v, arcs, searches.piece)
        votes = cuda.ballot_sync(FULL_MASK, 0 < arcs and arcs <= searches.piece)
        if cuda.laneid == 0:
            searches.left[k] = votes


@cuda.jit(**LARGE_BLOCKS)
def search_many(searches, roots, counts, log, alpha):
    """Search from all `roots`, one bit per root; a cooperative launch.

    Row ``level % 3`` of `counts` holds the counts of a level: one of three rows is read, one is
    filled, and one, read a level ago, is cleared. ``log[0, 0]`` receives the number of levels, and
    ``log[1 + level]`` the vertices of each, and 1 if it went bottom-up. All rows are 0 at first.
    """
    slots = cuda.shared.array(SLOTS, int32)
    lane = this_lane(searches)
    begin_at(searches, roots)
    cuda.cg.this_grid().sync()
    level, turned = 0, False
    waiting = int64(searches.sources.size)  # arcs that lead to vertices which miss a search
    while True:
        here, there = level % ROWS, (level + 1) % ROWS
        told, to_tell = counts[level % 3], counts[(level + 1) % 3]
        if level == KEPT:
            write_all(searches, level)
            cuda.cg.this_grid().sync()
        if level >= KEPT:  # the next level reuses the row of an earlier one
            go_through_row(searches, level - KEPT, level >= 2 * KEPT, True)
        if not turned:
            settle(searches, searches.fronts[here], searches.some[here], told)
        elif searches.listed[1] > 0:
            settle_pieces(searches, searches.fronts[here], searches.some[here], told)
        if level >= KEPT or not turned or searches.listed[1] > 0:
            cuda.cg.this_grid().sync()
        if told[ENTRIES] == 0:
            break
        waiting -= told[FINISHED]
        turned = told[ARCS] * alpha > waiting
        if cuda.grid(1) == 0:
            log[1 + level, 0], log[1 + level, 1] = told[ENTRIES], turned
            for what in range(PLACES):
                counts[(level + 2) % 3, what] = 0
        if turned:
            bottom_up(
                searches, searches.fronts[here], searches.fronts[there], searches.some[there],
                to_tell, lane, slots,
            )  # fmt: skip
        if not turned:
            top_down(
                searches, searches.fronts[here], searches.some[here], searches.fronts[there],
                searches.some[there], lane, slots,
            )  # fmt: skip
        cuda.cg.this_grid().sync()
        level += 1
    if level < KEPT:
        write_all(searches, level)
    for past in range(max(KEPT, level + 1 - KEPT), level):
        go_through_row(searches, past, True, False)
    if cuda.grid(1) == 0:
        log[0, 0] = level
