"""EnergyView: methods on a plane of time and power, a workload at a time, with lines of energy."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from gpukernels.checks import as_python, check_text
from gpukernels.errors import InvalidArgument
from gpukernels.views.widget import View, check_step
from gpukernels.views.words import count

#: As many as there are colors, and as have room in a figure.
MOST_METHODS, MOST_WORKLOADS = 8, 24
#: Where an axis may begin, end and have a tick, in each power of ten.
ROUND = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
#: So many ticks and lines of energy fit beside each other.
MOST_TICKS, MOST_LINES = 7, 6

Row = tuple[str, str, float, float]


class EnergyView(View):
    """Methods on a plane of time and power; a step is a workload, on which they move.

    A mark is a method: the further right, the longer a run takes; the higher, the more watts the
    device draws meanwhile. Both axes are logarithmic, so that runs of equal energy, which is time
    by power, lie on straight lines. A line leads from where a method was on the workload before.
    Pointing at a mark (or the arrow keys) tells its numbers.

    Parameters
    ----------
    rows : iterable of (str, str, float, float)
        The runs: method, workload, milliseconds, and average watts. Methods and workloads stand
        in the order in which they first come; not every method needs to have run on all.
    title, caption, name : str
        Words above and below; addresses call it ``#fig-name``, by default by its title.
    step : int
        Workload shown first.

    Attributes
    ----------
    step : int
        The workload shown; may be set and observed.

    Raises
    ------
    InvalidArgument
        If a row is no run, a run comes twice, a number is not positive and finite, or there are
        more than 8 methods or 24 workloads.

    Examples
    --------
    >>> import gpukernels as gk
    >>> gk.EnergyView([("slow", "roads", 4.0, 150.0), ("fast", "roads", 0.5, 600.0)])
    EnergyView(2 methods on 1 workload)
    """

    _kind = "energy"

    def __init__(
        self,
        rows: Iterable[Row],
        *,
        title: str = "Time, power and energy",
        caption: str = "",
        name: str = "",
        step: int = 0,
    ) -> None:
        runs = _runs(rows)
        self._methods = list(dict.fromkeys(method for method, _ in runs))
        self._workloads = list(dict.fromkeys(workload for _, workload in runs))
        for what, names, most in (
            ("methods", self._methods, MOST_METHODS),
            ("workloads", self._workloads, MOST_WORKLOADS),
        ):
            if len(names) > most:
                raise InvalidArgument("rows", f"{len(names)} {what}", f"of at most {most} {what}")
        check_step(step, len(self._workloads))
        across = ends([ms for ms, _ in runs.values()])
        up = ends([watts for _, watts in runs.values()])

        def cells(make) -> list[list[Any]]:
            return [
                [make(*runs[m, w]) if (m, w) in runs else None for m in self._methods]
                for w in self._workloads
            ]

        self._sentences = [_sentence(runs, self._methods, w) for w in self._workloads]
        trace = {
            "label": "",
            "steps": len(self._workloads),
            "x": cells(lambda ms, _: place(ms, across)),
            "y": cells(lambda _, watts: place(watts, up)),
            "energy": cells(lambda ms, watts: energy_text(ms * watts)),
            "said": cells(
                lambda ms, watts: (
                    f"{time_text(ms)} at {watts:,.0f} W: {energy_text(ms * watts)} a run"
                )
            ),
            "sentences": self._sentences,
        }
        payload = {
            "choice": "",
            "methods": self._methods,
            "workloads": self._workloads,
            "times": [[place(v, across), time_text(v)] for v in ticks(across)],
            "powers": [[place(v, up), f"{v:,.4g} W"] for v in ticks(up)],
            "lines": lines(across, up),
            "traces": [trace],
        }
        self._finish(payload, title=title, caption=caption, name=name, step=step, labels=[""])

    def _describe(self) -> str:
        return f"Milliseconds, watts and energy of {self._summary()}. " + " ".join(self._sentences)

    def _summary(self) -> str:
        workloads = count(len(self._workloads), "workload")
        return f"{count(len(self._methods), 'method')} on {workloads}"


def _runs(rows: Any) -> dict[tuple[str, str], tuple[float, float]]:
    """Return (milliseconds, watts) of each run by its method and workload, checked."""
    allowed = "(method, workload, milliseconds, watts), two texts and two positive numbers"
    try:
        listed = None if isinstance(rows, (str, bytes, dict)) else list(rows)
    except TypeError:
        listed = None
    if not listed:
        raise InvalidArgument("rows", rows, f"rows of {allowed}")
    runs: dict[tuple[str, str], tuple[float, float]] = {}
    for k, row in enumerate(listed):
        if not isinstance(row, Sequence) or isinstance(row, str) or len(row) != 4:
            raise InvalidArgument(f"rows[{k}]", row, allowed)
        method, workload, *numbers = (as_python(part) for part in row)
        for text in (method, workload):
            if not isinstance(text, str) or not text:
                raise InvalidArgument(f"rows[{k}]", row, f"{allowed}; no text is empty")
            check_text(f"rows[{k}]", text)
        if not all(_is_positive(number) for number in numbers):
            raise InvalidArgument(f"rows[{k}]", row, f"{allowed}, from a millionth to a million")
        if (method, workload) in runs:
            raise InvalidArgument(f"rows[{k}]", (method, workload), "a run that did not come yet")
        runs[method, workload] = float(numbers[0]), float(numbers[1])
    return runs


def _is_positive(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return 1e-6 <= value <= 1e6  # a NaN is neither


def ends(values: Sequence[float]) -> tuple[float, float]:
    """Return where an axis begins and ends: round numbers around `values`, and not the same."""
    low = max(v for v in _round(min(values)) if v <= min(values))
    high = min(v for v in _round(max(values)) if v > max(values))
    return low, high


def _round(value: float) -> list[float]:
    """Return the round numbers around a value, ascending."""
    power = math.floor(math.log10(value))
    return [r * 10.0**p for p in (power - 1, power, power + 1) for r in ROUND]


def ticks(axis: tuple[float, float]) -> list[float]:
    """Return the round numbers of an axis, fewer in each power of ten where they are many."""
    low, high = axis
    powers = range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1)
    for chosen in (ROUND, (1.0, 2.0, 5.0), (1.0, 3.0), (1.0,)):
        numbers = [r * 10.0**p for p in powers for r in chosen]
        numbers = [v for v in numbers if low * 0.999 <= v <= high * 1.001]
        if len(numbers) <= MOST_TICKS:
            break
    return numbers


def place(value: float, axis: tuple[float, float]) -> int:
    """Return how far along its axis a value lies, in thousandths."""
    low, high = (math.log10(end) for end in axis)
    return round(1000 * (math.log10(value) - low) / (high - low))


def lines(across: tuple[float, float], up: tuple[float, float]) -> list[list[Any]]:
    """Return lines of equal energy: the places where each meets the edges, and its words.

    From its upper left to its lower right end: [x1, y1, x2, y2, words], in thousandths.
    """
    low, high = across[0] * up[0], across[1] * up[1]
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    energies = [10.0**p for p in powers if low < 10.0**p < high]
    if len(energies) < 3:
        energies = [r * 10.0**p for p in powers for r in (1, 3) if low < r * 10.0**p < high]
    rows = []
    for energy in energies[:: math.ceil(len(energies) / MOST_LINES) or 1]:
        begin = max(across[0], energy / up[1])
        end = min(across[1], energy / up[0])
        corners = [place(begin, across), place(energy / begin, up)]
        corners += [place(end, across), place(energy / end, up)]
        rows.append([*corners, energy_text(energy)])
    return rows


def time_text(ms: float) -> str:
    """Return a time as readers say it."""
    return f"{ms:,.3g} ms" if ms >= 0.01 else f"{1e3 * ms:.3g} µs"


def energy_text(millijoules: float) -> str:
    """Return an energy as readers say it."""
    return f"{millijoules:.3g} mJ" if millijoules < 999.5 else f"{millijoules / 1e3:,.3g} J"


def _sentence(runs, methods: list[str], workload: str) -> str:
    """Name the fastest method and those with the least power and the most energy."""
    runs_of_methods = {m: runs[m, workload] for m in methods if (m, workload) in runs}
    energy = {m: ms * watts for m, (ms, watts) in runs_of_methods.items()}
    least, most = min(energy, key=energy.__getitem__), max(energy, key=energy.__getitem__)
    if len(runs_of_methods) == 1:
        return f"{workload}: {least} takes {energy_text(energy[least])} a run."
    fastest = min(runs_of_methods, key=lambda m: runs_of_methods[m][0])
    coolest = min(runs_of_methods, key=lambda m: runs_of_methods[m][1])
    return (
        f"{workload}: {least} needs the least energy, {energy_text(energy[least])}, and {most} "
        f"{energy[most] / energy[least]:,.3g} times as much. {fastest} is the fastest, "
        f"{coolest} draws the fewest watts."
    )
