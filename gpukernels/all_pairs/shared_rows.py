"""Blocked Floyd-Warshall on the devices of one host, which share the rows of the matrix.

The launches of `blocked`, each device for rows of its own. Before a panel of pivots is closed, who
has its rows sends them to all others, device to device: then every device closes the panel, the
same way, and updates what is left of its own rows. So an element is made by the same additions as
on one device, and the result is the same bit by bit.

What bounds it, for d devices, n vertices and panels of p: of n^3 additions each device does n^3 / d
for its rows, and up to 2 p n^2 for panels, which are not shared; it receives 4 n^2 bytes in all,
while it does not add. With n = 32,768, p = 512 and two devices that is 0.52 n^3 additions, so at
most 1.9 times as fast, and 4.3 GB.

A device has the whole matrix, so that indices are those of `blocked`. Of the rows of others, it
has those of a panel while it closes that panel; else they are of no use.
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

from .blocked import Choices, close_panel
from .lengths import Lengths
from .on_device import Launches, room_for
from .pivots import Pivot, pivots
from .result import APSPResult, result_of
from .tiles import Form


class Parts:
    """A matrix of whole tiles on some devices, each of which has some rows; `n` of them no padding.

    `launches` and `operations` are those of all devices so far, panels once a device.
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

        def there(i: int) -> None:
            with self._peers.on(i):
                work(i, matrix[self._rows(self._ends[i], self._ends[i + 1])])

        with ThreadPoolExecutor(self._count) as pool:
            list(pool.map(there, range(self._count)))

    def _rows(self, first: int, end: int) -> slice:
        return slice(first * self._form.tile, end * self._form.tile)

    def _write(self, i: int, rows: NDArray) -> None:
        own = self._distance[i][self._rows(self._ends[i], self._ends[i + 1])]
        if len(rows):
            with self._peers.devices[i].copy_stream() as stream:
                stream.write(own, rows)

    def read(self, of: Sequence[DeviceArray], dtype: Any) -> NDArray:
        """Return the rows of all devices."""
        found: NDArray = np.empty((self._tiles * self._form.tile,) * 2, dtype)

        def from_one(i: int, rows: NDArray) -> None:
            own = of[i][self._rows(self._ends[i], self._ends[i + 1])]
            if len(rows):
                self._peers.devices[i].read(own, rows)

        self._each(from_one, found)
        return found

    def found(self) -> tuple[NDArray, NDArray | None]:
        """Return distances, and the vertices that paths go through if they are noted."""
        distance = self.read(self._distance, self._absent.dtype)
        if not self._form.noting:
            return distance, None
        return distance, self.read([on.via for on in self._on], np.int32)

    @property
    def launches(self) -> int:
        """Launches of all devices so far."""
        return sum(on.launches for on in self._on)

    def close(self, panel: int) -> None:
        """Close the matrix over its own vertices."""
        for pivot in pivots(self._tiles, panel):
            self._send(pivot)
            for i in range(self._count):
                with self._peers.on(i):
                    self._update(i, pivot)

    def _send(self, pivot: Pivot) -> None:
        """Let all devices have the rows of a panel."""
        for i, (low, high) in enumerate(pairwise(self._ends)):
            low, high = max(low, pivot.first), min(high, pivot.end)
            if low < high:
                rows = self._rows(low, high)
                for j in range(self._count):
                    if j != i:
                        self._peers.send(i, self._distance[i][rows], j, self._distance[j][rows])

    def _update(self, i: int, pivot: Pivot) -> None:
        """Close a panel, and let the other paths of a device's rows lead through it."""
        on, here, count = self._on[i], self._distance[i], pivot.size
        close_panel(on, here, on.via, pivot)
        products = count**2 * (2 * self._tiles - count)  # of tiles: a cross, its middle once
        over = range(pivot.first, pivot.end)
        for rows in pivot.beside(self._ends[i], self._ends[i + 1]):
            for columns in pivot.beside(0, self._tiles):
                products += len(rows) * len(columns) * count
                on.product(here, here, here, here, rows, columns, over)
        self.operations += products * self._form.tile**3


def apsp(lengths: Lengths, device: None, **options: Any) -> APSPResult:
    """Find all shortest paths; see `blocked.Choices` for the options."""
    chosen = Choices(**options)
    form = chosen.form(lengths.n, lengths.dtype)
    panel, peers = chosen.panel_for(lengths.n), peers_of(chosen.devices)
    matrix = lengths.padded(form.tile)
    parts = Parts(peers, matrix, lengths.n, lengths.absent, form)
    parts.close(panel)
    stats = {
        "method": "blocked",
        "launches": parts.launches,
        "read_backs": 0,
        "operations": parts.operations,
        "devices": len(peers.devices),
    }
    return result_of(lengths, *parts.found(), stats)
