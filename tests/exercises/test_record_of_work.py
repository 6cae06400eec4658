"""`record` returns the last check of one's own answer, which the logbook keeps."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from adversaries import module_of

import gpukernels as gk
from gpukernels.exercises.judge import logbook

WITH_HELPER = """\
from numba import cuda


@cuda.jit(device=True)
def never_called(x):
    return x


@cuda.jit(device=True)
def square(x):
    return x * x


@cuda.jit
def square_runs(values, out):
    first = 4 * cuda.grid(1)
    for i in range(first, min(first + 4, values.size)):
        out[i] = square(values[i])
"""


def test_a_record_is_json_of_the_last_check(tmp_path):
    ex = gk.exercise("simt-2")
    ex.check(print, raises=False, seed=3)
    module = module_of(WITH_HELPER, tmp_path)
    before = datetime.now(UTC) - timedelta(seconds=1)
    ex.check(module.square_runs, seed=4)
    record = ex.record()
    assert json.loads(json.dumps(record)) == record
    time, answer = datetime.fromisoformat(record.pop("time")), record.pop("answer")
    assert record == {
        "task": "simt-2",
        "variant": None,
        "verdict": "solved",
        "seed": 4,
        "tries": 2,
        "version": gk.__version__,
    }
    assert time.utcoffset() == timedelta()
    assert before <= time <= datetime.now(UTC)
    # The kernel after the device function that it calls: with the imports, the answer once more.
    again = module_of(f"from numba import cuda\n\n{answer}", tmp_path, "again")
    assert ex.check(again.square_runs, seed=4).passed
    assert "never_called" not in answer


def test_a_record_is_of_one_s_own_answer_and_a_copy():
    ex = gk.exercise("simt-1")
    ex.check(ex.solution)
    ex.check({}, raises=False)  # a bare skeleton
    with pytest.raises(gk.InvalidArgument, match=r"id = 'simt-1': must be .* call check\(answer\)"):
        ex.record()
    ex.check({"a": 1}, raises=False)
    ex.record()["verdict"] = "solved"
    assert ex.record()["verdict"] == "not yet"


def test_tries_go_on_in_the_next_process_and_a_later_failure_is_the_last_check(file):
    ex = gk.exercise("simt-1")
    ex.check({"a": 12, "b": 4, "c": 2, "d": 8})
    logbook._of_this_process.clear()  # as a new process
    gk.exercise("simt-2").check(print, raises=False)
    ex.check({"a": 1}, raises=False)
    logbook._of_this_process.clear()  # as a new process
    record = ex.record()
    assert (record["tries"], record["verdict"], record["answer"]) == (2, "not yet", "{'a': 1}")
    assert logbook.states() == {"simt-1": "solved", "simt-2": "tried"}


@pytest.mark.parametrize(
    "held", ['{"records": 3}', '{"records": {"simt-1": 3}}', '{"records": {"simt-1": {}}}']
)
def test_a_damaged_record_is_none(file, held):
    file.parent.mkdir()
    file.write_text(held)
    ex = gk.exercise("simt-1")
    with pytest.raises(gk.InvalidArgument, match="has been checked"):
        ex.record()
    ex.check({"a": 1}, raises=False)
    logbook._of_this_process.clear()  # as a new process
    assert ex.record()["tries"] == 1


def test_numbers_are_recorded_as_pythons_own():
    # NumPy crashes when it prints this one.
    strange = type("Strange", (type("Base", (), {}), np.int64), {})
    ex = gk.exercise("simt-1")
    ex.check({"a": np.int64(3), "b": strange(4), "c": 2.5, "d": "8"}, raises=False)
    assert ex.record()["answer"] == "{'a': 3, 'b': 4, 'c': 2.5, 'd': '8'}"


class Hostile(dict):
    """An answer that raises when it is looked at."""

    def __repr__(self):
        raise RuntimeError

    def __getattr__(self, name):
        raise RuntimeError


def test_an_answer_that_cannot_be_shown_has_a_record():
    ex = gk.exercise("simt-1")
    long = {str(key): "x" * 50 for key in range(100)}
    for answer in (Hostile(a=1), {"a": 10**10_000}, lambda: 1, eval("lambda: 1"), long):
        ex.check(answer, raises=False)
        assert 0 < len(ex.record()["answer"]) <= 2_000
