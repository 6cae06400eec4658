"""Each figure's program runs alone and gives the record that the page holds, byte for byte."""

from __future__ import annotations

import json
import re

import pytest
from effort import EFFORT, SOAK
from interpreter import ROOT
from live import code_cells, listed_programs, programs_of
from page_parts import FIGURE

from gpukernels.views.address import figure_id

#: Programs that take a second or two together, of five views and of kernels that a page defines.
SAMPLE = {
    ("before_the_first_warp", "fig-first"),
    ("frontier_bfs", "fig-four-mappings"),
    ("hbf", "fig-nine"),
    ("duplicates", "fig-two-warps"),
    ("frontier_bfs", "fig-seven-lists"),
}
CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))
PROGRAMS = {
    (chapter.stem, figure): program
    for chapter in CHAPTERS
    for figure, program in programs_of(code_cells(chapter)).items()
}


#: Listings whose program runs with every test; in a night all do.
LISTED = {("frontier_bfs", "harish-level"), ("scans", "block-exclusive-scan")}
LISTINGS = {
    (chapter.stem, name): program
    for chapter in CHAPTERS
    for name, program in listed_programs(code_cells(chapter)).items()
    if program
}


def records_of(html: str) -> dict[str, str]:
    """Return the records in a text, by the ids of their figures."""
    return {
        figure_id(json.loads(match["record"])): match["record"] for match in FIGURE.finditer(html)
    }


def without_line_numbers(text: str) -> str:
    """Return a record without the numbers of lines: a kernel has others in its program."""
    record = json.loads(text)
    record["description"] = re.sub(r"\b(L|l)ine \d+", "line", record["description"])
    for trace in record["traces"]:
        trace.pop("numbers", None)
        for line in trace.get("texts", []):
            if isinstance(line, list):
                line[0] = None
    return json.dumps(record)


def page_records(chapter: str) -> dict[str, str]:
    """Return the records that a chapter's notebook has stored."""
    notebook = json.loads((ROOT / "chapters" / f"{chapter}.ipynb").read_text(encoding="utf-8"))
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    return records_of("".join("".join(o.get("data", {}).get("text/html", "")) for o in outputs))


def test_every_figure_but_those_of_measurements_has_a_program():
    figures = sum(len(page_records(chapter.stem)) for chapter in CHAPTERS)
    assert figures - len(PROGRAMS) <= 17  # of stored measurements, and of METIS and Dask


@pytest.mark.parametrize(("chapter", "figure"), sorted(PROGRAMS if EFFORT == SOAK else SAMPLE))
def test_a_program_alone_gives_the_record_of_the_page(interpreter, chapter, figure):
    result = interpreter("run", text=PROGRAMS[chapter, figure])
    assert result["error"] is None
    shown = "".join(result["shown"])
    pair = records_of(shown)[figure], page_records(chapter)[figure]
    if "@cuda.jit" in PROGRAMS[chapter, figure]:
        pair = tuple(map(without_line_numbers, pair))
    assert pair[0] == pair[1]


def test_most_printed_kernels_have_a_program():
    assert len(LISTINGS) >= 58


@pytest.mark.parametrize(("chapter", "name"), sorted(LISTINGS if EFFORT == SOAK else LISTED))
def test_the_program_of_a_listing_shows_warps_that_run_it(interpreter, chapter, name):
    result = interpreter("run", text=LISTINGS[chapter, name])
    assert result["error"] is None
    function = name.replace("-", "_")
    assert function in "".join(result["shown"])
