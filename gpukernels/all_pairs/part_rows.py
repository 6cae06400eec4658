"""The rows of one part: its ways to all separators, and from these on to the vertices of each part.

They are made in the order of parts. Then one pass writes each element once, in the order of the
graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukernels.cores.compiled import compiled
from gpukernels.cores.slabs import on_all_cores

from .encoding import none_in
from .host_tiles import absent_in, lower_columns
from .separators import Parts


@dataclass
class PartRows:
    """Rows of part number `at`, made on the host.

    `inside` has the ways inside it, `edges` for each part the ways from its separators to all of
    it, and `heights` the raise of the weights. `launches` and `operations` count the work.
    """

    parts: Parts
    at: int
    inside: NDArray
    edges: list[NDArray]
    heights: NDArray[np.int64] | None
    launches: int = 0
    operations: int = 0

    @property
    def absent(self) -> Any:
        """The value for infinity."""
        return absent_in(self.inside)

    def to_separators(self, to_own: NDArray, between: NDArray) -> None:
        """Find the ways to all separators, as the product of `to_own` and `between`."""
        self._to_all = np.full((len(to_own), between.shape[1]), self.absent)
        self._lower(self._to_all, 0, np.ascontiguousarray(to_own), 0, between)

    def onward(self) -> None:
        """Find the ways on from all separators to the vertices of each part."""
        firsts = list(accumulate((m.size for m in self.parts.members), initial=0))
        self._blocks = np.full((len(self.inside), firsts[-1]), self.absent)
        self._blocks[:, firsts[self.at] : firsts[self.at + 1]] = self.inside
        begin = 0
        for first, edge in zip(firsts, self.edges, strict=False):
            self._lower(self._blocks, first, self._to_all, begin, edge)
            begin += len(edge)

    def _lower(self, result: NDArray, column: int, a: NDArray, begin: int, b: NDArray) -> None:
        self.operations += int(lower_columns(result, column, a, begin, b, self.absent))

    def in_order(self, infinite: float) -> NDArray:
        """Return the rows in the order of the graph, with infinity as users see it."""
        blocks, heights, members = self._blocks, self.heights, self.parts.members
        columns = np.empty(blocks.shape[1], np.int64)
        columns[np.concatenate(members)] = np.arange(columns.size)
        rows, own = np.empty_like(blocks), members[self.at]
        limits = blocks.dtype.type(infinite), none_in(blocks)

        def arrange(begin: int, end: int) -> None:
            down = None if heights is None else heights[own[begin:end]]
            _arrange(blocks[begin:end], columns, heights, down, *limits, rows[begin:end])

        on_all_cores(arrange, rows.shape, one_pass=True)
        return rows


@compiled(nogil=True)
def _arrange(blocks, columns, heights, own, infinite, none, rows):
    """Fill rows with elements of `columns`, without heights; infinite lengths become `none`."""
    for i in range(len(rows)):
        for j in range(rows.shape[1]):
            length = blocks[i, columns[j]]
            if heights is not None:
                exact = length + heights[j] - own[i]
                rows[i, j] = exact if exact < infinite else none
            else:
                rows[i, j] = length if length < infinite else none
