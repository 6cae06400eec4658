"""A covering array holds every pair that can be had, and far fewer rows than all crossings."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from effort import ALL, EACH, FAST, LEVELS, SOAK, USUAL, every_pair, in_turn, some, some_of

FACTORS = (range(12), "abcd", (None, {}, 3.5), ["x", "y", "z"])


def odd(number, letter, thing, last):
    """All but two pairs and a crossing of three."""
    return not (letter == "a" and last == "x") and not (number == 3 and thing is None)


def held(rows, size):
    """Return what the rows hold in each `size` columns."""
    columns = list(combinations(range(len(FACTORS)), size))
    return {(c, tuple(repr(row[i]) for i in c)) for row in rows for c in columns}


@pytest.mark.parametrize("allowed", [lambda *row: True, odd])
@pytest.mark.parametrize(
    ("effort", "size"), [(FAST, 1), (USUAL, 1), (EACH, 1), (ALL, 2), (SOAK, 4)]
)
def test_everything_that_can_be_had_appears(allowed, effort, size):
    rows = every_pair(*FACTORS, allowed=allowed, effort=effort)
    possible = [row for row in product(*FACTORS) if allowed(*row)]
    assert held(rows, size) == held(possible, size)
    assert all(row in possible for row in rows)
    assert len(rows) == len(held(rows, len(FACTORS))), "none stands there twice"


def test_pairs_take_few_rows():
    assert len(every_pair(*FACTORS, effort=FAST)) == 12
    assert len(every_pair(*FACTORS, effort=USUAL)) == 12
    assert 48 <= len(every_pair(*FACTORS, effort=ALL)) <= 56
    assert len(every_pair(*FACTORS, effort=SOAK)) == 12 * 4 * 3 * 3


@pytest.mark.parametrize("effort", LEVELS)
def test_the_same_factors_give_the_same_rows(effort):
    assert every_pair(*FACTORS, effort=effort) == every_pair(*FACTORS, effort=effort)


@pytest.mark.parametrize("effort", LEVELS)
def test_a_factor_without_values_has_no_rows(effort):
    assert every_pair([], "ab", effort=effort) == []
    assert every_pair("ab", [1, 2], [3], allowed=lambda *row: False, effort=effort) == []


def test_two_factors_meet_in_full():
    every = [("a", 1), ("a", 2), ("b", 1), ("b", 2)]
    assert every_pair("ab", [1, 2], effort=ALL) == every
    assert every_pair("ab", [1, 2], always=True, effort=EACH) == every
    assert every_pair("ab", [1, 2], effort=FAST) in ([("a", 1), ("b", 2)], [("a", 2), ("b", 1)])


def test_pairs_are_always_tried_where_they_are_asked_for():
    assert len(every_pair(*FACTORS, always=True, effort=EACH)) >= 48
    assert len(every_pair(*FACTORS, always=True, effort=FAST)) == 12


def test_where_values_appear_once_they_appear_evenly_and_meet_others():
    """Of 30 rows each of three values has ten, and each pair with another three is there."""
    rows = every_pair(range(30), "abc", [1, 2, 3], effort=EACH)
    for column in (1, 2):
        assert set(Counter(row[column] for row in rows).values()) == {10}
    assert {row[1:] for row in rows} == set(product("abc", [1, 2, 3]))


CROSSING = """
import pytest

@pytest.fixture(params="uv")
def other(request):
    return request.param

@pytest.mark.parametrize("a", [1, 2, 3, 4])
@pytest.mark.parametrize("b", "xyz")
def test_crossing(a, b, other): ...

@pytest.mark.crossed
@pytest.mark.parametrize("a", [1, 2, 3, 4])
@pytest.mark.parametrize("b", "xyz")
def test_all_of_a_crossing(a, b): ...

@pytest.mark.parametrize(("a", "b"), [(1, 1), (1, 2), (2, 1), (2, 2)])
def test_written(a, b): ...

def test_alone(): ...
"""


def kept_of(folder, text, effort, *notebooks):
    """Return which cases of a file of tests are kept, beside notebooks that run."""
    shutil.copy(Path(__file__).parent / "conftest.py", folder)
    (folder / "test_file.py").write_text(text)
    for name in notebooks:
        (folder / name).write_text('{"cells": [], "metadata": {}, "nbformat": 4}')
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "test_file.py"]
    command += ["--nbval"] if notebooks else ["-p", "no:nbval"]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "GPUKERNELS_EFFORT": effort,
    }
    run = subprocess.run(
        [*command, *notebooks], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout
    return re.findall(r"::(\S+)", run.stdout)


def test_parameters_that_cross_keep_each_value_and_rows_that_are_written_stay(tmp_path):
    kept = {effort: kept_of(tmp_path, CROSSING, effort) for effort in (USUAL, EACH, ALL)}
    count = {e: Counter(name.split("[")[0] for name in names) for e, names in kept.items()}
    assert count[EACH] == {
        "test_crossing": 4, "test_all_of_a_crossing": 12, "test_written": 4, "test_alone": 1
    }  # fmt: skip
    assert count[USUAL] == count[EACH] | {"test_crossing": 2, "test_written": 2}
    assert count[ALL] == count[EACH] | {"test_crossing": 24}
    values = {v for name in kept[EACH] if "test_crossing" in name for v in name[14:-1].split("-")}
    assert values == {*"1234", *"xyz", *"uv"}


def test_each_of_many_meets_the_others_in_turn_and_all_of_them_in_a_night():
    rows = in_turn(range(13), "ab", [1, 2, 3], effort=EACH)
    assert [row[0] for row in rows] == list(range(13))
    assert {row[1:] for row in rows} == set(product("ab", [1, 2, 3]))
    assert in_turn(range(13), "ab", effort=SOAK) == list(product(range(13), "ab"))
    assert in_turn([], "ab", effort=EACH) == []


def test_a_hurry_draws_a_fifth_and_a_night_what_it_is_told():
    assert [some(25, 400, effort) for effort in LEVELS] == [5, 5, 9, 25, 400]
    assert some(3, 9, FAST) == 1


def test_some_cases_of_many_lie_apart_and_begin_elsewhere_for_each_name():
    chosen = [some_of(list(range(100)), name, 10) for name in "abcdefgh"]
    assert all(np.ptp(np.diff(sorted(of))) == 0 and len(of) == 10 for of in chosen)
    assert len({tuple(sorted(of)) for of in chosen}) > 3
    assert some_of(["one"], "a") == ["one"]
    assert sorted(some_of([1, 2, 3], "a", 3)) == [1, 2, 3]


OF_CHAPTERS = """
import pytest
from conftest import CHAPTERS

@pytest.mark.parametrize("page", [*(f"chapters/{name}.html" for name in sorted(CHAPTERS)),
                                  "book/a.html", "book/b.html", "book/c.html", "book/d.html"])
def test_page(page): ...

@pytest.mark.parametrize("method", ["hbf", "frontier", "bfs4k", "luo"])
def test_method(method): ...
"""


def test_of_what_is_tried_a_chapter_the_chapters_that_are_run_stay(tmp_path):
    kept = kept_of(tmp_path, OF_CHAPTERS, USUAL, "hbf.ipynb", "simt.ipynb")
    pages = [name.split("[")[1] for name in kept if "test_page" in name]
    assert {"chapters/hbf.html]", "chapters/simt.html]"} < set(pages)
    assert sum(name.startswith("book/") for name in pages) == 2 == len(pages) - 2
    assert sum("test_method" in name for name in kept) == 2
