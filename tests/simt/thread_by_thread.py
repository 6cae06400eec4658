"""Run a kernel in plain Python, one thread after another: what it must compute."""

from __future__ import annotations

import types
from types import SimpleNamespace

import numpy as np


def thread_by_thread(kernel, threads, *arguments):
    """Return copies of the arrays among `arguments` after all threads of a 1-D grid.

    The threads must not need one another. Their integers are Python's, so no sum may overflow.
    """
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    function = kernel.py_func
    for i in range(threads):
        cuda = SimpleNamespace(grid=lambda ndim, i=i: i)
        space = function.__globals__ | {"cuda": cuda}
        space |= {
            name: value.py_func
            for name, value in function.__globals__.items()
            if hasattr(value, "py_func")
        }
        types.FunctionType(function.__code__, space, closure=function.__closure__)(*copies)
    return [a for a in copies if isinstance(a, np.ndarray)]
