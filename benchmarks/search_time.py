"""The times of one search of a graph, from several roots, by its kernels and as a whole call.

From the first root, the median of some runs; from the others one run each, of which the median is
kept, and the rate: arcs that leave the vertices reached, by the time, as a harmonic mean over the
roots. Each begins with a cold cache, and every run's distances are compared with the sequential
search's before its time is kept.
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

#: How tables name what `gpukernels.reference.multicore` does.
ALL_CORES = "all cores"

#: Seconds that one search of one graph may be repeated: then no further run is begun.
PATIENCE = 1.5

#: Seconds of these that the first root may take, and the share of them, if that is less.
AT_FIRST, SHARE_AT_FIRST = 5.0, 1 / 3

#: Runs of which a median is worth some more patience.
FEW = 3

#: Milliseconds of kernels after which a search is given up and has no time.
LIMIT_MS = 10_000.0


def timer_for(device) -> LaunchTimer:
    """Return the timer that all searches on `device` share."""
    return LaunchTimer(device, kernel_time.BUSY_ROUNDS, LIMIT_MS)


def timed(run: Callable[[], Any]) -> tuple[Any, float]:
    """Return what `run` returns, and its milliseconds by the host's clock."""
    begin = time.perf_counter()
    found = run()
    return found, (time.perf_counter() - begin) * 1e3


def print_row(label: str, row: dict[str, Any]) -> None:
    """Print the times of one search, as they are found."""
    told = (row.get("kernel_ms"), row.get("call_ms"), row.get("runs"), row.get("roots"))
    kernel, call, runs, others = ("-" if value is None else f"{value:,}" for value in told)
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

    There are up to `repeat` runs of the kernels, and of whole calls, from the first root of `cases`
    and one from each other root; none begins after `patience` seconds (by default `PATIENCE`), but
    each kind is run once. `bandwidth` is that of a copy on the device, in gigabytes a second;
    `label` names the search in an error.

    Returns
    -------
    dict
        ``kernel_ms`` and ``call_ms`` from the first root, and how many ``runs`` each; ``launches``
        and ``read_backs``; how many ``roots``, and of these ``roots_kernel_ms``,
        ``roots_call_ms``, ``gteps`` (by the kernels), ``call_gteps`` and ``share_of_bandwidth``
        (the ``least_bytes`` by the kernels' time, as a share of `bandwidth`); beside that the
        ``least_operations``: one for each arc. Times are medians, with their quartiles. Of a search
        that was given up, ``stopped_after_ms`` alone. ``late`` is the share of the timed launches
        that found the GPU waiting; they count as the same kernel's others, see `kernel_time`.
    """
    patience = PATIENCE if patience is None else patience
    stats: dict[str, Any] = {}
    counted = [0, 0]  # launches that were timed, and those that came late

    def kernels(case: Case) -> float:
        cold_cache.flush(timer.device)
        timer.reset()
        with no_collection():
            found = search(timer, case.root)
        _check(found, case, label)
        stats.update(launches=found.stats["launches"], read_backs=found.stats["read_backs"])
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
    """Time ``search(root)`` on the CPU in the same way: there is a whole call, and no kernel."""
    patience = PATIENCE if patience is None else patience
    call = _call(search, label)
    first, *others = cases
    call(first)  # compiles
    begin = time.perf_counter()
    at_first = _until(_at_first(patience), begin, [first] * repeat, call)
    return _times(at_first, _until(patience, begin, others, call), others, None)


def _call(search: Callable[[int], Any], label: str) -> Callable[[Case], float]:
    """Return what runs `search` from a case's root, checks it, and gives its milliseconds."""

    def call(case: Case) -> float:
        found, ms = timed(lambda: search(case.root))
        _check(found, case, label)
        return ms

    return call


def _check(found, case: Case, label: str) -> None:
    np.testing.assert_array_equal(
        found.distance, case.distance, err_msg=f"{label} from {case.root}"
    )


@contextlib.contextmanager
def no_collection() -> Iterator[None]:
    """Keep Python from looking for garbage, which may take longer than a thousand launches."""
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
    """Return every kind's milliseconds for each case; after `patience` of few, or only the first.

    One run of a thousand launches may meet what stops the host for as long as they all take, so the
    first `FEW` are granted three times the patience.
    """
    rows: list[tuple[float, ...]] = []
    for case in cases:
        granted = patience if len(rows) >= FEW else 3 * patience
        if rows and time.perf_counter() - begin > granted:
            break
        rows.append(tuple(kind(case) for kind in kinds))
    return rows


def _times(at_first, at_others, others: Sequence[Case], bandwidth: float | None) -> dict[str, Any]:
    """Return the figures of a row; the last of each tuple is the whole call, before it kernels."""
    measured = others[: len(at_others)]
    row: dict[str, Any] = {"runs": len(at_first), "roots": len(measured)}
    names = ("kernel", "call") if bandwidth is not None else ("call",)
    for k, name in enumerate(names):
        of_roots = [times[k] for times in at_others]
        row[f"{name}_ms"] = median([times[k] for times in at_first])
        row[f"roots_{name}_ms"] = median(of_roots)
        # A rate's mean over equal amounts of work is the harmonic one.
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
