"""Where lanes of a warp that do not go together meet: at warp operations.

The lanes of a warp part in two ways. First, both arms of an ``if`` may contain a ``syncwarp``.
Each arm then waits there until the lanes named by its mask have come to a ``syncwarp`` too, which
may be in the other arm. Second, under the random schedule the lanes of a kernel that
waits for other threads run one by one: then they meet at every warp operation.
"""

from __future__ import annotations

import numpy as np

from gpukernels.simt.errors import ShuffleError
from gpukernels.simt.run.lanes import Active, Frame, Group
from gpukernels.simt.run.warp import check_mask, check_own_lane
from gpukernels.trace import WARP_SIZE

_FULL = 0xFFFFFFFF


class Arrival:
    """Lanes of one warp that have come to a warp operation and wait for the others it names.

    Attributes
    ----------
    active : Active
        The lanes, which run together.
    place : hashable
        Lanes with the same place meet. Every ``syncwarp`` has the same place, while the lanes of
        another operation must be at the same call.
    bits : int
        The lanes that still wait, as a mask.
    needed : dict of int to int
        Lane -> the launched lanes that its mask names. Those that return do not come.
    answer : object
        The result of the operation, once all lanes have come.
    """

    def __init__(self, active, what, where, operation, mask, values):
        self.active = active
        self.what = what
        self.where = where
        self.operation = operation
        self.values = (mask, *values)
        self.place = what if operation is None else where
        group = active.frame.group
        self.warp = int(group.warp_of(0))
        launched = int(group.run.launched_mask(self.warp))
        if group.count == 1:  # a lane by itself, which happens often
            lane = group.first % group.run.threads_per_block % WARP_SIZE
            self.bits = 1 << lane
            self.needed = {lane: mask.item() & launched}
        else:
            self.bits = int(active.masks()[0])
            named = np.broadcast_to(mask.astype(np.int64) & launched, active.n)
            self.needed = dict(zip(active.lanes().tolist(), named.tolist(), strict=True))
        if not all(named >> lane & 1 for lane, named in self.needed.items()):
            check_own_lane(active, mask.astype(np.int64) & _FULL, what, where)
        self.answer = None

    def missing(self, present):
        """Return the lanes, as a mask, that are needed and not among those `present`."""
        needed = 0
        for lane, named in self.needed.items():
            if self.bits >> lane & 1:
                needed |= named
        return needed & ~present & ~self.returned()

    def returned(self):
        """Return the lanes of the warp that have returned from the kernel."""
        return int(self.active.frame.group.run.returned_mask(self.warp))


def arrive(active, what, where, operation, mask, *values):
    """Return the arrivals, which a generator yields when its lanes wait at a warp operation."""
    return [Arrival(active, what, where, operation, mask, values)]


def waiting_lanes(arrivals):
    """Return the lanes, as a mask, that wait."""
    lanes = 0
    for arrival in arrivals:
        lanes |= arrival.bits
    return lanes


def open_meeting(arrivals) -> bool:
    """Let all lanes go whose masks name only lanes that are here; return whether there were any.

    All `arrivals` are of one warp and one place.
    """
    lanes = waiting_lanes(arrivals)
    returned = arrivals[0].returned()
    while lanes:
        met = 0
        for arrival in arrivals:
            for lane, named in arrival.needed.items():
                if arrival.bits & lanes & (1 << lane) and not named & ~lanes & ~returned:
                    met |= 1 << lane
        if met == lanes:
            break
        lanes = met
    if lanes:
        _perform([a for a in arrivals if a.bits & lanes], lanes)
    return lanes != 0


def _perform(arrivals, met):
    """Carry the operation out for the lanes `met`, and hand each arrival its part of the answer."""
    first = arrivals[0]
    lanes = [lane for a in arrivals for lane in a.needed]
    order = [i for i in np.argsort(lanes).tolist() if met >> lanes[i] & 1]
    together = _whole_warp(first.active, np.take(lanes, order))
    columns = zip(*(a.values for a in arrivals), strict=True)
    counts = [a.active.n for a in arrivals]
    values = [_column(column, counts)[order] for column in columns]
    if first.operation is None:
        check_mask(together, values[0], first.what, first.where)
    else:
        answer = first.operation(together, *values)
        # Only lanes that run by themselves wait for an answer, so each gets one element.
        for at, i in enumerate(order):
            if isinstance(answer, tuple):
                arrivals[i].answer = tuple(part[at : at + 1] for part in answer)
            else:
                arrivals[i].answer = answer[at : at + 1]
    for arrival in arrivals:
        arrival.bits &= ~met


def _column(values, counts):
    """Return one array of all arrivals' values, of which each is one per lane or one for all."""
    return np.concatenate(
        [np.full(n, v) if v.ndim == 0 else v for v, n in zip(values, counts, strict=True)]
    )


def _whole_warp(active, lanes):
    group = active.frame.group
    first = group.first - group.first % group.run.threads_per_block % WARP_SIZE
    count = group.run.threads_per_block - first % group.run.threads_per_block
    warp = Group(group.run, first, min(WARP_SIZE, count))
    return Active(Frame(warp, np.arange(warp.count)), lanes)


def missed(arrivals):
    """Return the error for lanes that wait at a warp operation for lanes that do not come."""
    lanes_by_place = {}
    for arrival in arrivals:
        lanes_by_place[arrival.place] = lanes_by_place.get(arrival.place, 0) | arrival.bits
    arrival = next(a for a in arrivals if a.missing(lanes_by_place[a.place]))
    run = arrival.active.frame.group.run
    absent = arrival.missing(lanes_by_place[arrival.place])
    lane = (absent & -absent).bit_length() - 1
    at = next(i for i, n in enumerate(arrival.needed.values()) if n & absent)
    why = "it is on another path"
    for other in arrivals:
        if other.bits >> lane & 1:
            why = f"it waits at {other.what} {_line(run, other.where)}"
    region = run.program.regions.get(arrival.where)
    parted = "" if region is None else f"; the lanes parted {_line(run, region)}"
    return run.error(
        ShuffleError,
        f"the mask of {arrival.what} names lane {lane}, which is not here: {why}{parted}",
        arrival.where,
        arrival.active,
        at,
    )


def _line(run, where):
    source, line = run.program.locations[where]
    return f"at line {line}: {source.line(line).strip()}"


def side_by_side(*arms):
    """Run the arms of an ``if``, each until it waits for lanes of another; a generator as they are.

    The caller gets whatever no arm can answer: barriers and turns go to the schedule, and lanes
    that wait for lanes of neither arm go to the ``if`` around this one.
    """
    waiting = {arm: None for arm in arms if arm is not None}
    while waiting:
        for arm, arrivals in list(waiting.items()):
            if arrivals is not None and all(a.bits for a in arrivals):
                continue
            answer = None
            while True:
                try:
                    request = arm.send(answer)
                except StopIteration:
                    del waiting[arm]
                    break
                if isinstance(request, list):
                    waiting[arm] = request
                    break
                answer = yield request
        held = [a for arrivals in waiting.values() for a in arrivals if a.bits]
        if held and not open_meeting(held):
            yield held
