"""Methods that all results share: whether a vertex is reached, at what distance, by which path.

If there is no path, arrays hold the sentinel of their type: -1 for levels, infinity or the largest
whole number for lengths. `is_reached` is the same for all, so that ``r.distance[r.is_reached]`` has
only true distances. Arrays are in the order of positions. If the graph has labels, calls that take
or return single vertices use labels.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from gpukernels.checks import check_vertex

from .labels import Labels
from .paths import path_to


@dataclass(frozen=True, eq=False, repr=False)
class Answer:
    """A result whose `distance` holds `_unreached` for vertices without a path."""

    if TYPE_CHECKING:
        distance: Any

    #: The labels of the graph; None if it has none.
    names: Labels | None = field(default=None, kw_only=True)

    @property
    def _unreached(self) -> Any:
        raise NotImplementedError

    @property
    def is_reached(self) -> Any:
        """Boolean, with the shape of `distance`: true if there is a path, also at the root."""
        return self.distance != self._unreached

    def _position(self, name: str, label: Any) -> int:
        """Return the position of a vertex, given by the argument called `name`."""
        if self.names is None:
            return check_vertex(name, label, self.distance.shape[-1])
        return self.names.position(name, label)

    def _labels(self, positions: Iterable[int]) -> list[Any]:
        """Return the labels of the vertices at some positions."""
        return list(positions) if self.names is None else self.names.at(positions)


@dataclass(frozen=True, eq=False, repr=False)
class FromOneRoot(Answer):
    """The result of a search from one root, perhaps with parents."""

    if TYPE_CHECKING:
        parent: Any

    @property
    def reached(self) -> int:
        """Number of vertices to which a path leads, the root included."""
        return int(np.count_nonzero(self.is_reached))

    def distance_to(self, v: Any) -> int | float:
        """Return the distance of a vertex, by label; infinity if no path leads there.

        Raises
        ------
        InvalidArgument, VertexOutOfRange
            If `v` is not a vertex.
        """
        distance = self.distance[self._position("v", v)].item()
        return math.inf if distance == self._unreached else distance

    def path_to(self, v: Any) -> list[Any]:
        """Return the vertices of a shortest path from the root to `v`; an empty list if none.

        Raises
        ------
        ValueError
            If the search kept no parents.
        InvalidArgument, VertexOutOfRange
            If `v` is not a vertex.
        """
        position = self._position("v", v)
        if self.parent is None:
            raise ValueError("this search kept no parents: parents=True keeps them")
        return self._labels(path_to(self.parent, position))

    def to_dict(self) -> dict[Any, Any]:
        """Return the distance of each reached vertex, by label, nearest first."""
        reached = np.flatnonzero(self.is_reached)
        reached = reached[np.argsort(self.distance[reached], kind="stable")]
        labels = self._labels(reached.tolist())
        return dict(zip(labels, self.distance[reached].tolist(), strict=True))
