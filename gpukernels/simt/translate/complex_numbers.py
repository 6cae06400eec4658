"""Complex numbers: ``complex()``, ``.conjugate()`` and numba's part of ``cmath``."""

from __future__ import annotations

import ast

import numpy as np

from gpukernels.simt.errors import KernelTypeError
from gpukernels.simt.translate import typing
from gpukernels.simt.translate.values import TupleType, Value


def exponential(z):
    """Return ``exp(z)``; where `z` is -inf and any angle, 0 without a sign."""
    gone = (z.real == -np.inf) & ~np.isfinite(z.imag)
    return np.where(gone, z.dtype.type(0), np.exp(z))[()]


#: Functions of ``cmath`` with one argument: NumPy's, and whether the result is a bool.
FUNCTIONS = {
    "exp": (exponential, False),
    **{
        name: (getattr(np, name), False)
        for name in ("log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")
    },
    "acosh": (np.arccosh, False),
    "asin": (np.arcsin, False),
    "acos": (np.arccos, False),
    "atan": (np.arctan, False),
    "asinh": (np.arcsinh, False),
    "atanh": (np.arctanh, False),
    **{name: (getattr(np, name), True) for name in ("isfinite", "isinf", "isnan")},
}


def _numbers(translator, node, *counts):
    if node.keywords or len(node.args) not in counts:
        wanted = " or ".join(map(str, counts))
        raise translator.refuse(
            f"`{ast.unparse(node.func)}` takes {wanted} numbers, not by keyword",
            node,
            KernelTypeError,
        )
    return [translator.scalar(argument) for argument in node.args]


def function(name):
    """Return the handler of ``cmath.<name>``."""
    ufunc, decides = FUNCTIONS[name]

    def call(t, node, hint):
        (value,) = _numbers(t, node, 1)
        dtype = typing.arithmetic(value.type, typing.COMPLEX64)
        t.program.namespace[f"cmath_{name}"] = ufunc
        code = t.temporary(f"cmath_{name}({t.cast(value, dtype).code})")
        return Value(typing.BOOL if decides else dtype, code, fresh=True)

    return call


def logarithm(t, node, hint):
    """Translate ``cmath.log(z)`` and ``cmath.log(z, base)``."""
    values = _numbers(t, node, 1, 2)
    dtype = typing.COMPLEX64
    for value in values:
        dtype = typing.arithmetic(value.type, dtype)
    t.program.namespace["cmath_log"] = np.log
    codes = [t.temporary(f"cmath_log({t.cast(v, dtype).code})") for v in values]
    parts = [Value(dtype, code, fresh=True) for code in codes]
    return parts[0] if len(parts) == 1 else t.binary(ast.Div(), *parts, node)


def phase(t, node, hint):
    """Translate ``cmath.phase(z)``."""
    (value,) = _numbers(t, node, 1)
    dtype = typing.arithmetic(value.type, typing.COMPLEX64)
    t.program.namespace["cmath_phase"] = np.angle
    code = t.temporary(f"cmath_phase({t.cast(value, dtype).code})")
    return Value(typing.part(dtype), code, fresh=True)


def polar(t, node, hint):
    """Translate ``cmath.polar(z)``: (modulus, phase)."""
    (value,) = _numbers(t, node, 1)
    dtype = typing.arithmetic(value.type, typing.COMPLEX64)
    t.program.namespace |= {"cmath_abs": np.abs, "cmath_phase": np.angle}
    code, real = t.cast(value, dtype).code, typing.part(dtype)
    items = [
        Value(real, t.temporary(f"{name}({code})"), fresh=True)
        for name in ("cmath_abs", "cmath_phase")
    ]
    return Value(TupleType((real, real)), items=items)


def from_polar(modulus, angle, dtype):
    """Return the complex number of a modulus and an angle, where 0 times infinity is 0."""
    nothing = (modulus == 0) & ~np.isfinite(angle)
    parts = []
    for part in (np.cos(angle), np.sin(angle)):
        still = nothing | ((part == 0) & np.isinf(modulus))
        parts.append(np.where(still, np.where(nothing, 0, part / modulus), modulus * part))
    return combine(*parts, dtype)


def rect(t, node, hint):
    """Translate ``cmath.rect(modulus, angle)``."""
    values = _numbers(t, node, 2)
    return _of_two_reals(t, node, values, "from_polar", from_polar)


def combine(real, imaginary, dtype):
    """Return ``complex(real, imaginary)``."""
    value = np.empty(np.broadcast_shapes(real.shape, imaginary.shape), dtype)
    value.real, value.imag = real, imaginary
    return value[()]


def make(t, node, hint):
    """Translate ``complex(real)`` and ``complex(real, imaginary)``."""
    values = _numbers(t, node, 1, 2)
    if len(values) == 1:
        return t.cast(values[0], typing.arithmetic(values[0].type, typing.COMPLEX64))
    return _of_two_reals(t, node, values, "combine", combine)


def _of_two_reals(t, node, values, name, function):
    if any(v.type.kind == "c" for v in values):
        raise t.refuse("the parts of a complex number must be real", node, KernelTypeError)
    narrow = all(v.type == typing.FLOAT32 for v in values)
    dtype = typing.COMPLEX64 if narrow else typing.COMPLEX128
    parts = [t.cast(v, typing.part(dtype)).code for v in values]
    t.program.namespace[name] = function
    code = t.temporary(f"{name}({parts[0]}, {parts[1]}, {t.dtype_name(dtype)})")
    return Value(dtype, code, fresh=True)


def conjugate(t, node, hint):
    """Translate ``z.conjugate()``."""
    value = t.scalar(node.func.value)
    if node.args or node.keywords:
        raise t.refuse("conjugate() takes no arguments", node, KernelTypeError)
    if value.type.kind != "c":
        return value
    t.program.namespace["conjugate"] = np.conjugate
    return Value(value.type, t.temporary(f"conjugate({value.code})"), fresh=True)
