"""Every number that a figure prints in a cell is the trace's, in every frame, where it stands."""

from __future__ import annotations

import json
from collections import Counter, defaultdict

import numpy as np
import pytest
from filter_kernels import filter_small, filtered, some_candidates
from printed import Part, read_frames
from test_views import (  # noqa: F401
    EIGHT,
    EXAMPLE,
    HOLES,
    TRACES,
    expanded,
    folder,
    open_figures,
)

import gpukernels as gk
from gpukernels.trace import LOAD, STORE
from gpukernels.views import FrontierView, HashView, MappingView, MemoryView

UNITS = Part(".gk-map-strip", ".gk-u-dark tspan", ".gk-u-todo, " + ", ".join(
    f".gk-u-{k}" for k in range(8)))  # fmt: skip
SECTORS = Part(
    ".gk-map-strip", ".gk-u-once tspan, .gk-u-often tspan", ".gk-f-faint, .gk-u-one, .gk-u-many"
)
LEVELS = ("thread", "warp", "block")


def visits(trace, units):
    """Who visits each unit in which round and request: ``{level: [...], ...}``, from the trace."""
    r = trace.requests
    found = {name: [None] * units for name in (*LEVELS, "round", "request")}
    (item,) = trace.array_named("item")
    before, rounds = Counter(), Counter()
    for launch in trace.launches:
        stores = np.flatnonzero((r.launch == launch.index) & (r.array == item) & (r.kind == STORE))
        rounds.clear()
        for row in stores.tolist():
            warp = int(r.block[row]) * launch.warps_per_block + int(r.warp[row])
            first = int(r.block[row]) * launch.threads_per_block + 32 * int(r.warp[row])
            own = {"warp": warp, "block": int(r.block[row]), "round": rounds[warp]}
            rounds[warp] += 1
            units_here = r.index[r.start[row] : r.start[row + 1]].tolist()
            for lane, unit in zip(r.lanes(row).tolist(), units_here, strict=True):
                for name, value in (own | {"thread": first + lane}).items():
                    found[name][unit] = before[name] + value
                found["request"][unit] = row
        if stores.size:
            before["thread"] += launch.blocks * launch.threads_per_block
            before["warp"] += launch.blocks * launch.warps_per_block
            before["block"] += launch.blocks
            before["round"] += max(rounds.values())
    return found


