"""Times of launches that follow each other, as one: for searches of hundreds of short kernels.

A `LaunchTimer` times each launch by itself, and each time holds a microsecond or two that a GPU
does not need where one kernel follows the other at once. A `SpanTimer` keeps the GPU busy until a
whole row of launches is queued, and then times them together. A row ends where the host does
anything else on the device, such as reading a result, or before more launches wait than the GPU's
queue holds.
"""

from __future__ import annotations

import contextlib

from gpukernels.notebook import kernel_time
from gpukernels.notebook.kernel_time import LaunchTimer

#: Launches of a row at most: beyond about a thousand the host would wait for the GPU.
MOST_LAUNCHES = 256


class SpanTimer(LaunchTimer):
    """A device that adds up the milliseconds of rows of launches, on a GPU kept busy before each.

    It can be passed wherever a device is taken.

    Parameters
    ----------
    device : SimtDevice or CudaDevice
        Where to run.

    Attributes
    ----------
    ms : float
        Milliseconds of all rows since :meth:`reset`; the last one counts when it has ended.
    launches, late : int
        How many rows there were, and how many of them were late.
    kernels : set
        All that it has ever launched. A run that adds to them has compiled: its time is no time.
    """

    def __init__(self, device):
        self._row = contextlib.ExitStack()
        self._queued = 0
        self.kernels: set = set()
        super().__init__(device, kernel_time.BUSY_ROUNDS)

    def __getattr__(self, name: str):
        self.end()
        return super().__getattr__(name)

    def reset(self) -> None:
        """Begin again at 0."""
        self.end()
        super().reset()

    def end(self) -> None:
        """End the row of launches, if one has begun, and wait for it."""
        self._queued = 0
        self._row.close()

    def launch(self, kernel, blocks, threads, *args, **options) -> None:
        """Launch within the row that has begun, or begin one."""
        sizes = blocks if isinstance(blocks, tuple | list) else (blocks,)
        if not all(sizes):
            return
        if self._queued == 0:
            self._row.enter_context(self.timed())
        self.device.launch(kernel, blocks, threads, *args, **options)
        self.kernels.add(kernel)
        self._queued += 1
        if self._queued == MOST_LAUNCHES:
            self.end()
