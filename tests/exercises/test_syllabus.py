"""The page for teachers: a semester whose lectures and labs are as long as the page claims."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
import pytest

from gpukernels.exercises.tasks import CHAPTERS

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "book"))

from exercise_pages import syllabus  # noqa: E402

PAGE = (ROOT / "book" / "teachers.md").read_text(encoding="utf-8")


def test_there_are_28_lectures_of_at_most_45_minutes_and_10_labs_of_at_most_90():
    found = list(syllabus.lectures(ROOT / "chapters"))
    assert len(found) == 28
    assert len(syllabus.LABS) == 10
    assert max(syllabus.minutes_of(sections) for _, sections in found) <= 45
    assert max(map(syllabus.lab_minutes, syllabus.LABS)) <= 90
    for number in ("28 lectures", "ten labs", "at most 45 minutes", "at most 90 minutes"):
        assert number in PAGE


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_section_is_taught_once_or_read_at_home(chapter):
    _, sections = syllabus.sections_of(ROOT / "chapters" / f"{chapter}.ipynb")
    found = syllabus.lectures(ROOT / "chapters")
    taught = [s for name, part in found if name == chapter for s in part]
    left = [s for s in sections if s not in taught]
    assert [s for s in sections if s in taught] == taught
    assert tuple(s.title for s in left) == syllabus.AT_HOME.get(chapter, ())
    assert all(s.title in " ".join(PAGE.split()) for s in left)


def test_minutes_come_from_words_code_and_figures(tmp_path):
    new = nbformat.v4
    cells = [
        new.new_markdown_cell("# A title\n\n" + "word " * 197),
        new.new_code_cell("x = 1\n" * 8),
        new.new_markdown_cell("## A section\n\n" + "word " * 47),
        new.new_code_cell("WarpView(t)", metadata={"tags": ["hide-input"]}),
        new.new_code_cell("WarpView(t)", metadata={"tags": ["hide-cell"]}),
        new.new_markdown_cell("## Exercises\n\n" + "word " * 500),
    ]
    nbformat.write(new.new_notebook(cells=cells), tmp_path / "a.ipynb")
    title, sections = syllabus.sections_of(tmp_path / "a.ipynb")
    assert title == "A title"
    assert sections == [("Opening", 4.0), ("A section", 3.5)]
