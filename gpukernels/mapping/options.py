"""What the functions that look a technique up by name check of what they are given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from gpukernels.device import default_device
from gpukernels.errors import InvalidArgument


def as_python(value: Any) -> Any:
    """Return a NumPy scalar as the Python number that it is, and all else as it is.

    Sums and products of NumPy's narrow integers wrap; those of Python's do not.
    """
    return value.item() if isinstance(value, np.generic) else value


def options_as_python(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options by name, each as :func:`as_python` returns it."""
    return {name: as_python(value) for name, value in options.items()}


def check_choice(name: str, value: object, choices: Iterable[str]) -> None:
    """Raise InvalidArgument if `value` is not the name of one of `choices`."""
    choices = tuple(choices)
    if not isinstance(value, str) or value not in choices:
        raise InvalidArgument(name, value, f"one of {choices}")


def check_flag(name: str, value: object) -> None:
    """Raise InvalidArgument if `value` is neither True nor False."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidArgument(name, value, "True or False")


def chosen_device(device: Any) -> Any:
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
