"""The steps of blocked Floyd-Warshall [venkataraman2003blocked], for every driver.

A pivot is a block on the diagonal. A driver closes it over its own vertices, then multiplies the
other blocks of its row and its column by it. Last, each block that is left is lowered by a product
of two of these. Blocks are tiles on a device, or stream through it, or are held by workers.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

#: i, j and k: block i, j is lowered by the product of blocks i, k and k, j.
Update = tuple[int, int, int]


class Pivot(NamedTuple):
    """Blocks `first` to `end` of a diagonal: one of them, or a panel, of `across` in all."""

    first: int
    end: int
    across: int

    @property
    def size(self) -> int:
        """How many rows of blocks it has."""
        return self.end - self.first

    def beside(self, low: int, high: int) -> list[range]:
        """Return the rows of blocks from `low` to `high` without its own, before and behind it."""
        both = range(low, min(high, self.first)), range(max(low, self.end), high)
        return [some for some in both if some]

    @property
    def others(self) -> list[int]:
        """All rows of blocks but its own."""
        return [*chain.from_iterable(self.beside(0, self.across))]

    @property
    def row(self) -> list[Update]:
        """The other blocks of the row of one block, each lowered by its product with that."""
        return [(self.first, j, self.first) for j in self.others]

    @property
    def column(self) -> list[Update]:
        """The same of its column."""
        return [(i, self.first, self.first) for i in self.others]

    @property
    def rest(self) -> Iterator[Update]:
        """The blocks that are left."""
        others = self.others
        return ((i, j, self.first) for i in others for j in others)


def pivots(count: int, panel: int = 1, begin: int = 0) -> Iterator[Pivot]:
    """Yield panels of pivots, from block `begin` on, for a matrix of `count` rows of blocks."""
    for first in range(begin, count, panel):
        yield Pivot(first, min(first + panel, count), count)
