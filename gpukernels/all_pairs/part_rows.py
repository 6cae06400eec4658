"""The rows of one part: its ways to all separators, and from these on to the vertices of each part.

They are made in the order of parts. Then a pass over some rows at a time, on all cores, writes each
element once, in the order of the graph.
"""

from __future__ import annotations

from itertools import accumulate

import numpy as np
from numba import njit
from numpy.typing import NDArray

from gpukernels.cores.slabs import on_all_cores

from .host_tiles import absent_in, lower_columns
from .lengths import UNREACHED
from .separators import Parts


class PartRows:
    """Rows of a part, made on the host.

    Parameters
    ----------
    parts : Parts
        The graph in parts.
    at : int
        Which part it is.
    inside : ndarray, shape (size, size)
        The ways inside it.
    edges : list of ndarray
        Of each part, those from its separators to all of it.

    Attributes
    ----------
    launches, operations : int
        What it took so far; additions on padding included.
    """

    def __init__(self, parts: Parts, at: int, inside: NDArray, edges: list[NDArray]):
        self.parts, self.at, self.inside, self.edges = parts, at, inside, edges
        self.absent = absent_in(inside)
        self._firsts = list(accumulate((m.size for m in parts.members), initial=0))
        self.launches = self.operations = 0

    def to_separators(self, to_own: NDArray, between: NDArray) -> None:
        """Find the ways to all separators: to those of the part, and `between` them and all."""
        self._to_all = np.full((len(to_own), between.shape[1]), self.absent)
        self._lower(self._to_all, 0, np.ascontiguousarray(to_own), 0, between)
        self._made = np.full((len(to_own), self._firsts[-1]), self.absent)
        first = self._firsts[self.at]
        self._made[:, first : first + len(self.inside)] = self.inside

    def onward(self, other: int, of: slice) -> None:
        """Find those on to all vertices of a part; its separators are those `of` all."""
        edge = self.edges[other]
        self._lower(self._made, self._firsts[other], self._to_all, of.start, edge)

    def _lower(self, result: NDArray, column: int, a: NDArray, begin: int, b: NDArray) -> None:
        self.operations += int(lower_columns(result, column, a, begin, b, self.absent))

    def found(self) -> tuple[NDArray, int, list[int]]:
        """Return all that was found, how far row is from row in it, and where each part begins."""
        return self._made.reshape(-1), self._firsts[-1], self._firsts[:-1]

    def in_order(self, infinite: float, heights: NDArray[np.int64] | None) -> NDArray:
        """Return the rows in the order of the graph, and what is infinite as users see it."""
        found, stride, firsts = self.found()
        members = self.parts.members
        columns = np.empty(sum(m.size for m in members), np.int64)
        for first, of_part in zip(firsts, members, strict=True):
            columns[of_part] = np.arange(first, first + of_part.size)
        kind, own = found.dtype.type, members[self.at]
        none = kind(UNREACHED if kind is np.int32 else np.inf)
        limit = kind(infinite) if heights is None else self.absent
        rows = np.empty((own.size, columns.size), found.dtype)

        def arrange(begin: int, end: int) -> None:
            some = rows[begin:end]
            _arrange(found[begin * stride :], stride, columns, limit, none, some)
            if heights is not None:
                exact = some + (heights - heights[own[begin:end], None])
                some[:] = np.where((some != none) & (exact < infinite), exact, none)

        on_all_cores(arrange, rows.shape)
        return rows


@njit(cache=True, nogil=True)
def _arrange(found, stride, columns, limit, none, rows):
    """Fill rows with the elements of `columns`; what is not below `limit` becomes `none`."""
    for i in range(len(rows)):
        row = found[i * stride :]
        for j in range(rows.shape[1]):
            length = row[columns[j]]
            rows[i, j] = length if length < limit else none
