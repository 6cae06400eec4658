"""Cut a graph into parts between which few vertices lie, and say what work that saves.

METIS [karypis1998fast] looks for parts of about one size with few arcs between them. A vertex that
has an arc to another part, or from one, is a *separator*: each path from part to part goes through
some.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from gpukernels.beyond import needed
from gpukernels.graph import Graph


class Parts(NamedTuple):
    """A graph in parts.

    Attributes
    ----------
    members : list of ndarray
        The vertices of each part, ascending; no part is empty.
    borders : list of ndarray
        Which of them are separators, by their places in the part.
    """

    members: list[NDArray[np.int64]]
    borders: list[NDArray[np.int64]]

    @property
    def separators(self) -> NDArray[np.int64]:
        """All separators, part by part."""
        found = [m[b] for m, b in zip(self.members, self.borders, strict=True)]
        return np.concatenate([np.empty(0, np.int64), *found])

    def work(self) -> int:
        """Return the additions that all pairs take in these parts: see `predicted_work`."""
        sizes = np.array([m.size for m in self.members], object)
        borders = np.array([b.size for b in self.borders], object)
        n, separators = sizes.sum(), borders.sum()
        inside, between = (sizes**3).sum(), separators**3
        to, on = (sizes * borders).sum() * separators, n * (borders * sizes).sum()
        return int(inside + between + to + on)


def predicted_work(n: int, parts: int, separators: int) -> int:
    """Return the additions that all pairs take in `parts` of equal size with so many separators.

    With s separators, s / k in each of k parts, that is n^3 / k^2 to close the parts, s^3 to close
    the separators, n s^2 / k for ways from each vertex to every separator, and n^2 s / k for those
    on to each vertex. A planar graph has parts with s = O(sqrt(k n)): for k = sqrt(n) parts, all
    four are at most O(n^2.25), and without parts it is n^3 [djidjev2014efficient].
    """
    k, s = max(1, parts), separators
    return round(n**3 / k**2 + s**3 + n * s**2 / k + n**2 * s / k)


def cut(g: Graph, parts: int, seed: int) -> Parts:
    """Return `g` in at most so many parts, the same for the same seed."""
    parts = min(parts, g.n)
    source, target = g.coo
    part = np.zeros(g.n, np.int64)
    if parts > 1:
        ones = np.ones(g.m, np.int8)
        arcs = sparse.csr_array((ones, (source, target)), shape=(g.n, g.n), dtype=bool)
        both = (arcs + arcs.T).tocsr()
        both.setdiag(False)
        both.eliminate_zeros()
        metis = needed("pymetis")
        _, found = metis.part_graph(
            parts, metis.CSRAdjacency(both.indptr, both.indices), options=metis.Options(seed=seed)
        )
        part = np.asarray(found, np.int64)
    at_border = np.zeros(g.n, bool)
    crossing = part[source] != part[target]
    at_border[source[crossing]] = at_border[target[crossing]] = True
    members = [np.flatnonzero(part == p) for p in range(parts)]
    members = [m for m in members if m.size]
    return Parts(members, [np.flatnonzero(at_border[m]) for m in members])
