"""Exercises of the chapter "Mapping that follows the work"."""

from __future__ import annotations

import numpy as np
from numba import cuda, int32

from gpukernels.device import SimtDevice
from gpukernels.mapping import expand
from gpukernels.primitives import FULL_MASK, THREADS, blocks_for, warp_exclusive_scan
from gpukernels.simt import metrics
from gpukernels.simt.trace import LOAD, STORE, Trace

from .case import Budget, Case, equal_to
from .exercise import KernelExercise, PredictionExercise

IMPORTS = "from numba import cuda"
WITH_SHARED = "from numba import cuda, int32"
WITH_SCAN = (
    "from numba import cuda, int32\n\nfrom gpukernels.primitives import FULL_MASK, "
    "warp_exclusive_scan"
)


def offsets_of(sizes) -> np.ndarray:
    """Return the exclusive prefix sum of `sizes` with the total at its end, as int32."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)


def owners(offsets: np.ndarray) -> np.ndarray:
    """Return the item of every unit."""
    return np.repeat(np.arange(offsets.size - 1), np.diff(offsets))


def workloads() -> dict[str, np.ndarray]:
    """Return the hidden workloads, by name."""
    rng = np.random.default_rng(6)
    skewed = np.minimum(np.floor(rng.pareto(1.1, 300)), 700).astype(int)
    return {
        "three items, one of them empty": offsets_of([2, 0, 3]),
        "300 items of skewed size": offsets_of(skewed),
        "a large item between empty ones": offsets_of([0] * 20 + [530] + [0] * 30),
        "sizes around 32": offsets_of([31, 32, 33, 0, 0, 1, 64, 65]),
        "200 items of one unit": offsets_of([1] * 200),
        "no units, 40 empty items": offsets_of([0] * 40),
    }


def run_expansion(kernel, device, offsets: np.ndarray, *knobs: int) -> dict[str, np.ndarray]:
    """Let a kernel write the item of every unit, a thread an item.

    Returns
    -------
    dict of ndarray
        ``item``, int32 (units,).
    """
    item = device.full(offsets[-1], -1, np.int32)
    device.launch(
        kernel, blocks_for(offsets.size - 1), THREADS, device.array(offsets), item, *knobs
    )
    return {"item": device.read(item)}


def expansion_cases(*knobs: int) -> list[Case]:
    """Return the hidden inputs of mapping-dynamic-2 and mapping-dynamic-3."""
    return [
        Case(name, lambda k, d, o=offsets: run_expansion(k, d, o, *knobs), equal_to(item=owners(o)))
        for name, offsets in workloads().items()
        for o in [offsets]
    ]


# mapping-dynamic-1: predict the counter

ALIKE = offsets_of([8] * 1024)


def count_sectors() -> dict[str, int]:
    """Count searches and sectors of four techniques on 1,024 items of 8 units each."""
    counted = {}
    for method, knobs in (
        ("work_item_to_thread", {}),
        ("virtual_warp", {"warp_size": 8}),
        ("two_phase", {"units_per_thread": 8}),
        ("multi_phase", {"units_per_thread": 8}),
    ):
        device = SimtDevice(trace=True)
        stats = expand(ALIKE, method, device=device, **knobs).stats
        stores = device.trace.select(array="item")
        sectors = metrics.sectors_per_request(stores, kinds=(STORE,))
        counted[f"sectors a store, {method}"] = round(sectors)
        if method == "two_phase":
            partition = stats["partition_searches"]
            counted["searches of the partition"] = partition
            counted["searches of the expansion"] = stats["searches"] - partition
    return counted


PREDICT = PredictionExercise(
    "mapping-dynamic-1",
    "predict the counter",
    """
    There are 1,024 items of 8 units each, blocks of 128 threads, and 8 units a thread (K = 8).
    `virtual_warp` has groups of 8 threads (`warp_size=8`). *Before* you run anything, write down
    how many sectors a warp's store to `item` touches under four techniques, and how many searches
    two-phase makes: in the partition, one a chunk boundary with both ends, and in the expansion.
    """,
    """
    A sector is 32 bytes, 8 elements of `item`. Where do the 32 lanes of a warp store *in the same
    step*? A chunk of two-phase has 128 · 8 units. How many chunks are there, and how many ends do
    they have?
    """,
    """
    Under `work_item_to_thread`, and under `two_phase` with K = 8, neighboring lanes store 8 units
    apart: 32 sectors. Groups of 8 lanes store an item's 8 units side by side, and so four groups
    store 32 units in a row: 4 sectors, as few as there can be. `multi_phase` stores in order by
    construction: 4. Two-phase cuts 8,192 units into 8 chunks, with 9 ends; each of its 1,024
    threads searches once more, in shared memory.
    """,
    answer={
        "sectors a store, work_item_to_thread": 32,
        "sectors a store, virtual_warp": 4,
        "sectors a store, two_phase": 32,
        "searches of the partition": 9,
        "searches of the expansion": 1024,
        "sectors a store, multi_phase": 4,
    },
    measure=count_sectors,
)

# mapping-dynamic-2: a loop that never ends


@cuda.jit
def gather(offsets, item, threshold):
    """Let the block take its items above `threshold` one at a time, then each thread its own."""
    winner = cuda.shared.array(3, int32)
    i = cuda.grid(1)
    begin, end = int32(0), int32(0)
    if i < offsets.size - 1:
        begin, end = offsets[i], offsets[i + 1]
    if cuda.threadIdx.x == 0:
        winner[0] = -1
    while cuda.syncthreads_or(int32(end - begin > threshold)):
        if end - begin > threshold:
            cuda.atomic.exch(winner, 0, i)
        cuda.syncthreads()
        if winner[0] == i:
            winner[1] = begin
            winner[2] = end
            begin = end  # added
        cuda.syncthreads()
        for unit in range(winner[1] + cuda.threadIdx.x, winner[2], cuda.blockDim.x):
            item[unit] = winner[0]
    for unit in range(begin, end):
        item[unit] = i


GATHER = KernelExercise(
    "mapping-dynamic-2",
    "find the bug",
    """
    `gather` is Algorithm 9 of the papers, strip-mined gathering, line by line; a last loop does
    what remains. On items no longer than the threshold it works. Say what happens on
    a longer one and why, and mend it with one line.
    """,
    """
    The vote asks every thread whether its item is still too long. Who ever changes the answer?
    """,
    """
    The block writes the winner's units, and then the winner votes for itself again: nothing that
    the vote looks at has changed. The winner must retire its work before the next vote, and setting
    `begin = end` does it. It also keeps the last loop from writing the item a second time.
    """,
    parts=(gather,),
    imports=WITH_SHARED,
    cases=lambda: expansion_cases(100),
)

# mapping-dynamic-3: local warp search


@cuda.jit
def search_warp(offsets, item):
    """Write the item of every unit; a warp keeps the offsets of its 32 items in registers."""
    i = cuda.grid(1)
    begin, end = int32(0), int32(0)
    if i < offsets.size - 1:
        begin, end = offsets[i], offsets[i + 1]
    before = warp_exclusive_scan(int32(end - begin))
    total = cuda.shfl_sync(FULL_MASK, before + end - begin, 31)
    for first in range(0, total, 32):
        position = first + cuda.laneid
        # Your lines go here.
        owner = 0  # added
        step = 16  # added
        while step > 0:  # added
            if cuda.shfl_sync(FULL_MASK, before, owner + step) <= position:  # added
                owner += step  # added
            step //= 2  # added
        ahead = cuda.shfl_sync(FULL_MASK, begin - before, owner)  # added
        if position < total:  # added
            item[ahead + position] = i - cuda.laneid + owner  # added


def _skewed() -> Case:
    offsets = workloads()["300 items of skewed size"]
    run = lambda kernel, device: run_expansion(kernel, device, offsets)  # noqa: E731
    return Case("300 items of skewed size", run, equal_to(item=owners(offsets)))


def offsets_read(trace: Trace) -> int:
    """Count the elements of `offsets` that all lanes load."""
    requests = trace.select(array="offsets").requests
    return int(np.diff(requests.start)[requests.kind == LOAD].sum())


def store_requests(trace: Trace) -> int:
    """Count the warps' requests to store to `item`."""
    return int(np.count_nonzero(trace.select(array="item").requests.kind == STORE))


