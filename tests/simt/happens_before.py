"""A model of races: each thread's past is a set, which barriers and flags pass on.

A script is a list of (action, thread or mask of lanes): chosen threads of two blocks touch one
element in order, with barriers, fences and flags in between.
"""

from __future__ import annotations

import random

import numpy as np
from launching import function_from
from numba import cuda

from gpukernels.simt import launch

#: Four warps in two blocks; the second warp of each block is half full.
BLOCKS, THREADS = 2, 48
ACCESSES = {
    "load": "out[i] = a[0]",
    "store": "a[0] = i",
    "atomic": "cuda.atomic.add(a, 0, 1)",
}
FENCES = {
    "fence": "cuda.threadfence()",
    "near fence": "cuda.threadfence_block()",
    "flag 0": "cuda.atomic.add(flags, 0, 1)",
    "flag 1": "cuda.atomic.add(flags, 1, 1)",
    "failed": "cuda.atomic.cas(flags, 0, -1, 1)",
}
BARRIERS = {
    "syncthreads": "cuda.syncthreads()",
    "syncwarp": "cuda.syncwarp()",
    "grid": "cuda.cg.this_grid().sync()",
}


def text_of(script):
    """Return a kernel's text; the barrier ``"some"`` is for the lanes that a mask names."""
    lines = ["def kernel(a, flags, out):", "    i = cuda.grid(1)"]
    for action, which in script:
        if action in BARRIERS:
            lines.append(f"    {BARRIERS[action]}")
        elif action == "some":
            lines += [f"    if ({which} >> cuda.laneid) & 1:", f"        cuda.syncwarp({which})"]
        else:
            lines += [f"    if i == {which}:", f"        {(ACCESSES | FENCES)[action]}"]
    return "\n".join(lines) + "\n"


def races_found(script, schedules=("lockstep", "warp", "random")):
    """Return whether the detector finds a race under each schedule."""
    kernel = cuda.jit(function_from(text_of(script), "kernel", {"cuda": cuda}))
    verdicts = []
    for schedule in schedules:
        races, sizes = [], (1, 2, BLOCKS * THREADS)
        arrays = [np.zeros(size, np.int32) for size in sizes]
        launch(kernel, BLOCKS, THREADS, arrays, schedule=schedule, findings=races)
        verdicts.append(bool(races))
    return verdicts


def meetings(action, which):
    """Return the sets of threads that a barrier brings together."""
    sets = {}
    for thread in range(BLOCKS * THREADS):
        block, t = divmod(thread, THREADS)
        group = {"grid": 0, "syncthreads": block}.get(action, (block, t // 32))
        if action != "some" or which >> t % 32 & 1:
            sets.setdefault(group, set()).add(thread)
    return sets.values()


class Model:
    """Each thread's past as a set of accesses; for fences also the released and acquired sets."""

    def __init__(self):
        threads = range(BLOCKS * THREADS)
        kinds = ("past", "near", "wide", "seen near", "seen wide")
        self.sets = {kind: [set() for _ in threads] for kind in kinds}
        #: The accesses released on a flag: to the threads of each block, and to all threads.
        self.flags = {}

    def races(self, script):
        """Return whether any access meets one that is not in its thread's past."""
        for number, (action, thread) in enumerate(script):
            if action in ACCESSES:
                for earlier, (other, who) in enumerate(script[:number]):
                    if (
                        other in ACCESSES
                        and who != thread
                        and (action, other) not in (("load", "load"), ("atomic", "atomic"))
                        and earlier not in self.sets["past"][thread]
                    ):
                        return True
                self.sets["past"][thread].add(number)
            if action in ("atomic", "flag 0", "flag 1", "failed"):
                self.update(action, thread, number)
            elif action in ("fence", "near fence"):
                self.fence(thread, wide=action == "fence")
            elif action not in ACCESSES:
                for members in meetings(action, thread):
                    for kind in self.sets.values():
                        together = set().union(*(kind[t] for t in members))
                        for t in members:
                            kind[t] |= together
        return False

    def update(self, action, thread, number):
        name = "flag 0" if action == "failed" else action
        nobody = [set() for _ in range(BLOCKS)], set()
        to_blocks, to_all = self.flags.setdefault(name, nobody)
        block = thread // THREADS
        self.sets["seen near"][thread] |= to_blocks[block]
        self.sets["seen wide"][thread] |= to_blocks[block] | to_all
        if action != "failed":
            to_blocks[block] |= self.sets["near"][thread]
            to_all |= self.sets["wide"][thread]
        if action == "atomic":  # later atomics on an element see this one
            to_blocks[block].add(number)
            to_all.add(number)

    def fence(self, thread, wide):
        sets = self.sets
        sets["past"][thread] |= sets["seen wide" if wide else "seen near"][thread]
        for kind in ("near", "wide") if wide else ("near",):
            sets[kind][thread] = set(sets["past"][thread]) | sets[kind][thread]


def scripts(count, threads, actions):
    """Return random scripts that end with a store, because most accesses can race with a store."""
    rng = random.Random(7)
    return [
        [*(drawn(rng, threads, actions) for _ in range(rng.randint(2, 7))),
         ("store", rng.choice(threads))]
        for _ in range(count)
    ]  # fmt: skip


def drawn(rng, threads, actions):
    action = rng.choice(actions)
    some = sum(1 << lane for lane in rng.sample((0, 1, 2, 3), 2))
    return action, some if action == "some" else rng.choice(threads)
