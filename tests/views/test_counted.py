"""Figures count as readers do: a run of 26 steps ends at step 26, and numbers have a meaning."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from built_book import ROOT
from example_figures import VIEWS, figure_of
from javascript import asked

import gpukernels as gk
from gpukernels.trace import metrics
from gpukernels.views import WarpView, script

REGISTRY = ", ".join(f"{kind}: {kind}View" for kind in script.VIEWS)
#: Every frame of every run: its label, the text below the label, its sentence, its counters.
FRAMES = asked(
    ["counted", "figure", *script.VIEWS],
    """(record) => {
      const view = { REGISTRY }[record.view], opened = view.open(record, () => false);
      const counted = opened.counted || view.counted;
      return record.traces.map((trace, k) => {
        const scene = opened.choose(k, () => {}, () => {});
        return Array.from({ length: scene.steps }, (_, step) => {
          scene.show(step);
          return {
            label: counted.name(step), of: counted.of(scene.steps),
            said: scene.sentence(step), counters: scene.counters(step).map(([, name]) => name),
          };
        });
      });
    }""".replace("REGISTRY", REGISTRY),
)
#: The label of a frame, and the number of frames up to it.
LABEL = asked(
    ["counted", "figure", *script.VIEWS],
    """(record, step) => {
      const view = { REGISTRY }[record.view], opened = view.open(record, () => false);
      const counted = opened.counted || view.counted;
      return [counted.name(step), counted.many(step + 1)];
    }""".replace("REGISTRY", REGISTRY),
)
MEANINGS = asked(
    ["figure", *script.VIEWS],
    f"() => [{', '.join(f'{kind}View.meanings || {{}}' for kind in script.VIEWS)}]",
)
COUNTED = asked(
    ["counted"],
    """(kind, frames, first) => {
      const of = { countEach, countAfter, countNames }[kind]("step", first);
      return [of.name(0), of.name(frames - 1), of.of(frames), of.many(frames)];
    }""",
)
LINK = re.compile(r"\[([^\]]*)\]\(#(fig-[a-z0-9-]+)\?([^)\s]*\bstep=\d+[^)\s]*)\)")
RECORD = re.compile(r'<script type="application/json">(.*?)</script>', re.DOTALL)
NUMBERS = dict(
    zip("one two three four five six seven eight nine ten".split(), range(1, 11), strict=True)
)


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        ("countEach", (26, 1), ["step 1", "step 26", "of 26", "26 steps"]),
        ("countEach", (1, 1), ["step 1", "step 1", "of 1", "1 step"]),
        ("countEach", (16, 11), ["step 11", "step 26", "of 11 to 26", "16 steps"]),
        ("countAfter", (27,), ["step 0", "step 26", "of 26", "26 steps"]),
        ("countNames", (6, "levels"), ["step 0", "step 5", "of 0 to 5", "6 levels"]),
    ],
)
def test_the_last_of_26_steps_is_step_26(kind, given, expected):
    assert COUNTED(kind, *given) == expected


@pytest.mark.parametrize("name", VIEWS)
def test_the_sentence_of_a_frame_has_the_number_beside_the_slider(name):
    record, count = figure_of(name).payload, 0
    for frames in FRAMES(record):
        for frame in frames:
            noun, number = frame["label"].split()
            match = re.search(rf"(?:^|, ){noun} (\d+)\b", frame["said"], re.IGNORECASE)
            count += match is not None
            assert match is None or match[1] == number
    if record["view"] in ("warp", "memory", "mapping", "hash", "scan", "relax", "frontier"):
        assert count


def test_a_warp_ends_at_the_step_that_is_the_number_of_its_steps():
    graph = gk.road_grid(6, 7, seed=1)
    trace = gk.traced(gk.bfs, graph).trace
    launch = 3
    longest = int(metrics.per_warp(trace.steps, trace.launches[launch])[0].max())
    (frames,) = FRAMES(WarpView(trace, launch).payload)
    assert len(frames) == longest > 3
    assert (frames[0]["label"], frames[-1]["label"]) == ("step 1", f"step {longest}")
    assert frames[-1]["of"] == f"of {longest}"
    # The rest by itself keeps its numbers.
    (rest,) = FRAMES(WarpView(trace, launch, start=2).payload)
    assert [f["said"] for f in rest] == [f["said"] for f in frames[2:]]
    assert [f["label"] for f in rest] == [f["label"] for f in frames[2:]]
    assert rest[0]["of"] == f"of 3 to {longest}"


@pytest.mark.parametrize("name", [n for n in VIEWS if not n.startswith(("energy", "compare"))])
def test_every_counter_says_what_it_counts(name):
    record = figure_of(name).payload
    meanings = dict(zip(script.VIEWS, MEANINGS(), strict=True))[record["view"]]
    for frames in FRAMES(record):
        for frame in frames:
            assert set(frame["counters"]) <= set(meanings)


def _links(path: Path):
    """Yield words, figure and state of each link of a chapter, and the records of its figures."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    records = {}
    for cell in cells:
        for output in cell.get("outputs", ()):
            for text in RECORD.findall("".join(output.get("data", {}).get("text/html", ""))):
                record = json.loads(text)
                if "view" in record:
                    records[gk.views.address.figure_id(record)] = record
    for cell in cells:
        if cell["cell_type"] == "markdown":
            for words, figure, state in LINK.findall("".join(cell["source"])):
                yield words, records[figure], dict(x.split("=") for x in state.split("&"))


@pytest.mark.parametrize("path", sorted((ROOT / "chapters").glob("*.ipynb")), ids=lambda p: p.stem)
def test_a_sentence_names_the_step_that_its_link_shows(path):
    for words, record, state in _links(path):
        label, many = LABEL(record, int(state["step"]))
        noun, number = label.split()
        named = re.search(rf"\b{noun} (\d+)\b", words, re.IGNORECASE)
        assert named is None or named[1] == number, words
        match = re.search(rf"\b(\w+) ({noun}s)\b", words)
        if match and (match[1].isdigit() or match[1] in NUMBERS):
            assert f"{NUMBERS.get(match[1], match[1])} {match[2]}" == many, words
