"""numba's typing rules for scalars, as far as they differ from NumPy's.

In numba every integer operation is done in 64 bits, signed unless both operands are unsigned. An
operation on float32 gives float32 only if the other operand is a float32 or a smaller float, or
a bool, int8, uint8 or int16. The tests compare each rule with numba's own resolver.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

BOOL = np.dtype(np.bool_)
INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)
UINT32, UINT64 = np.dtype(np.uint32), np.dtype(np.uint64)
FLOAT16, FLOAT32, FLOAT64 = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)
COMPLEX64, COMPLEX128 = np.dtype(np.complex64), np.dtype(np.complex128)

#: Integers that every value of which float16, and float32, can hold; numba widens for the others.
_FLOAT16_HOLDS = frozenset(np.dtype(t) for t in ("bool", "int8"))
_FLOAT32_HOLDS = frozenset(np.dtype(t) for t in ("bool", "int8", "uint8", "int16"))
#: Types that leave complex64 as it is in an operation.
_COMPLEX64_HOLDS = _FLOAT32_HOLDS | {FLOAT16, FLOAT32, COMPLEX64}


def is_integer(dtype: np.dtype) -> bool:
    """Return whether `dtype` is an integer or bool, which numba counts as one."""
    return dtype.kind in "biu"


def arithmetic(a: np.dtype, b: np.dtype) -> np.dtype:
    """Return the type of ``a + b`` (also ``-``, ``*``)."""
    if is_integer(a) and is_integer(b):
        return UINT64 if a.kind == "u" and b.kind == "u" else INT64
    if "c" in (a.kind, b.kind):
        return COMPLEX64 if a in _COMPLEX64_HOLDS and b in _COMPLEX64_HOLDS else COMPLEX128
    if a.kind == b.kind:
        return max(a, b, key=lambda t: t.itemsize)
    number, integer = (a, b) if a.kind == "f" else (b, a)
    if number == FLOAT64 or integer not in _FLOAT32_HOLDS:
        return FLOAT64
    return number if integer in _FLOAT16_HOLDS else FLOAT32


def floor_divide(a: np.dtype, b: np.dtype) -> np.dtype | None:
    """Return the type of ``a // b`` and ``a % b``, or None for complex numbers.

    numba computes those of float16 in float32.
    """
    result = arithmetic(a, b)
    if result.kind == "c":
        return None
    return FLOAT32 if result == FLOAT16 else result


def divide(a: np.dtype, b: np.dtype) -> np.dtype:
    """Return the type of ``a / b``."""
    result = arithmetic(a, b)
    return FLOAT64 if is_integer(result) else result


def power(a: np.dtype, b: np.dtype) -> np.dtype:
    """Return the type of ``a ** b``; a float32 base stays float32 under any integer exponent."""
    if a in (FLOAT16, FLOAT32) and is_integer(b):
        return FLOAT32
    if (a, b) == (BOOL, INT32):
        return FLOAT32  # numba's choice among its overloads
    return floor_divide(a, b) or arithmetic(a, b)


def bitwise(a: np.dtype, b: np.dtype) -> np.dtype | None:
    """Return the type of ``a & b`` (also ``|``, ``^``), or None where numba refuses it."""
    if not (is_integer(a) and is_integer(b)):
        return None
    return BOOL if a == b == BOOL else arithmetic(a, b)


def shift(a: np.dtype, b: np.dtype) -> np.dtype | None:
    """Return the type of ``a << b``, or None where numba refuses it."""
    if not (is_integer(a) and is_integer(b)):
        return None
    return UINT64 if a.kind == "u" else INT64


def negate(a: np.dtype) -> np.dtype:
    """Return the type of ``-a`` and ``+a``."""
    if not is_integer(a):
        return a
    return UINT64 if a.kind == "u" else INT64


def invert(a: np.dtype) -> np.dtype | None:
    """Return the type of ``~a``, or None where numba refuses it."""
    if not is_integer(a):
        return None
    return BOOL if a == BOOL else negate(a)


def unify(a: np.dtype, b: np.dtype) -> np.dtype:
    """Return the one type of a variable that is given both `a` and `b`; also of ``min(a, b)``.

    ``a < b`` and its kin compare reals in this type, for example int64 with uint64 as float64.
    """
    return np.promote_types(a, b)


def part(a: np.dtype) -> np.dtype:
    """Return the type of ``a.real`` and ``a.imag`` (also ``abs(a)``) of a complex type."""
    return FLOAT32 if a == COMPLEX64 else FLOAT64


def floating(a: np.dtype) -> np.dtype:
    """Return the float type in which numba computes a function of reals that has an `a` form."""
    if a.kind == "f":
        return FLOAT64 if a == FLOAT64 else FLOAT32
    return FLOAT32 if a in _FLOAT32_HOLDS else FLOAT64


def counter(bounds: Sequence[np.dtype]) -> np.dtype:
    """Return the type of the variable of a ``for`` over ``range(*bounds)``.

    numba has three kinds of range and takes the one to which the bounds convert best.
    """

    def cost(counted):
        ranks = [conversion(b, counted) for b in bounds]
        return ranks.count("unsafe"), ranks.count("safe"), ranks.count("promotion")

    return min((INT32, INT64, UINT64), key=cost)


def conversion(dtype: np.dtype, wanted: np.dtype) -> str:
    """Return the kind of numba's conversion: "none", "promotion", "safe" or "unsafe"."""
    if dtype == wanted:
        return "none"
    if not np.can_cast(dtype, wanted):
        return "unsafe"
    return "promotion" if dtype.kind == wanted.kind else "safe"


@functools.cache
def natural(ufunc: np.ufunc, *operands: np.dtype) -> np.dtype | None:
    """Return the type that NumPy itself gives `ufunc` of array operands, or None if it has none."""
    try:
        return ufunc.resolve_dtypes((*operands, None))[-1]
    except TypeError:
        return None
