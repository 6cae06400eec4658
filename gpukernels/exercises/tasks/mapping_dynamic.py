"""Exercises of the chapter "Mapping that follows the work"."""

from __future__ import annotations

import numpy as np
from numba import cuda, int32

from gpukernels.device import SimtDevice
from gpukernels.mapping import expand
from gpukernels.mapping.local_warp_search import search_registers
from gpukernels.mapping.visits import write_item
from gpukernels.primitives import FULL_MASK, THREADS, blocks_for
from gpukernels.trace import STORE, metrics

from ..judge.case import Results, cases_of, launched, unpacked
from ..judge.completing import completions
from ..judge.counters import bound, on, requests, sharing
from ..judge.exercise import KernelExercise, PredictionExercise
from ..judge.inputs import Inputs
from ..judge.variants import Variants
from .mapping_static import SIZES_OF_ITEMS, numbered, offsets_of, writes

WITH_MASK = "from numba import cuda\n\nfrom gpukernels.primitives import FULL_MASK"
WITH_SEARCH = """\
from numba import cuda, int32

from gpukernels.mapping.visits import write_item
from gpukernels.primitives import FULL_MASK, WARP_SIZE, warp_inclusive_scan, warp_owner
"""


def owners(sizes: np.ndarray) -> np.ndarray:
    """Return the item of every unit."""
    return np.repeat(np.arange(sizes.size), sizes)


def workloads() -> dict[str, np.ndarray]:
    """Return the hidden sizes of items, by name."""
    rng = np.random.default_rng(6)
    return {
        "three items, one of them empty": np.array([2, 0, 3]),
        SKEWED: np.minimum(np.floor(rng.pareto(1.1, 300)), 700).astype(int),
        "a large item between empty ones": np.array([0] * 20 + [530] + [0] * 30),
        "sizes around 32": np.array([31, 32, 33, 0, 0, 1, 64, 65]),
        "200 items of one unit": np.ones(200, int),
        "no units, 40 empty items": np.zeros(40, int),
        "one item of one unit": np.ones(1, int),
        "empty items before, between and behind": np.array([0] * 33 + [1, 0, 31] + [0] * 60 + [4]),
    }


#: The input on which mapping-dynamic-3 is counted.
SKEWED = "300 items of skewed size"


def run_expansion(kernel, device, sizes: np.ndarray, **further) -> Results:
    """Let a kernel write the item of every unit, one thread per item, with `further` arguments."""
    offsets = offsets_of(sizes)
    blocks, item = blocks_for(sizes.size), np.full(offsets[-1], -1, np.int32)
    return launched(kernel, device, blocks, THREADS, offsets, item=item, **further)


# mapping-dynamic-1: predict the counter


def count_sectors(items: int = 1024) -> dict[str, int]:
    """Count searches and sectors of four techniques on items of 8 units each."""
    counted, alike = {}, offsets_of([8] * items)
    for method, knobs in (
        ("work_item_to_thread", {}),
        ("virtual_warp", {"warp_size": 8}),
        ("two_phase", {"units_per_thread": 8}),
        ("multi_phase", {"units_per_thread": 8}),
    ):
        device = SimtDevice(trace=True)
        stats = expand(alike, method, device=device, **knobs).stats
        stores = device.trace.select(array="item")
        sectors = metrics.sectors_per_request(stores, kinds=(STORE,))
        counted[f"sectors per store, {method}"] = round(sectors)
        if method == "two_phase":
            partition = stats["partition_searches"]
            counted["searches of the partition"] = partition
            counted["searches of the expansion"] = stats["searches"] - partition
    return counted


