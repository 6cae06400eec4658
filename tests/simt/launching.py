"""Launch kernels, on copies or for their trace or error, and find lines of their source."""

from __future__ import annotations

import importlib.util
import inspect
import linecache
import zlib
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from numba import cuda

from gpukernels.simt import Recorder, launch

SCHEDULES = ("lockstep", "warp", "random")


def launched(device, kernel, blocks, threads, *arguments, shared=0):
    """Launch `kernel` on copies of the arrays among `arguments`, and return these copies."""
    copies = [device.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
    device.launch(kernel, blocks, threads, *copies, shared=shared)
    pairs = zip(arguments, copies, strict=True)
    return [device.read(c) if isinstance(a, np.ndarray) else a for a, c in pairs]


def traced(kernel, blocks, threads, *arguments, **options):
    """Return the trace of a launch."""
    recorder = Recorder()
    launch(kernel, blocks, threads, arguments, recorder=recorder, **options)
    return recorder.trace


def failure(kind, kernel, blocks, threads, *arguments, match=None, at=None, **options):
    """Return the error of a launch, which is of `kind` and shows its line as a compiler does.

    `match` is found in it, and the one line of the kernel with the text `at` is its line.
    """
    with pytest.raises(kind, match=match) as caught:
        launch(kernel, blocks, threads, arguments, **options)
    error = caught.value
    assert type(error) is kind
    if error.line:
        assert f"line {error.line}, in {error.kernel}" in str(error)
        assert f"{error.line} | {error.text.strip()}" in str(error)
    if at is not None:
        assert error.line == line_of(kernel, at)
    return error


def line_of(kernel, text):
    """The number, in its file, of the one line of `kernel` that contains `text`."""
    lines, first = inspect.getsourcelines(kernel.py_func)
    (number,) = (i for i, line in enumerate(lines) if text in line)
    return first + number


def kernel_from(text, folder, name="kernel"):
    """Return a kernel of a module with `text`, imported from a file so that its source is found."""
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    exec(compile(text, path, "exec"), module.__dict__)
    return getattr(module, name)


def function_from(text, name, space):
    """Return the function `name` of `text` with the globals `space` and a readable source."""
    file = f"<{name} {zlib.crc32(text.encode()):x}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = dict(space)
    exec(compile(text, file, "exec"), space)
    return space[name]


def numba_compiles(kernel, types):
    """Return whether numba compiles a kernel or function of `types` for a GPU, without a GPU."""
    device = SimpleNamespace(compute_capability=(8, 0))
    function = getattr(kernel, "py_func", kernel)
    with mock.patch("numba.cuda.dispatcher.get_current_device", return_value=device):
        try:
            ptx, _ = cuda.compile_ptx(function, types, cc=(8, 0))
        except Exception:
            return False
    return ".visible .entry" in ptx
