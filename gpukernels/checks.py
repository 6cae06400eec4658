"""Checks of arguments: numbers, flags, names of choices, texts, arrays."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np

from gpukernels.errors import InvalidArgument, MissingTool, VertexOutOfRange

#: The largest seed, a number of 64 bits.
MAX_SEED = 2**64 - 1


def needed(module: str, extra: str) -> Any:
    """Return a module that an extra of this package installs.

    Raises
    ------
    MissingTool
        If the module is not installed; the message names the extra.
    """
    try:
        return importlib.import_module(module)
    except ImportError as missing:
        raise MissingTool(
            f"this needs {missing.name or module}, which is not installed: "
            f"pip install 'gpukernels[{extra}]'"
        ) from missing


def as_python(value: Any) -> Any:
    """Return a NumPy scalar as a Python number, and any other value unchanged.

    NumPy's narrow integers overflow in sums and products; Python's integers do not.
    """
    return value.item() if isinstance(value, np.generic) else value


def options_as_python(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options by name, each converted by :func:`as_python`."""
    return {name: as_python(value) for name, value in options.items()}


def is_whole(value: object) -> bool:
    """Return whether `value` is a Python or NumPy integer, and not a bool."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def check_whole(name: str, value: int, low: int, high: int) -> int:
    """Return `value` as a Python number; InvalidArgument unless whole and from `low` to `high`."""
    if not is_whole(value) or not low <= value <= high:
        raise InvalidArgument(name, value, f"a whole number from {low} to {high}")
    return int(value)


def check_whole_or_none(name: str, value: int | None) -> None:
    """Raise InvalidArgument if `value` is neither an integer nor None."""
    if value is not None and not is_whole(value):
        raise InvalidArgument(name, value, "a whole number, or None")


def check_name_or_none(name: str, value: str | None) -> None:
    """Raise InvalidArgument if `value` is neither a text nor None."""
    if value is not None and not isinstance(value, str):
        raise InvalidArgument(name, value, "a name, or None")


def check_vertex(name: str, value: int, n: int) -> int:
    """Return `value` as a Python number.

    Raises
    ------
    InvalidArgument
        If it is not a whole number.
    VertexOutOfRange
        If it is not from 0 to `n` - 1.
    """
    if not is_whole(value):
        raise InvalidArgument(name, value, "a vertex, a whole number")
    if not 0 <= value < n:
        raise VertexOutOfRange(name, int(value), n)
    return int(value)


def check_seed(value: int, name: str = "seed") -> int:
    """Return `value` as a Python number; InvalidArgument unless it can seed NumPy's generators."""
    return check_whole(name, value, 0, MAX_SEED)


def check_real(name: str, value: float, low: float, high: float, allowed: str) -> float:
    """Return `value` as a Python float; InvalidArgument unless a number from `low` to `high`."""
    real = isinstance(value, Real) and not isinstance(value, bool)
    if not real or not low <= value <= high:  # NaN is not within any range
        raise InvalidArgument(name, value, allowed)
    try:
        return float(value)
    except OverflowError:
        most = f"{allowed}, and at most {sys.float_info.max:.3g}, the largest float"
        raise InvalidArgument(name, value, most) from None


def check_text(name: str, value: object) -> None:
    """Raise InvalidArgument if `value` is not a text, or cannot be written as UTF-8."""
    if not isinstance(value, str):
        raise InvalidArgument(name, value, "a text")
    try:
        value.encode()
    except UnicodeEncodeError as wrong:
        surrogate = f"{value[wrong.start]!r} at {wrong.start}"
        allowed = f"a text that UTF-8 can hold, so without a lone surrogate ({surrogate})"
        raise InvalidArgument(name, value, allowed) from None


def check_choice(name: str, value: object, choices: Iterable[str]) -> None:
    """Raise InvalidArgument if `value` is not the name of one of `choices`."""
    choices = tuple(choices)
    if not isinstance(value, str) or value not in choices:
        raise InvalidArgument(name, value, f"one of {choices}")


def check_flag(name: str, value: object) -> bool:
    """Return `value` as a Python bool; InvalidArgument unless it is a Python or NumPy bool.

    Numbers and words are refused: ``directed="no"`` would count as true, and ``0 is False`` is not
    true.
    """
    if not isinstance(value, bool | np.bool_):
        raise InvalidArgument(name, value, "True or False")
    return bool(value)


