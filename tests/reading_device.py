"""The SIMT machine as devices for tests: one that notes reads, a small one, one to leave alone."""

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


class SmallDevice(gk.SimtDevice):
    """A machine that holds two blocks of 32 threads: every block takes portion after portion."""

    resident_threads = 64


class UntouchedDevice(gk.SimtDevice):
    """A device that a call with a wrong argument must not use."""

    def _refuse(self, *args, **options):
        raise AssertionError("the device was used before the arguments were checked")

    array = keep = put = empty = full = pinned = clear = read = launch = _refuse
    cooperative_blocks = _refuse
