"""Weights for kernels: 32 bits each, refused or rounded, and the error from the rounding.

A graph keeps the weights that it is given. Kernels take int32 and float32. So a whole number that
no int32 holds is refused, and so is a float that would become infinite or 0. Every other float is
rounded to the nearest float32, a subnormal one if it is that small.

**The bound.** Let u = 2^-24 and t = 2^-150. The rounding of a weight w gives w (1 + d) + e, and
the rounding of a sum s gives s (1 + d), with |d| <= u and |e| <= t. A sum with a 0 is exact. On a
path, let k be the number of arcs whose weight is not 0, and S the sum of the absolute weights. Each
weight is rounded once and is part of at most k - 1 sums, in any order of the additions. So the
computed length of the path differs from the exact one by at most::

    ((1 + u)^k - 1) S + k t (1 + u)^k

A path that repeats no vertex leaves each vertex once, which bounds k and S: see `Rounding.bound`.

The computed distance D is the computed length of some path, and no path has a smaller computed
length. If no weight is negative, the cycles of this path can be left out, because a sum without a
term is no larger. So for the exact distance d these two hold::

    D >= (1 - u)^k d - k t
    D <= (1 + u)^k d + k t (1 + u)^k

It follows that |D - d| is at most ((1 - u)^-k - 1) D + k t (1 - u)^-k.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from gpukernels.cores.slabs import slabs_of
from gpukernels.errors import InvalidArgument
from gpukernels.graphs.graph import Graph
from gpukernels.graphs.stats import Stats

#: Largest relative error of a rounding to float32, and largest absolute error of a subnormal one.
RELATIVE, ABSOLUTE = 2.0**-24, 2.0**-150
#: Roundings per vertex of a path whose weights Johnson's algorithm raises and lowers.
RAISED = 8

Result = TypeVar("Result", bound=Any)


@dataclass(frozen=True, eq=False)
class Rounding:
    """The changes of weights by rounding to float32, and the error that follows from them.

    Attributes
    ----------
    changed : int
        Number of arcs whose weight has changed.
    reach : ndarray of float64, shape (n,)
        ``reach[k - 1]`` is the least length that k arcs can have that leave k vertices and do not
        weigh 0; infinite if there are no such arcs.
    most : float
        Sum, over all vertices, of the largest absolute weight that leaves each one.
    negative : bool
        Whether a weight is negative.
    """

    changed: int
    reach: NDArray[np.float64]
    most: float
    negative: bool

    def bound(self, longest: float) -> float:
        """Return a bound on the error of all distances of a run, the largest of which is `longest`.

        A path with an exact length of ``longest / (1 - u)^n`` or less has no more arcs than `reach`
        allows. With negative weights, a short path can have many arcs. Then the bound is for a path
        through all vertices in Johnson's algorithm, and holds for paths that repeat none.
        """
        n, slack = self.reach.size, 1 + 2.0**-20  # more than the rounding of the sums below
        if self.negative:
            grown = math.expm1(RAISED * n * math.log1p(RELATIVE))
            return (grown * self.most + n * ABSOLUTE * (1 + grown)) * slack
        shrunk = -math.log1p(-RELATIVE)
        exact = (longest + n * ABSOLUTE) * math.exp(n * shrunk) * slack
        arcs = int(np.searchsorted(self.reach, exact, "right")) if longest else 0
        grown = math.expm1(arcs * shrunk)
        return (grown * longest + arcs * ABSOLUTE * (1 + grown)) * slack


#: For each graph with weights of 64 bits, the graph for kernels and the changes by rounding.
_known: WeakKeyDictionary[Graph, tuple[Graph, Rounding | None]] = WeakKeyDictionary()


def kernel_graph(g: Graph) -> Graph:
    """Return the graph with weights of 32 bits: `g` itself if it has none longer.

    It is made once and kept as long as `g` lives, so that a device has its arrays at the next call.

    Raises
    ------
    InvalidArgument
        If int32 does not hold a whole weight, or a weight is beyond float32 or would become 0.
    """
    return g if g.weights is None or g.weights.itemsize == 4 else _seen_by_kernels(g)[0]


def rounding_of(lengths: Graph | NDArray) -> Rounding | None:
    """Return the changes by rounding of a graph or a matrix of lengths; None if none can exist."""
    if isinstance(lengths, Graph):
        wide = lengths.weights is not None and lengths.weights.dtype == np.float64
        return _seen_by_kernels(lengths)[1] if wide else None
    return _rounding_of_rows(lengths) if lengths.dtype == np.float64 else None


def with_rounding(
    result: Result, rounding: Rounding | None, lengths: Graph | NDArray, signed: bool = True
) -> Result:
    """Return the result with the effects of rounding in its `stats`.

    These are `rounding_error`, and `rounded_weights` if `rounding` has the changes of `lengths`.
    Float32 weights are not changed, but their sums are rounded. A matrix of them may change after
    the call. So it is read now, and only if it has negative lengths: `signed`.
    """
    if rounding is not None:
        return _with_error(result, lambda: rounding, rounded_weights=rounding.changed)
    if isinstance(lengths, Graph):
        weights = lengths.weights
        if weights is not None and weights.dtype == np.float32:
            return _with_error(result, lambda: _rounding_of_arcs(lengths, weights))
    elif signed and lengths.dtype == np.float32:
        sums = _rounding_of_rows(lengths)
        return _with_error(result, lambda: sums)
    return result


def _with_error(result: Result, rounding: Callable[[], Rounding], **more: int) -> Result:
    def error() -> float:
        return rounding().bound(_longest(result.distance))

    return replace(result, stats=Stats(result.stats) | more | {"rounding_error": error})


def in_32_bits(values: NDArray) -> tuple[NDArray, NDArray[np.bool_], str]:
    """Return numbers as int32 or float32, which of them do not fit, and the allowed range.

    Infinity and NaN stay unchanged.
    """
    remedy = 'scale the weights, or use engine="cpu" or gk.reference, which take them as given'
    if values.dtype.kind != "f":
        limits = np.iinfo(np.int32)
        wrong = (values > limits.max) | (values < limits.min)
        return values.astype(np.int32), wrong, f"an int32, because kernels take 32 bits: {remedy}"
    with np.errstate(over="ignore", under="ignore"):
        held = values.astype(np.float32)
    wrong = (np.isinf(held) & np.isfinite(values)) | ((held == 0) & (values != 0))
    allowed = f"0, or from 1.4e-45 to 3.4e38 without its sign, as kernels take float32: {remedy}"
    return held, wrong, allowed


def _seen_by_kernels(g: Graph) -> tuple[Graph, Rounding | None]:
    known = _known.get(g)
    if known is None:
        assert g.weights is not None
        held, wrong, allowed = in_32_bits(g.weights)
        if wrong.any():
            at = int(np.argmax(wrong))
            raise InvalidArgument(f"g.weights[{at}]", g.weights[at].item(), allowed)
        seen = Graph._checked(g.offsets, g.targets, held, g.directed, g.labels, g.positions)
        _known[g] = known = seen, None if held.dtype == np.int32 else _rounding_of_arcs(g, held)
    return known


def _rounding_of_arcs(g: Graph, held: NDArray) -> Rounding:
    weights = g.weights
    assert weights is not None
    size, source = np.abs(weights), g.coo[0]
    least, most = np.full(g.n, np.inf), np.zeros(g.n)
    np.minimum.at(least, source, np.where(size > 0, size, np.inf))
    np.maximum.at(most, source, size)
    changed = int(np.count_nonzero(held != weights))
    return _rounding(changed, least, most, bool((weights < 0).any()))


def _rounding_of_rows(matrix: NDArray) -> Rounding:
    n = len(matrix)
    least, most, changed, negative = np.full(n, np.inf), np.zeros(n), 0, False
    for first, last in slabs_of(n):
        rows = np.asarray(matrix[first:last])
        size = np.where(np.isinf(rows), 0, np.abs(rows))
        most[first:last] = size.max(axis=1, initial=0)
        least[first:last] = np.where(size > 0, size, np.inf).min(axis=1, initial=np.inf)
        changed += int(np.count_nonzero(in_32_bits(rows)[0] != rows))
        negative |= bool((rows < 0).any())
    return _rounding(changed, least, most, negative)


def _rounding(changed: int, least: NDArray, most: NDArray, negative: bool) -> Rounding:
    return Rounding(changed, np.cumsum(np.sort(least)), float(most.sum()), negative)


def _longest(distance: Any) -> float:
    """Return the largest finite distance, without its sign; also of an array of Dask."""
    if distance.size == 0:
        return 0.0
    parts = slabs_of(len(distance)) if distance.ndim == 2 else [(0, len(distance))]
    lengths = (np.abs(distance[first:last]) for first, last in parts)
    return max(float(np.where(np.isinf(part), 0, part).max()) for part in lengths)
