"""Cut a graph into parts between which few vertices lie, and say what work that saves.

METIS [karypis1998fast] looks for parts of about one size with few arcs between them. A vertex that
has an arc to another part, or from one, is a *separator*: each path from part to part goes through
some. Where there is a map, a ruler does the same by eye alone: half of the vertices left of a line.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpukernels.checks import needed
from gpukernels.graphs.graph import Graph


class Parts(NamedTuple):
    """A graph in parts, none of them empty.

    `members` are the vertices of each part, ascending, and `borders` the places of its separators
    among them.
    """

    members: list[NDArray[np.int64]]
    borders: list[NDArray[np.int64]]

    @property
    def separators(self) -> NDArray[np.int64]:
        """All separators, part by part."""
        separators = [m[b] for m, b in zip(self.members, self.borders, strict=True)]
        return np.concatenate([np.empty(0, np.int64), *separators])

    def work(self) -> int:
        """Return the additions that all pairs take in these parts: see `predicted_work`."""
        return sum(self.terms().values())

    def terms(self) -> dict[str, int]:
        """Return `work` as the terms of its sum, by purpose."""
        sizes = np.array([m.size for m in self.members], object)
        borders = np.array([b.size for b in self.borders], object)
        n, separators, edges = sizes.sum(), borders.sum(), (sizes * borders).sum()
        return {
            "inside parts": int((sizes**3).sum()),
            "between separators": int(separators**3),
            "to separators": int(edges * separators),
            "from separators": int(n * edges),
        }

    @property
    def predicted(self) -> int:
        """The result of `predicted_work` for this number of parts and separators."""
        n = sum(m.size for m in self.members)
        return predicted_work(n, len(self.members), self.separators.size)

    def held(self, itemsize: int = 4) -> dict[str, int]:
        """Return the bytes that a worker needs for the rows of one part, at most.

        Its own part, the boundary matrix, ways on from all separators, and the rows themselves.
        """
        sizes, borders = ([x.size for x in of] for of in (self.members, self.borders))
        n, separators, most = sum(sizes), sum(borders), max(sizes, default=0)
        edges = sum(a * b for a, b in zip(sizes, borders, strict=True))
        elements = {"own part": most * most, "boundary matrix": separators * separators}
        elements |= {"ways on": edges, "rows": most * n}
        return {name: count * itemsize for name, count in elements.items()}


def predicted_work(n: int, parts: int, separators: int) -> int:
    """Return the additions that all pairs take in `parts` of equal size with so many separators.

    With s separators, s / k in each of k parts, n^3 / k^2 additions close the parts and s^3 close
    the separators. Ways from each vertex to every separator take n s^2 / k, and ways from there to
    each vertex n^2 s / k. A planar graph has parts with s = O(sqrt(k n)). For k = sqrt(n) parts,
    all four terms are at most O(n^2.25); without parts it is n^3 [djidjev2014efficient].
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
        sparse = needed("scipy.sparse", "graphs")
        arcs = sparse.csr_array((ones, (source, target)), shape=(g.n, g.n), dtype=bool)
        both = (arcs + arcs.T).tocsr()
        both.setdiag(False)
        both.eliminate_zeros()
        metis = needed("pymetis", "dask")
        _, part_of_vertex = metis.part_graph(
            parts, metis.CSRAdjacency(both.indptr, both.indices), options=metis.Options(seed=seed)
        )
        part = np.asarray(part_of_vertex, np.int64)
    return parted(g, part)


def parted(g: Graph, part: NDArray) -> Parts:
    """Return `g` in the parts that `part` names, one for each vertex."""
    source, target = g.coo
    at_border = np.zeros(g.n, bool)
    crossing = part[source] != part[target]
    at_border[source[crossing]] = at_border[target[crossing]] = True
    members = [np.flatnonzero(part == p) for p in np.unique(part)]
    return Parts(members, [np.flatnonzero(at_border[m]) for m in members])


def ruled(positions: NDArray, parts: int) -> NDArray[np.int64]:
    """Return the part of each vertex, cut across the longer side of the map, and both halves again.

    Vertices lie at `positions`, of shape (n, 2). The parts are about equal in size.
    """
    part = np.zeros(len(positions), np.int64)

    def halve(members: NDArray[np.int64], first: int, count: int) -> None:
        if count == 1 or not members.size:
            part[members] = first
            return
        place = positions[members]
        side = int(np.argmax(np.ptp(place, axis=0)))
        order = members[np.argsort(place[:, side], kind="stable")]
        left = count // 2
        middle = members.size * left // count
        halve(order[:middle], first, left)
        halve(order[middle:], first + left, count - left)

    halve(np.arange(len(positions)), 0, max(1, min(parts, len(positions))))
    return part
