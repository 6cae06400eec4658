"""Which device a call runs on where none is given."""

from __future__ import annotations

import os

from gpukernels.errors import InvalidArgument

from .base import Device
from .cuda_device import CudaDevice
from .simt_device import SimtDevice
from .tracing import tracing, warn_if_started_in_a_trace


def default_device() -> Device:
    """Return the device that is used where none is given.

    Inside ``with trace():`` it is the tracing SIMT machine. Otherwise ``GPUKERNELS_DEVICE`` decides
    (``cuda`` or ``simt``); without it, CUDA if a GPU answers, else the SIMT machine. A thread that
    has been started inside ``with trace():`` is not part of it, and is told so by a warning.

    Raises
    ------
    RuntimeError
        For ``GPUKERNELS_DEVICE=cuda`` without a GPU.
    ValueError
        For any other value of ``GPUKERNELS_DEVICE``.

    Examples
    --------
    >>> import gpukernels as gk
    >>> with gk.trace():
    ...     gk.default_device()
    SimtDevice(schedule='lockstep')
    """
    traced = tracing.get()
    if traced is not None:
        return traced
    warn_if_started_in_a_trace()
    wanted = os.environ.get("GPUKERNELS_DEVICE", "")
    if wanted not in ("", "cuda", "simt"):
        raise ValueError(f"GPUKERNELS_DEVICE={wanted!r}; allowed are 'cuda' and 'simt'")
    if wanted == "simt" or (wanted == "" and not _gpu_answers()):
        return SimtDevice()
    return CudaDevice()


def chosen_device(device: Device | None) -> Device:
    """Return `device`, or the default device for None.

    Raises
    ------
    InvalidArgument
        If `device` is a class, or something that launches no kernels.
    """
    if device is None:
        return default_device()
    if isinstance(device, type) or not callable(getattr(device, "launch", None)):
        raise InvalidArgument("device", device, "a SimtDevice() or a CudaDevice()")
    return device


def _gpu_answers() -> bool:
    try:
        from numba import cuda

        return bool(cuda.is_available())
    except Exception:  # a broken driver installation is the same as none
        return False
