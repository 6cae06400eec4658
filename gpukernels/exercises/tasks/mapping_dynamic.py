"""Exercises of the chapter "Mapping that follows the work"."""

from __future__ import annotations

import numpy as np
from numba import cuda, int32

from gpukernels.device import SimtDevice
from gpukernels.mapping import expand
from gpukernels.primitives import FULL_MASK, THREADS, blocks_for
from gpukernels.trace import STORE, Trace, metrics

from ..judge.case import Budget, Case, equal_to
from ..judge.counters import sharing
from ..judge.exercise import KernelExercise, PredictionExercise
from ..judge.words import words

IMPORTS = "from numba import cuda"
WITH_MASK = "from numba import cuda\n\nfrom gpukernels.primitives import FULL_MASK"


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
        "one item of one unit": offsets_of([1]),
        "empty items before, between and behind": offsets_of(
            [0] * 33 + [1, 0, 31] + [0] * 60 + [4]
        ),
    }


def run_expansion(kernel, device, offsets: np.ndarray, *further) -> dict[str, np.ndarray]:
    """Let a kernel write the item of every unit, a thread an item; it gets `further` arguments.

    Returns
    -------
    dict of ndarray
        ``item``, int32 (units,).
    """
    item = device.full(offsets[-1], -1, np.int32)
    arguments = device.array(offsets), item, *further
    device.launch(kernel, blocks_for(offsets.size - 1), THREADS, *arguments)
    return {"item": device.read(item)}


def expansion_cases() -> list[Case]:
    """Return the hidden inputs of mapping-dynamic-3."""
    return [
        Case(name, lambda k, d, o=offsets: run_expansion(k, d, o), equal_to(item=owners(o)))
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
    words("mapping-dynamic-1"),
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


def run_gather(kernel, device, offsets: np.ndarray, threshold: int) -> dict[str, np.ndarray]:
    """Let a kernel write the item of every unit, and the turn of each item above `threshold`.

    Returns
    -------
    dict of ndarray
        ``item``, int32 (units,); ``turn``, int32 (items,), -1 where no block took the item.
    """
    turn = device.full(offsets.size - 1, -1, np.int32)
    return {**run_expansion(kernel, device, offsets, turn, threshold), "turn": device.read(turn)}


def turns(sizes: np.ndarray, threshold: int) -> np.ndarray:
    """Return the turn of each item: how many of its block before it are above `threshold`."""
    large = sizes > threshold
    block = np.arange(sizes.size) // THREADS
    before = [np.count_nonzero(large[:i] & (block[:i] == block[i])) for i in range(sizes.size)]
    return np.where(large, before, -1)


def gather_workloads() -> dict[str, np.ndarray]:
    """Return the sizes of mapping-dynamic-2, by name: beside the others, of several giants."""
    several = {
        "two giants in a block": {5: 300, 70: 150},
        "three giants side by side": {40: 101, 41: 129, 42: 101},
        "a giant at each end of a block, and one behind it": {0: 200, 127: 200, 128: 200},
        "giants in neighboring blocks, the last item one of them": {3: 130, 130: 400, 149: 256},
    }
    found = {name: np.diff(offsets) for name, offsets in workloads().items()}
    for name, giants in several.items():
        found[name] = np.arange(150) % 3
        found[name][list(giants)] = list(giants.values())
    return found


def _gather_case(name: str, sizes: np.ndarray, threshold: int = 100) -> Case:
    offsets = offsets_of(sizes)
    return Case(
        name,
        lambda kernel, device: run_gather(kernel, device, offsets, threshold),
        equal_to(item=owners(offsets), turn=turns(sizes, threshold)),
    )


def gather_cases() -> list[Case]:
    """Return the hidden inputs of mapping-dynamic-2."""
    return [
        *(_gather_case(name, sizes) for name, sizes in gather_workloads().items()),
        _gather_case("34 items of 4 units, all above the threshold of 3", np.full(34, 4), 3),
        _gather_case(
            "items of 200 and 201 units, with a threshold of 200",
            np.array([3, 200, 201, 0, 200]),
            200,
        ),
    ]


def gather_budgets() -> list[Budget]:
    """Return the bound of mapping-dynamic-2."""
    sizes = np.r_[np.zeros(20, int), 900, np.zeros(30, int)]
    return [sharing(_gather_case("an item of 900 units", sizes), at_most=24)]


GATHER = KernelExercise(
    words("mapping-dynamic-2"),
    parts=(gather,),
    imports=f"from numba import cuda, int32\n\nNOBODY = {NOBODY}",
    cases=gather_cases,
    budgets=gather_budgets,
    writes=("item", "turn"),
)

# mapping-dynamic-3: local warp search by ends


@cuda.jit
def search_ends(offsets, item):
    """Write the item of every unit; a warp keeps where its 32 items end in registers."""
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


def _skewed() -> Case:
    offsets = workloads()["300 items of skewed size"]
    run = lambda kernel, device: run_expansion(kernel, device, offsets)  # noqa: E731
    return Case("300 items of skewed size", run, equal_to(item=owners(offsets)))


def store_requests(trace: Trace) -> int:
    """Count the warps' requests to store to `item`."""
    return metrics.requests(trace.select(array=["item"]), None, STORE)


def search_budgets() -> list[Budget]:
    """Return the bounds of mapping-dynamic-3."""

    def asked(trace: Trace) -> int:
        return metrics.requests(trace.select(array=["offsets"]))

    return [
        Budget("requests to `offsets`", _skewed(), asked, at_most=24),
        Budget("requests to store", _skewed(), store_requests, at_most=40),
    ]


SEARCH = KernelExercise(
    words("mapping-dynamic-3"),
    parts=(search_ends,),
    imports=WITH_MASK,
    cases=expansion_cases,
    budgets=search_budgets,
    writes=("item",),
)

# mapping-dynamic-4: a partition that counts items, too


@cuda.jit
def cut(offsets, boundary, chunk_steps):
    """Write for every chunk the item in which its first step lies; i takes its units plus one."""
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


def run_cut(kernel, device, offsets: np.ndarray, chunk_steps: int) -> dict[str, np.ndarray]:
    """Let a kernel cut a workload into chunks.

    Returns
    -------
    dict of ndarray
        ``boundary``, int32 (chunks,).
    """
    chunks = blocks_for(int(offsets[-1]) + offsets.size - 1, chunk_steps)
    boundary = device.full(chunks, -1, np.int32)
    device.launch(kernel, blocks_for(chunks), THREADS, device.array(offsets), boundary, chunk_steps)
    return {"boundary": device.read(boundary)}


def _cut_case(name: str, offsets: np.ndarray, chunk_steps: int) -> Case:
    steps = np.repeat(np.arange(offsets.size - 1), np.diff(offsets) + 1)
    run = lambda kernel, device: run_cut(kernel, device, offsets, chunk_steps)  # noqa: E731
    return Case(name, run, equal_to(boundary=steps[::chunk_steps]))


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

    def reads(trace: Trace) -> int:
        return int(metrics.work_per_thread(trace, "offsets").max())

    case = _cut_case("1,024 items, chunks of 32", offsets, 32)
    return [Budget("offsets that a thread reads", case, reads, at_most=10)]


CUT = KernelExercise(
    words("mapping-dynamic-4"),
    parts=(cut,),
    imports=IMPORTS,
    cases=cut_cases,
    budgets=cut_budgets,
    writes=("boundary",),
)

EXERCISES = (PREDICT, GATHER, SEARCH, CUT)
