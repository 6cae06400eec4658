"""All benchmarks run in one go, and one that fails does not take the others with it."""

from __future__ import annotations

import json

import pytest

import gpukernels as gk
from gpukernels.bench import all as every
from gpukernels.bench import record

HERE = {"device": "the machine", "commit": "abc"}


def test_every_file_of_the_folder_has_a_benchmark():
    files = {path.stem for path in record.FOLDER.glob("*.json")}
    assert set(every.BENCHMARKS) <= files


@pytest.mark.parametrize("name", every.BENCHMARKS)
def test_each_benchmark_writes_its_file_at_a_small_size(monkeypatch, tmp_path, name):
    monkeypatch.setattr(every.mapping.measure, "__defaults__", (None, (32,), 1, 1))
    monkeypatch.setattr(every.directions.measure, "__defaults__", (None, 1))
    assert every.measure(gk.SimtDevice(), HERE, tmp_path, [name], shrink=16) == []
    kept = json.loads((tmp_path / f"{name}.json").read_text())
    assert kept["device"] == "the machine"
    assert kept["times"]


def test_a_failure_is_named_and_the_rest_is_measured(monkeypatch, tmp_path, capsys):
    def failing(*_, **__):
        raise RuntimeError("out of memory")

    def fine(device, here, folder, *, shrink):
        return record.write("fine", "nothing", {"shrink": shrink}, here, folder)

    monkeypatch.setattr(every, "BENCHMARKS", {"broken": failing, "fine": fine})
    monkeypatch.setattr(every, "CudaDevice", gk.SimtDevice)
    monkeypatch.setattr(record, "environment", lambda device, commit: {"commit": commit})
    with pytest.raises(SystemExit) as stopped:
        every.main(["--commit", "abc", "--folder", str(tmp_path), "--shrink", "3"])
    assert stopped.value.code == "failed: broken"
    assert json.loads((tmp_path / "fine.json").read_text())["shrink"] == 3
    told = capsys.readouterr()
    assert "[1/2] broken: 0.0 s, FAILED" in told.out
    assert "[2/2] fine: 0.0 s" in told.out
    assert "out of memory" in told.err


def test_some_can_be_chosen(monkeypatch, tmp_path):
    ran = []

    def note(name):
        return lambda device, here, folder, *, shrink: ran.append(name)

    monkeypatch.setattr(every, "BENCHMARKS", {name: note(name) for name in ("a", "b", "c")})
    monkeypatch.setattr(every, "CudaDevice", gk.SimtDevice)
    monkeypatch.setattr(record, "environment", lambda device, commit: {})
    every.main(["--commit", "x", "--folder", str(tmp_path), "--only", "c", "a"])
    assert ran == ["c", "a"]
