"""The chapters show each exercise from the package, check its skeleton and run its solution."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from adversaries import NOTEBOOK

import gpukernels as gk
from gpukernels.exercises import CATALOG, OPEN
from gpukernels.exercises.judge.effort import COMPLETE, FIND, PREDICT, WRITE

CHAPTERS = Path(__file__).parents[2] / "chapters"
#: What stands before the title of an exercise in its heading.
BEFORE = {PREDICT: "Predict", FIND: "Find the bug", WRITE: "Write"}


def texts_of(chapter: str) -> list[str]:
    """Return the Markdown cells of a chapter."""
    cells = nbformat.read(CHAPTERS / f"{chapter}.ipynb", 4).cells
    return [cell.source for cell in cells if cell.cell_type == "markdown"]


def cells_of(name: str) -> list:
    """Return the code cells of an exercise: from its own id to the next one's."""
    notebook = nbformat.read(CHAPTERS / f"{NOTEBOOK[name.rpartition('-')[0]]}.ipynb", 4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    start = next(k for k, c in enumerate(code) if f'gk.exercise("{name}")' in c.source)
    rest = [k for k in range(start + 1, len(code)) if "gk.exercise(" in code[k].source]
    return code[start : rest[0] if rest else None]


def shown(cell) -> str:
    """Return the plain text of a cell's outputs."""
    return "\n".join(output["data"]["text/plain"] for output in cell.outputs)


@pytest.mark.parametrize("name", CATALOG)
def test_a_heading_says_what_is_to_be_done_and_what_it_is_called(name):
    chapter, _, number = name.rpartition("-")
    kind, title = CATALOG[name].kind, CATALOG[name].title
    begin = "Complete" if kind == COMPLETE else f"{number}. {BEFORE[kind]}"
    heading = f"### {begin}: {title}"
    assert f"(exercise-{name})=\n{heading}" in texts_of(NOTEBOOK[chapter])


@pytest.mark.parametrize("name", OPEN)
def test_the_heading_of_an_open_task_is_its_title(name):
    start = f"(exercise-{name})=\n### Open: {OPEN[name].title}\n"
    texts = texts_of(NOTEBOOK[name.removesuffix("-open")])
    assert len([text for text in texts if text.startswith(start)]) == 1


def test_every_chapter_says_in_the_same_words_where_exercises_are_judged():
    """On a page two kinds need no cell, which a page does not have; in a notebook all have."""
    sentences = set()
    for chapter in NOTEBOOK.values():
        (text,) = [text for text in texts_of(chapter) if "## Exercises\n" in text]
        sentences.add(text.partition("## Exercises\n")[2].strip())
    (words,) = sentences
    for place in ("On the book's pages", "the notebook <../book/reading>", "ex.check(...)"):
        assert place in words
    assert "this page" not in words


@pytest.mark.parametrize("name", CATALOG)
def test_a_chapter_shows_the_statement_and_checks_the_skeleton_and_the_folded_solution(name):
    statement, skeleton, check, solution, *folded = cells_of(name)
    assert shown(statement).strip() == repr(gk.exercise(name)).strip()
    assert skeleton.source == gk.exercise(name).skeleton.rstrip("\n")
    assert check.source.startswith("ex.check(")
    assert "hide-output" in check.metadata["tags"]
    assert shown(check).startswith(f"{name} ({gk.exercise(name).title}): not yet")
    assert solution.source.endswith("display(ex.solution, ex.check(ex.solution))")
    assert {"hide-cell", "solution"} <= set(solution.metadata["tags"])
    text = shown(solution)
    assert gk.exercise(name).solution.text in text
    assert f"{name} ({gk.exercise(name).title}): solved" in text
    for cell in folded:  # what gives an answer away is folded
        assert "hide-cell" in cell.metadata["tags"]
