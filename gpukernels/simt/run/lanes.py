"""Active sets and registers: the few operations that every translated statement is made of.

A *frame* is the set of threads that entered one function call. A register ("home") holds one value
per thread of the frame, or one NumPy scalar while all threads agree. An *active set* names the
threads that execute the current statement. Values are computed for the active threads alone, so
the cost of a divergent loop follows the number of threads still in it, not the size of the launch.
"""

from __future__ import annotations

import math

import numpy as np

from gpukernels.trace import WARP_SIZE

#: Thread numbers of a group that is a single warp.
_THREADS = np.arange(WARP_SIZE)
_THREADS.flags.writeable = False
#: Where the only warp begins.
_FIRST = _THREADS[:1]


class Frame:
    """The threads of one function call: `slots` are their numbers within the group."""

    __slots__ = ("done", "group", "size", "slots")

    def __init__(self, group, slots):
        self.group = group
        self.slots = slots
        self.size = slots.size
        self.done = None


#: Attributes of an active set that follow from the numbers of its threads alone.
_OF_THE_SLOTS = (
    "_starts",
    "_warps",
    "_masks",
    "_lanes",
    "_threads",
    "_counts",
    "_present",
    "agreed",
)


class Active:
    """The threads that execute together: `ids` are ascending positions in the frame."""

    # None until they are needed.
    _slots = _starts = _warps = _masks = _lanes = _threads = _counts = _present = None
    #: The last mask, one number for all, that named just the lanes that are here.
    agreed = None

    def __init__(self, frame, ids):
        self.frame = frame
        self.ids = ids
        self.n = n = ids.size
        self.full = n == frame.size

    @property
    def slots(self):
        """Thread numbers within the group, ascending."""
        if self._slots is None:
            slots = self.frame.slots
            self._slots = slots if self.full else slots.take(self.ids)
        return self._slots

    @property
    def threads(self):
        """Launch-wide thread numbers (int32) from 1, ascending."""
        if self._threads is None:
            self._threads = (self.slots + (self.frame.group.first + 1)).astype(np.int32)
        return self._threads

    @property
    def warp_starts(self):
        """Positions in this set at which a new warp begins."""
        if self._starts is None:
            if self.frame.group.one_warp:
                self._starts = _FIRST
            else:
                warp = self.frame.group.warp_of(self.slots)
                self._starts = np.concatenate((_FIRST, (warp[1:] != warp[:-1]).nonzero()[0] + 1))
        return self._starts

    def warps(self):
        """Warp numbers within the group, one per warp that has an active lane."""
        if self._warps is None:
            self._warps = self.frame.group.warp_of(self.slots[self.warp_starts])
        return self._warps

    def lanes(self):
        """Lane number of each active thread."""
        if self._lanes is None:
            self._lanes = self.frame.group.lane_of(self.slots)
        return self._lanes

    def masks(self):
        """Active mask (int64, bits 0 to 31) of each warp in :meth:`warps`."""
        if self._masks is None:
            bits = np.left_shift(1, self.lanes())
            self._masks = np.bitwise_or.reduceat(bits, self.warp_starts)
        return self._masks

    def present(self):
        """Active mask of its own warp for each active thread."""
        if self._present is None:
            self._present = self.spread(self.masks())
        return self._present

    def counts(self):
        """Active threads of each warp in :meth:`warps`."""
        if self._counts is None:
            self._counts = np.concatenate((self.warp_starts[1:], (self.n,))) - self.warp_starts
        return self._counts

    def spread(self, per_warp):
        """Repeat one value per warp for each of its active threads."""
        return per_warp.repeat(self.counts())


def enter(active):
    """Open a frame of its own for the threads that call a device function."""
    frame = Frame(active.frame.group, active.slots)
    inside = Active(frame, _THREADS[: active.n] if active.n <= WARP_SIZE else np.arange(active.n))
    for name in _OF_THE_SLOTS:
        setattr(inside, name, getattr(active, name))
    return inside


def read(home, active):
    """Return the values that `active` sees in a register.

    Here and below NumPy gathers many elements faster by `take`, and those of one warp by ``[]``.
    """
    if home.ndim == 0 or active.full:
        return home
    return home[active.ids] if active.n <= WARP_SIZE else home.take(active.ids)


def write(home, active, value):
    """Return the register after `active` wrote `value`; a partial write happens in place."""
    if active.full:
        return value
    if home.ndim == 0:
        whole = np.empty(active.frame.size, home.dtype)
        whole.fill(home)
        home = whole
    home[active.ids] = value
    return home


