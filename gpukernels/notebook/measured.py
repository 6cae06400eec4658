"""What a chapter measures on the GPU of its reader."""

from __future__ import annotations

from gpukernels.device import CudaDevice


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
