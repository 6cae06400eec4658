"""The times of one search of a graph, from several roots, of its kernels and of the whole call.

From the first root, the median of some runs is kept. From the other roots there is one run each,
and the median over the roots is kept. The rate is the number of arcs that leave the reached
vertices, divided by the time, as a harmonic mean over the roots. Each run begins with a cold cache,
and its distances are compared with the sequential search's before its time is kept.
"""

from __future__ import annotations

import contextlib
import gc
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks import steps
from benchmarks.roots import Case
from gpukernels.notebook import cold_cache, kernel_time
from gpukernels.notebook.kernel_time import LaunchTimer, OutOfPatience
from gpukernels.notebook.spread import median

#: The name in tables of the searches of `gpukernels.reference.multicore`.
ALL_CORES = "all cores"

#: Seconds for repetitions of one search of one graph; after them, no further run begins.
PATIENCE = 1.5

#: The seconds of these for the first root, or this share of them if it is less.
AT_FIRST, SHARE_AT_FIRST = 5.0, 1 / 3

#: The number of runs for which it is worth to wait longer, because of their median.
FEW = 3

#: Milliseconds of kernels after which a search is stopped and has no time.
LIMIT_MS = 10_000.0


def timer_for(device) -> LaunchTimer:
    """Return the common timer of all searches on `device`."""
    return LaunchTimer(device, kernel_time.BUSY_ROUNDS, LIMIT_MS)


