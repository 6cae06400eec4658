"""``cuda.popc``, ``clz``, ``ffs``, ``brev``, ``selp``, and ``int.bit_count``."""

from __future__ import annotations

import numpy as np

from gpukernels.simt.errors import KernelTypeError
from gpukernels.simt.translate import typing
from gpukernels.simt.translate.intrinsics.arguments import applied, named_arguments


def _bits(name, function, result):
    def bits(t, node, hint):
        (value,) = named_arguments(t, node, ("x",))
        value = t.integer(value, node)
        if value.type.itemsize < 4:
            value = t.cast(value, typing.INT32)
        return applied(t, name, function, [value], result or value.type)

    return bits


def _unsigned(value):
    return value.view(f"u{value.dtype.itemsize}")


def popcount(value):
    """Return the number of set bits, in the type of `value`."""
    return np.bitwise_count(_unsigned(value)).astype(value.dtype)


def leading_zeros(value):
    """Return the number of zero bits above the highest set bit."""
    bits = value.dtype.itemsize * 8
    unsigned = _unsigned(value).astype(np.uint64)
    count = np.full(np.shape(unsigned), bits, np.int64)
    for shift in range(bits):
        count = np.where((unsigned >> np.uint64(shift)) != 0, bits - 1 - shift, count)
    return count.astype(value.dtype)[()]


def first_set(value):
    """Return the 1-based position of the lowest set bit (uint32), 0 if there is none."""
    unsigned = _unsigned(value).astype(np.uint64)
    lowest = unsigned & (~unsigned + np.uint64(1))
    position = np.bitwise_count(lowest - np.uint64(1)).astype(np.uint32) + np.uint32(1)
    return np.where(unsigned == 0, np.uint32(0), position)[()]


def reverse_bits(value):
    """Return the bits in reverse order, as an unsigned number of the same width."""
    bits = value.dtype.itemsize * 8
    unsigned = _unsigned(value).astype(np.uint64)
    result = np.zeros_like(unsigned)
    for shift in range(bits):
        bit = (unsigned >> np.uint64(shift)) & np.uint64(1)
        result = result | (bit << np.uint64(bits - 1 - shift))
    return result.astype(f"u{value.dtype.itemsize}")


def bit_count(t, node, hint):
    """Handle ``x.bit_count()``."""
    value = t.integer(t.scalar(node.func.value), node)
    if value.type.itemsize < 4:
        value = t.cast(value, typing.UINT32)
    return applied(t, "popcount", popcount, [value], value.type)


def _reverse(t, node, hint):
    (value,) = named_arguments(t, node, ("x",))
    value = t.integer(value, node)
    # numba has brev for uint32 and uint64 and takes int64 for the former.
    dtype = typing.UINT64 if value.type == typing.UINT64 else typing.UINT32
    return applied(t, "reverse_bits", reverse_bits, [t.cast(value, dtype)], dtype)


def _select(t, node, hint):
    condition, a, b = named_arguments(t, node, ("condition", "a", "b"))
    if a.type != b.type or not a.is_scalar or a.type.kind in "bc":
        raise t.refuse(
            f"the two values must be numbers of one type; they are {a.type} and {b.type}",
            node,
            KernelTypeError,
        )
    return applied(t, "select", _where, [t.truth(condition), a, b], a.type)


def _where(condition, a, b):
    return np.where(condition, a, b)[()]


CALLS = {
    "cuda.popc": _bits("popcount", popcount, None),
    "cuda.clz": _bits("leading_zeros", leading_zeros, None),
    "cuda.ffs": _bits("first_set", first_set, typing.UINT32),
    "cuda.brev": _reverse,
    "cuda.selp": _select,
}
