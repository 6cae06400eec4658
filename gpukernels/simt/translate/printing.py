"""``print`` in a kernel: one line for each active thread, in thread order, as numba formats it."""

from __future__ import annotations

import ast
import sys

import numpy as np

from gpukernels.simt.errors import KernelTypeError


def print_call(t, node, hint):
    """Translate a call of ``print``; its arguments are numbers, strings and tuples of them."""
    if node.keywords or len(node.args) > 32:
        raise t.refuse(
            "print() takes at most 32 arguments in a kernel, none of them by keyword",
            node,
            KernelTypeError,
        )
    formats, codes = [], []
    for argument in node.args:
        value = t.expression(argument)
        formats.append(_format(t, value, argument, codes))
    t.program.namespace["print_lines"] = print_lines
    t.emit(f"print_lines({t.active}, {' '.join(formats)!r}, ({''.join(c + ', ' for c in codes)}))")


def _format(t, value, node, codes):
    """Return the format of a value, as numba's printf has it; append the code of its parts."""
    if value.items is not None:
        parts = ", ".join(_format(t, item, node, codes) for item in value.items)
        return f"({parts},)" if len(value.items) == 1 else f"({parts})"
    if isinstance(value.object, str):
        return value.object.replace("%", "%%")
    if not value.is_scalar or value.type.kind == "c":
        raise t.refuse(
            f"`{ast.unparse(node)}` cannot be printed; allowed are real numbers, bools, strings "
            "and tuples of them",
            node,
            KernelTypeError,
        )
    codes.append(value.code)
    return {"f": "%f", "b": "%s"}.get(value.type.kind, "%d")


def print_lines(active, form, values):
    """Print `form`, filled with the values of each active thread; nothing to a silent output."""
    if getattr(sys.stdout, "silent", False):
        return
    columns = [np.broadcast_to(value, active.n).tolist() for value in values]
    for row in zip(*columns, strict=True) if columns else [()] * active.n:
        print(form % row)
