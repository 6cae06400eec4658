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

import pytest
from effort import LEVELS, SOAK, TEST, every_pair, in_turn

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
    ("effort", "always", "size"), [(TEST, False, 1), (TEST, True, 2), (SOAK, False, 4)]
)
def test_everything_that_can_be_had_appears(allowed, effort, always, size):
    rows = every_pair(*FACTORS, allowed=allowed, always=always, effort=effort)
    possible = [row for row in product(*FACTORS) if allowed(*row)]
    assert held(rows, size) == held(possible, size)
    assert all(row in possible for row in rows)
    assert len(rows) == len(held(rows, len(FACTORS))), "none stands there twice"


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


def kept_of(folder, text, effort):
    """Return which cases of a file of tests are kept."""
    shutil.copy(Path(__file__).parent / "conftest.py", folder)
    (folder / "test_file.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:nbval"]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "GPUKERNELS_EFFORT": effort,
    }
    run = subprocess.run(
        [*command, "test_file.py"], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout
    return re.findall(r"::(\S+)", run.stdout)


def test_parameters_that_cross_keep_each_value_and_rows_that_are_written_stay(tmp_path):
    kept = {effort: kept_of(tmp_path, CROSSING, effort) for effort in LEVELS}
    count = {e: Counter(name.split("[")[0] for name in names) for e, names in kept.items()}
    assert count[TEST] == {
        "test_crossing": 4, "test_all_of_a_crossing": 12, "test_written": 4, "test_alone": 1
    }  # fmt: skip
    assert count[SOAK] == count[TEST] | {"test_crossing": 24}
    values = {v for name in kept[TEST] if "test_crossing" in name for v in name[14:-1].split("-")}
    assert values == {*"1234", *"xyz", *"uv"}


def test_each_of_many_meets_the_others_in_turn_and_all_of_them_in_a_night():
    rows = in_turn(range(13), "ab", [1, 2, 3], effort=TEST)
    assert [row[0] for row in rows] == list(range(13))
    assert {row[1:] for row in rows} == set(product("ab", [1, 2, 3]))
    assert in_turn(range(13), "ab", effort=SOAK) == list(product(range(13), "ab"))
