"""ScanView: a prefix sum step by step, by the shuffles of a warp or in shared memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukernels.errors import InvalidArgument
from gpukernels.simt.trace import Trace
from gpukernels.views.encoding import pack, pack_lists
from gpukernels.views.figure import Counter, Frame, code_line, count, symbol, track
from gpukernels.views.markup import Element, h, number
from gpukernels.views.scan_record import ADD, READ, TAKE, ScanRecord, ScanRow, read_scan
from gpukernels.views.widget import View, as_traces, check_step

#: Most columns that can be told apart: 64 cells and what padding leaves between them.
MOST_COLUMNS = 72

_SQUARE = "M1.5 1.5h11v11h-11z"
_ADDED = symbol(("gk-f-work", _SQUARE, None))
_TAKEN = symbol(("gk-f-new", _SQUARE, None))
_CROWDED = symbol(("gk-f-faint", _SQUARE, None), ("gk-f-clash", "M1.5 10h11v2.5h-11z", None))


class Layout:
    """Where everything stands: columns side by side and steps downwards, or turned, for phones.

    ``js/scan.js`` holds the same numbers.
    """

    def __init__(self, record: ScanRecord, turned: bool) -> None:
        columns, rows = record.columns, len(record.rows)
        longest = max(len(word) for row in record.rows for word in words(row))
        wide = columns > 32
        self.turned = turned
        self.column = 14.0 if turned else 12.2 if wide else 17.5
        self.left, self.top = 24.0, 15.0
        if turned:
            self.pitch = min(334 / rows, 60.0)
            self.along, self.across = 0.58 * self.pitch, self.column - 1
            self.width = self.left + rows * self.pitch
            self.height = self.top + columns * self.column + (28 if record.array else 15)
        else:
            self.pitch = 33.0 if wide else 42.0
            self.along, self.across = (13.0 if wide else 16.0), self.column - 1
            self.width = self.left + columns * self.column + (30 if record.array else 0)
            self.height = self.top + (rows - 1) * self.pitch + self.along + 18
        room = self.along if turned else self.across
        self.font = max(min(9.0, room / (0.68 * longest)), 4.5)

    def box(self, column: int, row: int) -> tuple[float, float, float, float]:
        """Return x, y, width and height of a cell."""
        if self.turned:
            return (
                self.left + row * self.pitch,
                self.top + column * self.column + 0.5,
                self.along,
                self.across,
            )
        return (
            self.left + column * self.column + 0.5,
            self.top + row * self.pitch,
            self.across,
            self.along,
        )

    def middle(self, column: int, row: int) -> tuple[float, float]:
        """Return where a cell's value stands."""
        x, y, w, t = self.box(column, row)
        return x + w / 2, y + t / 2 + 0.36 * self.font

    def arc(self, of: int, to: int, row: int) -> str:
        """Return the path from a cell of the row before to a cell of this one."""
        x, y, w, t = self.box(of, row - 1)
        u, v, p, q = self.box(to, row)
        bow = 0.6 * (self.pitch - self.along)
        if self.turned:
            a, b, c, d = x + w, y + t / 2, u, v + q / 2
            ends = (a, b), (a + bow, b), (c - bow, d), (c, d)
        else:
            a, b, c, d = x + w / 2, y + t, u + p / 2, v
            ends = (a, b), (a, b + bow), (c, d - bow), (c, d)
        start, *rest = (f"{number(i)} {number(j)}" for i, j in ends)
        return f"M{start}C{' '.join(rest)}"

    def row(self, columns: int, row: int) -> str:
        """Return the line that, dashed, is a row of empty cells."""
        x, y, w, t = self.box(0, row)
        long = number(columns * self.column)
        return (
            f"M{number(x + w / 2)} {number(y)}v{long}"
            if self.turned
            else f"M{number(x)} {number(y + t / 2)}h{long}"
        )

    def crowd(self, column: int, row: int) -> str:
        """Return the mark of a cell in a bank with several words to serve."""
        x, y, w, t = self.box(column, row)
        return _box(x + w, y, 2.5, t) if self.turned else _box(x, y + t, w, 2.5)

    def ticks(self, columns: int) -> list[tuple[float, float, str]]:
        """Return the numbers of the columns."""
        every = 1 if self.turned or columns <= 32 else 8
        if self.turned:
            return [(self.left - 10, self.middle(c, 0)[1], str(c)) for c in range(columns)]
        return [(self.middle(c, 0)[0], self.top - 5, str(c)) for c in range(0, columns, every)]

    def step_name(self, row: int) -> tuple[float, float]:
        """Return where the number of a step stands."""
        x, y, w, t = self.box(0, row)
        return (x + w / 2, self.top - 5) if self.turned else (self.left - 11, y + t / 2 + 3.2)

    def step_note(self, columns: int, row: int) -> tuple[float, float]:
        """Return where the bank conflicts of a step stand."""
        x, y, w, t = self.box(columns - 1, row)
        return (x + w / 2, y + t + 10) if self.turned else (x + w + 15, y + t / 2 + 3.2)


