"""Questions that all results answer alike: is a vertex reached, at what distance, by which path.

Arrays keep the sentinel of their type where no path leads: -1 for levels, infinity or the largest
whole number for lengths. `is_reached` is the same for all, so that ``r.distance[r.is_reached]`` has
true distances alone. Arrays are in the order of positions. Where the graph has labels, questions
about single vertices, and their answers, are by label.
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
    """A result whose `distance` holds `_unreached` where no path leads."""

    if TYPE_CHECKING:
        distance: Any

    #: The labels of the graph; None where it has none.
    names: Labels | None = field(default=None, kw_only=True)

    @property
    def _unreached(self) -> Any:
        raise NotImplementedError

    @property
    def is_reached(self) -> Any:
        """Boolean, of the shape of `distance`: true where a path leads, at the root as well."""
        return self.distance != self._unreached

    def _position(self, name: str, label: Any) -> int:
        """Return the position of a vertex that the argument `name` names."""
        if self.names is None:
            return check_vertex(name, label, self.distance.shape[-1])
        return self.names.position(name, label)

    def _labels(self, positions: Iterable[int]) -> list[Any]:
        """Return the vertices at some positions as users name them."""
        return list(positions) if self.names is None else self.names.at(positions)


@dataclass(frozen=True, eq=False, repr=False)
class FromOneRoot(Answer):
    """The result of a search from one root, which may have kept parents."""

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
            If `v` is no vertex.
        """
        distance = self.distance[self._position("v", v)].item()
        return math.inf if distance == self._unreached else distance

    def path_to(self, v: Any) -> list[Any]:
        """Return the vertices of a shortest path from the root to `v`; none if there is no path.

        Raises
        ------
        ValueError
            If the search kept no parents.
        InvalidArgument, VertexOutOfRange
            If `v` is no vertex.
        """
        position = self._position("v", v)
        if self.parent is None:
            raise ValueError("this search kept no parents: parents=True keeps them")
        return self._labels(path_to(self.parent, position))

    def to_dict(self) -> dict[Any, Any]:
        """Return the distance of each vertex that is reached, by label, nearest first."""
        reached = np.flatnonzero(self.is_reached)
        reached = reached[np.argsort(self.distance[reached], kind="stable")]
        labels = self._labels(reached.tolist())
        return dict(zip(labels, self.distance[reached].tolist(), strict=True))
