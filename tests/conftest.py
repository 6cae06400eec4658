"""Where kernel tests run: the SIMT machine with all its checks, or a GPU where asked for."""

from __future__ import annotations

import pytest
from built_book import folder_for_the_book

from gpukernels.device import CudaDevice, SimtDevice, default_device

#: (schedule, seed) of every way to order warps that the tests try.
SCHEDULES = [("lockstep", 0), ("warp", 0), ("random", 1), ("random", 2)]

#: What starts first: the files that take longest. A process takes whole files, so that one of these
#: left to the end would leave the other without work.
FIRST = (
    "tests/bench/",
    "tests/browser/test_pages.py",
    "tests/simt/test_programs.py",
    "tests/browser/",
    "chapters/",
    "tests/mapping/",
    "tests/test_cudasim.py",
    "tests/test_ptx.py",
    "tests/plain_notebooks/",
    "tests/exercises/",
)


def pytest_configure(config: pytest.Config) -> None:
    """Give the built book a place before the tests are spread over processes."""
    folder = folder_for_the_book()
    folder.__enter__()
    config.add_cleanup(lambda: folder.__exit__(None, None, None))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of `FIRST` in front, in its order; all others keep theirs."""

    def rank(item: pytest.Item) -> int:
        found = (k for k, start in enumerate(FIRST) if item.nodeid.startswith(start))
        return next(found, len(FIRST))

    items.sort(key=rank)


@pytest.fixture
def device():
    """The device of this run; on the SIMT machine, races and unwritten memory are errors."""
    chosen = default_device()
    return chosen if isinstance(chosen, CudaDevice) else SimtDevice(check=True)


@pytest.fixture(params=SCHEDULES, ids=lambda p: p[0] if p[0] != "random" else f"random-{p[1]}")
def scheduled_device(request):
    """The SIMT machine under each schedule; on a GPU, which has its own, one plain run."""
    chosen = default_device()
    if not isinstance(chosen, CudaDevice):
        schedule, seed = request.param
        return SimtDevice(schedule=schedule, seed=seed, check=True)
    if request.param != SCHEDULES[0]:
        pytest.skip("schedules belong to the SIMT machine")
    return chosen
