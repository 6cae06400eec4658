"""What exercises say stands in Markdown, a file a chapter, and none of it is lost."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import gpukernels as gk
from gpukernels.exercises import CATALOG
from gpukernels.exercises.judge.words import parsed

FILES = sorted((Path(gk.__file__).parent / "exercises" / "tasks").glob("*.md"))

HEAD = "# x-1: one\n\n- level: easy\n- teaches: to count\n\n"
ONE = f"{HEAD}How many?\n\n## Hint\n\nFew.\n\n## Why\n\nOne.\n"


def test_the_files_hold_the_tasks_of_the_catalog_each_once():
    ids = [task.id for file in FILES for task in parsed(file.read_text("utf-8"), file.name)]
    assert sorted(ids) == sorted(CATALOG)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_s_tasks_are_those_of_its_module_in_order(file):
    module = importlib.import_module(f"gpukernels.exercises.tasks.{file.stem}")
    tasks = parsed(file.read_text("utf-8"), file.name)
    assert [task.id for task in tasks] == [exercise.id for exercise in module.EXERCISES]


def test_parts_keep_their_blank_lines_and_lose_those_around_them():
    (task,) = parsed(ONE.replace("How many?", "How\n\n- many?"), "x.md")
    assert task == ("x-1", "one", "easy", "to count", "How\n\n- many?", "Few.", "One.", ())


def test_the_lines_of_a_bug_are_numbers_and_texts():
    text = ONE.replace("## Why", "## Line\n\n- 3: `a = b`\n- 12: `if a:`\n\n## Why")
    (task,) = parsed(text, "x.md")
    assert task.lines == ((3, "a = b"), (12, "if a:"))
    assert (task.hint, task.why) == ("Few.", "One.")


#: What stands in a file instead of what, and what the error says then.
DAMAGED = [
    ("## Why", "## Line\n\na = b\n\n## Why", "a line is '- 12: `its text`', and not"),
    ("## Hint", "## Line\n\n- 1: `a`\n\n## Hint", "'## Line' between them"),
    ("## Hint\n\nFew.\n\n", "", "x.md: x-1 is a statement, '## Hint' and '## Why'"),
    ("How many?", "", "x-1 is a statement"),
    ("- level: easy\n", "", "x-1 begins with '- level: ' and one of easy, medium"),
    ("easy", "simple", "x-1 begins with '- level: '"),
    ("to count", "", "and with '- teaches: ' and what goes on"),
    ("to count", "To count.", "without a full stop"),
    ("## Why", "## Hint", "x-1 is a statement"),
    ("One.\n", f"One.\n{ONE}", "x.md: x-1 stands twice"),
]


@pytest.mark.parametrize(("part", "instead", "says"), DAMAGED)
def test_a_file_that_lacks_a_part_is_refused(part, instead, says):
    with pytest.raises(ValueError, match=says):
        parsed(ONE.replace(part, instead), "x.md")
