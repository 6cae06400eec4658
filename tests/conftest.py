"""Where kernel tests run: the SIMT machine with all its checks, or a GPU where asked for."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from built_book import ROOT, folder_for_the_book
from effort import EACH, EFFORT, FAST, SCHEDULES, USUAL, cover, schedule_name, some_of
from outcomes import is_quiet, run_quietly

from gpukernels.device import CudaDevice, SimtDevice, default_device

#: What starts first: the files that take longest. A process takes whole files, so that one of these
#: left to the end would leave the other without work; and while the first builds the book, others
#: have what needs none.
FIRST = (
    "tests/browser/test_pages.py",
    "tests/test_cudasim.py",
    "tests/simt/test_programs.py",
    "tests/test_ptx.py",
    "tests/test_making.py",
    "tests/browser/",
    "chapters/",
    "tests/plain_notebooks/",
    "tests/all_pairs/",
    "tests/benchmarks/",
    "tests/exercises/",
    "tests/test_book_address.py",
    "tests/test_hostile_fuzz.py",
    "tests/traversal/",
    "tests/shortest_paths/",
    "tests/distributed/test_beyond.py",
    "tests/test_public_types.py",
    "tests/notebook/test_assertions.py",
    "tests/notebook/test_no_gpu.py",
    "tests/test_no_false_alarms.py",
    "tests/test_multicore.py",
    "tests/test_multicore_all_pairs.py",
    "tests/test_multicore_paths.py",
    "tests/mapping/",
    "tests/views/",
)

#: The names of all chapters.
CHAPTERS = {path.stem for path in (ROOT / "chapters").glob("*.ipynb")}

#: What `make test FAST=1` leaves out: browsers, other processes, compilers, the built book, and
#: what compares many runs.
SLOW = (
    "tests/all_pairs/test_killed.py",
    "tests/all_pairs/test_tiles.py::test_on_hopper",
    "tests/all_pairs/test_traffic.py",
    "tests/benchmarks/",
    "tests/browser/",
    "tests/exercises/test_logbook.py",
    "tests/exercises/test_open_tasks.py",
    "tests/plain_notebooks/test_plain_chapters.py",
    "tests/notebook/test_assembly.py",
    "tests/notebook/test_assertions.py",
    "tests/distributed/test_beyond.py",
    "tests/test_book.py",
    "tests/test_book_address.py",
    "tests/test_cudasim.py",
    "tests/test_effort.py",
    "tests/test_formulas.py",
    "tests/test_methods.py::test_the_package_is_told_without_docstrings",
    "tests/distributed/test_local_client.py",
    "tests/test_multicore.py",
    "tests/test_multicore_all_pairs.py",
    "tests/test_multicore_paths.py",
    "tests/test_making.py",
    "tests/test_no_false_alarms.py",
    "tests/notebook/test_no_gpu.py",
    "tests/test_package.py",
    "tests/test_ptx.py::test_kernel_compiles",
    "tests/test_ptx.py::test_kernels_compile",
    "tests/test_public_types.py",
    "tests/test_reference.py",
    "tests/simt/test_kernels_compile.py",
    "tests/simt/test_release_acquire.py",
    "tests/simt/test_simulator.py",
    "tests/simt/test_trace_limit.py",
    "tests/trace/test_record.py::test_gk_trace_stays",
    "tests/traversal/test_linear_work.py::test_by_default",
    "tests/traversal/test_many_roots.py::test_a_sector",
    "tests/views/test_figures.py::test_another_process",
    "tests/views/test_figures.py::test_large_inputs",
    "tests/views/test_stills.py",
    "tests/views/test_variants.py",
)


def pytest_configure(config: pytest.Config) -> None:
    """Give the built book a place before the tests are spread over processes."""
    folder = folder_for_the_book()
    folder.__enter__()
    config.add_cleanup(lambda: folder.__exit__(None, None, None))


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect tests without looking for garbage among them, then or later.

    There are millions of objects that stay to the end: each look at all of them takes a second.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Do not even import what is `SLOW` in a hurry."""
    if EFFORT != FAST or not collection_path.is_relative_to(ROOT):
        return None
    name = collection_path.relative_to(ROOT).as_posix()
    return True if (name + "/").startswith(SLOW) or name in SLOW else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the tests of `FIRST` in front, in its order; leave cases out as the effort says."""
    for item in items:
        if " at 0x" in item.nodeid:
            raise pytest.UsageError(f"{item.nodeid}: an address, which no two processes share")
    if EFFORT in CHOSEN:
        run = {Path(word).stem for word in config.args if word.endswith(".ipynb")}
        kept = {item for cases in _cases(items).values() for item in CHOSEN[EFFORT](cases, run)}
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = [item for item in items if item in kept]

    def rank(item: pytest.Item) -> int:
        found = (k for k, start in enumerate(FIRST) if item.nodeid.startswith(start))
        return next(found, len(FIRST))

    items.sort(key=rank)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Under xdist, tell the process that prints of outcomes alone."""
    if not is_quiet(item.config):
        return None
    run_quietly(item, nextitem)
    return True


