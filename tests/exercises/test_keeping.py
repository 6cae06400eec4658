"""`exercises(keep=...)` takes progress to a place that outlives a machine of Colab."""

from __future__ import annotations

import json
import sys
import types

import pytest

import gpukernels as gk
from gpukernels.exercises.judge import keeping, logbook

RIGHT = gk.exercise("start-1").solution.answer


@pytest.fixture
def colab(tmp_path, monkeypatch):
    """Stand in for Colab; return what it is asked for, in order."""
    asked = []
    module = types.ModuleType("google.colab")
    module.drive = types.SimpleNamespace(mount=lambda place: asked.append(("mount", place)))
    module.files = types.SimpleNamespace(download=lambda name: asked.append(("download", name)))
    monkeypatch.setitem(sys.modules, "google", types.ModuleType("google"))
    monkeypatch.setitem(sys.modules, "google.colab", module)
    monkeypatch.setattr(keeping, "MOUNT", tmp_path / "drive")
    return asked


def test_progress_goes_to_the_drive_when_the_reader_says_so_and_not_before(file, colab, tmp_path):
    gk.exercise("start-1").check(RIGHT)
    assert 'exercises(keep="drive")' in gk.exercises().caption
    assert colab == []
    caption = gk.exercises(keep="drive").caption
    assert colab == [("mount", str(tmp_path / "drive"))]
    kept = tmp_path / "drive" / "MyDrive" / "gpukernels" / "exercises.json"
    assert caption.endswith(f"kept in {kept}")
    gk.exercise("simt-1").check({"a": 1}, raises=False)
    held = json.loads(kept.read_text())
    assert (held["start-1"], held["simt-1"]) == ("solved", "tried")
    assert {*held["records"]} == {"start-1", "simt-1"}
    assert "simt-1" not in json.loads(file.read_text())


def test_the_next_machine_finds_what_the_drive_has(file, colab, monkeypatch):
    gk.exercise("start-1").check({"a": 1}, raises=False)
    gk.exercise("simt-1").check({"a": 1}, raises=False)
    gk.exercises(keep="drive")
    gk.exercise("start-1").check(RIGHT)
    logbook._of_this_process.clear()
    monkeypatch.setenv("GPUKERNELS_PROGRESS", str(file.with_name("next.json")))
    gk.exercise("start-1").check({"a": 2}, raises=False)
    assert gk.exercise("start-1").record()["tries"] == 1
    gk.exercises(keep="drive")
    assert logbook.states() == {"start-1": "solved", "simt-1": "tried"}
    assert gk.exercise("simt-1").record()["answer"] == "{'a': 1}"


@pytest.mark.parametrize(
    ("own_time", "other", "stays"), [("05", "04", "mine"), ("03", "04", "kept")]
)
def test_of_two_records_the_later_one_stays(own_time, other, stays, file, tmp_path):
    for path, day, answer in ((file, own_time, "mine"), (tmp_path / "kept.json", other, "kept")):
        record = {"tries": 1, "time": f"2026-10-{day}T10:00:00+00:00", "answer": answer}
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"start-1": "tried", "records": {"start-1": record}}))
    gk.exercises(keep=str(tmp_path / "kept.json"))
    assert gk.exercise("start-1").record()["answer"] == stays


def test_a_download_is_the_file_which_a_path_reads_again(file, colab, tmp_path, monkeypatch):
    with pytest.raises(
        gk.InvalidArgument, match=r"keep = 'download': .* an answer has been checked"
    ):
        gk.exercises(keep="download")
    gk.exercise("start-1").check(RIGHT)
    gk.exercises(keep="download")
    assert colab == [("download", str(file))]
    uploaded = tmp_path / "off"  # no word of the environment variable
    uploaded.write_bytes(file.read_bytes())
    monkeypatch.setenv("GPUKERNELS_PROGRESS", str(file.with_name("next.json")))
    monkeypatch.chdir(tmp_path)
    assert gk.exercises(keep="off").rows[0][-1] == "solved"
    assert logbook.place() == uploaded


@pytest.mark.parametrize("keep", ["drive", "download"])
def test_elsewhere_than_on_colab_these_words_are_refused_and_nothing_is_offered(keep, file):
    with pytest.raises(gk.InvalidArgument, match=f"keep = '{keep}': must be .* this is not Colab"):
        gk.exercises(keep=keep)
    gk.exercise("start-1").check(RIGHT)
    assert "Colab" not in gk.exercises().caption


@pytest.mark.parametrize("keep", ["", 3])
def test_what_is_no_path_is_refused(keep, file):
    with pytest.raises((gk.InvalidArgument, TypeError), match="keep"):
        gk.exercises(keep=keep)


def test_a_place_that_cannot_be_written_is_named_and_progress_stays(file, tmp_path):
    (tmp_path / "a file").write_text("")
    gk.exercise("start-1").check(RIGHT)
    with pytest.raises(gk.InvalidArgument, match=r"keep = .* a file that can be written"):
        gk.exercises(keep=str(tmp_path / "a file" / "below.json"))
    assert logbook.place() == file
