"""What a run has done on a GPU, done again without the host's part in it.

Between the launches of a run the host checks arguments, finds memory and waits for numbers that it
reads back; the GPU does nothing meanwhile. A `Replay` keeps launches and fills with their
arguments. Where every run of the same input makes the same ones, as mapping techniques do, they can
be queued again and again while the GPU never waits.
"""

from __future__ import annotations

from typing import Any


class Replay:
    """A device that keeps what is launched and filled on it. It can be passed for a device.

    Parameters
    ----------
    device : SimtDevice or CudaDevice
        Where to run.
    """

    def __init__(self, device):
        self.device = device
        self._steps: list[tuple[str, tuple, dict[str, Any]]] = []

    def __getattr__(self, name: str):
        return getattr(self.device, name)

    def _do(self, name: str, *args, **options) -> None:
        getattr(self.device, name)(*args, **options)
        self._steps.append((name, args, options))

    def launch(self, *args, **options) -> None:
        """Launch, and keep that."""
        self._do("launch", *args, **options)

    def fill(self, array, value) -> None:
        """Fill, and keep that."""
        self._do("fill", array, value)

    def clear(self, array) -> None:
        """Clear, and keep that."""
        self._do("clear", array)

    def put(self, array, index: int, value) -> None:
        """Set one element, and keep that."""
        self._do("put", array, index, value)

    def full(self, shape, value, dtype):
        """Return an array filled with `value`, which it is filled with again each time."""
        array = self.device.empty(shape, dtype)
        self.fill(array, value)
        return array

    def full_all(self, shapes, value, dtype) -> list:
        """Return such arrays."""
        return [self.full(shape, value, dtype) for shape in shapes]

    def again(self, device) -> None:
        """Do it all again, on the same device or on a timer of it; wait for nothing."""
        for name, args, options in self._steps:
            getattr(device, name)(*args, **options)
