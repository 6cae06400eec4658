"""Fences with an atomic flag, which order two accesses where no barrier orders them.

A thread that stores plainly, calls ``threadfence`` and then updates a flag by an atomic *releases*
what came before the fence. A thread whose atomic comes later on the same flag, and that calls
``threadfence`` after it, *acquires* all that. Both fences are needed; a plain look at the flag is a
race and acquires nothing. By CUDA's rules:

- Numba's atomics are a relaxed read and a relaxed write in one: a flag passes on its releases
  through any number of later atomics. A compare-and-swap that fails only reads.
- Numba's fences are sequentially consistent, so a barrier passes them on. Each thread of a block
  may fence its own stores and one of them set the flag after a ``syncthreads``, or one read the
  flag and each fence after that.
- A fence also passes on the past of its thread: the accesses of its block before the last
  ``syncthreads``, and the accesses that the thread acquired from others.
- ``threadfence_block`` reaches the threads of its block alone.
- A thread that has acquired through a flag has the earlier atomics on that flag in its past, so it
  may reset it by a plain store.

Every thread that fences or touches a flag has a *view*, and so have its warp and its block, which
take over the views of their threads at a barrier. An acquired flag is stored as its number of
atomics by then, so nothing is copied when a thread acquires. To find whether an access is in a
thread's past, the search follows the flags backwards. It runs only if barriers do not order the
two accesses.
"""

from __future__ import annotations

from bisect import bisect_left
from operator import itemgetter

import numpy as np

from gpukernels.trace import WARP_SIZE

#: How far a fence reaches: ``threadfence_block``; ``threadfence`` and ``threadfence_system``.
BLOCK, DEVICE = "block", "device"
#: Place of a compare-and-swap that failed: it is in no thread's past.
_NEVER = 1 << 62
_place = itemgetter(0)


class _Past:
    """The accesses before a fence.

    Attributes
    ----------
    runs : tuple of (int, int, int)
        (first thread, the one after the last, time): their accesses until that time.
    known : dict
        (flag, scope) -> how many of its atomics were in the past, and through which fence.
    time : int
        Nothing later is in it.
    """

    __slots__ = ("known", "runs", "time")

    def __init__(self, runs, known):
        self.runs = runs
        self.known = known
        self.time = max(run[2] for run in runs)

    def covers(self, thread, time):
        for first, stop, last in self.runs:
            if first <= thread < stop and time <= last:
                return True
        return False


class _View:
    """The flags that a thread, a warp or a block has seen, and the pasts that it may release."""

    __slots__ = ("known", "near", "seen", "wide")

    def __init__(self):
        self.seen = {}  # flag -> its atomics until the last one here; no fence since
        self.known = {}  # the same by (flag, scope), with a fence since; shared, never changed
        self.near = self.wide = ()  # pasts that an atomic releases to its block, and to all


class _Flag:
    """An element that atomics have updated in a launch with fences."""

    __slots__ = ("alone", "by_block", "count", "given", "giver", "last", "releases")

    def __init__(self):
        self.count = 0
        self.given = {}  # thread -> what it released here last
        self.giver = None  # the thread of the last release, and whether nobody came after it
        self.alone = False
        self.last = {}  # thread -> place of its last atomic
        self.releases = []  # (place, block, near, wide) of atomics that released something
        self.by_block = {}  # those of each block, where most answers are found


def _latest(into, more):
    """Take over the greater count of each flag."""
    for flag, count in more.items():
        if into.get(flag, 0) < count:
            into[flag] = count


def _reaching(release, scope, home):
    """Return the pasts of a release that a thread of block `home` acquires by a fence."""
    _, block, near, wide = release
    if block == home:
        return near
    return wide if scope == DEVICE else ()


