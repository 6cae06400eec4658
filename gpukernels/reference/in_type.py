"""Store lengths that the CPU has added up in 64 bits in the type of the weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gpukernels.errors import LengthOverflow
from gpukernels.graphs.graph import no_arc


def largest(dtype: DTypeLike) -> float | int:
    """Return the largest length that a distance of this type can hold."""
    end = no_arc(dtype)
    return float(np.finfo(dtype).max) if end == np.inf else end - 1


def in_type(length: NDArray, reached: NDArray[np.bool_], root: int, row: NDArray) -> None:
    """Store 64-bit lengths in `row`, whose type may be shorter; infinity for unreached vertices.

    Raises
    ------
    LengthOverflow
        If the type does not hold a length.
    """
    held = length[reached]
    for sign, how in ((1, "longer"), (-1, "shorter")):
        if (sign * held > largest(row.dtype)).any():
            raise LengthOverflow(how, row.dtype, root)
    row[:] = no_arc(row.dtype)
    row[reached] = held
