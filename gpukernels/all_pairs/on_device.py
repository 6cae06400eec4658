"""The whole matrix on one device, and what the kernels on its tiles take besides."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukernels.device import Device, DeviceArray
from gpukernels.errors import InvalidArgument

from .lengths import Lengths
from .result import APSPResult, result_of
from .tiles import Form


class OnDevice:
    """A matrix of whole tiles of a form; so many `matrices` of its size have to fit the device.

    What is `infinite` is no path; `via` has the vertices that paths go through, if they are noted.
    """

    def __init__(self, lengths: Lengths, device: Device, form: Form, matrices: int = 1):
        matrix = lengths.padded(form.tile)
        self.device, self.form, self._lengths = device, form, lengths
        self.size, self.tiles, self.launches = len(matrix), len(matrix) // form.tile, 0
        self.via = room_for(device, lengths.n, self.size, matrices, form.noting)
        self.distance, self.flags = device.array(matrix), device.full(2, 0, np.int32)
        self.infinite = lengths.dtype.type(lengths.infinite)

    def launch(self, kernel: Any, blocks: Any, *args: Any, form: Form | None = None) -> None:
        """Launch a kernel in blocks of a form's threads."""
        self.launches += 1
        self.device.launch(kernel, blocks, (form or self.form).block, *args)

    def result(self, method: str, read_backs: int = 0, **stats: Any) -> APSPResult:
        """Return the result; NegativeCycleError or RoundingError as `result_of`."""
        n, device = self._lengths.n, self.device
        distance = np.ascontiguousarray(device.read(self.distance)[:n, :n])
        noting = self.form.noting
        through = np.ascontiguousarray(device.read(self.via)[:n, :n]) if noting else None
        told = {"method": method, "launches": self.launches, "read_backs": read_backs}
        return result_of(self._lengths, distance, through, told | stats)


def room_for(device: Device, n: int, size: int, matrices: int, noting: bool) -> DeviceArray:
    """Return room for the vertices that paths go through, hardly any if they are not noted.

    InvalidArgument if a GPU has not enough free for that and for so many matrices of size x size.
    """
    needed = 4 * size**2 * (matrices + noting)
    if needed > (free := device.free_bytes()):
        allowed = (
            f"less, as this takes {needed / 2**30:,.3g} GiB and the GPU has {free / 2**30:,.3g} "
            "GiB free"
        )
        raise InvalidArgument("n", n, allowed)
    return device.full((size, size) if noting else (1, 1), -1, np.int32)
