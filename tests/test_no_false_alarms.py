"""The linter has no error to report on the launches of any kernel of the package."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

import numba
import pytest
from effort import EFFORT, SOAK
from kernel_runs import RUNS

import gpukernels as gk


class LintingDevice(gk.SimtDevice):
    """The SIMT machine, which checks launches before it makes them.

    Of the many launches of one kernel at the same types, in all runs together, it checks the first;
    with `make test-all` the second, the fourth and so on, too; and with `make soak` all.
    """

    times: ClassVar[Counter] = Counter()

    def __init__(self):
        super().__init__(check=True)
        self.reports = []

    def launch(self, kernel, blocks, threads, *args, **options):
        like = kernel, tuple(numba.typeof(a) for a in args)
        self.times[like] += 1
        often = self.times[like]
        if often == 1 or EFFORT == SOAK:
            self.reports.append(gk.check(kernel, blocks, threads, *args, seeds=1, **options))
        super().launch(kernel, blocks, threads, *args, **options)


@pytest.mark.parametrize("name", RUNS)
def test_no_error_is_reported_on_a_kernel_of_the_package(name):
    before = sum(LintingDevice.times.values())
    device = LintingDevice()
    RUNS[name](device)
    assert sum(LintingDevice.times.values()) > before
    assert [f for report in device.reports for f in report.errors] == []
