"""Members of enumerations: members of IntEnum are integers, others can only be compared."""

from __future__ import annotations

import enum

import numpy as np

from gpukernels.simt.translate.values import MEMBER, TupleType, Value


def member(t, value, node) -> Value | None:
    """Return the value of a member of a plain enumeration, or None for any other object.

    It is kept as its number, in a tuple of one that nothing but a comparison and ``.value`` opens.
    """
    if not isinstance(value, enum.Enum) or isinstance(value, enum.IntEnum):
        return None
    kinds = {type(m.value) for m in type(value)}
    if len(kinds) > 1 or not isinstance(value.value, (bool, int, float, complex, np.number)):
        raise t.refuse(
            f"the values of {type(value).__name__} are not numbers of one type; numba takes no "
            "other enumerations",
            node,
        )
    number = t.literal(value.value)
    return Value(TupleType((number.type,), (MEMBER, type(value))), items=[number])
