"""A bar, and a word on the faster call, where a large graph runs on a SIMT machine by default."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from gpukernels.cores.progress import Progress

from .base import Device
from .simt_device import SimtDevice

#: Vertices and arcs, or cells of a matrix, from which the machine takes seconds.
LARGE = 1 << 18


@contextmanager
def shown_if_slow(
    call: str, requested: Device | None, device: Device, size: int, *, frames: int = 1
) -> Iterator[None]:
    """Show the launches of a call on a large graph, if it did not ask for the SIMT machine.

    Parameters
    ----------
    call : str
        The public function, such as ``"bfs"``.
    requested : Device or None
        The device that the caller has given.
    device : Device
        The one that runs the kernels.
    size : int
        Vertices and arcs of the graph, or cells of the matrix.
    frames : int
        Frames of the call, the one that opens this block among them.
    """
    if requested is not None or not isinstance(device, SimtDevice) or device.recorder is not None:
        yield
        return
    if size < LARGE:
        yield
        return
    text = (
        f"gk.{call} runs on the SIMT machine, which shows how kernels work; gk.{call}(g), without "
        "a method, answers by the CPU in a small part of the time"
    )
    # The other frames in between: this block's, contextlib's and that of the call's face.
    warnings.warn(text, stacklevel=4 + frames)
    with Progress(f"gk.{call} on the SIMT machine", None, "launches") as progress:
        device.after_launch = progress.reach
        yield
