"""WarpView: the lanes of a warp, or of every warp of a block, step by step beside the source."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukernels.checks import is_whole
from gpukernels.errors import InvalidArgument
from gpukernels.simt.trace import BARRIER, BRANCH, REQUEST_KINDS, Trace
from gpukernels.views.encoding import pack
from gpukernels.views.figure import Counter, Frame, count, percent, symbol, track
from gpukernels.views.markup import Element, h, number
from gpukernels.views.warp_record import Access, Row, WarpRecord, read_warps
from gpukernels.views.widget import View, as_traces, check_step

_SQUARE = "M1.5 1.5h11v11h-11z"
_SYMBOLS = {
    "active": symbol(("gk-f-work", _SQUARE, None)),
    "taken": symbol(("gk-f-new", _SQUARE, None)),
    "avoidable": symbol(("gk-f-clash", _SQUARE, None)),
    "waits": symbol(("gk-f-wait", "M1.5 4.5h11v5h-11z", None)),
}


def _lanes(mask: int) -> int:
    return int(mask).bit_count()


def lane_path(masks: list[int]) -> str:
    """Return the path of the lanes set in each step's mask, as few rectangles as runs allow."""
    done: list[str] = []
    open_runs: dict[int, int] = {}

    def close(run: int, x: int) -> None:
        y, tall = divmod(run, 64)
        wide = x - open_runs.pop(run)
        done.append(f"M{x - wide} {y}h{wide}v{tall}h-{wide}z")

    for x, mask in enumerate([*masks, 0]):
        runs, lane = [], 0
        while mask >> lane:
            if mask >> lane & 1:
                tall = 1
                while mask >> (lane + tall) & 1:
                    tall += 1
                runs.append(lane * 64 + tall)
                lane += tall
            else:
                lane += 1
        for run in sorted(open_runs):
            if run not in runs:
                close(run, x)
        for run in runs:
            open_runs.setdefault(run, x)
    return "".join(done)


def lane_layers(record: WarpRecord) -> list[tuple[str, list[int]]]:
    """Return the layers of a warp's grid: the class of each, and the lanes it has at every step."""
    layers: dict[str, list[int]] = {
        name: [0] * len(record) for name in ("gk-f-work", "gk-f-barrier", "gk-f-new", "gk-f-wait")
    }
    for k, (kind, mask, taken) in enumerate(
        zip(record.kind.tolist(), record.mask.tolist(), record.taken.tolist(), strict=True)
    ):
        if kind == BRANCH and taken and taken != mask:
            layers["gk-f-new"][k], layers["gk-f-wait"][k] = taken, mask & ~taken
        else:
            layers["gk-f-barrier" if kind == BARRIER else "gk-f-work"][k] = mask
    return list(layers.items())


def _strip_path(mask: int, top: float, tall: float) -> str:
    return "".join(
        f"M{number(4 * lane + 0.3)} {number(top)}h3.4v{number(tall)}h-3.4z"
        for lane in range(32)
        if mask >> lane & 1
    )


def lane_strip(kind: int | None, mask: int, taken: int) -> Element:
    """Return the 32 lanes of a line's latest step as a row of cells."""
    splits = kind == BRANCH and taken and taken != mask
    paint = "gk-f-barrier" if kind == BARRIER else "gk-f-work"
    return h(
        "svg",
        {
            "class": "gk-lanes",
            "viewBox": "0 0 128 12",
            "preserveAspectRatio": "none",
            "aria-hidden": "true",
            "width": 128,
            "height": 12,
        },
        h("path", {"class": "gk-f-faint", "d": _strip_path(0xFFFFFFFF if mask else 0, 5, 2)}),
        h("path", {"class": paint, "d": "" if splits else _strip_path(mask, 0, 12)}),
        h("path", {"class": "gk-f-new", "d": _strip_path(taken, 0, 12) if splits else ""}),
        h(
            "path",
            {"class": "gk-f-wait", "d": _strip_path(mask & ~taken, 3, 6) if splits else ""},
        ),
    )


