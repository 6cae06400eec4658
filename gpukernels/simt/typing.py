"""numba's typing rules for scalars, as far as they differ from NumPy's.

In numba every integer operation is done in 64 bits, signed unless both operands are unsigned;
float32
stays float32 only beside operands of at most 16 bits. The tests compare each rule with numba's own
resolver.
"""

from __future__ import annotations

import functools

import numpy as np

BOOL = np.dtype(np.bool_)
INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)
UINT32, UINT64 = np.dtype(np.uint32), np.dtype(np.uint64)
FLOAT16, FLOAT32, FLOAT64 = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)

_NARROW = frozenset(np.dtype(t) for t in ("bool", "int8", "uint8", "int16"))


def is_integer(dtype: np.dtype) -> bool:
    """Return whether `dtype` is an integer or bool, which numba counts as one."""
    return dtype.kind in "biu"


def arithmetic(a: np.dtype, b: np.dtype) -> np.dtype:
    """Return the type of ``a + b`` (also ``-``, ``*``, ``//``, ``%``)."""
    if a.kind == "c" or b.kind == "c":
        return np.promote_types(a, b)
    if is_integer(a) and is_integer(b):
        return UINT64 if a.kind == "u" and b.kind == "u" else INT64
    if a == b:
        return a
    wide = max((t for t in (a, b) if t.kind == "f"), key=lambda t: t.itemsize)
    if wide == FLOAT64:
        return FLOAT64
    other = b if wide is a else a
    if other.kind == "f" or other in _NARROW:
        return wide
    return FLOAT64


def divide(a: np.dtype, b: np.dtype) -> np.dtype:
    """Return the type of ``a / b``."""
    result = arithmetic(a, b)
    return FLOAT64 if is_integer(result) else result


def power(a: np.dtype, b: np.dtype) -> np.dtype:
    """Return the type of ``a ** b``; a float32 base stays float32 under any integer exponent."""
    if a == FLOAT32 and is_integer(b):
        return FLOAT32
    return arithmetic(a, b)


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
    """Return the one type of a variable that is assigned both `a` and `b`; also of ``min``."""
    return np.promote_types(a, b)


@functools.cache
def natural(ufunc: np.ufunc, *operands: np.dtype) -> np.dtype | None:
    """Return the type that NumPy itself gives `ufunc` of array operands, or None if it has none."""
    try:
        return ufunc.resolve_dtypes((*operands, None))[-1]
    except TypeError:
        return None
