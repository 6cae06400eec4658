"""The package in a Python without numba: the machine, every technique and the notebooks."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import ROOT
from effort import EFFORT, SOAK

HERE = Path(__file__).parent
CHAPTERS = sorted(path.stem for path in (ROOT / "chapters").glob("*.ipynb"))
#: Chapters that call SciPy themselves.
WITH_SCIPY = {"simt", "representations"}
#: Cells that need METIS, by chapter. Cells that show machine code are left out in all chapters.
NEED_MORE = {
    "beyond_one_gpu": {
        "by-view", "by-boundary-picture", "by-wins", "by-held-chart", "by-plan-chart",
        "by-open-run",
    }
}  # fmt: skip
#: Tests of the machine that compare it with numba, or replace a part of numba.
WITH_NUMBA = (
    "numba_suite test_atomics test_constructs test_records test_signatures test_simulator "
    "test_thread_by_thread test_typing"
).split()
SAMPLE = ["shared_memory"] if EFFORT != SOAK else CHAPTERS


def test_numba_is_not_there_and_its_names_are(without_numba):
    code = (
        "import importlib.util as u; assert u.find_spec('numba') is None\n"
        "from gpukernels.simt import names; names.register(); names.register()\n"
        "from numba import cuda, int32; print(int32(2**31 + 5), cuda.grid)"
    )
    assert without_numba("-c", code) == "-2147483643 cuda.grid\n"


def test_each_technique(without_numba):
    assert without_numba(HERE / "each_technique.py") == "done\n"


@pytest.mark.parametrize("chapter", SAMPLE)
def test_notebooks_give_the_outputs_that_they_keep(chapter, without_numba):
    notebook = ROOT / "chapters" / f"{chapter}.ipynb"
    report = without_numba(HERE / "notebook_outputs.py", notebook, scipy_too=chapter in WITH_SCIPY)
    more = NEED_MORE.get(chapter, set())
    assert [line for line in report.splitlines() if line.split(":")[0] not in more] == []


def test_the_machine(without_numba):
    files = sorted((ROOT / "tests" / "simt").glob("test_*.py"))
    chosen = [path for path in files if path.stem not in WITH_NUMBA]
    if EFFORT != SOAK:
        chosen = [path for path in chosen if path.stem == "test_language"]
    options = ["-q", "-p", "names_registered", "-p", "no:cacheprovider", "-p", "no:xdist"]
    report = without_numba("-m", "pytest", *options, *chosen, scipy_too=True)
    assert " passed" in report
