"""Find the name of ``numba.cuda``, ``math``, ``operator`` or the builtins in an expression."""

from __future__ import annotations

import ast
import builtins
import cmath
import contextlib
import functools
import importlib
import math
import operator
import sys

import numpy as np

from gpukernels.simt.translate import numpy_functions, typing
from gpukernels.simt.translate.values import ObjectType

#: Functions of the operator module that stand for an operator.
OPERATORS = {
    "add": ast.Add,
    "sub": ast.Sub,
    "mul": ast.Mult,
    "truediv": ast.Div,
    "floordiv": ast.FloorDiv,
    "mod": ast.Mod,
    "pow": ast.Pow,
    "and_": ast.BitAnd,
    "or_": ast.BitOr,
    "xor": ast.BitXor,
    "lshift": ast.LShift,
    "rshift": ast.RShift,
}


def _paths_in(cuda):
    """Return {id of an object of numba.cuda, or of its successor: its dotted path}."""
    paths = {}
    for name in dir(cuda):
        if name.startswith("_") or name in ("np", "sys", "os"):
            continue
        value = getattr(cuda, name)
        if value is None or isinstance(value, (int, str, bool, np.dtype)):
            continue
        paths[id(value)] = f"cuda.{name}"
    with contextlib.suppress(ImportError):
        importlib.import_module(f"{cuda.__name__}.fp16")  # newer versions load it late
    for outer in ("atomic", "shared", "local", "const", "cg", "fp16"):
        holder = getattr(cuda, outer, None)
        for name in dir(holder) if holder is not None else ():
            if not name.startswith("_"):
                paths.setdefault(id(getattr(holder, name)), f"cuda.{outer}.{name}")
    paths[id(cuda)] = "cuda"
    return paths


@functools.cache
def _known_paths(successor):
    """Return {id of an object that kernels use: its dotted path}, also for names imported alone."""
    from numba import cuda

    paths = {} if successor is None else _paths_in(successor)
    paths.update(_paths_in(cuda))
    for module in (math, cmath):
        for name in dir(module):
            paths[id(getattr(module, name))] = f"{module.__name__}.{name}"
    for name in OPERATORS:
        paths[id(getattr(operator, name))] = f"operator.{name}"
    for name in (
        "abs",
        "min",
        "max",
        "len",
        "round",
        "pow",
        "int",
        "float",
        "bool",
        "complex",
        "print",
        "range",
        "isinstance",
        "divmod",
    ):
        paths[id(getattr(builtins, name))] = f"builtins.{name}"
    return paths


def path_of(value) -> str | None:
    """Return the dotted path of an object of numba.cuda, math or the builtins, or None."""
    if isinstance(value, ObjectType):
        value = value.value
    if isinstance(value, Group):
        return f"group.{value.scope}"
    paths = _known_paths(sys.modules.get("numba_cuda_mlir.cuda"))
    return paths.get(id(value)) or numpy_functions.path_of(value)


def dotted(translator, node) -> str | None:
    """Return the path of an attribute chain that starts at a numba.cuda object, or None."""
    if isinstance(node, ast.Attribute):
        static = translator._static(node)
        if static is not None:
            own = path_of(static)
            if own is not None:
                return own
        base = dotted(translator, node.value)
        return None if base is None else f"{base}.{node.attr}"
    if isinstance(node, ast.Name):
        known = translator.env.get(node.id)
        if isinstance(known, ObjectType):
            return path_of(known.value)
        if node.id in translator.assigned or node.id in translator.env:
            return None
        return path_of(translator.constant_of(node))
    return None


class Group:
    """A cooperative group."""

    def __init__(self, scope):
        self.scope = scope


GRID_GROUP = Group("grid")


def as_dtype(value) -> np.dtype | None:
    """Return the dtype that a numba, NumPy or Python type stands for, or None."""
    if value is int:
        return typing.INT64
    if value is float:
        return typing.FLOAT64
    if value is bool:
        return typing.BOOL
    if value is complex:
        return typing.COMPLEX128
    if isinstance(value, np.dtype):
        return value
    if isinstance(value, str):
        try:
            return np.dtype(value)
        except TypeError:
            return None
    if isinstance(value, type) and issubclass(value, np.generic):
        return np.dtype(value)
    if type(value).__name__ == "Record":
        from numba.np import numpy_support

        return numpy_support.as_dtype(value)
    if type(value).__module__.startswith(("numba", "gpukernels.simt.names")):
        name = str(value)
        try:
            return np.dtype("bool" if name in ("boolean", "bool") else name)
        except TypeError:
            return None
    return None
