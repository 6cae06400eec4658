"""The schedules, which differ in the order of warps and in the order of lanes at an atomic."""

from __future__ import annotations

import collections

import numpy as np

from gpukernels.simt.errors import BarrierDivergence
from gpukernels.simt.run.lanes import Group
from gpukernels.simt.run.meetings import missed, open_meeting, waiting_lanes
from gpukernels.simt.run.turns import Barrier, Round, Scope, Turn, Vote
from gpukernels.trace import WARP_SIZE


def lockstep(run, values, seed):
    """Run all warps of a wave together, statement by statement."""
    if run.program.polls or run.program.parts:
        for wave in _waves(run, values):
            wave.in_order(whole_turns=False)
        return
    size = run.wave_blocks()
    for first in range(0, run.blocks, size):
        blocks = min(size, run.blocks - first)
        run.wave(first, blocks)
        per_block = run.threads_per_block
        group = Group(run, first * per_block, blocks * per_block)
        run.program.entry(group, group.whole(), *values)


def warp_by_warp(run, values, seed):
    """Run each warp to its next barrier before the next warp starts, block after block.

    A loop that waits for other threads gives the turn away after every round.
    """
    if not run.program.waits and not run.program.polls and not run.program.parts:
        _one_by_one(run, values)
        return
    for wave in _waves(run, values, 1):
        wave.in_order(whole_turns=True)


