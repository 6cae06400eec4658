"""Atomic operations: lanes that meet on one element take their turn.

In thread order, which a reader can predict; under the random schedule in an order that is drawn,
because hardware promises none.
"""

from __future__ import annotations

import numpy as np

from gpukernels.simt.run.lanes import each
from gpukernels.simt.run.memory import IS_NARROW
from gpukernels.trace import ATOMIC

#: Beyond this many lanes on one element, that element is served on its own.
_CROWD = 32


def _wrap_increment(old, limit):
    return np.where(old >= limit, 0, old + 1)


def _wrap_decrement(old, limit):
    return np.where((old == 0) | (old > limit), limit, old - 1)


def _second(old, value):
    return value


def _maximum(old, value):
    # A NaN that is there stays, one that comes is passed over.
    return np.where(old != old, old, np.fmax(old, value))


def _minimum(old, value):
    return np.where(old != old, old, np.fmin(old, value))


COMBINE = {
    "add": np.add,
    "sub": np.subtract,
    "and_": np.bitwise_and,
    "or_": np.bitwise_or,
    "xor": np.bitwise_xor,
    "max": _maximum,
    "min": _minimum,
    # nanmax and nanmin return the number where the other is not one, as fmax and fmin do.
    "nanmax": np.fmax,
    "nanmin": np.fmin,
    "inc": _wrap_increment,
    "dec": _wrap_decrement,
    "exch": _second,
}


def atomic(memory, op, active, index, value, compare, where):
    """Apply an operation to ``memory[index]`` for every active thread; return the old values.

    Parameters
    ----------
    memory : Memory
        The array.
    op : str
        A key of ``COMBINE``, or ``"cas"`` (then `compare` holds the expected values).
    index : numpy.ndarray or scalar
        Flat element index, already located.
    """
    if memory.storage is None:  # a Choice
        return memory.each(
            active,
            lambda array, threads, i, v, c: atomic(array, op, threads, i, v, c, where),
            index,
            value,
            compare,
        )
    memory = memory.storage
    memory.writable(active, index, where)
    dtype = memory.dtype
    value = each(active, value.astype(dtype, copy=False))
    if memory.recorder is not None:
        memory._record(ATOMIC, active, index, value, where)
    at = each(active, memory.offset(active, index))
    if IS_NARROW:
        at = at.astype(np.intp)
    memory.watch(ATOMIC, active, at, where)
    if compare is not None:
        compare = each(active, compare.astype(dtype, copy=False))
    order, starts = _turns(at, memory.run.turns)
    old = _in_turn(memory.flat, op, at, value, compare, order, starts)
    races = memory.run.races
    if races is not None and races.flags is not None:
        races.flags.update(memory, active, at, order, None if compare is None else old == compare)
    return old


def _turns(at, drawn):
    """Return (order, where in it each element begins), or None twice if no two meet.

    `drawn` is a random generator, or None for thread order.
    """
    if at.size == 1:
        return None, None
    order = np.argsort(at, kind="stable")
    sorted_at = at[order]
    starts = np.flatnonzero(np.concatenate(([True], sorted_at[1:] != sorted_at[:-1])))
    if starts.size == at.size:
        return None, None
    if drawn is not None:
        mixed = drawn.permutation(at.size)
        order = mixed[np.argsort(at[mixed], kind="stable")]
    return order, starts


def _in_turn(flat, op, at, value, compare, order, starts):
    """Apply the operation turn after turn; return the old values."""
    if order is None:
        old = flat.take(at)
        flat[at] = _apply(op, old, value, compare)
        return old
    sorted_at = at[order]
    counts = np.diff(np.append(starts, at.size))
    value = value[order]
    compare = None if compare is None else compare[order]
    sorted_old = np.empty(at.size, flat.dtype)
    for turn in range(min(int(counts.max()), _CROWD)):
        now = starts[(counts > turn) & (counts <= _CROWD)] + turn
        if now.size == 0:
            break
        cell = sorted_at[now]
        old = flat.take(cell)
        sorted_old[now] = old
        flat[cell] = _apply(op, old, value[now], None if compare is None else compare[now])
    for start, count in zip(starts[counts > _CROWD], counts[counts > _CROWD], strict=True):
        piece = slice(start, start + count)
        cell = sorted_at[start]
        expected = None if compare is None else compare[piece]
        sorted_old[piece], flat[cell] = _serve(op, flat[cell], value[piece], expected)
    result = np.empty(at.size, flat.dtype)
    result[order] = sorted_old
    return result


def _apply(op, old, value, compare):
    if op == "cas":
        return np.where(old == compare, value, old)
    return COMBINE[op](old, value).astype(old.dtype, copy=False)


def _serve(op, current, value, compare):
    """Serve many lanes on one element; return the old values and the final one."""
    if op in ("max", "min") and current == current:
        op = f"nan{op}"
    combine = COMBINE.get(op)
    if op == "sub":
        combine, value = np.add, -value
    if isinstance(combine, np.ufunc):
        run = combine.accumulate(np.concatenate(([current], value)), dtype=value.dtype)
        return run[:-1], run[-1]
    old = np.empty_like(value)
    for i in range(value.size):
        old[i] = current
        current = _apply(op, current, value[i], None if compare is None else compare[i])
    return old, current
