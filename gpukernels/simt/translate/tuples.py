"""Tuples: an index that differs by thread, slices, comparisons, ``in``, named tuples, ranges.

The items of a tuple are values of their own, so that most of it is done before the launch.
"""

from __future__ import annotations

import ast
import inspect

import numpy as np

from gpukernels.simt.errors import KernelTypeError, OutOfBounds
from gpukernels.simt.translate import ranges, typing
from gpukernels.simt.translate.values import OPTIONAL, RANGE, TupleType, Value


def of(values, names=()) -> Value:
    """Return the tuple of `values`."""
    return Value(TupleType(tuple(v.type for v in values), names), items=list(values))


def of_one_type(t, value, node):
    """Return the items of a tuple, refusing what numba cannot go over: types that differ."""
    kinds = dict.fromkeys(value.type.items)
    if len(kinds) == 1:
        return value.items
    if not kinds:
        raise t.refuse("numba cannot go over an empty tuple", node, KernelTypeError)
    raise t.refuse(
        "numba goes over tuples, and takes an index that is computed, only where all items have "
        f"one type; these are {', '.join(map(describe, kinds))}",
        node,
        KernelTypeError,
    )


def describe(type_) -> str:
    """Return a description of a value of `type_`, for a message."""
    if isinstance(type_, np.dtype):
        return str(type_)
    if isinstance(type_, TupleType):
        if type_.names == RANGE:
            return "a range"
        if type_.names == OPTIONAL:
            return "a number or None"
        if type_.opaque:
            return f"a member of {type_.names[1].__name__}"
        return f"a tuple of {len(type_.items)}"
    if hasattr(type_, "ndim"):
        return f"an array of {type_.dtype} with {type_.ndim} dimensions"
    return f"the Python object {type_.value!r}"


def choose(t, items, index, name) -> Value:
    """Return the item at `index`, which has been checked, of items of one type."""
    type_ = items[0].type
    if isinstance(type_, TupleType):
        parts = zip(*(item.items for item in items), strict=True)
        return of([choose(t, part, index, name) for part in parts], type_.names)
    if items[0].is_scalar:
        t.program.namespace["choose_item"] = choose_item
        codes = ", ".join(item.code for item in items)
        return Value(type_, t.temporary(f"choose_item({index.code}, {codes})"), fresh=True)
    # Each thread takes its array, as in an `if` for each of them.
    register = f"0{next(t.hidden_names)}"
    outer = t.active
    for number, item in enumerate(items):
        active = t.new_active()
        t.emit(f"{active} = keep({outer}, {index.code} == {number})")
        t.block(f"if {active} is not None:")
        t.active = active
        t.assign_name(register, item, t.node)
        t.end()
        t.active = outer
    return t.read_name(register, t.node)


def choose_item(index, *items):
    """Return ``items[index]``, one value per thread."""
    if index.ndim == 0:
        return items[int(index)]
    result = items[0]
    for number, item in enumerate(items[1:], 1):
        result = np.where(index == number, item, result)
    return result


def check_index(active, index, size, name, where):
    """Raise :class:`OutOfBounds` where a thread's index into a tuple is outside."""
    outside = np.broadcast_to((index < 0) | (index >= size), active.n)
    if outside.any():
        at = int(np.argmax(outside))
        value = np.broadcast_to(index, active.n)[at]
        raise active.frame.group.run.error(
            OutOfBounds,
            f"index {value} is out of bounds for the tuple `{name}`, which has {size} items; "
            f"allowed are 0 to {size - 1}",
            where,
            active,
            at,
        )


