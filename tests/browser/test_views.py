"""The figures in a real browser: a page opened as a file, scripts from the page, network off."""

from __future__ import annotations

import contextlib
import csv
import itertools
import re
from functools import partial

import numpy as np
import pytest
from accessibility import TAGS, violations
from effort import WHOLE
from filter_kernels import filter_large, filter_small, filtered, some_candidates
from made_once import MadeOnce
from worked_tasks import halved, worked

import gpukernels as gk
from gpukernels.primitives.shared_scan import shared_scan
from gpukernels.primitives.warp_scan import warp_scan
from gpukernels.traversal import bfs
from gpukernels.views import (
    CompareView,
    EnergyView,
    FrontierView,
    GraphView,
    HashView,
    MappingView,
    MemoryView,
    PartsView,
    RelaxView,
    ScanView,
    TileView,
    WarpView,
    WorkersView,
    figure,
)
from gpukernels.views.encoding import to_json, unpack
from gpukernels.views.relax.relaxations import NEEDED, TOO_EARLY
from gpukernels.views.script import classic_script, module_for, still_script, stylesheet

ROADS = gk.road_grid(6, 7, seed=1)
EXAMPLE = gk.example()
#: The page around the figures is a test's, not the book's.
NOT_OURS = {"region", "landmark-one-main", "page-has-heading-one"}

PAGE = """<!doctype html><html lang="en" data-theme="{theme}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Figures</title>
<style>:root {{ --pst-color-background: {paper}; --pst-color-text-base: {ink}; }}
body {{ margin: 0 16px; background: {paper}; color: {ink}; font: 16px/1.5 sans-serif; }}</style>
<link rel="stylesheet" href="views.css"><script src="views.js"></script></head>
<body><main>{figures}</main></body></html>"""

COLORS = {
    "light": {"paper": "#ffffff", "ink": "#222832"},
    "dark": {"paper": "#121212", "ink": "#ced6dd"},
}


def search(method):
    with gk.trace() as t:
        bfs(ROADS, root=0, method=method)
    return t.trace


def expanded(offsets, methods=gk.mapping.METHODS):
    found = {}
    for method in methods:
        with gk.trace() as t:
            gk.expand(offsets, method, threads=32)
        found[method] = t
    return found


def started(methods=("harish", "frontier")):
    """Return searches of the example from each of its vertices, one of which has no arc."""
    roots = range(EXAMPLE.n)
    runs = {m: {v: gk.traced(gk.bfs, EXAMPLE, v, m) for v in roots} for m in methods}
    words = {"choice": "Method", "title": "From any vertex", "name": "roots"}
    return FrontierView(EXAMPLE, runs, root=3, step=1, **words)


def dragged(methods=("work_item_to_thread", "two_phase")):
    """Return five items, the second and the fourth of which have sizes to choose from."""
    every = itertools.product([3], range(5), [2], (1, 8, 30), [0])
    runs = {sizes: expanded(np.cumsum([0, *sizes]), methods) for sizes in every}
    return MappingView(runs, sizes=(3, 1, 2, 8, 0), title="Sizes", name="sizes", step=2)


def scans(scan, values, option):
    found = {}
    for chosen in (True, False):
        with gk.trace() as t:
            scan(values, threads=32, **{option: chosen})
        found[f"{option}: {chosen}"] = t
    return found


def filters(threads, rounds, kernel):
    candidates = some_candidates(rounds, threads)
    return {
        s: filtered(candidates, 64, kernel, s, seed=3)[0] for s in ("lockstep", "warp", "random")
    }


def searches(ways):
    graph, found = gk.rmat(7, 6, seed=2), {}
    for way in ways:
        device = gk.SimtDevice("random", seed=3, trace=True)
        bfs(graph, int(np.argmax(graph.out_degree)), "two_phase", device, duplicates=way)
        found[way] = device.trace
    return FrontierView(graph, found, choice="Duplicates", step=1)


def relaxed(graph, methods=("harish", "topology_driven"), roots=(0, 0)):
    found = {}
    for method, root in zip(methods, roots, strict=True):
        with gk.trace() as t:
            gk.sssp(graph, root, method)
        found[f"{method} from {root}" if any(roots) else method] = t.trace
    return found


def all_pairs(graph, **forms):
    found = {}
    for name, options in forms.items():
        with gk.trace() as t:
            gk.apsp(graph, "blocked" if options else "naive", **options)
        found[name] = t.trace
    return found


def compared():
    """Return runs with all that a cell can hold: wide ranges, shares, reasons, holes, signs."""
    drawn = np.random.default_rng(2)
    no = "takes no negative weights"
    rows = []
    for m, method in enumerate(["sweep", "near_far", "harish", "topology_driven"]):
        for graph in ("roads", "small world", "R-MAT", "hills"):
            if (method, graph) == ("harish", "R-MAT"):
                continue
            relaxed = int(drawn.integers(300, 900)) * 30**m
            busy = float(drawn.integers(20, 99))
            gain = None if method == "sweep" else float(drawn.normal())
            refused = (method, graph) == ("near_far", "hills")
            values = {"relaxed": no, "busy": no, "gain": no, "zeros": 0}
            if not refused:
                values = {"relaxed": relaxed, "busy": busy, "gain": gain, "zeros": 40**m - 1}
            rows.append((method, graph, values))
    return rows


COMPARED = compared()
TRACES = MadeOnce(
    {method: partial(search, method) for method in ("harish", "edge_parallel", "frontier")}
)
COMPARE = {
    "better": {"busy": "higher", "gain": ""},
    "units": {"busy": "%", "gain": "ms"},
    "title": "Four methods",
    "file": "four-methods",
}
BLOCKED = {"tile": 16, "per_thread": "4x4"}
WEIGHED = gk.random_weights(ROADS, low=1, high=40, seed=2)
SLANTED = gk.random_weights(gk.rmat(5, 3, seed=4), seed=2)
EIGHT = np.array([0, 3, 4, 8, 10, 12, 20, 21, 24])
LONG = np.arange(0, 97, 8)
HOLES = np.cumsum([0, 0, 0, 70, 0, 3, 1, 0])