def _box(x: float, y: float, w: float, t: float) -> str:
    return f"M{number(x)} {number(y)}h{number(w)}v{number(t)}h-{number(w)}z"


def words(row: ScanRow) -> list[str]:
    """Return a row's values as they are shown; ``"·"`` where the trace does not tell."""
    return [
        "·" if np.isnan(v) else str(int(v)) if v.is_integer() else f"{v:.4g}"
        for v in row.values.tolist()
    ]


def _where(apart: int | None, noun: str) -> str:
    if apart is None:
        return f"another {noun}"
    if noun == "lane":
        return f"the lane {abs(apart)} {'below' if apart > 0 else 'above'}"
    return f"the cell {abs(apart)} to the {'left' if apart > 0 else 'right'}"


def sentence(record: ScanRecord, step: int) -> str:
    """Say what one step does."""
    row, noun = record.rows[step], record.noun
    said = []
    for kind, one, many in (
        (ADD, "adds what {} holds", "add what {} holds"),
        (TAKE, "takes what {} holds", "take what {} holds"),
        (READ, "reads {}", "read {}"),
    ):
        who = {to for (_, to), k in zip(row.arcs, row.kinds, strict=True) if k == kind}
        if who:
            verb = one if len(who) == 1 else many
            said.append(f"{count(len(who), noun)} {verb.format(_where(row.apart(kind), noun))}")
    if not record.array and not row.arcs:
        known = int((~np.isnan(row.values)).sum())
        new = " new" if step else ""
        brings = f"brings a{new} value" if known == 1 else f"bring{new} values"
        said.append(f"{count(known, 'lane')} {brings}")
    elif not row.arcs:
        verb = "is" if len(row.changed) == 1 else "are"
        values = {words(row)[cell] for cell in row.changed}
        done = f"set to {values.pop()}" if len(values) == 1 else "filled"
        said.append(f"{count(len(row.changed), 'cell')} {verb} {done}")
    told = f"Step {step}: " + ", ".join(said) + "."
    unseen = int(np.isnan(row.values[[to for _, to in row.arcs]]).sum()) if row.arcs else 0
    if not record.array and unseen:
        told += f" {count(unseen, 'sum stays', 'sums stay')} in registers, unseen by the trace."
    if record.array and row.conflicts:
        told += (
            f" Bank conflicts: {count(row.requests, 'request')}, "
            f"{row.requests + row.conflicts} passes over the banks."
        )
    elif record.array:
        told += f" {count(row.requests, 'request')}, no bank conflict."
    return told


