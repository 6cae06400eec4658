"""All cores of the CPU are measured with the others, or alone, beside what a file already has."""

from __future__ import annotations

import json

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from test_schema import HEAD

import gpukernels as gk
from gpukernels.all_pairs.all_cores import apsp as multicore_apsp
from gpukernels.bench import __main__ as front
from gpukernels.bench import all_cores, apsp, record, sssp
from gpukernels.bench.all_cores import ALL_CORES
from gpukernels.bench.graphs import weighted
from gpukernels.bench.limits import Limits
from gpukernels.bench.schema import LIMITS, schema
from gpukernels.bench.subjects import SUBJECTS
from gpukernels.reference import multicore

HERE = {name: value for name, value in HEAD.items() if name not in ("what", *LIMITS)}
LATER = {**HERE, "date": "2027-03-04", "commit": "def", "cpu": "another", "cores": 3}
PATHS = {"shrink": 14, "repeat": 1, "roots": 2, "families": ["grid", "rmat"], "methods": ["harish"]}
PAIRS = {"repeat": 1, "sizes": [12, 20], "methods": ["naive", "per_root"]}


@pytest.fixture(autouse=True)
def limits(monkeypatch):
    """Do not measure what the machine copies and adds, which takes it long."""
    monkeypatch.setattr(apsp, "measured_limits", lambda device, shrink: Limits(1000.0, 2.0))


def measured(module, folder, here=HERE, **options):
    return json.loads(module.write(gk.SimtDevice(), here, folder, **options).read_text())


def check_rows_apart(before, now, name, beside):
    """Each row has one more search, behind the sequential one; nothing else has changed."""
    assert list(Draft202012Validator(schema(name)).iter_errors(now)) == []
    assert {k: v for k, v in now.items() if k not in ("what", "times")} == {
        k: v for k, v in before.items() if k not in ("what", "times")
    }
    for was, row in zip(before["times"], now["times"], strict=True):
        found = row["searches"].pop(ALL_CORES, None)
        assert (found is not None) == (row["graph"] in beside)
        was["searches"].pop(ALL_CORES, None)
        assert row == was
        if found:
            assert found["call_ms"] > 0
            apart = {key: found[key] for key in ("date", "commit", "cpu", "cores")}
            assert apart == {key: LATER[key] for key in apart}


def test_shortest_paths_on_all_cores_are_put_beside_what_there_is(tmp_path):
    before = measured(sssp, tmp_path, **PATHS, patience=0)
    assert list(before["times"][0]["searches"])[:2] == ["sequential", ALL_CORES]
    for few in (["grid", "rmat"], ["grid"]):  # what is there already is replaced
        options = {"methods": [ALL_CORES], "roots": 2, "repeat": 2, "families": few}
        written = sssp.write(None, LATER, tmp_path, **options)
    now = json.loads(written.read_text())
    assert [list(row["searches"])[1] for row in now["times"]] == [ALL_CORES] * 2
    first = now["times"][0]["searches"][ALL_CORES]
    assert (first["runs"], first["roots"], first["commit"]) == (2, 2, "def")
    assert now["what"] == before["what"]
    check_rows_apart(before, now, "sssp", ["grid", "rmat"])


def test_all_pairs_on_all_cores_are_put_beside_what_there_is(tmp_path, monkeypatch):
    monkeypatch.setattr(apsp, "PATIENCE", 100)
    before = measured(apsp, tmp_path, **PAIRS)
    assert all(ALL_CORES not in row["searches"] for row in before["times"])
    before_file = json.loads((tmp_path / "apsp.json").read_text())
    before_file["what"] = "times of before"
    (tmp_path / "apsp.json").write_text(json.dumps(before_file))
    now = json.loads(
        apsp.write(None, LATER, tmp_path, methods=[ALL_CORES], repeat=2, sizes=[12, 20]).read_text()
    )
    assert now["what"] == f"times of before; {all_cores.WHAT}"
    dense = [row["searches"][ALL_CORES] for row in now["times"] if row["graph"] == "dense"]
    assert [row["call_runs"] for row in dense] == [2, 2]
    check_rows_apart(before, now, "apsp", ["dense"])


def test_sizes_that_are_not_chosen_keep_their_rows(tmp_path):
    measured(apsp, tmp_path, **PAIRS)
    apsp.write(None, LATER, tmp_path, methods=[ALL_CORES], repeat=1, sizes=[20])
    rows = json.loads((tmp_path / "apsp.json").read_text())["times"]
    assert [row["n"] for row in rows if ALL_CORES in row["searches"]] == [20]


def test_without_a_file_there_is_nothing_to_put_a_row_beside(tmp_path):
    for module in (sssp, apsp):
        with pytest.raises(gk.InvalidArgument, match="--methods = 'all cores': must be beside"):
            module.write(None, LATER, tmp_path, methods=[ALL_CORES])


def test_no_gpu_is_asked_for_where_all_cores_alone_are_measured(tmp_path, monkeypatch):
    measured(sssp, tmp_path, **PATHS, patience=0)

    def none():
        raise RuntimeError("no CUDA GPU answers")

    monkeypatch.setattr(front, "CudaDevice", none)
    words = ["sssp", "--commit", "def", "--folder", str(tmp_path), "--repeat", "1", "--roots", "1"]
    assert front.main([*words, "--methods", "harish"]) == front.WRONG
    assert front.main([*words, "--methods", ALL_CORES, "harish"]) == front.WRONG
    assert front.main([*words, "--methods", ALL_CORES]) == 0
    for row in record.kept("sssp", tmp_path)["times"]:
        assert row["searches"][ALL_CORES]["commit"] == "def"


def test_only_subjects_that_know_all_cores_take_them():
    assert {name for name, s in SUBJECTS.items() if ALL_CORES in s.choices.get("methods", ())} == {
        "sssp",
        "apsp",
    }


def test_wrong_distances_of_all_cores_are_not_timed(monkeypatch):
    g = weighted(gk.kron(5, 4, seed=1))
    right = multicore.sssp

    def wrong(g, root):
        found = right(g, root)
        found.distance[found.distance > 0] += 1
        return found

    monkeypatch.setattr(multicore, "sssp", wrong)
    with pytest.raises(AssertionError, match=r"all cores from .*: these are not shortest paths"):
        sssp.cases(None, g, 0, 2)
    monkeypatch.undo()
    from_roots, _ = sssp.cases(None, g, 0, 2)
    monkeypatch.setattr(multicore, "sssp", wrong)
    with pytest.raises(AssertionError, match="all cores from 0"):
        sssp.on_all_cores(g, from_roots, 1, 1.0)


def test_wrong_pairs_of_all_cores_are_not_timed(monkeypatch):
    right = multicore_apsp

    def wrong(g):
        found = right(g)
        found.distance[np.triu_indices(len(found.distance), 1)] += 1
        return found

    monkeypatch.setattr(multicore, "apsp", wrong)
    with pytest.raises(AssertionError, match=r"all cores: .* distances are wrong"):
        apsp.on_all_cores(apsp.Subject(apsp.dense_lengths(40, seed=1)), 1)
