"""Shadow memory: which threads touched each element of an array, and when."""

from __future__ import annotations

import copy

import numpy as np

from gpukernels.trace import ATOMIC, LOAD, STORE

#: Accesses of each kind that are kept of an element: see `check.races`.
KEPT = {STORE: 1, LOAD: 4, ATOMIC: 4}
#: Lanes of accesses that may wait, where each access counts as another warp.
ROOM = 1 << 18


class Shadow:
    """Past accesses of each element, by kind: thread numbers (from 1; 0 for none) and times.

    Reads and atomics wait until another access is compared with them. For an array that a launch
    only reads, that never happens, and accesses settled by a barrier before then are skipped.
    """

    def __init__(self, size):
        self.size = size
        self.first = 0
        self.latest = {LOAD: 0, STORE: 0, ATOMIC: 0}  # kind -> time of the latest access
        self.waiting = {LOAD: Waiting(), ATOMIC: Waiting()}
        self._tables = {}

    def part(self, first):
        """Return the shadow of the elements from `first` on, which shares its memory."""
        part = copy.copy(self)
        part.first += first
        return part

    def tables(self, kind):
        """Return (who, when) of the accesses of one kind, each with one row per place."""
        if kind not in self._tables:
            self._tables[kind] = np.zeros((2, KEPT[kind], self.size), np.int32)
        return self._tables[kind]


class Waiting:
    """Accesses that are not in the tables yet: (time, active set, elements) each."""

    def __init__(self):
        self.accesses = []
        self.room = ROOM
