"""How close kernels come to what the GPU allows: every knob of the fastest ones, one at a time.

``python -m gpukernels.bench knobs`` measures on the current GPU and writes
``data/benchmarks/knobs.json``; ``--works`` chooses some, ``--seconds`` bounds the time of each.

A work has a plan: methods that it is compared with, then the knobs of one method in the order in
which they are expected to matter. A knob's values are tried with the best that was found for those
before, and the best is kept. Every result is checked before its time is kept.

The limit of a work is measured in the same run, and no kernel can do better. A scan reads and
writes each value once, at the rate of a copy; an expansion reads each offset and writes each unit's
item. A search writes the distance of each vertex that it reaches, reads its offset, and touches at
least one sector of targets to find it, or, top-down as BFS-4K, reads the target of each arc; at
each level the blocks meet once and wait for memory twice, for the targets and for what is known of
these.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import cuda
from numpy.typing import NDArray

from gpukernels.bench import record
from gpukernels.bench.bandwidth import PORTION, WORDS, copy_ms, measured_bandwidth
from gpukernels.bench.graphs import kron, random_arcs, rmat, uniform, whole_grid, workload
from gpukernels.bench.kernel_time import kernel_ms
from gpukernels.bench.mapping import fill, least
from gpukernels.bench.roots import find
from gpukernels.graphs import generators
from gpukernels.graphs.graph import Graph
from gpukernels.graphs.workloads import TARGETS
from gpukernels.mapping import METHODS as MAPPINGS
from gpukernels.mapping.workload import grid, upload
from gpukernels.primitives.grid_barrier import meet
from gpukernels.primitives.large_blocks import LARGE_BLOCKS
from gpukernels.primitives.launch_shape import blocks_for
from gpukernels.primitives.lookback_scan import scan_by_look_back
from gpukernels.primitives.pair_scan import scan_by_pairs
from gpukernels.traversal import bfs
from gpukernels.traversal.bfs4k import tune_bfs4k

Options = dict[str, Any]
Knobs = dict[str, tuple[Any, ...]]

#: Blocks and threads of each at the barriers, and rounds of them or loads behind one another.
BLOCKS, THREADS, ROUNDS = 64, 256, 1000
#: Bytes that a search moves at least for a vertex: distance, offset, a sector of targets.
BYTES_A_VERTEX = 4 + 4 + 32
#: Seconds that one setting is repeated at most.
PATIENCE = 1.0


class Items(NamedTuple):
    """What an expansion is given: offsets, as `gk.expand` takes them."""

    offsets: NDArray[np.int32]


class Work(NamedTuple):
    """What is measured, what it is compared with, and the knobs that are tried."""

    name: str
    call: str  #: what makes its input
    reach_ms: float  #: what the book aims at on an H200
    make: Callable[[int], Any]  #: its input, halved so many times
    others: tuple[tuple[str, Options], ...]  #: methods as they are by default
    method: str
    knobs: Knobs


@cuda.jit(**LARGE_BLOCKS)
def meet_by_sync(rounds, met):
    """Meet `rounds` times at the grid sync; ``met[i]`` becomes how often thread i has."""
    times = 0
    for _ in range(rounds):
        cuda.cg.this_grid().sync()
        times += 1
    met[cuda.grid(1)] = times


@cuda.jit
def chase(following, steps, end):
    """Go from element to element, each telling the next; ``end[0]`` becomes the last."""
    at = 0
    for _ in range(steps):
        at = following[at]
    end[0] = at


BOTH_WAYS: Knobs = {
    "frontier": ("words", "distance", "bitmap"),
    "barrier": (None, "grid"),
    "threads": (256, 512, 1024, 128),
    "beta": (40.0, 9.0, 18.0, 100.0),
    "alpha": (15.0, 5.0, 40.0, 100.0),
}
IN_ONE_LAUNCH: Knobs = {
    "barrier": ("hand", "grid"),
    "threads": (128, 64, 256, 512, 1024),
    "blocks": (None, 64, 32, 16),
    "alone": (None, 0, 64, 128),
    "lanes": (None, 1, 2, 8),
    "eager": (None, 0),
}
#: None is what `tune_bfs4k` says.
BFS_4K: Knobs = {
    "ahead": (False, True),
    "child_share": (None, 0.0015, 0.01),
    "child_queue": (None, 12, 8, 6, 4),
    "threads": (None, 64, 256),
    "min_warp_size": (None, 16, 32),
}
EXPANSION: Knobs = {
    "threads": (256, 128, 512),
    "units_per_thread": (16, 8, 12, 20),
    "blocks": (None, 528, 2112, 4224, 16896),
}

WORKS: tuple[Work, ...] = (
    Work(
        "grid", "gpukernels.bench.graphs.whole_grid(2048, 2048)", 12.0,
        lambda k: whole_grid(2048 >> k // 2, 2048 >> k - k // 2),
        (("bfs4k", {}), ("direction_optimizing", {}), ("luo", {})), "persistent", IN_ONE_LAUNCH,
    ),
    Work(
        "scan", "random sizes from 0 to 8, 2^26 of them", 0.22,
        lambda k: np.random.default_rng(0).integers(0, 9, 1 << 26 - k).astype(np.int32),
        (("look-back", {}),), "pairs",
        {"pairs": (8, 4, 12, 16), "threads": (256, 128, 512), "hints": (True, False)},
    ),
    Work(
        "rmat", "gk.rmat(20, 16, seed=1)", 0.18, lambda k: rmat(20 - k, 16, seed=1),
        (("persistent", {}),), "direction_optimizing", BOTH_WAYS,
    ),
    Work(
        "rmat both ways", "gk.rmat(20, 16, seed=1, directed=False)", 0.18,
        lambda k: generators.rmat(20 - k, 16, seed=1, directed=False),
        (), "direction_optimizing", BOTH_WAYS,
    ),
    Work(
        "kron", "gk.kron(22, 16, seed=1)", 0.25, lambda k: kron(22 - k, 16, seed=1),
        (), "direction_optimizing", BOTH_WAYS,
    ),
    Work(
        "uniform", "gpukernels.bench.graphs.uniform(2_000_000, 67_000_000, 1)", 0.28,
        lambda k: uniform(2_000_000 >> k, 67_000_000 >> k, 1),
        (), "direction_optimizing", BOTH_WAYS,
    ),
    *(
        Work(
            f"BFS-4K {name}", call, reach_ms, make,
            (("direction_optimizing", {}),), "bfs4k", BFS_4K,
        )
        # A fiftieth of the paper's times on a GTX 780, on graphs like the paper's.
        for name, call, reach_ms, make in (
            ("random", "gpukernels.bench.graphs.random_arcs(2_000_000, 64, seed=1)", 1.04,
             lambda k: random_arcs(2_000_000 >> k, 64, seed=1)),
            ("rmat", "gk.rmat(21, 64, seed=1, a=0.45, b=0.15, c=0.15)", 0.87,
             lambda k: generators.rmat(21 - k, 64, seed=1, a=0.45, b=0.15, c=0.15)),
            ("kron", "gk.kron(20, 48, seed=1)", 0.69, lambda k: kron(20 - k, 48, seed=1)),
        )
    ),
    *(
        Work(
            f"expand {name}", f"gk.workload({name!r})", reach_ms,
            lambda k, name=name: Items(workload(name, TARGETS[name].items >> k)),
            (("merge_path", {}), ("cta_warp_scan", {}), ("work_item_to_thread", {})),
            "max_scan", EXPANSION,
        )
        for name, reach_ms in (
            ("great-britain_osm", 0.030), ("web-NotreDame", 0.0025), ("cit-Patents", 0.027),
            ("circuit5M", 0.081), ("as-Skitter", 0.030), ("kron", 0.112),
        )
    ),
)  # fmt: skip
WORK_NAMES = tuple(work.name for work in WORKS)


def waits(device, words: int, rounds: int = ROUNDS) -> dict[str, float]:
    """Return the microseconds of a grid sync, a barrier made by hand and a load from memory.

    The barriers are of `BLOCKS` blocks of `THREADS` threads, or as many as the device holds; each
    load needs the one before and goes to a place of its own in `words` words, a power of two.
    """
    end = device.full(1, 0, np.int32)
    arrived = device.full(1, 0, np.int32)
    blocks = min(
        BLOCKS,
        device.cooperative_blocks(meet_by_sync, THREADS, rounds, end),
        device.cooperative_blocks(meet, THREADS, arrived, rounds, end),
    )
    met = device.full(blocks * THREADS, 0, np.int32)
    # A generator of random numbers that comes to each place once: no load is of a line read before.
    order = np.arange(words, dtype=np.uint64)
    places = (order * np.uint64(1664525) + np.uint64(1013904223)) % np.uint64(words)
    following, last = device.array(places.astype(np.int32)), 0
    for _ in range(rounds):
        last = int(places[last])

    def all_met() -> None:
        assert (device.read(met) == rounds).all(), "a thread went on before all had come"

    def at_end() -> None:
        assert device.read(end)[0] == last, "a load was left out"

    runs: dict[str, tuple[Callable[[Any], None], Callable[[], None]]] = {
        "grid_sync": (
            lambda d: d.launch(meet_by_sync, blocks, THREADS, rounds, met, cooperative=True),
            all_met,
        ),
        "hand_barrier": (
            lambda d: d.launch(meet, blocks, THREADS, arrived, rounds, met, cooperative=True),
            all_met,
        ),
        "load": (lambda d: d.launch(chase, 1, 1, following, rounds, end), at_end),
    }
    found = {}
    for name, (run, check) in runs.items():
        ms = kernel_ms(
            device, run, 7, prepare=lambda: device.clear(arrived), check=check, patience=PATIENCE
        )
        found[f"{name}_us"] = round(1e3 * ms / rounds, 4)
    return found


def settings(work: Work, time_of: Callable[[str, Options], float]) -> Iterator[tuple[str, Options]]:
    """Yield what is tried: other methods, then the knobs one at a time, the best of each kept.

    ``time_of`` tells the milliseconds of a setting that was yielded before.
    """
    yield from work.others
    best: Options = {name: values[0] for name, values in work.knobs.items()}
    yield work.method, dict(best)
    for name, values in work.knobs.items():
        tried = [{**best, name: value} for value in values]
        for options in tried[1:]:
            yield work.method, options
        best = min(tried, key=lambda options: time_of(work.method, options))


def measure(
    device, work: Work, shrink: int, bandwidth: float, told: dict[str, float], seconds: float
) -> dict[str, Any]:
    """Return the row of a work: its size, its limit, and the time of each setting in its plan.

    Settings that `seconds` left no time for are counted in ``left_out``; they are not measured.
    """
    given = work.make(shrink)
    if isinstance(given, Items):
        head, limit_ms, of_options = _of_expansion(device, given.offsets, bandwidth)
    elif isinstance(given, np.ndarray):
        head, limit_ms, of_options = _of_scan(device, given, bandwidth)
    else:
        top_down = work.method == "bfs4k"
        head, limit_ms, of_options = _of_search(device, given, bandwidth, told, top_down)
    print(work.name, head, f"limit {limit_ms:.4f} ms", flush=True)
    times: list[dict[str, Any]] = []
    left_out = 0

    def time_of(method: str, options: Options) -> float:
        known = (t["ms"] for t in times if (t["method"], t["options"]) == (method, options))
        return next(known, float("inf"))

    begin = time.perf_counter()
    for method, options in settings(work, time_of):
        if times and time.perf_counter() - begin > seconds:
            left_out += 1
            continue
        run, check = of_options(method, options)
        ms = kernel_ms(device, run, 7, check=check, patience=PATIENCE)
        row = {"method": method, "options": options, "ms": ms,
               "share_of_limit": round(limit_ms / max(ms, 1e-9), 4)}  # fmt: skip
        times.append(row)
        print(f"  {ms:10.4f} ms {row['share_of_limit']:7.2%}  {method} {options}", flush=True)
    own = [row for row in times if row["method"] == work.method] or times
    best = min(own, key=lambda row: row["ms"])
    return {
        "work": work.name, "call": work.call, "halved": shrink, **head, "reach_ms": work.reach_ms,
        "limit_ms": round(limit_ms, 5), "best": best, "times": times, "left_out": left_out,
    }  # fmt: skip


def _of_scan(device, sizes, bandwidth: float):
    """Return what a row says of a scan, its limit, and what makes a run and a check of options."""
    values = device.array(sizes)
    expected = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int32)
    kept: list[Any] = [None]

    def of_options(method: str, options: Options):
        scan = scan_by_pairs if method == "pairs" else scan_by_look_back

        def run(d) -> None:
            kept[0] = scan(values, d, **options)

        def check() -> None:
            np.testing.assert_array_equal(device.read(kept[0]), expected, err_msg=str(options))

        return run, check

    return {"n": sizes.size}, 8 * sizes.size / bandwidth / 1e6, of_options


def _of_expansion(device, offsets, bandwidth: float):
    """Return the same of expansions."""
    load = upload(offsets, None, device)
    expected = np.repeat(np.arange(load.items, dtype=np.int32), np.diff(offsets))

    def of_options(method: str, options: Options):
        # So that no setting finds another one's answer.
        device.launch(fill, grid(load.units, THREADS), THREADS, load.item, -1)

        def check() -> None:
            found = device.read(load.item)
            np.testing.assert_array_equal(found, expected, err_msg=f"{method} {options}")

        return lambda d: MAPPINGS[method](load, d, **options), check

    least_bytes = least(offsets)["least_bytes"]
    copied = copy_ms(device, blocks_for(least_bytes, 16 * PORTION) * PORTION, 7)
    head = {"items": load.items, "units": load.units, "copy_ms": copied}
    return head, least_bytes / bandwidth / 1e6, of_options


def _of_search(device, g: Graph, bandwidth: float, told: dict[str, float], top_down: bool):
    """Return the same of searches from the vertex of most arcs."""
    case = find(g, int(np.argmax(g.out_degree)))
    kept: list[Any] = [None]

    def of_options(method: str, options: Options):
        chosen = options
        if method == "bfs4k":
            chosen = tune_bfs4k(g) | {k: value for k, value in options.items() if value is not None}
            if options.get("ahead"):
                chosen["duplicates"] = "bitmap"  # the only way that it goes

        def run(d) -> None:
            kept[0] = bfs(g, case.root, method, d, parents=False, **chosen)

        def check() -> None:
            np.testing.assert_array_equal(
                kept[0].distance, case.distance, err_msg=f"{method} {options}"
            )

        return run, check

    a_level = min(told["grid_sync_us"], told["hand_barrier_us"]) + 2 * told["load_us"]
    moved = case.least_bytes if top_down else BYTES_A_VERTEX * case.reached
    limit_ms = moved / bandwidth / 1e6 + case.levels * a_level / 1e3
    head = {"n": g.n, "m": g.m, "root": case.root, "levels": case.levels, "reached": case.reached}
    return head, limit_ms, of_options


def write(
    device,
    here: dict[str, Any],
    folder: Path,
    *,
    shrink: int = 0,
    works: Sequence[str] = WORK_NAMES,
    seconds: float = 60.0,
) -> Path:
    """Measure and write the file; return its path. It is written after each work."""
    bandwidth = measured_bandwidth(device, max(WORDS >> shrink, 1024))
    told = waits(device, max((1 << 26) >> shrink, 1024), max(ROUNDS >> shrink, 3))
    print({"copy_gigabytes_per_second": bandwidth, **told}, flush=True)
    rows: list[dict[str, Any]] = []
    measured = {"copy_gigabytes_per_second": bandwidth, "waits": told, "works": rows}
    what = (
        "kernels alone (events, the GPU kept busy before each launch), medians of 7 or of what "
        f"fits {PATIENCE:g} s, every result checked; limit_ms: a scan's 8 bytes a value, and an "
        "expansion's 4 bytes an item and 4 a unit, at the rate of a large copy (copy_ms: a copy of "
        "as many bytes); a search's "
        f"{BYTES_A_VERTEX} bytes a vertex at this rate, top-down 8 and 4 an arc, and a barrier and "
        "two loads from memory a level, all of the same run"
    )
    path = record.write("knobs", what, measured, here, folder)
    for work in WORKS:
        if work.name in works:
            rows.append(measure(device, work, shrink, bandwidth, told, seconds))
            path = record.write("knobs", what, measured, here, folder)
    return path
