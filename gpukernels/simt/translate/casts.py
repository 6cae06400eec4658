"""Turn floats into integers as the device does, where NumPy leaves the result open."""

from __future__ import annotations

import numpy as np

from gpukernels.simt.translate import typing


def to_integer(value, dtype):
    """Return `value` (float, one per lane) as the integer type `dtype`, rounded towards zero.

    A number beyond the type becomes its nearest bound, as PTX's ``cvt.rzi`` has it. NaN becomes 0,
    or the number with the highest bit alone where float64 or a 64-bit integer takes part. There is
    no conversion to 8 bits: those are the lower half of 16.
    """
    wide = np.dtype(f"{dtype.kind}{max(dtype.itemsize, 2)}")
    bounds = np.iinfo(wide)
    # The bounds of 64 bits are no floats; every float beyond one is at least a power of two.
    below, above = value <= bounds.min, value >= float(bounds.max)
    beyond = below | above | (value != value)
    if not beyond.any():
        return value.astype(wide).astype(dtype, copy=False)
    bits = 8 * wide.itemsize
    zero = value.dtype != typing.FLOAT64 and bits < 64
    of_nan = wide.type(0) if zero else np.array(1 << (bits - 1), f"u{wide.itemsize}").view(wide)
    inside = np.where(beyond, 0, value).astype(wide)
    result = np.where(above, bounds.max, np.where(below, bounds.min, inside))
    return np.where(value != value, of_nan, result).astype(wide).astype(dtype)[()]
