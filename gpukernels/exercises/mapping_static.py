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
from .counters import accesses, sharing
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
        "sizes around 32 and 64": np.array([31, 0, 32, 33, 1, 63, 0, 64, 65]),
        "one item of one unit": np.ones(1, int),
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

# mapping-static-2: virtual warps, turned around


@cuda.jit
def expand_columns(sizes, item, size):
    """Write ``item[k, i] = i`` for every unit k of every item i, `size` threads an item."""
    groups = cuda.gridsize(1) // size
    # Your lines go here.
    group, lane = cuda.grid(1) % groups, cuda.grid(1) // groups  # added
    for i in range(group, sizes.size, groups):  # added
        for k in range(lane, sizes[i], size):  # added
            item[k, i] = i  # added


def run_columns(kernel, device, sizes, size: int) -> dict[str, np.ndarray]:
    """Expand `sizes` by columns, with two blocks of 64 threads, `size` threads an item."""
    sizes = np.asarray(sizes, np.int32)
    item = device.full((int(sizes.max(initial=0)), sizes.size), -1, np.int32)
    device.launch(kernel, 2, 64, device.array(sizes), item, size)
    return {"item": device.read(item)}


def columns(sizes) -> np.ndarray:
    """Return what `run_columns` should, by NumPy alone."""
    sizes = np.asarray(sizes)
    unit = np.arange(sizes.max(initial=0))[:, None]
    return np.where(unit < sizes, np.arange(sizes.size), -1)


def _column_case(name: str, sizes, size: int) -> Case:
    return Case(
        f"{name}, {size} threads an item",
        lambda kernel, device: run_columns(kernel, device, sizes, size),
        equal_to(item=columns(sizes)),
    )


def column_cases() -> list[Case]:
    """Return the hidden inputs of mapping-static-2; the grid is too small for most of them."""
    at_once = (4, 8, 1, 16, 32, 32, 2)
    return [
        _column_case(name, sizes, size)
        for (name, sizes), size in zip(inputs().items(), at_once, strict=True)
    ]


def column_budgets() -> list[Budget]:
    """Return the bounds of mapping-static-2."""
    case = _column_case("64 items of 24 units", np.full(64, 24), 8)
    return [
        Budget("sectors a write", case, sectors_per_write, at_most=5),
        sharing(case, at_most=12, array="item"),
    ]


def sectors_per_write(trace: Trace) -> float:
    """Return the mean number of sectors that a warp's request to write ``item`` touches."""
    return metrics.sectors_per_request(accesses(trace, "item"), [STORE])


def writes(trace: Trace) -> int:
    """Return the number of requests to write ``item``."""
    return metrics.requests(accesses(trace, "item"), kinds=[STORE])


WRITE = KernelExercise(
    "mapping-static-2",
    "write it: virtual warps, turned around",
    """
    The form that vector machines liked, ELLPACK, stores sparse rows by *columns*: unit *k* of item
    *i* lies at `item[k, i]`, so the first units of all items are neighbors, then all the second
    ones. Places beyond an item's end stay empty. Complete `expand_columns`: `size` threads share an
    item, `size` is a power of two up to 32, and together they write `item[k, i] = i` for every unit
    *k* of their item. The launch has 128 threads *whatever the workload*: where #items x `size` is
    more, they take one item after another.

    Budget, on 64 items of 24 units with 8 threads for each: at most 5 sectors a write, and 12
    writes of any warp.
    """,
    """
    Which elements lie in one sector now? So which lanes of a warp must take the same item, and
    which must not? The threads that share an item need not be neighbors.
    """,
    """
    Everything is turned by a quarter. The groups of `write_by_virtual_warp` would write down a
    column here: 8 lanes, 8 rows, 8 sectors. So neighboring threads take neighboring *items*, and
    those who share an item are `groups` threads apart. A thread an item would have written side by
    side as well, in half the threads and twice the time. A mapping is neither good nor bad by
    itself: it goes with a layout.
    """,
    parts=(expand_columns,),
    imports=IMPORTS,
    cases=column_cases,
    budgets=column_budgets,
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


def run_sums(kernel, device, sizes, size: int, first: int = 1) -> dict[str, np.ndarray]:
    """Add up the values `first`, `first` + 1, ... item by item, `size` threads for each."""
    offsets = offsets_of(sizes)
    values = np.arange(first, first + int(offsets[-1]), dtype=np.int32)
    total = device.full(len(sizes), -1, np.int64)
    blocks = max(blocks_for(len(sizes) * size, 64), 1)
    device.launch(kernel, blocks, 64, device.array(offsets), device.array(values), total, size)
    return {"total": device.read(total)}


def _sum_case(name: str, sizes, size: int, first: int = 1) -> Case:
    before = np.concatenate([[0], np.cumsum(np.arange(first, first + np.sum(sizes)))])
    offsets = offsets_of(sizes)
    return Case(
        f"{name}, {size} threads a group",
        lambda kernel, device: run_sums(kernel, device, sizes, size, first),
        equal_to(total=before[offsets[1:]] - before[offsets[:-1]]),
    )


def sum_cases() -> list[Case]:
    """Return the hidden inputs of mapping-static-3."""
    group_sizes = (8, 4, 16, 2, 32, 32, 4)
    cases = [
        _sum_case(name, sizes, size)
        for (name, sizes), size in zip(inputs().items(), group_sizes, strict=True)
    ]
    return [
        *cases,
        _sum_case("75 items of up to 12 units", inputs()["75 items of up to 12 units"], 1),
        _sum_case("40 items of 9 units up to the largest number", np.full(40, 9), 16, 2**31 - 360),
        _sum_case("items of the least numbers", np.array([3, 33, 64]), 32, -(2**31)),
    ]


def sum_budgets() -> list[Budget]:
    """Return the bound of mapping-static-3."""
    return [sharing(sum_cases()[4], at_most=8)]


SUMS = KernelExercise(
    "mapping-static-3",
    "find the bug",
    """
    `sum_groups` reads: a group of `size` threads adds up the values of its item's units, each lane
    its share, and a tree of shuffles brings the shares to the group's first lane. Its author tried
    it with groups of 32, where it is right, and concluded that it is right. Find out what it adds
    up with groups of 8, say why, and mend it.

    Budget, on 33 items of 32 units and groups of 32: no warp makes more than 8 memory requests.
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
    budgets=sum_budgets,
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


def run_groups(kernel, device, sizes, size: int, blocks: int = 2) -> dict[str, np.ndarray]:
    """Expand `sizes` with `blocks` blocks of 64 threads, in groups of `size`."""
    offsets = offsets_of(sizes)
    item = device.full(int(offsets[-1]), -1, np.int32)
    device.launch(kernel, blocks, 64, device.array(offsets), item, size)
    return {"item": device.read(item)}


def _aligned_case(name: str, sizes, size: int) -> Case:
    blocks = max(blocks_for(len(sizes) * size, 64), 1)
    return Case(
        f"{name}, {size} threads a group",
        lambda kernel, device: run_groups(kernel, device, sizes, size, blocks),
        equal_to(item=np.repeat(np.arange(len(sizes)), sizes)),
    )


def aligned_cases() -> list[Case]:
    """Return the hidden inputs of mapping-static-4."""
    group_sizes = (8, 4, 1, 32, 16, 32, 2)
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
