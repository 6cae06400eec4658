"""What a search for shortest paths returns, and the state that each starts from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gpukernels.device import Device, DeviceArray
from gpukernels.graphs.answers import FromOneRoot
from gpukernels.graphs.graph import Graph, no_arc
from gpukernels.graphs.summary import by_method, shape_of

#: ``distance`` of a vertex to which no path leads, where weights are whole numbers.
UNREACHED = np.iinfo(np.int32).max


@dataclass(frozen=True, eq=False, repr=False)
class SSSPResult(FromOneRoot):
    """Shortest paths from one root.

    Attributes
    ----------
    distance : ndarray of int32 or float32, shape (n,)
        Length of a shortest path from the root, int32 or float32 as the weights are whole numbers
        or floats; int32 without weights.
        Where no path leads: infinity, or for int32 ``UNREACHED``, which is 2^31 - 1.
    parent : ndarray of int32, shape (n,), or None
        The vertex before this one on such a path; the root is its own parent; -1 where no path
        leads. Where several qualify, any of them. None where the search kept no parents.
    stats : mapping
        What the search did. Every method gives ``method``, ``launches``, ``read_backs`` (how often
        the host waited for a number from the device), ``iterations`` and ``relaxations`` (arcs
        looked at, each time that they were). Methods with a queue add ``enqueues`` (vertices put
        into a frontier, the root included) and ``duplicates`` (vertices whose distance fell and
        that were not put there because they were there already). With float weights there is
        ``rounding_error``, a bound on the difference of any distance from the exact one, and with
        those of float64 ``rounded_weights``: arcs whose weight is no float32 and was rounded.

    Examples
    --------
    >>> import gpukernels as gk
    >>> gk.sssp(gk.path(5), 2, "harish")
    SSSPResult by harish: 5 of 5 vertices; distance int32 (5,), parent int32 (5,)
    """

    distance: NDArray[np.int32] | NDArray[np.float32]
    parent: NDArray[np.int32] | None
    stats: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        n = self.distance.size
        return (
            f"SSSPResult by {by_method(self.stats)}: {self.reached:,} of {n:,} vertices; "
            f"distance {shape_of(self.distance)}, parent {shape_of(self.parent)}"
        )

    @property
    def _unreached(self) -> float | int:
        return infinity(self.distance.dtype)


def infinity(dtype: DTypeLike) -> float | int:
    """Return the distance of a vertex without a path: the largest whole number, or infinity."""
    return no_arc(dtype)


def arcs_on(device: Device, g: Graph) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
    """Return offsets, targets and weights as the device's; each arc counts 1 where none weighs."""
    weights = device.full(g.m, 1, np.int32) if g.weights is None else device.keep(g.weights)
    return device.keep(g.offsets), device.keep(g.targets), weights


def start_at(root: int, g: Graph, device: Device) -> DeviceArray:
    """Return device distances that are infinite, but for that of `root`, which is 0."""
    dtype = np.int32 if g.weights is None else g.weights.dtype
    distance = device.full(g.n, infinity(dtype), dtype)
    device.put(distance, root, 0)
    return distance
