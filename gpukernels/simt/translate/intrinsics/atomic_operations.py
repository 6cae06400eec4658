"""``cuda.atomic``: which operations there are, and on which types."""

from __future__ import annotations

from gpukernels.simt.errors import KernelTypeError
from gpukernels.simt.translate.intrinsics.arguments import argument_nodes
from gpukernels.simt.translate.values import Value

_ATOMIC_UNSIGNED = ("uint32", "uint64")

_ATOMIC_INTEGERS = ("int32", "int64", *_ATOMIC_UNSIGNED)

_ATOMIC_NUMBERS = (*_ATOMIC_INTEGERS, "float32", "float64")

#: Types of the elements on which numba has each operation.
_ATOMIC_TYPES = {
    **dict.fromkeys(("add", "sub", "max", "min", "nanmax", "nanmin"), _ATOMIC_NUMBERS),
    **dict.fromkeys(("and_", "or_", "xor", "exch", "cas"), _ATOMIC_INTEGERS),
    **dict.fromkeys(("inc", "dec"), _ATOMIC_UNSIGNED),
}


def _atomic(op):
    def atomic(t, node, hint):
        nodes = argument_nodes(t, node, {"compare_and_swap": 3, "cas": 4}.get(op, 3))
        array = t.expression(nodes[0])
        if not array.is_array:
            raise t.refuse(
                "the first argument of an atomic must be an array", node, KernelTypeError
            )
        if op == "compare_and_swap":
            index_values, rest = [t.literal(0)] * array.type.ndim, nodes[1:]
        else:
            index_values, rest = t._index_values(nodes[1]), nodes[2:]
        kind = "cas" if op == "compare_and_swap" else op
        taken = _ATOMIC_TYPES[kind]
        if array.type.dtype.name not in taken:
            raise t.refuse(
                f"cuda.atomic.{op} does not take arrays of {array.type.dtype}; allowed are "
                f"{', '.join(taken)}",
                node,
                KernelTypeError,
            )
        rest = [t.scalar(a) for a in rest]
        index = t.locate(array, index_values, node)
        rest = [t.cast(r, array.type.dtype).code for r in rest]
        compare, value = (rest[0], rest[1]) if kind == "cas" else ("None", rest[0])
        rest = f"{t.active}, {index}, {value}, {compare}, {t.where}"
        code = f"run.atomic({array.code}, {kind!r}, {rest})"
        return Value(array.type.dtype, t.temporary(code), fresh=True)

    return atomic


CALLS = {f"cuda.atomic.{name}": _atomic(name) for name in (*_ATOMIC_TYPES, "compare_and_swap")}
