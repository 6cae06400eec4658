"""A median is a number that knows its quartiles, and they stand beside it in a file."""

from __future__ import annotations

import json
import pickle
import statistics

import numpy as np
import pytest

from gpukernels.notebook.spread import Median, beside, median


@pytest.mark.parametrize("values", [[3, 1, 2], [5, 1, 4, 2, 3], list(range(17)), [2, 9, 4, 4]])
def test_the_quartiles_are_those_of_numpy(values):
    number = median(values)
    assert number == statistics.median(values)
    assert number.spread == tuple(np.quantile(values, [0.25, 0.75]))


def test_a_single_run_has_no_spread_and_none_has_no_median():
    assert (median([2.0]), median([2.0]).spread) == (2.0, (2.0, 2.0))
    with pytest.raises(statistics.StatisticsError):
        median([])


def test_all_three_are_rounded_scaled_and_kept():
    number = median([1.23456789, 2.3456789, 3.456789], 3)
    assert (number, number.spread) == (2.346, (1.79, 2.901))
    micro = round(number.times(1e3), 1)
    assert (micro, micro.spread) == (2346.0, (1790.0, 2901.0))
    again = pickle.loads(pickle.dumps(number))
    assert (again, again.spread) == (number, number.spread)
    assert json.dumps(number) == "2.346"


def test_quartiles_stand_beside_each_median_and_by_name_where_all_are_medians():
    ms, other = Median(2.0, (1.0, 3.0)), Median(5.0, (4.0, 6.0))
    measured = {
        "times": [
            {"graph": "rmat", "kernel_ms": ms, "runs": 3},
            {"ms": {"guarded": ms, "NumPy": other}},
            {"searches": {"luo": {"call_ms": other}, "slow": {}}},
        ],
        "empty": {},
    }
    assert beside(measured) == {
        "times": [
            {"graph": "rmat", "kernel_ms": 2.0, "kernel_ms_spread": [1.0, 3.0], "runs": 3},
            {
                "ms": {"guarded": 2.0, "NumPy": 5.0},
                "ms_spread": {"guarded": [1.0, 3.0], "NumPy": [4.0, 6.0]},
            },
            {"searches": {"luo": {"call_ms": 5.0, "call_ms_spread": [4.0, 6.0]}, "slow": {}}},
        ],
        "empty": {},
    }
