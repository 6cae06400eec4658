"""``cuda.fp16``: functions of half-precision numbers."""

from __future__ import annotations

import numpy as np

from gpukernels.simt.translate import typing
from gpukernels.simt.translate.intrinsics.arguments import applied, real_arguments


def _half(ufunc, name, result=typing.FLOAT16, arity=1):
    """Return the handler of a function of ``cuda.fp16``."""

    def call(t, node, hint):
        values = [t.cast(v, typing.FLOAT16) for v in real_arguments(t, node, arity)]
        return applied(t, name, ufunc, values, result)

    return call


def _reciprocal_root(value):
    return np.reciprocal(np.sqrt(value))


def _power_of_ten(value):
    return np.power(np.float32(10), value).astype(value.dtype)


def _half_fma(a, b, c):
    return (a.astype(np.float64) * b + c).astype(np.float16)


_ONE = {
    "abs": np.absolute,
    "neg": np.negative,
    "sin": np.sin,
    "cos": np.cos,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "exp": np.exp,
    "exp2": np.exp2,
    "exp10": _power_of_ten,
    "sqrt": np.sqrt,
    "rsqrt": _reciprocal_root,
    "rcp": np.reciprocal,
    "floor": np.floor,
    "ceil": np.ceil,
    "rint": np.rint,
    "trunc": np.trunc,
}
_TWO = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.true_divide,
    "max": np.fmax,
    "min": np.fmin,
}
_COMPARED = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
CALLS = {
    **{f"cuda.fp16.h{name}": _half(f, f"half_{name}") for name, f in _ONE.items()},
    **{f"cuda.fp16.h{name}": _half(f, f"half_{name}", arity=2) for name, f in _TWO.items()},
    **{
        f"cuda.fp16.h{name}": _half(f, f"half_{name}", typing.BOOL, arity=2)
        for name, f in _COMPARED.items()
    },
    "cuda.fp16.hfma": _half(_half_fma, "half_fma", arity=3),
}
