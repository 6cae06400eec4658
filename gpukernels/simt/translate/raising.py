"""Messages of ``raise``, in the forms that numba compiles."""

from __future__ import annotations

import ast

from gpukernels.simt.errors import KernelTypeError


def raised(translator, node) -> str:
    """Return the message of a ``raise``, refusing what numba refuses."""
    if node.cause is not None:
        raise translator.refuse("numba does not compile `raise ... from ...`", node)
    if node.exc is None:
        return "raise, without an exception"
    call = isinstance(node.exc, ast.Call)
    kind = translator.constant_of(node.exc.func if call else node.exc)
    if not (isinstance(kind, type) and issubclass(kind, BaseException)):
        raise translator.refuse(
            f"`{ast.unparse(node.exc)}` is not a class of exceptions", node, KernelTypeError
        )
    arguments = []
    for argument in node.exc.args if call else ():
        value = translator.constant_of(argument)
        if not isinstance(value, (str, int, float, bool)):
            raise translator.refuse(
                f"`{ast.unparse(argument)}`: the arguments of an exception must be constants",
                node,
                KernelTypeError,
            )
        arguments.append(str(value))
    if call and node.exc.keywords:
        raise translator.refuse("an exception takes no arguments by keyword", node)
    return f"{kind.__name__}: {', '.join(arguments)}" if arguments else kind.__name__
