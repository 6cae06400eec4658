"""The meaning of the single words of a line, and their faults.

The grammar is defined here rather than by `int` and `float`, which take more than the fast parser
does (``1_0``) and give up on more than 4,300 digits.
"""

from __future__ import annotations

import re

import numpy as np

WHOLE = re.compile(rb"[+-]?[0-9]+")
DECIMAL = re.compile(
    rb"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|nan|inf(?:inity)?)", re.IGNORECASE
)
#: The start of every number other than 0.
SOME_DIGIT = re.compile(rb"[+-]?[0.]*[1-9]")
#: Bytes that only a comment may hold; blanks are the space and the tab.
CONTROL = bytes(set(range(32)) - set(b"\t\n")) + b"\x7f"
#: More digits than any number that is in range.
MANY_DIGITS = 20


def shown(word: bytes) -> str:
    """Quote a word for a message, shortened."""
    return repr(_short(word))


def control_fault(line: bytes) -> str | None:
    """Return a fault if a line holds control characters, and so is not text."""
    rest = line.translate(None, CONTROL)
    if len(rest) == len(line):
        return None
    if line.startswith(b"\x1f\x8b"):
        return "binary data, gzip by its first bytes"
    at = next(i for i, byte in enumerate(line) if byte in CONTROL)
    return f"binary data: byte 0x{line[at]:02x} in column {at + 1}"


def id_fault(word: bytes, what: str, least: int, most: int) -> str | None:
    """Return the fault in a vertex id, which must be from `least` to `most`."""
    vertex, reason = whole_number(word, what)
    if reason is None and vertex < 0:
        return f"{what} {_short(word)} is negative"
    if reason is None and not least <= vertex <= most:
        return f"{what} {_short(word)} is out of range: must be from {least} to {most}"
    return reason


def weight_fault(word: bytes, whole: bool) -> str | None:
    """Return the fault in a weight: an int64 if it must be whole, or else a finite float64."""
    if whole:
        weight, reason = whole_number(word, "weight")
        if reason is None and not -(2**63) <= weight < 2**63:
            return f"weight {_short(word)} is out of range: must be an int64"
        return reason
    if not DECIMAL.fullmatch(word):
        return f"weight {shown(word)} is not a number"
    weight = float(word)
    if np.isnan(weight):
        return "the weight is NaN"
    if np.isinf(weight):
        return f"weight {shown(word)} is not finite"
    if weight == 0 and SOME_DIGIT.match(word):
        return f"weight {shown(word)} is not 0, but too small for float64"
    return None


def mixed_fault(word: bytes) -> str | None:
    """Return the fault in a whole number that float64 has to hold."""
    if not WHOLE.fullmatch(word):
        return None
    reason = weight_fault(word, whole=True)
    if reason is None and int(float(word)) != number_of(word):
        return f"weight {_short(word)} stands among fractions, and no float64 holds it"
    return reason


def count_fault(word: bytes, what: str) -> str | None:
    """Return the fault in an announced number of vertices, arcs or the like."""
    count, reason = whole_number(word, f"number of {what}")
    if reason is None and not 0 <= count < 2**31 - 1:
        return f"number of {what} {_short(word)} is out of range: must be from 0 to {2**31 - 2}"
    return reason


def whole_number(word: bytes, what: str) -> tuple[int, None] | tuple[None, str]:
    """Parse a decimal integer: return the number, or its fault."""
    if not WHOLE.fullmatch(word):
        return None, f"{what} {shown(word)} is not a whole number"
    return number_of(word), None


def number_of(word: bytes) -> int:
    """Return the value of a decimal integer, or with many digits a value that is out of range."""
    digits = word.lstrip(b"+-").lstrip(b"0") or b"0"
    size = int(digits[:MANY_DIGITS])
    return -size if word.startswith(b"-") else size


def _short(word: bytes) -> str:
    text = word[:100].decode("ascii", "backslashreplace")
    return text if len(text) <= 24 else text[:24] + "..."
