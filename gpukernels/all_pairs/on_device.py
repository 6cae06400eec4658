"""Launches of kernels in tiles on one device, and a whole matrix that lies there."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukernels.device import Device, DeviceArray
from gpukernels.errors import InvalidArgument

from .encode_on_device import decoded_on, padded_on
from .lengths import Lengths
from .result import APSPResult, result_of
from .tiles import Form, product


class Launches:
    """Launches in tiles of a form on a device: their common arguments, and their number so far.

    Lengths of `infinite` and more are no path. If the form is `noting`, `via` gets the vertices
    that paths go through.
    """

    def __init__(self, device: Device, form: Form, infinite: Any, via: DeviceArray | None = None):
        self.device, self.form, self.infinite, self.launches = device, form, infinite, 0
        self.via = device.full((1, 1), -1, np.int32) if via is None else via
        self.flags = device.full(2, 0, np.int32)

    def launch(self, kernel: Any, blocks: Any, *args: Any, form: Form | None = None) -> None:
        """Launch a kernel in blocks of a form's threads."""
        self.launches += 1
        self.device.launch(kernel, blocks, (form or self.form).block, *args)

    def product(
        self,
        a: Any,
        b: Any,
        old: Any,
        new: Any,
        rows: range | None = None,
        columns: range | None = None,
        over: range | None = None,
        via: Any = None,
    ) -> None:
        """Launch ``new = min(old, a x b)`` for all tiles, or those of some `rows` and `columns`.

        The product goes over all tiles that a row of `a` has, or over some.
        """
        tile = self.form.tile
        rows = range(new.shape[0] // tile) if rows is None else rows
        columns = range(new.shape[1] // tile) if columns is None else columns
        over = range(a.shape[1] // tile) if over is None else over
        self.launch(
            product(self.form), (len(columns), len(rows)), a, b, old, new,
            self.via if via is None else via, self.infinite, rows.start * tile,
            columns.start * tile, over.start * tile, over.stop * tile, self.flags,
        )  # fmt: skip


class OnDevice(Launches):
    """A matrix of whole tiles of a form; so many `matrices` of its size have to fit the device."""

    def __init__(self, lengths: Lengths, device: Device, form: Form, matrices: int = 1):
        self._lengths, self.size = lengths, form.whole(lengths.n)
        self.tiles = self.size // form.tile
        via = room_for(device, lengths.n, self.size, matrices, form.noting)
        super().__init__(device, form, lengths.dtype.type(lengths.infinite), via)
        if lengths.resident is None:
            self.distance = device.array(lengths.padded(form.tile))
        else:
            self.distance = padded_on(device, lengths.resident, self.size, lengths.absent)

    def result(self, method: str, read_backs: int = 0, **stats: Any) -> APSPResult:
        """Return the result; NegativeCycleError or RoundingError as `result_of`."""
        lengths, distance = self._lengths, self.distance
        is_decoded = lengths.resident is not None
        if is_decoded:
            distance = decoded_on(self.device, distance, lengths.n, self.infinite)
        matrix = self.device.read(distance)
        through = self.device.read(self.via) if self.form.noting else None
        counts = {"method": method, "launches": self.launches, "read_backs": read_backs}
        return result_of(lengths, matrix, through, counts | stats, is_decoded=is_decoded)


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
