"""A queue is right if it holds the right vertices, in any order, and each as often as it likes."""

from __future__ import annotations

import numpy as np
import pytest

import gpukernels as gk
from gpukernels.exercises.judge import queued


def fault(entries, wanted, n: int = 6) -> str:
    """Return the fault of a queue that should hold `wanted` of n vertices, or ""."""
    results = queued.compare(np.array(entries, int), np.isin(np.arange(n), wanted), launch=2)
    wrong = queued.judge(results, "found")
    return "" if wrong is None else wrong.text


@pytest.mark.parametrize("entries", [[], [4], [4, 1], [1, 4], [4, 1, 4, 4]])
def test_a_queue_of_the_right_vertices_is_right_in_any_order(entries):
    assert fault(entries, entries) == ""


@pytest.mark.parametrize(
    ("entries", "wanted", "text"),
    [
        ([], [3], "vertex 3 was found in launch 2 and is not in `next_frontier`"),
        ([3], [1, 2, 3], "vertex 1 was found in launch 2 and is not in `next_frontier`; "
                         "2 vertices are missing"),
        ([3, 5], [3], "`next_frontier[1]` is 5 after launch 2, but vertex 5 was not found in it"),
        ([0], [], "`next_frontier[0]` is 0 after launch 2, but vertex 0 was not found in it"),
        ([3, 6], [3], "`next_frontier[1]` is 6 after launch 2, and there are only vertices 0 to 5"),
        ([-1, 3], [3],
         "`next_frontier[0]` is -1 after launch 2, and there are only vertices 0 to 5"),
        ([-1, 5], [3], "vertex 3 was found in launch 2 and is not in `next_frontier`"),
    ],
)  # fmt: skip
def test_a_missing_vertex_or_one_too_many_is_named(entries, wanted, text):
    assert fault(entries, wanted) == text


def test_behind_the_entries_of_a_queue_no_vertex_stands():
    device = gk.SimtDevice()
    assert device.read(queued.closed(device, np.array([7, 2]), 5)).tolist() == [7, 2, -1, -1, -1]
