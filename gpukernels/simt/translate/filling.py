"""Stores of one number, or of a tuple, to many elements: ``a[:] = 0``, ``m[i] = 1``."""

from __future__ import annotations

import ast
import itertools

import numpy as np

from gpukernels.simt.errors import KernelTypeError, OutOfBounds
from gpukernels.simt.run import slices
from gpukernels.simt.run.lanes import keep
from gpukernels.simt.translate.values import TupleType


class FillingTranslator:
    """The part of the function translator that stores to slices and rows."""

    def fills(self, array, target) -> bool:
        """Return whether an assignment to `target`, a subscript of `array`, is to many elements."""
        if array.type.ndim == 0:
            return False
        parts = self.index_parts(array, target)
        if any(isinstance(part, ast.Slice) for part in parts):
            return True
        if len(parts) == 1 and isinstance(parts[0], ast.Name):
            known = self.env.get(parts[0].id)
            if isinstance(known, TupleType):
                return False
        elif len(parts) == 1 and not isinstance(parts[0], ast.Constant):
            return False if array.type.ndim == 1 else self._one_number(parts[0])
        return len(parts) < array.type.ndim

    def _one_number(self, node):
        # Only its kind matters; the lines that it emits are taken back.
        mark, cache = len(self.lines), dict(self.cache)
        value = self.expression(node)
        del self.lines[mark:]
        self.cache = cache
        return value.items is None

    def fill(self, array, value, target):
        """Emit the stores of `value` to all elements that `target` names."""
        parts = self.index_parts(array, target)
        part = self._cut(array, parts, target)
        dtype = array.type.dtype
        if value.items is not None and part.type.ndim == 1 and not value.type.opaque:
            items = value.items
        elif value.is_scalar:
            items = [value]
        else:
            raise self.refuse(
                "numba stores a number in a slice, or a tuple in a slice of one dimension; store "
                "the elements of an array in a loop",
                target,
                KernelTypeError,
            )
        codes = ", ".join(self.cast(self._number(item, target), dtype).code for item in items)
        name = "fill_slice" if value.is_scalar else "store_items"
        self.program.namespace[name] = {"fill_slice": fill_slice, "store_items": store_items}[name]
        self.emit(f"{name}({part.code}, {self.active}, {self.where}, {codes})")

    def _number(self, value, node):
        if not value.is_scalar:
            raise self.refuse("only numbers can be stored in an array", node, KernelTypeError)
        return value


def lengths_of(part, active):
    """Return the length along each axis of an array or slice, one per active thread."""
    return [np.broadcast_to(part.dim(active, axis), active.n) for axis in range(_ndim(part))]


def each_place(part, active):
    """Yield (threads, whether each active thread is one, index) of each element of a slice.

    The elements come one after another, as in the loops of numba; threads whose slice is shorter
    leave earlier.
    """
    lengths = lengths_of(part, active)
    if not all(length.size for length in lengths):
        return
    for index in itertools.product(*(range(int(length.max())) for length in lengths)):
        inside = np.ones(active.n, dtype=bool)
        for place, length in zip(index, lengths, strict=True):
            inside &= place < length
        threads = keep(active, inside)
        if threads is not None:
            at = tuple(np.int64(i) for i in index)
            yield threads, inside, at if len(at) != 1 else at[0]


def of_threads(value, threads, active, inside):
    """Return the values of `threads` among those of the active threads."""
    return value if np.ndim(value) == 0 or threads is active else value[inside]


def fill_slice(part, active, where, value):
    """Store `value` to every element of a slice."""
    for threads, inside, at in each_place(part, active):
        part.put(threads, at, of_threads(value, threads, active, inside), where)


def store_items(part, active, where, *values):
    """Store a tuple to a slice of one dimension, which must have as many elements."""
    length = np.broadcast_to(part.dim(active, 0), active.n)
    if (length != len(values)).any():
        at = int(np.argmax(length != len(values)))
        raise active.frame.group.run.error(
            OutOfBounds,
            f"a tuple of {len(values)} cannot be stored in a slice of {length[at]} elements",
            where,
            active,
            at,
        )
    for place, value in enumerate(values):
        part.put(active, np.int64(place), value, where)


def _ndim(part):
    return len(part.strides) if isinstance(part, slices.Slice) else len(part.dims)
