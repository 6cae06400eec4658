"""Two files of measurements are compared by what their figures spread."""

from __future__ import annotations

import json
import re

import pytest

from benchmarks import record
from benchmarks.changes import Change, compare, figures, read
from gpukernels.errors import InvalidArgument


def kept(ms, spread=None, **row):
    times = {"kernel_ms": ms, **({} if spread is None else {"kernel_ms_spread": spread})}
    head = {"what": "times", "device": "a GPU", "driver": "580"}
    return {**head, "times": [{"graph": "rmat", "searches": {"luo": {**times, **row}}}]}


WHERE = "rmat, searches, luo, kernel_ms"


@pytest.mark.parametrize(
    ("old", "new", "ratio"),
    [
        (kept(10, [9, 11]), kept(12, [11.5, 13]), 1.2),  # apart
        (kept(10, [9, 11]), kept(12, [10.9, 13]), None),  # ranges meet
        (kept(12, [11.5, 13]), kept(10, [9, 11]), 10 / 12),  # better is a change, too
        (kept(10, [9.9, 10]), kept(10.3, [10.3, 10.31]), None),  # both within 2 %
        (kept(10, [9.9, 10]), kept(10.5, [10.5, 10.51]), 1.05),
        (kept(10, [10, 10]), kept(10.9, [10.9, 10.9]), None),  # a run each: 5 %
        (kept(10), kept(10.9), None),  # from before there were quartiles: 5 % each
        (kept(10), kept(11.2), 1.12),
        (kept(10), kept(10.7, [10.7, 10.7]), None),
        (kept(0.0), kept(1.0), float("inf")),
    ],
)
def test_a_figure_has_changed_where_the_ranges_are_apart(old, new, ratio):
    comparison = compare(old, new)
    assert [change.where for change in comparison.changes] == ([] if ratio is None else [WHERE])
    assert comparison.same == (ratio is None)
    if ratio is not None:
        assert comparison.changes[0].ratio == pytest.approx(ratio)
    assert comparison.worse == (ratio is not None and ratio > 1)


def test_the_worst_comes_first():
    old, new = ({"what": "", "times": []} for _ in range(2))
    for name, before, after in (("a", 1, 2), ("b", 1, 0.2), ("c", 1, 5), ("d", 1, 1)):
        for content, ms in ((old, before), (new, after)):
            content["times"].append({"technique": name, "ms": ms, "ms_spread": [ms, ms]})
    comparison = compare(old, new)
    assert [change.where for change in comparison.changes] == ["c, ms", "a, ms", "b, ms"]
    lines = str(comparison).splitlines()
    assert lines[0].split() == ["ratio", "old", "new"]
    assert lines[1].split() == ["5.000", "1", "5", "c,", "ms"]
    assert lines[-1].startswith("3 changed by more than their spread, 1 did not; 0 only in")


def test_rows_of_another_size_are_not_compared():
    old, new = ({**kept(1), "times": [{"n": n, "ms": 1.0}]} for n in (512, 1024))
    both = compare(old, new)
    assert (both.changes, both.same, both.only_old, both.only_new) == ([], 0, 1, 1)


def test_figures_by_name_have_a_range_each():
    def by_name(one, other):
        ms = {"guarded": one, "NumPy, one core": other}
        spread = {name: [value, value] for name, value in ms.items()}
        return {"what": "", "times": [{"workload": "w", "ms": ms, "ms_spread": spread}]}

    comparison = compare(by_name(1.0, 1.0), by_name(1.0, 3.0))
    assert comparison.changes == [Change("w, ms, NumPy, one core", 1.0, 3.0)]
    assert comparison.same == 1


def test_what_was_foretold_or_given_up_is_no_figure():
    assert set(figures(kept(1.0, expected_ms=5.0, stopped_after_ms=9.0, late=0.1))) == {WHERE}


def test_another_device_is_told():
    text = str(compare(kept(1), {**kept(1), "device": "another", "driver": "590"}))
    assert "another device: a GPU, now another" in text
    assert "another driver: 580, now 590" in text


@pytest.mark.parametrize("file", sorted(record.FOLDER.glob("*.json")), ids=lambda f: f.stem)
def test_a_kept_file_has_figures_that_are_told_apart_and_does_not_differ_from_itself(file):
    content = read(file)
    same = compare(content, content)
    assert (same.changes, same.only_old, same.only_new, same.apart) == ([], 0, 0, {})
    assert same.same == times_in(file.read_text())


def times_in(text: str) -> int:
    """Return how many times, watts and joules a text of JSON names, by the look of it."""
    units = "ms|microseconds|millijoules|watts"
    alone = re.findall(rf'"(?!expected|stopped|reach|limit)(?:\w+_)?(?:{units})": -?\d', text)
    by_name = re.findall(r'"(?:ms|microseconds)": \{([^}]*)\}', text)
    return len(alone) + sum(names.count('": ') for names in by_name)


@pytest.mark.parametrize("text", [None, "{", "[1]", '{"times": []}'])
def test_what_is_no_file_of_measurements_is_refused_by_name(text, tmp_path):
    path = tmp_path / "old.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InvalidArgument, match=r"--compare = .*old\.json.*must be a file of"):
        read(path)
    path.write_text(json.dumps(kept(1)))
    assert read(path) == kept(1)
