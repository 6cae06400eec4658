"""The same elements in another shape or type: ``.T``, ``reshape``, ``flat``, ``view``."""

from __future__ import annotations

import ast
import copy
import math

import numpy as np

from gpukernels.simt.errors import KernelError, KernelTypeError
from gpukernels.simt.run.shadow import Shadow
from gpukernels.simt.run.slices import Slice
from gpukernels.simt.translate import intrinsics, tuples, typing
from gpukernels.simt.translate.values import ArrayType, Value


class ReshapingTranslator:
    """The part of the function translator that deals with methods of arrays and numbers."""

    def method(self, node):
        """Return the handler of a call of a method, if `node` is one that the machine knows."""
        function = node.func
        if not isinstance(function, ast.Attribute):
            return None
        return {
            "reshape": self._reshape,
            "transpose": self._transpose,
            "view": self._view,
            "fill": self._fill,
            "item": self._item,
        }.get(function.attr)

    def _array_of(self, node):
        array = self.expression(node.func.value)
        if not array.is_array or array.type.of_records:
            what = tuples.describe(array.type)
            raise self.refuse(
                f"`{ast.unparse(node.func)}`: an array of numbers is needed, not {what}",
                node,
                KernelTypeError,
            )
        return array

    def transposed(self, array) -> Value:
        """Return the array with its dimensions in the opposite order."""
        self.program.namespace["transposed"] = transposed
        return Value(array.type, self.temporary(f"transposed({array.code}, {self.active})"))

    def _transpose(self, node):
        if node.args or node.keywords:
            raise self.refuse("numba does not compile transpose() with arguments", node)
        return self.transposed(self._array_of(node))

    def flattened(self, array) -> Value:
        """Return the elements in the order of their indices, as an array of one dimension."""
        return self._in_shape(array, [self.literal(-1)], "flat")

    def _in_shape(self, array, shape, what):
        self.program.namespace["reshaped"] = reshaped
        codes = "".join(f"{v.code}, " for v in shape)
        code = f"reshaped({array.code}, {self.active}, ({codes}), {what!r}, {self.where})"
        return Value(ArrayType(array.type.dtype, len(shape)), self.temporary(code))

    def _reshape(self, node):
        array = self._array_of(node)
        if node.keywords or not node.args:
            raise self.refuse("reshape() takes lengths, none by keyword", node, KernelTypeError)
        shape = [self.expression(a) for a in node.args]
        if len(shape) == 1 and shape[0].items is not None:
            shape = shape[0].items
        return self._in_shape(array, [self.integer(v, node) for v in shape], "reshape")

    def _view(self, node):
        base = self.expression(node.func.value)
        if node.keywords or len(node.args) != 1:
            raise self.refuse("view() takes a dtype", node, KernelTypeError)
        wanted = self.expression(node.args[0]).object
        dtype = intrinsics.as_dtype(
            wanted if wanted is not None else self.constant_of(node.args[0])
        )
        # By `is`: on 32 bits NumPy's int32 is equal to `int`.
        is_python = any(wanted is kind for kind in (int, float, bool, complex))
        if dtype is None or dtype.kind not in "biufc" or is_python:
            raise self.refuse(
                f"`{ast.unparse(node.args[0])}` is not a dtype of NumPy", node, KernelTypeError
            )
        known = base.type if base.is_scalar else self._array_of(node).type.dtype
        if known.itemsize != dtype.itemsize:
            raise self.refuse(
                f"`{ast.unparse(node)}`: the machine views {known} as types of {known.itemsize} "
                f"bytes only; {dtype} has {dtype.itemsize}",
                node,
            )
        if base.is_scalar:
            return Value(dtype, self.temporary(f"{base.code}.view({self.dtype_name(dtype)})"))
        self.program.namespace["viewed"] = viewed
        code = f"viewed({base.code}, {self.active}, {self.dtype_name(dtype)})"
        return Value(ArrayType(dtype, base.type.ndim), self.temporary(code))

    def _fill(self, node):
        array = self._array_of(node)
        if node.keywords or len(node.args) != 1:
            raise self.refuse("fill() takes a number", node, KernelTypeError)
        whole = ast.copy_location(ast.Subscript(node.func.value, ast.Slice()), node)
        self.fill(array, self.scalar(node.args[0]), whole)

    def _item(self, node):
        value = self.expression(node.func.value)
        if not value.is_scalar or node.args or node.keywords:
            raise self.refuse("the machine takes item() of a number only", node)
        return value

    def bytes_of(self, array, attribute) -> Value:
        """Return ``itemsize`` or ``nbytes`` of an array."""
        size = self.literal(array.type.dtype.itemsize)
        if attribute == "itemsize":
            return size
        dims = [f"{array.code}.dim({self.active}, {i})" for i in range(array.type.ndim)]
        return Value(typing.INT64, self.temporary(" * ".join([*dims, size.code])), fresh=True)


def transposed(array, active):
    """Return the same elements with the dimensions in the opposite order."""
    if array.storage is None:  # threads hold different arrays
        return array.derived(active, transposed)
    part = _part_of(array)
    return Slice(part.storage, part.origin, part.lengths[::-1], part.strides[::-1])


def reshaped(array, active, shape, what, where):
    """Return the same elements in another `shape`, in which one length may be -1 (computed)."""
    if array.storage is None:
        return array.derived(active, lambda a, threads: reshaped(a, threads, shape, what, where))
    part = _part_of(array)

    def error(reason):
        return part.storage.run.error(
            KernelError, f"{what} of `{part.storage.name}`: {reason}", where, active, 0
        )

    lengths = [array.dim(active, axis) for axis in range(len(part.strides))]
    if any(np.ptp(n) for n in (*lengths, *shape)):
        raise error("its lengths differ by thread, which the machine does not take")
    lengths, shape = ([int(np.ravel(n)[0]) for n in numbers] for numbers in (lengths, shape))
    dense = 1
    for length, stride in zip(reversed(lengths), reversed(part.strides), strict=True):
        if length > 1 and stride != dense:
            raise error("numba takes arrays without gaps only, in C order")
        dense *= length
    size = math.prod(lengths)
    rest = math.prod(n for n in shape if n != -1)
    if shape.count(-1) == 1 and rest:
        shape[shape.index(-1)] = size // rest
    if min(shape, default=0) < 0 or math.prod(shape) != size:
        raise error(f"{size} elements do not fit the shape {tuple(shape)}")
    strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    return Slice(part.storage, part.origin, tuple(map(np.int64, shape)), tuple(strides))


def viewed(array, active, dtype):
    """Return the same bytes as elements of another type of the same size."""
    if array.storage is None:
        return array.derived(active, lambda a, threads: viewed(a, threads, dtype))
    part = _part_of(array)
    known = part.storage.__dict__.setdefault("views", {})
    if dtype not in known:
        races = part.storage.races
        if races is not None and part.storage.shadow is None:
            part.storage.shadow = Shadow(part.storage.flat.size)
        # All else, such as the marks of races and of unwritten elements, stays common to both.
        view = copy.copy(part.storage)
        view.dtype, view.flat = dtype, part.storage.flat.view(dtype)
        known[dtype] = view
    return Slice(known[dtype], part.origin, part.lengths, part.strides)


def _part_of(array):
    if isinstance(array, Slice):
        return array
    return Slice(array, np.int64(0), array.dims, array.strides)
