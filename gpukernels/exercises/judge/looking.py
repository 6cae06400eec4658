"""Where in a trace the fault of an answer lies, and the view that opens there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpukernels.errors import KernelError
from gpukernels.trace import ATOMIC, STORE, WARP_SIZE, Trace
from gpukernels.views import WarpView

from .case import Budget, Wrong

#: Steps of a warp that a view shows, at most, and how many of them before the one it opens at.
SHOWN, BEFORE = 512, 400


@dataclass(frozen=True)
class Place:
    """One step of one warp: the block's linear index, the warp in it, and the warp's own step."""

    launch: int
    block: int = 0
    warp: int = 0
    step: int = 0
    #: Linear index within the block of the thread that is meant; -1 for none.
    thread: int = -1


class Note:
    """A sentence, where there is no launch to look at."""

    def __init__(self, text: str):
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str:
        return self.text


def view(trace: Trace, place: Place, caption: str) -> WarpView | Note:
    """Return the warp of `place`, opened at its step."""
    if not trace.launches:
        return Note(f"{caption} Nothing has run, so that there is no launch to look at.")
    start = max(0, place.step - BEFORE)
    steps = trace.select(launch=place.launch, block=place.block, warp=place.warp).steps
    if not len(steps):
        return Note(f"{caption} No step was recorded.")
    return WarpView(
        trace,
        place.launch,
        place.block,
        place.warp,
        start=start,
        limit=SHOWN,
        step=place.step - start,
        title=_title(trace, place),
        caption=caption,
    )


def _title(trace: Trace, place: Place) -> str:
    launch = trace.launches[place.launch]
    which = f", launch {place.launch}" if len(trace.launches) > 1 else ""
    block = coordinates(place.block, launch.grid)
    return f"{launch.kernel}{which}, block {block}, warp {place.warp}"


def coordinates(number: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return (x, y, z) of the block or thread of a linear number."""
    return tuple(int(i) for i in np.unravel_index(number, shape, order="F"))


def place_of_error(trace: Trace, error: Exception) -> Place:
    """Return the step at which `error` ended the last launch."""
    launch = len(trace.launches) - 1
    if not isinstance(error, KernelError) or error.thread is None:
        return last_step(trace, Place(launch))
    shape = trace.launches[launch]
    thread = int(np.ravel_multi_index(error.thread, shape.block, order="F"))
    block = int(np.ravel_multi_index(error.block, shape.grid, order="F"))
    return last_step(trace, Place(launch, block, thread // WARP_SIZE, 0, thread), error.line)


def last_step(trace: Trace, place: Place, line: int = 0) -> Place:
    """Return the last step of a warp, on `line` if the warp executed it."""
    steps = trace.select(launch=place.launch, block=place.block, warp=place.warp).steps
    at = steps.step[steps.line == line]
    if not at.size:
        at = steps.step
    step = int(at.max()) if at.size else 0
    return Place(place.launch, place.block, place.warp, step, place.thread)


def last_writer(trace: Trace, wrong: Wrong) -> tuple[Place, int, int] | None:
    """Return where the wrong element was written last, with source and line; None if nowhere."""
    if not wrong.array or not trace.array_named(wrong.array):
        return None
    requests = trace.select(array=wrong.array).requests
    row = requests.lane_row()
    wrote = np.isin(requests.kind[row], (STORE, ATOMIC)) & (requests.index == wrong.index)
    if not wrote.any():
        return None
    at = np.flatnonzero(wrote)[-1]
    last = int(row[at])
    launch, block, warp, step = (
        int(getattr(requests, name)[last]) for name in ("launch", "block", "warp", "step")
    )
    thread = warp * WARP_SIZE + int(requests.lane_id()[at])
    place = Place(launch, block, warp, step, thread)
    return place, int(requests.source[last]), int(requests.line[last])


def worst_line(trace: Trace, budget: Budget) -> tuple[int, int] | None:
    """Return source and line on which the counter of a budget, taken alone, is worst."""
    steps = trace.steps
    sign = 1 if budget.at_most is not None else -1
    worst, place = -np.inf, None
    for source, line in sorted(set(zip(steps.source.tolist(), steps.line.tolist(), strict=True))):
        try:
            value = budget.measure(trace.select(source=source, line=line))
        except Exception:
            continue  # a line alone may have nothing to count
        if value == value and sign * value > worst:
            worst, place = sign * value, (source, line)
    return place


def busiest_on(trace: Trace, source: int, line: int) -> Place:
    """Return the first step on a line, of the warp of one launch that is there most often."""
    steps = trace.select(source=source, line=line).steps
    whole = np.stack([steps.launch, steps.block, steps.warp])
    warps, counts = np.unique(whole, axis=1, return_counts=True)
    mine = warps[:, np.argmax(counts)]
    step = steps.step[(whole == mine[:, None]).all(axis=0)].min()
    return Place(*(int(i) for i in mine), int(step))


def name_of_line(trace: Trace, source: int, line: int) -> str:
    """Name a line, and its function where that is no kernel: its file may be another one."""
    function = trace.sources[source].function
    if function in {launch.kernel for launch in trace.launches}:
        return f"line {line}"
    return f"line {line} of {function}"
