"""Device functions with an explicit signature: arguments and result are cast to its types.

numba compiles them where they are decorated, which needs a GPU; without one the decorator
itself raises numba's CudaSupportError, before the machine sees anything.
"""

from __future__ import annotations

import numpy as np

from gpukernels.simt.errors import KernelTypeError
from gpukernels.simt.translate import intrinsics, typing
from gpukernels.simt.translate.values import ArrayType

_COSTS = {"none": 0, "promotion": 1, "safe": 100, "unsafe": 10_000}


def declared(function) -> list:
    """Return (argument types, result type) of each explicit signature of a device function.

    Types are dtypes and array types; None stands for all others.
    """
    if getattr(function, "_can_compile", True):
        return []
    return [
        (tuple(map(_machine_type, signature.args)), _machine_type(signature.return_type))
        for signature in function.nopython_signatures
    ]


def _machine_type(type_):
    if type(type_).__name__ == "Array":  # numba's, or that of simt.names
        return ArrayType(intrinsics.as_dtype(type_.dtype), type_.ndim)
    return intrinsics.as_dtype(type_)


def cast_to_declared(t, function, values, node):
    """Return `values` as the best signature of `function` has them, and its result type or None."""
    choices = [
        (sum(_COSTS[c] for c in costs), arguments, result)
        for arguments, result in declared(function)
        if None not in (costs := [_cost(v.type, a) for v, a in zip(values, arguments, strict=True)])
    ]
    if not choices:
        if declared(function):
            raise t.refuse(
                f"no signature of `{function.__name__}` takes these arguments",
                node,
                KernelTypeError,
            )
        return values, None
    _, arguments, result = min(choices, key=lambda choice: choice[0])
    cast = [
        t.cast(v, a) if isinstance(a, np.dtype) else v
        for v, a in zip(values, arguments, strict=True)
    ]
    return cast, result


def _cost(kind, wanted):
    if isinstance(kind, np.dtype) and isinstance(wanted, np.dtype):
        loses = kind.kind == "c" and wanted.kind != "c"
        return None if loses else typing.conversion(kind, wanted)
    return "none" if wanted is None or kind == wanted else None
