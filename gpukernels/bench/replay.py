"""The launches and fills of a run, made again without the host's part between them.

Between the launches of a run the host checks arguments, finds memory and waits for numbers that it
reads back. The GPU is idle meanwhile. A `Replay` keeps launches and fills with their arguments.
Every run of a mapping technique makes the same ones, so they can be queued again and again while
the GPU never waits.
"""

from __future__ import annotations

from typing import Any

#: The calls of a device that are kept.
KEPT = ("launch", "fill", "clear", "put")


class Replay:
    """A device that keeps what is launched and filled on it. It can be passed for a device.

    Parameters
    ----------
    device : SimtDevice or CudaDevice
        Where to run.
    """

    def __init__(self, device):
        self.device = device
        self._calls: list[tuple[str, tuple, dict[str, Any]]] = []

    def __getattr__(self, name: str):
        call = getattr(self.device, name)
        if name not in KEPT:
            return call

        def kept(*args, **options) -> None:
            call(*args, **options)
            self._calls.append((name, args, options))

        return kept

    def full(self, shape, value, dtype):
        """Return an array filled with `value`, and filled again each time."""
        array = self.device.empty(shape, dtype)
        self.fill(array, value)
        return array

    def again(self, device) -> None:
        """Make all calls again, on the same device or on a timer of it; wait for nothing."""
        for name, args, options in self._calls:
            getattr(device, name)(*args, **options)
