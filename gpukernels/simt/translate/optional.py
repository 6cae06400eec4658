"""Numbers that may be None: variables and results for which numba infers an optional type.

Such a value is kept in a tuple of two, which nothing opens but ``is None``: whether each thread has
a number, and the number. Wherever a number is needed, a thread that has None is an error.
"""

from __future__ import annotations

import ast

import numpy as np

from gpukernels.simt.errors import KernelTypeError
from gpukernels.simt.translate import typing
from gpukernels.simt.translate.values import OPTIONAL, ObjectType, TupleType, Value


def is_none(type_) -> bool:
    """Return whether `type_` is None's type."""
    return isinstance(type_, ObjectType) and type_.value is None


def is_optional(type_) -> bool:
    """Return whether `type_` holds a number or None."""
    return isinstance(type_, TupleType) and type_.names == OPTIONAL


def check(active, has_number, name, where):
    """Raise :class:`KernelTypeError` where an active thread has None."""
    seen = np.broadcast_to(has_number, active.n)
    if not seen.all():
        raise active.frame.group.run.error(
            KernelTypeError,
            f"`{name}` is None for this thread, and a number is needed; test it by `is not None`",
            where,
            active,
            int(np.argmin(seen)),
        )


def may_end(body) -> bool:
    """Return whether a thread may come to the end of `body`, by its form alone."""
    for node in body:
        if isinstance(node, (ast.Return, ast.Raise)):
            return False
        if isinstance(node, ast.If) and not may_end(node.body) and not may_end(node.orelse):
            return False
        if isinstance(node, ast.While) and _for_ever(node):
            return False
    return True


def _for_ever(loop):
    if not (isinstance(loop.test, ast.Constant) and loop.test.value):
        return False
    inside = list(loop.body)
    while inside:
        node = inside.pop()
        if isinstance(node, ast.Break):
            return False
        if not isinstance(node, (ast.For, ast.While)):
            inside += ast.iter_child_nodes(node)
        else:  # a break in an inner loop is its own; after its `else`, this loop's
            inside += node.orelse
    return True


class OptionalTranslator:
    """The part of the function translator that deals with numbers that may be None."""

    def number(self, value, node) -> Value:
        """Return the number of an optional value, with the check that all threads have one."""
        has_number, number = value.items
        if has_number.constant is None:
            self.program.namespace["check_number"] = check
            name = ast.unparse(node)
            code = f"{self.active}, {has_number.code}, {name!r}, {self.where}"
            self.emit(f"check_number({code})")
        return number

    def reads_optional(self, node) -> bool:
        """Return whether evaluating `node` may find None where a number is needed."""
        types = (self.env.get(n.id) for n in ast.walk(node) if isinstance(n, ast.Name))
        return any(map(is_optional, types))

    def is_missing(self, value) -> Value:
        """Return ``value is None`` of an optional value."""
        has_number = value.items[0]
        if has_number.constant is not None:
            return self.literal(not has_number.constant)
        return Value(typing.BOOL, self.temporary(f"~{has_number.code}"), fresh=True)

    def optional(self, value, node) -> Value:
        """Return a number or None as an optional value; None has no second item yet."""
        if is_optional(value.type):
            return value
        if is_none(value.type):
            items = [self.literal(False)]
        elif value.is_scalar:
            items = [self.literal(True), value]
        else:
            raise self.refuse(
                "the machine runs numbers that may be None, and neither arrays nor tuples",
                node,
                KernelTypeError,
            )
        return Value(TupleType(tuple(i.type for i in items), OPTIONAL), items=items)

    def optional_type(self, value, known, node) -> TupleType:
        """Return the common type of `value` and the type `known`, one of which may be None's."""
        if known is not None and not is_none(known):
            known = self.optional(Value(known, items=getattr(known, "items", None)), node).type
        numbers = [t.items[1] for t in (value.type, known) if is_optional(t) and len(t.items) > 1]
        number = numbers[0] if len(numbers) == 1 else typing.unify(*numbers)
        return TupleType((typing.BOOL, number), OPTIONAL)

    def assign_optional(self, name, value, node):
        """Write a variable that has a number in some places, and None in others."""
        known = self.env.get(name)
        if not (known is None or is_none(known) or is_optional(known)):
            if not isinstance(known, np.dtype):
                self.optional(Value(known), node)  # is refused
            self.env[f"{name}.1"] = known
        for i, item in enumerate(self.optional(value, node).items):
            self.assign_name(f"{name}.{i}", item, node)
        number = self.env.get(f"{name}.1")
        if number is not None:
            self.env[name] = TupleType((typing.BOOL, number), OPTIONAL)
