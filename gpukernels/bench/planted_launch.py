"""Launch one planted error on the current GPU, in a process of its own that a tool may watch.

Run as a script, which imports no more than numba: ``planted_launch.py FILE KERNEL``. The last line
that it prints is JSON: whether the result was `right`, or the `error` with which the launch ended.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np


def planted(file: Path) -> ModuleType:
    """Return the module of planted errors that `file` holds."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module  # where its dataclass looks for it
    spec.loader.exec_module(module)
    return module


def function_of(kernel):
    """Return the Python function of a kernel (numba's simulator calls it ``fn``)."""
    return getattr(kernel, "py_func", None) or kernel.fn


def kernel_named(module: ModuleType, name: str):
    """Return the pair that a kernel belongs to, and the kernel, broken or repaired."""
    for pair in module.PAIRS:
        for kernel in (pair.broken, pair.repaired):
            if function_of(kernel).__name__ == name:
                return pair, kernel
    raise KeyError(name)


def is_right(pair, after: list) -> bool:
    """Return whether the arguments hold, after a launch, what the repaired kernel computes."""
    expected = pair.result(pair.arguments())
    return all(np.array_equal(after[k], wanted) for k, wanted in expected.items())


def launch(pair, kernel) -> bool:
    """Launch a kernel on the current GPU with lines known to tools; return if its result is right.

    Each array is an allocation of its own and exactly as large as it must be, so that a tool sees
    where it ends.
    """
    from numba import config, cuda

    options = {} if config.ENABLE_CUDASIM else {"lineinfo": True}
    lined = cuda.jit(**options)(function_of(kernel))
    there = [
        cuda.to_device(a) if isinstance(a, np.ndarray) else np.int32(a) for a in pair.arguments()
    ]
    lined[pair.blocks, pair.threads](*there)
    cuda.synchronize()
    return is_right(pair, [a.copy_to_host() if hasattr(a, "copy_to_host") else a for a in there])


def main(file: str, name: str) -> int:
    """Launch, tell, and return the exit status: 1 if the launch ended with an error."""
    pair, kernel = kernel_named(planted(Path(file)), name)
    try:
        told: dict[str, object] = {"right": launch(pair, kernel)}
    except Exception as error:  # whatever the driver says of a launch that failed
        told = {"error": str(error).splitlines()[0][:200] if str(error) else type(error).__name__}
    print(json.dumps(told), flush=True)
    return int("error" in told)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
