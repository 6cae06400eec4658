"""TileView in a browser: each number is the trace's in every frame; what a reader can choose."""

from __future__ import annotations

import json

import numpy as np
import pytest
from printed import Part, read_frames
from test_views import all_pairs, folder, open_figures  # noqa: F401

import gpukernels as gk
from gpukernels.trace import LOAD, metrics
from gpukernels.views import TileView
from gpukernels.views.encoding import unpack
from gpukernels.views.tile.run import INFINITE

WEB = gk.random_weights(gk.erdos_renyi(40, 3.0, seed=3), low=1, high=20, seed=2)
FORMS = {"naive": {}, "4x4": {"tile": 16, "per_thread": "4x4"}}
TRACES = all_pairs(WEB, **FORMS)
VIEW = TileView(TRACES)
TILE, PER_ROW, ROWS = 16, 3, 48

LOOKS = ", ".join(f".gk-tile-inside > .gk-{look}" for look in (
    "f-new", "tile-none", *(f"tile-v{k}" for k in range(6))))  # fmt: skip
INSIDE = Part(".gk-tile-inside", ".gk-tile-word tspan, .gk-tile-tight tspan", LOOKS, (0, 0))
NUMBERS = Part(".gk-tile-matrix", ".gk-tile-number tspan", ".gk-tile-matrix > .gk-s-tile-grid")
SLIDER = {"name": "Frame"}


def stored(trace, launches):
    """Return the matrix after so many launches, from what the trace's requests read and wrote."""
    r = trace.requests
    (matrix,) = trace.array_named("distance")
    rows = trace.arrays[matrix].shape[0]
    lengths = np.full(rows * rows, np.nan)
    for row in np.flatnonzero(r.array == matrix).tolist():
        lanes = slice(r.start[row], r.start[row + 1])
        here = r.index[lanes]
        if r.kind[row] == LOAD:
            fresh = np.isnan(lengths[here])
            lengths[here[fresh]] = r.value[lanes][fresh]
        elif r.launch[row] < launches:
            lengths[here] = r.value[lanes]
    return lengths.reshape(rows, rows)


