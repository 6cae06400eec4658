"""The linter has no error to report on the launches of any kernel of the package."""

from __future__ import annotations

from collections import Counter

import pytest
from effort import EFFORT, SOAK
from kernel_runs import RUNS

import gpukernels as gk


class LintingDevice(gk.SimtDevice):
    """The SIMT machine, which checks launches before it makes them.

    Of the many launches of one kernel in a run, as one a level, it checks the first, the second,
    the fourth and so on: `make soak` checks all.
    """

    def __init__(self):
        super().__init__(check=True)
        self.reports = []
        self.times = Counter()

    def launch(self, kernel, blocks, threads, *args, **options):
        self.times[kernel] += 1
        if EFFORT == SOAK or self.times[kernel].bit_count() == 1:
            self.reports.append(gk.check(kernel, blocks, threads, *args, seeds=1, **options))
        super().launch(kernel, blocks, threads, *args, **options)


@pytest.mark.parametrize("name", RUNS)
def test_no_error_is_reported_on_a_kernel_of_the_package(name):
    device = LintingDevice()
    RUNS[name](device)
    assert device.reports
    assert [f for report in device.reports for f in report.errors] == []
