"""The loop of blocked Floyd-Warshall [venkataraman2003blocked], for every place where it runs.

A pivot is a block on the diagonal, or a panel of several. A host closes it over its own vertices
and multiplies the other blocks of its row and its column by it. Then it lowers each block that is
left by a product of two of these. Blocks are tiles on a device, or on several; or they stream
through a device; or workers hold them; or they lie in the memory of the CPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple, Protocol

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


class Host(Protocol):
    """A matrix in blocks, in the place where it is worked on."""

    def cross(self, pivot: Pivot) -> None:
        """Close a pivot, and let the paths of its row and column lead through its vertices."""

    def lower(self, pivot: Pivot) -> None:
        """Let all other paths lead through the pivot's vertices."""


def floyd_warshall(host: Host, across: int, panel: int = 1, begin: int = 0) -> None:
    """Close a matrix of `across` rows of blocks over its vertices, from block `begin` on."""
    for first in range(begin, across, panel):
        pivot = Pivot(first, min(first + panel, across), across)
        host.cross(pivot)
        host.lower(pivot)