def _access_words(access: Access) -> str:
    verb = {"load": "Loads", "store": "Stores", "atomic": "Atomic on"}[REQUEST_KINDS[access.kind]]
    lanes = count(access.lanes, "lane")
    if access.shared:
        if access.cost == 1:
            return f"{verb} {access.array} in shared memory: {lanes}, no bank conflict."
        return (
            f"{verb} {access.array} in shared memory: {lanes}, {access.cost} passes over the banks."
        )
    if access.cost == access.least:
        return f"{verb} {access.array}: {lanes}, {count(access.cost, 'sector')}, as few as can be."
    return (
        f"{verb} {access.array}: {lanes}, {count(access.cost, 'sector')} where "
        f"{access.least} would hold the data."
    )


def sentence(rows: list[Row], record: WarpRecord, step: int, start: int, several: bool) -> str:
    """Say what one warp does at one step."""
    who = f"Warp {record.warp}, step {start + step}" if several else f"Step {start + step}"
    if step >= len(record):
        return f"{who}: the warp has ended."
    line = rows[record.row[step]].number
    mask, taken, kind = (int(c[step]) for c in (record.mask, record.taken, record.kind))
    active, entering = _lanes(mask), _lanes(taken)
    if kind == BARRIER:
        said = f"{who}, line {line}: {count(active, 'lane')} at the barrier."
    elif kind == BRANCH and record.splits[step]:
        said = f"{who}, line {line}: the branch parts {active} lanes, {entering} go in"
        said += f" and {active - entering} do not."
    elif kind == BRANCH:
        way = "all go in" if taken else "none goes in"
        said = f"{who}, line {line}: {count(active, 'active lane')}, {way}."
    else:
        said = f"{who}, line {line}: {active} of 32 lanes active."
    here = [_access_words(a) for a in record.accesses if a.step == step]
    return " ".join([said, *here])


