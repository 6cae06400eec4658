"""The printed forms of results: the outcome and the shapes of arrays, not the arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np


def shape_of(array: Any) -> str:
    """Return type and shape of an array, such as ``int32 (34,)``; ``none`` for None."""
    return "none" if array is None else f"{array.dtype} {array.shape}"


def record_summary(record: Any) -> str:
    """Return the printed form of a record: its fields by name, arrays by type and shape."""
    values = ((field.name, getattr(record, field.name)) for field in fields(record))
    shown = (f"{k}={shape_of(v) if isinstance(v, np.ndarray) else repr(v)}" for k, v in values)
    return f"{type(record).__name__}({', '.join(shown)})"


def by_method(stats: Mapping[str, Any]) -> str:
    """Return the method that has run, and the reason if the caller did not choose it."""
    why = f", as {stats['why']}" if "why" in stats else ""
    return f"{stats.get('method')}{why}"


def search_summary(result: Any, by: str = "") -> str:
    """Return the printed line of a search from one root: reach, levels, shapes."""
    reached = int((result.distance >= 0).sum())
    return (
        f"{type(result).__name__}{by}: {reached:,} of {result.distance.size:,} vertices in "
        f"{result.levels:,} {'level' if result.levels == 1 else 'levels'}; "
        f"distance {shape_of(result.distance)}, parent {shape_of(result.parent)}"
    )
