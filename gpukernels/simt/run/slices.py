"""Slices and rows of arrays: the same memory, seen from another origin.

A slice may begin at a different element for every thread, as ``a[i:]`` does. So its origin and its
lengths are each one number, or an array with one number per thread of the group.
"""

from __future__ import annotations

import numpy as np

from gpukernels.simt.errors import OutOfBounds
from gpukernels.simt.run.memory import from_end, from_the_end


class Slice:
    """A part of an array.

    Parameters
    ----------
    storage : Memory
        The array that holds the elements.
    origin : numpy.int64 or ndarray
        Flat index of the first element in `storage`; an array has one per thread of the group.
    lengths, strides : tuple
        Length (like `origin`) and step in elements (an int) of each dimension.
    """

    def __init__(self, storage, origin, lengths, strides):
        self.storage = storage
        self.origin = origin
        self.lengths = lengths
        self.strides = strides

    def dim(self, active, axis):
        """Return the length along `axis` as the active threads see it."""
        return _seen(self.lengths[axis], active)

    def locate(self, active, index, where):
        """Check an index (a tuple in several dimensions); return the flat index in the storage."""
        linear = _seen(self.origin, active)
        for axis, i in enumerate(index if index.__class__ is tuple else (index,)):
            length = self.dim(active, axis)
            i = i.astype(np.int64, copy=False)
            if self.storage.run.wraparound:
                i = from_end(length, i)
            outside = (i < 0) | (i >= length)
            if outside.any():
                at = int(np.argmax(np.broadcast_to(outside, active.n)))
                value = np.broadcast_to(i, active.n)[at]
                size = np.broadcast_to(length, active.n)[at]
                raise self.storage.run.error(
                    OutOfBounds,
                    f"index {value} is out of bounds for a slice of `{self.storage.name}`, which "
                    f"has {size} elements here{from_the_end(value, size)}",
                    where,
                    active,
                    at,
                )
            linear = linear + i * self.strides[axis]
        return linear

    def get(self, active, index, where):
        """Return the elements at `index`, after :meth:`locate`."""
        return self.storage.load(active, self.locate(active, index, where), where)

    def put(self, active, index, value, where):
        """Write `value` at `index`, after :meth:`locate`."""
        self.storage.store(active, self.locate(active, index, where), value, where)

    def load(self, active, index, where):
        """Return the elements at `index` (already located)."""
        return self.storage.load(active, index, where)

    def store(self, active, index, value, where):
        """Write `value` at `index` (already located)."""
        self.storage.store(active, index, value, where)


def cut(array, active, parts, where):
    """Return the slice that `parts` cut out of an array or slice.

    Parameters
    ----------
    parts : sequence
        For each dimension an index, which drops it, or (start, stop, step), each perhaps None;
        dimensions without a part stay whole.
    """
    if array.storage is None:  # a Choice
        return array.derived(active, lambda a, threads, p: cut(a, threads, p, where), parts)
    if isinstance(array, Slice):
        origin, lengths, strides = _seen(array.origin, active), array.lengths, array.strides
    else:
        origin, lengths, strides = np.int64(0), array.dims, array.strides
    kept_lengths, kept_strides = [], []
    for axis, stride in enumerate(strides):
        length = _seen(lengths[axis], active)
        part = parts[axis] if axis < len(parts) else (None, None, None)
        if isinstance(part, tuple):
            start, count, step = _range(part, length)
            kept_lengths.append(_kept(count, active))
            kept_strides.append(stride * int(step))
            origin = origin + start * stride
        else:
            whole = Slice(array.storage, np.int64(0), (_kept(length, active),), (stride,))
            origin = origin + whole.locate(active, part, where)
    return Slice(array.storage, _kept(origin, active), tuple(kept_lengths), tuple(kept_strides))


def _range(part, length):
    """Return (start, count, step) as Python cuts a sequence of `length`."""
    start, stop, step = part
    step = np.int64(1) if step is None else step
    low, high = (0, length) if step > 0 else (-1, length - 1)
    start = (low if step > 0 else high) if start is None else _clamp(start, length, low, high)
    stop = (high if step > 0 else low) if stop is None else _clamp(stop, length, low, high)
    ahead = stop - start if step > 0 else start - stop
    count = np.maximum(0, -(-ahead // abs(step)))
    return np.int64(start) if np.ndim(start) == 0 else start, count, step


def _clamp(value, length, low, high):
    value = value.astype(np.int64)
    return np.clip(np.where(value < 0, value + length, value), low, high)[()]


def _seen(value, active):
    """Return `value` for the active threads: one number, or one per active thread."""
    return value if np.ndim(value) == 0 else value.take(active.slots)


def _kept(value, active):
    """Return `value`, of the active threads, as one number or as one per thread of the group."""
    if np.ndim(value) == 0:
        return np.int64(value)
    kept = np.zeros(active.frame.group.count, np.int64)
    kept[active.slots] = value
    return kept
