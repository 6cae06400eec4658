"""`exercises` tells what is solved, tried and next; what it keeps is never in the way."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from adversaries import module_of
from built_book import ROOT

import gpukernels as gk
from gpukernels.exercises import CATALOG
from gpukernels.exercises.judge import logbook

RIGHT = CATALOG["start-1"].solution.answer


def states(file) -> dict[str, str]:
    """Return what a file keeps, but for the records, which test_record.py reads."""
    held = json.loads(file.read_text())
    del held["records"]
    return held


def state(id: str) -> str:
    return {row[0].partition(":")[0]: row[-1] for row in gk.exercises().rows}[id]


def test_a_reader_who_has_tried_nothing_begins_at_the_first(file):
    table = gk.exercises()
    assert [row[-1] for row in table.rows] == ["next"] + [""] * (len(CATALOG) - 1)
    assert table.caption == ""
    assert not file.parent.exists()


def test_a_wrong_answer_is_tried_and_a_right_one_solved_for_good(file):
    ex = gk.exercise("start-1")
    ex.check({"a": 1}, raises=False)
    assert state("start-1") == "tried, next"
    ex.check(RIGHT)
    assert (state("start-1"), state("start-2")) == ("solved", "next")
    ex.check({"a": 1}, raises=False)
    assert state("start-1") == "solved"
    assert states(file) == {"start-1": "solved"}
    assert gk.exercises().caption == f"1 of {len(CATALOG)} solved; kept in {file}"


@pytest.mark.parametrize("id", ["simt-1", "simt-2"])
def test_a_bare_skeleton_and_the_solution_are_no_tries_and_a_changed_skeleton_is(
    file, id, tmp_path
):
    gk.exercise(id).check(gk.exercise(id).solution)
    assert not file.exists()
    skeleton = gk.exercise(id).skeleton
    changed = skeleton.replace("# prediction", "prediction", 1).replace("...", "7", 1)
    changed = changed.replace("first + 4", "first + 3")
    for text, kept in ((skeleton, False), (changed, True)):
        module = module_of(text, tmp_path, f"answer_{kept}")
        answer = module.prediction if id == "simt-1" else module.square_runs
        gk.exercise(id).check(answer, raises=False)
        assert file.exists() == kept


@pytest.mark.parametrize(
    "held",
    [b"", b"{", b"\xff\xfe", b"[]", b"null", b"3", b'"solved"', b'{"start-1": 3}',
     b'{"start-1": ["solved"]}', b"[" * 100_000, b'{"start-1": "mastered"}'],
    ids=range(11),
)  # fmt: skip
def test_a_damaged_file_is_an_empty_one_and_is_made_anew(file, held):
    file.parent.mkdir()
    file.write_bytes(held)
    assert state("start-1") == "next"
    gk.exercise("start-1").check(RIGHT)
    assert states(file) == {"start-1": "solved"}


def test_what_another_notebook_has_solved_stays(file):
    file.parent.mkdir()
    file.write_text('{"hbf-2": "solved", "an-exercise-to-come-9": "tried"}')
    gk.exercise("start-1").check(RIGHT)
    held = states(file)
    assert held == {"hbf-2": "solved", "an-exercise-to-come-9": "tried", "start-1": "solved"}
    assert list(file.parent.iterdir()) == [file]


def test_a_place_that_cannot_be_written_keeps_nothing_and_fails_nothing(tmp_path, monkeypatch):
    (tmp_path / "a file").write_text("")
    for place in (tmp_path / "a file" / "below.json", tmp_path):
        monkeypatch.setenv("GPUKERNELS_PROGRESS", str(place))
        assert gk.exercise("start-1").check(RIGHT).passed
        assert state("start-1") == "next"
    assert [path.name for path in tmp_path.iterdir()] == ["a file"]


@pytest.mark.parametrize("value", ["off", "OFF", " off ", None])
def test_off_keeps_nothing_nor_does_what_pytest_runs_where_no_file_is_named(monkeypatch, value):
    monkeypatch.delenv("GPUKERNELS_PROGRESS", raising=False)
    if value:
        monkeypatch.setenv("GPUKERNELS_PROGRESS", value)
    assert logbook.place() is None
    gk.exercise("start-1").check(RIGHT)
    assert state("start-1") == "next"


IMPORT = "import gpukernels as gk"
CHECK = """
from gpukernels.exercises.judge import logbook
gk.exercise("start-1").check({"a": 8, "b": 24, "c": 389, "d": 1024, "e": 147})
print(logbook.place())
print(gk.exercises().rows[0][-1])
"""
KERNEL = """
import IPython
class Shell:
    kernel = object()
IPython.get_ipython = Shell
"""


@pytest.mark.parametrize(("before", "expected"), [("", "next"), (KERNEL, "solved")])
def test_a_notebook_keeps_it_in_the_state_folder_and_a_script_keeps_nothing(
    tmp_path, monkeypatch, before, expected
):
    for name in ("PYTEST_VERSION", "PYTEST_CURRENT_TEST", "GPUKERNELS_PROGRESS"):
        monkeypatch.delenv(name, raising=False)
    for name in ("XDG_STATE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path))
    run = subprocess.run(
        [sys.executable, "-c", IMPORT + before + CHECK],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    place = tmp_path / "gpukernels" / "exercises.json"
    assert run.stdout.split("\n")[:2] == [str(place), expected]
    assert place.exists() == (expected == "solved")
