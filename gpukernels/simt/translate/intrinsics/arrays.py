"""Shared, local and constant arrays, and loads and stores with a hint for the caches."""

from __future__ import annotations

import ast

import numpy as np

from gpukernels.simt.errors import KernelTypeError
from gpukernels.simt.translate.intrinsics.arguments import argument_nodes
from gpukernels.simt.translate.intrinsics.names import as_dtype
from gpukernels.simt.translate.values import ArrayType, Value, can_hold

_DECLARED = {"shape", "dtype", "alignment"}


def _computed(shape):
    """Whether a shape is computed from names: Python itself folds an expression of literals."""
    return any(
        isinstance(part, ast.BinOp) and any(isinstance(p, ast.Name) for p in ast.walk(part))
        for part in ast.walk(shape)
    )


def _declare(space):
    def declare(t, node, hint):
        arguments = {k.arg: k.value for k in node.keywords}
        arguments.update(zip(("shape", "dtype"), node.args, strict=False))
        if len(node.args) > 2 or not {"shape", "dtype"} <= set(arguments) <= _DECLARED:
            raise t.refuse(
                f"cuda.{space}.array takes (shape, dtype, alignment)", node, KernelTypeError
            )
        shape = t.expression(arguments["shape"])
        parts = shape.items if shape.items is not None else [shape]
        if any(p.constant is None for p in parts):
            raise t.refuse(f"the shape of a {space} array must be constant", node, KernelTypeError)
        if _computed(arguments["shape"]):
            raise t.refuse(
                f"numba does not compute the shape of a {space} array: give "
                f"`{ast.unparse(arguments['shape'])}` a name outside of the kernel",
                node,
                KernelTypeError,
            )
        sizes = tuple(int(p.constant) for p in parts)
        dtype_value = t.expression(arguments["dtype"])
        wanted = dtype_value.object
        if wanted is None:
            wanted = t.constant_of(arguments["dtype"])
        if any(wanted is kind for kind in (int, float, bool, complex)):
            raise t.refuse(
                f"the dtype of a {space} array is {wanted.__name__}, a type of Python, which numba "
                "does not take here; name one of NumPy or numba, such as np.int32",
                node,
                KernelTypeError,
            )
        dtype = as_dtype(wanted)
        if dtype is None or not can_hold(dtype):
            raise t.refuse(
                f"`{ast.unparse(arguments['dtype'])}` is not a dtype", node, KernelTypeError
            )
        if space == "shared" and sizes == (0,):
            t.program.dynamic_sizes.add(dtype.itemsize)
        key = next(t.program.declarations)
        name = hint or f"{space}_{key}"
        place = (t.source.function, node.lineno, node.col_offset)
        kind = t.dtype_name(dtype)
        code = f"run.{space}_array(g, {place!r}, {name!r}, {sizes!r}, {kind}, {t.where})"
        return Value(ArrayType(dtype, len(sizes)), t.temporary(code))

    return declare


def _const_array(t, node, hint):
    (source,) = argument_nodes(t, node, 1)
    value = t.constant_of(source)
    if not isinstance(value, np.ndarray):
        raise t.refuse("cuda.const.array_like takes a global array", node, KernelTypeError)
    return t.constant_array(value, hint or ast.unparse(source), node)


def _load_hint(t, node, hint):
    array, index = argument_nodes(t, node, 2)
    array = t.expression(array)
    return t.load(array, t.locate(array, t._index_values(index), node))


def _store_hint(t, node, hint):
    array, index, value = argument_nodes(t, node, 3)
    array = t.expression(array)
    index = t.locate(array, t._index_values(index), node)
    t.store(array, index, t.scalar(value), node)
    return None


CALLS = {
    "cuda.shared.array": _declare("shared"),
    "cuda.local.array": _declare("local"),
    "cuda.const.array_like": _const_array,
    **{f"cuda.{name}": _load_hint for name in ("ldca", "ldcg", "ldcs", "ldcv", "ldlu")},
    **{f"cuda.{name}": _store_hint for name in ("stcg", "stcs", "stwb", "stwt")},
}
