"""Adjacency matrix: one cell for every ordered pair of vertices.

Section 1.1 of [busato2017chapter]. O(V^2) space for any number of edges: at 4 bytes per cell, 4 GiB
hold 32,768 vertices. O(1) to look up an edge; O(V) to go through the neighbors. Every row has the
same length, so the work is balanced.

The matrix is in memory row after row, with cell (u, v) at ``u * pitch + v``. With ``pitch = n``, a
row starts where the last one ends, and a warp that reads 32 cells touches up to five 32-byte
sectors. If the pitch is rounded up to a multiple of 128 bytes (as by ``cudaMallocPitch``), it
touches four.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import Literal

import numpy as np
from numba import cuda
from numpy.typing import ArrayLike, NDArray

from gpukernels.checks import check_flag
from gpukernels.device import Device
from gpukernels.errors import InvalidArgument
from gpukernels.graphs.graph import Graph, no_arc
from gpukernels.graphs.summary import record_summary
from gpukernels.primitives import THREADS, WARP_SIZE, warp_sum

from .arguments import computed, queries, sum_dtype, summed_graph, vertex_values

#: Rows of a pitched matrix start at multiples of this many bytes: a memory line.
ALIGNMENT = 128


@cuda.jit
def matrix_row_sum(matrix, pitch, absent, sums):
    """Sum each row, one warp per row: 32 lanes read 32 cells side by side."""
    u = cuda.grid(1) // WARP_SIZE
    lane = cuda.laneid
    if u < sums.size:
        total = 0
        for v in range(lane, sums.size, WARP_SIZE):
            weight = matrix[u * pitch + v]
            if weight != absent:
                total += weight
        total = warp_sum(total)
        if lane == 0:
            sums[u] = total


@cuda.jit
def matrix_row_sum_by_thread(matrix, pitch, absent, sums):
    """Sum each row, one thread per row: 32 lanes read 32 cells that are a row apart."""
    u = cuda.grid(1)
    if u < sums.size:
        total = 0
        for v in range(sums.size):
            weight = matrix[u * pitch + v]
            if weight != absent:
                total += weight
        sums[u] = total


@cuda.jit
def matrix_neighbor_sum(matrix, pitch, absent, values, sums):
    """Sum `values` over the neighbors of each vertex, one warp per row."""
    u = cuda.grid(1) // WARP_SIZE
    lane = cuda.laneid
    if u < sums.size:
        total = 0
        for v in range(lane, sums.size, WARP_SIZE):
            if matrix[u * pitch + v] != absent:
                total += values[v]
        total = warp_sum(total)
        if lane == 0:
            sums[u] = total


@cuda.jit
def matrix_neighbor_sum_by_thread(matrix, pitch, absent, values, sums):
    """Sum `values` over the neighbors of each vertex, one thread per row."""
    u = cuda.grid(1)
    if u < sums.size:
        total = 0
        for v in range(sums.size):
            if matrix[u * pitch + v] != absent:
                total += values[v]
        sums[u] = total


@cuda.jit
def matrix_has_edge(matrix, pitch, absent, source, target, found):
    """Look up one cell per query."""
    i = cuda.grid(1)
    if i < found.size:
        found[i] = matrix[source[i] * pitch + target[i]] != absent


@dataclass(frozen=True, eq=False)
class AdjacencyMatrix:
    """A graph as a matrix in one flat array.

    Attributes
    ----------
    cells : ndarray of int32, float32 or float64, shape (n * pitch,)
        Weight of the arc from u to v at ``u * pitch + v`` (1 if the graph is unweighted, the least
        weight of parallel arcs).
    pitch : int
        Cells from the start of one row to the start of the next.
    absent : int or float
        The value of a cell without an arc, and of the padding: 0 in an unweighted graph, else the
        largest int32 or infinity.
    n : int
        Number of vertices.
    """

    cells: NDArray
    pitch: int
    absent: int | float
    n: int

    __repr__ = record_summary

    @classmethod
    def from_graph(cls, g: Graph, *, pitched: bool = True) -> AdjacencyMatrix:
        """Make a matrix of `g`; `pitched` starts every row at a multiple of 128 bytes.

        Raises
        ------
        InvalidArgument
            If `g` has more than 32,768 vertices, or an arc has the weight that stands for no arc,
            or int32 does not hold a whole weight.
        """
        pitched = check_flag("pitched", pitched)
        g = summed_graph(g)
        matrix = g.dense()
        absent = 0 if g.weights is None else no_arc(matrix.dtype)
        if g.weights is not None and (g.weights == absent).any():
            raise InvalidArgument(
                "weights", absent, f"other than {absent}, which stands for no arc"
            )
        pitch = pitch_of(g.n, matrix.itemsize) if pitched else g.n
        cells = np.full((g.n, pitch), absent, dtype=matrix.dtype)
        cells[:, : g.n] = matrix
        return cls(cells.reshape(-1), pitch, matrix.dtype.type(absent), g.n)

    @property
    def nbytes(self) -> int:
        """Bytes of the matrix, its padding included."""
        return self.cells.nbytes


def pitch_of(n: int, itemsize: int = 4) -> int:
    """Return the cells that a row of `n` cells of `itemsize` bytes takes if padded to 128 bytes."""
    line = ALIGNMENT // itemsize
    return -(-n // line) * line


def largest_n(memory: int, itemsize: int = 4) -> int:
    """Return how many vertices fit a matrix with `itemsize` bytes per cell in `memory` bytes.

    Examples
    --------
    >>> largest_n(4 * 2**30)
    32768
    """
    return isqrt(memory // itemsize)


def row_sum(
    g: Graph,
    *,
    pitched: bool = True,
    mapping: Literal["warp", "thread"] = "warp",
    threads: int = THREADS,
    device: Device | None = None,
) -> np.ndarray:
    """Sum the weights of the arcs that leave each vertex.

    Parameters
    ----------
    g : Graph
        The graph; for parallel arcs, the matrix holds the least weight.
    pitched : bool
        Whether rows start at multiples of 128 bytes.
    mapping : {"warp", "thread"}
        The threads for a row: a warp, whose lanes read side by side, or one thread.
    threads : int
        Threads per block.
    device : SimtDevice or CudaDevice, optional
        Where kernels run; by default :func:`gpukernels.default_device`.

    Returns
    -------
    ndarray of int64 or float64, shape (n,)
        One sum per vertex.
    """
    matrix = AdjacencyMatrix.from_graph(g, pitched=pitched)
    kernel = _choose(mapping, matrix_row_sum, matrix_row_sum_by_thread)
    return _sum_rows(kernel, matrix, [], sum_dtype(matrix.cells.dtype), mapping, threads, device)


def neighbor_sum(
    g: Graph,
    values: ArrayLike,
    *,
    pitched: bool = True,
    mapping: Literal["warp", "thread"] = "warp",
    threads: int = THREADS,
    device: Device | None = None,
) -> np.ndarray:
    """Sum `values` over the distinct neighbors of each vertex.

    Parameters
    ----------
    g : Graph
        The graph; parallel arcs count once.
    values : array_like of int or float, shape (n,)
        One value per vertex.
    pitched, mapping, threads, device
        As in `row_sum`.

    Returns
    -------
    ndarray of int64 or float64, shape (n,)
        One sum per vertex.
    """
    values = vertex_values(values, g.n)
    matrix = AdjacencyMatrix.from_graph(g, pitched=pitched)
    kernel = _choose(mapping, matrix_neighbor_sum, matrix_neighbor_sum_by_thread)
    return _sum_rows(kernel, matrix, [values], sum_dtype(values.dtype), mapping, threads, device)


def has_edge(
    g: Graph,
    source: ArrayLike,
    target: ArrayLike,
    *,
    pitched: bool = True,
    threads: int = THREADS,
    device: Device | None = None,
) -> np.ndarray:
    """Tell for each i whether there is an arc from ``source[i]`` to ``target[i]``.

    Parameters
    ----------
    g : Graph
        The graph.
    source, target : array_like of int, shape (k,)
        The ends of the arcs to look for.
    pitched, threads, device
        As in `row_sum`.

    Returns
    -------
    ndarray of bool, shape (k,)
        One answer per query.
    """
    source, target = queries(source, target, g.n)
    matrix = AdjacencyMatrix.from_graph(g, pitched=pitched)
    operands, k = (matrix.cells, matrix.pitch, matrix.absent, source, target), source.size
    return computed(matrix_has_edge, k, operands, k, np.bool_, threads, device)


def _choose(mapping, by_warp, by_thread):
    kernels = {"warp": by_warp, "thread": by_thread}
    if mapping not in kernels:
        raise InvalidArgument("mapping", mapping, "'warp' or 'thread'")
    return kernels[mapping]


def _sum_rows(kernel, matrix, operands, dtype, mapping, threads, device):
    workers = matrix.n * (WARP_SIZE if mapping == "warp" else 1)
    operands = matrix.cells, matrix.pitch, matrix.absent, *operands
    return computed(kernel, workers, operands, matrix.n, dtype, threads, device)
