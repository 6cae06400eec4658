"""The operations of `atomics` as plain Python, for where nothing is compiled: one thread runs."""

from __future__ import annotations

from typing import Any


def read(array: Any, index: int) -> Any:
    """Return ``array[index]``."""
    return array[index]


def add(array: Any, index: int, value: Any) -> Any:
    """Add `value` to an element; return what was there before."""
    before = array[index]
    array[index] = before + value
    return before


def lower(array: Any, index: int, value: Any) -> Any:
    """Keep the less of an element and `value`; return what was there before."""
    before = array[index]
    array[index] = min(before, value)
    return before


def exchange(array: Any, index: int, value: Any) -> Any:
    """Replace an element by `value`; return what was there before."""
    before = array[index]
    array[index] = value
    return before


def replace(array: Any, index: int, expected: Any, value: Any) -> bool:
    """Put `value` where `expected` is; return whether it was there."""
    is_equal = array[index] == expected
    if is_equal:
        array[index] = value
    return bool(is_equal)
