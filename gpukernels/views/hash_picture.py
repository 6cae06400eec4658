"""The picture of HashView: lanes that store, the slots of the table, lanes that read."""

from __future__ import annotations

from gpukernels.views.hash_record import (
    AGAIN,
    DUPLICATE,
    ELSEWHERE,
    FIRST,
    READS,
    HashRecord,
    Word,
)
from gpukernels.views.hash_words import name_of
from gpukernels.views.markup import Element, h, number

#: What stands under a lane: its own word came back, a duplicate, nobody can tell, missed.
SIGNS = (
    "m-3.2 .2l2.3 2.5l4 -5.2",
    "m-2.6 -2.6l5.2 5.2m0 -5.2l-5.2 5.2",
    "m-2.2 -1.6c0 -2.8 4.6 -2.8 4.6 0c0 1.5 -2.3 1.5 -2.3 3.2m0 2.1h0",
)
MISSED_SIGN = "m0 -3.6v4.2m0 3.1h0"
LOOKS = ("gk-f-new", "gk-f-done", "gk-f-barrier")
_WIRES = ("gk-s-valid", "gk-s-duplicate", "gk-s-conflict")


class Layout:
    """Where everything stands: 32 lanes and slots a row or, for phones, 16.

    ``js/hash.js`` holds the same numbers.
    """

    def __init__(self, record: HashRecord, narrow: bool) -> None:
        slots = record.slots
        longest = max(len(name_of(word.vertex)) for word in record.words)
        self.narrow = narrow
        self.columns = 16 if narrow else 32
        self.column = 19.6 if narrow else 18.4
        self.left = 40.0 if narrow else 68.0
        self.lanes = 32 // self.columns
        self.rows = -(-slots // self.columns)
        # Few slots have room for vertex and thread, more for the vertex, many for a color.
        self.tall = 24.0 if slots <= 128 else 13.0 if slots <= 256 else 7.0
        self.lane_pitch, self.read_pitch = 39.0, 54.0
        self.table = 4 + self.lanes * self.lane_pitch + 42
        self.reads = self.table + self.rows * (self.tall + 1) + 44
        self.width = self.left + self.columns * self.column + 2
        self.height = self.reads + self.lanes * self.read_pitch + 9
        self.font = max(min(9.0, (self.column - 1) / (0.68 * longest)), 4.5)

    def x(self, place: int) -> float:
        """Return the left edge of a lane's or a slot's cell."""
        return self.left + place % self.columns * self.column

    def lane(self, lane: int) -> tuple[float, float]:
        """Return the corner of the cell with what a lane stores."""
        return self.x(lane), 15 + lane // self.columns * self.lane_pitch

    def slot(self, slot: int) -> tuple[float, float]:
        """Return the corner of a slot's cell."""
        return self.x(slot), self.table + slot // self.columns * (self.tall + 1)

    def read(self, lane: int) -> tuple[float, float]:
        """Return the corner of the cell with what a lane reads."""
        return self.x(lane), self.reads + lane // self.columns * self.read_pitch

    def plates(self) -> str:
        """Return what lies between two rows of lanes and the wires that pass behind."""
        if not self.narrow:
            return ""
        wide = self.columns * self.column
        x, y = self.lane(16)
        u, v = self.read(0)
        return _box(x, y - 12, wide, 36.0) + _box(u, v, wide, 49.0)

    def cell(self, corner: tuple[float, float], tall: float = 24.0) -> str:
        """Return a cell's outline."""
        return _box(corner[0] + 0.5, corner[1], self.column - 1, tall)

    def mark(self, corner: tuple[float, float], down: float) -> tuple[float, float]:
        """Return a place below the top of a cell, in its middle."""
        return corner[0] + self.column / 2, corner[1] + down

    def wire(self, above: tuple[float, float], below: tuple[float, float], tall: float) -> str:
        """Return the curve from the foot of one cell to the head of another."""
        a, b = self.mark(above, tall)
        c, d = self.mark(below, 0)
        bow = 0.5 * (d - b)
        return _curve(a, b, a, b + bow, c, d - bow, c, d)


def _curve(*p: float) -> str:
    a, b, *rest = (number(v) for v in p)
    return f"M{a} {b}C{' '.join(rest)}"


def _box(x: float, y: float, w: float, t: float) -> str:
    return f"M{number(x)} {number(y)}h{number(w)}v{number(t)}h-{number(w)}z"


def _texts(name: str, font: float | None, found: list[tuple[float, float, str]]) -> Element:
    style = None if font is None else f"font-size:{number(font)}px"
    marks = (h("tspan", {"x": x, "y": y}, word) for x, y, word in found)
    return h("text", {"class": name, "style": style}, *marks)


def _labels(place: Layout, slots: int) -> list[tuple[float, float, str]]:
    """Return what the rows are, at their left."""
    x = place.left - 6
    stores, reads = ("stores", "reads") if place.narrow else ("lane stores", "lane reads")
    found = []
    for first in range(0, 32, place.columns):
        y = place.lane(first)[1]
        found += [(x, y - 4, stores), (x, y + 10.5, "vertex"), (x, y + 20.5, "thread")]
    every = 1 if place.tall >= 13 else 4
    for first in range(0, slots, every * place.columns):
        found.append((x, place.slot(first)[1] + place.tall / 2 + 3, f"[{first}]"))
    for first in range(0, 32, place.columns):
        y = place.read(first)[1]
        found += [
            (x, y - 4, "" if first else reads), (x, y + 10.5, "vertex"), (x, y + 20.5, "thread"),
            (x, y + 34, "verdict"), (x, y + 46, "lane"),
        ]  # fmt: skip
    return found


def picture(record: HashRecord, step: int, vertex: int, narrow: bool) -> Element:
    """Draw lanes, table and lanes again as they are after a step."""
    place, now = Layout(record, narrow), record.steps[step]
    held = record.table(step)
    words = {record.words[i].lane: i for i in now.words}
    reading = now.kind == READS
    cells = dict.fromkeys(("empty", "held", "written", "idle", "stored", "storing"), "")
    verdicts, wires = ["", "", ""], ["", "", "", "", ""]
    clash = signs = missed = elsewhere = follow = ""
    said: dict[str, list[tuple[float, float, str]]] = {}

    def write(look: str, corner: tuple[float, float], word: Word, thread: bool = True) -> None:
        down = 10.5 if thread else 9.7
        said.setdefault(look, []).append((*place.mark(corner, down), name_of(word.vertex)))
        if thread:
            said.setdefault(look + " t", []).append(
                (*place.mark(corner, 20.5), "" if word.vertex < 0 else str(word.thread))
            )

    here: dict[int, list[int]] = {}
    for i in now.words:
        here.setdefault(record.words[i].slot, []).append(i)
    for slot in range(record.slots):
        corner = place.slot(slot)
        written = not reading and slot in here
        look = "written" if written else "held" if slot in held else "empty"
        cells[look] += place.cell(corner, place.tall)
        if slot in held:
            word = record.words[held[slot]]
            if place.tall >= 13:
                write("dark" if written else "plain", corner, word, place.tall == 24)
            if word.vertex == vertex:
                follow += place.cell(corner, place.tall)
        if written and len(here[slot]) > 1:
            clash += _box(corner[0] + 0.5, corner[1] + place.tall - 2, place.column - 1, 2.0)
    for lane in range(32):
        top, foot = place.lane(lane), place.read(lane)
        if lane not in words:
            cells["idle"] += place.cell(top) + place.cell(foot)
            continue
        i = words[lane]
        word = record.words[i]
        cells["stored" if reading else "storing"] += place.cell(top)
        write("plain" if reading else "dark", top, word)
        if word.vertex == vertex:
            follow += place.cell(top)
        if not reading:
            cells["idle"] += place.cell(foot)
            wires[held[word.slot] != i] += place.wire(top, place.slot(word.slot), 24)
            continue
        verdicts[word.verdict] += place.cell(foot)
        write("dark" if word.verdict == DUPLICATE else "new", foot, record.words[word.seen])
        wires[2 + word.verdict] += place.wire(place.slot(word.slot), foot, place.tall)
        if word.vertex == vertex:
            follow += place.cell(foot)
        x, y = place.mark(foot, 31)
        signs += f"M{number(x - 3.5 * (word.kept != FIRST))} {number(y)}{SIGNS[word.verdict]}"
        if word.kept != FIRST:
            mark = f"M{number(x + 4.5)} {number(y)}{MISSED_SIGN}"
            missed += mark if word.kept == AGAIN else ""
            elsewhere += mark if word.kept == ELSEWHERE else ""
        if word.kept == AGAIN:
            clash += _box(foot[0] + 0.5, foot[1] + 22, place.column - 1, 2.0)
    ticks = [
        (*place.mark(corner(lane), down), str(lane))
        for corner, down in ((place.lane, -4.0), (place.read, 46.0))
        for lane in range(32)
    ]
    font = place.font
    return h(
        "svg",
        {
            "class": f"gk-hash-{'narrow' if narrow else 'wide'}",
            "viewBox": f"0 0 {number(place.width)} {number(place.height)}",
            "role": "img",
            "aria-label": f"Lanes of a warp and {record.slots} slots of {record.array}",
        },
        h("path", {"class": "gk-f-faint", "d": cells["empty"]}),
        h("path", {"class": "gk-scan-was", "d": cells["held"]}),
        h("path", {"class": "gk-f-work", "d": cells["written"]}),
        *(
            h("path", {"class": name, "d": d})
            for name, d in zip(("gk-wire", "gk-wire-clash", *_WIRES), wires, strict=True)
        ),
        h("path", {"class": "gk-f-paper", "d": place.plates()}),
        h("path", {"class": "gk-f-faint", "d": cells["idle"]}),
        h("path", {"class": "gk-scan-was", "d": cells["stored"]}),
        h("path", {"class": "gk-f-work", "d": cells["storing"]}),
        *(h("path", {"class": name, "d": d}) for name, d in zip(LOOKS, verdicts, strict=True)),
        h("path", {"class": "gk-f-clash", "d": clash}),
        h("path", {"class": "gk-s-sign", "d": signs + elsewhere}),
        h("path", {"class": "gk-s-missed", "d": missed}),
        h("path", {"class": "gk-s-now", "d": follow}),
        _texts("gk-tick gk-text-quiet", None, ticks),
        _texts("gk-hash-label", None, _labels(place, record.slots)),
        _texts("gk-array-name", None, [(0.0, place.table - 7, record.array)]),
        *(
            _texts(f"gk-scan-word {name}", 7.0 if thread else font, said.get(look + thread, []))
            for look, name in (("plain", "gk-text"), ("dark", "gk-on-dark"), ("new", "gk-on-new"))
            for thread in ("", " t")
        ),
    )