def each(active, value):
    """Return `value` with one element an active thread, not to be written to.

    ``np.broadcast_to`` does the same for any shape, but takes as long as filling 16,000 elements.
    """
    if value.ndim:
        return value
    return value.repeat(active.n) if active.n <= 16_000 else np.broadcast_to(value, active.n)


def keep(active, condition):
    """Return the threads for which `condition` holds, or None."""
    if condition.ndim == 0:
        return active if condition else None
    at = condition.nonzero()[0]
    n = at.size
    if n == active.n:
        return active
    if n == 0:
        return None
    return _part(active, at)


def _part(active, at):
    if active.full:
        return Active(active.frame, at)
    ids = active.ids
    return Active(active.frame, ids[at] if at.size <= WARP_SIZE else ids.take(at))


def split(active, condition):
    """Return the threads for which `condition` holds and those for which it does not."""
    taken = keep(active, condition)
    if taken is None:
        return None, active
    if taken is active:
        return active, None
    return taken, keep(active, ~condition)


def choose(active, condition):
    """Like :func:`keep`, with the positions of the kept threads in `active` (None for all)."""
    taken = keep(active, condition)
    at = None if taken is None or taken is active else condition.nonzero()[0]
    return taken, at


def join(a, b):
    """Return the union of two disjoint active sets; either may be None."""
    if a is None:
        return b
    if b is None:
        return a
    ids = np.concatenate((a.ids, b.ids))
    ids.sort()
    return Active(a.frame, ids)


def without(a, b):
    """Return the threads of `a` that are not in `b`, or None; either may be None."""
    if a is None or b is None:
        return a
    left = np.ones(a.frame.size, dtype=bool)
    left[b.ids] = False
    return keep(a, left[a.ids])


def leave(active):
    """Note that `active` returned from the function."""
    frame = active.frame
    if frame.done is None:
        frame.done = np.zeros(frame.size, dtype=bool)
    frame.done[active.ids] = True


def alive(active):
    """Return the threads of `active` that have not returned, or None."""
    done = active.frame.done
    if done is None:
        return active
    return keep(active, ~(done if active.full else done.take(active.ids)))


def blend(active, whole, at, part):
    """Return `whole` with `part` at positions `at`, for ``and`` and ``or``.

    `part` is None if no thread computed it; `at` is None if all did.
    """
    if part is None:
        return whole
    if at is None:
        return part
    result = np.full(active.n, whole) if whole.ndim == 0 else whole.copy()
    result[at] = part
    return result


def pick(active, condition, chosen, other, dtype):
    """Return one value per thread: `chosen` where `condition` holds, `other` elsewhere.

    `chosen` and `other` hold the values of those threads alone (or scalars; None if not needed).
    """
    if condition.ndim == 0:
        return chosen if condition else other
    if chosen is None:
        return other
    if other is None:
        return chosen
    result = np.empty(active.n, dtype)
    result[condition] = chosen
    result[~condition] = other
    return result


def quiet(steps, round_):
    """Run a device function that is called in a waiting loop: its steps are the loop's."""
    answer = None
    while True:
        try:
            request = steps.send(answer)
        except StopIteration as end:
            return end.value
        answer = yield round_ if request is None else request


class RangeLoop:
    """The hidden counters of ``for i in range(...)``, of the threads still in the loop.

    Bounds and counters have one integer type. A value that :meth:`next` gave out is never changed.
    `value`, `stop` and `step` have one value per thread of `inside`, or a scalar for all.
    """

    __slots__ = ("compare", "inside", "step", "stop", "value")

    def __init__(self, active, start, stop, step):
        self.inside = active
        self.value = start - step  # where the first call of `next` starts from
        self.stop = np.asarray(stop)
        self.step = np.asarray(step)
        if step.ndim == 0:
            self.compare = np.less if step > 0 else np.greater
        else:
            self.compare = None

    def next(self, active):
        """Return the threads with an iteration left (or None) and their counter values.

        `active` lies within the set that the last call returned: others may have left by a break.
        """
        if active is not self.inside:
            if active.n < self.inside.n:
                self._shrink(self.inside.ids.searchsorted(active.ids))
            self.inside = active
        self.value = value = self.value + self.step
        if self.compare is not None:
            going = self.compare(value, self.stop)
        else:
            step, stop = self.step, self.stop
            going = np.where(step > 0, value < stop, (value > stop) & (step < 0))
        if going.ndim == 0:
            return (active, value) if going else (None, None)
        at = going.nonzero()[0]
        if at.size == active.n:
            return active, value
        if at.size == 0:
            return None, None
        self._shrink(at)
        self.inside = _part(active, at)
        return self.inside, self.value

    def _shrink(self, at):
        """Forget all threads but those at positions `at`."""
        small = at.size <= WARP_SIZE
        if self.value.ndim:
            self.value = self.value[at] if small else self.value.take(at)
        if self.stop.ndim:
            self.stop = self.stop[at] if small else self.stop.take(at)
        if self.step.ndim:
            self.step = self.step.take(at)


