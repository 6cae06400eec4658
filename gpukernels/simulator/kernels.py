"""Kernels and their launches in numba's forms: ``kernel[grid, block, stream, shared](...)``."""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from gpukernels.simt.errors import KernelError
from gpukernels.simt.machine import RESIDENT_THREADS
from gpukernels.simt.names import cuda as names
from gpukernels.simt.names import is_registered
from gpukernels.simt.names.types import signatures
from gpukernels.simt.translate import intrinsics
from gpukernels.simulator import session
from gpukernels.simulator.arrays import plain

#: Threads of a block where the program leaves the choice to the device.
DEFAULT_BLOCK = 128


class Configured:
    """A kernel with the shape of its launch; a call launches it and waits."""

    def __init__(self, kernel: Any, grid: Any, block: Any, stream: Any = 0, shared: int = 0):
        self.kernel, self.grid, self.block, self.shared = kernel, grid, block, shared

    def __call__(self, *args: Any) -> None:
        """Launch the kernel; arrays are changed in place."""
        __tracebackhide__ = True
        values = [plain(value) for value in args]
        if declared := getattr(self.kernel, "declared", None):
            values = as_declared(self.kernel.__name__, declared, values)
        try:
            session.current().launch(self.kernel, self.grid, self.block, values, self.shared)
        except KernelError as error:  # its own lines are the kernel's; the machine's help nobody
            raise error.with_traceback(None) from None


class Tasks:
    """A kernel that runs at least `tasks` threads of one dimension."""

    def __init__(self, kernel: Any, tasks: int, block: int, stream: Any = 0, shared: int = 0):
        if tasks < 0:
            raise ValueError(f"ntasks={tasks}; allowed are 0 and more")
        self.kernel, self.tasks, self.shared = kernel, tasks, shared
        self.block = block or DEFAULT_BLOCK

    def __call__(self, *args: Any) -> None:
        """Launch the kernel, unless there is no task."""
        if self.tasks:
            blocks = -(-self.tasks // self.block)
            Configured(self.kernel, blocks, self.block, shared=self.shared)(*args)


def configure(kernel: Any, shape: Any) -> Configured:
    """Return `kernel` with a launch of ``kernel[shape]``: grid, block, stream, shared memory."""
    if not isinstance(shape, tuple) or not 2 <= len(shape) <= 4:
        raise ValueError("must specify at least the griddim and blockdim")
    return Configured(kernel, *shape)


def forall(kernel: Any, ntasks: int, tpb: int = 0, stream: Any = 0, sharedmem: int = 0) -> Tasks:
    """Return `kernel` with a launch of at least `ntasks` threads."""
    return Tasks(kernel, ntasks, tpb, stream, sharedmem)


class Kernel(names.Kernel):
    """A kernel or device function, as ``cuda.jit`` makes it; nothing is compiled."""

    def __init__(self, function: Callable, types: list, is_device: bool):
        super().__init__(function, types, is_device)
        self.__qualname__ = function.__qualname__
        self.declared = () if is_device else tuple(types)

    def __getitem__(self, shape: Any) -> Configured:
        return configure(self, shape)

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return self

    def configure(
        self, griddim: Any, blockdim: Any, stream: Any = 0, sharedmem: int = 0
    ) -> Configured:
        """Return the kernel with the shape of a launch."""
        return Configured(self, griddim, blockdim, stream, sharedmem)

    forall = forall

    def specialize(self, *args: Any) -> Kernel:
        """Return the kernel itself: one serves all types."""
        return self

    def compile(self, signature: Any) -> Kernel:
        """Return the kernel itself: nothing is compiled."""
        return self

    @property
    def signatures(self) -> list[tuple]:
        """The types of the arguments in each declared signature."""
        return [tuple(one.args) for one in self.nopython_signatures]

    def max_cooperative_grid_blocks(self, blockdim: Any, dynsmemsize: int = 0) -> int:
        """Return how many blocks of a cooperative launch are resident at once."""
        return RESIDENT_THREADS // int(np.prod(blockdim))

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("inspect_", "get_")):
            raise NotImplementedError(
                f"{self.__name__}.{name}: the SIMT machine compiles nothing, so there is no code "
                "of a GPU to inspect"
            )
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")


def jit(
    declared: Any = None, /, *more: Any, device: bool = False, link: Any = (), **options: Any
) -> Any:
    """Return a kernel, or the decorator that makes one, as ``numba.cuda.jit`` does.

    Raises
    ------
    NotImplementedError
        For `link`: code in another language does not run on the machine.
    """
    if link:
        raise NotImplementedError(f"link={link!r}: code in another language does not run here")
    if inspect.isfunction(declared):
        return Kernel(declared, [], device)
    if isinstance(declared, names.Kernel):
        return declared
    types = [] if declared is None else parsed([declared, *more] if more else declared)
    returns = device or any(not _is_void(one.return_type) for one in types)
    return lambda function: Kernel(function, types, returns)


def parsed(declared: Any) -> list:
    """Return signatures that are given as text, as types or in a list; by numba if it is there."""
    if is_registered() or importlib.util.find_spec("numba") is None:
        return signatures(declared)
    from numba.core import sigutils, types, typing

    result = []
    for one in declared if isinstance(declared, list) else [declared]:
        arguments, returned = sigutils.normalize_signature(one)
        result.append(typing.signature(returned or types.void, *arguments))
    return result


def _is_void(type_: Any) -> bool:
    return type_ is None or str(type_) in ("none", "void") or type(type_).__name__ == "_Void"


def as_declared(name: str, declared: tuple, values: list) -> list:
    """Return the arguments of a launch as the first signature that takes them has them.

    Raises
    ------
    TypeError
        If no signature takes them: arrays need its dtype and dimensions, numbers are cast.
    """
    for one in declared:
        if len(one.args) == len(values):
            cast = [_as_type(value, wanted) for value, wanted in zip(values, one.args, strict=True)]
            if not any(value is None for value in cast):
                return cast
    shown = ", ".join(
        f"{v.dtype} array of {v.ndim} dimensions" if isinstance(v, np.ndarray) else type(v).__name__
        for v in values
    )
    raise TypeError(f"no signature of {name} takes these arguments: {shown}")


def _as_type(value: Any, wanted: Any) -> Any:
    """Return `value` as the type `wanted` has it, or None if it cannot be that."""
    if hasattr(wanted, "ndim"):
        fits = isinstance(value, np.ndarray) and value.ndim == wanted.ndim
        return value if fits and value.dtype == intrinsics.as_dtype(wanted.dtype) else None
    dtype = intrinsics.as_dtype(wanted)
    if dtype is None or isinstance(value, (np.ndarray, tuple)):
        return value if dtype is None else None
    with np.errstate(all="ignore"):
        return np.asarray(value).astype(dtype)[()]
