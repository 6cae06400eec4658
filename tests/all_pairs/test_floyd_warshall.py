"""The loop of blocked Floyd-Warshall: each pivot updates every other block once."""

from __future__ import annotations

from collections import Counter
from itertools import chain

import pytest

from gpukernels.all_pairs.floyd_warshall import Pivot, floyd_warshall


class Noting:
    """A host that notes the pivots which it is given, once each is crossed and lowered."""

    def __init__(self):
        self.crossed, self.pivots = [], []

    def cross(self, pivot):
        self.crossed.append(pivot)

    def lower(self, pivot):
        self.pivots.append(pivot)
        assert self.crossed == self.pivots


@pytest.mark.parametrize("across", range(5))
def test_each_pivot_updates_every_other_block_once(across):
    floyd_warshall(host := Noting(), across)
    assert [pivot.first for pivot in host.pivots] == [*range(across)]
    for k, pivot in enumerate(host.pivots):
        updates = [*chain(pivot.row, pivot.column, pivot.rest)]
        assert {over for _, _, over in updates} <= {k}
        blocks = {(i, j) for i in range(across) for j in range(across)} - {(k, k)}
        assert Counter((i, j) for i, j, _ in updates) == Counter(blocks)
        assert all(i == k for i, _, _ in pivot.row)
        assert all(j == k for _, j, _ in pivot.column)


def test_panels_follow_each_other_and_know_what_is_beside_them():
    floyd_warshall(host := Noting(), 8, panel=3, begin=1)
    panels = host.pivots
    assert panels == [Pivot(1, 4, 8), Pivot(4, 7, 8), Pivot(7, 8, 8)]
    assert [pivot.size for pivot in panels] == [3, 3, 1]
    assert panels[1].beside(0, 8) == [range(4), range(7, 8)]
    assert panels[1].beside(5, 6) == []
    assert panels[0].others == [0, 4, 5, 6, 7]
