"""Words of an array that several cores read and write at once, as LLVM's atomic instructions.

numba has these for GPUs only. All are sequentially consistent except `read`, which only promises a
whole word: on x86 it is a plain load. Indices are not checked and must not be negative.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def _pointer(context, builder, array_type, array, index):
    struct = context.make_array(array_type)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, array_type, struct, [index], wraparound=False)


def _bits(builder, kind, pointer):
    """Return the pointer as a pointer to an integer, and the integer's type."""
    whole = ir.IntType(kind.bitwidth)
    return builder.bitcast(pointer, whole.as_pointer()), whole


@intrinsic
def read(typing, array, index):
    """Return ``array[index]`` as a core has stored it."""
    signature = array.dtype(array, types.intp)

    def generate(context, builder, signature, values):
        kind = signature.args[0].dtype
        pointer, _ = _bits(builder, kind, _pointer(context, builder, signature.args[0], *values))
        word = builder.load_atomic(pointer, "monotonic", kind.bitwidth // 8)
        return builder.bitcast(word, context.get_value_type(kind))

    return signature, generate


def _exchanging(operation):
    """Return a function that applies `operation` to a word and a value; it returns the old word."""

    @intrinsic
    def atomic(typing, array, index, value):
        signature = array.dtype(array, types.intp, array.dtype)

        def generate(context, builder, signature, values):
            kind = signature.args[0].dtype
            array, index, value = values
            place = _pointer(context, builder, signature.args[0], array, index)
            pointer, whole = _bits(builder, kind, place)
            value = builder.bitcast(value, whole)
            before = builder.atomic_rmw(operation, pointer, value, "seq_cst")
            return builder.bitcast(before, context.get_value_type(kind))

        return signature, generate

    return atomic


#: ``add(array, index, value)`` adds integers and returns the old value.
add = _exchanging("add")
#: ``lower(array, index, value)`` keeps the smaller, of integers or of floats that are not negative:
#: their bits are in the same order. It returns the old value.
lower = _exchanging("min")
#: ``exchange(array, index, value)`` returns the old value.
exchange = _exchanging("xchg")


@intrinsic
def replace(typing, array, index, expected, value):
    """Replace the integer `expected` by `value`; return whether it was `expected`."""
    signature = types.boolean(array, types.intp, array.dtype, array.dtype)

    def generate(context, builder, signature, values):
        array, index, expected, value = values
        pointer = _pointer(context, builder, signature.args[0], array, index)
        swap = builder.cmpxchg(pointer, expected, value, "seq_cst", "seq_cst")
        return builder.extract_value(swap, 1)

    return signature, generate
