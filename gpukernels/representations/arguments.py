"""The common checks and preparations of all representations' drivers, and their one launch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from gpukernels.checks import as_array, as_numbers
from gpukernels.device import Device, chosen_device
from gpukernels.errors import InvalidArgument, VertexOutOfRange
from gpukernels.graphs.graph import Graph, weight_type
from gpukernels.graphs.kernel_weights import kernel_graph
from gpukernels.primitives import blocks_for, check_threads


def sum_dtype(terms: np.dtype) -> np.dtype:
    """Return the type in which to add up `terms`: int64 for whole numbers, float64 for floats."""
    return np.dtype(np.float64 if np.dtype(terms).kind == "f" else np.int64)


def summed_graph(g: Graph) -> Graph:
    """Return the graph with whole weights as int32; floats stay as they are, so none is rounded.

    Raises
    ------
    InvalidArgument
        If `g` is not a Graph, or int32 does not hold a whole weight.
    """
    return g if weight_type(g).kind == "f" else kernel_graph(g)


def vertex_values(values: ArrayLike, n: int) -> NDArray[Any]:
    """Return `values`, shape (n,), whole numbers as int32 and floats as float32 or float64.

    Raises
    ------
    InvalidArgument
        If there is not one number per vertex, or a whole number does not fit int32.
    """
    array = as_array("values", values)
    if array.shape != (n,):
        raise InvalidArgument("values.shape", array.shape, f"({n},), one value per vertex")
    if array.dtype.kind == "f":
        return np.ascontiguousarray(as_numbers("values", values))
    if array.dtype.kind not in "biu":
        raise InvalidArgument("values.dtype", str(array.dtype), "an integer or float type")
    limits = np.iinfo(np.int32)
    if array.size and not limits.min <= int(array.min()) <= int(array.max()) <= limits.max:
        at = int(np.argmax((array < limits.min) | (array > limits.max)))
        raise InvalidArgument(f"values[{at}]", int(array[at]), "an int32")
    return np.ascontiguousarray(array, dtype=np.int32)


def queries(source: ArrayLike, target: ArrayLike, n: int) -> tuple[NDArray, NDArray]:
    """Return the ends of the queried arcs as two int32 arrays of one length.

    Raises
    ------
    InvalidArgument
        If they are not one-dimensional, of whole numbers and of one length.
    VertexOutOfRange
        If an end is not a vertex.
    """
    ends = []
    for name, vertices in (("source", source), ("target", target)):
        array = np.atleast_1d(as_array(name, vertices))
        if array.size == 0:
            array = array.astype(np.int32)
        if array.ndim != 1 or array.dtype.kind not in "iu":
            kind = f"shape {array.shape}, {array.dtype}"
            raise InvalidArgument(name, kind, "a vertex or a list of vertices")
        outside = (array < 0) | (array >= n)
        if outside.any():
            at = int(np.argmax(outside))
            raise VertexOutOfRange(f"{name}[{at}]", int(array[at]), n)
        ends.append(array.astype(np.int32))
    if ends[0].size != ends[1].size:
        raise InvalidArgument("len(target)", ends[1].size, f"len(source) = {ends[0].size}")
    return ends[0], ends[1]


def computed(
    kernel: Any,
    workers: int,
    operands: Iterable[Any],
    size: int,
    dtype: DTypeLike,
    threads: int,
    device: Device | None,
    *options: Any,
    start: float | None = None,
) -> np.ndarray:
    """Return the array that one launch of `kernel` writes, with a thread for each worker.

    The kernel takes the operands (arrays and numbers), then the array of `size` elements, then the
    options. If sums have a number to `start` from, the kernel adds to the array.
    """
    check_threads(threads)
    device = chosen_device(device)
    out = device.empty(size, dtype) if start is None else device.full(size, start, dtype)
    arguments = [device.array(a) if isinstance(a, np.ndarray) else a for a in operands]
    device.launch(kernel, blocks_for(workers, threads), threads, *arguments, out, *options)
    return device.read(out)
