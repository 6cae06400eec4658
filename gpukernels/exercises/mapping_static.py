"""Exercises of the chapter "Items to threads, once and for all"."""

from __future__ import annotations

import numpy as np
from numba import cuda, int32

from gpukernels.device import SimtDevice
from gpukernels.mapping import expand
from gpukernels.primitives import blocks_for
from gpukernels.simt import metrics
from gpukernels.simt.trace import STORE, Trace

from .case import Budget, Case, equal_to
from .exercise import KernelExercise, PredictionExercise

IMPORTS = "from numba import cuda"
WITH_INT32 = "from numba import cuda, int32"


def offsets_of(sizes) -> np.ndarray:
    """Return the exclusive prefix sum of `sizes` with its total at the end, as int32."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)


def inputs() -> dict[str, np.ndarray]:
    """Return the hidden sizes of items, by name."""
    draw = np.random.default_rng(7)
    skewed = np.ones(40, int)
    skewed[17] = 500
    return {
        "75 items of up to 12 units": draw.integers(0, 13, 75),
        "no items": np.zeros(0, int),
        "50 items without units": np.zeros(50, int),
        "one large item among 40": skewed,
        "33 items of 32 units": np.full(33, 32),
    }


# mapping-static-1: predict rounds and sectors

#: One item of 40 units, then 31 of four.
SIZES = np.array([40] + 31 * [4])


def count_rounds() -> dict[str, int]:
    """Count rounds, sectors and threads of virtual warps on `SIZES`."""
    counted = {}
    for size in (1, 4, 32):
        device = SimtDevice(trace=True)
        expand(offsets_of(SIZES), "virtual_warp", warp_size=size, threads=32, device=device)
        writes = device.trace.select(array="item")
        counted[f"rounds, {size} a group"] = metrics.requests(writes, kinds=[STORE])
        if size < 32:
            counted[f"sectors, {size} a group"] = int(metrics.sectors(writes)[0])
    launch = device.trace.launches[0]
    counted["threads, 32 a group"] = launch.blocks * launch.threads_per_block
    return counted


PREDICT = PredictionExercise(
    "mapping-static-1",
    "predict the counter",
    """
    There are 32 items: the first has 40 units, the other 31 have four each. They are mapped by
    virtual warps of 1, 4 and 32 threads. *Before* you run anything, write down

    - the rounds of all warps together: each time a warp writes, with however many lanes, is one;
    - for 1 and 4 threads a group, how many sectors the *first* write of warp 0 touches (a sector
      holds eight int32, and unit 0 lies at the start of one);
    - how many threads a group of 32 needs in all.
    """,
    """
    A warp makes as many rounds as its longest lane has units. With groups of four there are eight
    items to a warp, so four warps. For the sectors, list the units that the lanes of warp 0 write
    first and divide each by 8.
    """,
    """
    - One thread an item: one warp, 40 rounds, because lane 0 has 40 units. Its first write goes to
      units 0, 40, 44, ..., 160: sector 0, and sectors 5 to 20, which makes 17.
    - Four threads: warp 0 makes 40 / 4 = 10 rounds, the other three make one each, 13 in all. The
      first write goes to units 0 to 3 and 40 to 67: sector 0, and sectors 5 to 8.
    - 32 threads: the first warp makes two rounds, 31 warps make one with four active lanes each:
      33 rounds. The group that shortens the longest item most wastes most on the others. It needs
      32 items x 32 threads.
    """,
    answer={
        "rounds, 1 a group": 40,
        "sectors, 1 a group": 17,
        "rounds, 4 a group": 13,
        "sectors, 4 a group": 5,
        "rounds, 32 a group": 33,
        "threads, 32 a group": 1024,
    },
    measure=count_rounds,
)

# mapping-static-2: virtual warps


@cuda.jit
def expand_groups(offsets, item, size):
    """Write the item of every unit; each group of `size` neighboring threads takes items."""
    group, groups = cuda.grid(1) // size, cuda.gridsize(1) // size
    lane = cuda.grid(1) % size
    # Your lines go here.
    for i in range(group, offsets.size - 1, groups):  # added
        for unit in range(offsets[i] + lane, offsets[i + 1], size):  # added
            item[unit] = i  # added


def run_groups(kernel, device, sizes, size: int, blocks: int = 2) -> dict[str, np.ndarray]:
    """Expand `sizes` with `blocks` blocks of 64 threads, in groups of `size`."""
    offsets = offsets_of(sizes)
    item = device.full(int(offsets[-1]), -1, np.int32)
    device.launch(kernel, blocks, 64, device.array(offsets), item, size)
    return {"item": device.read(item)}


def _group_case(name: str, sizes, size: int, blocks: int = 2) -> Case:
    return Case(
        f"{name}, {size} threads a group",
        lambda kernel, device: run_groups(kernel, device, sizes, size, blocks),
        equal_to(item=np.repeat(np.arange(len(sizes)), sizes)),
    )


def group_cases() -> list[Case]:
    """Return the hidden inputs of mapping-static-2; the grid is too small for most of them."""
    group_sizes = (4, 8, 1, 16, 32)
    return [
        _group_case(name, sizes, size)
        for (name, sizes), size in zip(inputs().items(), group_sizes, strict=True)
    ]


def group_budgets() -> list[Budget]:
    """Return the bounds of mapping-static-2."""
    case = _group_case("64 items of 24 units", np.full(64, 24), 8)
    return [
        Budget("sectors a write", case, sectors_per_write, at_most=5),
        Budget("writes of a warp", case, writes, at_most=48),
    ]


def sectors_per_write(trace: Trace) -> float:
    """Return the mean number of sectors that a warp's request to write ``item`` touches."""
    return metrics.sectors_per_request(trace.select(array="item"), [STORE])