VIEWS = MadeOnce(
    {
        "frontier": lambda: FrontierView(
            ROADS, dict(TRACES), step=4, choice="Method", title="Levels"
        ),
        "filters": partial(searches, ["hash64", "none"]),
        "roots": started,
        "warp": lambda: WarpView(TRACES["harish"], launch=5, warp=0, step=6),
        "block": lambda: WarpView(
            {"wide": TRACES["harish"], "deep": TRACES["frontier"]}, launch=5, step=2
        ),
        "memory": lambda: MemoryView(TRACES["harish"], array="targets", step=5),
        "values": lambda: GraphView(EXAMPLE, np.arange(48).reshape(3, 16) % 7, step=1),
        "weights": lambda: GraphView(gk.random_weights(ROADS, seed=1), title="Weights"),
        "rows": lambda: GraphView(EXAMPLE, csr=True, step=4),
        "directed": lambda: GraphView(gk.rmat(6, 4, seed=4), np.arange(64.0)),
        "mapping": lambda: MappingView(
            {"eight": expanded(EIGHT), "holes": expanded(HOLES)},
            {"eight": EIGHT, "holes": HOLES},
            step=1,
        ),
        "strips": lambda: MappingView(expanded(HOLES), HOLES, color="block"),
        "sizes": dragged,
        "scan": lambda: ScanView(
            scans(warp_scan, np.arange(32) % 7, "inclusive"), choice="Scan", step=3
        ),
        "sweeps": lambda: ScanView(
            scans(shared_scan, np.arange(64) % 4, "padding"), choice="Cells"
        ),
        "hash": lambda: HashView(filters(64, 3, filter_small), choice="Schedule"),
        "tables": lambda: HashView(filters(128, 1, filter_large)["random"], step=2),
        "relax": lambda: RelaxView(WEIGHED, relaxed(WEIGHED, roots=(0, 20)), step=4),
        "relax classes": lambda: RelaxView(
            {"roads": WEIGHED, "web": SLANTED},
            {"roads": relaxed(WEIGHED), "web": relaxed(SLANTED)},
            classes={"roads": np.arange(WEIGHED.m) % 4, "web": np.arange(SLANTED.m) % 3},
            class_names=["plain", "to a leaf", "to the root", "loop"],
            choice="Network",
            step=2,
        ),
        "tile": lambda: TileView(all_pairs(EXAMPLE, naive={}, blocked={"tile": 16}), step=6),
        "tiles": lambda: TileView(all_pairs(WEIGHED, blocked=BLOCKED)["blocked"], step=22),
        "tile forms": lambda: TileView(
            all_pairs(gk.path(20), a=BLOCKED, b={"tile": 16}, c={"tile": 32}), step=21
        ),
        "parts": lambda: PartsView(
            ROADS, {"a ruler": halved(ROADS), "nobody": halved(ROADS)[::-1]}, step=2
        ),
        "workers": lambda: WorkersView(
            {"all live": worked(), "one dies": worked(dies=3)},
            {"close": "close", "join": "join"},
            step=5,
        ),
        "compare": lambda: CompareView(COMPARED, **COMPARE),
        "energy": lambda: EnergyView(
            [
                (f"method {m}", w, 0.03 * (m + 1) ** k, 150.0 + 60 * m)
                for k, w in enumerate(("even", "uneven"))
                for m in range(8)
            ]
        ),
        "crowded": lambda: GraphView(gk.erdos_renyi(700, 4.0, seed=1), np.arange(700)),
    }
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("figures")
    (path / "views.js").write_text(classic_script())
    (path / "views.css").write_text(stylesheet())
    return path


@pytest.fixture
def open_figures(used_pages, folder):
    """Open a page of figures; fails at the end of the test if the page had any problem."""
    problems = []
    listeners = {
        "console": lambda m: problems.append(m.text) if m.type == "error" else None,
        "pageerror": lambda e: problems.append(str(e)),
        "request": lambda r: (
            None if r.url.startswith(("file:", "blob:")) else problems.append(r.url)
        ),
    }
    with contextlib.ExitStack() as at_the_end:

        def opened(names, theme="light", width=1280, scripts=True, views=VIEWS, **options):
            page = at_the_end.enter_context(
                used_pages(width, java_script_enabled=scripts, **options)
            )
            for event, listener in listeners.items():
                page.on(event, listener)
                at_the_end.callback(page.remove_listener, event, listener)
            file = folder / f"{'-'.join(names)}-{theme}.html"
            figures = "".join(views[name].html for name in names)
            file.write_text(PAGE.format(theme=theme, figures=figures, **COLORS[theme]))
            page.goto(file.as_uri())
            return page

        yield opened
    assert problems == []


@pytest.mark.parametrize("name", VIEWS)
def test_a_figure_comes_to_life(open_figures, name):
    page = open_figures([name])
    figure = page.locator("figure.gk-view")
    assert figure.get_attribute("data-ready") == ""
    steps = VIEWS[name].payload["traces"][0]["steps"]
    slider = figure.locator(".gk-scrub").get_by_role("slider")
    assert slider.count() == (1 if steps > 1 else 0)
    if steps > 1:
        assert slider.input_value() == str(VIEWS[name].step)
        assert figure.get_by_role("button", name="Play").is_visible()
    assert figure.locator("details p").text_content() == VIEWS[name].payload["description"]


# Text, tags and attributes of everything inside a part; numbers are compared apart from words.
OUTLINE = """(root) => {
  const fallback = new Set(["fill", "stroke", "fill-opacity", "stroke-opacity", "stroke-linecap",
    "stroke-dasharray", "font-family", "font-size", "text-anchor", "vector-effect"]);
  const alive = new Set(["class", "tabindex", "aria-live", "aria-atomic", "data-off"]);
  const styled = (node) => /^gk-(arc|wire|task-wire|s-)/.test(node.getAttribute("class"));
  const said = [];
  const walk = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return node.data && said.push("text " + node.data);
    const picked = ".gk-note, .gk-halo, .gk-arc-picked, .gk-wire-picked, .gk-lit, .gk-pointed";
    const answers = `${picked}, .gk-scrub, .gk-room`;
    if (node.matches(answers) || node.matches(".gk-offer")) return;
    said.push(node.localName + " " + (node.getAttribute("class") || ""));
    [...node.attributes]
      .filter((a) => !fallback.has(a.name) && !alive.has(a.name))
      .filter((a) => !(a.name === "stroke-width" && styled(node)))
      .sort((x, y) => (x.name < y.name ? -1 : 1))
      .forEach((a) => said.push(`${a.name}=${a.value}`));
    node.childNodes.forEach(walk);
  };
  walk(root);
  return said;
}"""

PARTS = ".gk-title, .gk-timeline, .gk-stage, .gk-side, .gk-now, figcaption, details"


def numbers_apart(lines):
    words = [re.sub(r"-?\d+(\.\d+)?", "#", line) for line in lines]
    return words, [float(v) for line in lines for v in re.findall(r"-?\d+(?:\.\d+)?", line)]


@pytest.mark.parametrize("name", VIEWS)
def test_the_first_frame_is_what_the_script_draws(open_figures, name):
    written, drawn = (
        open_figures([name], scripts=scripts)
        .locator(PARTS)
        .evaluate_all(f"(parts) => parts.map({OUTLINE})")
        for scripts in (False, True)
    )
    # A timeline without strips has only the slider, which the first frame leaves out.
    kept = [[part for part in parts if part != ["div gk-timeline"]] for parts in (written, drawn)]
    assert len(kept[0]) == len(kept[1]) >= 4
    for before, after in zip(*kept, strict=True):
        words, values = numbers_apart(before)
        new_words, new_values = numbers_apart(after)
        assert new_words == words
        assert new_values == pytest.approx(values, abs=0.11)


#: Draws a first frame by a document of text, in an engine that is not the one that Python has.
STILL = """([code, data]) => new Function("data", `${code}; return draw(data);`)(data)"""


@pytest.mark.parametrize("name", VIEWS)
def test_another_engine_draws_the_same_bytes(open_figures, name):
    view = VIEWS[name]
    drawn = open_figures([name]).evaluate(STILL, [still_script(), to_json(view.payload)])
    assert drawn == view.html


def test_a_page_draws_a_figure_that_came_in_words(open_figures, monkeypatch):
    drawn = open_figures(["rows"]).locator(PARTS).evaluate_all(f"(parts) => parts.map({OUTLINE})")
    monkeypatch.setattr(figure, "function_of", lambda code, name: None)
    words = GraphView(EXAMPLE, csr=True, step=4)
    assert "<svg" not in words.html
    page = open_figures(["words"], views={"words": words})
    assert page.locator(PARTS).evaluate_all(f"(parts) => parts.map({OUTLINE})") == drawn


def test_each_level_shows_what_the_trace_says(open_figures):
    page = open_figures(["frontier"])
    figure = page.locator("figure")
    marks = """([name]) => [...document.querySelectorAll(`.gk-graph > .${name}`)]
        .map((p) => (p.getAttribute("d").match(/M/g) || []).length)"""
    distance = gk.reference.bfs(ROADS, 0).distance
    for method in TRACES:
        figure.get_by_label("Method").select_option(method)
        for level in range(int(distance.max()) + 1):
            figure.get_by_role("slider").fill(str(level))
            found = int((distance == level + 1).sum())
            assert page.evaluate(marks, ["gk-dot-work"]) == [int((distance == level).sum())]
            assert page.evaluate(marks, ["gk-dot-unseen"]) == [int((distance > level + 1).sum())]
            assert page.evaluate(marks, ["gk-arc-found"]) == [found]
            ring, core = page.evaluate(marks, ["gk-dot-new"])
            assert core == found
            assert ring == found - page.evaluate(marks, ["gk-dot-clash"])[0]
            assert figure.locator(".gk-now").text_content().startswith(f"Level {level}: ")
            lit = figure.locator(".gk-strip").first.locator(".gk-f-playhead").get_attribute("x")
            assert float(lit) == level


def counters_of(panel):
    names = panel.locator(".gk-counter dt").all_text_contents()
    return list(zip(names, panel.locator(".gk-counter dd").all_text_contents(), strict=True))


def pieces(panel, name):
    return (panel.locator(f".gk-graph > .{name}").get_attribute("d") or "").count("M")


@pytest.mark.parametrize("name", ["relax", "relax classes"])
def test_each_iteration_shows_what_the_trace_says(open_figures, name):
    page, view = open_figures([name]), VIEWS[name]
    for label, runs in view._runs.items():
        if label:
            page.get_by_label("Network").select_option(label)
        graph = SLANTED if label == "web" else WEIGHED
        ends = [len(run.iterations) for run in runs.values()]
        for step in range(max(ends) + 1):
            page.get_by_role("slider").fill(str(step))
            for k, (method, run) in enumerate(runs.items()):
                panel = page.locator(".gk-relax-run").nth(k)
                assert panel.locator("b").text_content() == method
                check_panel(panel, run, step, graph)
                done = "first to finish" if ends[k] < max(ends) else "finished"
                assert panel.locator("small").text_content() == (
                    f"iteration {step} of {ends[k]}"
                    if step < ends[k]
                    else f"✓ {done}: {ends[k]} iterations"
                )


def check_panel(panel, run, step, graph):
    """Assert that a picture and its numbers are those of a run after so many iterations."""
    before = run.iterations[:step]
    now = [run.iterations[step - 1]] if 0 < step <= len(run.iterations) else []
    distance = np.full(graph.n, np.inf)
    distance[run.root] = 0
    for entry in before:
        distance[entry.lowered] = entry.length
    words = panel.locator(".gk-labels text").all_text_contents()
    assert words == ["∞" if d == np.inf else str(int(d)) for d in distance]
    kinds = np.bincount(np.concatenate([[], *(e.arc_kind for e in before)]).astype(int), None, 3)
    early = sum(int((e.kind == TOO_EARLY).sum()) for e in now)
    needed = sum(int((e.kind == NEEDED).sum()) for e in now)
    taken, lowered = sum(len(e.relaxed) for e in now), sum(len(e.lowered) for e in now)
    assert pieces(panel, "gk-square-clash") == early
    assert pieces(panel, "gk-dot-ink") == needed
    assert pieces(panel, "gk-dot-done") == taken - early - needed
    assert pieces(panel, "gk-dot-new") == lowered
    assert counters_of(panel)[:8] == [
        ("taken up now", str(taken)),
        ("too early now", str(early)),
        ("lowered now", str(lowered)),
        ("relaxed now", str(sum(len(e.arcs) for e in now))),
        ("relaxed so far", f"{kinds.sum():,}"),
        ("needed", f"{kinds[0]:,}"),
        ("too early", f"{kinds[1]:,}"),
        ("done again", f"{kinds[2]:,}"),
    ]
    by_class = counters_of(panel)[8:]
    if by_class:
        classes = np.arange(graph.m) % (3 if graph is SLANTED else 4)
        arcs = np.concatenate([[], *(e.arcs for e in before)]).astype(int)
        counts = np.bincount(classes[arcs], None, 4)
        assert [text for _, text in by_class] == [f"{c:,}" for c in counts]
        # A line shows the arcs of an edge once, by their highest class.
        lines = [pieces(panel, f"gk-arc-c{c}.gk-arc-heavy") for c in range(4)]
        heads = 2 if graph.directed else 1
        assert sum(lines) <= heads * sum(len(np.unique(e.arcs)) for e in now)
        assert (sum(lines) > 0) == any(len(e.arcs) for e in now)


def word_of(value):
    """Return how a number is written, from its digits."""
    if value == int(value) or abs(value) >= 1000:
        return f"{int(value + 0.5 if value > 0 else value - 0.5):,}"
    return np.format_float_positional(value, 3, fractional=False, trim="-")


def cell_of(values, method, graph, counter):
    """Return what a cell must say, and the note beside it."""
    run = values.get((method, graph))
    value = "no run" if run is None else run[counter]
    if value is None or isinstance(value, str):
        return value or "not counted", None
    better = COMPARE["better"].get(counter, "lower")
    column = [r[counter] for (_, g), r in values.items() if g == graph]
    numbers = [v for v in column if v is not None and not isinstance(v, str)]
    best = max(numbers) if better == "higher" else min(numbers)
    if not better:
        return word_of(value), ""
    if value == best:
        return word_of(value), "best"
    if best <= 0:
        return word_of(value), ""
    times = value / best
    return word_of(value), f"×{word_of(times if times < 9.995 else round(times))}"


@pytest.mark.parametrize("width", [1280, 390])
def test_every_cell_of_a_comparison_has_its_number(open_figures, width):
    page = open_figures(["compare"], width=width)
    values = {(method, graph): run for method, graph, run in COMPARED}
    methods = list(dict.fromkeys(m for m, _ in values))
    graphs = list(dict.fromkeys(g for _, g in values))
    chart = page.get_by_role("table").first
    for counter in COMPARED[0][2]:
        page.get_by_label("Counter").select_option(counter)
        assert chart.get_attribute("aria-label") == f"{counter}, methods on graphs"
        assert chart.get_by_role("columnheader").all_text_contents() == ["method", *graphs]
        assert chart.get_by_role("rowheader").all_text_contents() == methods
        cells = iter(chart.get_by_role("cell").all())
        for method in methods:
            for graph in graphs:
                cell = next(cells)
                text, note = cell_of(values, method, graph, counter)
                said = cell.text_content().strip()
                if note is None:
                    assert said == text
                    assert cell.locator("svg").count() == 0
                else:
                    assert said == (f"{text} best" if note == "best" else text)
                    assert cell.locator("b").text_content() == text
                    marks = cell.locator("path:not(.gk-s-rule)")
                    # Zero has no place on a log scale.
                    assert marks.count() == (0 if counter == "zeros" and text == "0" else 1)
                    weight = cell.locator("b").evaluate("(b) => getComputedStyle(b).fontWeight")
                    assert weight == ("700" if note == "best" else "400")
        trace = next(t for t in VIEWS["compare"].payload["traces"] if t["label"] == counter)
        assert page.locator(".gk-now").text_content() == trace["sentence"]


def test_a_cell_tells_how_many_times_the_best_it_is_if_asked(open_figures):
    page = open_figures(["compare"])
    values = {(method, graph): run for method, graph, run in COMPARED}
    methods = list(dict.fromkeys(m for m, _ in values))
    graphs = list(dict.fromkeys(g for _, g in values))
    for counter in COMPARED[0][2]:
        page.get_by_label("Counter").select_option(counter)
        if not COMPARE["better"].get(counter, "lower"):
            assert page.get_by_label("Cells").count() == 0
            continue
        page.get_by_label("Cells").select_option("times the best")
        cells = iter(page.get_by_role("table").first.get_by_role("cell").all())
        for method, graph in itertools.product(methods, graphs):
            text, note = cell_of(values, method, graph, counter)
            times = {None: text, "": text, "best": "×1 best"}.get(note, note)
            assert next(cells).text_content().strip() == times


def test_longer_marks_are_larger_numbers(open_figures):
    page = open_figures(["compare"])
    numbers = [v for _, _, r in COMPARED for v in [r["busy"]] if not isinstance(v, str)]
    page.get_by_label("Counter").select_option("busy")
    bars = page.locator(".gk-compare-bar-rest, .gk-compare-bar-best").filter(visible=True)
    ends = [
        [float(v) for v in re.findall(r"[-\d.]+", bar.get_attribute("d"))][2]
        for bar in bars.all()
        if bar.evaluate("(b) => Boolean(b.closest('table'))")
    ]
    assert len(ends) == len(numbers)
    span = np.array(ends) - 4
    assert span / span.max() == pytest.approx(np.array(numbers) / max(numbers), abs=0.002)
    page.get_by_label("Counter").select_option("relaxed")
    dots = page.locator("table .gk-s-dot-rest, table .gk-s-dot-best").all()
    places = [float(re.search(r"M([\d.]+)", dot.get_attribute("d"))[1]) for dot in dots]
    values = [v for _, _, r in COMPARED for v in [r["relaxed"]] if not isinstance(v, str)]
    slope = np.polyfit(np.log10(values), places, 1)
    assert np.polyval(slope, np.log10(values)) == pytest.approx(places, abs=0.11)


def test_a_comparison_is_sorted_by_name_and_by_graph_the_best_first(open_figures):
    page = open_figures(["compare"])
    heads = page.get_by_role("table").first.get_by_role("rowheader")
    values = {(method, graph): run for method, graph, run in COMPARED}
    given = list(dict.fromkeys(m for m, _ in values))
    sort = page.get_by_label("Sort by")
    sort.select_option("method")
    assert heads.all_text_contents() == sorted(given)
    for counter, sign in (("relaxed", 1), ("busy", -1)):
        page.get_by_label("Counter").select_option(counter)
        for graph in ("R-MAT", "hills"):
            sort.select_option(graph)

            def key(method, graph=graph, counter=counter, sign=sign):
                value = values.get((method, graph), {}).get(counter)
                return sign * value if isinstance(value, (int, float)) else np.inf

            assert heads.all_text_contents() == sorted(given, key=key)
    # The order outlives a change of the counter; the keyboard turns it, too.
    sort.focus()
    page.keyboard.press("Home")
    assert sort.locator("option:checked").text_content() == "as given"
    assert heads.all_text_contents() == given


@pytest.mark.parametrize("scripts", [True, False])
def test_all_numbers_lie_below_a_comparison_and_in_a_file(open_figures, scripts):
    page = open_figures(["compare"], scripts=scripts)
    page.locator(".gk-compare-numbers summary").click()
    rows = page.locator(".gk-compare-numbers tbody tr")
    values = {(method, graph): run for method, graph, run in COMPARED}
    counters = list(COMPARED[0][2])
    graphs = list(dict.fromkeys(g for _, g in values))
    told = [row.locator("th, td").all_text_contents() for row in rows.all()]
    assert told == [
        [m, g, *(cell_of(values, m, g, c)[0] for c in counters)]
        for m in dict.fromkeys(m for m, _ in values)
        for g in graphs
    ]
    with page.expect_download() as download:
        page.get_by_role("link", name="Download as CSV").click()
    assert download.value.suggested_filename == "four-methods.csv"
    with open(download.value.path(), encoding="utf-8", newline="") as file:
        head, *lines = csv.reader(file)
    assert head == ["method", "graph", "relaxed", "busy (%)", "gain (ms)", "zeros"]
    assert len(lines) == len(COMPARED)
    for (method, graph, run), line in zip(COMPARED, lines, strict=True):
        assert line[:2] == [method, graph]
        for value, word in zip(run.values(), line[2:], strict=True):
            kept = "" if value is None else value
            assert word == kept if isinstance(kept, str) else float(word) == kept


def test_of_many_runs_two_are_chosen(open_figures):
    two = relaxed(WEIGHED)
    runs = {str(k): two["harish" if k % 2 else "topology_driven"] for k in range(4)}
    views = {"lists": RelaxView(WEIGHED, runs), "dial": RelaxView(WEIGHED, runs, dial="delta")}
    page = open_figures(["lists"], views=views)
    heads = page.locator(".gk-relax-head b")
    assert page.locator(".gk-strip").count() == 4
    page.get_by_label("Left").select_option("2")
    page.get_by_label("Right").select_option("3")
    assert heads.all_text_contents() == ["2", "3"]
    page = open_figures(["dial"], views=views)
    dial = page.get_by_role("slider", name="Right: delta")
    dial.focus()
    page.keyboard.press("End")
    assert page.locator(".gk-relax-head b").all_text_contents() == ["0", "3"]
    assert dial.get_attribute("aria-valuetext") == "3"
    page.get_by_role("slider", name="Iteration").fill("2")
    assert page.locator(".gk-now").text_content().startswith("Iteration 2. 0: ")


def test_a_vertex_is_pointed_out_in_both_runs(open_figures):
    page = open_figures(["relax"])
    page.get_by_role("slider").fill("5")
    page.locator(".gk-graph").first.focus()
    page.keyboard.press("ArrowRight")
    notes = page.locator(".gk-graph .gk-note").all_text_contents()
    assert notes[0] == "vertex 0: 0; taken up in 1 iteration"
    assert notes[1].startswith("vertex 0: ")
    assert page.locator(".gk-graph .gk-halo").nth(1).get_attribute("d")
    page.keyboard.press("Escape")
    assert page.locator(".gk-graph .gk-note").all_text_contents() == ["", ""]


def test_what_a_filter_dropped_is_told_apart_from_what_it_missed(open_figures):
    page = open_figures(["filters"])
    view = VIEWS["filters"]
    for way, levels in view._levels.items():
        page.get_by_label("Duplicates").select_option(way)
        for k, level in enumerate(levels):
            page.get_by_role("slider").fill(str(k))
            names = page.locator(".gk-counter dt").all_text_contents()
            shown = page.locator(".gk-counter dd").all_text_contents()
            told = dict(zip(names, shown, strict=True))
            assert told["duplicates detected"] == str(level.detected)
            assert told["duplicates missed"] == str(level.surplus)
            rings = page.locator(".gk-graph > .gk-dot-wait").get_attribute("d")
            assert rings.count("M") == len(set(level.dropped) - set(level.duplicates))


def test_each_step_of_a_warp_lights_its_line_and_lanes(open_figures):
    page = open_figures(["warp"])
    trace = TRACES["harish"]
    here = (trace.steps.launch == 5) & (trace.steps.warp == 0) & (trace.steps.block == 0)
    lines, masks = trace.steps.line[here], trace.steps.mask[here]
    slider = page.get_by_role("slider")
    for step in range(len(lines)):
        slider.fill(str(step))
        now = page.locator(".gk-row-now")
        assert now.count() == 1
        assert now.locator(".gk-num").text_content() == str(lines[step])
        assert (
            now.locator(".gk-times").text_content()
            == f"×{(lines[: step + 1] == lines[step]).sum()}"
        )
        active = page.locator(".gk-counter").first.locator("dd").text_content()
        assert active == f"{int(masks[step]).bit_count()} of 32"


def test_the_source_can_follow_another_warp(open_figures):
    page = open_figures(["block"])
    steps = TRACES["harish"].steps
    ended = (steps.launch == 5) & (steps.warp == 1)
    page.get_by_label("Source follows").select_option("warp 1")
    page.get_by_role("slider").fill("0")
    assert page.locator(".gk-now").text_content().startswith("Warp 1, step 1, line")
    assert page.locator(".gk-row-now .gk-num").text_content() == str(steps.line[ended][0])


def test_each_request_has_a_wire_a_lane(open_figures):
    page = open_figures(["memory"])
    trace = VIEWS["memory"].payload["traces"][0]
    for step in range(trace["steps"]):
        page.get_by_role("slider").fill(str(step))
        lanes = int(page.locator(".gk-now").text_content().split(": ")[1].split()[0])
        wires = page.locator(".gk-addresses .gk-wire").get_attribute("d").count("M")
        assert wires == lanes


def test_units_show_who_visits_them_round_by_round(open_figures):
    page = open_figures(["mapping"])
    strips = page.locator(".gk-map-strip")
    for name in ("eight", "holes"):
        page.get_by_label("Workload").select_option(name)
        (shown,) = (t for t in VIEWS["mapping"].payload["traces"] if t["label"] == name)
        large = any(max(unpack(m["thread"])) > 99 for m in shown["methods"])
        for level in ("thread", "warp", "block"):
            page.get_by_label("Color by").select_option(level)
            for step in {0, 1, shown["steps"] - 1}:
                page.get_by_role("slider").fill(str(step))
                assert page.locator(".gk-now").text_content() == shown["sentences"][step]
                for k, method in enumerate(shown["methods"]):
                    rounds, who = unpack(method["round"]), unpack(method[level])
                    words = strips.nth(k).locator(".gk-u-dark tspan")
                    truth = [str(w) if r <= step else "" for w, r in zip(who, rounds, strict=True)]
                    assert words.all_text_contents() == truth
                    now = strips.nth(k).locator(".gk-s-now").get_attribute("d") or ""
                    # Numbers of three digits have wider cells.
                    cell = 27 if large else 18
                    wide = [(float(w) + 1) / cell for w in re.findall(r"h([\d.]+)", now)]
                    assert sum(wide) == (rounds == step).sum()


def test_a_unit_tells_its_request(open_figures):
    page = open_figures(["mapping"])
    strip = page.locator(".gk-map-strip").first
    strip.focus()
    page.keyboard.press("ArrowRight")
    facts = page.locator(".gk-map-head small").first
    assert facts.text_content() == (
        "unit 0 of A: thread 0, round 1; one request: 8 units, 3 sectors"
    )
    assert strip.locator(".gk-wire-picked").get_attribute("d").count("M") == 8
    page.keyboard.press("Escape")
    assert facts.text_content().startswith("8 rounds, 8 requests, ")


@pytest.mark.parametrize("name", ["scan", "sweeps"])
@pytest.mark.parametrize(("width", "shown"), [(1280, "wide"), (390, "tall")])
def test_each_step_of_a_scan_shows_its_values_and_who_read_whom(open_figures, name, width, shown):
    page = open_figures([name], width=width)
    columns = VIEWS[name].payload["traces"][0]["columns"]
    pictures = page.locator(f".gk-scan-{shown}")
    # On a phone a picture has 32 rows at most; what leads from one to the other is in both.
    assert pictures.count() == (columns // 32 if shown == "tall" else 1)
    assert page.locator(f".gk-scan > svg:not(.gk-scan-{shown}):visible").count() == 0
    picture = pictures.first
    assert picture.is_visible()
    for trace in VIEWS[name].payload["traces"]:
        page.locator("figure select").first.select_option(trace["label"])
        at, kinds = unpack(trace["kinds"]["at"]), unpack(trace["kinds"]["of"])
        for step in range(trace["steps"]):
            page.get_by_role("slider").fill(str(step))
            assert page.locator(".gk-now").text_content() == trace["sentences"][step]
            mine = kinds[at[step] : at[step + 1]]
            for look, kind in (("add", 0), ("take", 1)):
                d = picture.locator(f".gk-s-{look}").get_attribute("d")
                assert d.count("M") == (mine == kind).sum()
            if trace["columns"] == 32:
                words = picture.locator(".gk-scan-word tspan").all_text_contents()
                values = " ".join(trace["words"][: step + 1]).split()
                assert sorted(words) == sorted(values)


def test_a_value_shows_what_went_into_it(open_figures):
    page = open_figures(["scan"])
    picture = page.locator(".gk-scan-wide")
    note = picture.locator(".gk-note")
    assert note.text_content().startswith("Point at or tap a value")
    picture.focus()
    for _ in range(32 * 3 + 8):
        page.keyboard.press("ArrowRight")
    values = np.arange(32) % 7
    assert note.text_content() == (
        f"step 3, lane 7: {values[:8].sum()} from {values[4:8].sum()} of its own "
        f"and {values[:4].sum()} of lane 3"
    )
    # Eight values at first, then four, two, one; as many curves as lead from one to the next.
    halo = picture.locator(".gk-wire-picked").get_attribute("d")
    assert halo.count("z") == 8 + 4 + 2 + 1
    assert halo.count("C") == 8 + 4 + 2
    page.keyboard.press("Escape")
    assert note.text_content().startswith("Point at or tap a value")


def test_the_slider_and_the_buttons_work_by_keyboard(open_figures):
    page = open_figures(["frontier"])
    figure = page.locator("figure")
    slider = figure.get_by_role("slider", name="Level")
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert slider.input_value() == "5"
    page.keyboard.press("Home")
    assert slider.input_value() == "0"
    assert figure.get_by_role("button", name="Previous level").is_disabled()
    assert slider.get_attribute("aria-valuetext").startswith("level 0 of ")
    figure.get_by_role("button", name="Next level").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Space")
    assert slider.input_value() == "2"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "SELECT"
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_vertices_and_lanes_can_be_asked_by_keyboard(open_figures):
    page = open_figures(["values", "memory"])
    page.locator(".gk-graph").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    note = page.locator(".gk-graph .gk-note")
    assert note.text_content() == "vertex 1, value 3: to 0, 2"
    page.keyboard.press("Escape")
    assert note.text_content() == ""
    page.locator(".gk-addresses").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".gk-addresses .gk-note").text_content().startswith("lane ")


def test_pointing_at_a_vertex_names_it(open_figures):
    page = open_figures(["values"])
    box = page.locator(".gk-graph").bounding_box()
    d = VIEWS["values"]._drawing
    scale = box["width"] / d.width
    page.mouse.move(box["x"] + d.x[8] / 10 * scale, box["y"] + d.y[8] / 10 * scale)
    assert page.locator(".gk-graph .gk-note").text_content().startswith("vertex 8, value")


def test_a_vertex_of_a_search_says_at_which_level_it_was_found(open_figures):
    g = gk.Graph.from_arcs(5, [0, 1, 1], [1, 2, 3])
    with gk.trace() as t:
        bfs(g, root=0, method="frontier")
    page = open_figures(["search"], views={"search": FrontierView(g, t)})
    picture = page.locator(".gk-graph")
    picture.focus()
    said = []
    for _ in range(g.n):
        page.keyboard.press("ArrowRight")
        said.append(picture.locator(".gk-note").text_content())
    assert said == [
        "vertex 0: the root",
        "vertex 1: found at level 0",
        "vertex 2: found at level 1",
        "vertex 3: found at level 1",
        "vertex 4: never reached",
    ]


def test_a_click_on_the_timeline_goes_there(open_figures):
    page = open_figures(["frontier"])
    strip = page.locator(".gk-strip").first
    box = strip.bounding_box()
    steps = VIEWS["frontier"].payload["traces"][0]["steps"]
    strip.click(position={"x": box["width"] * 7.5 / steps, "y": 5})
    assert page.get_by_role("slider").input_value() == "7"
    thumb = page.get_by_role("slider").bounding_box()
    assert thumb["x"] >= 0


def test_play_runs_to_the_end_and_can_be_paused(open_figures):
    page = open_figures(["values"])
    now = page.locator(".gk-now")
    page.get_by_label("Speed").select_option("8×")
    slider = page.get_by_role("slider")
    slider.fill("0")
    page.get_by_role("button", name="Play").click()
    assert now.get_attribute("aria-live") == "off"
    page.get_by_role("button", name="Pause").click()
    assert now.get_attribute("aria-live") == "polite"
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("document.querySelector('input[type=range]').value === '2'")
    page.get_by_role("button", name="Play").wait_for()
    # At its end it starts again.
    page.get_by_role("button", name="Play").click()
    assert slider.input_value() in "01"


def test_play_can_be_seen_under_the_pointer(open_figures):
    play = open_figures(["values"]).get_by_role("button", name="Play")
    color = "button => getComputedStyle(button).backgroundColor"
    before = play.evaluate(color)
    play.hover()
    assert play.evaluate("button => button.matches(':hover')")
    assert play.evaluate(color) == before


def test_figures_of_a_page_are_independent(open_figures):
    page = open_figures(["frontier", "rows"])
    first, second = page.get_by_role("slider").all()
    first.fill("1")
    assert second.input_value() == "4"


#: What axe looks for: everything in one theme at either width, and colors alone in the other.
LOOKS = [(1280, "light", {}), (390, "light", {"color": False}), (390, "dark", {"structure": False})]
if not WHOLE:  # each rule once
    LOOKS[:2] = [(390, "light", {"color": False})]


@pytest.mark.parametrize(("width", "theme", "rules"), LOOKS)
def test_all_figures_pass_axe_and_fit_the_page(open_figures, width, theme, rules):
    page = open_figures(list(VIEWS), theme=theme, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert faults(page, **rules) == []


#: What of a figure can be scrolled sideways, or stands out of its column.
SIDEWAYS = """() => [...document.querySelectorAll("figure *")].filter((e) => {
    const scrolls = /auto|scroll/.test(getComputedStyle(e).overflowX);
    const right = (box) => box.getBoundingClientRect().right;
    const beyond = right(e) > right(e.closest("figure")) + 1;
    if (e.closest("svg, .gk-scrub, details:not([open])")) return false;
    return scrolls ? e.scrollWidth > e.clientWidth + 1 : beyond;
}).map((e) => e.outerHTML.slice(0, 120))"""


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_in_a_figure_has_to_be_scrolled_to_sideways(open_figures, width):
    page = open_figures(list(VIEWS), width=width)
    assert page.evaluate(SIDEWAYS) == []


def faults(page, **rules):
    return [
        fault
        for fault in violations(page, tags=(*TAGS, "best-practice"), **rules)
        if fault[0] not in NOT_OURS
    ]


def test_the_first_frame_passes_axe_without_scripts_of_its_own(open_figures):
    page = open_figures(list(VIEWS))
    page.evaluate("(html) => { document.querySelector('main').innerHTML = html; }",
                  "".join(view.html for view in VIEWS.values()))  # fmt: skip
    assert faults(page) == []


def test_dark_pages_have_dark_figures(open_figures):
    ink, paper = {}, {}
    for theme in COLORS:
        figure = open_figures(["warp"], theme=theme).locator("figure")
        ink[theme], paper[theme] = figure.evaluate(
            "(f) => [getComputedStyle(f).color, getComputedStyle(f).backgroundColor]"
        )
    assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 18, 18)"}
    assert ink["light"] != ink["dark"]


def test_nothing_moves_where_less_motion_is_asked_for(open_figures):
    page = open_figures(list(VIEWS), reduced_motion="reduce")
    moving = page.evaluate("""() => [...document.querySelectorAll("figure *")].filter((e) => {
        const s = getComputedStyle(e);
        return s.animationName !== "none" || parseFloat(s.transitionDuration) > 0;
    }).length""")
    assert moving == 0


def test_small_controls_are_large_enough_to_touch(open_figures):
    page = open_figures(["block"], width=390)
    for control in page.locator("figure button, figure select").filter(visible=True).all():
        assert control.bounding_box()["height"] >= 32


def large_view(kind):
    """Return a view of more than two thousand marks."""
    graph = gk.road_grid(30, 30, seed=2)
    with gk.trace() as t:
        bfs(graph, root=0, method="harish")
    assert graph.n + graph.m // 2 > 2000
    return {
        "frontier": lambda: FrontierView(graph, t),
        "warp": lambda: WarpView(t, launch=10),
        "memory": lambda: MemoryView(t, block=None, warp=None),
        "mapping": lambda: MappingView(expanded(LONG), LONG, step=0),
        "relax": lambda: RelaxView(graph, relaxed(graph)),
        "tile": lambda: TileView(all_pairs(gk.erdos_renyi(60, 3.0, seed=1), blocked=BLOCKED)),
        "graph": lambda: GraphView(graph, np.arange(20 * graph.n).reshape(20, -1) % 97),
    }[kind]()


@pytest.mark.parametrize(
    "kind", ["frontier", "warp", "memory", "graph", "mapping", "relax", "tile"]
)
def test_a_step_of_two_thousand_marks_touches_few_elements(open_figures, kind):
    """Marks of one look are one path, so that a step is not a change a mark."""
    view = large_view(kind)
    page = open_figures([kind], views={kind: view})
    changes = page.evaluate(CHANGES)
    assert len(view.html) < 200_000
    assert 0 < changes < 800, changes  # eleven mappings at once take most


#: The most changes of the page that any of 40 steps makes.
CHANGES = """() => {
    const range = document.querySelector("input[type=range]");
    const seen = new MutationObserver(() => {});
    const all = { subtree: true, childList: true, attributes: true, characterData: true };
    seen.observe(document.querySelector("figure"), all);
    let most = 0;
    for (let k = 0; k < 40; k++) {
        range.value = (k * 7) % (Number(range.max) + 1);
        range.dispatchEvent(new Event("input"));
        most = Math.max(most, seen.takeRecords().length);
    }
    return most;
}"""


LIVE = """async ([code, payload]) => {
    const module = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
    const values = { payload, step: payload.step, trace: payload.traces[0].label };
    const hooks = {};
    window.saved = [];
    window.model = {
        get: (name) => values[name],
        set(name, value) {
            if (values[name] === value) return;
            values[name] = value;
            (hooks["change:" + name] || []).forEach((f) => f());
        },
        save_changes() { window.saved.push({ step: values.step, trace: values.trace }); },
        on(event, f) { (hooks[event] ||= []).push(f); },
        off(event, f) { hooks[event] = (hooks[event] || []).filter((g) => g !== f); },
    };
    document.body.replaceChildren(document.createElement("main"));
    const el = document.querySelector("main");
    window.undo = module.default.render({ model: window.model, el });
}"""


@pytest.mark.parametrize(
    "name", ["frontier", "block", "memory", "rows", "mapping", "scan", "hash", "relax", "tile"]
)
def test_the_live_widget_is_the_same_figure_and_talks_to_its_model(open_figures, name):
    view = VIEWS[name]
    page = open_figures([name])
    hydrated = page.locator(".gk-stage").evaluate(OUTLINE)
    page.evaluate(LIVE, [module_for(view._kind), view.payload])
    assert page.locator(".gk-stage").evaluate(OUTLINE) == hydrated
    page.get_by_role("slider").fill("3")
    assert page.evaluate("window.saved.at(-1).step") == 3
    page.evaluate("window.model.set('step', 1)")
    assert page.get_by_role("slider").input_value() == "1"
    if len(view.payload["traces"]) > 1:
        last = view.payload["traces"][-1]["label"]
        page.evaluate("(label) => window.model.set('trace', label)", last)
        assert page.locator("figure select").first.input_value() == last
    page.evaluate("window.undo()")
    page.evaluate("window.model.set('step', 2)")
    assert page.get_by_role("slider").input_value() == "1"
