"""Every slip in a line of a solution is found, or does no harm."""

from __future__ import annotations

import pytest
from effort import EFFORT, SOAK, WHOLE
from from_text import kernel_of
from mutants import mutants

import gpukernels as gk
from gpukernels.exercises import CATALOG
from gpukernels.exercises.judge import checking
from gpukernels.exercises.judge.exercise import KernelExercise

KERNELS = [name for name, ex in CATALOG.items() if isinstance(ex, KernelExercise)]
#: Slips that leave an answer right, and why.
HARMLESS = {
    # The leader's number replaces it, and nobody looks at that of the others.
    ("queues-4", "start = 0 -> start = 1"),
    # An offer that is equal stores what is there, and enqueues nobody.
    ("hbf-3", "if length >= before: -> if length > before:"),
    # A run that begins a lane early has all that it needs, and the first once more.
    ("otherwise-3", "for first in range(0, n, 32): -> for first in range(0, n, 31):"),
    # Some neighbors are looked at twice, and none is left out.
    (
        "beyond-2",
        "for k in range(offsets[v] + lane, offsets[v + 1], 32): -> "
        "for k in range(offsets[v] + lane, offsets[v + 1], 31):",
    ),
    # The number of a lane counts modulo 32, and `first` is a multiple of that.
    (
        "otherwise-3",
        "there = cuda.shfl_sync(FULL_MASK, mine, k - first) -> "
        "there = cuda.shfl_sync(FULL_MASK, mine, k + first)",
    ),
}
#: Orders of warps in which a slip shows, if it shows at all; the check itself tries more.
ENOUGH = (("lockstep", 0), ("warp", 0), ("random", 1))


@pytest.mark.parametrize("name", KERNELS)
def test_every_slip_in_a_solution_is_found(name, tmp_path, monkeypatch):
    monkeypatch.setattr(checking, "SCHEDULES", ENOUGH)
    ex = gk.exercise(name)
    found = list(mutants(ex.skeleton, ex.solution.text))
    assert found
    if EFFORT != SOAK:  # a part of them, of one exercise those that another leaves out
        part = 3 if WHOLE else 6
        found = found[(KERNELS.index(name) + len(found)) % part :: part] or found[:1]
    accepted = []
    for k, (slip, text) in enumerate(found):
        if ex.check(kernel_of(ex, text, tmp_path, f"mutant_{k}"), raises=False):
            accepted.append((name, slip))
    tried = {(name, slip) for slip, _ in found}
    assert set(accepted) == HARMLESS & tried
