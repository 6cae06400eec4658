"""Stand-ins for the names of ``numba.cuda``: the SIMT machine knows what each of them does."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .types import SCALARS, Signature, signatures

PLAIN = (
    "threadIdx blockIdx blockDim gridDim laneid warpsize grid gridsize "
    "syncthreads syncthreads_and syncthreads_count syncthreads_or syncwarp "
    "threadfence threadfence_block threadfence_system activemask lanemask_lt nanosleep "
    "all_sync any_sync eq_sync ballot_sync match_all_sync match_any_sync "
    "shfl_sync shfl_up_sync shfl_down_sync shfl_xor_sync "
    "brev cbrt clz ffs fma popc selp ldca ldcg ldcs ldcv ldlu stcg stcs stwb stwt"
)
HOLDERS = {
    "atomic": "add sub and_ or_ xor inc dec exch max min nanmax nanmin cas compare_and_swap",
    "shared": "array",
    "local": "array",
    "const": "array_like",
    "cg": "this_grid",
    "fp16": (
        "hadd hsub hmul hdiv hneg habs hfma hsin hcos hlog hlog2 hlog10 hexp hexp2 hexp10 hsqrt "
        "hrsqrt hrcp hfloor hceil hrint htrunc heq hne hlt hle hgt hge hmax hmin"
    ),
}


class Name:
    """A name that a kernel calls or reads, such as ``cuda.grid``; it has a meaning only there."""

    def __init__(self, path: str):
        self._path = path

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Raise NotImplementedError: only the machine calls it."""
        raise NotImplementedError(f"{self._path} runs on the SIMT machine only, within a kernel")

    def __repr__(self) -> str:
        return self._path


class _Holder:
    """The names behind a dot, such as those of ``cuda.atomic``."""

    def __init__(self, path: str, names: str):
        self.__name__ = path
        for name in names.split():
            setattr(self, name, Name(f"{path}.{name}"))


class Kernel:
    """A kernel, or a function that kernels call: the result of ``cuda.jit``.

    ``kernel[blocks, threads](*args)`` runs it on the machine.
    """

    def __init__(self, function: Callable, given: list[Signature], is_device: bool):
        self.py_func, self.nopython_signatures, self._device = function, given, is_device
        self._can_compile = not (given and is_device)
        self.__name__, self.__doc__, self.__module__ = (
            function.__name__,
            function.__doc__,
            function.__module__,
        )
        self.__wrapped__ = function

    def __call__(self, *args: Any) -> Any:
        """Raise NotImplementedError: only kernels call it, and a launch has a grid."""
        raise NotImplementedError(
            f"{self.__name__} runs on the SIMT machine only: {self.__name__}[blocks, threads](...)"
        )

    def __getitem__(self, shape: Any) -> Callable[..., None]:
        from gpukernels.simt import launch

        blocks, threads, *_ = shape
        return lambda *args: launch(self, blocks, threads, *args)

    def __repr__(self) -> str:
        return f"<kernel {self.__name__}>"


def jit(given: Any = None, /, *more: Any, device: bool = False, **options: Any) -> Any:
    """Return a kernel, or the decorator that makes one; signatures compile nothing."""
    if inspect.isfunction(given):
        return Kernel(given, [], device)
    types = [] if given is None else signatures([given, *more] if more else given)
    is_device = device or any(one.return_type.__class__.__name__ == "Scalar" for one in types)
    return lambda function: Kernel(function, types, is_device)


def is_available() -> bool:
    """Return False: there is no GPU behind these names."""
    return False


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"numba.cuda.{name}: only names of kernels are here, for the SIMT machine; install "
        "numba-cuda for the others"
    )


for _name in PLAIN.split():
    globals()[_name] = Name(f"cuda.{_name}")
for _name, _names in HOLDERS.items():
    globals()[_name] = _Holder(f"cuda.{_name}", _names)
globals().update(SCALARS)
