"""The median of some measurements, which also knows how far they spread.

A median alone does not say whether another one differs from it. A `Median` is a number like any
other and takes its quartiles along; `beside` writes them next to it: ``"kernel_ms": 1.5`` gets a
neighbor ``"kernel_ms_spread": [1.4, 1.7]``. Where a figure is a dictionary, as ``"ms"`` is of the
times of several searches by name, its neighbor is a dictionary of the same names.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from typing import Any

#: The names of figures: times, energies and powers.
FIGURE = re.compile(r"^(.*_)?(ms|microseconds|millijoules|watts)$")
#: Times of such names that nobody measures: foretold, that end a run, that are aimed at, and what
#: nothing can be below.
NOT_MEASURED = ("expected_ms", "stopped_after_ms", "reach_ms", "limit_ms")

#: What is added to a figure's name for that of its quartiles.
SPREAD = "_spread"


class Median(float):
    """A median with the quartiles of what it is the median of.

    Parameters
    ----------
    value : float
        The median.
    spread : pair of float
        The lower and the upper quartile; of a single measurement, this twice.
    """

    spread: tuple[float, float]

    def __new__(cls, value: float, spread: tuple[float, float]) -> Median:
        """Return the number, with its quartiles."""
        made = super().__new__(cls, value)
        made.spread = spread
        return made

    def __reduce__(self):
        return Median, (float(self), self.spread)

    def __round__(self, digits=None):
        low, high = self.spread
        return Median(round(float(self), digits), (round(low, digits), round(high, digits)))

    def times(self, factor: float) -> Median:
        """Return all three in another unit, `factor` of which make one of this."""
        low, high = self.spread
        return Median(self * factor, (low * factor, high * factor))


def median(values: Sequence[float], digits: int = 5) -> Median:
    """Return the median and the quartiles of `values`.

    The quartiles are those of the numbers at hand (of 1 to 5, 2 and 4), as between nine runs and
    a thousand nothing is estimated. Times are in milliseconds, hence five digits behind the point:
    a hundredth of a microsecond.

    Raises
    ------
    statistics.StatisticsError
        If there are none.
    """
    middle = statistics.median(values)
    low, high = middle, middle
    if len(values) > 1:
        low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return round(Median(middle, (low, high)), digits)


def beside(measured: Any) -> Any:
    """Return `measured` as JSON holds it, with its quartiles next to each median."""
    if isinstance(measured, dict):
        found: dict[str, Any] = {}
        for name, value in measured.items():
            by_name = isinstance(value, dict) and FIGURE.match(name)
            found[name] = value if by_name else beside(value)
            if isinstance(value, Median):
                found[name + SPREAD] = list(value.spread)
            elif by_name:
                found[name + SPREAD] = {
                    key: list(one.spread) for key, one in value.items() if isinstance(one, Median)
                }
        return found
    if isinstance(measured, list | tuple):
        return [beside(value) for value in measured]
    return measured