def _along(linear, shape, axis):
    """Return the index along one axis (int32) of linear indices into a grid or block."""
    below = math.prod(shape[:axis])
    return (linear // below % shape[axis]).astype(np.int32)


class Group:
    """Threads that run in one piece: all of a wave, or one warp, as the schedule has it.

    Threads are numbered block after block; `first` is the launch-wide number of slot 0.
    """

    def __init__(self, run, first, count):
        self.run = run
        self.first = first
        self.count = count
        self._indices = {}
        per_block = run.threads_per_block
        self._warps_per_block = -(-per_block // WARP_SIZE)
        #: Blocks are whole warps, so that a lane's number needs no block's.
        self.whole_warps = per_block % WARP_SIZE == 0
        block, offset = divmod(first, per_block)
        #: The block that holds all of these threads, or None.
        self.only_block = block if offset + count <= per_block else None
        self.one_warp = self.only_block is not None and offset % WARP_SIZE + count <= WARP_SIZE

    def whole(self):
        """Return the active set of all threads."""
        slots = _THREADS[: self.count] if self.count <= WARP_SIZE else np.arange(self.count)
        return Active(Frame(self, slots), slots)

    def block_of(self, slots):
        """Linear block index within the launch."""
        return (slots + self.first) // self.run.threads_per_block

    def thread_of(self, slots):
        """Linear thread index within the block."""
        return (slots + self.first) % self.run.threads_per_block

    def lane_of(self, slots):
        """Lane number, 0 to 31."""
        threads = slots + self.first if self.whole_warps else self.thread_of(slots)
        return threads & (WARP_SIZE - 1)

    def warp_of(self, slots):
        """Launch-wide warp number, block after block."""
        if self.whole_warps:
            return (slots + self.first) >> 5
        block, thread = divmod(slots + self.first, self.run.threads_per_block)
        return block * self._warps_per_block + (thread >> 5)

    def index(self, key, active):
        """Return a built-in such as ``threadIdx.x`` for the active threads."""
        values = self._indices.get(key)
        if values is None:
            values = self._indices[key] = self._compute(*key)
        return values if active.n == self.count or values.ndim == 0 else values.take(active.slots)

    def _compute(self, name, axis):
        if name == "grid":
            if axis == 0 and self.run.one_dimensional:
                return np.arange(self.first, self.first + self.count)
            block, thread = self._compute("block", axis), self._compute("thread", axis)
            return block.astype(np.int64) * self.run.block[axis] + thread
        if self.only_block is None:
            slots = np.arange(self.count)
            if name == "block":
                return _along(self.block_of(slots), self.run.grid, axis)
            return self._within_block(name, axis, self.thread_of(slots))
        if name == "block":  # all threads agree
            return _along(np.int64(self.only_block), self.run.grid, axis)
        offset = self.first % self.run.threads_per_block
        # Warps at the same place in their blocks share these arrays.
        shared = self.run.thread_indices
        key = (name, axis, offset, self.count)
        if key not in shared:
            threads = np.arange(offset, offset + self.count)
            shared[key] = self._within_block(name, axis, threads)
        return shared[key]

    def _within_block(self, name, axis, threads):
        if name == "lane":
            return (threads & (WARP_SIZE - 1)).astype(np.int32)
        return _along(threads, self.run.block, axis)

    def place(self, slot):
        """Return (block, thread) of a slot, each as (x, y, z), for an error message."""
        slot = np.int64(slot)
        return tuple(
            tuple(int(v) for v in (n % s[0], n // s[0] % s[1], n // (s[0] * s[1])))
            for n, s in (
                (self.block_of(slot), self.run.grid),
                (self.thread_of(slot), self.run.block),
            )
        )
