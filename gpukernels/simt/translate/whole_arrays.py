"""NumPy's functions of whole arrays with an output: ``np.sin(x, out)``, element by element."""

from __future__ import annotations

import ast

import numpy as np

from gpukernels.simt.errors import KernelTypeError
from gpukernels.simt.translate.filling import each_place, lengths_of, of_threads
from gpukernels.simt.translate.values import Value


def with_output(t, ufunc, computed_in, is_bool, node) -> Value:
    """Emit the loop of every thread over all elements of the output, and return the output.

    Parameters
    ----------
    computed_in : callable
        Returns the dtype in which operands of some dtypes are computed, or None.
    is_bool : bool
        Whether the results are bools.
    """
    *inputs, out = [t.expression(argument) for argument in node.args]
    if not out.is_array or any(not (v.is_scalar or v.is_array) for v in inputs):
        raise t.refuse(
            f"`{ast.unparse(node)}`: the output must be an array, and the inputs numbers or arrays",
            node,
            KernelTypeError,
        )
    if any(v.is_array and v.type.ndim != out.type.ndim for v in inputs):
        raise t.refuse(
            f"`{ast.unparse(node)}`: in the machine, arrays have as many dimensions as the output",
            node,
        )
    dtype = computed_in([v.type.dtype if v.is_array else v.type for v in inputs])
    result = np.dtype(bool) if is_bool else dtype
    if dtype is None or not np.can_cast(result, out.type.dtype, "same_kind"):
        kinds = ", ".join(str(v.type.dtype if v.is_array else v.type) for v in (*inputs, out))
        raise t.refuse(f"`{ast.unparse(node.func)}` does not take {kinds}", node, KernelTypeError)
    name = f"numpy_{ufunc.__name__}"
    t.program.namespace.update({"apply_ufunc": apply_ufunc, name: ufunc})
    codes = [v.code if v.is_array else t.cast(v, dtype).code for v in inputs]
    kind = t.dtype_name(dtype)
    t.emit(f"apply_ufunc({t.active}, {t.where}, {name}, {kind}, {out.code}, {', '.join(codes)})")
    return out


def apply_ufunc(active, where, ufunc, dtype, out, *inputs):
    """Store ``ufunc(*inputs)`` to `out`, element by element; each thread stores all of them."""
    arrays = [hasattr(value, "dim") for value in inputs]
    for value, is_array in zip(inputs, arrays, strict=True):
        if is_array:
            _check_alike(active, value, out, ufunc, where)
    for threads, inside, at in each_place(out, active):
        values = [
            value.get(threads, at, where).astype(dtype, copy=False)
            if is_array
            else of_threads(value, threads, active, inside)
            for value, is_array in zip(inputs, arrays, strict=True)
        ]
        out.put(threads, at, np.asarray(ufunc(*values))[()], where)


def _check_alike(active, value, out, ufunc, where):
    pairs = zip(lengths_of(value, active), lengths_of(out, active), strict=True)
    for axis, (one, other) in enumerate(pairs):
        if (one != other).any():
            at = int(np.argmax(one != other))
            raise active.frame.group.run.error(
                KernelTypeError,
                f"np.{ufunc.__name__}: an input has {one[at]} elements along axis {axis}, and the "
                f"output {other[at]}; the machine stretches none",
                where,
                active,
                at,
            )