class WarpView(View):
    """Lanes by steps: which lanes of a warp are active at each step, and on which source line.

    Parameters
    ----------
    traces : Trace or dict of str to Trace
        One recording, or several to switch between.
    launch : int
        Index of the launch within each trace.
    block : int
        Linear index of the block.
    warp : int, optional
        The warp within the block; by default every warp of it.
    start, limit : int
        First step shown, and most steps shown.
    choice : str
        What the labels of several traces say, as a word beside their list ("Method").
    title, caption : str
        Words above and below; the title defaults to the kernel's name.
    step : int
        Step shown first, counted from `start`.

    Attributes
    ----------
    step : int
        The step shown, counted from `start`; may be set and observed.
    trace : str
        The recording shown, by its label; may be set and observed.

    Raises
    ------
    InvalidArgument
        If there is no such launch, block, warp or step.
    """

    _kind = "warp"

    def __init__(
        self,
        traces: Trace | dict[str, Trace],
        launch: int = 0,
        block: int = 0,
        warp: int | None = None,
        *,
        start: int = 0,
        limit: int = 512,
        choice: str = "Trace",
        title: str | None = None,
        caption: str = "",
        step: int = 0,
    ) -> None:
        if not is_whole(limit) or limit < 1:
            raise InvalidArgument("limit", limit, "at least 1")
        if not is_whole(start) or start < 0:
            raise InvalidArgument("start", start, "at least 0")
        start, limit = int(start), int(limit)  # sums of NumPy's integers may wrap
        self._start, self._block = start, block
        self._read: dict[str, tuple[list[Row], list[WarpRecord]]] = {}
        kernels = []
        for label, trace in as_traces(traces).items():
            rows, records = read_warps(trace, launch, block, warp, start, limit)
            if not max(len(record) for record in records):
                raise InvalidArgument("start", start, "less than the number of recorded steps")
            self._read[label] = rows, records
            kernels.append(trace.launches[launch].kernel)
        self._kernel = kernels[0]
        labels = list(self._read)
        check_step(step, self._count(labels[0]))
        payload = {
            "choice": choice,
            "start": start,
            "block": block,
            "mostSectors": max(1, *(int(self._sectors(k)[0].max()) for k in labels)),
            "traces": [self._trace_payload(label) for label in labels],
        }
        if title is None:
            title = f"{self._kernel}, block {block}" + ("" if warp is None else f", warp {warp}")
        self._finish(payload, title=title, caption=caption, step=step, labels=labels)

    def _count(self, label: str) -> int:
        return max(len(record) for record in self._read[label][1])

    def _sectors(self, label: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the global sectors of each step over all warps, and the least that would do."""
        moved, least = np.zeros((2, self._count(label)), dtype=np.int64)
        for record in self._read[label][1]:
            for access in record.accesses:
                if not access.shared:
                    moved[access.step] += access.cost
                    least[access.step] += access.least
        return moved, least

    def _trace_payload(self, label: str) -> dict[str, Any]:
        rows, records = self._read[label]
        names = sorted({a.array for record in records for a in record.accesses})
        return {
            "label": label,
            "steps": self._count(label),
            "total": max(record.total for record in records),
            "numbers": pack([row.number for row in rows]),
            "indents": pack([row.indent for row in rows]),
            "texts": [row.text for row in rows],
            "arrays": names,
            "warps": [
                {
                    "warp": record.warp,
                    "row": pack(record.row),
                    "kind": pack(record.kind),
                    "mask": pack(record.mask),
                    "taken": pack(record.taken),
                    "at": pack([a.step for a in record.accesses]),
                    "array": pack([names.index(a.array) for a in record.accesses]),
                    "access": pack([a.kind + 4 * a.shared for a in record.accesses]),
                    "lanes": pack([a.lanes for a in record.accesses]),
                    "cost": pack([a.cost for a in record.accesses]),
                    "least": pack([a.least for a in record.accesses]),
                }
                for record in records
            ],
        }

    def _describe(self) -> str:
        said = []
        for label in self._read:
            rows, records = self._read[label]
            steps = sum(len(record) for record in records)
            lanes = sum(_lanes(m) for record in records for m in record.mask.tolist())
            splits = sum(int(record.splits.sum()) for record in records)
            said.append(
                f"{label + ': ' if label else ''}{count(len(records), 'warp')} of block "
                f"{self._block} ran {count(steps, 'step')}, with on average "
                f"{percent(lanes, 32 * steps)} of the lanes active and "
                f"{count(splits, 'divergent branch', 'divergent branches')}."
            )
            for line in sorted({int(r) for record in records for r in record.row}):
                at = [(record, np.flatnonzero(record.row == line)) for record in records]
                times = sum(len(where) for _, where in at)
                mean = sum(_lanes(m) for record, where in at for m in record.mask[where].tolist())
                said.append(
                    f"Line {rows[line].number} ({rows[line].text}): {count(times, 'time')}, "
                    f"{mean / times:.1f} lanes."
                )
        return " ".join(said)

    def _summary(self) -> str:
        runs = ", ".join(
            f"{label + ': ' if label else ''}{count(len(self._read[label][1]), 'warp')}, "
            f"{count(self._count(label), 'step')}"
            for label in self._read
        )
        return f"{self._kernel}; {runs}"

    def _frame(self, payload: dict[str, Any], step: int) -> Frame:
        label = next(iter(self._read))
        rows, records = self._read[label]
        return Frame(
            self._tracks(payload, label, step),
            [_listing(rows, records[0], step)],
            _counters(records, step),
            sentence(rows, records[0], step, self._start, len(records) > 1),
        )

    def _tracks(self, payload: dict[str, Any], label: str, step: int) -> list[Element]:
        records, steps = self._read[label][1], self._count(label)
        each = strip_height(len(records))
        tracks = []
        for record in records:
            marks = [
                h(
                    "rect",
                    {"class": "gk-f-idle", "x": 0, "y": 0, "width": len(record), "height": 32},
                )
            ]
            marks += [h("path", {"class": c, "d": lane_path(m)}) for c, m in lane_layers(record)]
            marks.append(h("path", {"class": "gk-s-grid", "d": grid_path(len(record), each)}))
            name = f"warp {record.warp}"
            tracks.append(track(name, "lanes 0–31", steps, each, 32, step, marks, dim=True))
        moved, least = self._sectors(label)
        if moved.any():
            bars, excess = "", ""
            for k in np.flatnonzero(moved).tolist():
                low, high = (30 * v / payload["mostSectors"] for v in (least[k], moved[k]))
                bars += f"M{k} 30v-{number(low)}h1v{number(low)}z"
                if high > low:
                    excess += (
                        f"M{k} {number(30 - low)}v-{number(high - low)}h1v{number(high - low)}z"
                    )
            marks = [
                h("path", {"class": "gk-f-done", "d": bars}),
                h("path", {"class": "gk-f-clash", "d": excess}),
            ]
            note = f"most {payload['mostSectors']}"
            tracks.append(track("sectors", note, steps, 30, 30, step, marks, dim=True))
        return tracks


def strip_height(warps: int) -> int:
    """Return the height of one warp's grid in CSS pixels."""
    return (
        160 if warps == 1 else 96 if warps == 2 else 64 if warps <= 4 else 32 if warps <= 8 else 16
    )


def grid_path(steps: int, height: int) -> str:
    """Return the rules between lanes and between steps, where they are far enough apart."""
    rules = "".join(f"M0 {lane}h{steps}" for lane in range(1, 32)) if height >= 96 else ""
    return rules + ("".join(f"M{k} 0v32" for k in range(1, steps)) if steps <= 100 else "")


def _counters(records: list[WarpRecord], step: int) -> list[Counter]:
    front = records[0]
    mask = int(front.mask[step]) if step < len(front) else 0
    taken = int(front.taken[step]) if step < len(front) and front.splits[step] else 0
    steps = sum(min(step + 1, len(record)) for record in records)
    lanes = sum(_lanes(m) for record in records for m in record.mask[: step + 1].tolist())
    splits = sum(int(record.splits[: step + 1].sum()) for record in records)
    moved = [
        a.cost for record in records for a in record.accesses if a.step <= step and not a.shared
    ]
    spare = sum(a.cost - a.least for record in records for a in record.accesses
                if a.step <= step and not a.shared)  # fmt: skip
    shared = [
        a.cost - 1 for record in records for a in record.accesses if a.step <= step and a.shared
    ]
    every = [a.shared for record in records for a in record.accesses]
    counters = [
        Counter(_SYMBOLS["active"], "lanes active", f"{_lanes(mask)} of 32"),
        Counter(_SYMBOLS["taken"], "branch taken by", str(_lanes(taken)) if taken else "–"),
        Counter(_SYMBOLS["waits"], "not taken by", str(_lanes(mask & ~taken)) if taken else "–"),
        Counter(None, "warp steps so far", f"{steps:,}"),
        Counter(None, "SIMD efficiency", percent(lanes, 32 * steps)),
        Counter(None, "divergent branches", f"{splits:,}"),
    ]
    if False in every:
        mean = f"{sum(moved) / len(moved):.1f}" if moved else "–"
        counters.append(Counter(None, "sectors a request", mean))
        counters.append(Counter(_SYMBOLS["avoidable"], "avoidable sectors", f"{spare:,}"))
    if True in every:
        counters.append(Counter(None, "bank conflicts", f"{sum(shared):,}"))
    return counters


def _listing(rows: list[Row], record: WarpRecord, step: int) -> Element:
    lines = []
    for at, row in enumerate(rows):
        ran = np.flatnonzero(record.row[: step + 1] == at)
        now = step < len(record) and record.row[step] == at
        gap = "" if row.number else " gk-row-gap"
        last = int(ran[-1]) if ran.size else None
        kind, mask, taken = (
            (None, 0, 0)
            if last is None
            else (int(record.kind[last]), int(record.mask[last]), int(record.taken[last]))
        )
        lines.append(
            h(
                "div",
                {"class": f"gk-row{' gk-row-now' if now else ''}{gap}"},
                h("span", {"class": "gk-num"}, str(row.number or "")),
                h("code", {"style": f"--in:{row.indent}"}, row.text),
                lane_strip(kind, mask, taken),
                h("span", {"class": "gk-times"}, f"×{ran.size}" if ran.size else ""),
            )
        )
    return h("div", {"class": "gk-program"}, *lines)
