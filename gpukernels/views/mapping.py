"""MappingView: the units of a workload under every mapping technique, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gpukernels.checks import as_array
from gpukernels.errors import InvalidArgument
from gpukernels.simt.trace import Trace
from gpukernels.views.encoding import pack
from gpukernels.views.expansion import Expansion, read_expansion
from gpukernels.views.figure import Counter, Frame, count, symbol, track
from gpukernels.views.markup import Element, h, number
from gpukernels.views.widget import View, as_traces, check_step

#: Units in a row of a strip; the most that are drawn of a workload, and in all its strips together.
ROW_UNITS, MOST_UNITS, MOST_CELLS = 24, 240, 1080
#: Width and height of a unit, height of the letters above it, of a sector below it, of a row.
CELL, TALL, HEAD, BAR, PITCH = 18.0, 18.0, 13.0, 11.0, 51.0
#: Colors before they repeat; beyond, a bar below, at the left, or both tells units apart.
COLORS = 8
#: Bars of load are at most this share of their chart wide.
LEAST_BARS = 12
#: What units can be colored by.
LEVELS = ("thread", "warp", "block")

_SQUARE = "M1.5 1.5h11v11h-11z"
_NOW = symbol(("gk-u-0", "M1.5 7h11", 11), ("gk-s-now", _SQUARE, None))
_BEFORE = symbol(("gk-u-0", "M1.5 7h11", 11))
_WAITING = symbol(("gk-u-todo", _SQUARE, None))
_ONCE = symbol(("gk-u-one", "M0 4h14v7h-14z", None))
_AGAIN = symbol(("gk-u-many", "M0 4h14v7h-14z", None))


def item_names(sizes: np.ndarray) -> list[str]:
    """Return what items are called: letters where 26 do, for the items that have units at least."""
    if len(sizes) <= 26:
        return [chr(65 + i) for i in range(len(sizes))]
    if np.count_nonzero(sizes) <= 26:
        rank = np.cumsum(sizes > 0)
        return [chr(64 + int(k)) if s else "" for k, s in zip(rank, sizes, strict=True)]
    return [str(i) for i in range(len(sizes))]


def _check_offsets(offsets: ArrayLike, argument: str) -> np.ndarray:
    found = as_array(argument, offsets)
    good = found.ndim == 1 and found.size > 0 and found.dtype.kind in "iu" and found[0] == 0
    if not good or (np.diff(found.astype(np.int64)) < 0).any():
        raise InvalidArgument(argument, offsets, "whole numbers from 0 up, nowhere decreasing")
    if not 0 < found[-1] <= MOST_UNITS:
        raise InvalidArgument(f"{argument}[-1]", int(found[-1]), f"from 1 to {MOST_UNITS} units")
    return found.astype(np.int64)


class Workload:
    """A workload and every technique that ran on it.

    Attributes
    ----------
    offsets : numpy.ndarray
        int64, of shape (items + 1,).
    names : list of str
        What each item is called.
    item : numpy.ndarray
        int64, of shape (units,): the owner of each unit.
    methods : dict of str to Expansion
        By the technique's label.
    """

    def __init__(self, offsets: np.ndarray, methods: dict[str, Expansion]) -> None:
        sizes = np.diff(offsets)
        self.offsets, self.methods = offsets, methods
        self.names = item_names(sizes)
        self.item = np.repeat(np.arange(len(sizes)), sizes)

    @property
    def units(self) -> int:
        """How many units there are."""
        return len(self.item)

    @property
    def rounds(self) -> int:
        """Rounds of the technique that needs most."""
        return max(method.rounds for method in self.methods.values())

    def most(self) -> list[int]:
        """Return the most units that any technique gives a thread, a warp, a block."""
        return [
            max(int(np.bincount(getattr(m, level)).max()) for m in self.methods.values())
            for level in LEVELS
        ]

    def empty(self) -> list[str]:
        """Return the names of the items without units, as far as they have one."""
        sizes = np.diff(self.offsets)
        return [n for n, size in zip(self.names, sizes, strict=True) if n and not size]

    def sentence(self, step: int) -> str:
        """Say who visits what in a round."""
        said, done = [], 0
        for label, method in self.methods.items():
            units = int(np.count_nonzero(method.round == step))
            done += method.rounds <= step
            if units:
                last = ", its last" if method.rounds == step + 1 else ""
                said.append(f"{count(units, 'unit')} by “{label}”{last}")
        rest = f"; {count(len(said) - 3, 'more technique')} at work" if len(said) > 3 else ""
        over = f". {count(done, 'technique is', 'techniques are')} done" if done else ""
        return f"Round {step}: " + ", ".join(said[:3]) + rest + over + "."

    def describe(self) -> str:
        """Say what the strips and the bars show in the end."""
        sizes = np.diff(self.offsets)
        told = [
            f"{n or i} {size}"
            for i, (n, size) in enumerate(zip(self.names, sizes, strict=True))
            if size
        ]
        words = (
            f"{count(len(sizes), 'item')} with {count(self.units, 'unit')} in all; "
            f"units an item: {', '.join(told)}."
        )
        if self.empty():
            words += f" Without units: {', '.join(self.empty())}."
        for label, m in self.methods.items():
            thread, warp, block = (
                np.bincount(getattr(m, level), minlength=getattr(m, level + "s"))
                for level in LEVELS
            )
            words += (
                f" {label}: {_facts(m)}; at most {count(int(thread.max()), 'unit')} a thread, "
                f"{warp.max()} a warp, {block.max()} a block, of {count(m.threads, 'thread')}, "
                f"{count(m.warps, 'warp')}, {count(m.blocks, 'block')}."
            )
        return words


def _facts(m: Expansion) -> str:
    moved = m.moved(m.rounds)
    return (
        f"{count(m.rounds, 'round')}, {count(m.requests, 'request')}, "
        f"{count(int(moved.sum()), 'sector')} moved ({len(moved)} hold all)"
    )


class MappingView(View):
    """The strip of work-units under every technique: who visits which unit, when, at what cost.

    Each technique has a strip of units, in the order in which they lie in memory, with the letters
    of their items above. A unit shows the number of the thread (warp, block) that visits it. Below
    lie the sectors of 32 bytes and how often each is moved, then the units that each thread, warp
    and block gets. A step is a round: every warp makes one request. Nothing is simulated here: all
    comes from the traces.

    Parameters
    ----------
    traces : dict of str to Trace, or dict of str to dict of str to Trace
        One recording of :func:`gpukernels.expand` a technique; or such a dict for each of several
        workloads to switch between, by name. What ``with gk.trace() as t`` yields will do as well.
    offsets : array_like of int, or dict of str to array_like
        The workload, of shape (items + 1,), as given to ``gk.expand``; or one by each name. 24
        units fill a row; up to 240 are drawn, and up to 1080 in all strips of a workload together.
    color : {"thread", "warp", "block"}
        What units are colored by at first.
    choice : str
        What the names of several workloads say, as a word beside their list.
    title, caption : str
        Words above and below.
    step : int, optional
        Round shown first; by default the last, when all units are visited.

    Attributes
    ----------
    step : int
        The round shown; may be set and observed.
    trace : str
        The workload shown, by its name; may be set and observed.

    Raises
    ------
    InvalidArgument
        If a trace does not visit every unit of its workload exactly once, if workloads and offsets
        do not have the same names, or if there are too many units.

    Examples
    --------
    >>> import gpukernels as gk
    >>> offsets, traces = [0, 3, 4, 8, 10, 12, 20, 21, 24], {}
    >>> for method in ("work_item_to_thread", "two_phase"):
    ...     with gk.trace() as t:
    ...         result = gk.expand(offsets, method, threads=32)
    ...     traces[method] = t
    >>> gk.MappingView(traces, offsets)
    MappingView(8 items, 24 units: work_item_to_thread 8 rounds, two_phase 11 rounds)
    """

    _kind = "mapping"

    def __init__(
        self,
        traces: Mapping[str, Trace] | Mapping[str, Mapping[str, Trace]],
        offsets: ArrayLike | Mapping[str, ArrayLike],
        *,
        color: str = "thread",
        choice: str = "Workload",
        title: str = "Who visits which unit",
        caption: str = "",
        step: int | None = None,
    ) -> None:
        if not isinstance(color, str) or color not in LEVELS:
            raise InvalidArgument("color", color, f"one of {LEVELS}")
        if not isinstance(traces, Mapping) or not traces:
            raise InvalidArgument("traces", traces, "a non-empty dict of technique to trace")
        if not isinstance(offsets, Mapping):
            traces, offsets = {"": traces}, {"": offsets}
        elif list(traces) != list(offsets):
            raise InvalidArgument("offsets", list(offsets), f"the names of traces, {list(traces)}")
        self._color = color
        self._workloads = {
            name: _read_workload(name, traces[name], offsets[name]) for name in traces
        }
        labels = list(self._workloads)
        first = self._workloads[labels[0]]
        step = first.rounds - 1 if step is None else step
        check_step(step, first.rounds)
        payload = {
            "choice": choice,
            "color": color,
            "traces": [_payload(name, load) for name, load in self._workloads.items()],
        }
        self._finish(payload, title=title, caption=caption, step=step, labels=labels)

    def _describe(self) -> str:
        return " ".join(
            (f"{name}: " if name else "") + load.describe()
            for name, load in self._workloads.items()
        )

    def _summary(self) -> str:
        return "; ".join(
            (f"{name}: " if name else "")
            + f"{count(len(load.names), 'item')}, {count(load.units, 'unit')}: "
            + ", ".join(f"{label} {count(m.rounds, 'round')}" for label, m in load.methods.items())
            for name, load in self._workloads.items()
        )

    def _frame(self, payload: dict[str, Any], step: int) -> Frame:
        load = next(iter(self._workloads.values()))
        most = load.most()
        panels = [
            _panel(load, label, method, most, self._color, step)
            for label, method in load.methods.items()
        ]
        at_work = [sum(k < m.rounds for m in load.methods.values()) for k in range(load.rounds)]
        bars = "".join(f"M{k}.1 {len(panels)}v-{n}h.8v{n}z" for k, n in enumerate(at_work))
        tracks = [
            track(
                "at work",
                f"of {len(panels)}",
                load.rounds,
                26,
                len(panels),
                step,
                [h("path", {"class": "gk-f-done", "d": bars})],
                dim=True,
            )
        ]
        return Frame(
            tracks if load.rounds > 1 else [],
            [
                h("p", {"class": "gk-map-key"}, key_words(self._color, load)),
                h("div", {"class": "gk-map"}, *panels),
            ],
            _counters(load, step),
            load.sentence(step),
        )


def key_words(color: str, load: Workload) -> str:
    """Say how to read a strip."""
    sector = next(iter(load.methods.values())).sector_units
    return (
        "A cell is a unit, below the letter of its item; its number and color are those of the "
        f"{color} that visits it. A bar below {sector} cells is a sector of 32 bytes, "
        "×2 if it is moved twice. Bars of load: units for each thread, warp and block."
    )


def _read_workload(name: str, traces: object, offsets: ArrayLike) -> Workload:
    place = f"[{name!r}]" if name else ""
    checked = _check_offsets(offsets, f"offsets{place}")
    if not isinstance(traces, Mapping):
        raise InvalidArgument(f"traces{place}", traces, "a dict of technique to trace")
    if checked[-1] * len(traces) > MOST_CELLS:
        asked = f"{count(len(traces), 'technique')} on {checked[-1]} units"
        raise InvalidArgument(f"traces{place}", asked, f"at most {MOST_CELLS} units in all strips")
    return Workload(
        checked,
        {
            label: read_expansion(trace, int(checked[-1]), f"traces{place}[{label!r}]")
            for label, trace in as_traces(dict(traces), f"traces{place}").items()
        },
    )


def _payload(name: str, load: Workload) -> dict[str, Any]:
    return {
        "label": name,
        "steps": load.rounds,
        "offsets": pack(load.offsets),
        "names": load.names,
        "most": load.most(),
        "sentences": [load.sentence(k) for k in range(load.rounds)],
        "methods": [
            {
                "label": label,
                "facts": _facts(m),
                "rounds": m.rounds,
                "sector": m.sector_units,
                "launched": [m.threads, m.warps, m.blocks],
                "shares": [_share(load, m, level) for level in LEVELS],
                "thread": pack(m.thread),
                "warp": pack(m.warp),
                "block": pack(m.block),
                "round": pack(m.round),
                "request": pack(m.request),
            }
            for label, m in load.methods.items()
        ],
    }


def _place(unit: int) -> tuple[float, float]:
    return CELL * (unit % ROW_UNITS), HEAD + PITCH * (unit // ROW_UNITS)


def _box(x: float, y: float, wide: float, tall: float) -> str:
    return f"M{number(x)} {number(y)}h{number(wide)}v{number(tall)}h-{number(wide)}z"


def _unit_box(unit: int, units: int = 1) -> str:
    x, y = _place(unit)
    return _box(x + 0.5, y, CELL * units - 1, TALL)


def _unit_dash(unit: int, middle: float) -> str:
    """Return a line across a unit, which as thick as a unit is tall fills it."""
    x, y = _place(unit)
    return f"M{number(x + 0.5)} {number(y + middle)}h{number(CELL - 1)}"


def runs(first: int, last: int) -> list[tuple[int, int]]:
    """Cut the units from `first` up to `last` at the ends of rows."""
    cuts = [first, *range(first // ROW_UNITS * ROW_UNITS + ROW_UNITS, last, ROW_UNITS), last]
    return list(pairwise(cuts))


def _words(name: str, words: list[tuple[float, float, str]]) -> Element:
    """Return one text with a word at each place; a word stands as high as the one before it."""
    heights = [None, *(y for _, y, _ in words)]
    return h(
        "text",
        {"class": name},
        *(
            h("tspan", {"class": "gk-u-tiny" if len(w) > 2 else None, "x": x, "y": moved}, w)
            for (x, y, w), before in zip(words, heights, strict=False)
            for moved in [None if y == before else y]
        ),
    )


def _number(unit: int, k: int, visited: bool) -> Element:
    """Return the number on a unit, which is light on the fifth color."""
    names = ["gk-u-light"] * (k % COLORS == 4) + ["gk-u-tiny"] * (k > 99)
    at = {"class": " ".join(names) or None, "x": _place(unit)[0] + CELL / 2}
    return h("tspan", at, str(k) if visited else "")


def _number_rows(numbers: list[Element]) -> list[Element]:
    """Return a text for each row: it holds the height, which an empty first tspan would lose."""
    return [
        h("text", {"class": "gk-u-dark", "y": _place(first)[1] + 12.5}, *numbers[first:last])
        for first, last in runs(0, len(numbers))
    ]


def _heads(load: Workload) -> list[Element]:
    """Return the letters of the items, and the lines between them."""
    cuts, letters, empty = "", [], []
    for i, name in enumerate(load.names):
        begin, end = int(load.offsets[i]), int(load.offsets[i + 1])
        if begin == end:
            x, y = _place(min(begin, load.units - 1))
            at = (x + CELL * (begin == load.units), y - 3.5, "∅")
            if at not in empty:
                empty.append(at)
            continue
        for a, b in runs(begin, end):
            x, y = _place(a)
            letters.append((x + CELL * (b - a) / 2, y - 3.5, name))
        x, y = _place(begin)
        cuts += f"M{number(x)} {number(y - 12)}v{number(TALL + 12)}"
    return [
        h("path", {"class": "gk-s-cut", "d": cuts}),
        _words("gk-u-item", letters),
        _words("gk-u-empty", empty),
    ]


def _requests_now(m: Expansion, step: int) -> list[tuple[int, int]]:
    """Return the stretches of neighboring units that a request of round `step` visits."""
    visited = np.where(m.round == step, m.request, -1)
    cuts = [0, *(np.flatnonzero(np.diff(visited)) + 1).tolist(), len(visited)]
    return [run for a, b in pairwise(cuts) if visited[a] >= 0 for run in runs(a, b)]


def _strip(load: Workload, label: str, m: Expansion, color: str, step: int) -> Element:
    units = range(load.units)
    who = getattr(m, color)
    fills, marks, todo, now = [""] * COLORS, "", "", ""
    numbers: list[Element] = []
    for u in units:
        k = int(who[u])
        numbers.append(_number(u, k, m.round[u] <= step))
        if m.round[u] > step:
            todo += _unit_box(u)
            continue
        fills[k % COLORS] += _unit_dash(u, TALL / 2)
        x, y = _place(u)
        if k // COLORS & 1:
            marks += _unit_dash(u, TALL - 1.5)
        if k // COLORS & 2:
            marks += f"M{number(x + 2)} {number(y)}v{number(TALL)}"
    for a, b in _requests_now(m, step):
        now += _unit_box(a, b - a)
    once = again = ""
    times, often = [], []
    idle = ""
    moved = m.moved(step)
    for s, n in enumerate(moved.tolist()):
        first, last = s * m.sector_units, min((s + 1) * m.sector_units, load.units)
        for a, b in runs(first, last):
            x, y = _place(a)
            bar = _box(x + 0.5, y + TALL + 3, CELL * (b - a) - 1, BAR)
            word = (x + CELL * (b - a) / 2, y + TALL + 3 + 8.5, f"×{n}")
            if n == 0:
                idle += bar
            elif n == 1:
                once += bar
                times.append(word)
            else:
                again += bar
                often.append(word)
    rows = -(-load.units // ROW_UNITS)
    return h(
        "svg",
        {
            "class": "gk-map-strip",
            "viewBox": f"-1 0 {number(CELL * ROW_UNITS + 2)} {number(PITCH * rows)}",
            "role": "img",
            "aria-label": f"Units under {label}, colored by {color}",
        },
        h("path", {"class": "gk-u-todo", "d": todo}),
        *(
            h("path", {"class": f"gk-u-{k}", "d": d, "stroke-width": TALL})
            for k, d in enumerate(fills)
        ),
        h("path", {"class": "gk-u-mark", "d": marks, "stroke-width": 3}),
        h("path", {"class": "gk-f-faint", "d": idle}),
        h("path", {"class": "gk-u-one", "d": once}),
        h("path", {"class": "gk-u-many", "d": again}),
        *_heads(load),
        *_number_rows(numbers),
        _words("gk-u-once", times),
        _words("gk-u-often", often),
        h("path", {"class": "gk-s-now", "d": now}),
    )


def _loads(load: Workload, m: Expansion, most: list[int], step: int) -> Element:
    charts = []
    for level, top in zip(LEVELS, most, strict=True):
        who, launched = getattr(m, level), getattr(m, level + "s")
        total = np.bincount(who, minlength=launched)
        so_far = np.bincount(who[m.round <= step], minlength=launched)
        rest = done = ""
        for k, (n, far) in enumerate(zip(total.tolist(), so_far.tolist(), strict=True)):
            if far:
                done += f"M{k}.5 30v-{number(30 * far / top)}"
            if n > far:
                rest += f"M{k}.5 {number(30 - 30 * far / top)}v-{number(30 * (n - far) / top)}"
        charts.append(
            h(
                "div",
                {"class": "gk-map-load"},
                h(
                    "svg",
                    {
                        "class": "gk-map-bars",
                        "viewBox": f"0 0 {max(launched, LEAST_BARS)} 30",
                        "preserveAspectRatio": "none",
                        "width": "100%",
                        "height": 26,
                        "aria-hidden": "true",
                    },
                    h("path", {"class": "gk-u-rest", "d": rest, "stroke-width": 0.8}),
                    h("path", {"class": "gk-u-load", "d": done, "stroke-width": 0.8}),
                ),
                h("span", None, count(launched, level)),
                h("small", None, _share(load, m, level)),
            )
        )
    return h("div", {"class": "gk-map-loads"}, *charts)


def _share(load: Workload, m: Expansion, level: str) -> str:
    """Say how many units a thread, warp or block gets."""
    launched = getattr(m, level + "s")
    if launched == 1:
        return count(load.units, "unit")
    most = int(np.bincount(getattr(m, level)).max())
    return f"most {most}, mean {load.units / launched:.1f}"


def _panel(
    load: Workload, label: str, m: Expansion, most: list[int], color: str, step: int
) -> Element:
    return h(
        "div",
        {"class": "gk-map-panel"},
        h("p", {"class": "gk-map-head"}, h("b", None, label), h("small", None, _facts(m))),
        _strip(load, label, m, color, step),
        _loads(load, m, most, step),
    )


def _counters(load: Workload, step: int) -> list[Counter]:
    now = sum(int((m.round == step).sum()) for m in load.methods.values())
    before = sum(int((m.round < step).sum()) for m in load.methods.values())
    moved = np.concatenate([m.moved(step) for m in load.methods.values()])
    once = int((moved > 0).sum())
    return [
        Counter(_NOW, "visited now", f"{now:,}"),
        Counter(_BEFORE, "visited before", f"{before:,}"),
        Counter(_WAITING, "not yet", f"{load.units * len(load.methods) - now - before:,}"),
        Counter(_ONCE, "sectors moved", f"{once:,}"),
        Counter(_AGAIN, "moved again", f"{int(moved.sum()) - once:,}"),
    ]
