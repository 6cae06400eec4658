"""Fields of structured arrays: each is memory of its own, laid over the bytes of the records.

Requests, races and unwritten memory are recorded for each field. A request numbers its elements in
units of the field's size from the start of the array, so that ``index * itemsize`` is the byte
address. With it the metrics can tell an array of structures from a structure of arrays. A field
whose address is no multiple of its size is moved byte by byte, as on a device.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np

from gpukernels.simt.run.memory import Memory, fill_pattern
from gpukernels.simt.run.shadow import Shadow
from gpukernels.simt.run.slices import Slice, _kept, _seen

_BYTE = np.dtype(np.uint8)


@dataclass(frozen=True)
class Field:
    """A field of a record type.

    Attributes
    ----------
    name : str
        Its name, with those of the records around it: ``"position.x"``.
    offset : int
        Bytes from the start of the record.
    dtype : numpy.dtype
        Type of an element; a record type for a record within the record.
    shape : tuple of int
        Empty unless it is an array within the record.
    """

    name: str
    offset: int
    dtype: np.dtype
    shape: tuple = ()

    def part(self, name) -> Field:
        """Return a field of this field, which is a record."""
        inner = field_of(self.dtype, name)
        return replace(inner, name=f"{self.name}.{name}", offset=self.offset + inner.offset)


@functools.cache
def field_of(dtype, name) -> Field:
    """Return the field `name` of a record type; KeyError where it has none."""
    kind, offset = dtype.fields[name][:2]
    base, shape = kind.subdtype or (kind, ())
    return Field(name, offset, base, shape)


def part_of_complex(dtype, name) -> Field:
    """Return ``real`` or ``imag`` of complex numbers, as if these were records."""
    half = np.dtype(f"f{dtype.itemsize // 2}")
    return Field(name, 0 if name == "real" else half.itemsize, half)


@functools.cache
def leaves(dtype) -> tuple[Field, ...]:
    """Return all fields of a record type that are numbers or arrays of numbers."""
    numbers, waiting = [], [field_of(dtype, name) for name in dtype.names]
    while waiting:
        field = waiting.pop(0)
        if field.dtype.fields is None:
            numbers.append(field)
        else:
            waiting += [field.part(name) for name in field.dtype.names]
    return tuple(numbers)


class FieldMemory(Memory):
    """One field of all records of an array, addressed in units of its size (or in bytes).

    Parameters
    ----------
    parent : Memory
        The array of records.
    field : Field
        A number, or an array of numbers.
    """

    def __init__(self, parent, field):
        run = self.run = parent.run
        self.parent = parent
        self.name = f"{parent.name}.{field.name}"
        self.space, self.one_copy = parent.space, parent.one_copy
        self.dtype = field.dtype
        size, item = parent.dtype.itemsize, field.dtype.itemsize
        self.unit = item if size % item == field.offset % item == 0 else 1
        self.per_record, self.first = size // self.unit, field.offset // self.unit
        #: Units from one element of an array within the record to the next.
        self.step = item // self.unit
        data = parent.flat.view(_BYTE)
        units = (data.size - item) // self.unit + 1 if data.size else 0
        self.flat = np.ndarray((units,), self.dtype, data, 0, (self.unit,))
        self.shape = (units * self.step,)  # of the trace
        self._writable = parent._writable
        self._bare = self._bare_writable = False
        self.recorder = run.recorder
        if self.recorder is not None:
            self._bytewise = self.step > 1
            self.number = self.recorder.array(_Bytes(self) if self._bytewise else self)
        self.races = parent.races
        if self.races is not None and not self.races.concern(self.name, self.space):
            self.races = None
        self.shadow = self.written = self.pattern = None
        if self.races is not None:
            cells = data.size // self.unit
            self.shadow = _common(parent, "shadow", self.unit, lambda: Shadow(cells))
        if parent.written is not None:
            self._follow(parent, data.size // self.unit)

    def _follow(self, parent, cells):
        """Know which of the elements have been written."""
        if isinstance(parent.written, dict):  # of an array that outlives the launch
            if self.dtype.kind == "b":
                return
            self.pattern = fill_pattern(self.dtype)
            if self.unit not in parent.written:
                parent.written[self.unit] = np.zeros(cells, dtype=bool)
            self.written = parent.written[self.unit]
        elif parent.dtype.kind != "c":
            fresh = functools.partial(np.zeros, cells, dtype=bool)
            self.written = _common(parent, "written", self.unit, fresh)

    def store(self, active, index, value, where):
        """Write `value` at `index` (already located)."""
        super().store(active, index, value, where)
        whole = self.parent.written
        if self.dtype.kind == "f" and self.parent.dtype.kind == "c" and whole is not None:
            whole[self.offset(active, index) // self.per_record] = True

    def at(self, record):
        """Return the index of this field (its first element) of records, given by their index."""
        return record * self.per_record + self.first

    def offset(self, active, index):
        """Return where an element of the block's or thread's own copy lies in ``flat``."""
        return self.parent.offset(active, np.int64(0)) * self.per_record + index

    def index_of(self, at) -> str:
        """Return how a kernel writes the index of the record that holds the element at `at`."""
        return self.parent.index_of(at // self.per_record)

    def _record(self, kind, active, index, value, where):
        if not self._bytewise:
            self.recorder.request(self, kind, active, index, value.real, where)
            return
        for byte in range(self.step):
            self.recorder.request(self, kind, active, index + byte, value.real, where)


class _Bytes:
    """A field that is moved byte by byte, as the trace sees it."""

    dtype = _BYTE

    def __init__(self, memory):
        self.name, self.space, self.shape = memory.name, memory.space, memory.shape


def _common(parent, what, unit, make):
    """Return the object that fields of one size share, the same for one array in two arguments."""
    if parent.one_copy:
        owner, place = parent.run, parent.flat.__array_interface__["data"][0]
    else:
        owner, place = getattr(parent, "buffer", parent), 0
    tables = owner.__dict__.setdefault("record_tables", {})
    key = (what, place, parent.flat.nbytes, unit)
    if key not in tables:
        tables[key] = make()
    return tables[key]


def argument(run, name, value) -> Slice:
    """Return a reference to a record that is an argument; see :func:`write_back`."""
    data = np.array(value)
    run.__dict__.setdefault("record_arguments", []).append((value, data))
    return Slice(Memory(run, name, data), np.int64(0), (), ())


def write_back(run):
    """Copy the kernel's writes into the records that were arguments, as numba does."""
    for value, data in run.__dict__.get("record_arguments", ()):
        for name in data.dtype.names:
            value[name] = data[name]


