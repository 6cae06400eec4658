"""NumPy's functions with whole numbers of 64 bits where an index has 32, as in a browser."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

_repeat, _bincount = np.repeat, np.bincount


def widen() -> None:
    """Let `np.repeat` and `np.bincount` take int64 counts, as they do where an index has 64 bits.

    NumPy refuses them in Pyodide, where int64 does not fit an index. Elsewhere nothing changes.
    """
    if np.dtype(np.intp).itemsize < 8:
        np.repeat, np.bincount = repeat, bincount


@functools.wraps(_repeat)
def repeat(a: Any, repeats: Any, axis: int | None = None) -> np.ndarray:
    """Repeat elements by counts of any whole type."""
    return _repeat(a, _as_index(repeats), axis)


@functools.wraps(_bincount)
def bincount(x: Any, /, weights: Any = None, minlength: Any = 0) -> np.ndarray:
    """Count numbers of any whole type; without weights, the counts have 64 bits."""
    counts = _bincount(_as_index(x), weights, minlength)
    return counts.astype(np.int64) if weights is None else counts


def _as_index(numbers: Any) -> np.ndarray:
    """Return whole numbers as indices; OverflowError if one is too large. Others stay."""
    whole = np.asarray(numbers)
    if whole.dtype.kind not in "iu" or whole.dtype.itemsize <= np.dtype(np.intp).itemsize:
        return whole
    bounds = np.iinfo(np.intp)
    if whole.size and not bounds.min <= whole.min() <= whole.max() <= bounds.max:
        raise OverflowError(f"{whole.max()}: an index has {bounds.bits} bits here")
    return whole.astype(np.intp)
