"""What a program calls of ``numba.cuda`` on the host, on a device that is the SIMT machine.

Streams keep the order in which a program gives them work, because every call ends before the next
begins. Copies, fills and launches are done at once.
"""

from __future__ import annotations

import contextlib
import time
from collections import namedtuple
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gpukernels.simt.machine import MAX_BLOCK, MAX_GRID, MAX_SHARED, MAX_THREADS
from gpukernels.simulator.arrays import (
    DeviceArray,
    Direction,
    MappedArray,
    contiguous,
    empty,
)
from gpukernels.trace import WARP_SIZE

MemoryInfo = namedtuple("MemoryInfo", "free total")
#: Bytes that the device has, or so it says.
MEMORY = 16 << 30


# Arrays ------------------------------------------------------------


def to_device(obj: Any, stream: Any = 0, copy: bool = True, to: Any = None) -> DeviceArray:
    """Return an array on the device with the elements of `obj`, or write them to the array `to`."""
    if to is not None:
        to.copy_to_device(obj)
        return to
    if isinstance(obj, DeviceArray):
        return obj
    host = contiguous(np.asarray(obj))
    return DeviceArray(np.array(host, order="K", copy=True))


def device_array(
    shape: Any,
    dtype: DTypeLike = np.float64,
    strides: Any = None,
    order: str = "C",
    stream: Any = 0,
) -> DeviceArray:
    """Return an array on the device; reads of elements that nothing has written are found."""
    return DeviceArray(empty(shape, dtype, order))


def mapped_array(
    shape: Any, dtype: DTypeLike = np.float64, strides: Any = None, order: str = "C", **more: Any
) -> MappedArray:
    """Return an array of memory that host and device share."""
    return np.zeros(shape, dtype, order=order).view(MappedArray)


def pinned_array(
    shape: Any, dtype: DTypeLike = np.float64, strides: Any = None, order: str = "C"
) -> NDArray:
    """Return an array of the host that a GPU could copy directly."""
    return np.empty(shape, dtype, order=order)


def _order(array: Any) -> str:
    flags = array.flags
    return "F" if flags["F_CONTIGUOUS"] and not flags["C_CONTIGUOUS"] else "C"


def device_array_like(ary: Any, stream: Any = 0) -> DeviceArray:
    """Return an array on the device with the shape, type and order of `ary`."""
    return device_array(ary.shape, ary.dtype, order=_order(ary))


def mapped_array_like(ary: Any, stream: Any = 0, **more: Any) -> MappedArray:
    """Return an array of shared memory with the shape, type and order of `ary`."""
    return mapped_array(ary.shape, ary.dtype, order=_order(ary))


def pinned_array_like(ary: Any) -> NDArray:
    """Return an array of the host with the shape, type and order of `ary`."""
    return pinned_array(ary.shape, ary.dtype, order=_order(ary))


@contextlib.contextmanager
def pinned(*arrays: NDArray) -> Iterator[None]:
    """Run the block; arrays of the host need no pinning."""
    yield


@contextlib.contextmanager
def mapped(*arrays: NDArray, **more: Any) -> Iterator[Any]:
    """Yield the arrays, which host and device share in the block."""
    shared = [DeviceArray(contiguous(array)) for array in arrays]
    yield shared[0] if len(shared) == 1 else shared


def as_cuda_array(obj: Any, sync: bool = True) -> DeviceArray:
    """Return an array of the machine's device as it is.

    Raises
    ------
    TypeError
        For the array of another library, which lies in the memory of a GPU.
    """
    if isinstance(obj, DeviceArray):
        return obj
    raise TypeError(f"*obj* is a {type(obj).__name__}, no array of the SIMT machine")


def is_cuda_array(obj: Any) -> bool:
    """Return whether `obj` has the CUDA array interface."""
    return hasattr(obj, "__cuda_array_interface__")


class In(Direction):
    """An argument that a launch reads."""


class Out(Direction):
    """An argument that a launch writes."""


class InOut(Direction):
    """An argument that a launch reads and writes."""


# Streams, events, devices ------------------------------------------------------------


class Stream:
    """A stream; its work is done when it is given."""

    handle = 0

    def synchronize(self) -> None:
        """Return at once: nothing is pending."""

    @contextlib.contextmanager
    def auto_synchronize(self) -> Iterator[Stream]:
        """Yield the stream."""
        yield self

    def add_callback(self, callback: Any, arg: Any = None) -> None:
        """Call `callback` with the stream, status 0 and `arg`."""
        callback(self, 0, arg)

    def __bool__(self) -> bool:
        return True


def stream(handle: Any = None) -> Stream:
    """Return a stream."""
    return Stream()


