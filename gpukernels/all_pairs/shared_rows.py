"""Blocked Floyd-Warshall on the devices of one host, which share the rows of the matrix.

Each device makes the launches of `blocked` for rows of its own. Before a panel of pivots is
closed, the device that has its rows sends them to all other devices. Then every device closes the
panel, in the same way, and updates the rest of its own rows. So each element is made by the same
additions as on one device, and the result is the same, bit by bit.

For d devices, n vertices and panels of p, each device does n^3 / d of the n^3 additions for its
rows, and up to 2 p n^2 additions for panels, which are not shared. It receives 4 n^2 bytes in all,
during which it does not add. With n = 32,768, p = 512 and two devices these are 0.52 n^3 additions
and 4.3 GB, so the two devices are at most 1.9 times as fast.

A device has the whole matrix, so that indices are those of `blocked`. The rows of other devices
are valid only in the panel that is being closed; other such rows are not used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukernels.device import DeviceArray
from gpukernels.distributed.peers import Peers, peers_of

from .blocked import Choices, Tiles
from .floyd_warshall import Pivot, floyd_warshall
from .lengths import Lengths
from .on_device import Launches, room_for
from .result import APSPResult, result_of
from .tiles import Form


class Parts:
    """A matrix of whole tiles on some devices, each of which has some rows; `n` of them no padding.

    `launches` and `operations` count all devices so far, so panels count once per device.
    """

    def __init__(self, peers: Peers, matrix: NDArray, n: int, absent: float, form: Form):
        self._peers, self._form, self._count = peers, form, len(peers.devices)
        self._absent = matrix.dtype.type(absent)
        self._tiles = len(matrix) // form.tile
        self.operations = 0
        #: The first tile of each device's rows, and the end.
        self._ends = [self._tiles * i // self._count for i in range(self._count + 1)]
        self._on: list[Launches] = []
        self._distance: list[DeviceArray] = []
        for i, device in enumerate(peers.devices):
            with peers.on(i):
                via = room_for(device, n, len(matrix), 1, form.noting)
                self._distance.append(device.full(matrix.shape, self._absent, matrix.dtype))
                self._on.append(Launches(device, form, self._absent, via))
        self._each(self._write, matrix)

    def _each(self, work: Callable[[int, NDArray], None], matrix: NDArray) -> None:
        """Call ``work(i, rows)`` for each device and its rows of a matrix, all at once."""

        def on_device(i: int) -> None:
            with self._peers.on(i):
                work(i, matrix[self._rows(self._ends[i], self._ends[i + 1])])

        with ThreadPoolExecutor(self._count) as pool:
            list(pool.map(on_device, range(self._count)))

    def _rows(self, first: int, end: int) -> slice:
        return slice(first * self._form.tile, end * self._form.tile)

    def _write(self, i: int, rows: NDArray) -> None:
        own = self._distance[i][self._rows(self._ends[i], self._ends[i + 1])]
        if len(rows):
            with self._peers.devices[i].copy_stream() as stream:
                stream.write(own, rows)

    def _read(self, of: Sequence[DeviceArray]) -> NDArray:
        """Return the rows of all devices."""
        matrix: NDArray = np.empty((self._tiles * self._form.tile,) * 2, of[0].dtype)

        def from_one(i: int, rows: NDArray) -> None:
            own = of[i][self._rows(self._ends[i], self._ends[i + 1])]
            if len(rows):
                self._peers.devices[i].read(own, rows)

        self._each(from_one, matrix)
        return matrix

    def results(self) -> tuple[NDArray, NDArray | None]:
        """Return distances, and the vertices that paths go through if they are noted."""
        via = self._read([on.via for on in self._on]) if self._form.noting else None
        return self._read(self._distance), via

    @property
    def launches(self) -> int:
        """Launches of all devices so far."""
        return sum(on.launches for on in self._on)

    def cross(self, pivot: Pivot) -> None:
        """Let every device close a panel, once the owners of its rows have sent them."""
        self._send(pivot)
        for i, (on, matrix) in enumerate(zip(self._on, self._distance, strict=True)):
            with self._peers.on(i):
                Tiles(on, matrix, on.via).cross(pivot)
            products = pivot.size**2 * (2 * self._tiles - pivot.size)  # a cross, its middle once
            self.operations += products * self._form.tile**3

    def lower(self, pivot: Pivot) -> None:
        """Let the other paths of each device's rows lead through a panel."""
        over = range(pivot.first, pivot.end)
        for i, (on, matrix) in enumerate(zip(self._on, self._distance, strict=True)):
            with self._peers.on(i):
                for rows in pivot.beside(self._ends[i], self._ends[i + 1]):
                    for columns in pivot.beside(0, self._tiles):
                        on.product(matrix, matrix, matrix, matrix, rows, columns, over)
                        products = len(rows) * len(columns) * pivot.size
                        self.operations += products * self._form.tile**3

    def _send(self, pivot: Pivot) -> None:
        """Let all devices have the rows of a panel."""
        for i, (low, high) in enumerate(pairwise(self._ends)):
            low, high = max(low, pivot.first), min(high, pivot.end)
            if low < high:
                rows = self._rows(low, high)
                for j in range(self._count):
                    if j != i:
                        self._peers.send(i, self._distance[i][rows], j, self._distance[j][rows])


def apsp(lengths: Lengths, device: None, **options: Any) -> APSPResult:
    """Find all shortest paths; see `blocked.Choices` for the options."""
    chosen = Choices(**options)
    form = chosen.form(lengths.n, lengths.dtype)
    panel, peers = chosen.panel_for(lengths.n), peers_of(chosen.devices)
    matrix = lengths.padded(form.tile)
    parts = Parts(peers, matrix, lengths.n, lengths.absent, form)
    floyd_warshall(parts, len(matrix) // form.tile, panel)
    stats = {
        "method": "blocked",
        "launches": parts.launches,
        "read_backs": 0,
        "operations": parts.operations,
        "devices": len(peers.devices),
    }
    return result_of(lengths, *parts.results(), stats)