def writes(trace: Trace) -> int:
    """Return the number of requests to write ``item``."""
    return metrics.requests(trace.select(array="item"), kinds=[STORE])


WRITE = KernelExercise(
    "mapping-static-2",
    "write it: virtual warps",
    """
    Complete `expand_groups`: `size` neighboring threads form a group, `size` is a power of two up
    to 32, and a group writes `item[unit] = i` for every unit of its item *i*. The launch has 128
    threads *whatever the workload*: where #items x `size` is more, a group takes one item after
    another.

    Budget, on 64 items of 24 units and groups of 8: at most 5 sectors a write, and 48 writes of
    warps in all.
    """,
    """
    Two loops. The outer one goes over the items of the group: `group`, `group + groups`, and so
    on. The inner one goes over the units of the lane. Which units must eight neighboring lanes
    write at the same time, so that they fall into one sector?
    """,
    """
    Lane *k* takes units *k*, *k* + `size`, *k* + 2 `size`, ... of the item, so the lanes of a group
    always write neighbors. Had each lane taken a piece of the item for itself, the result would be
    the same, the number of writes too, and a write would touch 12 sectors in the counted case.
    """,
    parts=(expand_groups,),
    imports=IMPORTS,
    cases=group_cases,
    budgets=group_budgets,
)

# mapping-static-3: sums of groups


@cuda.jit
def sum_groups(offsets, values, total, size):
    """Add up the values of every item's units, `size` neighboring threads an item."""
    group, lane = cuda.grid(1) // size, cuda.grid(1) % size
    begin, end = int32(0), int32(0)
    if group < offsets.size - 1:
        begin, end = offsets[group], offsets[group + 1]
    mine = 0
    for unit in range(begin + lane, end, size):
        mine += values[unit]
    apart = 16
    while apart >= size:  # added
        apart //= 2  # added
    while apart > 0:
        mine += cuda.shfl_down_sync(0xFFFFFFFF, mine, apart)
        apart //= 2
    if lane == 0 and group < offsets.size - 1:
        total[group] = mine


def run_sums(kernel, device, sizes, size: int) -> dict[str, np.ndarray]:
    """Add up the values 1, 2, 3, ... item by item, with a group of `size` threads for each."""
    offsets = offsets_of(sizes)
    values = np.arange(1, offsets[-1] + 1, dtype=np.int32)
    total = device.full(len(sizes), -1, np.int64)
    blocks = max(blocks_for(len(sizes) * size, 64), 1)
    device.launch(kernel, blocks, 64, device.array(offsets), device.array(values), total, size)
    return {"total": device.read(total)}


