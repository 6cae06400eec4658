"""Every subject writes its file, and the file says all that it must."""

from __future__ import annotations

import inspect
import json

import pytest
from jsonschema import Draft202012Validator
from schema import LIMITS, schema
from test_schema import HEAD

import gpukernels as gk
from benchmarks import many_roots, out_of_core, subjects
from benchmarks.subjects import SUBJECTS
from gpukernels.notebook.spread import SPREAD

HERE = {name: value for name, value in HEAD.items() if name not in ("what", *LIMITS)}

ONCE = {"shrink": 16, "repeat": 1}
#: Options of a run of each subject that a machine without a GPU finishes within a second or two.
SMALL = {
    "scans": ONCE,
    "mapping": {**ONCE, "items": 20, "methods": ["work_item_to_thread", "merge_path"]},
    "bfs": {**ONCE, "roots": 1, "families": ["road"], "methods": ["frontier", "luo"]},
    "sssp": {**ONCE, "roots": 1, "patience": 0, "families": ["grid"], "methods": ["harish"]},
    "many_roots": {**ONCE, "families": ["kron"]},
    "apsp": {**ONCE, "sizes": [12], "quick": True, "methods": ["naive", "johnson"]},
    "out_of_core": {**ONCE, "sizes": [128]},
}


@pytest.mark.parametrize("name", SMALL)
def test_each_subject_writes_a_file_that_says_all_that_it_must(name, tmp_path, monkeypatch):
    monkeypatch.setattr(out_of_core, "COMPILING", 128)
    monkeypatch.setattr(many_roots, "ROUNDS", 1)
    path = SUBJECTS[name].write(gk.SimtDevice(), HERE, tmp_path, **SMALL[name])
    assert path == tmp_path / f"{name}.json"
    kept = json.loads(path.read_text())
    errors = Draft202012Validator(schema(name)).iter_errors(kept)
    assert [f"{error.json_path}: {error.message}" for error in errors] == []
    assert kept["times"]
    assert between_quartiles(kept) > 0


def between_quartiles(content) -> int:
    """Return how many figures lie between their quartiles, as all that have some must."""
    if isinstance(content, list):
        return sum(map(between_quartiles, content))
    if not isinstance(content, dict):
        return 0
    count = 0
    for name, value in content.items():
        if name + SPREAD in content:
            spread = content[name + SPREAD]
            by_name = value if isinstance(value, dict) else {"": value}
            for key, one in by_name.items():
                low, high = spread[key] if isinstance(value, dict) else spread
                assert low <= one <= high, (name, key)
                count += 1
        count += between_quartiles(value)
    return count


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_quick_run_gives_options_that_the_subject_takes(name):
    subject = SUBJECTS[name]
    assert subject.quick.keys() <= subject.options
    assert subject.quick
    taken = list(inspect.signature(subject.write).parameters)
    assert taken[:3] == ["device", "circumstances", "folder"]
    assert set(subject.choices) <= subject.options
    for option, names in subject.choices.items():
        assert set(subject.quick.get(option, ())) <= set(names)


def test_what_is_left_out_of_all_is_what_needs_more_than_a_gpu_or_less():
    assert [name for name, subject in SUBJECTS.items() if subject.alone] == [
        "making",
        "simulator",
    ]
    assert not hasattr(subjects, "CudaDevice")
