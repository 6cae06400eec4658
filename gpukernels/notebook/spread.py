"""The median of several measurements, with their quartiles.

A median alone does not show whether another one differs from it. A `Median` is a float that also
has the quartiles, and the function `beside` writes them next to it: ``"kernel_ms": 1.5`` gets a
neighbor ``"kernel_ms_spread": [1.4, 1.7]``. If a figure is a dictionary, as ``"ms"`` with the times
of several searches by name, its neighbor is a dictionary with the same names.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from typing import Any

#: The names of figures: times, energies and powers.
FIGURE = re.compile(r"^(.*_)?(ms|microseconds|millijoules|watts)$")
#: Times with such names that are not measured: a prediction, the limit after which a run is
#: stopped, a goal, and a lower bound.
NOT_MEASURED = ("expected_ms", "stopped_after_ms", "reach_ms", "limit_ms")

#: End of the name of a figure's quartiles.
SPREAD = "_spread"


class Median(float):
    """A median with the quartiles of the same measurements.

    Parameters
    ----------
    value : float
        The median.
    spread : pair of float
        The lower and the upper quartile; for a single measurement, its value twice.
    """

    spread: tuple[float, float]

    def __new__(cls, value: float, spread: tuple[float, float]) -> Median:
        """Return the number, with its quartiles."""
        number = super().__new__(cls, value)
        number.spread = spread
        return number

    def __reduce__(self):
        return Median, (float(self), self.spread)

    def __round__(self, digits=None):
        low, high = self.spread
        return Median(round(float(self), digits), (round(low, digits), round(high, digits)))

    def times(self, factor: float) -> Median:
        """Return the median and the quartiles multiplied by `factor`, as for another unit."""
        low, high = self.spread
        return Median(self * factor, (low * factor, high * factor))


def median(values: Sequence[float], digits: int = 5) -> Median:
    """Return the median and the quartiles of `values`.

    The quartiles describe the given numbers alone (2 and 4 for the numbers 1 to 5) and do not
    estimate a larger population. Times are in milliseconds, so five digits after the point are a
    hundredth of a microsecond.

    Raises
    ------
    statistics.StatisticsError
        If `values` is empty.
    """
    middle = statistics.median(values)
    low, high = middle, middle
    if len(values) > 1:
        low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return round(Median(middle, (low, high)), digits)


def beside(measured: Any) -> Any:
    """Return `measured` as JSON holds it, with its quartiles next to each median."""
    if isinstance(measured, dict):
        columns: dict[str, Any] = {}
        for name, value in measured.items():
            by_name = isinstance(value, dict) and FIGURE.match(name)
            columns[name] = value if by_name else beside(value)
            if isinstance(value, Median):
                columns[name + SPREAD] = list(value.spread)
            elif by_name:
                columns[name + SPREAD] = {
                    key: list(one.spread) for key, one in value.items() if isinstance(one, Median)
                }
        return columns
    if isinstance(measured, list | tuple):
        return [beside(value) for value in measured]
    return measured
