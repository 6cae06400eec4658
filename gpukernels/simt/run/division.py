"""``//`` and ``%`` of floats as the device computes them.

LLVM's ``frem`` becomes ``x - trunc(x / y) * y`` there, with one rounding at the end. It differs
from C's ``fmod``, which a CPU uses, where the quotient is infinite or does not fit the significand:
on an H200 ``1e30 % 7.0`` is 5.3e13, and a finite number ``% inf`` is NaN. The tests keep values
measured on that GPU.
"""

from __future__ import annotations

import numpy as np

_SPLIT = np.float64(2**27 + 1)


def _halves(a):
    high = a * _SPLIT
    high = high - (high - a)
    return high, a - high


def _minus_product(x, a, b):
    """Return ``x - a * b`` with the product exact; rounded once where ``a * b`` is close to `x`."""
    if x.dtype != np.float64:
        wide = x.astype(np.float64) - a.astype(np.float64) * b.astype(np.float64)
        return wide.astype(x.dtype)
    product = a * b
    (a1, a2), (b1, b2) = _halves(a), _halves(b)
    error = ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2
    error = np.where(np.isfinite(error), error, 0.0)
    return (x - product) - error


def _divide(x, y):
    remainder = _minus_product(x, np.trunc(x / y), y)
    quotient = (x - remainder) / y
    uneven = remainder != 0
    turn = uneven & ((y < 0) != (remainder < 0))
    zero = x.dtype.type(0)
    quotient = np.where(turn, quotient - x.dtype.type(1), quotient)
    remainder = np.where(turn, remainder + y, remainder)
    remainder = np.where(uneven, remainder, np.copysign(zero, y))
    floor = np.floor(quotient)
    floor = np.where(quotient - floor > 0.5, floor + x.dtype.type(1), floor)
    floor = np.where(quotient != 0, floor, np.copysign(zero, x / y))
    return floor, remainder


def floor_divide(x, y):
    """Return ``x // y`` of floats of one type."""
    return np.where(y == 0, x / y, _divide(x, y)[0])[()].astype(x.dtype)


def remainder(x, y):
    """Return ``x % y`` of floats of one type."""
    return np.where(y == 0, x.dtype.type(np.nan), _divide(x, y)[1])[()].astype(x.dtype)