class Event:
    """A point in time, by the host's clock."""

    def __init__(self, timing: bool = True):
        self._at = 0.0

    def record(self, stream: Any = 0) -> None:
        """Note the time."""
        self._at = time.perf_counter()

    def query(self) -> bool:
        """Return True: what was recorded is done."""
        return True

    def synchronize(self) -> None:
        """Return at once: nothing is pending."""

    def wait(self, stream: Any = 0) -> None:
        """Return at once: nothing is pending."""

    def elapsed_time(self, end: Event) -> float:
        """Return the milliseconds from this event to `end`; they are the machine's, not a GPU's."""
        return 1e3 * (end._at - self._at)


def event_elapsed_time(start: Event, end: Event) -> float:
    """Return the milliseconds between two events."""
    return start.elapsed_time(end)


class Context:
    """The context of the only device."""

    def __init__(self, device: Device):
        self.device = device

    def get_memory_info(self) -> MemoryInfo:
        """Return the bytes that are free, and all."""
        return MemoryInfo(MEMORY, MEMORY)

    def __getattr__(self, name: str) -> Any:
        if name in ("synchronize", "reset", "push", "pop", "prepare_for_use"):
            return lambda *args: None
        raise AttributeError(f"the context of the SIMT machine has no {name!r}")

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *error: Any) -> None:
        pass


class Device:
    """The only device: the SIMT machine, with the limits of a GPU of compute capability 9.0."""

    id = 0
    name = b"SIMT machine"
    compute_capability = (9, 0)
    uuid = "GPU-00000000-0000-0000-0000-000000000000"
    WARP_SIZE = WARP_SIZE
    MULTIPROCESSOR_COUNT = 16
    MAX_THREADS_PER_BLOCK = MAX_THREADS
    MAX_THREADS_PER_MULTI_PROCESSOR = MAX_THREADS
    MAX_BLOCK_DIM_X, MAX_BLOCK_DIM_Y, MAX_BLOCK_DIM_Z = MAX_BLOCK
    MAX_GRID_DIM_X, MAX_GRID_DIM_Y, MAX_GRID_DIM_Z = MAX_GRID
    MAX_SHARED_MEMORY_PER_BLOCK = MAX_SHARED
    TOTAL_CONSTANT_MEMORY = 64 * 1024
    CLOCK_RATE = 1_000_000
    COOPERATIVE_LAUNCH = CAN_MAP_HOST_MEMORY = UNIFIED_ADDRESSING = MANAGED_MEMORY = 1

    def reset(self) -> None:
        """Do nothing: the machine keeps no state between launches."""

    def get_primary_context(self) -> Context:
        """Return the context."""
        return Context(self)

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *error: Any) -> None:
        pass


class Devices(list):
    """The devices: the machine alone."""

    @property
    def current(self) -> Device:
        """The device in use."""
        return self[0]


gpus = Devices([Device()])


def select_device(device_id: int) -> Context:
    """Return the context of the device; there is only number 0."""
    if device_id != 0:
        raise IndexError(f"device_id={device_id!r}; allowed is 0: there is one device")
    return Context(gpus[0])


def current_context(devnum: int | None = None) -> Context:
    """Return the context of the device."""
    return select_device(devnum or 0)


def detect() -> bool:
    """Print the device, and return True."""
    print("Found 1 CUDA devices\nid 0    b'SIMT machine'    [SUPPORTED]")
    return True


@contextlib.contextmanager
def nothing(*args: Any, **more: Any) -> Iterator[None]:
    """Run the block as it is."""
    yield


def _true() -> bool:
    return True


def _none(*args: Any, **more: Any) -> None:
    return None


#: Names of ``numba.cuda`` and their meaning here.
NAMES: dict[str, Any] = {
    "to_device": to_device,
    "device_array": device_array,
    "device_array_like": device_array_like,
    "mapped_array": mapped_array,
    "managed_array": mapped_array,
    "mapped_array_like": mapped_array_like,
    "pinned_array": pinned_array,
    "pinned_array_like": pinned_array_like,
    "pinned": pinned,
    "mapped": mapped,
    "as_cuda_array": as_cuda_array,
    "from_cuda_array_interface": as_cuda_array,
    "is_cuda_array": is_cuda_array,
    "In": In,
    "Out": Out,
    "InOut": InOut,
    **dict.fromkeys(
        (
            *("stream", "default_stream", "legacy_default_stream"),
            *("per_thread_default_stream", "external_stream"),
        ),
        stream,
    ),
    "event": Event,
    "event_elapsed_time": event_elapsed_time,
    "gpus": gpus,
    "select_device": select_device,
    "get_current_device": lambda: gpus[0],
    "current_context": current_context,
    "list_devices": lambda: gpus,
    "detect": detect,
    "is_available": _true,
    "is_supported_version": _true,
    "is_float16_supported": _true,
    "cuda_error": _none,
    **dict.fromkeys(("synchronize", "close", "profile_start", "profile_stop"), _none),
    **dict.fromkeys(("profiling", "defer_cleanup"), nothing),
    "require_context": lambda function: function,
}