def search_budgets() -> list[Budget]:
    """Return the bounds of mapping-dynamic-3."""
    return [
        Budget("offsets loaded", _skewed(), offsets_read, at_most=600),
        Budget("requests to store", _skewed(), store_requests, at_most=40),
    ]


SEARCH = KernelExercise(
    "mapping-dynamic-3",
    "write it: local warp search in registers",
    """
    The lanes of a warp have loaded 32 items, and `before` says how many units the warp's earlier
    lanes have. Complete the loop: in every round, each lane finds out whose unit number `position`
    of the warp is, without touching memory, and writes that item. Budgets, on 300 items of skewed
    size: each offset is loaded twice, as the skeleton does; and at most 40 requests to store, which
    32 units side by side allow.
    """,
    """
    A binary search over 32 lanes takes steps of 16, 8, 4, 2 and 1. `cuda.shfl_sync(FULL_MASK,
    before, lane)` reads another lane's register, and all lanes must take part every time. The
    owner's `begin - before`, fetched in the same way, turns a position in the warp into a unit.
    """,
    """
    The search keeps `before[owner] <= position` and raises `owner` where the lane ahead still
    fulfills it. So it ends on the *last* lane that does, and passes over empty items, whose
    `before` equals that of the next. Lanes beyond the last unit search along, because a shuffle
    wants all 32, and write nothing.
    """,
    parts=(search_warp,),
    imports=WITH_SCAN,
    cases=expansion_cases,
    budgets=search_budgets,
)

