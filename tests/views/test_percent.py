"""Shares are written as whole percentages, and a half is rounded up."""

import pytest

from gpukernels.views.figure import percent


@pytest.mark.parametrize(
    ("part", "whole", "written"),
    [(0, 3, "0%"), (1, 3, "33%"), (2, 3, "67%"), (3, 3, "100%"), (1, 200, "1%"), (1, 201, "0%"),
     (1, 8, "13%"), (3, 8, "38%"), (5, 8, "63%"), (0, 0, "0%")],
)  # fmt: skip
def test_a_half_is_rounded_up(part, whole, written):
    assert percent(part, whole) == written
