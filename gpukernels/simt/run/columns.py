"""Columns that grow: in memory while they are small, beyond that in temporary files.

A file is gone as soon as its column is no longer in use. A reader gets a memory map of the file,
which takes memory for the pages that are read, and gives it back when memory is short.
"""

from __future__ import annotations

import tempfile

import numpy as np

#: Bytes of one column that stay in memory.
IN_MEMORY = 1 << 23


class Column:
    """A column of numbers, appended to piece by piece.

    Parameters
    ----------
    dtype : dtype
        Type of its elements; appended values are cast to it.

    Attributes
    ----------
    size : int
        How many elements there are.
    """

    def __init__(self, dtype):
        self.dtype = np.dtype(dtype)
        self.size = 0
        self._kept = 0
        self._parts = []  # what follows the file's elements
        self._file = None
        self._filed = 0

    def append(self, values):
        """Add elements at the end."""
        if len(values) == 0:
            return
        self._parts.append(np.asarray(values).astype(self.dtype))
        self.size += len(values)
        if (self.size - self._filed) * self.dtype.itemsize > IN_MEMORY:
            self._write()

    def replace(self, at, values):
        """Set the elements at positions `at`, which have not been kept yet."""
        self._parts = [self._in_memory()]
        filed = at < self._filed
        self._parts[0][at[~filed] - self._filed] = values[~filed]
        if filed.any():
            self._file.flush()
            np.memmap(self._file, self.dtype, "r+", 0, (self._filed,))[at[filed]] = values[filed]

    def keep(self):
        """Include all elements so far in the result of :meth:`array`."""
        self._kept = self.size

    def rewind(self):
        """Drop the elements that have not been kept."""
        if self.size == self._kept:
            return
        self._parts = [self._in_memory()[: max(self._kept - self._filed, 0)]]
        if self._filed > self._kept:
            self._filed = self._kept
            self._file.truncate(self._filed * self.dtype.itemsize)
        self.size = self._kept

    def array(self) -> np.ndarray:
        """Return the elements that have been kept, as an array that may be changed."""
        if self._file is None or self._kept == 0:
            return self._in_memory()[: self._kept].copy()
        if self._kept > self._filed:
            self._write()
        self._file.flush()
        return np.memmap(self._file, self.dtype, "c", 0, (self._kept,)).view(np.ndarray)

    def _in_memory(self):
        return np.concatenate(self._parts) if self._parts else np.zeros(0, self.dtype)

    def _write(self):
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="gpukernels-trace-")
        self._file.seek(self._filed * self.dtype.itemsize)
        for part in self._parts:
            self._file.write(part.data)
        self._parts, self._filed = [], self.size


class Table:
    """Columns of one length, and columns with one value per lane in CSR form with ``start``."""

    def __init__(self, dtypes, lane_dtypes=()):
        self.columns = {name: Column(dtype) for name, dtype in dict(dtypes).items()}
        self.lanes = {name: Column(dtype) for name, dtype in dict(lane_dtypes).items()}
        self.start = Column(np.int64)
        self.start.append([0])
        self._lanes = self._lanes_kept = 0
        self.keep()

    def append(self, rows, lanes=None):
        """Add rows, given by name; with `lanes`, also ``rows["counts"]``: the lanes of each row."""
        for name, column in self.columns.items():
            column.append(rows[name])
        if lanes is not None:
            ends = np.cumsum(rows["counts"]) + self._lanes
            self.start.append(ends)
            self._lanes = int(ends[-1])
            for name, column in self.lanes.items():
                column.append(lanes[name])

    def _all(self):
        return [*self.columns.values(), *self.lanes.values(), self.start]

    def keep(self):
        """Keep all rows so far."""
        self._lanes_kept = self._lanes
        for column in self._all():
            column.keep()

    def rewind(self):
        """Drop the rows that have not been kept."""
        self._lanes = self._lanes_kept
        for column in self._all():
            column.rewind()

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the kept rows of all columns by name, with ``start`` if there are lanes."""
        columns = {**self.columns, **self.lanes}
        if self.lanes:
            columns["start"] = self.start
        return {name: column.array() for name, column in columns.items()}