def _cases(items: list[pytest.Item]) -> dict[str, list[pytest.Item]]:
    """Return the cases of each test, and cells of notebooks as tests of one case."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        function = isinstance(item, pytest.Function)
        cases.setdefault(item.nodeid.split("[")[0] if function else item.nodeid, []).append(item)
    return cases


def _one(cases: list[pytest.Item], run: set[str]) -> list[pytest.Item]:
    """Return a case of a test that is not `SLOW`."""
    kept = [item for item in cases if not item.nodeid.startswith(SLOW)]
    return some_of(kept, kept[0].nodeid.split("[")[0]) if kept else []


def _each_value(cases: list[pytest.Item], run: set[str]) -> list[pytest.Item]:
    """Return cases in which each value of each parameter appears, where parameters cross.

    What is parametrized at once has one name and is one value: rows that somebody wrote, or drew
    with `every_pair`, all stay. `@pytest.mark.crossed` keeps all cases.
    """
    if len(cases) == 1 or cases[0].get_closest_marker("crossed"):
        return cases
    names = np.array([case.callspec._idlist for case in cases])
    return [cases[k] for k in cover(names, 1)]


def _some(cases: list[pytest.Item], run: set[str]) -> list[pytest.Item]:
    """Return of the cases that :func:`_each_value` keeps as many as the root of their number.

    Of what is tried a chapter it keeps those of the notebooks that are `run`.
    """
    cases = _each_value(cases, run)
    if len(cases) == 1 or cases[0].get_closest_marker("crossed"):
        return cases
    kept, others = [], cases
    of_chapter = {case: _chapter(case) for case in cases}
    if len({*of_chapter.values()}) > len(CHAPTERS) // 2:  # else methods have the names of some
        kept = [case for case, name in of_chapter.items() if name in run]
        others = [case for case, name in of_chapter.items() if name is None or not kept]
    return kept + some_of(others, cases[0].nodeid.split("[")[0], round(len(others) ** 0.5))


def _chapter(case: pytest.Item) -> str | None:
    """Return the chapter that the name of a case names."""
    words = re.split(r"[-/.]", case.callspec.id)
    return next((word for word in words if word in CHAPTERS), None)


#: Which cases of a test run with less effort than all.
CHOSEN: dict[str, Callable] = {FAST: _one, USUAL: _some, EACH: _each_value}


@pytest.fixture
def device():
    """The device of this run; on the SIMT machine, races and unwritten memory are errors."""
    chosen = default_device()
    return chosen if isinstance(chosen, CudaDevice) else SimtDevice(check=True)


@pytest.fixture(params=SCHEDULES, ids=schedule_name)
def scheduled_device(request):
    """The SIMT machine under each schedule; on a GPU, which has its own, one plain run."""
    chosen = default_device()
    if not isinstance(chosen, CudaDevice):
        schedule, seed = request.param
        return SimtDevice(schedule=schedule, seed=seed, check=True)
    if request.param != SCHEDULES[0]:
        pytest.skip("schedules belong to the SIMT machine")
    return chosen
