"""Graphs cut by a ruler, and runs of tasks by two workers, as figures of both show them."""

from __future__ import annotations

import numpy as np

from gpukernels.all_pairs import separators
from gpukernels.distributed import TaskRun


def halved(graph, doublings=4):
    """Return a graph in 1, 2, 4, ... parts."""
    place = graph.positions
    if place is None:
        place = np.column_stack([np.arange(graph.n), np.zeros(graph.n)])
    parts = [separators.ruled(place, 2**k) for k in range(doublings)]
    return [separators.parted(graph, part) for part in parts]


def worked(dies=None, tasks=6):
    """Return runs of two workers: parts are closed, then joined; one may die at a task."""
    runs, at = [], 0.0
    for k in range(tasks):
        who = "ab"[k % 2] if dies is None or k < dies else "a"
        if k == dies:
            runs.append(TaskRun(f"close-part {k}-0", "b", at, at + 0.05, True, ()))
        runs.append(TaskRun(f"close-part {k}-0", who, at, at + 0.1, False, ()))
        at += 0.1
    needs = tuple(f"close-part {k}-0" for k in range(tasks))
    return [*runs, TaskRun("join--0", "a", at, at + 0.3, False, needs)]
