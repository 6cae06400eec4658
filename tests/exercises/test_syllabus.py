"""The page for teachers: a semester whose lectures and labs are as long as the page claims."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
import pytest

from gpukernels.exercises import CATALOG
from gpukernels.exercises.judge.effort import COMPLETE
from gpukernels.exercises.tasks import CHAPTERS

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "book"))

from exercise_pages import syllabus  # noqa: E402

PAGE = (ROOT / "book" / "teachers.md").read_text(encoding="utf-8")


def test_there_are_28_lectures_of_at_most_45_minutes_and_10_labs_of_at_most_90():
    lectures = list(syllabus.lectures(ROOT / "chapters"))
    assert len(lectures) == 28
    assert len(syllabus.LABS) == 10
    assert max(syllabus.minutes_of(sections) for _, sections in lectures) <= 45
    assert max(map(syllabus.lab_minutes, syllabus.LABS)) <= 90
    for number in ("28 lectures", "ten labs", "at most 45 minutes", "at most 90 minutes"):
        assert number in PAGE


def test_each_small_task_is_in_one_lab_before_the_other_tasks_of_its_chapter():
    small = [id for id, ex in CATALOG.items() if ex.kind == COMPLETE]
    assert len(small) == 2 * (len(CHAPTERS) - 1)
    assert [id for lab in syllabus.LABS for id in lab if id in small] == small
    assert "Every chapter after the first has two small tasks, of 5 and 10 minutes" in PAGE
    assert {CATALOG[id].minutes for id in small} == {5, 10}
    order = list(CATALOG)
    for lab in syllabus.LABS:
        assert list(lab) == sorted(lab, key=order.index)


def test_homework_is_the_longest_task_of_a_lab_that_has_no_time_for_it():
    given = [home for home in syllabus.HOMEWORK if home]
    assert len(given) == 9
    assert "Nine labs have no time for their\nlongest task" in PAGE
    for ids, home in zip(syllabus.LABS, syllabus.HOMEWORK, strict=True):
        if home:
            assert home not in ids
            assert syllabus.lab_minutes((*ids, home)) > 90
            assert CATALOG[home].minutes == max(CATALOG[id].minutes for id in (*ids, home))
            assert f"({CATALOG[home].minutes})" in syllabus.lab_table()


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_section_is_taught_once_or_read_at_home(chapter):
    _, sections = syllabus.sections_of(ROOT / "chapters" / f"{chapter}.ipynb")
    lectures = syllabus.lectures(ROOT / "chapters")
    taught = [s for name, part in lectures if name == chapter for s in part]
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
