"""A prediction follows from the rule that its statement gives, by arithmetic alone."""

from __future__ import annotations

import math

import pytest

import gpukernels as gk
from gpukernels.exercises.tasks.all_pairs_otherwise import count_squarings


@pytest.mark.parametrize("n", [2, 3, 5, 9, 17, 18, 33])
def test_squaring_ends_when_no_path_can_have_more_arcs_as_otherwise_1_says(n):
    """A path of n vertices has n - 1 arcs, and r rounds know all paths of up to 2^r arcs."""
    assert count_squarings(gk.path(n)) == math.ceil(math.log2(n - 1))
    assert count_squarings(gk.star(n)) == (n > 2) + (n > 3)  # two arcs at most
    assert count_squarings(gk.complete(n)) == (n > 2)  # one arc at most


def test_otherwise_1_counts_five_rounds_for_32_arcs():
    answer = gk.exercise("otherwise-1").solution.answer
    assert (answer["rounds, path of 32"], answer["rounds, path of 33"]) == (5, 5)
