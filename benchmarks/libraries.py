"""The scans of CuPy and PyTorch beside ours, where one is installed.

Both work on numba's arrays in place, by way of the CUDA array interface, and on the same stream.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any


def cupy_cumsum(values, out) -> Callable[[], Any]:
    """Return what scans `values` to `out`, inclusively, by CuPy."""
    cupy = importlib.import_module("cupy")
    values, out = cupy.asarray(values), cupy.asarray(out)
    return lambda: cupy.cumsum(values, dtype=cupy.int32, out=out)


def torch_cumsum(values, out) -> Callable[[], Any]:
    """Return what scans `values` to `out`, inclusively, by PyTorch."""
    torch = importlib.import_module("torch")
    values, out = torch.as_tensor(values, device="cuda"), torch.as_tensor(out, device="cuda")
    return lambda: torch.cumsum(values, 0, dtype=torch.int32, out=out)


#: How tables name a library's scan, and what makes it.
LIBRARIES: dict[str, Callable[..., Callable[[], Any]]] = {
    "CuPy cumsum": cupy_cumsum,
    "PyTorch cumsum": torch_cumsum,
}


def installed(values, out) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield name and scan of every library that works here on device arrays of int32.

    One that is not installed, or finds no GPU of its own, is left out; the reason is printed.
    """
    for name, make in LIBRARIES.items():
        try:
            scan = make(values, out)
            scan()
        except Exception as reason:
            print(f"  {name} is left out: {type(reason).__name__}: {reason}", flush=True)
        else:
            yield name, scan
