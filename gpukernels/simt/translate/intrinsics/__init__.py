"""The meaning of the names of ``numba.cuda``, ``math`` and the builtins on the machine.

There is one module per subject, each with a dict ``CALLS`` from a dotted path to a handler
``(translator, call node, hint) -> Value or None``; :func:`attribute` knows the values such as
``cuda.threadIdx.x``. To add an intrinsic, add a handler to the module of its subject and, if it
needs work at run time, a function or a method of the run.
"""

from __future__ import annotations

import ast

from gpukernels.simt.translate import complex_numbers, numpy_functions
from gpukernels.simt.translate.intrinsics import (
    arrays,
    atomic_operations,
    bits,
    built_ins,
    halves,
    mathematics,
    synchronization,
    threads,
    type_questions,
    warp_operations,
)
from gpukernels.simt.translate.intrinsics.built_ins import power
from gpukernels.simt.translate.intrinsics.names import Group, as_dtype, dotted, path_of
from gpukernels.simt.translate.intrinsics.synchronization import grid_sync, syncwarp
from gpukernels.simt.translate.intrinsics.threads import attribute
from gpukernels.simt.translate.values import ObjectType

__all__ = ["as_dtype", "attribute", "dotted", "handler", "is_barrier", "path_of", "power"]

_CALLS = {
    **threads.CALLS,
    **arrays.CALLS,
    **synchronization.CALLS,
    **warp_operations.CALLS,
    **atomic_operations.CALLS,
    **bits.CALLS,
    **mathematics.CALLS,
    **halves.CALLS,
    **built_ins.CALLS,
    "builtins.isinstance": type_questions.is_instance,
    **{f"numpy.{name}": numpy_functions.function(name) for name in numpy_functions.NAMES},
    **{f"cmath.{name}": complex_numbers.function(name) for name in complex_numbers.FUNCTIONS},
    "cmath.log": complex_numbers.logarithm,
    "cmath.phase": complex_numbers.phase,
    "cmath.polar": complex_numbers.polar,
    "cmath.rect": complex_numbers.rect,
}


def handler(translator, function):
    """Return the handler for a call of the expression `function`, or None."""
    if isinstance(function, ast.Attribute) and function.attr == "sync":
        base = translator.env.get(getattr(function.value, "id", None))
        if isinstance(base, ObjectType) and isinstance(base.value, Group):
            return grid_sync
        if isinstance(function.value, ast.Call):
            path = dotted(translator, function.value.func)
            if path in ("cuda.cg.this_grid", "cuda.grid_group"):
                return grid_sync
    path = dotted(translator, function)
    if path is None and isinstance(function, ast.Attribute):
        if function.attr == "bit_count":
            return bits.bit_count
        if function.attr == "conjugate":
            return complex_numbers.conjugate
    return _CALLS.get(path)


def is_barrier(translator, node) -> bool:
    """Return whether `node` is a call that waits for other threads."""
    if not isinstance(node, ast.Call):
        return False
    intrinsic = handler(translator, node.func)
    return intrinsic in (grid_sync, syncwarp) or getattr(intrinsic, "__name__", "") == "barrier"
