"""A number with its unit, from a paper's table or from a file of measurements."""

from __future__ import annotations

import re
from dataclasses import dataclass

#: Milliseconds of a unit of time, and how many items a letter stands for.
MS = {"us": 1e-3, "ms": 1.0, "s": 1e3}
SIZES = {"K": 1e3, "M": 1e6}
#: A number as papers print it, with commas between thousands and an addend or a remark in brackets.
PRINTED = re.compile(r"^([\d,]*\d(?:\.\d+)?)(?:\(\+(\d+)\))?\s*(us|ms|s|x|K|M)?(?: \(W(\d+)\))?$")


@dataclass(frozen=True)
class Number:
    """A value, times in milliseconds.

    Parameters
    ----------
    value : float
        The number.
    unit : str
        ``"ms"``, ``"mJ"``, ``"x"`` of a ratio, ``"%"`` of a share, or nothing of a count.
    note : str
        A remark, such as the size of groups or the name of the search.
    """

    value: float
    unit: str = "ms"
    note: str = ""

    def __str__(self) -> str:
        if self.unit == "ms" and self.value >= 999.5:
            return f"{digits(self.value / 1e3)} s"
        if self.unit == "%":
            return f"{100 * self.value:.2g}%"
        signs = {"ms": " ms", "x": "×", "mJ": " mJ"}
        return digits(self.value) + signs.get(self.unit, "")

    def over(self, other: Number) -> Number:
        """Return the ratio of this number to `other`."""
        return Number(self.value / other.value, "x")


def digits(value: float) -> str:
    """Return three digits of a number, or all digits before the point if there are more."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def size(value: float) -> str:
    """Return a count as text, in millions if it is large."""
    return f"{value / 1e6:.4g} M" if value >= 1e6 else digits(value)


def printed(text: str, unit: str = "") -> tuple[float, str] | None:
    """Return the value of a printed number and a note, or None if `text` is no number.

    Parameters
    ----------
    text : str
        Such as ``"59,620.0"``, ``"17(+2) ms"``, ``"63.0 (W16)"``, ``"2.0M"``, ``"20.0x"``.
    unit : str
        The unit of a number without one; times become milliseconds.
    """
    match = PRINTED.match(text)
    if match is None:
        return None
    number, addend, own, width = match.groups()
    factor = (MS | SIZES).get(own or unit, 1.0)
    value = (float(number.replace(",", "")) + float(addend or 0)) * factor
    return value, f"groups of {width}" if width else ""
