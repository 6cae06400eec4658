"""Launch a kernel on copies of host arrays, and find lines of its source."""

from __future__ import annotations

import inspect

import numpy as np


def launched(device, kernel, blocks, threads, *arguments, shared=0):
    """Launch `kernel` on copies of the arrays among `arguments`; return what these then hold."""
    copies = [device.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
    device.launch(kernel, blocks, threads, *copies, shared=shared)
    pairs = zip(arguments, copies, strict=True)
    return [device.read(c) if isinstance(a, np.ndarray) else a for a, c in pairs]


def line_of(kernel, text):
    """The number, in its file, of the one line of `kernel` that contains `text`."""
    lines, first = inspect.getsourcelines(kernel.py_func)
    (found,) = (i for i, line in enumerate(lines) if text in line)
    return first + found