class ScanView(View):
    """A prefix sum step by step: the value in every lane or cell, and whose value was added.

    Columns are the lanes of a warp or the cells of a shared array, rows are steps. A curve leads
    from the lane whose value is read to the lane that it goes to. All values are those that the
    trace holds; ``·`` stands where it holds none, as for a register that is never shown to another
    lane nor stored. Pointing at a value (or the arrow keys) shows all that went into it.

    In shared memory a step is what lies between two barriers; a curve joins each cell that a thread
    stores to with those that it loaded. A bar under a cell means that its bank had several words of
    one request to serve.

    Parameters
    ----------
    traces : Trace or dict of str to Trace
        One recording, or several to switch between. What ``with gk.trace() as t`` yields will do.
    launch, block : int
        Which launch, and which of its blocks.
    warp : int
        Which warp of the block, for shuffles.
    array : str, optional
        Name of a shared array; by default the warp's shuffles or, where it makes none, the shared
        array that is stored to most often.
    choice : str
        What the labels of several traces say, as a word beside their list.
    title, caption : str
        Words above and below; the title defaults to the kernel's name.
    step : int, optional
        Step shown first; by default the last, with the whole scan in sight.

    Attributes
    ----------
    step : int
        The step shown; may be set and observed.
    trace : str
        The recording shown, by its label; may be set and observed.

    Raises
    ------
    InvalidArgument
        If there is no such launch, block or warp, no shuffle and no store to such a shared array,
        or if the array has more than 72 cells in use.

    Examples
    --------
    >>> import numpy as np
    >>> import gpukernels as gk
    >>> from gpukernels.primitives.warp_scan import warp_scan
    >>> with gk.trace() as t:
    ...     result = warp_scan(np.ones(32), threads=32)
    >>> gk.ScanView(t)
    ScanView(scan_warps_inclusive; 32 lanes, 5 steps)
    """

    _kind = "scan"

    def __init__(
        self,
        traces: Trace | dict[str, Trace],
        launch: int = 0,
        block: int = 0,
        warp: int = 0,
        *,
        array: str | None = None,
        choice: str = "Trace",
        title: str | None = None,
        caption: str = "",
        step: int | None = None,
    ) -> None:
        self._scans: dict[str, ScanRecord] = {}
        kernels = []
        for label, trace in as_traces(traces).items():
            name = f"traces[{label!r}]" if label else "traces"
            record = read_scan(trace, launch, block, warp, array, name)
            if record.columns > MOST_COLUMNS:
                raise InvalidArgument(
                    name,
                    f"{record.columns} cells of {record.array}",
                    f"at most {MOST_COLUMNS} cells: trace a smaller block",
                )
            self._scans[label] = record
            kernels.append(trace.launches[launch].kernel)
        self._kernel = kernels[0]
        labels = list(self._scans)
        rows = len(self._scans[labels[0]].rows)
        step = rows - 1 if step is None else step
        check_step(step, rows)
        payload = {
            "choice": choice,
            "traces": [_payload(label, record) for label, record in self._scans.items()],
        }
        self._finish(
            payload,
            title=f"{self._kernel}, step by step" if title is None else title,
            caption=caption,
            step=step,
            labels=labels,
        )

    def _describe(self) -> str:
        said = []
        for label, record in self._scans.items():
            first, last = (", ".join(words(record.rows[k])) for k in (0, -1))
            where = f"shared array {record.array}" if record.array else "registers"
            said.append(
                f"{label + ': ' if label else ''}{count(record.columns, record.noun)} in {where}. "
                f"At first: {first}. "
                + " ".join(sentence(record, k) for k in range(1, len(record.rows)))
                + f" In the end: {last}."
            )
        return " ".join(said)

    def _summary(self) -> str:
        runs = ", ".join(
            f"{label + ': ' if label else ''}{count(record.columns, record.noun)}, "
            f"{count(len(record.rows) - 1, 'step')}"
            for label, record in self._scans.items()
        )
        return f"{self._kernel}; {runs}"

    def _frame(self, payload: dict[str, Any], step: int) -> Frame:
        record = next(iter(self._scans.values()))
        row = record.rows[step]
        return Frame(
            _tracks(record, step),
            [
                code_line(row.line, row.text),
                h(
                    "div",
                    {"class": "gk-scan"},
                    _picture(record, step, False),
                    _picture(record, step, True),
                ),
            ],
            _counters(record, step),
            sentence(record, step),
        )


def _payload(label: str, record: ScanRecord) -> dict[str, Any]:
    texts = sorted({(row.line, row.text) for row in record.rows})
    return {
        "label": label,
        "steps": len(record.rows),
        "columns": record.columns,
        "noun": record.noun,
        "array": record.array,
        "words": [" ".join(words(row)) for row in record.rows],
        "of": pack_lists([[of for of, _ in row.arcs] for row in record.rows]),
        "to": pack_lists([[to for _, to in row.arcs] for row in record.rows]),
        "kinds": pack_lists([row.kinds for row in record.rows]),
        "changed": pack_lists([row.changed for row in record.rows]),
        "crowded": pack_lists([row.crowded for row in record.rows]),
        "requests": pack([row.requests for row in record.rows]),
        "conflicts": pack([row.conflicts for row in record.rows]),
        "texts": [list(t) for t in texts],
        "text": pack([texts.index((row.line, row.text)) for row in record.rows]),
        "sentences": [sentence(record, k) for k in range(len(record.rows))],
    }


def _bars(heights: list[float], floors: list[float], most: float) -> str:
    """Return bars of a track 30 high; each stands on its floor."""
    path = ""
    for k, (tall, floor) in enumerate(zip(heights, floors, strict=True)):
        if tall:
            high, low = number(30 * tall / most), number(30 - 30 * floor / most)
            path += f"M{k}.1 {low}v-{high}h.8v{high}z"
    return path


def _tracks(record: ScanRecord, step: int) -> list[Element]:
    rows, none = record.rows, [0] * len(record.rows)
    reads = [len(row.arcs) for row in rows]
    most = max(*reads, 1)
    bars = [h("path", {"class": "gk-f-work", "d": _bars(reads, none, most)})]
    tracks = [track("reads", f"most {most}", len(rows), 30, 30, step, bars, dim=True)]
    if record.array:
        asked, extra = [row.requests for row in rows], [row.conflicts for row in rows]
        most = max(a + b for a, b in zip(asked, extra, strict=True))
        bars = [
            h("path", {"class": "gk-f-done", "d": _bars(asked, none, most)}),
            h("path", {"class": "gk-f-clash", "d": _bars(extra, asked, most)}),
        ]
        tracks.append(track("passes", f"most {most}", len(rows), 30, 30, step, bars, dim=True))
    return tracks


