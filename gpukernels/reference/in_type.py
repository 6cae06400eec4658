"""Lengths that the CPU has added up in 64 bits, stored in the type of the weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gpukernels.graphs.graph import no_arc


def largest(dtype: DTypeLike) -> float | int:
    """Return the largest length that a distance of this type can hold."""
    end = no_arc(dtype)
    return float(np.finfo(dtype).max) if end == np.inf else end - 1


def not_held(root: int, how: str, dtype: DTypeLike) -> OverflowError:
    """Return the error for a path from `root` that is ``"longer"`` or ``"lower"`` than `dtype`."""
    kind = np.dtype(dtype)
    return OverflowError(
        f"a path from vertex {root} is {how} than {kind} holds"
        + ("; take float32 weights" if kind == np.int32 else "")
    )


def in_type(length: NDArray, reached: NDArray[np.bool_], root: int, row: NDArray) -> None:
    """Store lengths of 64 bits in `row`, whose type may be shorter; infinity where none is reached.

    Raises
    ------
    OverflowError
        If the type does not hold a length.
    """
    held = length[reached]
    for sign, how in ((1, "longer"), (-1, "lower")):
        if (sign * held > largest(row.dtype)).any():
            raise not_held(root, how, row.dtype)
    row[:] = no_arc(row.dtype)
    row[reached] = held
