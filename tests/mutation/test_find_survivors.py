"""The search for survivors changes what it is told to, and nothing of which no program cares."""

from __future__ import annotations

import argparse

import pytest
from find_survivors import (
    ROOT,
    TESTS,
    copy_to,
    files_of,
    hints_in,
    is_worth_it,
    lines_of,
    tried_by,
)  # fmt: skip


def test_the_copy_has_the_links_of_the_repository(tmp_path):
    copy_to(tmp_path)
    assert (tmp_path / "gpukernels/notebook/benchmarks/bfs.json").is_file()


def test_what_is_changed_and_its_tests_are_there():
    for start, tests in TESTS.items():
        assert files_of([start])
        assert all((ROOT / name).exists() for name in tests.split())


def test_a_file_is_tried_by_the_tests_of_its_folder():
    assert tried_by("gpukernels/traversal/bfs4k/enqueue.py") == "tests/traversal"
    assert tried_by("gpukernels/trace/metrics.py") == TESTS["gpukernels/trace"]
    with pytest.raises(SystemExit, match=r"gpukernels/simt/run/lanes\.py: allowed are files of"):
        tried_by("gpukernels/simt/run/lanes.py")


def test_files_are_found_once():
    files = files_of(["gpukernels/graphs/formats/words.py", "gpukernels/graphs/formats"])
    assert files[0] == "gpukernels/graphs/formats/words.py"
    assert len(files) == len(set(files)) > 3
    with pytest.raises(SystemExit, match="no such file"):
        files_of(["gpukernels/nothing"])


@pytest.mark.parametrize(("text", "lines"), [("7", range(7, 8)), ("7-9", range(7, 10))])
def test_lines_are_a_first_and_a_last(text, lines):
    assert lines_of(text) == lines


@pytest.mark.parametrize("text", ["", "a", "0", "9-7", "-3", "1-2-3"])
def test_what_names_no_lines_is_refused(text):
    with pytest.raises(argparse.ArgumentTypeError):
        lines_of(text)


def test_type_hints_are_left_alone():
    source = "def f(a: int | None, b=1 | 2) -> int | str:\n    c: int | str = a | b\n"
    hints = hints_in(source)
    bars = [
        (line, column)
        for line, text in enumerate(source.splitlines(), 1)
        for column, letter in enumerate(text)
        if letter == "|"
    ]
    assert [is_worth_it(at, None, hints) for at in bars] == [False, True, False, False, True]
    assert [is_worth_it(at, range(2, 3), hints) for at in bars] == [False] * 4 + [True]
