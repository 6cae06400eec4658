"""The translator's knowledge of a value before the kernel runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class ArrayType:
    """An array argument, or a shared, local or constant array."""

    dtype: np.dtype
    ndim: int

    @property
    def of_records(self):
        """Whether the elements are records; with no dimensions it is a reference to one."""
        return self.dtype.fields is not None


def can_hold(dtype: np.dtype) -> bool:
    """Return whether arrays of `dtype` can be used in a kernel."""
    if dtype.subdtype is not None:
        return can_hold(dtype.subdtype[0])
    if dtype.fields is not None:
        return all(can_hold(field[0]) for field in dtype.fields.values())
    return dtype.kind in "biufc" and dtype.char not in "gG" and dtype.isnative


def why_not(dtype: np.dtype) -> str:
    """Return why arrays of `dtype`, which :func:`can_hold` denies, cannot be used in a kernel."""
    if dtype.subdtype is not None:
        return why_not(dtype.subdtype[0])
    if dtype.fields is not None:
        inner = (field[0] for field in dtype.fields.values())
        return next(why_not(part) for part in inner if not can_hold(part))
    if dtype.kind in "biufc" and not dtype.isnative:
        wanted = "a.astype(a.dtype.newbyteorder('='))"
        return f"{dtype.str} has the other byte order than a GPU; pass `{wanted}`"
    if dtype.char in "gG":
        return f"{dtype} is wider than any number of a GPU; pass it as float64 or complex128"
    return "allowed are bools, integers, floats, complex numbers and records of them"


#: Names of the items of a range, which is kept as a tuple; no attribute can be written so.
RANGE = (".start", ".stop", ".step")
#: Name of the one item of a member of an enumeration, which is kept as a tuple of one.
MEMBER = ".value"
#: Names of the items of a number that may be None, which is kept as a tuple of two.
OPTIONAL = ("?has number", "?number")


@dataclass(frozen=True)
class TupleType:
    """A tuple of known length; each item has its own type, and a name in a named tuple."""

    items: tuple
    names: tuple = ()

    @property
    def opaque(self):
        """Whether the kernel sees no tuple: a range, an enumeration's member, a number or None."""
        return bool(self.names) and self.names[0] in (RANGE[0], MEMBER, OPTIONAL[0])


@dataclass(frozen=True)
class ObjectType:
    """A Python object that is gone at run time: a module, a function, a dtype."""

    value: object

    def __eq__(self, other):
        return isinstance(other, ObjectType) and self.value is other.value

    def __hash__(self):
        return id(self.value)


@dataclass(frozen=True)
class LiteralType:
    """A number that a device function gets as a constant, because its types ask for that."""

    type: np.dtype
    value: object


class Value:
    """An operand: the Python expression that names it, its type, and its constant if it has one.

    Attributes
    ----------
    type : numpy.dtype, ArrayType, TupleType or ObjectType
        Type of the value in numba.
    code : str
        A name that is valid where the value was made.
    constant : object
        The Python value where it is known, else ``None``.
    fresh : bool
        Whether nothing else can refer to the same NumPy array.
    items : list of Value
        The parts of a tuple.
    """

    __slots__ = ("code", "constant", "fresh", "items", "type")

    def __init__(self, type, code="", constant=None, fresh=False, items=None):
        self.type = type
        self.code = code
        self.constant = constant
        self.fresh = fresh
        self.items = items

    @property
    def is_scalar(self):
        """Whether it is a number or bool, one per lane."""
        return isinstance(self.type, np.dtype)

    @property
    def is_array(self):
        """Whether it is an array."""
        return isinstance(self.type, ArrayType)

    @property
    def object(self):
        """The Python object of an ObjectType, else None."""
        return self.type.value if isinstance(self.type, ObjectType) else None
