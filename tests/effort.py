"""How much a run of the tests tries: a few cases, enough that pairs meet, or all there is.

``make test FAST=1`` is for the minute between two edits, ``make test`` for every change, and
``make soak`` for a night. Each makes every promise; they differ in how many inputs it is held to.
"""

from __future__ import annotations

import os
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import settings

FAST, USUAL, SOAK = "fast", "usual", "soak"
LEVELS = (FAST, USUAL, SOAK)
EFFORT = os.environ.get("GPUKERNELS_EFFORT") or USUAL
if EFFORT not in LEVELS:
    raise pytest.UsageError(f"GPUKERNELS_EFFORT={EFFORT!r}: allowed are {', '.join(LEVELS)}")

#: (schedule, seed) of every way to order warps that the tests try.
SCHEDULES = [("lockstep", 0), ("warp", 0), ("random", 1), ("random", 2)]
if EFFORT != SOAK:
    SCHEDULES.pop()
if EFFORT == FAST or os.environ.get("GPUKERNELS_DEVICE") == "cuda":  # which has its own
    del SCHEDULES[1:]


def schedule_name(schedule) -> str:
    """Return how pytest calls a member of `SCHEDULES`."""
    return schedule[0] if schedule[0] != "random" else f"random-{schedule[1]}"


def some(usual: int, soak: int, effort: str = EFFORT) -> int:
    """Return how many inputs to draw: `usual`, a fifth of it in a hurry, `soak` in a night."""
    return {FAST: max(1, usual // 5), USUAL: usual, SOAK: soak}[effort]


def examples(usual: int, soak: int, **options):
    """Return the decorator by which hypothesis draws so many examples, and ``make soak`` more."""
    return settings(max_examples=some(usual, soak), deadline=None, **options)


def every_pair(*factors, allowed=lambda *row: True, effort: str = EFFORT) -> list[tuple]:
    """Return rows of one value a factor in which each pair of values of two factors appears.

    What goes wrong depends on one choice or on two that meet, hardly ever on three: a covering
    array finds it with a fraction of all crossings. In a hurry every value appears; in a night, all
    crossings do. The same factors give the same rows.

    Parameters
    ----------
    *factors : iterable
        The values of each factor.
    allowed : callable
        Whether a row can be had; pairs that no allowed row holds are left out.
    effort : str
        ``"fast"``, ``"usual"`` or ``"soak"``.
    """
    values = [list(factor) for factor in factors]
    indices = [
        row
        for row in product(*(range(len(factor)) for factor in values))
        if allowed(*(factor[i] for factor, i in zip(values, row, strict=True)))
    ]
    if effort != SOAK and len(values) > 2 - (effort == FAST):
        indices = _cover(np.array(indices), 1 if effort == FAST else 2)
    return [tuple(factor[i] for factor, i in zip(values, row, strict=True)) for row in indices]


def in_turn(many, *others, effort: str = EFFORT) -> list[tuple]:
    """Return a row for each of `many`, with one value of each other factor in turn.

    It is for many things that are alike, such as exercises, each of which meets some of the others:
    where there are enough of them, all crossings of the others appear. In a night, each meets all.

    Parameters
    ----------
    many, *others : iterable
        The values of each factor.
    effort : str
        ``"fast"``, ``"usual"`` or ``"soak"``.
    """
    others = list(product(*others))
    if effort == SOAK:
        return [(one, *other) for one in many for other in others]
    return [(one, *others[k % len(others)]) for k, one in enumerate(many)]


def _cover(rows: np.ndarray, strength: int) -> list:
    """Return some of `rows` that hold all that the rows hold in each `strength` columns."""
    names, offset = [], 0
    for columns in combinations(range(rows.shape[1]) if rows.size else (), strength):
        _, name = np.unique(rows[:, columns], axis=0, return_inverse=True)
        names.append(name.ravel() + offset)
        offset += int(name.max()) + 1
    missing, chosen = np.ones(offset, bool), []
    held = np.stack(names, axis=1) if names else np.empty((0, 0), int)
    while missing.any():
        best = int(missing[held].sum(axis=1).argmax())
        chosen.append(best)
        missing[held[best]] = False
    return rows[sorted(chosen)].tolist()
