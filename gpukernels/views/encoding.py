"""Integer and float columns as short strings that a browser turns back into typed arrays.

A column becomes ``"<type>:<base64>"`` or ``"<type>+:<base64>"``, little-endian. ``+`` means that
the stored numbers are differences to the entry before (the first one to zero), which lets sorted or
slowly changing columns fit a narrower type. ``js/decode.js`` is the other half.
"""

from __future__ import annotations

import base64
import json
import re

import numpy as np
from numpy.typing import ArrayLike

#: A whole number as Python writes it, and short enough to be packed.
_NUMBER = re.compile(r"(?<!\d)(0|[1-9]\d{0,8})(?!\d)", re.ASCII)
_WIDTHS = ("u1", "i1", "u2", "i2", "u4", "i4")


def _narrowest(values: np.ndarray) -> str:
    low, high = (int(values.min()), int(values.max())) if values.size else (0, 0)
    for width in _WIDTHS:
        bounds = np.iinfo(width)
        if bounds.min <= low and high <= bounds.max:
            return width
    raise ValueError(f"values from {low} to {high} do not fit 32 bits")


def pack(values: ArrayLike) -> str:
    """Encode a one-dimensional array in the narrowest type that holds it exactly.

    Parameters
    ----------
    values : array_like
        Booleans, integers (within 32 bits) or floats (stored as float32).

    Returns
    -------
    str
        The encoded column; the same values always give the same string.

    Raises
    ------
    ValueError
        If an integer does not fit 32 bits.
    """
    column = np.asarray(values).ravel()
    if column.dtype.kind == "f":
        kind = "f4"
        stored = column
    else:
        column = column.astype(np.int64)
        kind = _narrowest(column)
        stored = column
        steps = np.diff(column, prepend=0)
        if column.size and abs(steps).max() <= 0x7FFFFFFF:
            narrower = _narrowest(steps)
            if np.dtype(narrower).itemsize < np.dtype(kind).itemsize:
                kind, stored = narrower + "+", steps
    raw = stored.astype("<" + kind.rstrip("+")).tobytes()
    return f"{kind}:{base64.b64encode(raw).decode('ascii')}"


def unpack(text: str) -> np.ndarray:
    """Decode a string made by :func:`pack`.

    Returns
    -------
    numpy.ndarray
        float32, int64 for the integer types.
    """
    kind, _, body = text.partition(":")
    stored = np.frombuffer(base64.b64decode(body), dtype="<" + kind.rstrip("+"))
    if kind == "f4":
        return stored
    column = stored.astype(np.int64)
    return np.cumsum(column) if kind.endswith("+") else column


def pack_lists(lists: list) -> dict[str, str]:
    """Encode a list of integer lists as CSR: where each starts, and all of them end to end."""
    lengths = [len(entry) for entry in lists]
    flat = np.concatenate([np.asarray(entry, dtype=np.int64) for entry in lists]) if lists else []
    return {"at": pack(np.concatenate([[0], np.cumsum(lengths)])), "of": pack(flat)}


def pack_rows(rows: list) -> dict[str, str]:
    """Encode integer lists of which many are equal: each once, and which of them each row is."""
    numbers: dict[tuple[int, ...], int] = {}
    which = [numbers.setdefault(tuple(map(int, row)), len(numbers)) for row in rows]
    return {"row": pack(which), **pack_lists(list(numbers))}


def pack_texts(texts: list[str]) -> dict:
    """Encode texts that differ by their numbers: the words between them once, and the numbers."""
    forms: dict[tuple[str, ...], int] = {}
    which, numbers = [], []
    for text in texts:
        parts = _NUMBER.split(text)
        which.append(forms.setdefault(tuple(parts[::2]), len(forms)))
        numbers.append([int(number) for number in parts[1::2]])
    return {"forms": list(map(list, forms)), "of": pack(which), "numbers": pack_lists(numbers)}


def to_json(payload: dict) -> str:
    """Serialize `payload` so that it is deterministic and safe inside an HTML script element."""
    text = json.dumps(payload, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace("&", "\\u0026")
