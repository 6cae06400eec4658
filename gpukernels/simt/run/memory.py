"""Memory as a kernel sees it: bounds, storage and the record of every request.

All arrays are addressed by a flat element index. Shared memory holds one copy per block, local
memory one per thread; both record which elements have been written.
"""

from __future__ import annotations

import sys
import weakref

import numpy as np

from gpukernels.simt.errors import (
    LaunchError,
    OutOfBounds,
    ReadOnlyArray,
    UninitializedRead,
)
from gpukernels.trace import LOAD, STORE, WARP_SIZE


def _flat(data, name):
    """Return a 1-D view of all memory that `data` spans, and its strides in elements."""
    item = data.dtype.itemsize
    if data.size and any(s < 0 or s % item for s in data.strides):
        raise LaunchError(
            f"array `{name}` has strides {data.strides}; allowed are non-negative multiples of its "
            f"item size {item} (pass a copy)"
        )
    strides = tuple(s // item for s in data.strides)
    if data.flags.c_contiguous:
        return data.reshape(-1), strides
    span = 1 + sum((n - 1) * s for n, s in zip(data.shape, strides, strict=True))
    writeable = data.flags.writeable
    return np.lib.stride_tricks.as_strided(data, (span,), (item,), writeable=writeable), strides


#: id of an array made by :func:`uninitialized` -> (elements that kernels have written, pattern)
_uninitialized = {}
#: Every byte of such elements, so that a change by the host is noticed.
_FILL = 0xA5


def uninitialized(shape, dtype):
    """Return an array whose elements count as unwritten until a kernel or the host writes them.

    Examples
    --------
    >>> from gpukernels import simt
    >>> simt.uninitialized(4, "int32").shape
    (4,)
    """
    dtype = np.dtype(dtype)
    data = np.empty(shape, dtype)
    if dtype.kind != "b" and data.size:
        data.reshape(-1).view(np.uint8)[:] = _FILL
        if dtype.fields is not None:  # fields of one size are kept together, by size
            _remember(data, {}, None)
        else:
            _remember(data, np.zeros(data.size, dtype=bool), fill_pattern(dtype))
    return data


def fill_pattern(dtype):
    """Return the bits of an unwritten element of type `dtype`."""
    word = np.dtype(f"u{dtype.itemsize}" if dtype.itemsize <= 8 else f"V{dtype.itemsize}")
    return np.frombuffer(bytes([_FILL]) * dtype.itemsize, word)[0]


def _remember(data, written, pattern):
    _uninitialized[id(data)] = (written, pattern)
    weakref.finalize(data, _uninitialized.pop, id(data), None)


#: NumPy's type for indices; on 32 bits, as in a browser, it holds less than a kernel's int64.
_INDEX = np.dtype(np.intp)
IS_NARROW = _INDEX.itemsize < 8


def _narrow(at):
    """Return places as indices: where copies or records lie is a sum of 64 bits."""
    return at.astype(_INDEX) if IS_NARROW else at


#: The byte of each index that holds its sign. A negative index makes it a non-ASCII character,
#: and the search for one is much faster than the search for the minimum.
_SIGN_BYTES = slice(_INDEX.itemsize - 1 if sys.byteorder == "little" else 0, None, _INDEX.itemsize)


def _wrapped(index, lengths):
    """Return an index whose negative numbers count from the end."""
    if index.__class__ is not tuple:
        return from_end(lengths[0], index)
    return tuple(from_end(n, i) for n, i in zip(lengths, index, strict=True))


def from_end(length, index):
    """Return `index` with its negative numbers counted from the end, as far as they reach."""
    if index.dtype.kind == "u" or not (index < 0).any():
        return index
    wide = index.astype(np.int64)
    return np.where((wide < 0) & (wide + length >= 0), wide + length, wide)[()]


def from_the_end(value, length) -> str:
    """Return what a message says about an index for which `wraparound` would find an element."""
    if not -length <= value < 0:
        return ""
    return "; numba counts it from the end, and so does the machine with `wraparound=True`"


class Memory:
    """An array in global memory.

    Parameters
    ----------
    run : Run
        The launch, for errors and the recorder.
    name : str
        The kernel's name for it.
    data : numpy.ndarray
        Any number of dimensions; changed in place by stores.
    space : str
        ``"global"`` or ``"const"``.
    """

    #: Whether all threads see one copy, so that an element's index says where it lies.
    one_copy = True

    def __init__(self, run, name, data, space="global"):
        self.run = run
        self.races = run.races
        if self.races is not None and not self.races.concern(name, space):
            self.races = None
        self.name = name
        self.space = space
        self.dtype = data.dtype
        self.shape = data.shape
        self.dims = tuple(np.int64(n) for n in data.shape)
        self.length = data.shape[0] if data.ndim else 0
        self.flat, self.strides = _flat(data, name)
        self._dense = self.strides[:1] == (1,)
        self._writable = data.flags.writeable and space != "const"
        self.written = self.pattern = self.shadow = None
        if run.check and id(data) in _uninitialized:
            self.written, self.pattern = _uninitialized[id(data)]
        self.recorder = run.recorder
        recorded = self.recorder is not None and data.dtype.fields is None
        self.number = self.recorder.array(self) if recorded else -1
        watched = self.written is not None or self.races is not None or self.recorder is not None
        self._bare = self.one_copy and self._dense and data.ndim == 1 and not watched
        self._bare_writable = self._bare and self._writable

    @property
    def storage(self):
        """The array that holds the elements; a slice has another one's."""
        return self

    def dim(self, active, axis):
        """Return the length along `axis`."""
        return self.dims[axis]

    def offset(self, active, index):
        """Return where element `index` lies in ``flat``."""
        return index

    def locate(self, active, index, where):
        """Check an index (a tuple in several dimensions); return the flat element index."""
        if self.run.wraparound:
            index = _wrapped(index, self.shape)
        if index.__class__ is not tuple:
            self._check(active, index, self.length, 0, where)
            if index.dtype is not _INDEX and (
                0 < index.ndim <= index.size <= WARP_SIZE or index.dtype == np.uint64 or IS_NARROW
            ):
                # NumPy gathers a warp's few elements fastest by an index of its own type; and one
                # of 64 unsigned bits becomes a float64 where a signed one is added.
                index = index.astype(_INDEX)
            return index if self._dense else index * self.strides[0]
        linear = np.int64(0)
        for axis, (i, n) in enumerate(zip(index, self.shape, strict=True)):
            self._check(active, i, n, axis, where)
            stride = self.strides[axis]
            part = i.astype(np.int64, copy=False)
            linear = linear + (part if stride == 1 else part * stride)
        return linear.astype(_INDEX) if IS_NARROW else linear

    def index_of(self, at) -> str:
        """Return how a kernel writes the index of the element at `at` in ``flat``."""
        index = [0] * len(self.shape)
        for axis in sorted(range(len(self.shape)), key=lambda a: -self.strides[a]):
            if self.strides[axis]:
                index[axis], at = divmod(at, self.strides[axis])
        return ", ".join(map(str, index))

    def _check(self, active, index, length, axis, where):
        if index.ndim == 0:
            inside = 0 <= index < length
        else:  # argmin is several times as fast as min, which is a reduction
            inside = index.item(index.argmin()) >= 0 and index.item(index.argmax()) < length
        if not inside:
            self._refuse(active, index, length, axis, where)

    def _refuse(self, active, index, length, axis, where):
        unsigned = np.broadcast_to(index.astype(np.uint64), active.n)
        bad = np.flatnonzero(unsigned >= length)[0]
        value = np.broadcast_to(index, active.n)[bad]
        along = f" along axis {axis}" if len(self.shape) > 1 else ""
        allowed = (
            f"allowed are 0 to {length - 1}" if length else "it is empty, so no index is allowed"
        )
        raise self.run.error(
            OutOfBounds,
            f"index {value} is out of bounds for `{self.name}`, which has {length} "
            f"elements{along}; {allowed}{from_the_end(value, length)}",
            where,
            active,
            bad,
        )

    def get(self, active, index, where):
        """Return the elements at `index`, after :meth:`locate`."""
        if not self._bare or index.size > WARP_SIZE or IS_NARROW:
            return self.load(active, self.locate(active, index, where), where)
        # A load by one warp, with no recorder and no check.
        at = index if index.dtype is _INDEX else index.astype(_INDEX)
        if at.tobytes()[_SIGN_BYTES].isascii():
            try:
                return self.flat[at]
            except IndexError:
                pass
        return self.load(active, self.locate(active, index, where), where)

    def put(self, active, index, value, where):
        """Write `value` at `index`, after :meth:`locate`."""
        bare = self._bare_writable and not IS_NARROW
        if bare and index.size <= WARP_SIZE and value.ndim <= index.ndim:
            at = index if index.dtype is _INDEX else index.astype(_INDEX)
            if at.tobytes()[_SIGN_BYTES].isascii():
                try:  # an index beyond the end is found before anything is written
                    self.flat[at] = value
                    return
                except IndexError:
                    pass
        self.store(active, self.locate(active, index, where), value, where)

    def load(self, active, index, where):
        """Return the elements at `index` (already located)."""
        at = _narrow(index if self.one_copy else self.offset(active, index))
        if self.written is not None:
            self._check_written(active, at, where)
        if self.races is not None:
            self._check_race(LOAD, active, at, where)
        # NumPy gathers faster with `take`, except for the few elements of a warp.
        value = self.flat.take(at) if at.size > WARP_SIZE else self.flat[at]
        if self.recorder is not None:
            self._record(LOAD, active, index, value, where)
        return value

    def store(self, active, index, value, where):
        """Write `value` at `index` (already located); the last lane on an element wins."""
        self.writable(active, index, where)
        value = value.astype(self.dtype, copy=False)
        if self.recorder is not None:
            self._record(STORE, active, index, value, where)
        at = _narrow(index if self.one_copy else self.offset(active, index))
        if self.races is not None:
            self._check_race(STORE, active, at, where)
        if at.ndim == 0 and value.ndim:
            value = value[-1]
        self.flat[at] = value
        if self.written is not None:
            self._mark(at)

    def watch(self, kind, active, at, where):
        """Check an access to elements, given by where they lie in ``flat``, that reads them."""
        if self.written is not None:
            self._check_written(active, at, where)
        if self.races is not None:
            self._check_race(kind, active, at, where)

    def _check_race(self, kind, active, at, where):
        self.races.check(self, kind, active, at, where)

    def _known(self, at):
        known = self.written.take(at)
        if self.pattern is not None:  # the host may have written without telling
            known = known | (self.flat.view(self.pattern.dtype).take(at) != self.pattern)
        return known

    def _mark(self, at):
        self.written[at] = True

    def _record(self, kind, active, index, value, where):
        # The trace keeps one float64 a lane.
        self.recorder.request(self, kind, active, index, value.real, where)

    def writable(self, active, index, where):
        """Raise :class:`ReadOnlyArray` if nothing may be stored here; `index` is located."""
        if not self._writable:
            error = self.run.error(
                ReadOnlyArray,
                f"`{self.name}` is read-only; pass a copy (`device.array(...)`) to write to it",
                where,
                active,
                0,
            )
            error.array = self.name
            error.element = self.index_of(int(np.broadcast_to(index, active.n)[0]))
            raise error

    def _check_written(self, active, at, where):
        known = self._known(at)
        if not known.all():
            bad = int(np.argmin(np.broadcast_to(known, active.n)))
            error = self.run.error(
                UninitializedRead,
                f"{self.space} array `{self.name}` is read at an element that nothing has written",
                where,
                active,
                bad,
            )
            error.array = self.name
            self.run.report(error)
            self._mark(at)


def duplicate(data):
    """Return a copy of an array in which the same elements count as unwritten."""
    copy = np.array(data, copy=True)
    if id(data) in _uninitialized and copy.flags.c_contiguous:
        written, pattern = _uninitialized[id(data)]
        if isinstance(written, dict):
            written = {unit: known.copy() for unit, known in written.items()}
        else:
            written = written.copy()
        _remember(copy, written, pattern)
    return copy


class BlockMemory(Memory):
    """A shared array: one copy for each block of the wave."""

    one_copy = False

    def __init__(self, run, name, shape, dtype, first_block, blocks):
        self.cells = int(np.prod(shape, dtype=np.int64))
        self.first_block = first_block
        super().__init__(run, name, np.empty(shape, dtype), "shared")
        self.flat = np.zeros(blocks * self.cells, dtype)
        if run.check:
            self.written = np.zeros(self.flat.size, dtype=bool)

    def index_of(self, at) -> str:
        """Return how a kernel writes the index of the element at `at` in ``flat``."""
        return super().index_of(at % max(self.cells, 1))

    def offset(self, active, index):
        """Return where an element of the block's own copy lies in ``flat``."""
        group = active.frame.group
        block = group.only_block
        if block is None:
            block = group.block_of(active.slots)
        return index + (block - self.first_block) * self.cells


class ThreadMemory(Memory):
    """A local array: one copy for each thread of the group."""

    one_copy = False

    def __init__(self, run, name, shape, dtype, group):
        self.cells = int(np.prod(shape, dtype=np.int64))
        super().__init__(run, name, np.empty(shape, dtype), "local")
        self.flat = np.zeros(group.count * self.cells, dtype)
        if run.check:
            self.written = np.zeros(self.flat.size, dtype=bool)

    def offset(self, active, index):
        """Return where an element of the thread's own copy lies in ``flat``."""
        return index + active.slots * self.cells
