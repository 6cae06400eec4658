"""Questions that all results answer alike: is a vertex reached, at what distance, by which path.

Arrays keep the sentinel of their type where no path leads: -1 for levels, infinity or the largest
whole number for lengths. `is_reached` is the same for all, so that ``r.distance[r.is_reached]`` has
true distances alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .paths import path_to


class Answer:
    """A result whose `distance` holds `_unreached` where no path leads."""

    distance: Any

    @property
    def _unreached(self) -> Any:
        raise NotImplementedError

    @property
    def is_reached(self) -> Any:
        """Boolean, of the shape of `distance`: true where a path leads, at the root as well."""
        return self.distance != self._unreached


class FromOneRoot(Answer):
    """The result of a search from one root, which may have kept parents."""

    parent: Any

    @property
    def reached(self) -> int:
        """Number of vertices to which a path leads, the root included."""
        return int(np.count_nonzero(self.is_reached))

    def path_to(self, v: int) -> list[int]:
        """Return the vertices of a shortest path from the root to `v`; none if there is no path.

        Raises
        ------
        ValueError
            If the search kept no parents.
        InvalidArgument, VertexOutOfRange
            If `v` is no vertex.
        """
        if self.parent is None:
            raise ValueError("this search kept no parents: parents=True keeps them")
        return path_to(self.parent, v)

    def to_dict(self) -> dict[int, Any]:
        """Return the distance of each vertex that is reached, by vertex, nearest first."""
        there = np.flatnonzero(self.is_reached)
        there = there[np.argsort(self.distance[there], kind="stable")]
        return dict(zip(there.tolist(), self.distance[there].tolist(), strict=True))
