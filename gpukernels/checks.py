"""Checks of what callers give: whole numbers, flags, names of choices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from gpukernels.errors import InvalidArgument


def as_python(value: Any) -> Any:
    """Return a NumPy scalar as the Python number that it is, and all else as it is.

    Sums and products of NumPy's narrow integers wrap; those of Python's do not.
    """
    return value.item() if isinstance(value, np.generic) else value


def options_as_python(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options by name, each as :func:`as_python` returns it."""
    return {name: as_python(value) for name, value in options.items()}


def is_whole(value: object) -> bool:
    """Return whether `value` is an integer, Python's or NumPy's, and no bool."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def check_whole(name: str, value: int, low: int, high: int) -> int:
    """Return `value` as a Python number; InvalidArgument unless whole and from `low` to `high`."""
    if not is_whole(value) or not low <= value <= high:
        raise InvalidArgument(name, value, f"a whole number from {low} to {high}")
    return int(value)


def check_choice(name: str, value: object, choices: Iterable[str]) -> None:
    """Raise InvalidArgument if `value` is not the name of one of `choices`."""
    choices = tuple(choices)
    if not isinstance(value, str) or value not in choices:
        raise InvalidArgument(name, value, f"one of {choices}")


def check_flag(name: str, value: object) -> bool:
    """Return `value` as a Python bool; InvalidArgument unless it is True or False, NumPy's too.

    Numbers and words are refused: ``directed="no"`` would count as true, and ``0 is False`` is not.
    """
    if not isinstance(value, bool | np.bool_):
        raise InvalidArgument(name, value, "True or False")
    return bool(value)
