"""Where kernels run: a CUDA GPU, or the SIMT machine. Both are a `Device`, driven in one way."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import math
import os
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from gpukernels import simt
from gpukernels.checks import as_array, check_flag, check_seed, is_whole
from gpukernels.device import cuda_memory
from gpukernels.device.copy_streams import CopyStream, CudaCopies, SimtCopies
from gpukernels.device.cuda_arguments import Launch, kind_of
from gpukernels.errors import InvalidArgument
from gpukernels.simt.machine import RESIDENT_THREADS
from gpukernels.simt.schedules import SCHEDULES
from gpukernels.trace import Trace
from gpukernels.trace.summary import Summary

#: One size or one for each dimension, as NumPy and numba take them.
Shape = int | tuple[int, ...]

_tracing: contextvars.ContextVar[SimtDevice | None]
_tracing = contextvars.ContextVar("tracing", default=None)
_made: contextvars.ContextVar[list[SimtDevice] | None]
_made = contextvars.ContextVar("made", default=None)

#: Of every open ``with trace():``, the threads that were there when it was opened.
_open_traces: list[weakref.WeakSet[threading.Thread]] = []

Kernel = TypeVar("Kernel")
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


class Device(Protocol):
    """What launches kernels: a :class:`CudaDevice` or a :class:`SimtDevice`.

    Attributes
    ----------
    name : str
        What it is called.
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
        """Return a copy of the read-only array `host`, for kernels that only read it."""

    def keep_made(self, owner: object, name: str, make: Callable[[], Kept]) -> Kept:
        """Return what ``make()`` returns: what follows from `owner`, or room for what does."""

    def put(self, array: DeviceArray, index: int, value: Any) -> None:
        """Set one element of `array`, counted from 0 through all its rows."""

    def empty(self, shape: Shape, dtype: DTypeLike) -> DeviceArray:
        """Return an uninitialized array."""

    def full(self, shape: Shape, value: Any, dtype: DTypeLike) -> DeviceArray:
        """Return an array filled with `value`."""

    def full_all(
        self, shapes: Sequence[Shape], value: Any, dtype: DTypeLike
    ) -> Sequence[DeviceArray]:
        """Return arrays filled with `value`, that a device may make, fill and read together."""

    def pinned(self, shape: Shape, dtype: DTypeLike) -> NDArray:
        """Return a host array of zeros to read results into."""

    def clear(self, array: DeviceArray) -> None:
        """Set every element of `array` to zero."""

    def fill(self, array: DeviceArray, value: Any) -> None:
        """Set every element of `array` to `value`."""

    def copy_stream(self) -> CopyStream:
        """Return a queue of copies between host and device that run beside launches."""

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
        of a `cooperative` launch may wait for each other.
        """

    def free_bytes(self) -> int:
        """Return how many bytes new arrays may take."""

    def cooperative_blocks(self, kernel: Any, threads: int, *args: Any) -> int:
        """Return how many blocks of `threads` threads a cooperative launch may have at most."""

    def timer(self) -> AbstractContextManager[Elapsed]:
        """Time the launches of a ``with`` block; ``.ms`` of what it gives holds milliseconds."""


class SimtDevice:
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
        self._launches = self._streams = 0
        if (made := _made.get()) is not None:
            made.append(self)

    def __repr__(self) -> str:
        return f"SimtDevice(schedule={self.schedule!r})"

    @property
    def trace(self) -> Trace | None:
        """The trace so far, or None without tracing."""
        return None if self.recorder is None else self.recorder.trace

    def array(self, host: ArrayLike) -> NDArray:
        """Return a copy of `host` that kernels may change."""
        return np.array(as_array("host", host), copy=True)

    def keep(self, host: NDArray) -> NDArray:
        """Return a copy of the read-only array `host`, for kernels that only read it."""
        return self.array(host)

    def keep_made(self, owner: object, name: str, make: Callable[[], Kept]) -> Kept:
        """Return what ``make()`` returns; made every time, so that each trace has it."""
        return make()

    def put(self, array: Any, index: int, value: Any) -> None:
        """Set one element of `array`, counted from 0 through all its rows."""
        array.reshape(-1)[index] = value

    def empty(self, shape: Shape, dtype: DTypeLike) -> NDArray:
        """Return an uninitialized array; under `check`, reading it before writing is an error."""
        return simt.uninitialized(shape, dtype)

    def full(self, shape: Shape, value: Any, dtype: DTypeLike) -> NDArray:
        """Return an array filled with `value`."""
        return np.full(shape, value, dtype)

    def full_all(self, shapes: Sequence[Shape], value: Any, dtype: DTypeLike) -> list[NDArray]:
        """Return arrays filled with `value`, each with memory of its own."""
        return [self.full(shape, value, dtype) for shape in shapes]

    def pinned(self, shape: Shape, dtype: DTypeLike) -> NDArray:
        """Return a host array of zeros to read results into; here, an ordinary one."""
        return np.zeros(shape, dtype)

    def clear(self, array: Any) -> None:
        """Set every element of `array` to zero."""
        array.fill(0)

    def fill(self, array: Any, value: Any) -> None:
        """Set every element of `array` to `value`."""
        array.fill(value)

    def copy_stream(self) -> CopyStream:
        """Return a queue of copies beside launches; the schedule says when they are made."""
        self._streams += 1
        return SimtCopies(self.schedule, self.seed + self._streams)

    def read(self, array: Any, into: NDArray | None = None) -> NDArray:
        """Return the array's contents on the host: in `into` where given, else in a new array."""
        if into is None:
            return np.array(array, copy=True)
        np.copyto(into, array, casting="no")
        return into

    def read_all(self, *arrays: Any) -> list[NDArray]:
        """Return the contents of arrays."""
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
        """Launch `kernel` on `blocks` blocks of `threads` threads and wait for it.

        A NumPy array among `args` is changed in place. A launch of zero blocks does nothing.
        """
        cooperative = check_flag("cooperative", cooperative)
        if _empty(blocks):
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
            pace=self.pace,
        )

    def free_bytes(self) -> int:
        """Return how many bytes new arrays may take: no limit of its own, only the host's."""
        return sys.maxsize

    def cooperative_blocks(self, kernel: Any, threads: int, *args: Any) -> int:
        """Return how many blocks of `threads` threads a cooperative launch may have at most."""
        return max(1, self.resident_threads // threads)

    @contextlib.contextmanager
    def timer(self) -> Iterator[Elapsed]:
        """Time the block's launches on the host; ``.ms`` of the result holds milliseconds.

        The machine's time says nothing about a GPU's.
        """
        result = Elapsed()
        start = time.perf_counter()
        yield result
        result.ms = (time.perf_counter() - start) * 1e3


class CudaDevice:
    """The current CUDA GPU.

    Memory of its arrays is lent by :mod:`gpukernels.device.cuda_memory`: that of one call serves
    the next.

    Raises
    ------
    RuntimeError
        If no GPU answers.

    Examples
    --------
    >>> import gpukernels as gk
    >>> from numba import cuda
    >>> device = gk.CudaDevice() if cuda.is_available() else gk.SimtDevice()
    >>> copy = device.array([3, 1, 2])
    >>> device.read(copy)
    array([3, 1, 2])
    """

    def __init__(self):
        from numba import cuda

        if not cuda.is_available():
            raise RuntimeError(
                "no CUDA GPU answers; use SimtDevice() here, or GPUKERNELS_DEVICE=simt, or "
                "run on a "
                "machine with a GPU"
            )
        self._cuda = cuda
        device = cuda.get_current_device()
        name = device.name
        self.name = name.decode() if isinstance(name, bytes) else name
        # NVIDIA's bindings and numba's own table spell this attribute differently.
        resident = getattr(device, "MAX_THREADS_PER_MULTIPROCESSOR", None)
        if resident is None:
            resident = device.MAX_THREADS_PER_MULTI_PROCESSOR
        self.resident_threads = device.MULTIPROCESSOR_COUNT * resident

    def __repr__(self) -> str:
        return f"CudaDevice({self.name!r})"

    def array(self, host: ArrayLike) -> DeviceArray:
        """Return a copy of `host` on the device."""
        host = np.asarray(as_array("host", host), order="C")  # of no dimensions, if `host` has none
        array = self.empty(host.shape, host.dtype)
        cuda_memory.write(array, host)
        return array

    def keep(self, host: NDArray) -> DeviceArray:
        """Return a device copy of the read-only array `host` that is made once.

        It stays on the GPU as long as `host` lives, so a second search of one graph does not copy
        the graph again. Kernels must only read it.
        """
        if not isinstance(host, np.ndarray) or host.flags.writeable:
            return self.array(host)
        of_gpu = cuda_memory.current().kept
        kept = of_gpu.get(id(host))
        if kept is None:
            # Not lent: it is freed with the graph.
            whole = np.asarray(host, order="C")
            kept = self._cuda.device_array(whole.shape, whole.dtype)
            cuda_memory.write(kept, whole)
            kept._handed_over = []
            of_gpu[id(host)] = kept  # once it is filled: another thread may ask
            weakref.finalize(host, of_gpu.pop, id(host), None)
        return kept

    def keep_made(self, owner: object, name: str, make: Callable[[], Kept]) -> Kept:
        """Return what ``make()`` returned when it was first asked for by this `owner` and `name`.

        It stays on the GPU as long as `owner` lives. Whoever asks must not count on what kernels
        have written there since.
        """
        of_gpu, key = cuda_memory.current().kept, (id(owner), name)
        kept = of_gpu.get(key)
        if kept is None:
            of_gpu[key] = kept = make()
            weakref.finalize(owner, of_gpu.pop, key, None)
        return kept

    def put(self, array: Any, index: int, value: Any) -> None:
        """Set one element of `array`, counted from 0 through all its rows."""
        cuda_memory.put(array, index, value)

    def empty(self, shape: Shape, dtype: DTypeLike) -> DeviceArray:
        """Return an uninitialized device array."""
        return cuda_memory.current().empty(shape, dtype)

    def full(self, shape: Shape, value: Any, dtype: DTypeLike) -> DeviceArray:
        """Return a device array filled with `value`."""
        array = self.empty(shape, dtype)
        cuda_memory.fill(array, value)
        return array

    def full_all(self, shapes: Sequence[Shape], value: Any, dtype: DTypeLike) -> list[DeviceArray]:
        """Return arrays filled with `value`, side by side in memory: for one call of the driver."""
        arrays = cuda_memory.current().side_by_side(shapes, dtype)
        cuda_memory.fill_all(arrays, value)
        return arrays

    def pinned(self, shape: Shape, dtype: DTypeLike) -> NDArray:
        """Return a page-locked host array of zeros: what is read into it is copied once."""
        array = cuda_memory.current().pinned_array(shape, dtype)
        if array is None:
            array = self._cuda.pinned_array(shape, dtype)
        array.fill(0)
        return array

    def clear(self, array: Any) -> None:
        """Set every byte of `array` to zero, after the launches made so far; does not wait."""
        if array.size:
            array.gpu_data.memset(0, array.nbytes)

    def fill(self, array: Any, value: Any) -> None:
        """Set every element of `array` to `value`, after the launches made so far."""
        cuda_memory.fill(array, value)

    def copy_stream(self) -> CopyStream:
        """Return a stream of copies, which run beside the launches of the default stream."""
        return CudaCopies(self._cuda)

    def read(self, array: Any, into: NDArray | None = None) -> NDArray:
        """Return the array's contents on the host: in `into` where given, else in a new array.

        A GPU copies many times as fast into page-locked memory: a new array of some megabytes lies
        there, and a larger one, or `into`, is filled in pieces by way of it.
        """
        if not hasattr(array, "copy_to_host"):
            array = self.array(array)
        memory = cuda_memory.current()  # which a thread that has just begun must ask for
        return memory.read(array) if into is None else cuda_memory.read(array, into)

    def read_all(self, *arrays: Any) -> list[NDArray]:
        """Return the contents of arrays: of those side by side in memory, by one copy."""
        return cuda_memory.current().read_all(arrays)

    def launch(
        self,
        kernel: Any,
        blocks: Shape,
        threads: Shape,
        *args: Any,
        shared: int = 0,
        cooperative: bool = False,
    ) -> None:
        """Launch ``kernel[blocks, threads](*args)``; does not wait unless `args` has NumPy arrays.

        numba makes a launch cooperative where the kernel has a grid sync; here one that makes its
        own barrier is so too if it is launched as `cooperative`: the driver holds all its blocks at
        once or refuses.
        """
        cooperative = check_flag("cooperative", cooperative)
        if _empty(blocks):
            return
        # What is kept is found by the sizes: numba takes lists of them too.
        blocks = tuple(blocks) if isinstance(blocks, list) else blocks
        threads = tuple(threads) if isinstance(threads, list) else threads
        configured = _configured(kernel, blocks, threads, shared)
        if cooperative:
            block = math.prod(threads) if isinstance(threads, tuple) else threads
            self.cooperative_blocks(kernel, block, *args)
        with _without_advice("Host array") if _hold_host_array(args) else contextlib.nullcontext():
            configured(*args)

    def free_bytes(self) -> int:
        """Return how many bytes of the GPU's memory new arrays may take."""
        return cuda_memory.current().free_bytes()

    def cooperative_blocks(self, kernel: Any, threads: int, *args: Any) -> int:
        """Return how many blocks of `threads` threads a cooperative launch may have at most.

        That many fit the GPU at once, given the registers and the shared memory that `kernel` takes
        when it is compiled for arguments like `args`.
        """
        known = cuda_memory.current().cooperative_blocks
        key = kernel, threads, *map(kind_of, args)
        if key not in known:
            compiled = kernel.compile(tuple(kernel.typeof_pyval(a) for a in args))
            compiled.cooperative = True  # what numba asks when it launches
            known[key] = compiled.max_cooperative_grid_blocks(threads)
        return known[key]

    @contextlib.contextmanager
    def timer(self) -> Iterator[Elapsed]:
        """Time the block's work on the GPU between two events; ``.ms`` holds milliseconds.

        ``.late`` tells whether the GPU came to the first event before the host had queued the last:
        then it may have waited for the host, and the time holds that.
        """
        result = Elapsed()
        start, stop = self._cuda.event(), self._cuda.event()
        start.record()
        yield result
        stop.record()
        result.late = start.query()
        result.when_queued()
        stop.synchronize()
        result.ms = self._cuda.event_elapsed_time(start, stop)


class Elapsed:
    """A time in milliseconds, set when its ``with`` block ends."""

    ms: float = float("nan")
    #: Whether a GPU may have waited for the host meanwhile.
    late: bool = False

    def when_queued(self) -> None:
        """Do what is to be done when all is queued; to be set within the block."""

    def __repr__(self) -> str:
        return f"{self.ms:.3f} ms"


@functools.lru_cache(maxsize=256)
def _configured(kernel, blocks, threads, shared):
    """Return what launches `kernel`; kept, as changing the filters of warnings takes 10 us."""
    # Teaching graphs are small on purpose; numba's advice about small grids would drown the page.
    with _without_advice("Grid size"):
        return Launch(kernel, kernel[blocks, threads, 0, shared])


@contextlib.contextmanager
def _without_advice(about: str) -> Iterator[None]:
    """Pass over warnings that say so."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=f".*{about}.*")
        yield


def _hold_host_array(args: tuple) -> bool:
    for a in args:
        # A tuple that has kept what numba made of it has none: see `cuda_arguments`.
        if isinstance(a, tuple) and not getattr(a, "_handed_over", None):
            if _hold_host_array(a):
                return True
        elif isinstance(a, np.ndarray):
            return True
    return False


def _empty(blocks: Shape) -> bool:
    if type(blocks) is int:
        return blocks == 0
    sizes = blocks if isinstance(blocks, (tuple, list)) else (blocks,)
    return any(is_whole(size) and size == 0 for size in sizes)


def default_device() -> Device:
    """Return the device that is used where none is given.

    Inside ``with trace():`` it is the tracing SIMT machine. Otherwise ``GPUKERNELS_DEVICE`` decides
    (``cuda`` or ``simt``); without it, CUDA if a GPU answers, else the SIMT machine. A thread that
    has been started inside ``with trace():`` is not part of it, and is told so by a warning.

    Raises
    ------
    RuntimeError
        For ``GPUKERNELS_DEVICE=cuda`` without a GPU.
    ValueError
        For any other value of ``GPUKERNELS_DEVICE``.

    Examples
    --------
    >>> import gpukernels as gk
    >>> with gk.trace():
    ...     gk.default_device()
    SimtDevice(schedule='lockstep')
    """
    tracing = _tracing.get()
    if tracing is not None:
        return tracing
    _warn_if_started_in_a_trace()
    wanted = os.environ.get("GPUKERNELS_DEVICE", "")
    if wanted not in ("", "cuda", "simt"):
        raise ValueError(f"GPUKERNELS_DEVICE={wanted!r}; allowed are 'cuda' and 'simt'")
    if wanted == "simt" or (wanted == "" and not _gpu_answers()):
        return SimtDevice()
    return CudaDevice()


def _warn_if_started_in_a_trace() -> None:
    """Warn where a trace is open that began before this thread, which does not inherit it."""
    thread = threading.current_thread()
    if any(thread not in there for there in tuple(_open_traces)):
        warnings.warn(
            f"thread {thread.name!r} was started inside `with gk.trace()`, which records the "
            "thread that opened it alone: what runs here is not traced. Open a trace in this "
            "thread, or start it as Thread(target=contextvars.copy_context().run, args=(f,))",
            stacklevel=4,
        )


def chosen_device(device: Device | None) -> Device:
    """Return `device`, or the default device for None.

    Raises
    ------
    InvalidArgument
        If `device` is a class, or something that launches no kernels.
    """
    if device is None:
        return default_device()
    if isinstance(device, type) or not callable(getattr(device, "launch", None)):
        raise InvalidArgument("device", device, "a SimtDevice() or a CudaDevice()")
    return device


def _gpu_answers() -> bool:
    try:
        from numba import cuda

        return bool(cuda.is_available())
    except Exception:  # a broken driver installation is the same as none
        return False


class Tracing:
    """What ``with trace() as t`` gives: the trace and its summary, also after the block."""

    def __init__(self, device: SimtDevice):
        self.device = device

    @property
    def trace(self) -> Trace:
        """The :class:`~gpukernels.trace.Trace` recorded so far."""
        trace = self.device.trace
        assert trace is not None  # the device is made to trace
        return trace

    def summary(self, by: str = "kernel") -> Summary:
        """Return the metrics per ``"kernel"``, ``"launch"`` or ``"line"`` as a table."""
        return self.trace.summary(by)


@contextlib.contextmanager
def trace(schedule: str = "lockstep", seed: int = 0, limit: int | None = None) -> Iterator[Tracing]:
    """Record every launch of the block on the SIMT machine, whatever the hardware.

    A trace is that of the thread that opens it: one that is started inside runs untraced, on the
    device that it would have had without, and a warning says so.

    Parameters
    ----------
    schedule, seed, limit
        As for :class:`SimtDevice`. A long trace lies in temporary files.

    Yields
    ------
    Tracing
        Its ``.trace`` and ``.summary()``.

    Examples
    --------
    >>> import gpukernels as gk
    >>> with gk.trace() as t:
    ...     r = gk.bfs(gk.example(), method="frontier")
    >>> summary = t.summary()
    >>> int(summary["expand_frontier"]["launches"])
    6
    >>> round(summary["expand_frontier"]["SIMD efficiency"], 3)
    0.287
    """
    device = SimtDevice(schedule=schedule, seed=seed, trace=True, limit=limit)
    token = _tracing.set(device)
    there = weakref.WeakSet(threading.enumerate())
    there.add(threading.current_thread())
    _open_traces.append(there)
    try:
        yield Tracing(device)
    finally:
        _tracing.reset(token)
        _open_traces[:] = [other for other in _open_traces if other is not there]


@contextlib.contextmanager
def devices_made() -> Iterator[list[SimtDevice]]:
    """Collect the SIMT machines that are made in the block, to look at their traces.

    Yields
    ------
    list of SimtDevice
        In the order in which they are made.
    """
    devices: list[SimtDevice] = []
    token = _made.set(devices)
    try:
        yield devices
    finally:
        _made.reset(token)


def benign_race(*arrays: str) -> Callable[[Kernel], Kernel]:
    """Declare that races on these arrays are benign; goes above ``@cuda.jit``.

    The kernel's docstring says why. The declaration changes nothing about how the kernel runs.

    Parameters
    ----------
    *arrays : str
        Names of the kernel's parameters or of its shared arrays; of an array in a named tuple, the
        field of the class by which the parameter is annotated.

    Examples
    --------
    >>> import numpy as np
    >>> from numba import cuda
    >>> import gpukernels as gk
    >>> @gk.benign_race("found")
    ... @cuda.jit
    ... def find(a, wanted, found):
    ...     # Every thread that finds it stores the same 1: their order does not matter.
    ...     i = cuda.grid(1)
    ...     if i < a.size and a[i] == wanted:
    ...         found[0] = 1
    >>> found = np.zeros(1, np.int32)
    >>> gk.SimtDevice(check=True).launch(find, 1, 32, np.array([4, 7, 7]), 7, found)
    >>> found
    array([1], dtype=int32)
    """

    def declare(kernel: Kernel) -> Kernel:
        function = simt.python_function(kernel)
        kinds = [function.__globals__.get(k, k) for k in function.__annotations__.values()]
        fields = {field for kind in kinds for field in getattr(kind, "_fields", ())}
        unknown = set(arrays) - set(function.__code__.co_varnames) - fields
        if unknown:
            raise ValueError(f"benign_race: {function.__name__} has no array {sorted(unknown)}")
        function.__benign_races__ = frozenset(arrays)
        return kernel

    return declare
