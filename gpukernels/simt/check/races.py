"""Find data races: two accesses to one element with no barrier between, at least one not atomic.

Two plain reads do not race, nor do two atomics. A plain write races with every other access, and a
plain read races with an atomic, because the value that it reads is not defined.

Every access gets a time. Two accesses are in order if one barrier that covers both threads lies
between them: a grid sync, a ``syncthreads`` of their block, or a ``syncwarp`` that names both
lanes. Since Volta the lanes of a warp do not run in lockstep, so two lanes of one warp can race;
and by CUDA's own words shuffles, votes, matches and ``activemask`` do not order memory. Fences
together with an atomic flag do: see :mod:`~gpukernels.simt.check.release_acquire`. A cache hint
(``ldcv``, ``stwt`` and their like) leaves an access plain: PTX takes it as advice on speed, and
numba takes it as an expression without effects, which LLVM moves out of a loop that polls.

For each element the detector stores the latest writer, and four readers and four atomic updaters:
the latest, and the latest of another lane, of another warp and of another block. As every barrier
covers whole warps, whole blocks or the grid, these stand for all earlier accesses: if an earlier
access races with a later one, so does one of the four. (A ``syncwarp`` of a part of a warp, or a
fence, orders only some of them and may hide a race.)
"""

from __future__ import annotations

import numpy as np

from gpukernels.simt.check.release_acquire import ReleaseAcquire
from gpukernels.simt.errors import RaceError
from gpukernels.simt.run.lanes import each
from gpukernels.simt.run.shadow import Shadow, Waiting
from gpukernels.trace import ATOMIC, LOAD, STORE, WARP_SIZE

_VERBS = {LOAD: "reads", STORE: "writes", ATOMIC: "updates atomically"}
#: Kinds of access that race with an access of this kind unless a barrier lies between them.
_RACES_WITH = {LOAD: (STORE, ATOMIC), STORE: (STORE, LOAD, ATOMIC), ATOMIC: (STORE, LOAD)}
#: Words of the error about a flag that orders nothing, by the fence that is missing.
_LACKING = {
    "": "",
    "acquire": "; this thread has seen its flag, but has called no fence since",
    "release": "; this thread has seen its flag, but it was set with no fence after the access",
}
#: Groups that two threads may share, the smallest first.
_SCOPES = ("warp", "block", "grid")
#: The barrier that is missing between two threads, by the smallest group that holds both.
_MISSING = {
    "warp": "with no barrier between them",
    "block": "with no barrier of the block between them: they are in different warps",
    "grid": (
        "with no barrier of the grid between them: they are in different blocks, which no "
        "`syncthreads` orders"
    ),
}
#: Places in which the accesses of one kind to an element are kept: see the module's text.
_LATEST, _OTHER_LANE, _OTHER_WARP, _OTHER_BLOCK = range(4)


def _order(at):
    """Return an order in which equal elements are together; None where all of them ascend."""
    if at.size > 1 and not (at[1:] > at[:-1]).all():  # several lanes may be on one element
        return np.argsort(at, kind="stable")
    return None


