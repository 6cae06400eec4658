"""Where kernel tests run: the SIMT machine with all its checks, or a GPU where asked for."""

from __future__ import annotations

import pytest
from built_book import folder_for_the_book

from gpukernels.device import CudaDevice, SimtDevice, default_device

#: (schedule, seed) of every way to order warps that the tests try.
SCHEDULES = [("lockstep", 0), ("warp", 0), ("random", 1), ("random", 2)]


def pytest_configure(config: pytest.Config) -> None:
    """Give the built book a place before the tests are spread over processes."""
    folder = folder_for_the_book()
    folder.__enter__()
    config.add_cleanup(lambda: folder.__exit__(None, None, None))


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