def sectors_moved(who, step):
    """How often each sector of eight 4-byte units is moved up to a round, as it is written."""
    sectors = defaultdict(set)
    for unit, (turn, request) in enumerate(zip(who["round"], who["request"], strict=True)):
        sectors[unit // 8] |= {request} if turn <= step else set()
    return [f"×{len(sectors[s])}" if sectors[s] else "" for s in sorted(sectors)]


def mapping_truth(name):
    offsets = {"eight": EIGHT, "holes": HOLES}[name]
    return [visits(t.trace, int(offsets[-1])) for t in expanded(offsets).values()]


def test_units_are_marked_with_who_visits_them_where_they_lie(open_figures):  # noqa: F811
    frames = read_frames(open_figures(["mapping"]), [UNITS, SECTORS], ("Workload", "Color by"))
    truth = {name: mapping_truth(name) for name in ("eight", "holes")}
    for name, methods in truth.items():
        rounds = max(max(who["round"]) for who in methods) + 1
        assert sum(chosen[0] == name for chosen, _, _ in frames) == 3 * rounds
    for (name, level), step, (strips, bars) in frames:
        for who, strip, bar in zip(truth[name], strips, bars, strict=True):
            seen = [turn <= step for turn in who["round"]]
            words = [str(k) if s else "" for k, s in zip(who[level], seen, strict=True)]
            looks = [
                f"gk-u-{k % 8}" if s else "gk-u-todo" for k, s in zip(who[level], seen, strict=True)
            ]
            where = name, level, step
            assert (where, strip.words, strip.astray) == (where, words, [])
            assert strip.looks == looks
            assert (where, bar.words, bar.astray) == (where, sectors_moved(who, step), [])


@pytest.mark.parametrize("level", LEVELS)
def test_units_are_marked_where_they_lie_without_scripts(open_figures, level):  # noqa: F811
    step = 3
    views = {"strips": MappingView(expanded(HOLES), HOLES, color=level, step=step)}
    page = open_figures(["strips"], scripts=False, views=views)
    ((_, _, (strips, bars)),) = read_frames(page, [UNITS, SECTORS])
    for who, strip, bar in zip(mapping_truth("holes"), strips, bars, strict=True):
        pairs = zip(who[level], who["round"], strict=True)
        assert strip.words == [str(k) if turn <= step else "" for k, turn in pairs]
        assert bar.words == sectors_moved(who, step)
        assert strip.astray + bar.astray == []


DOTS = "gk-dot-unseen gk-dot-done gk-dot-work gk-dot-new gk-dot-clash".split()
LABELS = Part(".gk-graph", ".gk-labels text", ", ".join(f".gk-graph > .{look}" for look in DOTS))
RINGS = Part(".gk-graph", ".gk-labels text", ".gk-dot-clash")
#: A badge stands above its vertex, at the right or, near the edge of the picture, at the left.
BADGES = [Part(".gk-graph", ".gk-badges text", ".gk-dot-clash", at) for at in ((-20, 12), (28, 12))]


def test_vertices_and_their_duplicates_are_numbered_where_they_lie(open_figures):  # noqa: F811
    graph = gk.rmat(5, 6, seed=1)
    root = int(np.argmax(graph.out_degree))
    distance = gk.reference.bfs(graph, root).distance
    traces, times = {}, {}
    for method in ("harish", "edge_parallel", "frontier"):
        device = gk.SimtDevice("random", seed=3, trace=True)
        gk.bfs(graph, root, method, device)
        trace = traces[method] = device.trace
        r = trace.requests
        # Who finds a vertex enqueues it, or stores its distance where there is no queue.
        queued = trace.array_named("next_frontier")
        names = queued or trace.array_named("distance")
        rows = np.flatnonzero(np.isin(r.array, names) & (r.kind != LOAD))
        column = r.value if queued else r.index
        times[method] = Counter(
            int(v) for row in rows for v in column[r.start[row] : r.start[row + 1]]
        )
    view = FrontierView(graph, traces, choice="Method")
    assert all(max(found.values()) > 1 for found in times.values())
    page = open_figures(["numbers"], views={"numbers": view})
    for (method,), level, ((dots,), (rings,), *badges) in read_frames(
        page, [LABELS, RINGS, *BADGES], ("Method",)
    ):
        shown = defaultdict(set)
        for look, word in zip(dots.looks, dots.words, strict=True):
            shown[look] |= {int(v) for v in word.split()}
        known = (distance >= 0) & (distance <= level + 1)
        found = set(np.flatnonzero(distance == level + 1).tolist())
        again = {v for v in found if times[method][v] > 1}
        assert shown["gk-dot-unseen"] == set(np.flatnonzero(~known).tolist())
        assert shown["gk-dot-work"] == set(np.flatnonzero(distance == level).tolist())
        assert shown["gk-dot-done"] == set(np.flatnonzero(known & (distance < level)).tolist())
        assert shown["gk-dot-new"] == found
        assert shown["gk-dot-clash"] == again
        assert dots.astray == []
        right, left = (picture.words for (picture,) in badges)
        told = [near or far for near, far in zip(right, left, strict=True)]
        truth = [f"×{times[method][int(v)]}" for v in rings.words]
        assert (method, level, told) == (method, level, truth)


ROWS = """() => {
    const figure = document.querySelector("figure"), range = figure.querySelector("input");
    const middle = (node) => {
        const around = node.firstChild && document.createRange();
        if (!around) return null;
        around.selectNodeContents(node);
        const box = around.getBoundingClientRect();
        around.detach();
        return box.y + box.height / 2;
    };
    const words = (name) => [...figure.querySelectorAll(name)]
        .map((node) => [node.textContent, middle(node)]).filter(([text, y]) => text && y !== null);
    return JSON.stringify(Array.from({ length: Number(range.max) + 1 }, (_, step) => {
        range.value = step;
        range.dispatchEvent(new Event("input"));
        return [".gk-program .gk-num", ".gk-program code", ".gk-times"].map(words);
    }));
}"""


def beside(rows, words):
    """Lay words over the rows that they stand in, half a line up or down: ``{row: [words]}``."""
    found = defaultdict(list)
    for word, y in words:
        near, row = min((abs(y - at), number) for number, at in rows)
        assert near < 6, (word, near)
        found[int(row)].append(word)
    return found


def test_lines_are_numbered_and_counted_where_they_stand(open_figures):  # noqa: F811
    page = open_figures(["warp"])
    trace = TRACES["harish"]
    here = (trace.steps.launch == 5) & (trace.steps.warp == 0) & (trace.steps.block == 0)
    lines, source = trace.steps.line[here].tolist(), int(trace.steps.source[here][0])
    ran = Counter()
    frames = json.loads(page.evaluate(ROWS))
    assert len(frames) == len(lines)
    for line, (numbers, codes, times) in zip(lines, frames, strict=True):
        ran[line] += 1
        code = beside(numbers, codes)
        assert {n: " ".join(c) for n, c in code.items()} == {
            n: trace.text(source, n).strip() for n in code
        }
        assert dict(beside(numbers, times)) == {n: [f"×{k}"] for n, k in ran.items()}


LANES = Part(".gk-addresses", ".gk-ticks text", ".gk-addresses > .gk-f-faint:nth-of-type(1), "
             ".gk-addresses > .gk-f-work:nth-of-type(2)")  # fmt: skip
#: The label of a row stands left of its four sectors, of which this is the first.
STARTS = Part(".gk-addresses", ".gk-row-labels text", ".gk-f-fetched, .gk-f-faint", (60, 0))


def test_lanes_and_rows_are_numbered_where_they_lie(open_figures):  # noqa: F811
    trace = TRACES["harish"]
    view = MemoryView(trace, array="targets")
    page = open_figures(["lanes"], views={"lanes": view})
    r = trace.requests
    (array,) = trace.array_named("targets")
    rows = np.flatnonzero((r.array == array) & (r.block == 0) & (r.warp == 0))
    per_line = 128 // trace.arrays[array].itemsize
    frames = read_frames(page, [LANES, STARTS])
    assert len(frames) == min(len(rows), 64)
    for (_, step, ((lanes,), (starts,))), row in zip(frames, rows, strict=False):
        active = {int(lane) for lane in r.lanes(row)}
        assert lanes.words == [str(k) for k in range(32)]
        assert lanes.looks == [f"gk-f-{'work' if k in active else 'faint'}" for k in range(32)]
        assert lanes.astray == []
        index = r.index[r.start[row] : r.start[row + 1]]
        first = sorted({int(i) // per_line * per_line for i in index})
        told = [word for word in starts.words if word]
        assert (step, told, starts.astray) == (step, [f"[{i}]" for i in first], [])


@pytest.mark.parametrize("turned", [False, True])
def test_values_of_a_scan_stand_in_the_column_of_their_lane(open_figures, turned):  # noqa: F811
    name = "tall" if turned else "wide"
    page = open_figures(["scan"], width=390 if turned else 1280)
    part = Part(f".gk-scan-{name}", ".gk-scan-word tspan", ".gk-s-row")
    for (choice,), step, ((shown,),) in read_frames(page, [part], ("Scan",)):
        values, rows = np.arange(32) % 7, []
        for k in range(step + 1):
            if 0 < k <= 5:
                reach = 1 << (k - 1)
                values = values + np.where(np.arange(32) < reach, 0, np.roll(values, reach))
            elif k == 6:
                values = np.concatenate([[0], values[:-1]])
            rows.append([str(v) for v in values])
        told = list(zip(*rows, strict=True)) if turned else rows
        assert (choice, step, shown.words) == (choice, step, [w for row in told for w in row])
        assert shown.astray == []


@pytest.mark.parametrize("schedule", ["lockstep", "random"])
def test_words_of_a_filter_stand_in_their_lanes_and_slots(open_figures, schedule):  # noqa: F811
    trace, _ = filtered(some_candidates(3, 64), 64, filter_small, schedule, seed=3)
    page = open_figures(["words"], views={"words": HashView(trace)})
    part = Part(".gk-hash-wide", ".gk-scan-word tspan", ", ".join(
        f".gk-hash-wide > .gk-{look}" for look in ("f-faint", "scan-was", "f-work", "f-new",
                                                  "f-done", "f-barrier")))  # fmt: skip
    frames = read_frames(page, [part])
    r = trace.requests
    rows = np.flatnonzero(np.isin(r.array, trace.array_named("hash_table")))
    assert len(frames) == len(rows)
    table, stored = {}, {}
    for (_, step, ((shown,),)), row in zip(frames, rows.tolist(), strict=True):
        entries = slice(r.start[row], r.start[row + 1])
        lanes, warp = r.lanes(row).tolist(), int(r.warp[row])
        words = [f"{int(w) >> 32} {int(w) & 0xFFFFFFFF}" for w in r.value[entries]]
        read = {}
        if r.kind[row] == STORE:
            table |= dict(zip(r.index[entries].tolist(), words, strict=True))
            stored[warp] = dict(zip(lanes, words, strict=True))
        else:
            read = dict(zip(lanes, words, strict=True))
        above = [stored[warp].get(k, "") if k in lanes else "" for k in range(32)]
        slots, below = [table.get(k, "") for k in range(64)], [read.get(k, "") for k in range(32)]
        assert (step, shown.words) == (step, above + slots + below)
        assert shown.astray == []


def test_values_stand_on_their_vertices(open_figures):  # noqa: F811
    page = open_figures(["values"])
    values = Part(".gk-graph", ".gk-labels text", ".gk-dot-rim")
    names = Part(".gk-graph", ".gk-names text", ".gk-dot-rim", None)
    for _, step, ((value,), (name,)) in read_frames(page, [values, names]):
        truth = {str(v): str((16 * step + v) % 7) for v in range(16)}
        assert dict(zip(name.words, value.words, strict=True)) == truth
        assert value.astray + name.astray == []


def test_offsets_and_targets_stand_in_their_places(open_figures):  # noqa: F811
    page = open_figures(["rows"])
    cells = Part(".gk-csr", ".gk-cell", ".gk-csr > rect")
    places = Part(".gk-csr", ".gk-cell-index", ".gk-csr > rect", (0, 10))
    truth = [*EXAMPLE.offsets.tolist(), *EXAMPLE.targets.tolist()]
    index = [*range(len(EXAMPLE.offsets)), *range(len(EXAMPLE.targets))]
    for _, vertex, ((cell,), (place,)) in read_frames(page, [cells, places]):
        assert cell.words == [str(v) for v in truth]
        row = range(*EXAMPLE.offsets[vertex : vertex + 2].tolist())
        marked = {vertex, vertex + 1, *(len(EXAMPLE.offsets) + k for k in row)}
        told = [str(k) if k % 4 == 0 or at in marked else "" for at, k in enumerate(index)]
        assert place.words == told
        assert cell.astray + place.astray == []
