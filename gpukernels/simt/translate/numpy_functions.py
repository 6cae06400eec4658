"""NumPy's functions of numbers that numba compiles for a GPU, and ``np.iinfo`` and ``np.finfo``.

numba has far fewer of them for a GPU than for a CPU: not ``np.sqrt``, ``np.abs`` or ``np.exp``.
"""

from __future__ import annotations

import ast
import functools

import numpy as np

from gpukernels.simt.errors import KernelTypeError
from gpukernels.simt.translate import typing
from gpukernels.simt.translate.values import Value
from gpukernels.simt.translate.whole_arrays import with_output

#: Computed in the smallest of float32 and float64 that holds the operands.
_FLOATING = (
    *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "hypot", "sinh", "cosh"),
    *("tanh", "arcsinh", "arccosh", "arctanh", "deg2rad", "radians", "rad2deg", "degrees"),
    *("log", "log2", "log10"),
)
#: Computed in the common type of the operands.
_COMMON = (
    *("maximum", "minimum", "fmax", "fmin", "bitwise_and", "bitwise_or", "bitwise_xor"),
    *("invert", "left_shift", "right_shift"),
)
#: Questions, computed in the common type of the operands.
_BOOLS = (
    *("greater", "greater_equal", "less", "less_equal", "not_equal", "equal", "isnan"),
    *("logical_and", "logical_or", "logical_xor", "logical_not"),
)
_INTEGERS = frozenset(n for n in _COMMON if n.startswith(("bitwise", "invert", "left", "right")))
NAMES = (*_FLOATING, *_COMMON, *_BOOLS)


def path_of(value) -> str | None:
    """Return ``"numpy.<name>"`` of a function that :func:`function` handles, or None."""
    return f"numpy.{value.__name__}" if _is_handled(value) else None


def _is_handled(value):
    return isinstance(value, np.ufunc) and value.__name__ in NAMES


def function(name):
    """Return the handler of ``np.<name>`` of numbers."""
    ufunc = getattr(np, name)

    def call(t, node, hint):
        if not node.keywords and len(node.args) == ufunc.nin + 1:
            computed_in = functools.partial(_computed_in, name)
            return with_output(t, ufunc, computed_in, name in _BOOLS, node)
        if node.keywords or len(node.args) != ufunc.nin:
            raise t.refuse(
                f"`{ast.unparse(node.func)}` takes {ufunc.nin} numbers in a kernel, none of them "
                "by keyword",
                node,
                KernelTypeError,
            )
        values = [t.scalar(argument) for argument in node.args]
        dtype = _computed_in(name, [v.type for v in values])
        if dtype is None:
            kinds = " and ".join(str(v.type) for v in values)
            raise t.refuse(f"`np.{name}` does not take {kinds}", node, KernelTypeError)
        t.program.namespace[f"numpy_{name}"] = ufunc
        codes = ", ".join(t.cast(v, dtype).code for v in values)
        code = t.temporary(f"numpy_{name}({codes})")
        return Value(typing.BOOL if name in _BOOLS else dtype, code, fresh=True)

    return call


def _computed_in(name, types):
    if any(t.kind == "c" for t in types):
        return None
    if any(t.kind == "f" for t in types):  # numba lets any integer become any float then
        types = [t for t in types if t.kind not in "iu"]
    if name in _FLOATING:
        holds = all(np.can_cast(t, typing.FLOAT32) for t in types)
        return typing.FLOAT32 if holds else typing.FLOAT64
    dtype = functools.reduce(typing.unify, types)
    if dtype == typing.FLOAT16:
        dtype = typing.FLOAT32
    if name in _INTEGERS and not typing.is_integer(dtype):
        return None
    if name.endswith("shift") and dtype == typing.BOOL:
        return np.dtype(np.int8)
    return dtype


def limits(kind, of):
    """Return ``np.iinfo(of)`` or ``np.finfo(of)``, or None where `of` is no type for it."""
    try:
        return kind(of)
    except (TypeError, ValueError):
        return None