def _counters(record: ScanRecord, step: int) -> list[Counter]:
    row, so_far = record.rows[step], record.rows[: step + 1]
    verbs = [k for r in so_far for k in r.kinds]
    now = {kind: row.kinds.count(kind) for kind in (ADD, TAKE, READ)}
    used = {k for r in record.rows for k in r.kinds}
    counters = [Counter(_ADDED, "values added", str(now[ADD]))]
    if TAKE in used:
        counters.append(Counter(_TAKEN, "values taken", str(now[TAKE])))
    if READ in used:
        counters.append(Counter(None, "values read", str(now[READ])))
    counters.append(Counter(None, "additions so far", str(verbs.count(ADD))))
    if record.array:
        counters += [
            Counter(None, "requests so far", str(sum(r.requests for r in so_far))),
            Counter(_CROWDED, "bank conflicts so far", str(sum(r.conflicts for r in so_far))),
        ]
    return counters


def _texts(name: str, font: float | None, found: list[tuple[float, float, str]]) -> Element:
    style = None if font is None else f"font-size:{number(font)}px"
    marks = (h("tspan", {"x": x, "y": y}, word) for x, y, word in found)
    return h("text", {"class": name, "style": style}, *marks)


def _picture(record: ScanRecord, step: int, turned: bool) -> Element:
    place, columns = Layout(record, turned), range(record.columns)
    d = dict.fromkeys(("was", "added", "taken", "crowd", "old", "carry", "add", "take"), "")
    said: dict[str, list[tuple[float, float, str]]] = {
        "quiet": [], "plain": [], "dark": [], "new": [], "steps": [], "notes": [],
    }  # fmt: skip
    for k, row in enumerate(record.rows[: step + 1]):
        told, changed, now = words(row), set(row.changed), k == step
        kinds = {to: kind for (_, to), kind in zip(row.arcs, row.kinds, strict=True)}
        for c in columns:
            if told[c] == "·":
                look, text = None, "quiet"
            elif now and c in changed:
                look, text = ("taken", "new") if kinds.get(c) == TAKE else ("added", "dark")
            elif c in changed:
                look, text = "was", "plain"
            else:
                look, text = None, "plain" if k == 0 else "quiet"
            if look:
                d[look] += _box(*place.box(c, k))
            if record.columns <= 32 or c in changed:
                said[text].append((*place.middle(c, k), told[c]))
        for c in row.crowded:
            d["crowd"] += place.crowd(c, k)
        for (of, to), kind in zip(row.arcs, row.kinds, strict=True):
            d["old" if not now else "take" if kind == TAKE else "add"] += place.arc(of, to, k)
            if now and kind == ADD:
                d["carry"] += place.arc(to, to, k)
        said["steps"].append((*place.step_name(k), str(k)))
        if row.conflicts:
            said["notes"].append((*place.step_note(record.columns, k), f"+{row.conflicts}"))
    font = place.font
    return h(
        "svg",
        {
            "class": f"gk-scan-{'tall' if turned else 'wide'}",
            "viewBox": f"0 0 {number(place.width)} {number(place.height)}",
            "role": "img",
            "aria-label": f"Values of {record.columns} {record.noun}s after each step",
        },
        h(
            "path",
            {
                "class": "gk-s-row",
                "d": "".join(place.row(record.columns, k) for k in range(step + 1)),
                "stroke-width": place.along,
                "stroke-dasharray": f"{number(place.across)} 1",
            },
        ),
        h("path", {"class": "gk-scan-was", "d": d["was"]}),
        h("path", {"class": "gk-f-work", "d": d["added"]}),
        h("path", {"class": "gk-f-new", "d": d["taken"]}),
        h("path", {"class": "gk-f-clash", "d": d["crowd"]}),
        h("path", {"class": "gk-s-old", "d": d["old"]}),
        h("path", {"class": "gk-s-carry", "d": d["carry"]}),
        h("path", {"class": "gk-s-add", "d": d["add"]}),
        h("path", {"class": "gk-s-take", "d": d["take"]}),
        _texts("gk-tick gk-text-quiet", None, place.ticks(record.columns)),
        _texts("gk-scan-step", None, said["steps"]),
        _texts("gk-text-clash gk-scan-note", None, said["notes"]),
        _texts("gk-scan-word gk-text-quiet", font, said["quiet"]),
        _texts("gk-scan-word gk-text", font, said["plain"]),
        _texts("gk-scan-word gk-on-dark", font, said["dark"]),
        _texts("gk-scan-word gk-on-new", font, said["new"]),
    )
