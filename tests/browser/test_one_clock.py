"""Runs that a figure compares share an axis of steps, and each has its finish line."""

from __future__ import annotations

import re

import numpy as np
import pytest
from made_once import MadeOnce
from test_views import (  # noqa: F401
    BLOCKED,
    EIGHT,
    EXAMPLE,
    HOLES,
    ROADS,
    TRACES,
    VIEWS,
    WEIGHED,
    all_pairs,
    expanded,
    folder,
    open_figures,
    relaxed,
)

import gpukernels as gk
from gpukernels.views import FrontierView, GraphView, MappingView, RelaxView, TileView, WarpView


def searches():
    """Return searches of one graph that end after unlike numbers of levels."""
    found = {}
    for root in (0, 20):
        with gk.trace() as t:
            gk.bfs(ROADS, root=root, method="harish")
        found[f"from {root}"] = t
    return found


def warps(**options):
    return WarpView(
        {name: TRACES[name] for name in ("harish", "edge_parallel")}, launch=2, warp=0, **options
    )


RACES = MadeOnce(
    {
        "levels": lambda: FrontierView(ROADS, searches()),
        "warps": warps,
        "values": lambda: GraphView(EXAMPLE, {"two": np.ones((2, 16)), "nine": np.ones((9, 16))}),
    }
)
ENDS = """(strips) => strips.map((strip) => {
  const end = strip.querySelector(".gk-s-end"), head = strip.querySelector(".gk-f-playhead");
  const middle = Number(head.getAttribute("x")) + Number(head.getAttribute("width")) / 2;
  return [strip.viewBox.baseVal.width, end.getAttribute("d"), middle];
})"""


@pytest.mark.parametrize("scripts", [True, False])
@pytest.mark.parametrize("name", RACES)
def test_runs_to_choose_from_are_on_one_clock(open_figures, name, scripts):  # noqa: F811
    view = RACES[name]
    traces = view.payload["traces"]
    steps = [trace["steps"] for trace in traces]
    assert len({*steps}) > 1
    page = open_figures([name], views=RACES, scripts=scripts)
    choice = page.locator(".gk-controls select").first
    shown = range(len(traces)) if scripts else [0]
    for k in shown:
        if scripts:
            choice.select_option(index=k)
        for step in {0, min(steps) - 1, steps[k] - 1} if scripts else {view.step}:
            if step >= steps[k]:
                continue
            if scripts and steps[k] > 1:
                page.locator(".gk-scrub input").fill(str(step))
            lanes = page.locator(".gk-race-strip").evaluate_all(ENDS)
            assert [wide for wide, _, _ in lanes] == [max(steps)] * len(steps)
            assert [int(re.match(r"M(\d+) 0v", d)[1]) for _, d, _ in lanes] == steps
            assert [at for _, _, at in lanes] == pytest.approx([step + 0.5] * len(steps), abs=0.11)
            words = page.locator(".gk-race-steps").all_text_contents()
            # Values before the first step are a frame, and no step.
            many = [s - 1 if name == "values" else s for s in steps]
            nouns = [("level" if name == "levels" else "step") + "s" * (m != 1) for m in many]
            done = ["✓ " if step >= s - 1 else "" for s in steps]
            each = zip(done, many, nouns, strict=True)
            assert words == [f"{sign}{m} {noun}" for sign, m, noun in each]
        names = page.locator(".gk-race > span:not(.gk-race-steps)")
        assert names.all_text_contents() == [trace["label"] for trace in traces]
        assert page.locator(".gk-race-chosen").text_content() == traces[k]["label"]


def test_equal_runs_and_those_cut_off_have_no_race(open_figures):  # noqa: F811
    cut = {"cut": warps(limit=10)}
    assert open_figures(["cut"], views=cut).locator(".gk-race").count() == 0
    assert open_figures(["frontier"]).locator(".gk-race").count() == 0
    # Networks, workloads and clocks are no runs of one thing.
    for name in ("relax classes", "mapping", "tile forms"):
        assert open_figures([name]).locator(".gk-race").count() == 0


SIDES = {
    "relax": RelaxView(WEIGHED, relaxed(WEIGHED, roots=(0, 20))),
    "tile": TileView(all_pairs(EXAMPLE, naive={}, blocked=BLOCKED)),
    "mapping": MappingView({"a": expanded(EIGHT), "b": expanded(HOLES)}, {"a": EIGHT, "b": HOLES}),
}


@pytest.mark.parametrize("name", SIDES)
def test_runs_side_by_side_have_an_axis_in_common_and_a_finish_line_each(open_figures, name):  # noqa: F811
    view, page = SIDES[name], open_figures([name], views=SIDES)
    ends = {
        "relax": lambda: [len(run.iterations) + 1 for run in view._runs[""].values()],
        "tile": lambda: None,
        "mapping": lambda: [m.rounds for m in view._workloads["a"].methods.values()],
    }[name]()
    strips = page.locator(".gk-strip:has(.gk-s-end)")
    assert {s.evaluate("(s) => s.viewBox.baseVal.width") for s in strips.all()} == {
        view.payload["traces"][0]["steps"]
    }
    lines = [d.get_attribute("d") for d in page.locator(".gk-strip .gk-s-end").all()]
    found = [int(x) for d in lines for x in re.findall(r"M(\d+) ", d)]
    if ends is None:
        assert len(found) == len(view._runs)
        assert max(found) == view.payload["traces"][0]["steps"]
        assert len({*found}) > 1
    else:
        assert found == ends


def test_a_technique_that_is_done_says_so(open_figures):  # noqa: F811
    page = open_figures(["mapping"], views=SIDES)
    rounds = [m.rounds for m in SIDES["mapping"]._workloads["a"].methods.values()]
    for step in (0, max(rounds) - 2, max(rounds) - 1):
        page.locator(".gk-scrub input").fill(str(step))
        done = page.locator(".gk-map-panel").evaluate_all(
            "(all) => all.map((p) => getComputedStyle(p.querySelector('b'), '::after').content)"
        )
        assert [text == '" ✓"' for text in done] == [step >= r - 1 for r in rounds]
