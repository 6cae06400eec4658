"""The host's loop of a search without a queue: one launch per level, until nothing is new."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def level_by_level(device, launch: Callable[[int, object], None]) -> int:
    """Call ``launch(level, changed)`` for level 0, 1, 2, ... until a launch changes nothing.

    Parameters
    ----------
    device : SimtDevice or CudaDevice
        Where the launches run.
    launch : callable
        Launches one level; its kernel stores 1 in ``changed[0]`` if it reaches a vertex.

    Returns
    -------
    int
        The number of calls, and of flags read back: the number of levels.
    """
    changed, flag = device.empty(1, np.int32), device.pinned(1, np.int32)
    level, reached = 0, True
    while reached:
        device.clear(changed)
        launch(level, changed)
        reached = bool(device.read(changed, into=flag)[0])
        level += 1
    return level
