"""``isinstance`` in a kernel: numba answers it while it compiles, by the type alone."""

from __future__ import annotations

import ast

from gpukernels.simt.errors import KernelTypeError
from gpukernels.simt.translate.intrinsics.names import as_dtype
from gpukernels.simt.translate.values import ArrayType, ObjectType


def is_instance(t, node, hint):
    """Handle ``isinstance(value, type)``; to numba an int is an int64, a float a float64."""
    if node.keywords or len(node.args) != 2:
        raise t.refuse("isinstance() takes a value and a type", node, KernelTypeError)
    value = t.expression(node.args[0])
    second = node.args[1]
    parts = second.elts if isinstance(second, ast.Tuple) else [second]
    answers = [_is(t, value, t.constant_of(part), part) for part in parts]
    return t.literal(any(answers))


def _is(t, value, kind, node):
    dtype = as_dtype(kind) if not isinstance(kind, str) else None
    if kind is not tuple and dtype is None:
        raise t.refuse(
            f"isinstance() takes types of numbers and tuple in the machine, not "
            f"`{ast.unparse(node)}`",
            node,
        )
    if value.items is not None:
        if value.type.names:
            raise t.refuse("numba does not take named tuples here", node, KernelTypeError)
        return kind is tuple
    return not isinstance(value.type, (ArrayType, ObjectType)) and value.type == dtype
