"""Copies between host and device that overlap with launches, on a stream of their own.

A device does its launches one after another, and a stream its copies. A copy begins when the copies
queued before it and the launches made before it are done; the host continues meanwhile. Code that
needs a copy must wait for it: `Copied.before_launches` makes launches wait, `Copied.wait` the host.

On the SIMT machine a launch is over when it returns. A queued copy may be made at any moment until
its `Copied` is waited for: at once under the schedule "lockstep", as late as possible under "warp",
some now and some later under "random". A result that is the same under each needs no luck.
"""

from __future__ import annotations

import random
from collections import deque
from types import TracebackType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gpukernels.device import cuda_memory
from gpukernels.errors import InvalidArgument

#: CU_STREAM_NON_BLOCKING: neither waits for the default stream nor lets it wait, unless told to.
NON_BLOCKING = 1


class Copied(Protocol):
    """A copy that has been queued."""

    def before_launches(self) -> None:
        """Let launches made from now on begin after this copy."""

    def wait(self) -> None:
        """Return when this copy is done."""


class CopyStream(Protocol):
    """A queue of copies; a ``with`` block around it ends when all are done."""

    def write(self, array: Any, host: NDArray) -> Copied:
        """Queue a copy of `host` to the device array `array`."""

    def read(self, array: Any, into: NDArray) -> Copied:
        """Queue a copy of the device array `array` to `into`."""

    def __enter__(self) -> CopyStream: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None: ...


def _check(argument: str, array: Any, host: NDArray) -> None:
    """Raise InvalidArgument unless one is a plain copy of the other."""
    if (host.shape, host.dtype) != (array.shape, array.dtype) or not host.flags.c_contiguous:
        allowed = f"a contiguous array of {array.dtype} and shape {array.shape}"
        raise InvalidArgument(argument, host, allowed)


class SimtCopies:
    """Copies of the SIMT machine, made sooner or later.

    Parameters
    ----------
    schedule : {"lockstep", "warp", "random"}
        At once, as late as can be, or some now and some later.
    seed : int
        Seed of the random schedule.
    """

    def __init__(self, schedule: str, seed: int):
        # How likely the next copy is made right away.
        self._likely = {"lockstep": 1.0, "warp": 0.0}.get(schedule, 0.5)
        self._random = random.Random(seed)
        self._queued: deque[tuple[NDArray, NDArray]] = deque()
        self._done = 0

    def write(self, array: Any, host: NDArray) -> Copied:
        """Queue a copy of `host` to `array`."""
        _check("host", array, host)
        return self._queue(array, host)

    def read(self, array: Any, into: NDArray) -> Copied:
        """Queue a copy of `array` to `into`."""
        _check("into", array, into)
        return self._queue(into, array)

    def _queue(self, to: NDArray, source: NDArray) -> Copied:
        self._queued.append((to, source))
        copied = _SimtCopied(self, self._done + len(self._queued))
        while self._queued and self._random.random() < self._likely:
            self.make(self._done + 1)
        return copied

    def make(self, last: int) -> None:
        """Make the copies up to number `last`, counted from 1."""
        while self._done < last:
            np.copyto(*self._queued.popleft(), casting="no")
            self._done += 1

    def __enter__(self) -> CopyStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.make(self._done + len(self._queued))


class _SimtCopied:
    def __init__(self, stream: SimtCopies, number: int):
        self._stream, self._number = stream, number

    def wait(self) -> None:
        self._stream.make(self._number)

    before_launches = wait


class CudaCopies:
    """Copies of a CUDA GPU, on a second stream; launches are on the default stream.

    The host's arrays should be page-locked, as arrays of ``device.pinned`` are: a copy of other
    arrays makes the host wait. A copy into a large array of ordinary memory is made, in pieces,
    at a wait for it or when the next copy is queued; a copy from such an array is made at once.

    Parameters
    ----------
    cuda : module
        ``numba.cuda``.
    """

    def __init__(self, cuda: Any):
        from numba.cuda.cudadrv import driver

        self._cuda, self._driver = cuda, driver
        # One that numba makes waits for all on the default stream and lets it wait.
        self._handle = self._driver.driver.cuStreamCreate(NON_BLOCKING)
        self._stream = cuda.current_context().create_external_stream(int(self._handle))
        self._staged: _Staged | None = None

    def write(self, array: Any, host: NDArray) -> Copied:
        """Queue a copy of `host` to `array`."""
        _check("host", array, host)
        self._queue()
        cuda_memory.write(array, host, self._stream)
        return self._copied()

    def read(self, array: Any, into: NDArray) -> Copied:
        """Queue a copy of `array` to `into`."""
        _check("into", array, into)
        self._queue()
        if cuda_memory.is_staged(into):
            self._staged = _Staged(array, into, self._stream)
            return self._staged
        if array.size:
            data = array.gpu_data
            self._driver.device_to_host(into, data, into.nbytes, stream=self._stream)
        return self._copied()

    def _queue(self) -> None:
        """Let the next copy come after those before it and the launches made so far."""
        if self._staged is not None:
            self._staged.wait()
            self._staged = None
        launched = self._cuda.event(timing=False)
        launched.record()
        launched.wait(self._stream)

    def _copied(self) -> Copied:
        event = self._cuda.event(timing=False)
        event.record(self._stream)
        return _CudaCopied(event)

    def __enter__(self) -> CopyStream:
        return self

    def __exit__(self, *_: object) -> None:
        if self._staged is not None:
            self._staged.wait()
        # Memory that is being copied must not be lent again.
        self._stream.synchronize()
        self._driver.driver.cuStreamDestroy(self._handle)


class _Staged:
    """A copy into a large array of ordinary memory, made when something waits for it."""

    def __init__(self, array: Any, into: NDArray, stream: Any):
        self._copy: tuple[Any, NDArray, Any] | None = (array, into, stream)

    def wait(self) -> None:
        if self._copy is not None:
            cuda_memory.read(*self._copy)
            self._copy = None

    before_launches = wait


class _CudaCopied:
    def __init__(self, event: Any):
        self._event = event

    def before_launches(self) -> None:
        self._event.wait()

    def wait(self) -> None:
        self._event.synchronize()
