"""Max scan: items mark their first units in a tile; the last mark so far gives a unit's owner.

The interval expansion of [baxter2013moderngpu] on the path of `merge_path`. It follows the advice
of [merrill2016single] for a copy: only memory should bound its speed. Work O(items + units + blocks
log(items)). Every technique here must write four bytes per unit and read four bytes per item. This
technique avoids most other work:

- No search in a tile. An item that has units stores its number at the first of them, in shared
  memory. It knows from its own two offsets that it has units, so no two items store to one place.
  The owner of a unit is the last mark at or before it: a running maximum, as items are in order. A
  warp finds it for 32 units by one vote and one shuffle: the highest set bit at or below a lane.
- No scan over the block. Each warp has its own run of units, and an item that continues into a run
  marks the run's first unit, too. So no warp waits for the result of an earlier one.
- One search per block, not two per tile. A block takes one share of the path, tile by tile; the
  item that is cut by the end of a tile begins the next. A warp does the search, with 32
  reads at a time: five rounds find one of 39 million items, where halving takes 26.
- Each thread loads four items at the same time, and a tile begins at a multiple of 32 units, so
  that a warp's stores fill whole lines. The block meets twice per tile.

A run of empty items is cut in the same way as units: a block's share counts both.
"""

from __future__ import annotations

import functools
from typing import Any

from numba import cuda, int32, int64, uint32, uint64

from gpukernels.checks import check_whole
from gpukernels.primitives.launch_shape import FULL_MASK, THREADS, WARP_SIZE, blocks_for

from .visits import add_value, write_item
from .workload import SHARED_WORDS, Workload

#: Units per thread in a tile, if they fit the shared memory.
UNITS = 16
#: The most units per thread, as the compiler unrolls the code for each.
MOST_UNITS = 32
#: Items whose offsets a thread loads at a time.
AHEAD = 4
#: The most blocks by default, relative to those that a device holds; the least tiles of each.
MOST_ROUNDS, TILES = 4, 3
#: The value of a place without a mark.
NONE = -1


@cuda.jit(device=True)
def path_item_by_warp(offsets, items, step):
    """Return the same as `merge_path.path_item`, with 32 reads at a time; all lanes of a warp call.

    A round leaves a 33rd of the items, where halving leaves a half.
    """
    left, count = int64(0), int64(items)
    while count > 1:
        part = (count + WARP_SIZE) // (WARP_SIZE + 1)
        ahead = (cuda.laneid + 1) * part
        before = False
        if ahead < count:
            before = offsets[left + ahead] + left + ahead <= step
        passed = cuda.popc(cuda.ballot_sync(FULL_MASK, before)) * part
        left += passed
        count = min(part, count - passed)
    return int32(left)


