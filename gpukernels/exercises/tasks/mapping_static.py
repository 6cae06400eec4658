"""Exercises of the chapter on static mapping."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numba import cuda, int32

from gpukernels.device import SimtDevice
from gpukernels.mapping import expand
from gpukernels.primitives import blocks_for
from gpukernels.trace import STORE, Trace, metrics

from ..judge.case import Results, cases_of, launched, unpacked
from ..judge.completing import completions
from ..judge.counters import bound, on, sharing
from ..judge.exercise import KernelExercise, PredictionExercise
from ..judge.inputs import Draw, Inputs, sizes_of_items
from ..judge.variants import Variants, spelled

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
        "300 items of up to 3 units": draw.integers(0, 4, 300),
    }


#: Sizes of items that are drawn in every check.
SIZES_OF_ITEMS = sizes_of_items(most_items=100, most_units=200)


def numbered(
    fixed: Callable[[], Mapping[str, tuple]], numbers: tuple[int, ...], what: str
) -> Inputs:
    """Return inputs of sizes of items and a number, `what`, drawn from some."""

    def draw(rng: Draw) -> dict[str, tuple]:
        drawn = SIZES_OF_ITEMS.draw(rng).items()
        return {name: (sizes, int(rng.choice(numbers))) for name, sizes in drawn}

    def describe(value: tuple) -> str:
        sizes, number = value
        return f"{sizes.size} items, {sizes.sum()} units, {what} {number}"

    return Inputs(fixed, draw, describe)


def in_groups(fixed: Callable[[], Mapping[str, tuple]], of: str) -> Inputs:
    """Return inputs of sizes and threads per group; names of the fixed ones end on the latter."""
    return numbered(
        lambda: {
            f"{name}, {value[1]} thread{'s' * (value[1] > 1)} {of}": value
            for name, value in fixed()
        },
        (1, 2, 4, 8, 16, 32),
        f"threads {of}:",
    )


def paired(*group_sizes: int) -> list[tuple[str, tuple]]:
    """Return the hidden sizes of items by name, each with a size of a group."""
    return [
        (name, (sizes, size))
        for (name, sizes), size in zip(inputs().items(), group_sizes, strict=True)
    ]


# mapping-static-1: predict rounds and sectors


def _named_in_items(units: int) -> dict[str, object]:
    four, warp = -(-units // 4), -(-units // 32)
    return {
        "second": units + 4,
        "last": units + 120,
        "end": units + 27,
        "first_sector": units // 8,
        "last_sector": (units + 120) // 8,
        "end_sector": (units + 27) // 8,
        "sectors_of_four": (units + 27) // 8 - units // 8 + 2,
        "four": f"{units} / 4 = {four}" if units % 4 == 0 else f"⌈{units} / 4⌉ = {four}",
        "rounds_of_four": four + 3,
        "warp": spelled(warp),
        "rounds_of_warps": warp + 31,
    }


def count_rounds(units: int = 40) -> dict[str, int]:
    """Count rounds, sectors and threads of virtual warps on an item of `units` and 31 of four."""
    counted, sizes = {}, np.array([units] + 31 * [4])
    for size in (1, 4, 32):
        device = SimtDevice(trace=True)
        expand(offsets_of(sizes), "virtual_warp", warp_size=size, threads=32, device=device)
        writes = device.trace.select(array="item")
        counted[f"rounds, {size} per group"] = metrics.requests(writes, kinds=[STORE])
        if size < 32:
            counted[f"sectors, {size} per group"] = int(metrics.sectors(writes)[0])
    launch = device.trace.launches[0]
    counted["threads, 32 per group"] = launch.blocks * launch.threads_per_block
    return counted


PREDICT = PredictionExercise(
    "mapping-static-1",
    answer={
        "rounds, 1 per group": 40,
        "sectors, 1 per group": 17,
        "rounds, 4 per group": 13,
        "sectors, 4 per group": 5,
        "rounds, 32 per group": 33,
        "threads, 32 per group": 1024,
    },
    measure=count_rounds,
    variants=Variants(lambda rng: {"units": int(rng.integers(33, 128))}, _named_in_items),
)

# mapping-static-2: virtual warps, turned around


@cuda.jit
def expand_columns(sizes, item, size):
    """Write ``item[k, i] = i`` for every unit k of every item i, `size` threads per item."""
    groups = cuda.gridsize(1) // size
    # Your lines go here.
    group, lane = cuda.grid(1) % groups, cuda.grid(1) // groups  # added
    for i in range(group, sizes.size, groups):  # added
        for k in range(lane, sizes[i], size):  # added
            item[k, i] = i  # added


def run_columns(kernel, device, sizes, size: int, blocks: int = 2) -> Results:
    """Expand `sizes` by columns, with blocks of 64 threads and `size` threads per item."""
    sizes = np.asarray(sizes, np.int32)
    item = np.full((int(sizes.max(initial=0)), sizes.size), -1, np.int32)
    return launched(kernel, device, blocks, 64, sizes, item=item, size=size)


def columns(sizes) -> np.ndarray:
    """Return what `run_columns` should, by NumPy alone."""
    sizes = np.asarray(sizes)
    unit = np.arange(sizes.max(initial=0))[:, None]
    return np.where(unit < sizes, np.arange(sizes.size), -1)


def column_inputs() -> list[tuple[str, tuple]]:
    """Return the fixed inputs of mapping-static-2; the grid is too small for most of them."""
    return [
        *paired(4, 8, 1, 16, 32, 32, 2, 1),
        ("300 items of up to 3 units on six blocks", (np.arange(300) % 4, 2, 6)),
    ]


def sectors_per_write(trace: Trace) -> float:
    """Return the mean number of sectors that a warp's request to write ``item`` touches."""
    return metrics.sectors_per_request(trace.select(array=["item"]), [STORE])


