"""Counts, shares and labels as figures write them."""

from __future__ import annotations


def count(value: int, one: str, many: str | None = None) -> str:
    """Write ``"1 arc"`` or ``"1,234 arcs"``."""
    return f"{value:,} {one if value == 1 else many or one + 's'}"


def percent(part: float, whole: float) -> str:
    """Write a share as a whole percentage, rounded half up."""
    return f"{int(100 * part / whole + 0.5)}%" if whole else "0%"


def value_word(value: float, missing: bool = False) -> str:
    """Write a value whole if it is, else with three digits; a dash where there is none."""
    if missing:
        return "–"
    return str(int(value)) if float(value).is_integer() else f"{value:.3g}"


def under(label: str) -> str:
    """Write what stands before the words of one of several traces; a single one has no label."""
    return f"{label}: " if label else ""
