"""Measurements on the GPU of a reader."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from gpukernels.device import CudaDevice
from gpukernels.notebook.kernel_time import kernel_ms, wall_ms


def own_gpu() -> CudaDevice | None:
    """Return the GPU of this machine; if there is none, print that nothing is measured.

    Examples
    --------
    >>> if gpu := own_gpu():  # doctest: +SKIP
    ...     print(gpu.name)
    """
    try:
        return CudaDevice()
    except RuntimeError:
        print("No CUDA GPU answers here, so nothing is measured.")
        return None


def timed(
    gpu: CudaDevice, searches: Mapping[str, Callable[..., Any]], repeat: int = 5
) -> list[tuple[str, float, float]]:
    """Return a row for each search: its name, and milliseconds of its kernels and of its call.

    Parameters
    ----------
    gpu : CudaDevice
        The GPU.
    searches : mapping of str to callable
        Functions that take ``device=``, by name.
    repeat : int
        How often each is run; the times are medians.

    Examples
    --------
    >>> searches = {"harish": partial(gk.bfs, g, 0, "harish")}  # doctest: +SKIP
    >>> rows = timed(own_gpu(), searches)  # doctest: +SKIP
    """
    rows = []
    for name, search in searches.items():
        kernels = kernel_ms(gpu, lambda device, search=search: search(device=device), repeat)
        rows.append((name, kernels, wall_ms(partial(search, device=gpu), repeat)))
    return rows
