"""One time for several launches that follow each other, for searches of hundreds of short kernels.

A `LaunchTimer` times each launch by itself, and each time contains a microsecond or two that a GPU
does not need if one kernel follows another immediately. A `SpanTimer` keeps the GPU busy until a
whole row of launches is queued, and then times them together. A row ends if the host does
anything else on the device, such as reading a result, or before more launches wait than fit into
the GPU's queue.
"""

from __future__ import annotations

import contextlib

from gpukernels.notebook import kernel_time
from gpukernels.notebook.kernel_time import LaunchTimer

#: The most launches of a row: beyond about a thousand, the host would wait for the GPU.
MOST_LAUNCHES = 256


class SpanTimer(LaunchTimer):
    """A device that adds up the milliseconds of rows of launches, and delays the GPU before each.

    It can be passed to every function that takes a device.

    Parameters
    ----------
    device : SimtDevice or CudaDevice
        The device that runs the launches.

    Attributes
    ----------
    ms : float
        Milliseconds of all rows since :meth:`reset`; the last one counts when it has ended.
    launches, late : int
        Number of rows, and of late rows among them.
    kernels : set
        All launched kernels. If a run adds to them, it has compiled, and its time does not count.
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
        """Set the times and counts to 0."""
        self.end()
        super().reset()

    def end(self) -> None:
        """End the current row of launches, if there is one, and wait for it."""
        self._queued = 0
        self._row.close()

    def launch(self, kernel, blocks, threads, *args, **options) -> None:
        """Launch within the current row, or begin a row."""
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
