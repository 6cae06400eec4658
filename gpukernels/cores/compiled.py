"""Loops that numba compiles for the CPU at the first call, and keeps: see `kept_code`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache, NullCache

from .kept_code import kept


def compiled(**options: Any) -> Callable[[Callable], Any]:
    """Return the decorator ``numba.njit(**options)``, whose code is kept on a disk."""

    def compile_later(function: Callable) -> Any:
        dispatcher = njit(**options)(function)
        # With NUMBA_DISABLE_JIT it is the function itself.
        if isinstance(getattr(dispatcher, "_cache", None), NullCache):
            dispatcher._cache = kept(FunctionCache)(function)
        return dispatcher

    return compile_later
