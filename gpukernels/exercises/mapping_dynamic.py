"""Exercises of the chapter "Mapping that follows the work"."""

from __future__ import annotations

import numpy as np
from numba import cuda, int32

from gpukernels.device import SimtDevice
from gpukernels.mapping import expand
from gpukernels.primitives import FULL_MASK, THREADS, blocks_for
from gpukernels.simt import metrics
from gpukernels.simt.trace import STORE, Trace

from .case import Budget, Case, equal_to
from .counters import accesses, sharing
from .exercise import KernelExercise, PredictionExercise

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
    ]


def gather_budgets() -> list[Budget]:
    """Return the bound of mapping-dynamic-2."""
    sizes = np.r_[np.zeros(20, int), 900, np.zeros(30, int)]
    return [sharing(_gather_case("an item of 900 units", sizes), at_most=24)]


GATHER = KernelExercise(
    "mapping-dynamic-2",
    "find the bug",
    """
    In strip-mined gathering, which of several long items comes first is a matter of luck. `gather`
    takes them in order: of the items above the threshold the *lowest* wins, by `cuda.atomic.min`,
    and `turn[i]` notes in which turn the block took item *i*, the first being 0. Its author has
    tried it on every workload at hand, none of which has two long items in one block. Say what
    happens if one has, and why; mend it with two lines, and mind where they go.

    Budget, on an item of 900 units: no warp makes more than 24 memory requests.
    """,
    """
    Play the second turn by hand: who votes, what does `winner[0]` hold before, and what after? An
    exchange forgets what was there. A minimum does not.
    """,
    """
    The winner of the first turn retires, but its number stays, and being the lowest it beats all
    that come later. So the block writes the first item again and again, and the second one votes
    for ever. One thread must put `NOBODY` back before the next votes are cast: after the second
    barrier, when all have read who won, and before the vote of the loop, which is a barrier too.
    Before the second barrier it would be a race with those who still read; in front of the minimum,
    a race with those who already vote.

    `gather_by_block` exchanges instead, and needs no clearing. The price is an order that changes
    from run to run.
    """,
    parts=(gather,),
    imports=f"from numba import cuda, int32\n\nNOBODY = {NOBODY}",
    cases=gather_cases,
    budgets=gather_budgets,
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
    return int(np.count_nonzero(accesses(trace, "item").requests.kind == STORE))


def search_budgets() -> list[Budget]:
    """Return the bounds of mapping-dynamic-3."""

    def asked(trace: Trace) -> int:
        return metrics.requests(accesses(trace, "offsets"))

    return [
        Budget("requests to `offsets`", _skewed(), asked, at_most=24),
        Budget("requests to store", _skewed(), store_requests, at_most=40),
    ]


SEARCH = KernelExercise(
    "mapping-dynamic-3",
    "write it: local warp search by ends",
    """
    `search_registers` scans the sizes of its 32 items, because they may lie anywhere. Here they are
    neighbors, as the rows of a whole graph are: then offsets *are* a scan already, and one number a
    lane will do, where its item ends. Complete the loop: in every round each lane finds the item of
    its `unit`, without touching memory, and writes it. Items may be empty, the first ones too.

    Budget, on 300 items of skewed size: 24 requests to `offsets`, two a warp, as the skeleton makes
    them; and at most 40 requests to store, which 32 units side by side allow.
    """,
    """
    `warp_owner` keeps to the last lane that begins at or before the unit. Now you know ends, and
    look for the *first* lane that ends behind it: how many lanes have ended by then? All 32 must
    take part in a shuffle, every time.
    """,
    """
    The owner's lane is the number of lanes whose end is not behind the unit, and that is counted in
    steps of 16, 8, 4, 2 and 1: if the last of `step` further lanes has ended, so have the others,
    since ends do not fall from lane to lane. Empty items need no care: they have ended before they
    begin. Lanes beyond the last unit search along, because a shuffle wants all 32, and write
    nothing. What has gone is the scan: five shuffles, and a load of a second offset in every lane.
    """,
    parts=(search_ends,),
    imports=WITH_MASK,
    cases=expansion_cases,
    budgets=search_budgets,
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
    "mapping-dynamic-4",
    "write it: a partition that counts items, too",
    """
    Two-phase gives each chunk as many units as the next. But a thread walks over empty items as
    well, and a million of them may lie between two units of one chunk. The path of a merge is fair
    to both: item *i* takes a step for each of its units and *one for itself*, so an empty one takes
    one step. Complete `cut`, which finds for every chunk the item `left` in which its first step
    lies. Budget, on 1,024 items: 10 reads of `offsets` in any thread, one for each halving.
    """,
    """
    How many steps lie before item *i*? That needs no scan and no second array. Then keep the owner
    among the `count` items from `left` on, and look at the one in the middle.
    """,
    """
    Before item *i* lie the units of all items before it, which are `offsets[i]`, and *i* steps for
    these items themselves. So the array to search is `offsets[i] + i`, and nobody ever writes it
    down. It rises from each item to the next, so there are no equal neighbors, and nothing is to be
    passed over. Each chunk has the same number of items and units together: that bounds what a
    block reads, and the shared memory that it needs. Merge-based sparse matrix-vector products are
    cut like this.
    """,
    parts=(cut,),
    imports=IMPORTS,
    cases=cut_cases,
    budgets=cut_budgets,
)

EXERCISES = (PREDICT, GATHER, SEARCH, CUT)
