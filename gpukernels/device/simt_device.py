"""The SIMT machine as a device."""

from __future__ import annotations

import contextlib
import contextvars
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from gpukernels import simt
from gpukernels.checks import as_array, check_flag, check_seed
from gpukernels.simt.machine import LOOP_BUDGET, RESIDENT_THREADS
from gpukernels.simt.run.schedules import SCHEDULES
from gpukernels.trace import Trace

from .base import Device, Elapsed, Kept, Shape, is_empty
from .copy_streams import CopyStream, SimtCopies

#: Byte of an array of undefined content.
UNDEFINED = 0xA5

_devices: contextvars.ContextVar[tuple[list[SimtDevice], int] | None]
_devices = contextvars.ContextVar("made", default=None)


class SimtDevice(Device):
    """The SIMT machine as a device: runs kernels warp by warp without a GPU.

    Parameters
    ----------
    schedule : {"lockstep", "warp", "random"}
        Which warps go together (see :func:`gpukernels.simt.launch`).
    seed : int
        Seed of the random schedule; every launch draws from a stream of its own.
    trace : bool
        Whether launches are recorded; the result is :attr:`trace`.
    check : bool, optional
        Whether races and reads of memory that nothing has written, or of variables that a thread
        has not set, are errors; by default where tracing.
    limit : int, optional
        Entries that the trace may have (see :class:`gpukernels.simt.Recorder`); only with `trace`.
        By default a billion, enough for a search of a graph of a million vertices.
    loop_steps : int, optional
        Steps that the loops of all launches may take together (see :class:`gpukernels.simt.Pace`);
        one that goes on beyond is an error. By default only a million rounds of one loop are.
    wraparound : bool
        Whether negative indices that kernels compute count from the end, as numba compiles them;
        by default they are errors.

    Raises
    ------
    ValueError
        For an unknown `schedule`, a `seed` that is no whole number from 0, a `limit` below 1, and a
        `limit` without `trace`.

    Attributes
    ----------
    trace : Trace or None
        Everything recorded so far.
    pace : Pace
        Counts the steps that loops have taken so far.

    Examples
    --------
    >>> import numpy as np
    >>> from numba import cuda
    >>> import gpukernels as gk
    >>> @cuda.jit
    ... def double(a):
    ...     i = cuda.grid(1)
    ...     if i < a.size:
    ...         a[i] *= 2
    >>> device = gk.SimtDevice(schedule="random", seed=7, check=True)
    >>> a = device.array(np.arange(5))
    >>> device.launch(double, 1, 32, a)
    >>> device.read(a)
    array([0, 2, 4, 6, 8])
    """

    name = "SIMT machine"
    #: Threads that a persistent kernel may count on being resident at once.
    resident_threads = RESIDENT_THREADS

    def __init__(
        self,
        schedule: str = "lockstep",
        seed: int = 0,
        trace: bool = False,
        check: bool | None = None,
        limit: int | None = None,
        loop_steps: int | None = None,
        wraparound: bool = False,
    ):
        if not isinstance(schedule, str) or schedule not in SCHEDULES:
            allowed = ", ".join(repr(s) for s in SCHEDULES)
            raise ValueError(f"schedule={schedule!r}; allowed are {allowed}")
        self.schedule = schedule
        self.seed = check_seed(seed)
        trace = check_flag("trace", trace)
        self.check = trace if check is None else check_flag("check", check)
        if limit is not None and not trace:
            raise ValueError(f"limit={limit!r} goes with trace=True; without it nothing is kept")
        self.recorder = None
        if trace:
            self.recorder = simt.Recorder() if limit is None else simt.Recorder(limit)
        if loop_steps is not None and not (isinstance(loop_steps, int) and loop_steps > 0):
            raise ValueError(f"loop_steps={loop_steps!r}; allowed are integers of 1 and more")
        self.pace = simt.Pace(loop_steps)
        self._wraparound = check_flag("wraparound", wraparound)
        self._launches = self._streams = 0
        #: Called after each launch with the number of launches so far.
        self.after_launch: Callable[[int], None] | None = None
        self._loop_budget = LOOP_BUDGET
        if (collected := _devices.get()) is not None:
            devices, self._loop_budget = collected
            devices.append(self)

    def __repr__(self) -> str:
        return f"SimtDevice(schedule={self.schedule!r})"

    @property
    def trace(self) -> Trace | None:
        """The trace so far, or None without tracing."""
        return None if self.recorder is None else self.recorder.trace

    def array(self, host: ArrayLike) -> NDArray:
        return np.array(as_array("host", host), copy=True)

    def keep(self, host: NDArray) -> NDArray:
        return self.array(host)

    def keep_made(self, owner: object, name: str, make: Callable[[], Kept]) -> Kept:
        return make()

    def put(self, array: Any, index: int, value: Any) -> None:
        array.reshape(-1)[index] = value

    def empty(self, shape: Shape, dtype: DTypeLike) -> NDArray:
        return simt.uninitialized(shape, dtype)

    def full(self, shape: Shape, value: Any, dtype: DTypeLike) -> NDArray:
        return np.full(shape, value, dtype)

    def full_all(self, shapes: Sequence[Shape], value: Any, dtype: DTypeLike) -> list[NDArray]:
        return [self.full(shape, value, dtype) for shape in shapes]

    def pinned(self, shape: Shape, dtype: DTypeLike) -> NDArray:
        # The content is undefined, so that a search that relies on zeros fails here too.
        array = np.empty(shape, dtype)
        array.view(np.uint8).fill(UNDEFINED)
        return array

    def clear(self, array: Any) -> None:
        array.fill(0)

    def fill(self, array: Any, value: Any) -> None:
        array.fill(value)

    def copy_stream(self) -> CopyStream:
        self._streams += 1
        return SimtCopies(self.schedule, self.seed + self._streams)

    def read(self, array: Any, into: NDArray | None = None) -> NDArray:
        if into is None:
            return np.array(array, copy=True)
        np.copyto(into, array, casting="no")
        return into

    def read_all(self, *arrays: Any) -> list[NDArray]:
        return [self.read(array) for array in arrays]

    def launch(
        self,
        kernel: Any,
        blocks: Shape,
        threads: Shape,
        *args: Any,
        shared: int = 0,
        cooperative: bool = False,
    ) -> None:
        cooperative = check_flag("cooperative", cooperative)
        if is_empty(blocks):
            return
        self._launches += 1
        simt.launch(
            kernel,
            blocks,
            threads,
            args,
            shared=shared,
            cooperative=cooperative,
            schedule=self.schedule,
            seed=self.seed + self._launches,
            recorder=self.recorder,
            check=self.check,
            loop_budget=self._loop_budget,
            pace=self.pace,
            wraparound=self._wraparound,
        )
        if self.after_launch is not None:
            self.after_launch(self._launches)

    def free_bytes(self) -> int:
        return sys.maxsize

    def cooperative_blocks(self, kernel: Any, threads: int, *args: Any) -> int:
        return max(1, self.resident_threads // threads)

    @contextlib.contextmanager
    def timer(self) -> Iterator[Elapsed]:
        result = Elapsed()
        start = time.perf_counter()
        yield result
        result.ms = (time.perf_counter() - start) * 1e3


@contextlib.contextmanager
def devices_made(loop_budget: int = LOOP_BUDGET) -> Iterator[list[SimtDevice]]:
    """Collect the SIMT machines that are made in the block, to look at their traces.

    Parameters
    ----------
    loop_budget : int
        Rounds of one loop after which these machines give up on it.

    Yields
    ------
    list of SimtDevice
        In the order in which they are made.
    """
    devices: list[SimtDevice] = []
    token = _devices.set((devices, loop_budget))
    try:
        yield devices
    finally:
        _devices.reset(token)