@functools.cache
def scan_of(units_per_thread):
    """Return a device function in which each thread has `units_per_thread` units of a tile."""
    run_units = WARP_SIZE * units_per_thread

    @cuda.jit(device=True)
    def mark_items(offsets, items, first, base, ahead, room, marks, corner):
        """Mark the first unit of every item in the tile and in each run; the whole block calls.

        The tile holds items from `first` on. The place of a unit is its number less `base`, and the
        tile's first unit is at `ahead`. If the item at ``first + k`` ends the tile, the tile ends
        at place ``room - k``. ``corner[0]`` becomes that item, unless it is after the last one.
        """
        begins = cuda.local.array(AHEAD, int32)
        ends = cuda.local.array(AHEAD, int32)
        stride, final = uint32(cuda.blockDim.x), uint32(items - 1)
        i = uint32(first + cuda.threadIdx.x)
        last = int32(room - cuda.threadIdx.x)
        inside = True
        while inside:
            for turn in range(AHEAD):
                # Past the last item, load the last one again: no branch is between the loads.
                at = uint64(min(uint32(i + turn * stride), final))
                begins[turn] = offsets[at]
                ends[turn] = offsets[at + uint64(1)]
            for turn in range(AHEAD):
                begin = int32(begins[turn] - base)
                inside = i <= final and begin <= last
                if inside:
                    end = int32(ends[turn] - base)
                    if end >= last:
                        corner[0] = i
                        end = last
                    begin = max(begin, ahead)
                    if begin < end:
                        marks[uint64(begin)] = i
                        run = int32((uint32(begin) // uint32(run_units) + 1) * run_units)
                        while run < end:
                            marks[uint64(run)] = i
                            run = int32(run + run_units)
                i = uint32(i + stride)
                last = int32(last - stride)

    @cuda.jit(device=True)
    def max_scan(visit, work, offsets, items, units, begin, end, marks):
        """Visit the units from step `begin` to step `end` of the path of items and units.

        All threads of the block call, with ``begin < end``. Only the first ``items + 1`` of
        `offsets` are read, and there are `units` units in all. `marks` is int32 in shared memory,
        with `units_per_thread` elements per thread.
        """
        corner = cuda.shared.array(2, int32)
        lane = int32(cuda.laneid)
        up_to_lane = uint32(FULL_MASK) >> uint32(WARP_SIZE - 1 - lane)
        run = int32(cuda.threadIdx.x // WARP_SIZE * run_units)
        for turn in range(units_per_thread):
            marks[uint64(run + lane) + uint64(turn * WARP_SIZE)] = NONE
        if cuda.threadIdx.x < WARP_SIZE:
            found = path_item_by_warp(offsets, items, begin)
            if lane == 0:
                corner[1] = found
        cuda.syncthreads()
        first = corner[1]
        # A tile begins at a multiple of 32 units, up to 31 units before its first own unit.
        tile = cuda.blockDim.x * units_per_thread - WARP_SIZE
        while begin < end:
            ahead = int32((begin - first) % WARP_SIZE)
            base = int32(begin - first - ahead)
            steps = min(tile, end - begin)
            mark_items(
                offsets, items, first, base, ahead, int32(ahead + steps), marks, corner
            )  # fmt: skip
            cuda.syncthreads()
            begin += steps
            stop = int32(units - base)
            if begin < items + units:
                first = corner[0]
                stop = int32(begin - first - base)
            if run < stop:
                owner = int32(0)
                place, unit = uint64(run + lane), uint64(base + run + lane)
                # Unsigned, so units before the tile count as beyond it, too.
                behind, count = uint32(run + lane - ahead), uint32(stop - ahead)
                for _ in range(units_per_thread):
                    mark = marks[place]
                    if mark != NONE:
                        marks[place] = NONE  # for the next tile
                    before = cuda.shfl_sync(FULL_MASK, owner, WARP_SIZE - 1)
                    seen = uint32(cuda.ballot_sync(FULL_MASK, mark != NONE) & up_to_lane)
                    highest = int32(WARP_SIZE - 1 - cuda.clz(int32(seen | uint32(1))))
                    owner = cuda.shfl_sync(FULL_MASK, mark, highest)
                    if seen == 0:
                        owner = before
                    if behind < count:
                        visit(work, owner, unit)
                    place += uint64(WARP_SIZE)
                    unit += uint64(WARP_SIZE)
                    behind = uint32(behind + WARP_SIZE)
            cuda.syncthreads()

    return max_scan


@functools.cache
def write_of(units_per_thread):
    """Return the kernel that writes items, in which each thread has so many units of a tile."""
    max_scan = scan_of(units_per_thread)

    @cuda.jit
    def write_by_max_scan(offsets, item, share):
        """Write the item of every unit; each block takes `share` steps of the path."""
        marks = cuda.shared.array(0, int32)
        items, units = offsets.size - 1, item.size
        begin = int64(cuda.blockIdx.x) * share
        end = min(begin + share, items + units)
        max_scan(write_item, (item,), offsets, items, units, begin, end, marks)

    return write_by_max_scan


@functools.cache
def add_of(units_per_thread):
    """Return the kernel that adds up values, in which each thread has so many units of a tile."""
    max_scan = scan_of(units_per_thread)

    @cuda.jit
    def add_by_max_scan(offsets, values, total, share):
        """Add up the values of every item; each block takes `share` steps of the path."""
        marks = cuda.shared.array(0, int32)
        items, units = offsets.size - 1, values.size
        begin = int64(cuda.blockIdx.x) * share
        end = min(begin + share, items + units)
        max_scan(add_value, (values, total), offsets, items, units, begin, end, marks)

    return add_by_max_scan


def expand(
    load: Workload,
    device,
    *,
    threads: int = THREADS,
    units_per_thread: int | None = None,
    blocks: int | None = None,
) -> dict[str, Any]:
    """Visit every unit of `load`, by blocks with equal shares of items and units.

    Parameters
    ----------
    threads : int
        Threads per block.
    units_per_thread : int, optional
        Units per thread in a tile, from 2 to 32. Each takes 4 bytes of the 48 KB of shared memory.
        By default 16, or as many as fit.
    blocks : int, optional
        The most blocks. By default as many as the device holds at once, or up to `MOST_ROUNDS`
        times as many if each has `TILES` tiles: a multiprocessor that is done early takes one more.

    Returns
    -------
    dict
        ``launches``, ``blocks``, ``units_per_thread``, ``shared_bytes`` (per block) and
        ``searches``: one per block, by a warp, in global memory.

    Raises
    ------
    InvalidArgument
        If `units_per_thread` is less than 2 or too large, or `blocks` is below 1.
    """
    most = min(MOST_UNITS, (SHARED_WORDS - 2) // threads)
    if units_per_thread is None:
        units_per_thread = min(UNITS, most)
    check_whole("units_per_thread", units_per_thread, 2, most)
    steps = load.items + load.units if load.units else 0
    tile = threads * units_per_thread - WARP_SIZE
    if blocks is None:
        at_once = max(1, device.resident_threads // threads)
        blocks = at_once * min(MOST_ROUNDS, max(1, steps // (at_once * TILES * tile)))
    check_whole("blocks", blocks, 1, 2**31 - 1)
    share = blocks_for(steps, max(1, min(blocks, blocks_for(steps, tile))))
    used = blocks_for(steps, share) if steps else 0
    make, arrays = load.direction(write_of, add_of)
    shared = 4 * threads * units_per_thread
    device.launch(
        make(int(units_per_thread)), used, threads, load.offsets, *arrays, share, shared=shared
    )
    return {
        "launches": 1 if used else 0,
        "blocks": used,
        "units_per_thread": units_per_thread,
        "shared_bytes": shared,
        "searches": used,
    }
