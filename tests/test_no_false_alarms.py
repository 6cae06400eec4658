"""The linter has no error to report on any launch of any kernel of the package."""

from __future__ import annotations

import pytest
from kernel_runs import RUNS

import gpukernels as gk


class LintingDevice(gk.SimtDevice):
    """The SIMT machine, which checks every launch before it makes it."""

    def __init__(self):
        super().__init__(check=True)
        self.reports = []

    def launch(self, kernel, blocks, threads, *args, **options):
        self.reports.append(gk.check(kernel, blocks, threads, *args, seeds=1, **options))
        super().launch(kernel, blocks, threads, *args, **options)


@pytest.mark.parametrize("name", RUNS)
def test_no_error_is_reported_on_a_kernel_of_the_package(name):
    device = LintingDevice()
    RUNS[name](device)
    assert device.reports
    assert [f for report in device.reports for f in report.errors] == []
