"""The SIMT machine as a device that notes the size of every array that it copies to the host."""

from __future__ import annotations

import gpukernels as gk


class ReadingDevice(gk.SimtDevice):
    """A device whose ``sizes`` has one entry for each array that the host has read."""

    def __init__(self, **options):
        super().__init__(**options)
        self.sizes = []

    def read(self, array, into=None):
        self.sizes.append(array.size)
        return super().read(array, into)
