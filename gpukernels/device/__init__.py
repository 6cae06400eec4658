"""Where kernels run: a CUDA GPU or the SIMT machine, both a `Device` and driven in one way.

Memory and launches of a GPU are in `cuda_memory`, `lending`, `staged_copies` and `cuda_arguments`.
Copies that overlap with launches are in `copy_streams`, and a compiler other than numba-cuda in
`successor`. The room builds on simt and trace.
"""

from .base import Device, DeviceArray, Elapsed, Shape
from .benign_races import benign_race
from .choice import chosen_device, default_device, place_of
from .cuda_device import CudaDevice
from .simt_device import SimtDevice, devices_made
from .slow_answers import shown_if_slow
from .tracing import Traced, Tracing, trace, traced

__all__ = [
    "CudaDevice",
    "Device",
    "DeviceArray",
    "Elapsed",
    "Shape",
    "SimtDevice",
    "Traced",
    "Tracing",
    "benign_race",
    "chosen_device",
    "default_device",
    "devices_made",
    "place_of",
    "shown_if_slow",
    "trace",
    "traced",
]
