"""A CUDA GPU as a device, by numba."""

from __future__ import annotations

import contextlib
import functools
import math
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from gpukernels.checks import as_array, check_flag
from gpukernels.cores.kept_code import keep

from . import cuda_memory, successor
from .base import Device, DeviceArray, Elapsed, Kept, Shape, is_empty
from .copy_streams import CopyStream, CudaCopies
from .cuda_arguments import Launch, kind_of


class CudaDevice(Device):
    """The current CUDA GPU.

    Memory of its arrays is lent by :mod:`gpukernels.device.cuda_memory`: the memory of one call is
    used again by the next.

    Kernels are compiled by numba-cuda, or by its successor where ``GPUKERNELS_COMPILER`` is
    ``numba-cuda-mlir``: see :mod:`gpukernels.device.successor`.

    Raises
    ------
    MissingTool
        If the compiler that is asked for is not installed.
    RuntimeError
        If no GPU answers.
    ValueError
        If ``GPUKERNELS_COMPILER`` is neither ``numba-cuda`` nor ``numba-cuda-mlir``.

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
                "no CUDA GPU answers; use SimtDevice() here, or GPUKERNELS_DEVICE=simt, or run on "
                "a machine with a GPU"
            )
        self._cuda = cuda
        self._compiled = successor.of_successor if successor.is_chosen() else _kept
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
        host = np.asarray(as_array("host", host), order="C")  # of no dimensions, if `host` has none
        array = self.empty(host.shape, host.dtype)
        cuda_memory.write(array, host)
        return array

    def keep(self, host: NDArray) -> DeviceArray:
        if not isinstance(host, np.ndarray) or host.flags.writeable:
            return self.array(host)
        of_gpu = cuda_memory.current().kept
        array = of_gpu.get(id(host))
        if array is None:
            # Not lent: it is freed with the graph.
            whole = np.asarray(host, order="C")
            array = self._cuda.device_array(whole.shape, whole.dtype)
            cuda_memory.write(array, whole)
            array._handed_over = []
            of_gpu[id(host)] = array  # once it is filled: another thread may ask
            weakref.finalize(host, of_gpu.pop, id(host), None)
        return array

    def keep_made(self, owner: object, name: str, make: Callable[[], Kept]) -> Kept:
        of_gpu, key = cuda_memory.current().kept, (id(owner), name)
        item = of_gpu.get(key)
        if item is None:
            of_gpu[key] = item = make()
            weakref.finalize(owner, of_gpu.pop, key, None)
        return item

    def put(self, array: Any, index: int, value: Any) -> None:
        cuda_memory.put(array, index, value)

    def empty(self, shape: Shape, dtype: DTypeLike) -> DeviceArray:
        return cuda_memory.current().empty(shape, dtype)

    def full(self, shape: Shape, value: Any, dtype: DTypeLike) -> DeviceArray:
        array = self.empty(shape, dtype)
        cuda_memory.fill(array, value)
        return array

    def full_all(self, shapes: Sequence[Shape], value: Any, dtype: DTypeLike) -> list[DeviceArray]:
        arrays = cuda_memory.current().side_by_side(shapes, dtype)
        cuda_memory.fill_all(arrays, value)
        return arrays

    def pinned(self, shape: Shape, dtype: DTypeLike) -> NDArray:
        array = cuda_memory.current().pinned_array(shape, dtype)
        return self._cuda.pinned_array(shape, dtype) if array is None else array

    def clear(self, array: Any) -> None:
        if array.size:
            array.gpu_data.memset(0, array.nbytes)

    def fill(self, array: Any, value: Any) -> None:
        cuda_memory.fill(array, value)

    def copy_stream(self) -> CopyStream:
        return CudaCopies(self._cuda)

    def read(self, array: Any, into: NDArray | None = None) -> NDArray:
        if not hasattr(array, "copy_to_host"):
            array = self.array(array)
        # A GPU copies many times as fast into locked pages: a new array of some megabytes lies
        # there, and a larger one, or `into`, is filled in pieces by way of them.
        memory = cuda_memory.current()  # which a thread that has just begun must ask for
        return memory.read(array) if into is None else cuda_memory.read(array, into)

    def read_all(self, *arrays: Any) -> list[NDArray]:
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
        cooperative = check_flag("cooperative", cooperative)
        if is_empty(blocks):
            return
        # numba also accepts lists here, but the key of the cache must be hashable.
        blocks = tuple(blocks) if isinstance(blocks, list) else blocks
        threads = tuple(threads) if isinstance(threads, list) else threads
        configured = _configured(self._compiled, kernel, blocks, threads, shared)
        # numba makes a launch cooperative where the kernel has a grid sync; a kernel with a barrier
        # of its own is made so here: the driver holds all its blocks at once or refuses.
        if cooperative:
            block = math.prod(threads) if isinstance(threads, tuple) else threads
            self.cooperative_blocks(kernel, block, *args)
        with _without_advice("Host array") if _hold_host_array(args) else contextlib.nullcontext():
            configured(*args)

    def free_bytes(self) -> int:
        return cuda_memory.current().free_bytes()

    def cooperative_blocks(self, kernel: Any, threads: int, *args: Any) -> int:
        known = cuda_memory.current().cooperative_blocks
        key = self._compiled, kernel, threads, *map(kind_of, args)
        if key not in known:
            dispatcher = self._compiled(kernel)
            compiled = dispatcher.compile(tuple(dispatcher.typeof_pyval(a) for a in args))
            compiled.cooperative = True  # what numba asks when it launches
            getattr(compiled, "metadata", {})["use_cooperative"] = True  # and its successor
            known[key] = compiled.max_cooperative_grid_blocks(threads)
        return known[key]

    @contextlib.contextmanager
    def timer(self) -> Iterator[Elapsed]:
        result = Elapsed()
        start, stop = self._cuda.event(), self._cuda.event()
        start.record()
        yield result
        stop.record()
        result.late = _is_reached(start)
        result.when_queued()
        stop.synchronize()
        result.ms = self._cuda.event_elapsed_time(start, stop)


def _is_reached(event: Any) -> bool:
    """Return whether the GPU has done what was queued before an event."""
    try:
        return event.query()
    except TypeError:  # numba-cuda 0.22.2, Colab's, hands over a pointer, where a number is taken
        return type(event)(event.handle.value).query()


def _kept(kernel):
    keep(kernel)
    return kernel


@functools.lru_cache(maxsize=256)
def _configured(compiled, kernel, blocks, threads, shared):
    """Return a launcher of `kernel`; kept, as changing the filters of warnings takes 10 us."""
    dispatcher = compiled(kernel)
    # Teaching graphs are small on purpose; numba's advice about small grids would drown the page.
    with _without_advice("Grid size"):
        return Launch(dispatcher, dispatcher[blocks, threads, 0, shared])


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
