"""Which device a call runs on where none is given."""

from __future__ import annotations

import os
from typing import NamedTuple

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
    return CudaDevice() if _why_no_gpu() is None else SimtDevice()


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


class Place(NamedTuple):
    """Where a call runs that names no method: on a GPU, on the SIMT machine, or on the CPU.

    Attributes
    ----------
    device : Device or None
        The device that runs kernels; None for the algorithms of the CPU.
    is_looked_at : bool
        Whether a caller has asked for the SIMT machine, which shows how a method works.
    why : str
        Why it is not a GPU, as a clause.
    """

    device: Device | None
    is_looked_at: bool
    why: str


def place_of(device: Device | None) -> Place:
    """Return where a call with this device runs, if it names no method.

    ``GPUKERNELS_DEVICE=simt`` says where kernels run; an answer comes from the CPU then.
    """
    if device is not None or tracing.get() is not None:
        device = chosen_device(device)
        is_looked_at = isinstance(device, SimtDevice)
        return Place(device, is_looked_at, "the SIMT machine was asked for" if is_looked_at else "")
    warn_if_started_in_a_trace()
    why = _why_no_gpu()
    return Place(CudaDevice(), False, "") if why is None else Place(None, False, why)


def _why_no_gpu() -> str | None:
    """Return why kernels run on the SIMT machine by default; None if they run on a GPU."""
    wanted = os.environ.get("GPUKERNELS_DEVICE", "")
    if wanted not in ("", "cuda", "simt"):
        raise ValueError(f"GPUKERNELS_DEVICE={wanted!r}; allowed are 'cuda' and 'simt'")
    if wanted == "simt":
        return "GPUKERNELS_DEVICE is simt"
    return None if wanted == "cuda" or _gpu_answers() else "no GPU answers"


def _gpu_answers() -> bool:
    try:
        from numba import cuda

        return bool(cuda.is_available())
    except Exception:  # a broken driver installation is the same as none
        return False