def field_memory(array, field) -> FieldMemory:
    """Return the memory of a field of `array`, an array of records or a part of one."""
    known = array.storage.__dict__.setdefault("fields", {})
    if field not in known:
        known[field] = FieldMemory(array.storage, field)
    return known[field]


def _records(array, active, record):
    """Return the indices of the records: `record`, or the index in a reference to one."""
    return _seen(array.origin, active) if record is None else record


def load_field(array, field, active, record, where):
    """Return a field of each thread's record.

    Parameters
    ----------
    array : Memory or Slice
        The records; with ``record=None``, a reference to one record per thread.
    record : numpy.ndarray, scalar or None
        Flat index of each thread's record, already located.
    """
    memory = field_memory(array, field)
    return memory.load(active, memory.at(_records(array, active, record)), where)


def store_field(array, field, active, record, value, where):
    """Write a field of each thread's record; see :func:`load_field`."""
    memory = field_memory(array, field)
    memory.store(active, memory.at(_records(array, active, record)), value, where)


def field_array(array, field, active):
    """Return the array that a field of all records makes, ``a['x']``; it shares their memory."""
    if array.storage is None:  # a Choice of arrays of complex numbers
        return array.derived(active, lambda a, threads: field_array(a, field, threads))
    memory = field_memory(array, field)
    if isinstance(array, Slice):
        origin, lengths = array.origin, array.lengths
    else:
        origin, lengths = np.int64(0), array.dims
    strides = tuple(s * memory.per_record for s in array.strides)
    inner_lengths, inner_strides = _inner(memory, field)
    return Slice(memory, memory.at(origin), lengths + inner_lengths, strides + inner_strides)


def array_in_record(array, field, active, record):
    """Return the array that lies within each thread's record."""
    memory = field_memory(array, field)
    origin = memory.at(_records(array, active, record))
    return Slice(memory, _kept(origin, active), *_inner(memory, field))


def fill_array(array, field, active, record, source, where):
    """Copy an array element by element to the array within each thread's record."""
    memory = field_memory(array, field)
    first = memory.at(_records(array, active, record))
    for k, index in enumerate(np.ndindex(field.shape)):
        at = tuple(np.int64(i) for i in index)
        value = source.get(active, at[0] if len(at) == 1 else at, where)
        memory.store(active, first + k * memory.step, value, where)


def _inner(memory, field):
    lengths = tuple(np.int64(n) for n in field.shape)
    strides, stride = [], memory.step
    for n in reversed(field.shape):
        strides.insert(0, stride)
        stride *= n
    return lengths, tuple(strides)


def copy_record(target, active, record, source, where):
    """Copy whole records, field by field, from where `source` refers to."""
    moved = []
    for field in leaves(target.storage.dtype):
        to_field, from_field = field_memory(target, field), field_memory(source, field)
        first, last = from_field.at(_seen(source.origin, active)), to_field.at(record)
        for k in range(int(np.prod(field.shape, dtype=np.int64))):
            value = from_field.load(active, first + k * from_field.step, where)
            moved.append((to_field, last + k * to_field.step, value))
    for memory, index, value in moved:
        memory.store(active, index, value, where)
