"""The grading run that the page for teachers shows prints these very lines."""

from __future__ import annotations

import csv
import re
import shlex

import pytest
from built_book import ROOT
from sheets_answered import submit
from test_similar import BY_LEVEL, BY_SHUFFLES, COPY

from gpukernels.exercises import CATALOG
from gpukernels.exercises.__main__ import main

PAGE = (ROOT / "book" / "teachers.md").read_text(encoding="utf-8")
TASKS = "shared-1", "shared-2=6"
NUMBERS = CATALOG["shared-1"].solution.text
#: Forgets to add: no run of it is right.
WRONG = BY_LEVEL.replace("tile[i] = tile[i] + tile[i + d]", "tile[i] = tile[i + d]")
ANSWERS = {"ann": BY_SHUFFLES, "ben": WRONG, "cem": COPY}


def shown() -> dict[str, str]:
    """Return the output of each command as the page shows it."""
    (block,) = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    return dict(part.split("\n", 1) for part in block.split("$ ")[1:])


@pytest.fixture
def submitted(tmp_path, monkeypatch):
    """A right answer, a wrong one and a copy of the right one."""
    (tmp_path / "submitted").mkdir()
    monkeypatch.chdir(tmp_path)
    submit(tmp_path / "sheet.ipynb", TASKS, {}, "")
    for name, kernel in ANSWERS.items():
        file = tmp_path / "submitted" / f"{name}.ipynb"
        answers = {"shared-1": NUMBERS, "shared-2": kernel}
        submit(file, TASKS, answers, f"{name}@example.org", "Each warp adds its 32 numbers first.")


def test_the_page_shows_what_the_commands_print(submitted, tmp_path, capsys):
    run = {}
    for command in shown():
        program, *arguments = shlex.split(command)
        assert [program, *arguments[:2]] == ["python", "-m", "gpukernels.exercises"]
        assert main(arguments[2:]) == 0
        run[command] = capsys.readouterr().out
    assert run == shown()
    with (tmp_path / "grades.csv").open(newline="") as opened:
        rows = {row["email"]: row for row in csv.DictReader(opened)}
    line = rows["ben@example.org"]["feedback"].splitlines()[1]
    assert f"`{line.replace('`', '')}`" in PAGE
