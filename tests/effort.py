"""How much a run of the tests tries: each value of each choice, or all crossings of them.

``make test`` is what every change is held to, ``make soak`` is for a night. Both try every
promise; they differ in how many inputs they try it on.
"""

from __future__ import annotations

import os
import zlib
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import settings

TEST, SOAK = LEVELS = "test", "soak"
EFFORT = os.environ.get("GPUKERNELS_EFFORT") or TEST
if EFFORT not in LEVELS:
    raise pytest.UsageError(f"GPUKERNELS_EFFORT={EFFORT!r}: allowed are {', '.join(LEVELS)}")

#: (schedule, seed) of every way to order warps that the tests try.
SCHEDULES = [("lockstep", 0), ("warp", 0), ("random", 1), ("random", 2)]
if EFFORT != SOAK:
    SCHEDULES.pop()
if os.environ.get("GPUKERNELS_DEVICE") == "cuda":  # which has its own
    del SCHEDULES[1:]


def schedule_name(schedule) -> str:
    """Return how pytest calls a member of `SCHEDULES`."""
    return schedule[0] if schedule[0] != "random" else f"random-{schedule[1]}"


def some(many: int, soak: int, effort: str = EFFORT) -> int:
    """Return how many inputs to draw: a third of `many`, or `soak` of them in a night."""
    return soak if effort == SOAK else -(-many // 3)


def examples(many: int, soak: int, **options):
    """Return the decorator by which hypothesis draws as many examples as `some` says."""
    return settings(max_examples=some(many, soak), deadline=None, **options)


def every_pair(
    *factors, allowed=lambda *row: True, always: bool = False, effort: str = EFFORT
) -> list[tuple]:
    """Return rows of one value a factor in which each pair of values of two factors appears.

    What goes wrong depends on one choice or on two that meet, hardly ever on three: a covering
    array finds it with a fraction of all crossings. With ``make test`` each value appears, as often
    as the others, and each pair where that is asked for; in a night, all crossings do. The same
    factors give the same rows.

    Parameters
    ----------
    *factors : iterable
        The values of each factor.
    allowed : callable
        Whether a row can be had; pairs that no allowed row holds are left out.
    always : bool
        Whether each pair meets where otherwise each value does: pairs have found what values had
        not.
    effort : str
        ``"test"`` or ``"soak"``.
    """
    values = [list(factor) for factor in factors]
    indices = [
        row
        for row in product(*(range(len(factor)) for factor in values))
        if allowed(*(factor[i] for factor, i in zip(values, row, strict=True)))
    ]
    strength = len(values) if effort == SOAK else 1 + always
    if strength < len(values):
        indices = [indices[k] for k in cover(np.array(indices), strength)]
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
        ``"test"`` or ``"soak"``.
    """
    others = list(product(*others))
    if effort == SOAK:
        return [(one, *other) for one in many for other in others]
    return [(one, *others[k % len(others)]) for k, one in enumerate(many)]


def one_of(cases: list, name: str):
    """Return a case of a test, another one for each name."""
    return cases[zlib.crc32(name.encode()) % len(cases)]


def cover(rows: np.ndarray, strength: int) -> list[int]:
    """Return which of `rows` hold all that the rows hold in each `strength` columns.

    Of rows that hold as much that is missing, it takes the one whose values were taken least, and
    of these the one in which most meet for the first time: or the first value of a short column
    would meet most of a long one, and others never.
    """
    if not rows.size:
        return []
    held, met = (_held(rows, min(size, rows.shape[1])) for size in (strength, strength + 1))
    taken, seen = np.zeros(held.max() + 1, int), np.zeros(met.max() + 1, bool)
    chosen = []
    while not taken.all():
        new, often = (taken[held] == 0).sum(axis=1), taken[held].sum(axis=1)
        best = int(np.lexsort((seen[met].sum(axis=1), often, -new))[0])
        chosen.append(best)
        taken[held[best]] += 1
        seen[met[best]] = True
    return sorted(chosen)


def _held(rows: np.ndarray, size: int) -> np.ndarray:
    """Return numbers of what each row holds in each `size` columns."""
    lines, offset = [], 0
    for columns in combinations(range(rows.shape[1]), size):
        _, name = np.unique(rows[:, columns], axis=0, return_inverse=True)
        lines.append(name.ravel() + offset)
        offset += int(name.max()) + 1
    return np.stack(lines, axis=1)