class ReleaseAcquire:
    """The order that fences and flags of one launch make.

    Parameters
    ----------
    races : Races
        The race detector, which knows the barriers.
    """

    def __init__(self, races):
        self.races = races
        self.run = races.run
        #: block -> {thread, or -1 - warp, or None for the block itself: its view}
        self.views = {}
        self.flags = {}

    # What kernels do

    def fence(self, threads, scope, now):
        """Note a fence of `threads` (launch-wide numbers) at time `now`."""
        for thread in threads.tolist():
            block, warp = self._places(thread)
            known = {}
            for view in self._seen_by(thread):
                _latest(known, view.known)
                _latest(known, {(flag, scope): count for flag, count in view.seen.items()})
            past = _Past(self._runs(thread, warp, block, now), known)
            view = self._own(thread, block)
            view.known = known
            view.near = (past,)
            if scope == DEVICE:
                view.wide = (past,)
                view.seen = {}

    def _runs(self, thread, warp, block, now):
        """Return what a thread has in its past by itself and by barriers, less grid syncs."""
        per_block, races = self.run.threads_per_block, self.races
        start = block * per_block
        runs = [
            (thread, thread + 1, now),
            (*self._span(warp), int(races.warp_sync[warp])),
            (start, start + per_block, int(races.block_sync[block])),
        ]
        met = races.lane_sync.get(warp)
        if met is not None:
            lane = (thread - start) % WARP_SIZE
            first = thread - lane
            runs += [(first + i, first + i + 1, time) for i, time in enumerate(met[lane].tolist())]
        return tuple(run for run in runs if run[2] > races.grid_sync)

    def update(self, memory, active, at, order, wrote):
        """Note atomics on elements of `memory`, in the order in which they take their turn.

        Parameters
        ----------
        at : numpy.ndarray
            Where each thread's element lies.
        order : numpy.ndarray or None
            Positions in `active`, first come first; None if no two are on one element.
        wrote : numpy.ndarray or None
            Whether each atomic stored something; None if all did.
        """
        if memory.space == "local":
            return
        threads = (active.slots + active.frame.group.first).tolist()
        keys = self._keys(memory, at)
        for i in range(active.n) if order is None else order.tolist():
            thread, stored = threads[i], wrote is None or bool(wrote[i])
            block = thread // self.run.threads_per_block
            flag = self.flags.setdefault(keys[i], _Flag())
            views = self._seen_by(thread)
            near = tuple(past for view in views for past in view.near)
            wide = tuple(past for view in views for past in view.wide)
            flag.alone = flag.alone and flag.giver == thread
            # A polling thread repeats the same release; a fence in its loop adds a little to it.
            if near and stored and flag.given.get(thread) != (near, wide):
                of_block = flag.by_block.setdefault(block, [])
                if flag.alone:
                    flag.releases.pop()
                    of_block.pop()
                release = (flag.count, block, near, wide)
                flag.releases.append(release)
                of_block.append(release)
                flag.given[thread] = near, wide
                flag.giver, flag.alone = thread, True
            if flag.count:
                self._own(thread, block).seen[flag] = flag.count
            flag.last[thread] = flag.count if stored else _NEVER
            flag.count += 1

    def _keys(self, memory, at):
        """Return names of elements, the same for all arrays that hold them."""
        where = memory.flat.__array_interface__["data"][0]
        wave = self.run.first_block if memory.space == "shared" else None
        step = memory.flat.strides[0]
        return [(wave, where + i * step) for i in at.tolist()]

    # Barriers

    def grid_barrier(self):
        """Forget everything: a grid sync has put it in the past of all."""
        self.views.clear()
        self.flags.clear()

    def block_barrier(self, blocks):
        """Note a ``syncthreads`` of `blocks`."""
        for block in blocks.tolist():
            views = self.views.get(block)
            if views and (len(views) > 1 or None not in views):
                self.views[block] = {None: self._together(views.values())}

    def warp_barrier(self, warps):
        """Note a ``syncwarp`` of all lanes of `warps` (launch-wide numbers)."""
        for warp in warps.tolist():
            views = self.views.get(warp // self.run.warps_per_block, {})
            members = [t for t in (*range(*self._span(warp)), -1 - warp) if t in views]
            if members and members != [-1 - warp]:
                views[-1 - warp] = self._together([views.pop(t) for t in members])

    def lanes_barrier(self, warp, lanes):
        """Note a ``syncwarp`` of some lanes of a warp."""
        first = self._span(warp)[0]
        block = warp // self.run.warps_per_block
        views = self.views.get(block, {})
        members = [views[first + lane] for lane in lanes.tolist() if first + lane in views]
        if members:
            for lane in lanes.tolist():
                views[first + lane] = self._together(members)

    def _together(self, views):
        """Return one view that joins several."""
        joined = _View()
        known, near, wide = {}, {}, {}
        for view in views:
            _latest(joined.seen, view.seen)
            _latest(known, view.known)
            near.update((id(past), past) for past in view.near)
            wide.update((id(past), past) for past in view.wide)
        joined.known = known
        joined.near = self._merged(tuple(near.values()))
        joined.wide = joined.near if wide.keys() == near.keys() else self._merged((*wide.values(),))
        return joined

    def _merged(self, pasts):
        """Return one past for many of one block."""
        if len(pasts) < 2:
            return pasts
        runs = {run for past in pasts for run in past.runs}
        first = min(run[0] for run in runs)
        until = np.zeros(max(run[1] for run in runs) - first, np.int64)
        for start, stop, time in runs:
            part = until[start - first : stop - first]
            np.maximum(part, time, out=part)
        begins = np.append(0, np.flatnonzero(np.diff(until)) + 1)
        ends = np.append(begins[1:], until.size)
        runs = zip(
            (begins + first).tolist(), (ends + first).tolist(), until[begins].tolist(), strict=True
        )
        known = {}
        for past in pasts:
            _latest(known, past.known)
        return (_Past(tuple(runs), known),)

    # The question

    def ordered(self, thread, other, since, element=None) -> bool:
        """Return whether `other`'s access at time `since` is in the past of `thread`.

        Parameters
        ----------
        thread, other : int
            Launch-wide numbers.
        since : int
            When `other` was there.
        element : tuple, optional
            ``(memory, at)`` where `other`'s access is an atomic: those on a flag that was acquired
            are in the past.
        """
        known = {}
        for view in self._seen_by(thread):
            _latest(known, view.known)
        return self._reaches(known, thread, other, since, element)

    def lacks(self, thread, other, since, element=None) -> str:
        """Return which fence is missing where :meth:`ordered` is false.

        ``"acquire"`` if a fence of `thread` now would make it true; ``"release"`` if `thread` has
        acquired through a flag that `other` has updated; else nothing is known.
        """
        known, acquired = {}, False
        for view in self._seen_by(thread):
            _latest(known, view.known)
            _latest(known, {(flag, DEVICE): count for flag, count in view.seen.items()})
            acquired |= any(
                flag.last.get(other, _NEVER) < count for (flag, _), count in view.known.items()
            )
        if self._reaches(known, thread, other, since, element):
            return "acquire"
        return "release" if acquired else ""

    def _reaches(self, known, thread, other, since, element):
        per_block = self.run.threads_per_block
        home, place = thread // per_block, other // per_block
        if element is not None:
            memory, at = element
            touched = self.flags.get(self._keys(memory, np.array([at]))[0])
        waiting = [(flag, scope, count, home) for (flag, scope), count in known.items()]
        for flag, scope, count, _ in waiting:  # in most cases the answer is near
            for release in flag.by_block.get(place, ()):
                if release[0] >= count:
                    break
                pasts = _reaching(release, scope, home)
                if any(past.covers(other, since) for past in pasts):
                    return True
        looked = {}
        while waiting:
            flag, scope, count, home = waiting.pop()
            before = looked.get((flag, scope, home), 0)
            if count <= before:
                continue
            looked[flag, scope, home] = count
            if element is not None and flag is touched and (scope == DEVICE or place == home):
                if flag.last.get(other, _NEVER) < count:
                    return True
            first = bisect_left(flag.releases, before, key=_place)
            last = bisect_left(flag.releases, count, key=_place)
            for release in flag.releases[first:last]:
                for past in _reaching(release, scope, home):
                    if past.time < since:
                        continue
                    if past.covers(other, since):
                        return True
                    block = release[1]
                    waiting += [(f, s, c, block) for (f, s), c in past.known.items()]
        return False

    # Views

    def _places(self, thread):
        block, within = divmod(thread, self.run.threads_per_block)
        return block, block * self.run.warps_per_block + within // WARP_SIZE

    def _span(self, warp):
        """Return the first thread of a warp and the one after its last."""
        block, within = divmod(warp, self.run.warps_per_block)
        per_block = self.run.threads_per_block
        first = block * per_block + within * WARP_SIZE
        return first, min(first + WARP_SIZE, (block + 1) * per_block)

    def _seen_by(self, thread):
        """Return the views that a thread has: its own, its warp's and its block's."""
        block, warp = self._places(thread)
        views = self.views.get(block)
        if views is None:
            return []
        return [views[key] for key in (thread, -1 - warp, None) if key in views]

    def _own(self, thread, block):
        return self.views.setdefault(block, {}).setdefault(thread, _View())
