"""Loops over other things than ``range``: arrays, tuples, ``enumerate`` and ``zip``.

A loop over tuples alone is unrolled, with one copy of its body per item, unless threads may leave
it. Every other loop has a hidden counter, from which each part makes its element.
"""

from __future__ import annotations

import ast

from gpukernels.simt.translate import ranges, tuples, typing
from gpukernels.simt.translate.values import RANGE, Value
from gpukernels.trace import BRANCH


class _Elements:
    """The elements of an array, or its rows."""

    def __init__(self, translator, array, node):
        if array.type.ndim == 0:
            raise translator.refuse("an array of no dimensions has no elements to go over", node)
        # The name of the array may be given to another one while the loop runs.
        self.array = Value(array.type, translator.temporary(array.code))
        self.node = node

    def length(self, t):
        return f"{self.array.code}.dim({t.active}, 0)"

    def keep(self, t):
        pass

    def element(self, t, counter):
        if self.array.type.ndim == 1 and not self.array.type.of_records:
            return t.get(self.array, [counter], self.node)
        return t._slice_of(self.array, [counter.code], self.array.type.ndim - 1)


class _Numbers:
    """The numbers of a range."""

    def __init__(self, translator, value):
        self.start, self.stop, self.step = value.items

    def length(self, t):
        return ranges.length(t, (self.start, self.stop, self.step)).code

    def keep(self, t):
        self.start, self.step = t.hidden(self.start), t.hidden(self.step)

    def element(self, t, counter):
        start, step = self.start.read(), self.step.read()
        counter = t.cast(counter, start.type)
        code = t.temporary(f"{start.code} + {counter.code} * {step.code}")
        return Value(start.type, code, fresh=True)


class _Items:
    """The items of a tuple, whose types are equal."""

    def __init__(self, translator, value, node):
        self.items = tuples.of_one_type(translator, value, node)

    def length(self, t):
        return t.literal(len(self.items)).code

    def keep(self, t):
        self.items = [t.hidden(item) for item in self.items]

    def element(self, t, counter):
        return tuples.choose(t, [item.read() for item in self.items], counter, "the tuple")

    def written_out(self):
        return self.items


class _Numbered:
    """The items of ``enumerate``."""

    def __init__(self, inner, first):
        self.inner, self.first = inner, first

    def length(self, t):
        return self.inner.length(t)

    def keep(self, t):
        self.first = t.hidden(self.first)
        self.inner.keep(t)

    def element(self, t, counter):
        first = self.first.read()
        number = counter
        if first.constant != 0:
            number = Value(typing.INT64, t.temporary(f"{counter.code} + {first.code}"))
        return tuples.of([number, self.inner.element(t, counter)])

    def written_out(self):
        values = self.inner.written_out()
        if values is None or self.first.constant is None:
            return None
        first = int(self.first.constant)
        return [(first + i, value) for i, value in enumerate(values)]


class _Together:
    """The items of ``zip``, which ends with the shortest of its parts."""

    def __init__(self, parts):
        self.parts = parts

    def length(self, t):
        codes = [part.length(t) for part in self.parts]
        code = codes[0]
        for other in codes[1:]:
            code = t.temporary(f"np.minimum({code}, {other})")
        return code

    def keep(self, t):
        for part in self.parts:
            part.keep(t)

    def element(self, t, counter):
        return tuples.of([part.element(t, counter) for part in self.parts])

    def written_out(self):
        values = [part.written_out() for part in self.parts]
        return None if None in values else list(zip(*values, strict=False))


for _kind in (_Elements, _Numbers):
    _kind.written_out = lambda self: None


class _Hidden:
    """A value that has a register of its own, because it is read after threads have parted."""

    def __init__(self, translator, name):
        self.translator, self.name = translator, name

    constant = None

    def read(self):
        return self.translator.read_name(self.name, self.translator.node)


class _Constant:
    def __init__(self, value):
        self.value, self.constant = value, value.constant

    def read(self):
        return self.value


class IterationTranslator:
    """The part of the function translator that deals with loops over anything but a range."""

    def hidden(self, value):
        """Keep `value` in a register that has no name; its ``read()`` gives it for the active."""
        if value.constant is not None:
            return _Constant(value)
        name = f"0{next(self.hidden_names)}"
        self.assign_name(name, value, self.node)
        return _Hidden(self, name)

    def for_each(self, node, leaves):
        """Translate a ``for`` over anything but a call of range; its threads may leave it early."""
        mark = len(self.lines)
        source = self.iterable(node.iter)
        values = source.written_out()
        if values is not None and not leaves and not node.orelse:
            # The body may give the items' names other values.
            settled = [self.settled(self._value_of(value), later=True) for value in values]
            for value in settled:
                self.assign(node.target, value)
                self.statements(node.body, self.active)
            return
        # The step begins before the loads that evaluate the object of the loop.
        evaluated, self.lines[mark:] = self.lines[mark:], []
        event = self.note(BRANCH)
        self.lines += evaluated
        length = source.length(self)
        source.keep(self)
        zero, one = self.literal(0).code, self.literal(1).code
        counter = self.temporary(f"RangeLoop({self.active}, {zero}, {length}, {one})")
        self.counted_loop(
            node, event, counter, lambda code: source.element(self, Value(typing.INT64, code))
        )

    def counted_loop(self, node, event, counter, element):
        """Translate a loop whose rounds `counter` counts; `element` makes each round's value."""

        def header(loop, rounds):
            self.at(node)
            if event is not None or self.program.step_yields:
                self.block(f"if {rounds} > 1:")
                self.note(BRANCH, event)
                self.end()
            value = f"t{next(self.temporaries)}"
            self.emit(f"{loop}, {value} = {counter}.next({loop})")
            self.forget_active(loop)
            self.emit(f"if {loop} is None: break")
            self.note_taken(event, loop)
            self.assign(node.target, element(value))

        self._loop(node, header)

    def _value_of(self, value):
        """Return the value of the target in one round of an unrolled loop."""
        if isinstance(value, tuple):
            return tuples.of([self._value_of(v) for v in value])
        return value if isinstance(value, Value) else self.literal(value)

    def iterable(self, node):
        """Return the object that a loop over `node` goes through."""
        made_by = self.constant_of(node.func) if isinstance(node, ast.Call) else None
        if made_by is enumerate:
            if node.keywords or not 1 <= len(node.args) <= 2:
                raise self.refuse("enumerate() takes what to number and a start", node)
            first = self.literal(0)
            inner = self.iterable(node.args[0])
            if len(node.args) == 2:
                first = self.cast(self.integer(self.scalar(node.args[1]), node), typing.INT64)
            return _Numbered(inner, first)
        if made_by is zip:
            if node.keywords or not node.args:
                raise self.refuse("zip() takes one and more to go over, none by keyword", node)
            return _Together([self.iterable(argument) for argument in node.args])
        value = self.expression(node)
        if value.is_array:
            return _Elements(self, value, node)
        if value.items is not None and value.type.names == RANGE:
            return _Numbers(self, value)
        if value.items is not None and not value.type.opaque:
            return _Items(self, value, node)
        raise self.refuse(
            "`for` can go over ranges, arrays and tuples, and over enumerate and zip of them", node
        )