def writers(trace, launches):
    """Return the launch, from 1, that wrote each tile last; 0 for none."""
    r = trace.requests
    (matrix,) = trace.array_named("distance")
    last = [0] * PER_ROW**2
    for row in np.flatnonzero((r.array == matrix) & (r.kind != LOAD) & (r.launch < launches)):
        for element in r.index[r.start[row] : r.start[row + 1]].tolist():
            i, j = divmod(element, ROWS)
            last[i // TILE * PER_ROW + j // TILE] = int(r.launch[row]) + 1
    return last


def words_of(lengths):
    return ["∞" if length >= INFINITE else f"{length:g}" for length in lengths]


def clock(view, name):
    (entry,) = (t for t in view.payload["traces"] if t["label"] == name)
    return [unpack(own).tolist() for own in entry["at"]]


def test_lengths_and_launches_stand_in_their_cells_in_every_frame(open_figures):  # noqa: F811
    """Inside a tile its lengths, on each tile who wrote it last, on both clocks."""
    run = VIEW._runs["4x4"]
    page = open_figures(["pairs"], views={"pairs": VIEW})
    frames = read_frames(page, [INSIDE, NUMBERS], ("Clock",))
    assert len(frames) == sum(t["steps"] for t in VIEW.payload["traces"])
    memory = [stored(TRACES["4x4"], k) for k in range(len(run.launches) + 1)]
    wrote = [writers(TRACES["4x4"], k) for k in range(len(run.launches) + 1)]
    registers = [run.start.copy()]
    for frame in run.frames:
        registers.append(registers[-1].copy())
        registers[-1][frame.kept] = frame.kept_length
    for (name,), step, ((inside,), (plain, tiled)) in frames:
        over = clock(VIEW, name)[1][step]
        launch = run.frames[over - 1].launch if over else -1
        # A run that was done before shows what it left.
        rests = over == len(run.frames) == clock(VIEW, name)[1][step - 1]
        tile = next(iter(run.launches[launch].tiles.values())) if over and not rests else 0
        ended = over == len(run.frames) or run.frames[over].launch > launch
        i, j = (TILE * v for v in divmod(tile, PER_ROW))
        part = np.s_[i : i + TILE, j : j + TILE]
        kept = (registers[over] if over else run.start).reshape(ROWS, ROWS)[part].ravel()
        where = name, step
        assert (where, inside.words, inside.astray) == (where, words_of(kept), [])
        done = launch + ended
        if ended:
            np.testing.assert_array_equal(
                np.where(memory[done][part].ravel() < INFINITE, memory[done][part].ravel(), np.inf),
                kept,
            )
        first = launch // 3 * 3
        told = [f"{k}{' ✓' if k > first else ''}" if k else "" for k in wrote[done]]
        assert (where, tiled.words, tiled.astray) == (where, told, [])
        assert plain.words == plain.astray == []


COUNTS = """() => {
    const figure = document.querySelector("figure");
    const range = figure.querySelector("input[aria-label=Frame]");
    const marks = (svg, name) =>
        (svg.querySelector(`:scope > .${name}`).getAttribute("d").match(/M/g) || []).length;
    return JSON.stringify(Array.from({ length: Number(range.max) + 1 }, (_, step) => {
        range.value = step;
        range.dispatchEvent(new Event("input"));
        return {
            cells: [...figure.querySelectorAll(".gk-tile-count")].map((row) =>
                [...row.querySelectorAll(".gk-tile-cell")].map((cell) => cell.textContent)),
            marks: [...figure.querySelectorAll(".gk-tile-matrix")].map((svg) => ({
                less: marks(svg, "gk-f-new"), writes: marks(svg, "gk-s-tile-writes"),
                reads: marks(svg, "gk-s-tile-reads"), band: marks(svg, "gk-s-tile-band"),
                used: marks(svg, "gk-s-tile-used"),
            })),
            heads: [...figure.querySelectorAll(".gk-tile-run small")].map((s) => s.textContent),
            said: figure.querySelector(".gk-now").textContent,
            tall: Math.round(figure.getBoundingClientRect().height),
        };
    }));
}"""


def test_costs_and_marks_are_the_traces_in_every_frame(open_figures):  # noqa: F811
    page = open_figures(["pairs"], views={"pairs": VIEW})
    runs = [VIEW._runs[name] for name in TRACES]
    at = clock(VIEW, "bytes")
    frames = json.loads(page.evaluate(COUNTS))
    ends = [
        [
            (32 * metrics.sectors(part).sum(), metrics.requests(part, "shared"))
            for k in range(len(trace.launches))
            for part in [trace.select(launch=list(range(k + 1)))]
        ]
        for trace in TRACES.values()
    ]
    for step, shown in enumerate(frames):
        for i, run in enumerate(runs):
            over = at[i][step]
            done = run.frames[:over]
            launch = done[-1].launch if done else -1
            sums = [
                sum(getattr(f, name) for f in done) for name in ("bytes", "operations", "shared")
            ]
            told = [row[i] for row in shown["cells"]]
            assert told == [list(TRACES)[i], *(f"{v:,}" for v in (launch + 1, *sums))]
            if done and (over == len(run.frames) or run.frames[over].launch > launch):
                assert (sums[0], sums[2]) == ends[i][launch]
                assert sums[1] == 40**2 * (launch + 1) or run.tile
            marks = shown["marks"][i]
            if over == len(run.frames) == at[i][step - 1]:
                assert set(marks.values()) == {0}
                continue
            assert marks["less"] == (len(done[-1].lowered) if done else 0)
            if not run.tile:
                assert marks == {"less": marks["less"], "writes": 0, "reads": 0, "used": 0,
                                 "band": 2 if done else 0}  # fmt: skip
                continue
            item = run.launches[launch] if done else None
            assert marks["writes"] == (len(item.tiles) if item else 0)
            read = set().union(*item.reads.values()) if item else set()
            assert marks["reads"] == len(read)
            boxes = [b for own in done[-1].boxes.values() for b in own] if done else []
            assert marks["used"] == len({(b.rows, b.columns) for b in boxes if b.state == 1})
            if over < len(run.frames):
                assert shown["heads"][i].endswith(
                    f"of {len(run.launches)}" + " launches" * (not done)
                )
    assert frames[-1]["heads"] == ["✓ done", "✓ done, fewest bytes"]
    assert "4x4: done after 9 launches." in frames[-1]["said"]


@pytest.mark.parametrize("width", [390, 760, 1280])
def test_a_figure_keeps_its_height_and_fits_a_window(open_figures, width):  # noqa: F811
    """In the book, at 1280, a figure is 728 wide, as it is in a page of 760 here."""
    page = open_figures(["pairs"], views={"pairs": VIEW}, width=width)
    heights = {frame["tall"] for frame in json.loads(page.evaluate(COUNTS))}
    assert len(heights) == 1
    assert width == 390 or heights.pop() <= 900
    sizes = page.evaluate("""() => [...document.querySelectorAll("figure svg text")]
        .filter((t) => t.textContent).map((t) => parseFloat(getComputedStyle(t).fontSize)
            * t.ownerSVGElement.getScreenCTM().a)""")
    assert min(sizes) >= 9


def test_letters_are_large_enough_on_a_phone(open_figures):  # noqa: F811
    page = open_figures(["pairs"], views={"pairs": VIEW}, width=390)
    page.get_by_role("slider", **SLIDER).fill("60")
    sizes = page.evaluate("""() => [...document.querySelectorAll("figure svg text")]
        .filter((t) => t.textContent).map((t) => parseFloat(getComputedStyle(t).fontSize)
            * t.ownerSVGElement.getScreenCTM().a)""")
    assert min(sizes) >= 9


def test_a_tile_is_chosen_by_key_or_pointer_and_stays(open_figures):  # noqa: F811
    page = open_figures(["pairs"], views={"pairs": VIEW})
    head, look = page.locator(".gk-tile-in b"), page.get_by_label("Look into")
    frame = page.get_by_role("slider", **SLIDER)
    frame.fill("1")
    assert head.text_content() == "Inside tile (0, 0)"
    look.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert head.text_content() == "Inside tile (0, 1)"
    assert page.locator(".gk-tile-in small").text_content() == "no block at work on it"
    box = page.locator(".gk-tile-matrix").nth(1).bounding_box()
    page.mouse.click(box["x"] + 0.8 * box["width"], box["y"] + 0.5 * box["height"])
    assert head.text_content() == "Inside tile (1, 2)"
    assert look.input_value() == "5"
    frame.fill("30")
    assert head.text_content() == "Inside tile (1, 2)"
    look.select_option("")
    assert head.text_content() != "Inside tile (1, 2)"


def test_a_thread_is_chosen_by_key_or_pointer(open_figures):  # noqa: F811
    page = open_figures(["pairs"], views={"pairs": VIEW})
    at = clock(VIEW, "bytes")[1]
    run = VIEW._runs["4x4"]
    here = next(k for k, f in enumerate(run.frames) if f.launch == 2 and f.pivots[0] >= 0)
    page.get_by_role("slider", **SLIDER).fill(str(at.index(here + 1)))
    picture, fact = page.locator(".gk-tile-inside"), page.locator(".gk-tile-fact")
    assert fact.text_content() == "Thread 0 keeps 16 lengths in registers: 4 rows by 4 columns."
    picture.focus()
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    assert fact.text_content().startswith("Thread 5 keeps 16 lengths")
    marks = "(name) => document.querySelector(`.gk-tile-inside > .${name}`).getAttribute('d')"
    outlined = page.evaluate(marks, "gk-s-now").split("M")[1:]
    # The cells of thread 5, by the trace: those whose lengths it stores.
    cell, corner = 320 / TILE, 95
    places = {
        tuple(round((float(v) - corner - 1) / cell) for v in d.split("h")[0].split())
        for d in outlined
    }
    owned = np.flatnonzero(run.launches[2].owner == 5)
    assert places == {(k % TILE, k // TILE) for k in owned.tolist()}
    assert page.evaluate(marks, "gk-tile-own").count("M") == 8
    page.keyboard.press("Escape")
    assert fact.text_content().startswith("Thread 0 keeps")


def test_both_clocks_end_with_both_runs(open_figures):  # noqa: F811
    page = open_figures(["pairs"], views={"pairs": VIEW})
    for name, steps in ((t["label"], t["steps"]) for t in VIEW.payload["traces"]):
        page.get_by_label("Clock").select_option(name)
        frame = page.get_by_role("slider", **SLIDER)
        assert int(frame.get_attribute("max")) == steps - 1
        frame.fill(str(steps - 1))
        heads = page.locator(".gk-tile-run small").all_text_contents()
        assert [h[0] for h in heads] == ["✓", "✓"]
        # A finish line stands where a run's last frame ends.
        ends = [own.index(own[-1]) + 1 for own in clock(VIEW, name)]
        lines = page.locator(".gk-strip .gk-s-end").evaluate_all(
            "(p) => p.map((l) => l.getAttribute('d'))"
        )
        assert [d.split(" ")[0] for d in lines] == [f"M{end}" for end in ends]


def test_a_dial_turns_through_the_runs_of_the_second_picture(open_figures):  # noqa: F811
    forms = {"1x1": {"tile": 16}, "4x2": {"tile": 16, "per_thread": "4x2"}, "32": {"tile": 32}}
    view = TileView(all_pairs(gk.path(20), **forms), dial="form")
    page = open_figures(["dial"], views={"dial": view})
    heads = page.locator(".gk-tile-run b")
    assert heads.all_text_contents() == ["1x1", "4x2"]
    dial = page.get_by_role("slider", name="Right: form")
    dial.focus()
    page.keyboard.press("End")
    assert heads.all_text_contents() == ["1x1", "32"]
    assert dial.get_attribute("aria-valuetext") == "32"
    # Tiles of 32 by 32 are drawn without numbers.
    assert page.locator(".gk-tile-inside .gk-tile-word tspan").count() == 0
    page.get_by_label("Left").select_option("2")
    assert heads.all_text_contents() == ["32", "32"]
