"""Array variables that hold another array for some threads, as pointers do.

``if lane % 2: src, dst = dst, src`` is legal on a GPU. Parts of one array with equal strides stay
one :class:`~gpukernels.simt.run.slices.Slice`, whose origin differs by thread; other arrays become
a :class:`Choice`, which serves the threads of each array in turn.
"""

from __future__ import annotations

import numpy as np

from gpukernels.simt.errors import KernelError
from gpukernels.simt.run.lanes import _part
from gpukernels.simt.run.slices import Slice, _seen


class Choice:
    """One of several arrays for each thread.

    The warps whose lanes hold different arrays make one memory request for each of them.

    Parameters
    ----------
    arrays : list of Memory or Slice
        The arrays to choose from.
    which : numpy.ndarray
        Number of the array that each thread of the group holds.
    """

    #: The array that holds the elements differs by thread.
    storage = None

    def __init__(self, arrays, which):
        self.arrays = arrays
        self.which = which

    def parts(self, active):
        """Yield each array with the active threads that hold it and their positions."""
        which = self.which[active.slots]
        for number, array in enumerate(self.arrays):
            at = np.flatnonzero(which == number)
            if at.size:
                yield array, active if at.size == active.n else _part(active, at), at

    def each(self, active, operation, *values):
        """Return ``operation(array, threads, *values)`` as one value per thread, or None.

        The operation gets the values of its threads alone.
        """
        result = None
        for array, threads, at in self.parts(active):
            got = operation(array, threads, *(_values_at(v, at) for v in values))
            if got is not None:
                if result is None:
                    result = np.empty(active.n, got.dtype)
                result[at] = got
        return result

    def derived(self, active, operation, *values):
        """Return the choice of the results of ``operation(array, threads, *values)``."""
        arrays, which = [], np.zeros_like(self.which)
        for array, threads, at in self.parts(active):
            which[threads.slots] = len(arrays)
            arrays.append(operation(array, threads, *(_values_at(v, at) for v in values)))
        return Choice(arrays, which)

    def dim(self, active, axis):
        """Return the length along `axis` as the active threads see it."""
        return self.each(active, lambda array, threads: array.dim(threads, axis))

    def locate(self, active, index, where):
        """Check an index; return the flat index in the storage of each thread's array."""
        return self.each(active, lambda array, threads, i: array.locate(threads, i, where), index)

    def get(self, active, index, where):
        """Return the elements at `index`, after :meth:`locate`."""
        return self.each(active, lambda array, threads, i: array.get(threads, i, where), index)

    def put(self, active, index, value, where):
        """Write `value` at `index`, after :meth:`locate`."""
        self.each(
            active, lambda array, threads, i, v: array.put(threads, i, v, where), index, value
        )

    def load(self, active, index, where):
        """Return the elements at `index` (already located)."""
        return self.each(active, lambda array, threads, i: array.load(threads, i, where), index)

    def store(self, active, index, value, where):
        """Write `value` at `index` (already located)."""
        self.each(
            active, lambda array, threads, i, v: array.store(threads, i, v, where), index, value
        )


def _values_at(value, at):
    """Return the values at positions `at`, if there is one per thread; leave a shared value."""
    if isinstance(value, tuple):
        return tuple(_values_at(v, at) for v in value)
    return value if np.ndim(value) == 0 else value[at]


def rebind(active, old, new, name, where):
    """Return what an array variable holds after `active` set it to `new`."""
    frame = active.frame
    live = frame.size - (0 if frame.done is None else int(frame.done.sum()))
    return new if active.n >= live else join_results(active, old, new, name, where)


def join_results(active, old, new, name, where):
    """Return a function's result, which is `new` for `active` and `old` (or None) for others."""
    if old is None or old is new or active.full:
        return new
    arrays = list(old.arrays) if isinstance(old, Choice) else [old]
    count = active.frame.group.count
    which = old.which.copy() if isinstance(old, Choice) else np.zeros(count, np.int64)
    parts = new.parts(active) if isinstance(new, Choice) else [(new, active, None)]
    for array, threads, _ in parts:
        which[threads.slots] = _place_of(array, threads, arrays)
    held = np.unique(which[active.frame.slots])
    if held.size == 1:
        return arrays[held[0]]
    if arrays[0].storage.dtype.fields is not None:
        raise active.frame.group.run.error(
            KernelError,
            f"{name} is another array of records for some threads only; the machine needs all of "
            "them to take the same one, or parts of one with equal strides",
            where,
            active,
            0,
        )
    arrays = [arrays[number] for number in held]
    return Choice(arrays, held.searchsorted(which))


def _place_of(array, threads, arrays):
    """Return where `array` is among `arrays`, put there for `threads` if it is not."""
    for number, known in enumerate(arrays):
        if known is array:
            return number
    new = _whole(array)
    for number, known in enumerate(arrays):
        old = _whole(known)
        if old.storage is new.storage and old.strides == new.strides:
            lengths = (
                _mixed(*pair, threads) for pair in zip(old.lengths, new.lengths, strict=True)
            )
            origin = _mixed(old.origin, new.origin, threads)
            arrays[number] = Slice(new.storage, origin, tuple(lengths), new.strides)
            return number
    arrays.append(array)
    return len(arrays) - 1


def _whole(array):
    if isinstance(array, Slice):
        return array
    return Slice(array, np.int64(0), array.dims, array.strides)


def _mixed(old, new, active):
    """Return `new` for the active threads and `old` for the others."""
    if np.ndim(old) == np.ndim(new) == 0 and old == new:
        return old
    mixed = np.full(active.frame.group.count, old) if np.ndim(old) == 0 else old.copy()
    mixed[active.slots] = _seen(new, active)
    return mixed