# mapping-dynamic-4: the partition of two-phase


@cuda.jit
def cut(offsets, boundary, chunk_units):
    """Write for every chunk the item that owns its first unit."""
    b = cuda.grid(1)
    if b < boundary.size:
        unit = b * chunk_units
        left, count = 0, offsets.size - 1
        # Your lines go here.
        while count > 1:  # added
            half = count // 2  # added
            if offsets[left + half] <= unit:  # added
                left += half  # added
            count -= half  # added
        boundary[b] = left


def run_cut(kernel, device, offsets: np.ndarray, chunk_units: int) -> dict[str, np.ndarray]:
    """Let a kernel cut a workload into chunks.

    Returns
    -------
    dict of ndarray
        ``boundary``, int32 (chunks,).
    """
    chunks = blocks_for(int(offsets[-1]), chunk_units)
    boundary = device.full(chunks, -1, np.int32)
    device.launch(kernel, blocks_for(chunks), THREADS, device.array(offsets), boundary, chunk_units)
    return {"boundary": device.read(boundary)}


def _cut_case(name: str, offsets: np.ndarray, chunk_units: int) -> Case:
    expected = owners(offsets)[::chunk_units]
    return Case(name, lambda k, d: run_cut(k, d, offsets, chunk_units), equal_to(boundary=expected))


def cut_cases() -> list[Case]:
    """Return the hidden inputs of mapping-dynamic-4."""
    return [
        _cut_case(f"{name}, chunks of {size}", offsets, size)
        for name, offsets in workloads().items()
        for size in (1, 32)
    ]


def cut_budgets() -> list[Budget]:
    """Return the bound of mapping-dynamic-4."""
    rng = np.random.default_rng(9)
    offsets = offsets_of(rng.integers(0, 9, 1024))
    name = "1,024 items, chunks of 32"
    chunks = blocks_for(int(offsets[-1]), 32)

    def reads_a_chunk(trace: Trace) -> float:
        return offsets_read(trace) / chunks

    case = _cut_case(name, offsets, 32)
    return [Budget("offsets that a thread reads", case, reads_a_chunk, at_most=10)]


CUT = KernelExercise(
    "mapping-dynamic-4",
    "write it: the partition of two-phase",
    """
    Complete `cut`, which finds for every chunk the item that owns its first unit: the *last* item
    `left` with `offsets[left] <= unit`. Any item may be empty. Budget, on 1,024 items: 10 reads of
    `offsets` a thread, one for each halving.
    """,
    """
    Keep the owner among the `count` items from `left` on. Look at the item in the middle, and at
    its lower bound alone: does the unit lie before it or not? Either way about half of them remain.
    """,
    """
    Two reads a step, of the lower and the upper bound, would find a hit sooner now and then; but a
    warp waits for its slowest lane, so one read a step and no early exit halves the reads. Because
    equality moves `left` up, a row of empty items that begin at the same unit is passed over to the
    last, which is the one that is not empty.
    """,
    parts=(cut,),
    imports=IMPORTS,
    cases=cut_cases,
    budgets=cut_budgets,
)

EXERCISES = (PREDICT, GATHER, SEARCH, CUT)
