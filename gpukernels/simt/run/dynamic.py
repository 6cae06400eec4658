"""Dynamic shared memory: one buffer per block, which all ``cuda.shared.array(0, dtype)`` share.

The launch sets its size. Arrays of different types begin at its first byte and overlap, as on a
device. So the marks of written elements and of accesses are kept per unit, a number of bytes that
divides the element size of each of these arrays.
"""

from __future__ import annotations

import math

import numpy as np

from gpukernels.simt.run.memory import BlockMemory, Memory
from gpukernels.simt.run.shadow import Shadow


class DynamicBuffer:
    """The bytes of all blocks of a wave, each block's part padded to whole elements.

    Parameters
    ----------
    run : Run
        The launch; its program knows the sizes of the elements of all such arrays.
    """

    def __init__(self, run):
        sizes = run.program.dynamic_sizes
        self.run = run
        self.unit = math.gcd(*sizes)
        whole = math.lcm(*sizes)
        self.stride = -(-run.dynamic_shared // whole) * whole
        self.bytes = np.zeros(run.resident * self.stride, np.uint8)
        units = self.bytes.size // self.unit
        self.written = np.zeros(units, dtype=bool) if run.check else None
        self.shadow = Shadow(units) if run.races is not None else None


class DynamicMemory(BlockMemory):
    """One array over the whole buffer."""

    def __init__(self, name, dtype, buffer):
        run = buffer.run
        shape = (run.dynamic_shared // dtype.itemsize,)
        self.buffer = buffer
        self.cells = buffer.stride // dtype.itemsize
        self.first_block = run.first_block
        Memory.__init__(self, run, name, np.empty(shape, dtype), "shared")
        self.flat = buffer.bytes.view(dtype)
        self.written, self.shadow = buffer.written, buffer.shadow
        self._units = dtype.itemsize // buffer.unit

    def index_of(self, at) -> str:
        """Return how a kernel writes the index of the element that holds the unit at `at`."""
        return super().index_of(at // self._units)

    def _parts(self, at):
        return (at * self._units + part for part in range(self._units))

    def _check_race(self, kind, active, at, where):
        for part in self._parts(at):
            self.races.check(self, kind, active, part, where)

    def _known(self, at):
        return np.logical_and.reduce([self.written.take(part) for part in self._parts(at)])

    def _mark(self, at):
        for part in self._parts(at):
            self.written[part] = True