def timed(run: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result of `run`, and its milliseconds by the host's clock."""
    begin = time.perf_counter()
    result = run()
    return result, (time.perf_counter() - begin) * 1e3


def print_row(label: str, row: dict[str, Any]) -> None:
    """Print the times of one search, as they are found."""
    figures = (row.get("kernel_ms"), row.get("call_ms"), row.get("runs"), row.get("roots"))
    kernel, call, runs, others = ("-" if value is None else f"{value:,}" for value in figures)
    steps.tell(
        f"  {label:40} kernels {kernel:>12} ms, call {call:>12} ms; {runs} runs, {others} roots"
    )


def time_search(
    search: Callable[[Any, int], Any],
    timer: LaunchTimer,
    cases: Sequence[Case],
    repeat: int,
    bandwidth: float,
    label: str,
    patience: float | None = None,
) -> dict[str, Any]:
    """Time ``search(device, root)``, whose result has a ``distance`` and ``stats``.

    There are up to `repeat` runs of the kernels, and of whole calls, from the first root of
    `cases`, and one run from each other root. No run begins after `patience` seconds (by default
    `PATIENCE`), but each kind runs at least once. `bandwidth` is that of a copy on the device, in
    gigabytes per second. `label` names the search in an error.

    Returns
    -------
    dict
        From the first root ``kernel_ms``, ``call_ms`` and the number of ``runs``; ``launches`` and
        ``read_backs``. Then the number of ``roots``, and over these ``roots_kernel_ms``,
        ``roots_call_ms``, ``gteps`` (from the kernels' time), ``call_gteps`` and
        ``share_of_bandwidth`` (``least_bytes`` divided by the kernels' time, as a share of
        `bandwidth`), and ``least_operations``, one for each arc. Times are medians, with their
        quartiles. A stopped search has only ``stopped_after_ms``. ``late`` is the share of the
        timed launches for which the GPU waited; they count like the other launches of the same
        kernel, see `kernel_time`.
    """
    patience = PATIENCE if patience is None else patience
    stats: dict[str, Any] = {}
    counted = [0, 0]  # timed launches, and late launches among them

    def kernels(case: Case) -> float:
        cold_cache.flush(timer.device)
        timer.reset()
        with no_collection():
            result = search(timer, case.root)
        _check(result, case, label)
        stats.update(launches=result.stats["launches"], read_backs=result.stats["read_backs"])
        counted[0] += timer.launches
        counted[1] += timer.late
        return timer.ms

    first, *others = cases
    call = _call(lambda root: search(timer.device, root), label)
    try:
        kernels(first)  # compiles
        of_first = dict(stats)
        counted[:] = 0, 0
        call(first)
        begin = time.perf_counter()
        at_first = _until(_at_first(patience), begin, [first] * repeat, kernels, call)
        at_others = _until(patience, begin, others, kernels, call)
    except OutOfPatience:
        return {"stopped_after_ms": timer.limit_ms}
    late = round(counted[1] / max(counted[0], 1), 4)
    return {**_times(at_first, at_others, others, bandwidth), **of_first, "late": late}


def time_on_cpu(
    search: Callable[[int], Any],
    cases: Sequence[Case],
    repeat: int,
    label: str,
    patience: float | None = None,
) -> dict[str, Any]:
    """Time ``search(root)`` on the CPU in the same way, with whole calls and without kernels."""
    patience = PATIENCE if patience is None else patience
    call = _call(search, label)
    first, *others = cases
    call(first)  # compiles
    begin = time.perf_counter()
    at_first = _until(_at_first(patience), begin, [first] * repeat, call)
    return _times(at_first, _until(patience, begin, others, call), others, None)


def _call(search: Callable[[int], Any], label: str) -> Callable[[Case], float]:
    """Return a function that searches from a case's root, checks, and returns milliseconds."""

    def call(case: Case) -> float:
        result, ms = timed(lambda: search(case.root))
        _check(result, case, label)
        return ms

    return call


def _check(result, case: Case, label: str) -> None:
    np.testing.assert_array_equal(
        result.distance, case.distance, err_msg=f"{label} from {case.root}"
    )


@contextlib.contextmanager
def no_collection() -> Iterator[None]:
    """Switch off Python's garbage collection, which may take longer than a thousand launches."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _at_first(patience: float) -> float:
    return min(patience * SHARE_AT_FIRST, AT_FIRST)


def _until(patience: float, begin: float, cases: Sequence[Case], *kinds) -> list[tuple[float, ...]]:
    """Return every kind's milliseconds for each case, or for a few cases if `patience` is over.

    During a run of a thousand launches, the host may stop for as long as the whole run takes. So
    the first `FEW` runs have three times the patience.
    """
    rows: list[tuple[float, ...]] = []
    for case in cases:
        granted = patience if len(rows) >= FEW else 3 * patience
        if rows and time.perf_counter() - begin > granted:
            break
        rows.append(tuple(kind(case) for kind in kinds))
    return rows


def _times(at_first, at_others, others: Sequence[Case], bandwidth: float | None) -> dict[str, Any]:
    """Return the figures of a row; the last item of each tuple is the whole call's time."""
    measured = others[: len(at_others)]
    row: dict[str, Any] = {"runs": len(at_first), "roots": len(measured)}
    names = ("kernel", "call") if bandwidth is not None else ("call",)
    for k, name in enumerate(names):
        of_roots = [times[k] for times in at_others]
        row[f"{name}_ms"] = median([times[k] for times in at_first])
        row[f"roots_{name}_ms"] = median(of_roots)
        # For equal amounts of work, the mean of rates is the harmonic mean.
        rates = [c.arcs / max(ms, 1e-9) / 1e6 for c, ms in zip(measured, of_roots, strict=True)]
        row["gteps" if name == "kernel" else "call_gteps"] = round(_harmonic(rates), 4)
    if bandwidth is not None:
        used = [
            c.least_bytes / max(times[0], 1e-9) / 1e6 / bandwidth
            for c, times in zip(measured, at_others, strict=True)
        ]
        row["share_of_bandwidth"] = median(used, 4)
        row["least_bytes"] = int(statistics.median(case.least_bytes for case in measured))
        row["least_operations"] = int(statistics.median(case.arcs for case in measured))
    return row


def _harmonic(rates: Sequence[float]) -> float:
    return statistics.harmonic_mean(rates) if all(rates) else 0.0
