"""Loops that numba compiles for the CPU at the first call, and keeps: see `kept_code`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

from .kept_code import keep_on_disk


def compiled(**options: Any) -> Callable[[Callable], Any]:
    """Return the decorator ``numba.njit(**options)``, whose code is kept on a disk."""

    def compile_later(function: Callable) -> Any:
        dispatcher = njit(**options)(function)
        # With NUMBA_DISABLE_JIT, and without numba, it is the function itself.
        if dispatcher is not function:
            keep_on_disk(dispatcher)
        return dispatcher

    return compile_later
