"""Files of measurements say what they must: those that are kept, and those written today."""

from __future__ import annotations

import copy
import json

import pytest
from jsonschema import Draft202012Validator
from schema import contradictions, schema

from benchmarks import record

FILES = sorted(record.FOLDER.glob("*.json"))

#: Small files that say all that is asked of them today.
HEAD = {
    "what": "times", "device": "a GPU", "driver": "580", "numba_cuda": "0.30", "cpu": "a CPU",
    "cores": 16, "python": "3.12", "numpy": "2.4", "numba": "0.68", "date": "2026-11-22",
    "commit": "abc", "copy_gigabytes_per_second": 4000.0, "tera_add_mins_per_second": 16.7,
    "cache": "flushed", "l2_bytes": 1,
}  # fmt: skip
SHARES = {"share_of_bandwidth": 0.5, "share_of_issue_rate": 0.1}
TIMES = {"kernel_ms": 1.5, "kernel_ms_spread": [1.4, 1.6], **SHARES}
BY_NAME = {"ms": {"a": 1.0}, "ms_spread": {"a": [1.0, 1.0]}, "share_of_bandwidth": {"a": 0.5}}
FULL = {**HEAD, "times": [{"searches": {"luo": TIMES}}, {**BY_NAME, "share_of_issue_rate": {}}]}


def problems(name: str, content: dict, strict: bool = True) -> list[str]:
    return [
        error.message for error in Draft202012Validator(schema(name, strict)).iter_errors(content)
    ]


def changed(content: dict, path: tuple, value=None) -> dict:
    """Return a copy with something at a path put in another's place, or taken away."""
    content = copy.deepcopy(content)
    part_of_content = content
    for part in path[:-1]:
        part_of_content = part_of_content[part]
    if value is None:
        del part_of_content[path[-1]]
    else:
        part_of_content[path[-1]] = value
    return content


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_kept_file_says_where_when_and_of_what_it_was_measured(file):
    assert problems(file.stem, json.loads(file.read_text()), strict=False) == []


def test_schemas_are_schemas():
    for name in ("bfs", "energy"):
        for strict in (True, False):
            Draft202012Validator.check_schema(schema(name, strict))


LUO = ("times", 0, "searches", "luo")


def test_a_full_file_is_accepted():
    assert problems("bfs", FULL) == []


@pytest.mark.parametrize(
    "path",
    [
        *((name,) for name in HEAD),
        *((*LUO, name) for name in TIMES if name != "kernel_ms"),
        ("times", 1, "ms_spread"),
        ("times", 1, "share_of_bandwidth"),
    ],
    ids=lambda path: str(path[-1]),
)
def test_a_file_without_what_must_stand_there_is_refused(path):
    assert problems("bfs", changed(FULL, path))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((*LUO, "kernel_ms"), -1),
        ((*LUO, "kernel_ms"), "fast"),
        ((*LUO, "kernel_ms_spread"), [1.0]),
        ((*LUO, "kernel_ms_spread"), 1.0),
        ((*LUO, "new_ms"), 1.0),  # a figure that the schema does not know has no spread
        ((*LUO, "share_of_bandwidth"), "half"),
        (("times", 1, "ms", "a"), "fast"),
        (("times", 1, "ms_spread", "a"), [1.0]),
        (("date",), "yesterday"),
        (("cores",), 0),
        (("cache",), "warm"),
        (("commit",), ""),
    ],
)
def test_a_file_with_something_else_there_is_refused(path, value):
    assert problems("bfs", changed(FULL, path, value))


def test_a_file_from_before_needs_no_spread_but_its_device():
    old = changed(changed(FULL, ("tera_add_mins_per_second",)), (*LUO, "kernel_ms_spread"))
    assert problems("bfs", old, strict=False) == []
    assert problems("bfs", changed(old, ("device",)), strict=False)


def test_power_has_no_share_of_a_bandwidth():
    kept = {k: v for k, v in HEAD.items() if k not in ("tera_add_mins_per_second", "cache")}
    row = {"average_watts": 300.0, "average_watts_spread": [299.0, 301.0]}
    assert problems("energy", {**kept, "times": [row]}) == []
    assert problems("energy", {**kept, "times": [{"average_watts": 300.0}]})


def test_a_peak_below_its_average_is_told():
    row = {"average_watts": 300.0, "peak_watts": 300.0}
    assert contradictions({"times": [row, {"ms": 1.0, "searches": {"luo": row}}]}) == []
    wrong = {**row, "peak_watts": 299.9}
    messages = contradictions({"times": [row, {"searches": {"luo": wrong}}, wrong]})
    assert messages == [
        f"${place}: a peak of 299.9 W, and 300.0 W on average"
        for place in (".times.[1].searches.luo", ".times.[2]")
    ]
