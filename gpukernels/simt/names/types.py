"""Stand-ins for numba's types: scalars that cast, arrays of them, and signatures of functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Scalar:
    """A scalar type: ``int32(7)`` casts, ``int32[:]`` is an array, ``int32(int32)`` a signature."""

    name: str

    @property
    def dtype(self) -> np.dtype:
        """The dtype of its values."""
        return np.dtype("bool" if self.name == "boolean" else self.name)

    def __call__(self, *values: Any) -> Any:
        """Return a value of this type, or the signature of functions that return one."""
        if all(isinstance(value, Scalar | Array) for value in values):
            return Signature(self, values)
        (value,) = values
        with np.errstate(all="ignore"):
            return np.asarray(value).astype(self.dtype)[()]

    def __getitem__(self, part: Any) -> Array:
        return Array(self, len(part) if isinstance(part, tuple) else 1)

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Array:
    """An array type: its elements' and its number of dimensions."""

    dtype: Scalar
    ndim: int


@dataclass(frozen=True)
class Record:
    """A type of structured elements."""

    dtype: np.dtype

    def __getitem__(self, part: Any) -> Array:
        return Array(self, len(part) if isinstance(part, tuple) else 1)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Signature:
    """The types of a function's result and of its arguments."""

    return_type: Any
    args: tuple[Any, ...]


@dataclass(frozen=True)
class _Void:
    """The type of no result."""

    def __call__(self, *args: Any) -> Signature:
        return Signature(self, args)


#: Each scalar type by the names that numba has for it.
SCALARS = {
    alias: Scalar(name)
    for name, aliases in {
        "boolean": "boolean bool_ b1",
        "int8": "int8 i1 byte char",
        "int16": "int16 i2 short",
        "int32": "int32 i4 intc int_c",
        "int64": "int64 i8 int_ intp longlong long_ ssize_t",
        "uint8": "uint8 u1 uchar",
        "uint16": "uint16 u2 ushort",
        "uint32": "uint32 u4 uintc",
        "uint64": "uint64 u8 uint uintp ulonglong ulong size_t",
        "float16": "float16 f2",
        "float32": "float32 f4 float_",
        "float64": "float64 f8 double",
        "complex64": "complex64 c8",
        "complex128": "complex128 c16",
    }.items()
    for alias in aliases.split()
}
void = none = _Void()


def from_dtype(dtype: Any) -> Scalar | Record:
    """Return the type of elements of a dtype."""
    dtype = np.dtype(dtype)
    if dtype.names is not None:
        return Record(dtype)
    return SCALARS["boolean" if dtype.kind == "b" else dtype.name]


def signatures(declared: Any) -> list[Signature]:
    """Return the signatures that a decorator is given: text, types of arguments, or a list."""
    if isinstance(declared, list):
        return [one for each in declared for one in signatures(each)]
    if isinstance(declared, str):
        declared = eval(declared, {"__builtins__": {}}, {**SCALARS, "void": void})
    return [declared if isinstance(declared, Signature) else Signature(void, tuple(declared))]
