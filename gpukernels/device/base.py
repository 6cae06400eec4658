"""The interface of every device: the protocol of the SIMT machine and of a CUDA GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from gpukernels.checks import is_whole

from .copy_streams import CopyStream

#: One size or one for each dimension, as NumPy and numba take them.
Shape = int | tuple[int, ...]

Kept = TypeVar("Kept")


class DeviceArray(Protocol):
    """An array that a device's kernels reach: NumPy's on the machine, numba's on a GPU."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Elements of each dimension."""

    @property
    def size(self) -> int:
        """Elements in all."""

    @property
    def dtype(self) -> np.dtype:
        """Type of an element."""

    def __getitem__(self, part: Any, /) -> Any: ...


class Elapsed:
    """A time in milliseconds, set when its ``with`` block ends."""

    ms: float = float("nan")
    #: Whether a GPU may have waited for the host meanwhile.
    late: bool = False

    def when_queued(self) -> None:
        """Do the work that follows when all is queued; to be set within the block."""

    def __repr__(self) -> str:
        return f"{self.ms:.3f} ms"


class Device(Protocol):
    """A device that launches kernels: a :class:`CudaDevice` or a :class:`SimtDevice`.

    Attributes
    ----------
    name : str
        Name of the device.
    resident_threads : int
        Threads that a persistent kernel may count on being resident at once.

    Examples
    --------
    >>> import gpukernels as gk
    >>> def reached(g: gk.Graph, device: gk.Device) -> int:
    ...     return gk.bfs(g, device=device).reached
    >>> reached(gk.path(5), gk.SimtDevice())
    5
    """

    name: str
    resident_threads: int

    def array(self, host: ArrayLike) -> DeviceArray:
        """Return a copy of `host` that kernels may change."""

    def keep(self, host: NDArray) -> DeviceArray:
        """Return a copy of the read-only array `host`, for kernels that only read it.

        A GPU makes it once and keeps it as long as `host` lives, so that a second search of one
        graph does not copy the graph again.
        """

    def keep_made(self, owner: object, name: str, make: Callable[[], Kept]) -> Kept:
        """Return the result of ``make()``: data computed from `owner`, or room for such data.

        A GPU calls it once for this `owner` and `name` and keeps the result as long as `owner`
        lives, including all that kernels have written there since. The machine calls it every
        time, so that each trace has it.
        """

    def put(self, array: DeviceArray, index: int, value: Any) -> None:
        """Set one element of `array`, counted from 0 through all its rows."""

    def empty(self, shape: Shape, dtype: DTypeLike) -> DeviceArray:
        """Return an uninitialized array; the machine's `check` reports reads before a write."""

    def full(self, shape: Shape, value: Any, dtype: DTypeLike) -> DeviceArray:
        """Return an array filled with `value`."""

    def full_all(
        self, shapes: Sequence[Shape], value: Any, dtype: DTypeLike
    ) -> Sequence[DeviceArray]:
        """Return arrays filled with `value`; on a GPU side by side in memory, filled at once."""

    def pinned(self, shape: Shape, dtype: DTypeLike) -> NDArray:
        """Return a host array of undefined content to read into; for a GPU, in locked pages."""

    def clear(self, array: DeviceArray) -> None:
        """Set every element of `array` to zero, after the launches made so far."""

    def fill(self, array: DeviceArray, value: Any) -> None:
        """Set every element of `array` to `value`, after the launches made so far."""

    def copy_stream(self) -> CopyStream:
        """Return a queue of copies between host and device that overlap with launches."""

    def read(self, array: DeviceArray, into: NDArray | None = None) -> NDArray:
        """Return the array's contents on the host: in `into` where given, else in a new array."""

    def read_all(self, *arrays: DeviceArray) -> list[NDArray]:
        """Return the contents of arrays: of those that were made together, by one copy."""

    def launch(
        self,
        kernel: Any,
        blocks: Shape,
        threads: Shape,
        *args: Any,
        shared: int = 0,
        cooperative: bool = False,
    ) -> None:
        """Launch `kernel` on `blocks` blocks of `threads` threads.

        A launch of zero blocks does nothing. `shared` is the bytes of dynamic shared memory; blocks
        of a `cooperative` launch may wait for each other. NumPy arrays among `args` are changed in
        place. A GPU waits for the kernel only if there are any, the machine always does.
        """

    def free_bytes(self) -> int:
        """Return how many bytes new arrays may take; the machine knows no limit of its own."""

    def cooperative_blocks(self, kernel: Any, threads: int, *args: Any) -> int:
        """Return how many blocks of `threads` threads a cooperative launch may have at most."""

    def timer(self) -> AbstractContextManager[Elapsed]:
        """Time the launches of a ``with`` block; ``.ms`` of its value holds milliseconds.

        On a GPU that is the time between two events. ``.late`` says whether the GPU came to the
        first before the host had queued the last: then the time may hold a wait for the host. The
        machine's time is the host's and says nothing about a GPU's.
        """


def is_empty(blocks: Shape) -> bool:
    """Return whether a launch has no blocks."""
    if type(blocks) is int:
        return blocks == 0
    sizes = blocks if isinstance(blocks, (tuple, list)) else (blocks,)
    return any(is_whole(size) and size == 0 for size in sizes)
