"""Where kernel tests run: the SIMT machine with all its checks, or a GPU where asked for."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from built_book import folder_for_the_book
from effort import EFFORT, SCHEDULES, SOAK, cover, schedule_name
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
    "tests/browser/",
    "chapters/",
    "tests/chapters/",
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
    "tests/reference/",
    "tests/mapping/",
    "tests/views/",
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


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the tests of `FIRST` in front, in its order; leave cases out as the effort says."""
    for item in items:
        if " at 0x" in item.nodeid:
            raise pytest.UsageError(f"{item.nodeid}: an address, which no two processes share")
    if EFFORT != SOAK:
        kept = {item for cases in _cases(items).values() for item in _each_value(cases)}
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = [item for item in items if item in kept]

    def rank(item: pytest.Item) -> int:
        places = (k for k, start in enumerate(FIRST) if item.nodeid.startswith(start))
        return next(places, len(FIRST))

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


def _each_value(cases: list[pytest.Item]) -> list[pytest.Item]:
    """Return cases in which each value of each parameter appears, where parameters cross.

    What is parametrized at once has one name and is one value: rows that somebody wrote, or drew
    with `every_pair`, all stay. `@pytest.mark.crossed` keeps all cases.
    """
    if len(cases) == 1 or cases[0].get_closest_marker("crossed"):
        return cases
    names = np.array([case.callspec._idlist for case in cases])
    return [cases[k] for k in cover(names, 1)]


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