class TupleTranslator:
    """The part of the function translator that deals with tuples."""

    def _see_tuple(self, node):
        items = []
        for element in node.elts:
            if not isinstance(element, ast.Starred):
                items.append(self.expression(element))
                continue
            value = self.expression(element.value)
            if value.items is None or value.type.opaque:
                raise self.refuse(f"`{ast.unparse(element)}` is not a tuple", node)
            items += value.items
        return of(items)

    def item_of(self, base, node) -> Value:
        """Return an item of the tuple `base`, or a slice of it."""
        if base.type.opaque:
            raise self.refuse(
                f"`{ast.unparse(node.value)}` is {describe(base.type)}, which has no items",
                node,
                KernelTypeError,
            )
        size = len(base.items)
        if isinstance(node.slice, ast.Slice):
            ends = [
                None if e is None else self._end(e, node)
                for e in (node.slice.lower, node.slice.upper, node.slice.step)
            ]
            if ends[2] == 0:
                raise self.refuse("the step of a slice must not be 0", node)
            return of(base.items[slice(*ends)])
        at = self.scalar(node.slice)
        if not typing.is_integer(at.type):
            raise self.refuse("the index of a tuple must be an integer", node, KernelTypeError)
        if at.constant is not None:
            if not -size <= at.constant < size:
                allowed = f"{-size} to {size - 1}" if size else "none"
                raise self.refuse(
                    f"index {at.constant} is outside a tuple of {size}; allowed are {allowed}",
                    node,
                    KernelTypeError,
                )
            return base.items[int(at.constant)]
        items = of_one_type(self, base, node)
        self.program.namespace["check_index"] = check_index
        name = ast.unparse(node.value)
        self.emit(f"check_index({self.active}, {at.code}, {size}, {name!r}, {self.where})")
        return choose(self, items, at, name)

    def _end(self, part, node):
        value = self.scalar(part)
        if value.constant is None or not typing.is_integer(value.type):
            raise self.refuse(
                "a slice of a tuple must have constant ends, as numba has it", node, KernelTypeError
            )
        return int(value.constant)

    def compare_tuples(self, operator, left, right, node) -> Value:
        """Compare two tuples as Python does: the first items that differ decide."""
        for side in (left, right):
            if side.items is None or side.type.names == RANGE:
                raise self.refuse(
                    f"a tuple cannot be compared with {describe(side.type)}", node, KernelTypeError
                )
        if left.type.opaque or right.type.opaque:
            return self._compare_members(operator, left, right, node)
        pairs = list(zip(left.items, right.items, strict=False))
        same = len(left.items) == len(right.items)
        if isinstance(operator, (ast.Eq, ast.NotEq)):
            result = self.literal(same)
            if same:
                for pair in pairs:
                    equal = self.compare(ast.Eq(), *pair, node)
                    result = equal if result.constant is not None else self._both(result, equal)
            if isinstance(operator, ast.Eq):
                return result
            if result.constant is not None:
                return self.literal(not result.constant)
            return Value(typing.BOOL, self.temporary(f"~{result.code}"), fresh=True)
        lengths = [self.literal(len(side.items)) for side in (left, right)]
        result = self.compare(operator, *lengths, node)
        for pair in reversed(pairs):
            differ, decides = (self.compare(o, *pair, node) for o in (ast.NotEq(), operator))
            code = f"np.where({differ.code}, {decides.code}, {result.code})[()]"
            result = Value(typing.BOOL, self.temporary(code), fresh=True)
        return result

    def _both(self, left, right, symbol="&"):
        code = self.temporary(f"{left.code} {symbol} {right.code}")
        return Value(typing.BOOL, code, fresh=True)

    def _compare_members(self, operator, left, right, node):
        if left.type.names != right.type.names or not isinstance(operator, (ast.Eq, ast.NotEq)):
            raise self.refuse(
                f"{describe(left.type)} cannot be compared so with {describe(right.type)}",
                node,
                KernelTypeError,
            )
        return self.compare(operator, left.items[0], right.items[0], node)

    def contains(self, item, whole, node) -> Value:
        """Return ``item in whole`` for a tuple or a range."""
        if whole.items is None or (whole.type.opaque and whole.type.names != RANGE):
            raise self.refuse(
                f"`in` takes a tuple or a range; `{ast.unparse(node.comparators[-1])}` is "
                f"{describe(whole.type)}",
                node,
            )
        if whole.type.names == RANGE:
            self.program.namespace["in_range"] = ranges.has
            codes = ", ".join(v.code for v in (self.integer(item, node), *whole.items))
            return Value(typing.BOOL, self.temporary(f"in_range({codes})"), fresh=True)
        result = self.literal(False)
        for other in whole.items:
            equal = self.compare(ast.Eq(), item, other, node)
            result = equal if result.constant is not None else self._both(result, equal, "|")
        return result

    def named_tuple(self, kind, node) -> Value:
        """Return the value of a call of the named tuple class `kind`."""
        arguments = [self.expression(a) for a in node.args]
        named = {k.arg: self.expression(k.value) for k in node.keywords}
        try:
            bound = inspect.signature(kind).bind(*arguments, **named)
        except TypeError as error:
            raise self.refuse(f"`{ast.unparse(node)}`: {error}", node, KernelTypeError) from None
        left_out = [name for name in kind._fields if name not in bound.arguments]
        if left_out:
            raise self.refuse(
                f"`{ast.unparse(node)}`: numba does not fill in the default of {left_out[0]}; "
                "give all items",
                node,
                KernelTypeError,
            )
        values = list(bound.arguments.values())
        return of(values, kind._fields)