PREDICT = PredictionExercise(
    "mapping-dynamic-1",
    answer={
        "sectors per store, work_item_to_thread": 32,
        "sectors per store, virtual_warp": 4,
        "sectors per store, two_phase": 32,
        "searches of the partition": 9,
        "searches of the expansion": 1024,
        "sectors per store, multi_phase": 4,
    },
    measure=count_sectors,
    variants=Variants(
        lambda rng: {"items": 128 * int(rng.integers(3, 17))},
        lambda items: {"units": 8 * items, "chunks": items // 128, "ends": items // 128 + 1},
    ),
)

# mapping-dynamic-2: a loop that never ends

#: What no item is called.
NOBODY = 2**31 - 1


@cuda.jit
def gather(offsets, item, turn, threshold):
    """Let the block take its items above `threshold` in order, then each thread its own."""
    winner = cuda.shared.array(1, int32)
    i = cuda.grid(1)
    begin, end = int32(0), int32(0)
    if i < offsets.size - 1:
        begin, end = offsets[i], offsets[i + 1]
    turns = 0
    if cuda.threadIdx.x == 0:
        winner[0] = NOBODY
    while cuda.syncthreads_or(int32(end - begin > threshold)):
        if end - begin > threshold:
            cuda.atomic.min(winner, 0, i)
        cuda.syncthreads()
        lowest = winner[0]
        if lowest == i:
            turn[i] = turns
            begin = end
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:  # added
            winner[0] = NOBODY  # added
        first = offsets[lowest] + cuda.threadIdx.x
        for unit in range(first, offsets[lowest + 1], cuda.blockDim.x):
            item[unit] = lowest
        turns += 1
    for unit in range(begin, end):
        item[unit] = i


def run_gather(kernel, device, sizes: np.ndarray, threshold: int = 100) -> Results:
    """Let a kernel write the item of every unit, and the turn of each item above `threshold`."""
    turn = np.full(sizes.size, -1, np.int32)
    return run_expansion(kernel, device, sizes, turn=turn, threshold=threshold)


def turns(sizes: np.ndarray, threshold: int) -> np.ndarray:
    """Return the turn of each item: how many of its block before it are above `threshold`."""
    large = sizes > threshold
    block = np.arange(sizes.size) // THREADS
    before = [np.count_nonzero(large[:i] & (block[:i] == block[i])) for i in range(sizes.size)]
    return np.where(large, before, -1)


def gather_inputs() -> dict[str, tuple]:
    """Return the fixed inputs of mapping-dynamic-2: sizes of items, and thresholds."""
    several = {
        "two giants in a block": {5: 300, 70: 150},
        "three giants side by side": {40: 101, 41: 129, 42: 101},
        "a giant at each end of a block, and one behind it": {0: 200, 127: 200, 128: 200},
        "giants in neighboring blocks, the last item one of them": {3: 130, 130: 400, 149: 256},
    }
    sizes_by_name = workloads()
    for name, giants in several.items():
        sizes_by_name[name] = np.arange(150) % 3
        sizes_by_name[name][list(giants)] = list(giants.values())
    around = np.array([3, 200, 201, 0, 200])
    return {name: (sizes,) for name, sizes in sizes_by_name.items()} | {
        "34 items of 4 units, all above the threshold of 3": (np.full(34, 4), 3),
        "items of 200 and 201 units, with a threshold of 200": (around, 200),
    }


GATHER = KernelExercise(
    "mapping-dynamic-2",
    parts=(gather,),
    imports=f"from numba import cuda, int32\n\nNOBODY = {NOBODY}",
    inputs=Inputs(
        gather_inputs, lambda rng: {n: (sizes,) for n, sizes in SIZES_OF_ITEMS.draw(rng).items()}
    ),
    case=cases_of(
        unpacked(run_gather),
        unpacked(
            lambda sizes, threshold=100: {"item": owners(sizes), "turn": turns(sizes, threshold)}
        ),
    ),
    budgets=on(
        "an item of 900 units",
        lambda: (np.r_[np.zeros(20, int), 900, np.zeros(30, int)],),
        sharing(at_most=24),
    ),
    writes=("item", "turn"),
)

# mapping-dynamic-line and mapping-dynamic-lines: local warp search


@cuda.jit
def search_warps(offsets, item):
    """Write the item of every unit; thread i holds item i, or no units beyond the last item."""
    i = cuda.grid(1)
    search_registers(write_item, (item,), i, offsets[i], offsets[i + 1])


def run_warps(kernel, device, sizes: np.ndarray) -> Results:
    """Let a kernel write the item of every unit; empty items follow until the blocks are full."""
    threads = THREADS * blocks_for(sizes.size)
    return run_expansion(kernel, device, np.pad(sizes, (0, threads - sizes.size)))


COMPLETE = completions(
    "mapping-dynamic",
    "before = int32(inclusive - size)",
    ("owner = warp_owner(before, position)", 5),
    parts=(search_registers, search_warps),
    imports=WITH_SEARCH,
    inputs=Inputs(workloads, SIZES_OF_ITEMS.draw),
    case=cases_of(run_warps, lambda sizes: {"item": owners(sizes)}),
    writes=("item",),
)

# mapping-dynamic-3: local warp search by ends


@cuda.jit
def search_ends(offsets, item):
    """Write the item of every unit; a warp keeps the ends of its 32 items in registers."""
    last = offsets.size - 1
    i = cuda.grid(1)
    lane = cuda.laneid
    start = offsets[min(i - lane, last)]
    end = offsets[min(i + 1, last)]
    stop = cuda.shfl_sync(FULL_MASK, end, 31)
    for first in range(start, stop, 32):
        unit = first + lane
        # Your lines go here.
        owner = 0  # added
        step = 16  # added
        while step > 0:  # added
            if cuda.shfl_sync(FULL_MASK, end, owner + step - 1) <= unit:  # added
                owner += step  # added
            step //= 2  # added
        if unit < stop:  # added
            item[unit] = i - lane + owner  # added


SEARCH = KernelExercise(
    "mapping-dynamic-3",
    parts=(search_ends,),
    imports=WITH_MASK,
    inputs=Inputs(workloads, SIZES_OF_ITEMS.draw),
    case=cases_of(run_expansion, lambda sizes: {"item": owners(sizes)}),
    budgets=on(
        SKEWED,
        lambda: workloads()[SKEWED],
        requests(at_most=24, array="offsets"),
        bound(
            "requests to store",
            writes,
            at_most=40,
        ),
    ),
    writes=("item",),
)

# mapping-dynamic-4: a partition that counts items, too


@cuda.jit
def cut(offsets, boundary, chunk_steps):
    """Write for every chunk the item in which its first step lies.

    Item i takes one step for each of its units, and one for itself.
    """
    b = cuda.grid(1)
    if b < boundary.size:
        step = b * chunk_steps
        left, count = 0, offsets.size - 1
        # Your lines go here.
        while count > 1:  # added
            middle = left + count // 2  # added
            if offsets[middle] + middle <= step:  # added
                left = middle  # added
            count -= count // 2  # added
        boundary[b] = left


def _run_cut(kernel, device, sizes: np.ndarray, chunk_steps: int) -> Results:
    chunks = blocks_for(int(sizes.sum()) + sizes.size, chunk_steps)
    boundary = np.full(chunks, -1, np.int32)
    return launched(
        kernel, device, blocks_for(chunks), THREADS, offsets_of(sizes),
        boundary=boundary, chunk_steps=chunk_steps,
    )  # fmt: skip


CUT = KernelExercise(
    "mapping-dynamic-4",
    parts=(cut,),
    inputs=numbered(
        lambda: {
            f"{name}, chunks of {chunk}": (sizes, chunk)
            for name, sizes in workloads().items()
            for chunk in (1, 32)
        },
        (1, 2, 7, 32),
        "units per chunk:",
    ),
    case=cases_of(
        unpacked(_run_cut),
        unpacked(lambda sizes, chunk_steps: {"boundary": owners(sizes + 1)[::chunk_steps]}),
    ),
    budgets=on(
        "1,024 items, chunks of 32",
        lambda: (np.random.default_rng(9).integers(0, 9, 1024), 32),
        bound(
            "offsets that a thread reads",
            lambda trace: int(metrics.work_per_thread(trace, "offsets").max()),
            at_most=10,
        ),
    ),
    writes=("boundary",),
)

EXERCISES = (*COMPLETE, PREDICT, GATHER, SEARCH, CUT)
