"""`python -m benchmarks` measures what is asked, compares, and ends as its help says."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import __main__ as front
from benchmarks import record
from benchmarks.subjects import SUBJECTS, Subject


class Gpu:
    """What passes for a GPU."""

    name = "a GPU"


@pytest.fixture
def ran(monkeypatch, tmp_path):
    """Three subjects that write what they were given; the list of what ran."""
    ran = []

    def writer(name, ms):
        def write(device, circumstances, folder, *, shrink=0, methods=("a", "b"), repeat=9):
            ran.append((name, shrink, list(methods), repeat, device))
            rows = [{"method": "a", "kernel_ms": ms[0] if len(ms) == 1 else ms.pop(0)}]
            return record.write(name, "times", {"times": rows}, circumstances, folder)

        return write

    def alone(device, circumstances, folder, *, scale=20):
        ran.append(("alone", scale, device))
        return record.write("alone", "times", {"times": []}, circumstances, folder)

    def broken(device, circumstances, folder, *, shrink=0):
        raise RuntimeError("out of memory")

    some = {
        "one": Subject(
            "the first", writer("one", [1.0, 1.5]), {"shrink": 4}, {"methods": ("a", "b")}
        ),
        "two": Subject("the second", writer("two", [1.0]), {"repeat": 3}),
        "alone": Subject("the CPU", alone, {"scale": 3}, gpu=False, alone=True),
        "broken": Subject("fails", broken, {"shrink": 1}, alone=True),
    }
    SUBJECTS_BEFORE = dict(SUBJECTS)
    SUBJECTS.clear()
    SUBJECTS.update(some)
    monkeypatch.setattr(front, "CudaDevice", Gpu)
    monkeypatch.setattr(front, "QUICK_FOLDER", tmp_path / "quick")
    monkeypatch.setattr(
        record, "environment", lambda device, commit: {"commit": commit, "gpu": device is not None}
    )
    yield ran
    SUBJECTS.clear()
    SUBJECTS.update(SUBJECTS_BEFORE)


def command(*words: str, folder: Path | None = None) -> list[str]:
    return [*words, "--commit", "abc", *(["--folder", str(folder)] if folder else [])]


def test_subjects_run_by_name_in_their_order_and_all_leaves_some_out(ran, tmp_path):
    assert front.main(command("two", "one", folder=tmp_path)) == 0
    assert [name for name, *_ in ran] == ["one", "two"]
    assert json.loads((tmp_path / "two.json").read_text())["commit"] == "abc"
    ran.clear()
    assert front.main(command("all", folder=tmp_path)) == 0
    assert [name for name, *_ in ran] == ["one", "two"]


def test_a_quick_run_has_its_options_and_its_folder_and_others_go_over_them(ran, tmp_path):
    assert front.main(command("one", "two", "--quick", "--shrink", "2", "--methods", "b")) == 0
    assert [row[:4] for row in ran] == [("one", 2, ["b"], 9), ("two", 2, ["b"], 3)]
    assert sorted(p.name for p in (tmp_path / "quick").iterdir()) == ["one.json", "two.json"]
    assert front.main(command("alone", "--quick", folder=tmp_path)) == 0
    assert ran[-1] == ("alone", 3, None)  # the CPU is measured, so no GPU is given
    assert json.loads((tmp_path / "alone.json").read_text())["gpu"] is False


def test_a_failure_is_named_and_the_rest_is_measured(ran, tmp_path, capsys):
    assert front.main(command("broken", "one", folder=tmp_path)) == front.FAILED == 1
    out, err = capsys.readouterr()
    assert "[2/2] broken: 0.0 s, FAILED" in out
    assert "out of memory" in err
    assert "failed: broken" in err
    assert (tmp_path / "one.json").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("three", "SUBJECT = 'three': must be one of all, one, two, alone, broken"),
        ("", "name a subject: all, one, two, alone, broken"),
        ("two --methods", "expected at least one argument"),
        ("one --methods c", "--methods = 'c': must be of one: a, b"),
        ("one --scale 3", "--scale = 3: must be left out: it is an option of alone"),
        ("one --shrink -1", "--shrink = -1: must be 0 or more"),
        ("one --repeat 0", "--repeat = 0: must be 1 or more"),
        ("one --compare nowhere.json", "--compare = .*nowhere.json.*: must be a file of measurem"),
        ("one two --compare nowhere.json", "must be a folder, for several subjects"),
        ("--compare a.json b.json c.json", "must be one file, or two"),
        ("one --compare a.json b.json", "SUBJECT = 'one': must be left out: two files"),
    ],
)
def test_a_wrong_command_is_refused_with_what_is_allowed(ran, words, message, capsys):
    with pytest.raises(SystemExit) as stopped:
        front.main([*words.split(), "--commit", "abc"])
    assert stopped.value.code == front.WRONG == 2
    assert re.search(message, " ".join(capsys.readouterr().err.split()))
    assert ran == []


def test_without_a_gpu_the_answer_says_what_is_needed_and_how_to_get_it(ran, monkeypatch, capsys):
    def none():
        raise RuntimeError("no CUDA GPU answers")

    monkeypatch.setattr(front, "CudaDevice", none)
    assert front.main(command("one", "alone")) == 2
    err = capsys.readouterr().err
    assert err.startswith("one: no GPU answers")
    for what in ("nvidia-smi", "numba-cuda", "colab.research.google.com", "benchmarks alone"):
        assert what in err
    assert ran == []


def test_the_commit_is_asked_of_git_and_said_where_git_does_not_know(ran, tmp_path, monkeypatch):
    monkeypatch.setattr(record, "current_commit", lambda: "1234abc-dirty")
    assert front.main(["two", "--folder", str(tmp_path)]) == 0
    assert json.loads((tmp_path / "two.json").read_text())["commit"] == "1234abc-dirty"


def test_git_is_asked_of_the_tree_and_changes_are_told(tmp_path):
    def git(*words):
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", "-C", str(tmp_path), *who, *words], check=True, capture_output=True)

    with pytest.raises(record.NoCommit, match="git does not tell the commit of"):
        record.current_commit(tmp_path)
    git("init", "-q")
    (tmp_path / "a").write_text("1")
    git("add", "a")
    git("commit", "-qm", "one")
    git("tag", "v1")
    commit = record.current_commit(tmp_path)
    assert re.fullmatch("[0-9a-f]{7,}", commit)
    (tmp_path / "a").write_text("2")
    assert record.current_commit(tmp_path) == f"{commit}-dirty"


def test_no_git_is_an_error_that_names_the_option(ran, monkeypatch, capsys):
    def none():
        raise record.NoCommit("git does not tell the commit of /x: no git")

    monkeypatch.setattr(record, "current_commit", none)
    with pytest.raises(SystemExit):
        front.main(["two"])
    assert "name it by --commit ID" in capsys.readouterr().err


def test_a_run_is_compared_with_what_stood_there_before_it_was_written_over(ran, tmp_path, capsys):
    assert front.main(command("one", folder=tmp_path)) == 0
    old = tmp_path / "one.json"
    assert front.main(command("one", "--compare", str(old), folder=tmp_path)) == front.WORSE == 3
    out = capsys.readouterr().out
    assert "1.500" in out
    assert "1 changed by more than their spread, 0 did not" in out


def test_a_folder_of_files_is_compared_with_several_subjects(ran, tmp_path, capsys):
    old, new = tmp_path / "old", tmp_path / "new"
    assert front.main(command("all", folder=old)) == 0
    assert front.main(command("two", "--compare", str(old), folder=new)) == 0
    assert "0 changed by more than their spread, 1 did not" in capsys.readouterr().out
    assert front.main(command("all", "--compare", str(old), folder=new)) == 3
    ran.clear()
    assert front.main(["--compare", str(new), str(old)]) == 0
    assert front.main(["--compare", str(old), str(new)]) == 3
    assert front.main(["--compare", str(old / "two.json"), str(new / "two.json")]) == 0
    assert ran == []


def test_the_help_tells_of_every_subject_option_and_status(capsys):
    with pytest.raises(SystemExit) as stopped:
        front.main(["--help"])
    assert stopped.value.code == 0
    out = " ".join(capsys.readouterr().out.split())
    for name, subject in SUBJECTS.items():
        assert f"{name} {subject.about}" in out
    for option in front.OPTIONS:
        assert f"--{option} {option.upper()}" in out
    for status in (front.FAILED, front.WRONG, front.WORSE):
        assert f"; {status} " in out


def test_every_option_is_taken_by_a_subject():
    taken = set().union(*(subject.options for subject in SUBJECTS.values()))
    assert set(front.OPTIONS) <= taken


@pytest.mark.filterwarnings("ignore:.*found in sys.modules")
def test_it_runs_as_a_module(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["bench", "--help"])
    with pytest.raises(SystemExit) as stopped:
        runpy.run_module("benchmarks", run_name="__main__")
    assert stopped.value.code == 0
    assert "python -m benchmarks" in capsys.readouterr().out
