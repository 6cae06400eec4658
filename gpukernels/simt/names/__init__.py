"""The names of numba that kernels import, for where numba is not installed.

``from numba import cuda, int32`` then works after :func:`register`, and the kernels run on the SIMT
machine. Loops for the CPU stay plain Python.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from . import cuda, narrow, types


def register() -> None:
    """Put the names into ``sys.modules``, as `numba` and `numba.cuda`.

    With numba installed, only `numba.cuda` is replaced. In a browser, two functions of NumPy learn
    to take int64 (`narrow`). Calling it again changes nothing.
    """
    narrow.widen()
    if importlib.util.find_spec("numba") is None:
        modules = _modules()
    else:
        modules = {"numba.cuda": cuda}
        import numba

        numba.cuda = cuda
    sys.modules.update(modules)


def is_registered() -> bool:
    """Return whether `numba` is this stand-in, so that nothing is compiled."""
    return isinstance(sys.modules.get("numba"), _Numba)


class _Numba(ModuleType):
    """The stand-in for numba itself."""


def _modules() -> dict[str, ModuleType]:
    """Return the modules that kernels and the machine import, by name."""
    numba = _Numba("numba")
    numba.__path__ = []
    numba.__spec__ = importlib.util.spec_from_loader("numba", None, is_package=True)
    config = ModuleType("numba.config")
    # As in numba's own simulator: names that only compilers read are left out.
    flags = {"DISABLE_JIT": True, "ENABLE_CUDASIM": True}
    vars(config).update(flags, NUMBA_NUM_THREADS=1, CACHE_DIR="")
    vars(numba).update(types.SCALARS)
    vars(numba).update(
        cuda=cuda, types=types, config=config, void=types.void, prange=range, njit=_same, jit=_same,
        from_dtype=types.from_dtype, get_num_threads=lambda: 1, set_num_threads=lambda count: None,
    )  # fmt: skip
    core, support = ModuleType("numba.core"), ModuleType("numba.np.numpy_support")
    vars(core).update(types=types)
    vars(support).update(as_dtype=lambda kind: kind.dtype, from_dtype=types.from_dtype)
    return {
        "numba": numba,
        "numba.cuda": cuda,
        "numba.types": types,
        "numba.config": config,
        "numba.core": core,
        "numba.core.types": types,
        "numba.np": ModuleType("numba.np"),
        "numba.np.numpy_support": support,
    }


def _same(function: Any = None, **options: Any) -> Callable:
    """Return the function, or a decorator that does: there is no compiler."""
    return function if callable(function) else _same
