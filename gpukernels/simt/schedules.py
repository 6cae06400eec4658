"""Which warps go together, and who goes first at an atomic: all that the modes differ in."""

from __future__ import annotations

import numpy as np

from gpukernels.simt.errors import BarrierDivergence
from gpukernels.simt.lanes import Group
from gpukernels.simt.trace import WARP_SIZE


def lockstep(run, values, seed):
    """Run all warps of a wave together, statement by statement."""
    size = run.wave_blocks()
    for first in range(0, run.blocks, size):
        blocks = min(size, run.blocks - first)
        run.wave(first, blocks)
        per_block = run.threads_per_block
        group = Group(run, first * per_block, blocks * per_block)
        run.program.entry(group, group.whole(), *values)


def warp_by_warp(run, values, seed):
    """Run each warp to its next barrier before the next warp starts, block after block."""
    if not run.program.waits:
        _one_by_one(run, values)
        return
    size = run.blocks if run.cooperative else 1
    for first in range(0, run.blocks, size):
        blocks = min(size, run.blocks - first)
        run.wave(first, blocks)
        _Wave(run, values, first, blocks).run(lambda ready: ready[0], whole_turns=True)


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
    """Draw a warp before every statement, among all blocks of a wave, and the turns at atomics."""
    rng = np.random.default_rng(seed)
    run.turns = np.random.default_rng([seed, 1])
    size = run.blocks if run.cooperative else max(1, 4096 // run.threads_per_block)
    for first in range(0, run.blocks, size):
        blocks = min(size, run.blocks - first)
        run.wave(first, blocks)
        wave = _Wave(run, values, first, blocks)
        wave.run(lambda ready: ready[rng.integers(len(ready))], whole_turns=False)


SCHEDULES = {"lockstep": lockstep, "warp": warp_by_warp, "random": random}


class _Warp:
    """A warp in flight: its generator and, while it waits, what it waits for."""

    def __init__(self, run, values, block, first, count):
        self.block = block
        self.group = Group(run, first, count)
        self.steps = run.program.entry(self.group, self.group.whole(), *values)
        self.waiting = None
        self.answer = None


class _Wave:
    """The warps of the resident blocks, and the barriers between them."""

    def __init__(self, run, values, first_block, blocks):
        self.run_ = run
        self.warps = []
        for block in range(blocks):
            start = (first_block + block) * run.threads_per_block
            for offset in range(0, run.threads_per_block, WARP_SIZE):
                count = min(WARP_SIZE, run.threads_per_block - offset)
                self.warps.append(_Warp(run, values, block, start + offset, count))

    def run(self, draw, whole_turns):
        ready = list(self.warps)
        while self.warps:
            if not ready:
                ready = self._release()
            warp = draw(ready)
            while True:
                try:
                    warp.waiting = warp.steps.send(warp.answer)
                except StopIteration:
                    self.warps.remove(warp)
                    ready.remove(warp)
                    break
                warp.answer = None
                if warp.waiting is not None:
                    ready.remove(warp)
                    break
                if not whole_turns:
                    break

    def _release(self):
        """Open every barrier at which all live threads of its scope wait; return those warps."""
        run = self.run_
        freed = []
        grid = [w for w in self.warps if w.waiting[0] == "grid"]
        if grid:
            if len(grid) == len(self.warps):
                self._check(grid, run.live.sum(), "grid")
                freed = grid
        if not freed:
            for block in sorted({w.block for w in self.warps}):
                members = [w for w in self.warps if w.block == block]
                if all(w.waiting[0] == "block" for w in members):
                    self._check(members, run.live[block], "block")
                    freed += members
        if not freed:
            block_warp = next(w for w in self.warps if w.waiting[0] == "block")
            grid_warp = next(w for w in self.warps if w.waiting[0] == "grid")
            line = run.program.locations[grid_warp.waiting[4]][1]
            raise run.error(
                BarrierDivergence,
                f"some warps wait here and others at the grid sync of line {line}",
                block_warp.waiting[4],
                block_warp.waiting[2],
                0,
            )
        for warp in freed:
            warp.waiting = None
        return freed

    def _check(self, members, live, scope):
        run = self.run_
        first = members[0].waiting
        for warp in members:
            _, kind, active, _, where = warp.waiting
            if where != first[4] or kind != first[1]:
                line = run.program.locations[first[4]][1]
                raise run.error(
                    BarrierDivergence,
                    f"warps of one block wait at two barriers: this one and that of line {line}",
                    where,
                    active,
                    0,
                )
        present = sum(w.waiting[2].n for w in members)
        if present < live:
            shortest = min(members, key=lambda w: w.waiting[2].n)
            _, _, active, _, where = shortest.waiting
            raise run.divergence(scope, present, int(live), active, 0, where)
        if scope == "grid":
            run.all_arrive(first[2], first[4])
        if run.races is not None:
            run.passed(scope, run.first_block + np.unique([w.block for w in members]))
        kind = first[1]
        if kind != "plain":
            count = sum(int(np.broadcast_to(w.waiting[3], w.waiting[2].n).sum()) for w in members)
            verdict = run.verdict(kind, np.int64(count), np.int64(present))
            for warp in members:
                warp.answer = np.int32(verdict)
