"""The scans of CuPy and PyTorch, for a comparison with ours if one of them is installed.

Both work in place on numba's arrays, through the CUDA array interface, and on the same stream.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any


def installed(values, out) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield name and inclusive scan of every library that works here on device arrays of int32.

    A library that is not installed, or finds no GPU, is left out, and the reason is printed.
    """

    def by_cupy(cupy) -> Callable[[], Any]:
        given, scanned = cupy.asarray(values), cupy.asarray(out)
        return lambda: cupy.cumsum(given, dtype=cupy.int32, out=scanned)

    def by_torch(torch) -> Callable[[], Any]:
        given, scanned = (torch.as_tensor(array, device="cuda") for array in (values, out))
        return lambda: torch.cumsum(given, 0, dtype=torch.int32, out=scanned)

    for name, module, make in (
        ("CuPy cumsum", "cupy", by_cupy),
        ("PyTorch cumsum", "torch", by_torch),
    ):
        try:
            scan = make(importlib.import_module(module))
            scan()
        except Exception as reason:
            print(f"  {name} is left out: {type(reason).__name__}: {reason}", flush=True)
        else:
            yield name, scan