def writes(trace: Trace) -> int:
    """Return the number of requests to write ``item``."""
    return metrics.requests(trace.select(array=["item"]), kinds=[STORE])


WRITE = KernelExercise(
    "mapping-static-2",
    parts=(expand_columns,),
    inputs=in_groups(column_inputs, "per item"),
    case=cases_of(unpacked(run_columns), lambda value: {"item": columns(value[0])}),
    budgets=on(
        "64 items of 24 units, 8 threads per item",
        lambda: (np.full(64, 24), 8),
        bound("sectors per write", sectors_per_write, at_most=5),
        sharing(at_most=12, array="item"),
    ),
    writes=("item",),
)

# mapping-static-3: sums of groups


@cuda.jit
def sum_groups(offsets, values, total, size):
    """Add up the values of every item's units, `size` neighboring threads per item."""
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


def run_sums(kernel, device, sizes, size: int, first: int = 1) -> Results:
    """Add up the values `first`, `first` + 1, ... item by item, `size` threads for each."""
    offsets = offsets_of(sizes)
    values = np.arange(first, first + int(offsets[-1]), dtype=np.int32)
    blocks, total = max(blocks_for(len(sizes) * size, 64), 1), np.full(len(sizes), -1, np.int64)
    return launched(kernel, device, blocks, 64, offsets, values, total=total, size=size)


def totals(sizes, size: int, first: int = 1) -> Results:
    """Return what `run_sums` should, by NumPy alone."""
    values = np.arange(first, first + np.sum(sizes), dtype=np.int64)
    before = np.concatenate([[0], np.cumsum(values)])
    offsets = offsets_of(sizes)
    return {"total": before[offsets[1:]] - before[offsets[:-1]]}


def _sum_inputs() -> list[tuple[str, tuple]]:
    some = "75 items of up to 12 units"
    return [
        *paired(8, 4, 16, 2, 32, 32, 4, 2),
        (some, (inputs()[some], 1)),
        ("40 items of 9 units up to the largest number", (np.full(40, 9), 16, 2**31 - 360)),
        ("items of the least numbers", (np.array([3, 33, 64]), 32, -(2**31))),
    ]


SUMS = KernelExercise(
    "mapping-static-3",
    parts=(sum_groups,),
    imports=WITH_INT32,
    inputs=in_groups(_sum_inputs, "per group"),
    case=cases_of(unpacked(run_sums), unpacked(totals)),
    budgets=on(
        "33 items of 32 units, 32 threads per group",
        lambda: (np.full(33, 32), 32),
        sharing(at_most=8),
    ),
    writes=("total",),
)

# mapping-static-4: begin where sectors begin


@cuda.jit
def expand_aligned(offsets, item, size):
    """Write the item of every unit, `size` threads per item, each write within whole sectors."""
    group, lane = cuda.grid(1) // size, cuda.grid(1) % size
    if group < offsets.size - 1:
        begin, end = offsets[group], offsets[group + 1]
        # Your lines go here.
        first = begin - begin % size  # added
        for unit in range(first + lane, end, size):  # added
            if unit >= begin:  # added
                item[unit] = group  # added


def run_groups(kernel, device, sizes, size: int, blocks: int = 2) -> Results:
    """Expand `sizes` with `blocks` blocks of 64 threads, in groups of `size`."""
    offsets = offsets_of(sizes)
    item = np.full(int(offsets[-1]), -1, np.int32)
    return launched(kernel, device, blocks, 64, offsets, item=item, size=size)


def items_of_units(sizes, size: int) -> Results:
    """Return the item of every unit, by NumPy alone."""
    return {"item": np.repeat(np.arange(len(sizes)), sizes)}


def _run_enough_groups(kernel, device, given: tuple) -> Results:
    sizes, size = given
    return run_groups(kernel, device, sizes, size, max(blocks_for(len(sizes) * size, 64), 1))


ALIGNED = KernelExercise(
    "mapping-static-4",
    parts=(expand_aligned,),
    inputs=in_groups(lambda: paired(8, 4, 1, 32, 16, 32, 2, 4), "per group"),
    case=cases_of(_run_enough_groups, unpacked(items_of_units)),
    budgets=on(
        "40 items of 203 units, 32 threads per group",
        lambda: (np.full(40, 203), 32),
        bound("sectors per write", sectors_per_write, at_most=4),
        bound("writes of all warps", writes, at_most=320),
    ),
    writes=("item",),
)

# mapping-static-line and mapping-static-lines: the kernel of virtual warps that the chapter prints


@cuda.jit
def write_in_groups(offsets, item, size):
    """Write the item of every unit, with `size` threads for each item."""
    groups = cuda.gridsize(1) // size
    group, lane = cuda.grid(1) // size, cuda.grid(1) % size
    for i in range(group, offsets.size - 1, groups):
        begin, end = offsets[i], offsets[i + 1]
        for unit in range(begin + lane, end, size):
            item[unit] = i


SHARE = "group, lane = cuda.grid(1) // size, cuda.grid(1) % size"
COMPLETE = completions(
    "mapping-static",
    SHARE,
    (SHARE, 5),
    parts=(write_in_groups,),
    inputs=in_groups(lambda: paired(8, 4, 1, 32, 16, 32, 2, 4), "per group"),
    case=cases_of(unpacked(run_groups), unpacked(items_of_units)),
    writes=("item",),
)

EXERCISES = (*COMPLETE, PREDICT, WRITE, SUMS, ALIGNED)
