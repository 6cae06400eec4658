"""Put the machine in the place of ``numba.cuda``, and take it away again.

The module stays the one that programs have imported; its names change. So a program that imported
it before, or a kernel that numba's decorator has made, runs on the machine as well. The names of
kernels, such as ``cuda.grid``, stay as they are: the machine knows numba's.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from gpukernels.simt import names
from gpukernels.simulator import session
from gpukernels.simulator.host import NAMES
from gpukernels.simulator.kernels import configure, forall, jit
from gpukernels.simulator.reduction import Reduce
from gpukernels.simulator.ufuncs import guvectorize, vectorize

_ABSENT = object()
#: What is to be undone when the last block ends; one function for each change.
_changes: list[Callable[[], None]] = []
_depth = 0


@contextlib.contextmanager
def as_cuda(
    schedule: str = "lockstep",
    seed: int = 0,
    check: bool = True,
    wraparound: bool = False,
    findings: list | None = None,
) -> Iterator[session.Session]:
    """Run what the block does with ``numba.cuda`` on the SIMT machine.

    ``from numba_cuda_mlir import cuda`` is served too. Neither compiler nor a GPU is needed.
    Kernels that were decorated before the block run on the machine within it.

    Parameters
    ----------
    schedule, seed, check, wraparound
        As for :func:`gpukernels.simt.launch`.
    findings : list, optional
        Collects races and reads of unwritten memory; without it the first one is raised.

    Yields
    ------
    Session
        With the number of launches.

    Examples
    --------
    >>> from gpukernels import simt
    >>> with simt.as_cuda():
    ...     import numpy as np
    ...     from numba import cuda
    ...     @cuda.jit("void(float32[:])")
    ...     def double(a):
    ...         i = cuda.grid(1)
    ...         if i < a.size:
    ...             a[i] *= 2
    ...     a = cuda.to_device(np.arange(4, dtype=np.float32))
    ...     double[1, 32](a)
    ...     a.copy_to_host()
    array([0., 2., 4., 6.], dtype=float32)
    """
    opened = session.Session(schedule, seed, check, wraparound, findings)
    redirect()
    session.begin(opened)
    try:
        yield opened
    finally:
        session.end(opened)
        restore()


def redirect() -> None:
    """Put the machine in the place of ``numba.cuda``; :func:`restore` undoes it."""
    global _depth
    _depth += 1
    if _depth > 1:
        return
    if importlib.util.find_spec("numba") is None:
        names.register()
    cuda = importlib.import_module("numba.cuda")
    numba = sys.modules["numba"]
    _change_module(cuda)
    _change_dispatcher("numba.cuda.dispatcher")
    for name, ours in (("vectorize", vectorize), ("guvectorize", guvectorize)):
        _set(numba, name, _for_cuda(ours, getattr(numba, name, None)))
    successor = sys.modules.get("numba_cuda_mlir.cuda")
    if successor is not None:
        _change_module(successor)
    else:
        package = ModuleType("numba_cuda_mlir")
        vars(package).update({**vars(numba), "cuda": cuda, "__name__": "numba_cuda_mlir"})
        _put("numba_cuda_mlir", package)
        _put("numba_cuda_mlir.cuda", cuda)


def restore() -> None:
    """Undo :func:`redirect`, once it has been called as often."""
    global _depth
    _depth -= 1
    while _depth == 0 and _changes:
        _changes.pop()()


def _change_module(cuda: ModuleType) -> None:
    for name, value in {**NAMES, "jit": jit, "reduce": Reduce, "Reduce": Reduce}.items():
        _set(cuda, name, value)


def _change_dispatcher(name: str) -> None:
    """Have kernels that numba's decorator has made launch on the machine."""
    module = sys.modules.get(name)
    dispatcher = getattr(module, "CUDADispatcher", None)
    if dispatcher is not None:
        _set(dispatcher, "__getitem__", configure)
        _set(dispatcher, "configure", lambda kernel, *shape: configure(kernel, shape))
        _set(dispatcher, "forall", forall)


def _for_cuda(ours: Callable, theirs: Callable | None) -> Callable:
    """Return a decorator that is `ours` for ``target="cuda"``, and numba's otherwise."""

    def decorator(*args: Any, target: str = "cpu", **options: Any) -> Any:
        if target == "cuda":
            return ours(*args, **options)
        if theirs is None:
            raise NotImplementedError(f"target={target!r}: numba is not installed")
        return theirs(*args, target=target, **options)

    return decorator


def _set(owner: Any, name: str, value: Any) -> None:
    before = vars(owner).get(name, _ABSENT)
    setattr(owner, name, value)
    undo = (
        (lambda: delattr(owner, name))
        if before is _ABSENT
        else (lambda: setattr(owner, name, before))
    )
    _changes.append(undo)


def _put(name: str, module: ModuleType) -> None:
    before = sys.modules.get(name)
    sys.modules[name] = module

    def undo() -> None:
        if before is None:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = before

    _changes.append(undo)
