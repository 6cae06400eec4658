"""The result of a search for shortest paths, and the state from which each search starts."""

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

#: ``distance`` of a vertex to which no path leads, if weights are whole numbers.
UNREACHED = np.iinfo(np.int32).max


@dataclass(frozen=True, eq=False, repr=False)
class SSSPResult(FromOneRoot):
    """Shortest paths from one root.

    Attributes
    ----------
    distance : ndarray of int32 or float32, shape (n,)
        Length of a shortest path from the root, int32 or float32 as the weights are whole numbers
        or floats; int32 without weights.
        If there is no path: infinity, or for int32 ``UNREACHED``, which is 2^31 - 1.
    parent : ndarray of int32, shape (n,), or None
        The vertex before this one on such a path; the root is its own parent; -1 if there is no
        path. If several vertices qualify, any of them. None if the search kept no parents.
    stats : mapping
        Statistics of the search. Every method gives ``method``, ``launches``, ``read_backs`` (how
        often the host waited for a number from the device), ``iterations`` and ``relaxations`` (how
        many arcs were read, with repetitions). Methods with a queue add ``enqueues`` (vertices put
        into a frontier, the root included) and ``duplicates`` (vertices whose distance fell, but
        which were in the frontier already). With float weights there is ``rounding_error``, a bound
        on the difference between any distance and the exact one. With float64 weights there is also
        ``rounded_weights``: the number of arcs whose weight was rounded to float32.

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
    """Return offsets, targets and weights on the device; each arc counts 1 if none has a weight."""
    weights = device.full(g.m, 1, np.int32) if g.weights is None else device.keep(g.weights)
    return device.keep(g.offsets), device.keep(g.targets), weights


def start_at(root: int, g: Graph, device: Device) -> DeviceArray:
    """Return device distances that are infinite, except that of `root`, which is 0."""
    dtype = np.int32 if g.weights is None else g.weights.dtype
    distance = device.full(g.n, infinity(dtype), dtype)
    device.put(distance, root, 0)
    return distance
