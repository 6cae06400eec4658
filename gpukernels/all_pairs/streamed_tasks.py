"""Tasks whose copies overlap with the launches of other tasks, on two streams in all.

While the launches of a task run, the next task's input is copied to the device, and the previous
task's output is copied back. The slots of a task must allow that: a load of the next task must not
write a slot that the task uses, and a store of the previous task must not read one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpukernels.device import Device, DeviceArray
from gpukernels.device.copy_streams import Copied, CopyStream


class Slot:
    """Room for a block on a device, and page-locked room on the host for each way."""

    def __init__(self, device: Device, elements: int, dtype: Any):
        self._device, self._elements, self._dtype = device, elements, np.dtype(dtype)
        self._room: Any = device.empty(elements, dtype)
        self._host_rooms: dict[str, NDArray] = {}
        #: The last copy to the device.
        self.copied: Copied | None = None

    def block(self, shape: tuple[int, int]) -> DeviceArray:
        """Return the room as a block of that shape."""
        return self._room[: shape[0] * shape[1]].reshape(*shape)

    def on_host(self, way: str, shape: tuple[int, int]) -> NDArray:
        """Return room on the host for a block on its way: to the device, or back."""
        if way not in self._host_rooms:
            self._host_rooms[way] = self._device.pinned(self._elements, self._dtype)
        return self._host_rooms[way][: shape[0] * shape[1]].reshape(shape)


class Move(NamedTuple):
    """A block of that shape on its way to a slot of the device, or back.

    `on_host` is given its room on the host: it fills it before the block goes, or takes from there
    what came back.
    """

    slot: Slot
    shape: tuple[int, int]
    on_host: Callable[[NDArray], object]


class Task(NamedTuple):
    """The loads of a task, then its launch, then its stores."""

    loads: list[Move]
    launch: Callable[[], None]
    stores: list[Move]


class Pipeline:
    """Runs tasks, calls `done` after each, and counts the bytes copied to the device and back."""

    def __init__(self, copies: CopyStream, done: Callable[[], None]):
        self._copies, self._done = copies, done
        self.to_device = self.from_device = 0

    def run(self, tasks: Iterable[Task]) -> None:
        """Run tasks one after another, and return when all that they store is stored."""
        ready: tuple[Task, Copied | None] | None = None
        unfinished: list[tuple[Move, Copied]] = []
        for task in chain(tasks, [None]):
            following = task and (task, self._load(task.loads))
            if ready is not None:
                current, loaded = ready
                if loaded is not None:
                    loaded.before_launches()
                current.launch()
                stored = self._store(current.stores)
                self._finish(unfinished)
                unfinished = stored
            ready = following
        self._finish(unfinished)

    def _load(self, moves: list[Move]) -> Copied | None:
        copied = None
        for slot, shape, fill in moves:
            if slot.copied is not None:
                slot.copied.wait()  # what lay there is on the device by now
            host = slot.on_host("to", shape)
            fill(host)
            copied = slot.copied = self._copies.write(slot.block(shape), host)
            self.to_device += host.nbytes
        return copied

    def _store(self, moves: list[Move]) -> list[tuple[Move, Copied]]:
        copies = []
        for move in moves:
            host = move.slot.on_host("back", move.shape)
            copies.append((move, self._copies.read(move.slot.block(move.shape), host)))
            self.from_device += host.nbytes
        return copies

    def _finish(self, stored: list[tuple[Move, Copied]]) -> None:
        for move, copied in stored:
            copied.wait()
            move.on_host(move.slot.on_host("back", move.shape))
        if stored:
            self._done()