def _sum_case(name: str, sizes, size: int) -> Case:
    before = np.concatenate([[0], np.cumsum(np.arange(1, np.sum(sizes) + 1))])
    offsets = offsets_of(sizes)
    return Case(
        f"{name}, {size} threads a group",
        lambda kernel, device: run_sums(kernel, device, sizes, size),
        equal_to(total=before[offsets[1:]] - before[offsets[:-1]]),
    )


def sum_cases() -> list[Case]:
    """Return the hidden inputs of mapping-static-3."""
    group_sizes = (8, 4, 16, 2, 32)
    cases = [
        _sum_case(name, sizes, size)
        for (name, sizes), size in zip(inputs().items(), group_sizes, strict=True)
    ]
    return [
        *cases,
        _sum_case("75 items of up to 12 units", inputs()["75 items of up to 12 units"], 1),
    ]


SUMS = KernelExercise(
    "mapping-static-3",
    "find the bug",
    """
    `sum_groups` reads: a group of `size` threads adds up the values of its item's units, each lane
    its share, and a tree of shuffles brings the shares to the group's first lane. Its author tried
    it with groups of 32, where it is right, and concluded that it is right. Find out what it adds
    up with groups of 8, say why, and mend it.
    """,
    """
    Give each of the 32 lanes a letter and write down whose letters reach lane 0 in a tree that
    starts at distance 16. Which of these belong to the group of lanes 0 to 7?
    """,
    """
    A shuffle knows warps, not groups. A tree that starts at distance 16 adds up 32 lanes: lane 0
    gets the sum of the four items of its warp. The first distance must be half the group, and for
    a group of one thread there is nothing to add. Then the first lane of each group gets the sum of
    exactly its own lanes; what the others get is of no interest.
    """,
    parts=(sum_groups,),
    imports=WITH_INT32,
    cases=sum_cases,
)

# mapping-static-4: begin where sectors begin


@cuda.jit
def expand_aligned(offsets, item, size):
    """Write the item of every unit, `size` threads an item, each write within whole sectors."""
    group, lane = cuda.grid(1) // size, cuda.grid(1) % size
    if group < offsets.size - 1:
        begin, end = offsets[group], offsets[group + 1]
        # Your lines go here.
        first = begin - begin % size  # added
        for unit in range(first + lane, end, size):  # added
            if unit >= begin:  # added
                item[unit] = group  # added


def _aligned_case(name: str, sizes, size: int) -> Case:
    return _group_case(name, sizes, size, max(blocks_for(len(sizes) * size, 64), 1))


def aligned_cases() -> list[Case]:
    """Return the hidden inputs of mapping-static-4."""
    group_sizes = (8, 4, 1, 32, 16)
    return [
        _aligned_case(name, sizes, size)
        for (name, sizes), size in zip(inputs().items(), group_sizes, strict=True)
    ]


def aligned_budgets() -> list[Budget]:
    """Return the bounds of mapping-static-4."""
    case = _aligned_case("40 items of 203 units", np.full(40, 203), 32)
    return [
        Budget("sectors a write", case, sectors_per_write, at_most=4),
        Budget("writes of a warp", case, writes, at_most=320),
    ]


ALIGNED = KernelExercise(
    "mapping-static-4",
    "change the kernel: begin where sectors begin",
    """
    On items of 203 units, a virtual warp of 32 threads writes 32 neighbors at a time, and yet each
    write touches 4.5 sectors and not four, because an item begins anywhere in a sector. Complete
    `expand_aligned`, in which every write of a group stays within one aligned row of `size`
    elements. There is one group for each item.

    Budget, on 40 such items: at most 4 sectors a write, and 320 writes in all, eight an item.
    """,
    """
    Let the group begin a little *before* its item, at the last multiple of `size`. Who must not
    write then?
    """,
    """
    The first write is partly filled, all others but the last are full and aligned: four sectors for
    32 elements. That costs an item one more round at most, and nobody writes a unit that is not the
    group's own. The same trick serves sparse matrix-vector products with a warp a row.
    """,
    parts=(expand_aligned,),
    imports=IMPORTS,
    cases=aligned_cases,
    budgets=aligned_budgets,
)

EXERCISES = (PREDICT, WRITE, SUMS, ALIGNED)
