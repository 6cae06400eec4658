"""MemoryView: where the lanes of one request reach into memory, and what that moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpukernels.checks import check_name_or_none, check_whole_or_none, is_whole
from gpukernels.errors import InvalidArgument
from gpukernels.simt.trace import ATOMIC, REQUEST_KINDS, ArrayInfo, Trace
from gpukernels.views.encoding import pack, pack_lists
from gpukernels.views.figure import Counter, Frame, code_line, count, percent, symbol, track
from gpukernels.views.markup import Element, h, number
from gpukernels.views.transactions import LINE, SECTOR, Cost, cost
from gpukernels.views.widget import View, as_traces, check_step

#: Width of the picture, of its left margin, of a 4-byte word and of the gap between sectors.
WIDTH, LEFT, WORD, GAP = 560.0, 78.0, 14.5, 6.0
#: Height of the row of lanes, and of the space that the wires cross.
LANE_TALL, WIRES = 15.0, 46.0
#: Rows of 128 bytes that are drawn; a request touches at most 32, or 64 with 8-byte elements.
DRAWN_ROWS = 32

_SQUARE = "M1.5 1.5h11v11h-11z"
_USED = symbol(("gk-f-work", _SQUARE, None))
_FETCHED = symbol(("gk-f-fetched", _SQUARE, None), ("gk-s-work", "M1.5 1.5h11v11h-11z", None))
_CLASH = symbol(("gk-f-clash", _SQUARE, None))
_NEEDED = symbol(("gk-f-done", _SQUARE, None))


@dataclass(frozen=True)
class Request:
    """One request: who made it, which elements its lanes touch, and its cost."""

    array: ArrayInfo
    kind: int
    block: int
    warp: int
    line: int
    text: str
    lanes: np.ndarray
    index: np.ndarray
    value: np.ndarray
    cost: Cost

    @property
    def shared(self) -> bool:
        """Whether it goes to shared memory."""
        return self.array.space == "shared"

    @property
    def rows(self) -> np.ndarray:
        """The distinct 128-byte rows touched, ascending."""
        return np.unique(self.index * self.array.itemsize // LINE)

    @property
    def turns(self) -> int:
        """Sectors moved (global) or passes over the banks (shared)."""
        return self.cost.passes if self.shared else self.cost.sectors

    @property
    def least(self) -> int:
        """What `turns` would be at best."""
        return 1 if self.shared else self.cost.ideal


def read_requests(
    trace: Trace,
    *,
    launch: int | None,
    array: str | None,
    line: int | None,
    block: int | None,
    warp: int | None,
    limit: int,
) -> list[Request]:
    """Read the first `limit` requests to global or shared memory that fit every filter given."""
    r = trace.requests
    wanted = [
        i
        for i, a in enumerate(trace.arrays)
        if a.space in ("global", "shared") and array in (None, a.name)
    ]
    chosen = np.isin(r.array, wanted)
    for column, value in ((r.launch, launch), (r.line, line), (r.block, block), (r.warp, warp)):
        if value is not None:
            chosen &= column == value
    found = []
    for row in np.flatnonzero(chosen)[:limit].tolist():
        info = trace.arrays[r.array[row]]
        part = slice(int(r.start[row]), int(r.start[row + 1]))
        lanes = r.lanes(row)
        found.append(
            Request(
                array=info,
                kind=int(r.kind[row]),
                block=int(r.block[row]),
                warp=int(r.warp[row]),
                line=int(r.line[row]),
                text=trace.text(int(r.source[row]), int(r.line[row])).strip(),
                lanes=lanes,
                index=r.index[part],
                value=r.value[part],
                cost=cost(lanes, r.index[part], info.itemsize, atomic=bool(r.kind[row] == ATOMIC)),
            )
        )
    return found


def sentence(number_: int, request: Request) -> str:
    """Say who made a request, and what it costs."""
    who = f"Request {number_}, block {request.block}, warp {request.warp}: "
    c, lanes = request.cost, len(request.lanes)
    verb = {"load": "load", "store": "store to", "atomic": "update"}[REQUEST_KINDS[request.kind]]
    if lanes == 1:
        verb = {"load": "loads", "store to": "stores to", "update": "updates"}[verb]
    elements = c.useful // request.array.itemsize
    said = (
        who + f"{count(lanes, 'lane')} {verb} {count(elements, 'element')} of {request.array.name}"
    )
    if request.shared:
        if c.passes == 1:
            said += ": no bank has to serve two words, one pass."
        else:
            said += (
                f": a bank has to serve {c.passes} words, so {c.passes} passes follow each other."
            )
    else:
        moved = SECTOR * c.sectors
        said += f" in {count(c.sectors, 'sector')} of {count(c.lines, 'line')}"
        said += f", in {c.same} passes: " if request.kind == ATOMIC and c.same > 1 else ": "
        if c.sectors == c.ideal:
            said += f"{moved:,} bytes move, as few as can be."
        else:
            share = percent(c.useful, moved)
            said += f"{moved:,} bytes move for {c.useful:,} that are wanted ({share})."
    if request.kind == ATOMIC and c.same > 1:
        said += f" {c.same} lanes update one element, one after another."
    return said


class MemoryView(View):
    """One request: 32 lanes, the elements they reach, the sectors or banks that answer.

    Parameters
    ----------
    traces : Trace or dict of str to Trace
        One recording, or several to switch between.
    launch : int, optional
        Only requests of this launch.
    array : str, optional
        Only requests to arrays of this name.
    line : int, optional
        Only requests of this source line.
    block, warp : int, optional
        Only requests of this block, this warp of a block; by default of the first of each.
    limit : int
        Most requests shown.
    choice : str
        What the labels of several traces say, as a word beside their list ("Method").
    title, caption : str
        Words above and below.
    step : int
        Request shown first.

    Attributes
    ----------
    step : int
        The request shown; may be set and observed.
    trace : str
        The recording shown, by its label; may be set and observed.

    Raises
    ------
    InvalidArgument
        If no request fits.
    """

    _kind = "memory"

    def __init__(
        self,
        traces: Trace | dict[str, Trace],
        launch: int | None = None,
        array: str | None = None,
        line: int | None = None,
        *,
        block: int | None = 0,
        warp: int | None = 0,
        limit: int = 64,
        choice: str = "Trace",
        title: str = "One memory request of a warp",
        caption: str = "",
        step: int = 0,
    ) -> None:
        check_name_or_none("array", array)
        whole = {"launch": launch, "line": line, "block": block, "warp": warp}
        for name, value in whole.items():
            check_whole_or_none(name, value)
        if not is_whole(limit) or limit < 1:
            raise InvalidArgument("limit", limit, "at least 1")
        self._requests: dict[str, list[Request]] = {}
        for label, trace in as_traces(traces).items():
            found = read_requests(
                trace, launch=launch, array=array, line=line, block=block, warp=warp, limit=limit
            )
            if not found:
                asked = f"launch={launch}, array={array!r}, line={line}, block={block}, warp={warp}"
                names = sorted({a.name for a in trace.arrays if a.space != "local"})
                raise InvalidArgument(
                    f"traces[{label!r}]" if label else "traces",
                    f"no request with {asked}",
                    f"a trace with such requests; its arrays are {', '.join(names) or 'none'}",
                )
            self._requests[label] = found
        labels = list(self._requests)
        check_step(step, len(self._requests[labels[0]]))
        every = [request for found in self._requests.values() for request in found]
        payload = {
            "choice": choice,
            "most": max(request.turns for request in every),
            "traces": [_trace_payload(label, self._requests[label]) for label in labels],
        }
        self._finish(payload, title=title, caption=caption, step=step, labels=labels)

    def _describe(self) -> str:
        return " ".join(
            f"{label + ': ' if label else ''}"
            + " ".join(sentence(k, r) for k, r in enumerate(found[:12]))
            + (f" And {count(len(found) - 12, 'more request')}." if len(found) > 12 else "")
            for label, found in self._requests.items()
        )

    def _summary(self) -> str:
        return "; ".join(
            f"{label + ': ' if label else ''}{count(len(found), 'request')}, "
            f"{sum(r.turns for r in found):,} {_unit(found)}"
            for label, found in self._requests.items()
        )

    def _frame(self, payload: dict[str, Any], step: int) -> Frame:
        found = next(iter(self._requests.values()))
        request = found[step]
        bars = excess = ""
        for k, r in enumerate(found):
            low, high = (34 * v / payload["most"] for v in (r.least, r.turns))
            bars += f"M{k}.1 34v-{number(low)}h.8v{number(low)}z"
            if high > low:
                excess += (
                    f"M{k}.1 {number(34 - low)}v-{number(high - low)}h.8v{number(high - low)}z"
                )
        marks = [
            h("path", {"class": "gk-f-done", "d": bars}),
            h("path", {"class": "gk-f-clash", "d": excess}),
        ]
        tracks = [track(_unit(found), f"most {payload['most']}", len(found), 34, 34, step, marks)]
        return Frame(
            tracks if len(found) > 1 else [],
            [
                code_line(request.line, request.text),
                _picture(request, payload["traces"][0]),
            ],
            _counters(request),
            sentence(step, request),
        )


def _unit(found: list[Request]) -> str:
    shared = {request.shared for request in found}
    return "turns" if len(shared) > 1 else "passes" if True in shared else "sectors"


def row_pitch(rows: int) -> float:
    """Return the distance between rows of memory, smaller the more there are."""
    return float(min(max(round(300 / rows), 10), 24))


def _trace_payload(label: str, found: list[Request]) -> dict[str, Any]:
    rows = max(min(len(request.rows), DRAWN_ROWS) for request in found)
    pitch = row_pitch(rows)
    arrays = sorted({(r.array.name, r.array.itemsize, r.shared) for r in found})
    texts = sorted({(r.line, r.text) for r in found})
    return {
        "label": label,
        "steps": len(found),
        "unit": _unit(found),
        "pitch": pitch,
        "height": LANE_TALL + WIRES + 16 + rows * pitch,
        "arrays": [list(a) for a in arrays],
        "texts": [list(t) for t in texts],
        "array": pack([arrays.index((r.array.name, r.array.itemsize, r.shared)) for r in found]),
        "text": pack([texts.index((r.line, r.text)) for r in found]),
        "kind": pack([r.kind for r in found]),
        "block": pack([r.block for r in found]),
        "warp": pack([r.warp for r in found]),
        "lanes": pack_lists([r.lanes for r in found]),
        "index": pack_lists([r.index for r in found]),
        "value": pack(np.concatenate([r.value for r in found])),
        "costs": pack(
            [
                [c.sectors, c.lines, c.ideal, c.useful, c.passes, c.same]
                for c in (r.cost for r in found)
            ]
        ),
        "sentences": [sentence(k, r) for k, r in enumerate(found)],
    }


def _x(byte: float) -> float:
    """Return where a byte of a 128-byte row stands."""
    return LEFT + byte / 4 * WORD + GAP * (byte // SECTOR)


def _cells(places: list[tuple[float, float, float]], tall: float) -> str:
    return "".join(
        f"M{number(x)} {number(y)}h{number(w)}v{number(tall)}h-{number(w)}z" for x, y, w in places
    )


def _picture(request: Request, trace: dict[str, Any]) -> Element:
    pitch, size = trace["pitch"], request.array.itemsize
    top, tall = LANE_TALL + WIRES, pitch - 4
    lanes = dict(zip(request.lanes.tolist(), request.index.tolist(), strict=True))
    rows = request.rows[:DRAWN_ROWS].tolist()
    level = {row: k for k, row in enumerate(rows)}
    crowded = _crowded_banks(request)
    idle = [(_x(4 * k) + 0.75, 0.0, WORD - 1.5) for k in range(32) if k not in lanes]
    busy = [(_x(4 * k) + 0.75, 0.0, WORD - 1.5) for k in lanes]
    sectors, words, wanted, clashing = [], [], {}, {}
    touched = {i * size // SECTOR for i in lanes.values()}
    for row in rows:
        y = top + 16 + level[row] * pitch
        for s in range(LINE // SECTOR):
            # Shared memory has no sectors: a whole row of banks is always at hand.
            fetched = not request.shared and row * 4 + s in touched
            place = (_x(SECTOR * s), y, 8 * WORD)
            (sectors if fetched else words).append(place)
    wires = {"gk-wire": "", "gk-wire-clash": ""}
    for lane, element in lanes.items():
        byte = element * size
        if byte // LINE not in level:
            continue
        y = top + 16 + level[byte // LINE] * pitch
        x = _x(byte % LINE)
        wide = max(size / 4 * WORD, 2.0)
        clash = byte // 4 % 32 in crowded
        (clashing if clash else wanted)[element] = (x + 0.5, y, wide - 1.0)
        a, b = _x(4 * lane) + WORD / 2, x + wide / 2
        wires["gk-wire-clash" if clash else "gk-wire"] += (
            f"M{number(a)} {number(LANE_TALL)}C{number(a)} {number(LANE_TALL + 26)} "
            f"{number(b)} {number(y - 26)} {number(b)} {number(y)}"
        )
    labels = [
        h(
            "text",
            {
                "class": "gk-row-label",
                "x": LEFT - 8,
                "y": top + 16 + level[row] * pitch + tall / 2 + 3.5,
            },
            f"[{row * LINE // size}]",
        )
        for row in labeled_rows(rows, pitch)
    ]
    ticks = [
        h(
            "text",
            {
                "class": f"gk-tick{'' if k in (0, 8, 16, 24, 31) else ' gk-tick-fine'}"
                f"{' gk-on-dark' if k in lanes else ' gk-text-quiet'}",
                "x": _x(4 * k) + WORD / 2,
                "y": 11,
            },
            str(k),
        )
        for k in range(32)
    ]
    heads = (
        [(_x(SECTOR * s) + 4 * WORD, f"banks {8 * s}–{8 * s + 7}") for s in range(4)]
        if request.shared
        else [(_x(SECTOR * s) + 4 * WORD, f"sector {s}") for s in range(4)]
    )
    return h(
        "svg",
        {
            "class": "gk-addresses",
            "viewBox": f"0 0 {number(WIDTH)} {number(trace['height'])}",
            "role": "img",
            "aria-label": "Lanes and the memory that they reach",
        },
        h("text", {"class": "gk-row-label", "x": LEFT - 8, "y": 11}, "lanes"),
        h("path", {"class": "gk-f-faint", "d": _cells(idle, LANE_TALL)}),
        h("path", {"class": "gk-f-work", "d": _cells(busy, LANE_TALL)}),
        h("g", {"class": "gk-ticks"}, *ticks),
        h("path", {"class": "gk-f-faint", "d": _cells(words, tall)}),
        h("path", {"class": "gk-f-fetched", "d": _cells(sectors, tall)}),
        h("path", {"class": "gk-f-work", "d": _cells(list(wanted.values()), tall)}),
        h("path", {"class": "gk-f-clash", "d": _cells(list(clashing.values()), tall)}),
        h("path", {"class": "gk-wire", "d": wires["gk-wire"]}),
        h("path", {"class": "gk-wire-clash", "d": wires["gk-wire-clash"]}),
        h(
            "g",
            {"class": "gk-heads"},
            *(h("text", {"class": "gk-text-quiet", "x": x, "y": top + 10}, t) for x, t in heads),
        ),
        h("text", {"class": "gk-array-name", "x": 0, "y": top + 10}, request.array.name),
        h("g", {"class": "gk-row-labels"}, *labels),
    )


def labeled_rows(rows: list[int], pitch: float) -> list[int]:
    """Return the rows that carry a label: all of them, or every other where they are close."""
    return rows if pitch >= 13 else rows[::2]


def _crowded_banks(request: Request) -> set[int]:
    """Return the banks that have to serve more than one word, for shared memory."""
    if not request.shared:
        return set()
    words = np.unique(request.index * request.array.itemsize // 4)
    banks, times = np.unique(words % 32, return_counts=True)
    return set(banks[times > 1].tolist()) if request.cost.passes > 1 else set()


def _counters(request: Request) -> list[Counter]:
    c = request.cost
    if request.shared:
        return [
            Counter(_USED, "lanes", str(len(request.lanes))),
            Counter(None, "4-byte words", str(-(-c.useful // 4))),
            Counter(_NEEDED, "passes", str(c.passes)),
            Counter(_CLASH, "avoidable passes", str(c.passes - 1)),
        ]
    return [
        Counter(_USED, "bytes wanted", f"{c.useful:,}"),
        Counter(_FETCHED, "bytes moved", f"{SECTOR * c.sectors:,}"),
        Counter(_NEEDED, "sectors", str(c.sectors)),
        Counter(_CLASH, "avoidable sectors", str(c.sectors - c.ideal)),
    ]
