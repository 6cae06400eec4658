"""Python's own functions, ``abs`` to ``round``, and those of ``operator``."""

from __future__ import annotations

import ast

import numpy as np

from gpukernels.simt.errors import KernelTypeError
from gpukernels.simt.translate import complex_numbers, printing, ranges, typing
from gpukernels.simt.translate.intrinsics.arguments import (
    applied,
    argument_nodes,
    real_arguments,
    scalar_arguments,
)
from gpukernels.simt.translate.intrinsics.names import OPERATORS
from gpukernels.simt.translate.values import RANGE, TupleType, Value


def _extreme(symbol):
    ufunc = np.minimum if symbol == "min" else np.maximum

    def extreme(t, node, hint):
        values = [] if node.keywords else [t.expression(a) for a in node.args]
        if len(values) == 1 and values[0].items is not None:
            values = values[0].items
        if len(values) < 2 or any(not v.is_scalar or v.type.kind == "c" for v in values):
            raise t.refuse(f"{symbol}() takes two or more numbers", node, KernelTypeError)
        result = values[0]
        for value in values[1:]:
            dtype = typing.unify(result.type, value.type)
            pair = [t.cast(result, dtype), t.cast(value, dtype)]
            # As in numba, the number wins over NaN.
            chosen = ufunc if dtype.kind != "f" else (np.fmin if symbol == "min" else np.fmax)
            result = applied(t, f"{chosen.__name__}", chosen, pair, dtype)
        return result

    return extreme


def _abs(t, node, hint):
    (value,) = scalar_arguments(t, node, 1)
    if value.type == typing.BOOL:
        value = t.cast(value, np.dtype(np.int8))
    result = typing.part(value.type) if value.type.kind == "c" else value.type
    return applied(t, "absolute", np.absolute, [value], result)


def _round(t, node, hint):
    values = real_arguments(t, node, 1, 2)
    if typing.is_integer(values[0].type):
        values[0] = t.cast(values[0], typing.floating(values[0].type))
    if len(values) == 1:
        return t.cast(applied(t, "rint", np.rint, values, values[0].type), typing.INT64)
    return applied(t, "round_to", round_to, values, values[0].type)


def round_to(value, digits):
    """Return `value` rounded to `digits` decimal places."""
    scale = np.power(10.0, np.abs(digits).astype(np.float64))
    result = np.where(digits >= 0, np.rint(value * scale) / scale, np.rint(value / scale) * scale)
    result = result.astype(value.dtype)
    return np.where(np.isfinite(result), result, value)[()]


def _len(t, node, hint):
    value = t.expression(*argument_nodes(t, node, 1))
    if value.items is not None and value.type.names == RANGE:
        return ranges.length(t, value.items)
    if value.items is not None and not value.type.opaque:
        return t.literal(len(value.items))
    if value.is_array:
        return Value(typing.INT64, f"{value.code}.dim({t.active}, 0)")
    raise t.refuse("len() takes an array or a tuple", node, KernelTypeError)


def _pow(t, node, hint):
    left, right = scalar_arguments(t, node, 2)
    return t.binary(ast.Pow(), left, right, node)


def power(base, exponent):
    """Return ``base ** exponent`` in their common type; integers wrap."""
    if base.dtype.kind != "i":
        return np.power(base, exponent)
    negative = exponent < 0
    result = np.power(base, np.where(negative, 0, exponent))
    inverse = np.where(base == 1, 1, np.where(base == -1, np.where(exponent & 1, -1, 1), 0))
    return np.where(negative, inverse, result)[()]


def _operator(kind):
    def apply(t, node, hint):
        left, right = scalar_arguments(t, node, 2)
        return t.binary(kind(), left, right, node)

    return apply


def _divmod(t, node, hint):
    left, right = scalar_arguments(t, node, 2)
    items = [t.binary(kind(), left, right, node) for kind in (ast.FloorDiv, ast.Mod)]
    return Value(TupleType(tuple(i.type for i in items)), items=items)


def _cast(dtype):
    def cast(t, node, hint):
        values = scalar_arguments(t, node, 0, 1)
        if not values:
            return t.literal(dtype.type(0))
        (value,) = values
        if dtype == typing.INT64 and typing.is_integer(value.type) and value.type != typing.BOOL:
            return value  # int() keeps the width of an integer
        if dtype == typing.FLOAT64 and value.type.kind == "f":
            return value
        return t.cast(value, dtype)

    return cast


CALLS = {
    "builtins.abs": _abs,
    "builtins.min": _extreme("min"),
    "builtins.max": _extreme("max"),
    "builtins.round": _round,
    "builtins.len": _len,
    "builtins.pow": _pow,
    "builtins.divmod": _divmod,
    "builtins.int": _cast(typing.INT64),
    "builtins.float": _cast(typing.FLOAT64),
    "builtins.bool": _cast(typing.BOOL),
    "builtins.complex": complex_numbers.make,
    "builtins.print": printing.print_call,
    "builtins.range": ranges.of,
    **{f"operator.{name}": _operator(kind) for name, kind in OPERATORS.items()},
}