class Races:
    """The race detector of one launch."""

    def __init__(self, run, benign):
        self.run = run
        self.benign = benign
        self.places = [0]  # location of each time
        self.grid_sync = 0
        #: The time until which all blocks of the wave have met, each at a barrier of its own.
        self.wave_sync = 0
        self.block_sync = np.zeros(run.blocks, np.int32)
        self.warp_sync = np.zeros(run.blocks * run.warps_per_block, np.int32)
        #: warp -> [a, b]: the time until which lane a has lane b's accesses in its past
        self.lane_sync = {}
        self.reported = set()
        self.flags = ReleaseAcquire(self) if run.program.fences else None

    def concern(self, name, space) -> bool:
        """Say whether accesses to an array can race: it is common to threads and not declared."""
        return space in ("global", "shared") and name not in self.benign

    # Barriers

    def _now(self, where=0):
        self.places.append(where)
        return len(self.places) - 1

    def grid_barrier(self):
        """Note a grid sync."""
        self.grid_sync = self._now()
        if self.flags is not None:
            self.flags.grid_barrier()

    def block_barrier(self, blocks):
        """Note a ``syncthreads`` of `blocks` (launch-wide numbers)."""
        self.block_sync[blocks] = self._now()
        first = self.run.first_block
        self.wave_sync = int(self.block_sync[first : first + self.run.resident].min())
        if self.flags is not None:
            self.flags.block_barrier(blocks)

    def warp_barrier(self, active, mask):
        """Note a ``syncwarp`` of the active lanes under their masks."""
        now = self._now()
        group = active.frame.group
        starts, warps = active.warp_starts, active.warps()
        mask = each(active, mask)
        masks = mask[starts] & 0xFFFFFFFF
        launched = self.run.launched_mask(warps)
        together = mask == active.spread(masks)
        whole = ((masks & launched) == launched) & np.logical_and.reduceat(together, starts)
        self.warp_sync[warps[whole]] = now
        if self.flags is not None:
            self.flags.warp_barrier(warps[whole])
        if whole.all():
            return
        # Only some lanes met. Each of them now has the past of all of them.
        meetings = zip(group.warp_of(active.slots).tolist(), mask.tolist(), strict=True)
        for warp, met in set(meetings):
            known = self.lane_sync.setdefault(warp, np.zeros((WARP_SIZE, WARP_SIZE), np.int32))
            lanes = np.flatnonzero((met >> np.arange(WARP_SIZE)) & 1)
            known[lanes] = known[lanes].max(axis=0)
            known[np.ix_(lanes, lanes)] = now
            if self.flags is not None:
                self.flags.lanes_barrier(warp, lanes)

    def fence(self, active, scope):
        """Note a fence of the active threads; it reaches their block or the device."""
        self.flags.fence(active.slots + active.frame.group.first, scope, self._now())

    # Memory

    def watch(self, memories):
        """Give arrays that lie in the same memory one shadow, whatever the kernel calls them."""
        spans = sorted(
            (m.flat.__array_interface__["data"][0], m.flat.nbytes, m.dtype.itemsize, i)
            for i, m in enumerate(memories)
            if m.flat.size
        )
        together = []
        for start, size, item, i in spans:
            if together:
                first, stop, width, members = together[-1]
                if start < stop and item == width and (start - first) % item == 0:
                    together[-1] = (first, max(stop, start + size), width, [*members, (start, i)])
                    continue
            together.append((start, start + size, item, [(start, i)]))
        for first, stop, item, members in together:
            if len(members) > 1:
                shadow = Shadow((stop - first) // item)
                for start, i in members:
                    memories[i].shadow = shadow.part((start - first) // item)

    # Accesses

    def check(self, memory, kind, active, at, where):
        """Compare an access with the earlier ones to the same elements, then remember it."""
        shadow = memory.shadow
        if shadow is None:
            shadow = memory.shadow = Shadow(memory.flat.size)
        now = self._now(where)
        # Accesses up to `floor` precede all later ones; only its block accesses a shared array.
        floor = self.grid_sync
        if self.wave_sync > floor and memory.space == "shared":
            floor = self.wave_sync
        latest = shadow.latest
        rivals = [other for other in _RACES_WITH[kind] if latest[other] > floor]
        latest[kind] = now
        if rivals or kind == STORE:
            at = each(active, at)
        cells = at + shadow.first if shadow.first else at
        if kind == STORE:
            self._among(memory, active, at, where)
        for other_kind in rivals:
            if other_kind != STORE:
                self._remember_waiting(shadow, other_kind, floor)
            self._against(memory, kind, active, at, cells, other_kind, floor, where)
        if kind == STORE:
            who, when = shadow.tables(STORE)
            who[0, cells], when[0, cells] = active.threads, now
            return
        waiting = shadow.waiting[kind]
        # A copy, since a register may change in place before the accesses are compared.
        waiting.accesses.append((now, active, np.array(cells)))
        waiting.room -= active.n + WARP_SIZE
        if waiting.room < 0:
            self._remember_waiting(shadow, kind, floor)

    def _remember_waiting(self, shadow, kind, floor):
        """Enter the waiting accesses into the tables, except those up to time `floor`."""
        accesses = shadow.waiting[kind].accesses
        if not accesses:
            return
        who, when = shadow.tables(kind)
        for time, active, cells in accesses:
            if time > floor:
                for at, threads in self._representatives(each(active, cells), active.threads):
                    self._remember(who, when, at, threads, time)
        shadow.waiting[kind] = Waiting()

    def _representatives(self, at, thread):
        """Yield (elements, one thread for each) of all who stand for a statement's accesses."""
        order = _order(at)
        if order is None:
            yield at, thread
            return
        ends = thread[[0, -1]] - 1  # threads ascend
        at, thread = at[order], thread[order]
        change = at[1:] != at[:-1]
        last = np.append(np.flatnonzero(change), at.size - 1)
        first = np.append(0, last[:-1] + 1)
        # Before the latest: one of another block, then of another warp, then of another lane.
        (warp, other_warp), (block, other_block) = self._warp_and_block(ends)
        if warp != other_warp:
            units = self._warp_and_block(thread - 1)
            for unit in units[::-1] if block != other_block else units[:1]:
                fresh = np.flatnonzero(change | (unit[1:] != unit[:-1])) + 1
                start = np.append(0, fresh)[np.searchsorted(fresh, last, side="right")]
                before = start[start > first] - 1
                yield at[before], thread[before]
        before = last[last > first] - 1
        yield at[before], thread[before]
        yield at[last], thread[last]

    def _remember(self, who, when, cells, thread, now):
        """Make each of `thread` the latest at its element; `cells` are distinct."""
        if cells.size == 0:
            return
        previous, since = who[_LATEST, cells], when[_LATEST, cells]
        moved = ((previous != thread) & (previous != 0)).nonzero()[0]
        if moved.size:
            previous, since, cell = previous[moved], since[moved], cells[moved]
            warp, block = self._warp_and_block(thread[moved] - 1)
            old_warp, old_block = self._warp_and_block(previous - 1)
            place = np.where(block != old_block, _OTHER_BLOCK, _OTHER_WARP)
            place[warp == old_warp] = _OTHER_LANE
            who[place, cell], when[place, cell] = previous, since
        who[_LATEST, cells], when[_LATEST, cells] = thread, now

    def _warp_and_block(self, thread):
        per_block = self.run.threads_per_block
        block = thread // per_block
        if per_block % WARP_SIZE == 0:
            return thread >> 5, block
        within = thread - block * per_block
        return block * self.run.warps_per_block + within // WARP_SIZE, block

    def _among(self, memory, active, at, where):
        """Find two lanes that store to one element in one statement."""
        order = _order(at)
        if order is None:
            return
        same = np.flatnonzero(at[order][1:] == at[order][:-1])
        if same.size:
            first, second = order[same[0]], order[same[0] + 1]
            other = int(active.slots[first]) + active.frame.group.first
            self._report(memory, STORE, active, int(second), at, STORE, other, where, where)

    def _against(self, memory, kind, active, at, cells, other_kind, floor, where):
        who, when = memory.shadow.tables(other_kind)
        thread = active.threads
        other, since = who.take(cells, axis=1), when.take(cells, axis=1)
        # An element without an access has time 0, which no `floor` is below.
        suspect = ((since > floor) & (other != thread)).nonzero()
        if suspect[0].size == 0:
            return
        other, since, position = other[suspect] - 1, since[suspect], suspect[1]
        mine = thread[position] - 1
        warp, block = self._warp_and_block(mine)
        other_warp, other_block = self._warp_and_block(other)
        apart = (block != other_block) | (since > self.block_sync[block])
        apart &= (warp != other_warp) | (since > self.warp_sync[warp])
        if self.lane_sync:
            lane = mine % self.run.threads_per_block % WARP_SIZE
            other_lane = other % self.run.threads_per_block % WARP_SIZE
            for i in np.flatnonzero(apart & (warp == other_warp)):
                known = self.lane_sync.get(int(warp[i]))
                apart[i] = known is None or known[lane[i], other_lane[i]] < since[i]
        conflicts = np.flatnonzero(apart)
        if conflicts.size == 0:
            return
        # One report for each moment at which others were here and each scope, by its first thread.
        scope = (warp != other_warp).astype(np.int64) + (block != other_block)
        moments = set()
        if self.flags is None:
            kinds = since[conflicts] * len(_SCOPES) + scope[conflicts]
            conflicts = conflicts[np.sort(np.unique(kinds, return_index=True)[1])]
        for i in conflicts.tolist():
            moment = int(since[i]), int(scope[i])
            place, within = self.places[moment[0]], _SCOPES[moment[1]]
            key = (memory.name, kind, where, other_kind, place, within)
            if moment in moments or key in self.reported:
                continue
            lacks = ""
            if self.flags is not None:
                element = (memory, int(at[position[i]])) if other_kind == ATOMIC else None
                access = int(mine[i]), int(other[i]), moment[0], element
                if self.flags.ordered(*access):
                    continue
                lacks = self.flags.lacks(*access)
            moments.add(moment)
            self._report(
                memory,
                kind,
                active,
                int(position[i]),
                at,
                other_kind,
                int(other[i]),
                place,
                where,
                lacks,
            )

    def _report(
        self, memory, kind, active, position, at, other_kind, other, place, where, lacks=""
    ):
        run, group = self.run, active.frame.group
        both = np.array([int(active.slots[position]) + group.first, other])
        (warp, other_warp), (own, others) = self._warp_and_block(both)
        within = _SCOPES[int(warp != other_warp) + int(own != others)]
        key = (memory.name, kind, where, other_kind, place, within)
        if key in self.reported:
            return
        self.reported.add(key)
        block, thread = group.place(other - group.first)
        source, line = run.program.locations[place]
        error = run.error(
            RaceError,
            f"race on `{memory.name}[{memory.index_of(int(at[position]))}]`: this thread "
            f"{_VERBS[kind]} what block {block}, thread {thread} {_VERBS[other_kind]} in line "
            f"{line} ({source.line(line).strip()}), {_MISSING[within]}{_LACKING[lacks]}",
            where,
            active,
            position,
        )
        error.array = memory.name
        error.other_line = line
        error.within = within
        error.beside_atomic = ATOMIC in (kind, other_kind)
        error.both_store = kind == other_kind == STORE
        error.lacks = lacks
        run.report(error)
