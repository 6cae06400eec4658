"""``math``, and the additional functions of ``cuda``: ``fma``, ``cbrt``."""

from __future__ import annotations

import functools
import math

import numpy as np

from gpukernels.simt.errors import KernelTypeError
from gpukernels.simt.translate import typing
from gpukernels.simt.translate.intrinsics.arguments import applied, named_arguments, real_arguments
from gpukernels.simt.translate.values import TupleType, Value


def _fma(t, node, hint):
    values = named_arguments(t, node, ("a", "b", "c"))
    if any(not v.is_scalar or v.type.kind == "c" for v in values):
        raise t.refuse("cuda.fma takes three real numbers", node, KernelTypeError)
    dtype = functools.reduce(typing.unify, (typing.floating(v.type) for v in values))
    return applied(t, "fused", fused_multiply_add, [t.cast(v, dtype) for v in values], dtype)


def fused_multiply_add(a, b, c):
    """Return a * b + c, rounded once where a wider type allows it (float32)."""
    if a.dtype == np.float32:
        return (a.astype(np.float64) * b + c).astype(np.float32)
    return a * b + c


def _math(ufunc, name, arity=1, result=None, *, widens=True):
    """Return a handler; integers become float64, or without `widens` the float that holds them."""

    def call(t, node, hint):
        values = real_arguments(t, node, arity)
        kinds = [v.type for v in values]
        if widens and any(typing.is_integer(k) for k in kinds):
            dtype = typing.FLOAT64
        elif widens:
            dtype = functools.reduce(typing.unify, kinds)
        else:
            dtype = functools.reduce(typing.unify, map(typing.floating, kinds))
        values = [t.cast(v, dtype) for v in values]
        return applied(t, f"math_{name}", ufunc, values, result or dtype)

    return call


def _math_pair(ufunc, name, second=None):
    """Return a handler of a function with two results, the second of type `second` or the first."""

    def call(t, node, hint):
        (value,) = real_arguments(t, node, 1)
        dtype = typing.floating(value.type) if second else typing.unify(value.type, typing.FLOAT32)
        code = applied(t, f"math_{name}", ufunc, [t.cast(value, dtype)], dtype).code
        items = [Value(dtype, f"{code}[0]"), Value(second or dtype, f"{code}[1]")]
        return Value(TupleType(tuple(i.type for i in items)), items=items)

    return call


def _ldexp(t, node, hint):
    value, exponent = real_arguments(t, node, 2)
    dtype = typing.floating(value.type)
    values = [t.cast(value, dtype), t.cast(t.integer(exponent, node), typing.INT32)]
    return applied(t, "math_ldexp", np.ldexp, values, dtype)


def remainder(x, y):
    """Return the IEEE remainder, ``x - n * y`` for the `n` nearest to ``x / y``, even if a tie."""
    size, step = np.abs(x), np.abs(y)
    rest = np.fmod(size, step)
    odd = np.fmod(size, 2 * step) >= step
    above = (step - rest < rest) | ((step - rest == rest) & odd)
    rest = np.where(above & np.isfinite(step), rest - step, rest)
    return np.copysign(1, x).astype(x.dtype) * rest


def _scipy_special(name):
    vectorized = np.vectorize(getattr(math, name), otypes=[np.float64])

    def apply(value):
        return vectorized(value).astype(value.dtype)[()]

    return apply


_FUNCTIONS = {
    "sqrt": np.sqrt,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "fabs": np.fabs,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "radians": np.radians,
    "degrees": np.degrees,
    **{name: _scipy_special(name) for name in ("erf", "erfc", "gamma", "lgamma")},
}
CALLS = {
    "cuda.fma": _fma,
    "cuda.cbrt": _math(np.cbrt, "cbrt", widens=False),
    "math.pow": _math(np.power, "pow", 2, widens=False),
    "math.modf": _math_pair(np.modf, "modf"),
    "math.frexp": _math_pair(np.frexp, "frexp", typing.INT32),
    "math.ldexp": _ldexp,
    "math.remainder": _math(remainder, "remainder", 2, widens=False),
    "math.nextafter": _math(np.nextafter, "nextafter", 2, widens=False),
    "math.atan2": _math(np.arctan2, "atan2", 2),
    "math.fmod": _math(np.fmod, "fmod", 2, widens=False),
    "math.hypot": _math(np.hypot, "hypot", 2),
    "math.copysign": _math(np.copysign, "copysign", 2, widens=False),
    "math.isnan": _math(np.isnan, "isnan", result=typing.BOOL),
    "math.isinf": _math(np.isinf, "isinf", result=typing.BOOL),
    "math.isfinite": _math(np.isfinite, "isfinite", result=typing.BOOL),
    **{f"math.{name}": _math(ufunc, name) for name, ufunc in _FUNCTIONS.items()},
}