def _waves(run, values, blocks=None):
    """Make the waves of a launch, one after another; `blocks` is the size if no warp polls.

    Blocks that wait for each other find as many other blocks resident as on a device. A block that
    waits for earlier blocks, as with a ticket, finds them finished or resident.
    """
    if run.cooperative:
        size = run.blocks
    elif blocks is None or run.program.polls:
        size = max(1, run.resident_threads // run.threads_per_block)
    else:
        size = blocks
    for first in range(0, run.blocks, size):
        count = min(size, run.blocks - first)
        run.wave(first, count)
        yield _Wave(run, values, first, count)


def _one_by_one(run, values):
    """Run each warp to its end: no warp waits for another."""
    per_block, entry = run.threads_per_block, run.program.entry
    for block in range(run.blocks):
        run.wave(block, 1)
        start = block * per_block
        for offset in range(0, per_block, WARP_SIZE):
            group = Group(run, start + offset, min(WARP_SIZE, per_block - offset))
            for _ in entry(group, group.whole(), *values):
                pass


def random(run, values, seed):
    """Draw a warp before every statement, among all blocks of a wave, and the turns at atomics.

    Where a loop waits for other threads, every lane is drawn by itself.
    """
    below = _draws(np.random.default_rng(seed))
    run.turns = np.random.default_rng([seed, 1])
    for wave in _waves(run, values, max(1, 4096 // run.threads_per_block)):
        wave.at_random(below)


def _draws(rng):
    """Return a function that draws as ``rng.integers(bound)`` does, at a fifth of its price.

    By Lemire's method (Fast random integer generation in an interval, 2019), from words of 32 bits.
    """
    words = []

    def below(bound):
        if bound == 1:
            return 0
        while True:
            if not words:
                words.extend(rng.integers(1 << 32, size=256, dtype=np.uint32)[::-1].tolist())
            product = words.pop() * bound
            rest = product & 0xFFFFFFFF
            if rest >= bound or rest >= (1 << 32) % bound:
                return product >> 32

    return below


SCHEDULES = {"lockstep": lockstep, "warp": warp_by_warp, "random": random}

#: Polls of a strand after which its loop is endless, if no strand has done anything else.
_PATIENCE = 100


class _Strand:
    """A warp or a lane that runs in one piece: its generator, and the event that it waits for."""

    def __init__(self, run, values, block, first, count):
        self.block = block
        self.warp = first % run.threads_per_block // WARP_SIZE
        self.group = Group(run, first, count)
        self.steps = run.program.entry(self.group, self.group.whole(), *values)
        self.waiting = None
        self.answer = None


def _waits_at(strand, scope):
    return isinstance(strand.waiting, Barrier) and strand.waiting.scope is scope


class _Wave:
    """The strands of the resident blocks, and the barriers between them."""

    def __init__(self, run, values, first_block, blocks):
        self.run_ = run
        self.strands = []
        self.idle = 0  # polls since any strand did anything else
        self.meetings = {}  # (block, warp, place) -> strands that wait at a warp operation
        width = 1 if run.program.lanes else WARP_SIZE
        for block in range(blocks):
            start = (first_block + block) * run.threads_per_block
            for offset in range(0, run.threads_per_block, width):
                count = min(width, run.threads_per_block - offset)
                self.strands.append(_Strand(run, values, block, start + offset, count))

    def at_random(self, below):
        """Draw a strand before every step; ``below(n)`` draws a number from 0 to n - 1."""
        ready, step = list(self.strands), Turn.STEP
        while self.strands:
            if not ready:
                ready = self._release()
            strand = ready[below(len(ready))]
            how = self._turn(strand)
            if how is step:
                continue
            if how in (Turn.HELD, Turn.DONE):
                ready.remove(strand)
                ready += self._met(strand)
            elif how is Turn.POLL:
                ready += self._opened(8 * len(ready))  # drawn several times each

    def in_order(self, whole_turns):
        """Give each strand a step in turn, or the whole way to where it waits."""
        ready = collections.deque(self.strands)
        while self.strands:
            if not ready:
                ready.extend(self._release())
            strand = ready.popleft()
            how = self._turn(strand)
            while whole_turns and how is Turn.STEP:
                how = self._turn(strand)
            if how in (Turn.STEP, Turn.POLL):
                ready.append(strand)
                if how is Turn.POLL:
                    ready.extend(self._opened(len(ready)))
            else:
                ready.extendleft(reversed(self._met(strand)))

    def _turn(self, strand):
        """Run a strand to its next yield."""
        try:
            request = strand.steps.send(strand.answer)
        except StopIteration:
            self.strands.remove(strand)
            self.idle = 0
            return Turn.DONE
        strand.answer = None
        if request is None:
            self.idle = 0
            return Turn.STEP
        if request is Round.POLL:
            self.idle += 1
            if self.idle > _PATIENCE * len(self.strands):
                self._missed()
                self.run_.stalled = True
            return Turn.POLL
        self.idle = 0
        if request is Round.TRY:
            return Turn.POLL
        strand.waiting = request
        return Turn.HELD

    # Warp operations ------------------------------------------------------------

    def _met(self, strand):
        """Return the strands of a warp that the arrival or the end of `strand` lets go on."""
        arrivals = strand.waiting
        if arrivals is None:
            warp = (strand.block, strand.warp)
            parties = [party for key, party in self.meetings.items() if key[:2] == warp and party]
            return [s for party in parties for s in self._go_on(party, party[0].waiting)]
        if not isinstance(arrivals, list):
            return []
        key = (strand.block, strand.warp, arrivals[0].place)
        party = self.meetings.setdefault(key, [])
        party.append(strand)
        return self._go_on(party, arrivals)

    def _go_on(self, party, arrivals):
        """Return the strands of a party that meet, now that `arrivals` are among them."""
        waiting = [a for s in party for a in s.waiting]
        lanes = waiting_lanes(waiting)
        if all(a.missing(lanes) for a in arrivals) or not open_meeting(waiting):
            if not self.run_.program.lanes:
                raise missed(waiting)
            return []
        gone = [s for s in party if not all(a.bits for a in s.waiting)]
        for s in gone:
            s.answer = s.waiting[0].answer
            s.waiting = None
            party.remove(s)
        return gone

    def _missed(self):
        """Raise an error if lanes wait at a warp operation: no other lane will come."""
        waiting = [a for party in self.meetings.values() for s in party for a in s.waiting]
        if waiting:
            group = waiting[0].active.frame.group
            warp = group.warp_of(0)
            raise missed([a for a in waiting if a.active.frame.group.warp_of(0) == warp])

    # Barriers ------------------------------------------------------------
    def _opened(self, polls):
        """Return warps of blocks that are complete at a barrier, after so many polls alone.

        The polling strands may wait for code behind the barrier.
        """
        if self.idle < polls:
            return []
        freed = self._of_whole_blocks()
        for warp in freed:
            warp.waiting = None
            self.idle = 0
        return freed

    def _of_whole_blocks(self):
        """Return the warps of all blocks that are complete at a barrier of their own."""
        whole = []
        for block in sorted({w.block for w in self.strands}):
            members = [w for w in self.strands if w.block == block]
            if all(_waits_at(w, Scope.BLOCK) for w in members):
                self._check(members, self.run_.live[block])
                whole += members
        return whole

    def _release(self):
        """Open every barrier at which all live threads of its scope wait; return those warps."""
        run = self.run_
        freed = []
        grid = [w for w in self.strands if _waits_at(w, Scope.GRID)]
        if grid:
            if len(grid) == len(self.strands):
                self._check(grid, run.live.sum())
                freed = grid
        if not freed:
            freed = self._of_whole_blocks()
        if not freed:
            self._missed()
            of_block = next(w.waiting for w in self.strands if _waits_at(w, Scope.BLOCK))
            line = run.program.locations[grid[0].waiting.where][1]
            raise run.error(
                BarrierDivergence,
                f"some warps wait here and others at the grid sync of line {line}",
                of_block.where,
                of_block.active,
                0,
            )
        for warp in freed:
            warp.waiting = None
        return freed

    def _check(self, members, live):
        run = self.run_
        first = members[0].waiting
        for warp in members:
            if warp.waiting.where != first.where or warp.waiting.vote is not first.vote:
                line = run.program.locations[first.where][1]
                raise run.error(
                    BarrierDivergence,
                    f"warps of one block wait at two barriers: this one and that of line {line}",
                    warp.waiting.where,
                    warp.waiting.active,
                    0,
                )
        present = sum(w.waiting.active.n for w in members)
        if present < live:
            short = min((w.waiting for w in members), key=lambda barrier: barrier.active.n)
            raise run.divergence(first.scope, present, int(live), short.active, 0, short.where)
        if first.scope is Scope.GRID:
            run.all_arrive(first.active, first.where)
        if run.races is not None:
            run.passed(first.scope, run.first_block + np.unique([w.block for w in members]))
        if first.vote is not Vote.PLAIN:
            count = sum(
                int(np.broadcast_to(w.waiting.predicate, w.waiting.active.n).sum()) for w in members
            )
            verdict = run.verdict(first.vote, np.int64(count), np.int64(present))
            for warp in members:
                warp.answer = np.int32(verdict)
