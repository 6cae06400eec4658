"""Find data races: two threads on one element, a plain write among them, and no barrier between.

Every access gets a time. Two accesses are in order if one barrier that covers both threads lies
between them: a grid sync, a ``syncthreads`` of their block, or a ``syncwarp`` or another ``*_sync``
operation that names both lanes. Since Volta the lanes of a warp do not march in lockstep, so being
in one warp is no excuse.

For each element the latest writer and two of its latest readers are kept, which finds every race
between two threads and may miss the third party of a larger one. Atomics do not race with each
other, nor with plain reads.
"""

from __future__ import annotations

import numpy as np

from gpukernels.simt.errors import RaceError
from gpukernels.simt.trace import ATOMIC, LOAD, STORE, WARP_SIZE

_VERBS = {LOAD: "reads", STORE: "writes", ATOMIC: "updates atomically"}


class _Shadow:
    """Who touched each element last: thread numbers (from 1; 0 is nobody) and times."""

    def __init__(self, size):
        def cells():
            return np.zeros(size, np.int32)

        self.writer, self.written = cells(), cells()
        self.atomic, self.updated = cells(), cells()
        self.reader, self.read = cells(), cells()
        self.reader2, self.read2 = cells(), cells()


class Races:
    """The race detector of one launch."""

    def __init__(self, run, benign):
        self.run = run
        self.benign = benign
        self.places = [0]  # location of each time
        self.grid_sync = 0
        self.block_sync = np.zeros(run.blocks, np.int32)
        self.warp_sync = np.zeros(run.blocks * run.warps_per_block, np.int32)
        self.pair_sync = {}

    # Barriers

    def _now(self, where=0):
        self.places.append(where)
        return len(self.places) - 1

    def grid_barrier(self):
        """Note a grid sync."""
        self.grid_sync = self._now()

    def block_barrier(self, blocks):
        """Note a ``syncthreads`` of `blocks` (launch-wide numbers)."""
        self.block_sync[blocks] = self._now()

    def warp_barrier(self, active, mask):
        """Note a ``*_sync`` operation of the active lanes under their masks."""
        now = self._now()
        group = active.frame.group
        starts, warps = active.warp_starts, active.warps()
        masks = np.broadcast_to(mask, active.n)[starts] & 0xFFFFFFFF
        launched = self.run.launched_mask(warps % self.run.warps_per_block)
        together = np.broadcast_to(mask, active.n) == active.spread(masks)
        whole = ((masks & launched) == launched) & np.logical_and.reduceat(together, starts)
        self.warp_sync[warps[whole]] = now
        if whole.all():
            return
        # Only some lanes of these warps met: remember which pairs.
        slots = active.slots
        for lane, warp, own in zip(
            group.lane_of(slots), group.warp_of(slots), np.broadcast_to(mask, active.n), strict=True
        ):
            pairs = self.pair_sync.setdefault(int(warp), np.zeros((WARP_SIZE, WARP_SIZE), np.int32))
            others = (int(own) >> np.arange(WARP_SIZE)) & 1
            pairs[lane, others.astype(bool)] = now

    # Accesses

    def check(self, memory, kind, active, at, where):
        """Compare an access with the earlier ones to the same elements, then remember it."""
        if memory.space not in ("global", "shared") or memory.name in self.benign:
            return
        if memory.shadow is None:
            memory.shadow = _Shadow(memory.flat.size)
        shadow = memory.shadow
        now = self._now(where)
        at = np.broadcast_to(at, active.n)
        thread = (active.slots + active.frame.group.first + 1).astype(np.int32)
        self._against(memory, kind, active, at, thread, STORE, shadow.writer, shadow.written, where)
        if kind == STORE:
            self._among(memory, active, at, where)
            for who, when, other in (
                (shadow.reader, shadow.read, LOAD),
                (shadow.reader2, shadow.read2, LOAD),
                (shadow.atomic, shadow.updated, ATOMIC),
            ):
                self._against(memory, kind, active, at, thread, other, who, when, where)
            shadow.writer[at], shadow.written[at] = thread, now
        elif kind == ATOMIC:
            shadow.atomic[at], shadow.updated[at] = thread, now
        else:
            self._remember_readers(shadow, at, thread, now)

    @staticmethod
    def _remember_readers(shadow, at, thread, now):
        previous, since = shadow.reader[at], shadow.read[at]
        another = (previous != thread) & (previous != 0)
        moved = at[another]
        shadow.reader2[moved], shadow.read2[moved] = previous[another], since[another]
        shadow.reader[at], shadow.read[at] = thread, now
        # Of several lanes on one element the last is kept above and the first here.
        first = at[::-1], thread[::-1]
        crowd = shadow.reader[first[0]] != first[1]
        shadow.reader2[first[0][crowd]] = first[1][crowd]
        shadow.read2[first[0][crowd]] = now

    def _among(self, memory, active, at, where):
        """Find two lanes that store to one element in one statement."""
        order = np.argsort(at, kind="stable")
        same = np.flatnonzero(at[order][1:] == at[order][:-1])
        if same.size:
            first, second = order[same[0]], order[same[0] + 1]
            other = int(active.slots[first]) + active.frame.group.first + 1
            self._report(memory, STORE, active, int(second), at, STORE, other, where, where)

    def _against(self, memory, kind, active, at, thread, other_kind, who, when, where):
        other, since = who[at], when[at]
        suspect = np.flatnonzero((other != 0) & (other != thread) & (since > self.grid_sync))
        if suspect.size == 0:
            return
        other, since, mine = other[suspect] - 1, since[suspect], thread[suspect] - 1
        per_block = self.run.threads_per_block
        block, other_block = mine // per_block, other // per_block
        apart = (block != other_block) | (since > self.block_sync[block])
        warp = block * self.run.warps_per_block + mine % per_block // WARP_SIZE
        other_warp = other_block * self.run.warps_per_block + other % per_block // WARP_SIZE
        apart &= (warp != other_warp) | (since > self.warp_sync[warp])
        for i in np.flatnonzero(apart):
            pairs = self.pair_sync.get(int(warp[i])) if warp[i] == other_warp[i] else None
            lanes = other[i] % per_block % WARP_SIZE, mine[i] % per_block % WARP_SIZE
            if pairs is None or pairs[lanes] < since[i]:
                place = self.places[since[i]]
                found = int(suspect[i])
                self._report(
                    memory, kind, active, found, at, other_kind, int(other[i]) + 1, place, where
                )

    def _report(self, memory, kind, active, position, at, other_kind, other, place, where):
        group = active.frame.group
        block, thread = group.place(other - 1 - group.first)
        source, line = self.run.program.locations[place]
        element = int(at[position])
        if memory.space == "shared":
            element %= max(memory.cells, 1)
        elif len(memory.shape) > 1:
            element = tuple(int(i) for i in np.unravel_index(element, memory.shape))
        raise self.run.error(
            RaceError,
            f"race on `{memory.name}[{element}]`: this thread {_VERBS[kind]} what block {block}, "
            f"thread {thread} {_VERBS[other_kind]} in line {line} ({source.line(line).strip()}), "
            "with no barrier between them",
            where,
            active,
            position,
        )
