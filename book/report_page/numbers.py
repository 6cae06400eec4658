"""A number that knows where it is written: in a paper's table or in a file of measurements."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

#: Milliseconds of a unit of time; how many of what is counted a letter stands for.
MS = {"us": 1e-3, "ms": 1.0, "s": 1e3}
SIZES = {"K": 1e3, "M": 1e6}
#: Between the two places of a ratio; places have blanks.
OVER = " ÷ "
#: A number as papers print it: commas between thousands, an addend or a remark in brackets.
PRINTED = re.compile(r"^([\d,]*\d(?:\.\d+)?)(?:\(\+(\d+)\))?\s*(us|ms|s|x|K|M)?(?: \(W(\d+)\))?$")


@dataclass(frozen=True)
class Number:
    """A value, times in milliseconds, and where it comes from.

    Parameters
    ----------
    value : float
        The number.
    at : str
        The file's name, a sign ``#`` and a JSON pointer; of a ratio the two, with `OVER` between.
    unit : str
        ``"ms"``, ``"x"`` of a ratio, ``"%"`` of a share, ``"year"``, or nothing of a count.
    note : str
        What it is of, where that needs saying, such as the size of the groups.
    """

    value: float
    at: str
    unit: str = "ms"
    note: str = ""

    def __str__(self) -> str:
        if self.unit == "ms":
            return time_text(self.value)
        if self.unit == "%":
            return f"{100 * self.value:.2g}%"
        if self.unit == "year":
            return str(self.value)
        signs = {"x": "×", "mJ": " mJ"}
        return digits(self.value) + signs.get(self.unit, "")

    def html(self) -> str:
        """Return the number as an element that names its source."""
        name = "data-ratio" if OVER in self.at else "data-at"
        at = html.escape(self.at, quote=True)
        return f'<data value="{self.value:.9g}" {name}="{at}">{self}</data>'

    def over(self, other: Number) -> Number:
        """Return how many times `other` this is."""
        return Number(self.value / other.value, f"{self.at}{OVER}{other.at}", "x")


def digits(value: float) -> str:
    """Return three digits of a number, and all that stand before the point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def time_text(ms: float) -> str:
    """Return milliseconds in the unit in which one reads them."""
    if ms >= 999.5:
        return f"{digits(ms / 1e3)} s"
    return f"{digits(ms)} ms"


def printed(text: str, unit: str = "") -> tuple[float, str] | None:
    """Return the value of a printed number and a note, or None of what is none.

    Parameters
    ----------
    text : str
        Such as ``"59,620.0"``, ``"17(+2) ms"``, ``"63.0 (W16)"``, ``"2.0M"``, ``"20.0x"``.
    unit : str
        What it is in where it does not say so; times become milliseconds.
    """
    found = PRINTED.match(text)
    if found is None:
        return None
    number, addend, own, width = found.groups()
    factor = (MS | SIZES).get(own or unit, 1.0)
    value = (float(number.replace(",", "")) + float(addend or 0)) * factor
    return value, f"groups of {width}" if width else ""
