"""The arguments of a call as handlers take them, and a call of a NumPy function on them."""

from __future__ import annotations

import ast

from gpukernels.simt.errors import KernelTypeError
from gpukernels.simt.translate import typing
from gpukernels.simt.translate.values import Value


def argument_nodes(t, node, *counts):
    """Return the argument nodes of a call that takes one of `counts` arguments, none by keyword."""
    if node.keywords or len(node.args) not in counts:
        wanted = " or ".join(map(str, counts))
        raise t.refuse(
            f"`{ast.unparse(node.func)}` takes {wanted} arguments, none of them by keyword",
            node,
            KernelTypeError,
        )
    return node.args


def scalar_arguments(t, node, *counts):
    """Return the values of a call's arguments, all of them numbers."""
    return [t.scalar(argument) for argument in argument_nodes(t, node, *counts)]


def real_arguments(t, node, *counts):
    """Return the values of a call's arguments, none of them a complex number."""
    values = scalar_arguments(t, node, *counts)
    if any(v.type.kind == "c" for v in values):
        raise t.refuse(
            f"`{ast.unparse(node.func)}` does not take complex numbers", node, KernelTypeError
        )
    return values


def named_arguments(t, node, names, optional=0):
    """Return the values of arguments that have names; numba takes some of them by keyword."""
    values = [t.expression(a) for a in node.args]
    by_name = {k.arg: t.expression(k.value) for k in node.keywords}
    for name in names[len(values) :]:
        if name in by_name:
            values.append(by_name.pop(name))
    if by_name or not len(names) - optional <= len(values) <= len(names):
        raise t.refuse(
            f"`{ast.unparse(node.func)}` takes ({', '.join(names)})", node, KernelTypeError
        )
    return values


def constant_int(t, node, what):
    """Return the number that an argument is, where it must be known before the launch."""
    value = t.expression(node)
    if value.constant is None or not typing.is_integer(value.type):
        raise t.refuse(f"{what} must be a constant integer", node, KernelTypeError)
    return int(value.constant)


def applied(t, name, function, values, dtype):
    """Return the value of `function`, which generated code calls by `name`, on `values`."""
    t.program.namespace[name] = function
    code = f"{name}({', '.join(v.code for v in values)})"
    return Value(dtype, t.temporary(code), fresh=True)
