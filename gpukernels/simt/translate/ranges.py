"""Ranges as values: a tuple of start, stop and step."""

from __future__ import annotations

import numpy as np

from gpukernels.simt.errors import KernelTypeError
from gpukernels.simt.translate import typing
from gpukernels.simt.translate.values import RANGE, TupleType, Value


def of(t, node, hint=None):
    """Return the value of ``range(...)`` as a tuple of start, stop and step."""
    bounds = [t.integer(t.expression(a), node) for a in node.args]
    if node.keywords or not 1 <= len(bounds) <= 3:
        raise t.refuse("range() takes one to three arguments", node, KernelTypeError)
    dtype = typing.counter([b.type for b in bounds])
    if len(bounds) == 1:
        bounds.insert(0, t.literal(0))
    if len(bounds) == 2:
        bounds.append(t.literal(1))
    bounds = [t.cast(b, dtype) for b in bounds]
    step = bounds[2].constant
    if step == 0:
        raise t.refuse("the step of range() must not be 0", node)
    if step is None:
        t.emit(f"run.step_of_range({t.active}, {bounds[2].code}, {t.where})")
    return Value(TupleType((dtype,) * 3, RANGE), items=bounds)


def length(t, items) -> Value:
    """Return the number of rounds of a range of `items`: start, stop and step."""
    t.program.namespace["rounds_of"] = rounds_of
    code = t.temporary(f"rounds_of({', '.join(item.code for item in items)})")
    return Value(typing.INT64, code, fresh=True)


def rounds_of(start, stop, step):
    """Return how many numbers ``range(start, stop, step)`` has, as int64."""
    start, stop, step = (
        np.int64(v) if np.ndim(v) == 0 else v.astype(np.int64) for v in (start, stop, step)
    )
    ahead = np.where(step > 0, stop - start, start - stop)
    return np.maximum(0, -(-ahead // np.abs(step)))[()]


def has(number, start, stop, step):
    """Return whether a range has `number`."""
    inside = np.where(
        step > 0, (start <= number) & (number < stop), (stop < number) & (number <= start)
    )
    return (inside & ((number - start) % step == 0))[()]