def as_int32(name: str, values: Any) -> np.ndarray:
    """Return `values` as a contiguous int32 array of shape (n,); InvalidArgument unless it fits."""
    array = as_array(name, values)
    if array.ndim != 1:
        raise InvalidArgument(f"{name}.shape", array.shape, "1-D")
    if array.size and array.dtype.kind not in "biu":
        raise InvalidArgument(f"{name}.dtype", array.dtype.name, "an integer type")
    limits = np.iinfo(np.int32)
    if array.size and not limits.min <= int(array.min()) <= int(array.max()) <= limits.max:
        at = int(np.argmax((array < limits.min) | (array > limits.max)))
        raise InvalidArgument(f"{name}[{at}]", int(array[at]), "an int32")
    return np.ascontiguousarray(array, dtype=np.int32)


def as_array(name: str, values: Any) -> np.ndarray:
    """Return `values` as an array, not copied if it is one.

    Raises
    ------
    InvalidArgument
        If it is a masked array, because kernels and sums would ignore the mask, or nested lists
        that do not form an array.
    """
    # Only a subclass of ndarray can be masked. For others, np.ma is not imported (20 to 47 ms).
    if isinstance(values, np.ndarray) and type(values) is not np.ndarray:
        _refuse_mask(name, values)
    try:
        return np.asarray(values)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(name, values, "an array, or lists of one length") from None


def _refuse_mask(name: str, values: np.ndarray) -> None:
    """Raise InvalidArgument if `values` are a masked array."""
    if isinstance(values, np.ma.MaskedArray):
        allowed = "an array without a mask, such as its .filled(value) or its .compressed()"
        raise InvalidArgument(name, values, allowed)


def as_numbers(name: str, values: Any) -> np.ndarray:
    """Return `values` as int32, int64, float32 or float64, without changing any of them.

    An array keeps its type, if it is one of these; booleans and shorter integers become int32,
    float16 becomes float32, and uint32, uint64 and long doubles become int64 or float64. Whole
    numbers in lists become int32 if all of them fit, or else int64; other numbers float64.

    Raises
    ------
    InvalidArgument
        If they are not real numbers, or the result cannot hold one of them: a whole number beyond
        int64, or one that would be rounded because other numbers of the list are floats.
    """
    array = as_array(name, values)
    if not hasattr(values, "dtype") and array.dtype.kind in "Of" and array.size:
        items = np.asarray(values, dtype=object)
        whole = [isinstance(value, int | np.integer) for value in items.flat]
        if all(whole):
            _refuse_first(name, items, ~_within(items, np.int64), "from -2^63 to 2^63 - 1 (int64)")
        if array.dtype.kind == "f":
            changed = np.reshape(whole, items.shape) & (items != array.astype(object))
            allowed = "a number that float64 holds exactly, because it stands among floats"
            _refuse_first(name, items, changed, allowed)
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind not in "biuf":
        raise InvalidArgument(f"{name}.dtype", str(array.dtype), "an integer or float type")
    if kind == "f":
        held = array.astype(np.float32 if size <= 4 else np.float64, copy=False)
        if size > 8:
            changed = (held != array) & ~np.isnan(array)
            _refuse_first(name, array, changed, "a number that float64 holds exactly")
        return held
    if kind == "u" and size == 8:
        _refuse_first(name, array, array > np.iinfo(np.int64).max, "at most 2^63 - 1 (int64)")
    if not hasattr(values, "dtype"):
        return narrowed(array)
    short = size < 4 or (kind == "i" and size == 4)
    return array.astype(np.int32 if short else np.int64, copy=False)


def narrowed(whole: np.ndarray) -> np.ndarray:
    """Return whole numbers as int32 if all of them fit, otherwise as int64."""
    fit = bool(_within(whole, np.int32).all())
    return whole.astype(np.int32 if fit else np.int64, copy=False)


def _within(values: np.ndarray, kind: Any) -> np.ndarray:
    limits = np.iinfo(kind)
    return (values >= int(limits.min)) & (values <= int(limits.max))


def _refuse_first(name: str, values: np.ndarray, wrong: Any, allowed: str) -> None:
    """Raise InvalidArgument for the first wrong element, if there is one."""
    if wrong.any():
        at = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        value = values[at]
        raise InvalidArgument(f"{name}[{', '.join(map(str, at))}]", as_python(value), allowed)
