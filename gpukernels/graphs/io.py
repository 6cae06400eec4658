"""Graphs from outside: files, SciPy matrices, NetworkX graphs.

One rule for all: if there are several arcs from `u` to `v`, the lightest counts, unless
``parallel="keep"`` is given. They are never added up.
"""

from __future__ import annotations

import math
import numbers
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gpukernels.checks import check_choice, check_flag, check_whole, narrowed, needed
from gpukernels.errors import InvalidArgument
from gpukernels.graphs.formats import dimacs, matrix_market, snap
from gpukernels.graphs.graph import INT32_MAX, Graph, Parallel, SelfLoops

if TYPE_CHECKING:
    import networkx
    from scipy import sparse

FORMATS = {".mtx": matrix_market.read, ".gr": dimacs.read, ".txt": snap.read}


def read(
    path: str | PathLike[str],
    *,
    directed: bool | None = None,
    parallel: Parallel = "min",
    self_loops: SelfLoops = "keep",
    limit: int | None = None,
) -> Graph:
    r"""Read a graph file; its name says the format.

    ``.mtx`` is Matrix Market (coordinate), ``.gr`` DIMACS shortest paths, ``.txt`` a SNAP edge
    list; each also with ``.gz`` after it. A progress bar appears if reading takes over 2 s.

    The size of the file bounds the memory that reading takes, not the sizes it announces: see
    `limit`. A line has at most 65,536 bytes. A gzip file unpacks to at most 16 MiB or 32 times its
    own size, whichever is more; unpack files that are packed more tightly before. From 4 MiB on
    (gzip: 1 MiB), a compiled parser reads a million lines in a fifth of a second; the first such
    file waits once for the compiler.

    Parameters
    ----------
    path : str or path
        The file.
    directed : bool, optional
        Overrides the file. ``False`` makes an edge of every arc; ``True`` makes a graph directed
        that has both arcs of every edge.
    parallel : {"min", "keep"}
        ``"min"`` keeps the lightest of several arcs from one vertex to another.
    self_loops : {"keep", "remove"}
        Whether arcs from a vertex to itself stay.
    limit : int, optional
        The most vertices that the file may have. By default 1,048,576, or four per arc if that is
        more: a header of 25 bytes may announce two billion vertices, and each of them takes memory.

    Returns
    -------
    Graph
        Vertices are numbered from 0 in the order of the file's ids; `labels` has these ids if they
        differ. Weights are int32 if all of them are whole and fit, int64 if all are whole, and else
        float64, the nearest to each decimal number.

    Raises
    ------
    GraphFormatError
        If the file does not follow its format; names the first line that is wrong.
    InvalidArgument
        If the name ends in none of the above, or an argument is not as described.
    OSError
        If the file cannot be opened.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import gpukernels as gk
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "arcs.txt")
    ...     _ = file.write_text("# from to\n10 20\n20 30\n10 30\n")
    ...     g = gk.read(file)
    >>> g.labels
    array([10, 20, 30])
    >>> g.offsets, g.targets
    (array([0, 2, 3, 3], dtype=int32), array([1, 2, 2], dtype=int32))
    """
    if directed is not None:
        directed = check_flag("directed", directed)
    if limit is not None:
        limit = check_whole("limit", limit, 0, INT32_MAX - 1)
    check_choice("parallel", parallel, ("min", "keep"))
    check_choice("self_loops", self_loops, ("keep", "remove"))
    file = _checked_path(path)
    suffix = Path(file.stem).suffix if file.suffix == ".gz" else file.suffix
    if suffix not in FORMATS:
        allowed = f"a name that ends in {', '.join(FORMATS)}, or one of these and .gz"
        raise InvalidArgument("path", str(path), allowed)
    arcs = FORMATS[suffix](file, limit)
    own_ids = np.array_equal(arcs.labels, np.arange(arcs.n))
    g = Graph.from_arcs(
        arcs.n,
        arcs.source,
        arcs.target,
        arcs.weight,
        arcs.directed and directed is not False,
        parallel,
        self_loops,
        labels=None if own_ids else arcs.labels,
    )
    if directed and not g.directed:
        return Graph(g.offsets, g.targets, g.weights, directed=True, labels=g.labels)
    return g


def _checked_path(path: str | PathLike[str]) -> Path:
    if not isinstance(path, str | PathLike) or not isinstance(fspath(path), str):
        raise InvalidArgument("path", path, "a path: a str or a pathlib.Path")
    if "\0" in fspath(path):
        raise InvalidArgument("path", fspath(path), "a path without NUL")
    return Path(path)


def from_scipy(
    matrix: sparse.sparray | sparse.spmatrix,
    directed: bool = True,
    parallel: Parallel = "min",
    self_loops: SelfLoops = "keep",
) -> Graph:
    """Make a graph of a SciPy sparse matrix: every stored entry (i, j) is an arc i -> j.

    Parameters
    ----------
    matrix : sparse array or matrix, shape (n, n)
        In any of SciPy's formats. Its values are the weights, of the types that
        :class:`~gpukernels.Graph` keeps. Stored zeros are included (except those that only
        fill up a block of BSR or a diagonal of DIA). A matrix of booleans gives an unweighted
        graph.
    directed : bool
        ``False``: every entry is an edge; a symmetric matrix may hold one triangle or both.
    parallel : {"min", "keep"}
        Whether all of several entries for one pair stay, or only the lightest.
    self_loops : {"keep", "remove"}
        Whether entries on the diagonal stay.

    Raises
    ------
    InvalidArgument
        If the matrix is not sparse, not square, or holds NaN, infinity or complex numbers.

    Examples
    --------
    >>> from scipy import sparse
    >>> import gpukernels as gk
    >>> g = gk.from_scipy(sparse.csr_array([[0, 5], [0, 0]]))
    >>> g.offsets, g.targets, g.weights
    (array([0, 1, 1], dtype=int32), array([1], dtype=int32), array([5]))
    """
    sparse = needed("scipy.sparse", "graphs")
    directed = check_flag("directed", directed)
    if not sparse.issparse(matrix):
        raise InvalidArgument("matrix", type(matrix).__name__, "a SciPy sparse array or matrix")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidArgument("matrix.shape", matrix.shape, "square")
    arcs = matrix.tocoo()
    source, target, weight = arcs.row, arcs.col, arcs.data
    if matrix.format == "bsr":
        nonzero = weight != 0
        source, target, weight = source[nonzero], target[nonzero], weight[nonzero]
    return Graph.from_arcs(
        matrix.shape[0],
        source,
        target,
        None if weight.dtype == np.bool_ else weight,
        directed,
        parallel,
        self_loops,
    )


def from_networkx(
    graph: networkx.Graph,
    weight: str | None = "weight",
    parallel: Parallel = "min",
    self_loops: SelfLoops = "keep",
) -> Graph:
    """Make a graph of a NetworkX graph, numbering its nodes in their order.

    Parameters
    ----------
    graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        The graph; directed or undirected, as in NetworkX.
    weight : str, optional
        Edge attribute that holds the weights: on all edges or on none. ``None`` ignores weights.
    parallel : {"min", "keep"}
        Whether all parallel edges of a multigraph stay, or only the lightest.
    self_loops : {"keep", "remove"}
        Whether edges from a node to itself stay.

    Returns
    -------
    Graph
        Its `labels` are the nodes, unless these are ``0 .. n - 1`` in this order.

    Raises
    ------
    InvalidArgument
        If `graph` is not a NetworkX graph, or some edges have a weight and others none, or a weight
        is not a finite real number that int64 holds if all are whole, or else float64. Fractions
        become the nearest float64, but whole numbers may not be rounded.

    Examples
    --------
    >>> import networkx
    >>> import gpukernels as gk
    >>> g = gk.from_networkx(networkx.karate_club_graph())
    >>> g.n, g.m, g.directed
    (34, 156, False)
    """
    networkx = needed("networkx", "graphs")
    if not isinstance(graph, networkx.Graph):
        raise InvalidArgument("graph", graph, "a NetworkX graph")
    if weight is not None and not isinstance(weight, str):
        raise InvalidArgument("weight", weight, "the name of an edge attribute, or None")
    nodes = list(graph)
    number = {node: v for v, node in enumerate(nodes)}
    edges: list[Any] = list(graph.edges(data=weight)) if weight is not None else list(graph.edges())
    weights: Any = [edge[2] for edge in edges] if weight is not None else []
    weighted = any(value is not None for value in weights)
    if weighted:
        whole = all(isinstance(value, numbers.Integral) for value in weights)
        for u, v, value in edges:
            name = f"{weight!r} of edge {u!r} -> {v!r}"
            real = isinstance(value, numbers.Real)
            # Python compares Fractions and ints of any size exactly with these bounds.
            if not real or not -math.inf < value < math.inf:
                raise InvalidArgument(name, value, "a finite real number, as other edges have one")
            if whole and not -(2**63) <= value < 2**63:
                allowed = "from -2^63 to 2^63 - 1 (int64), as all weights are whole"
                raise InvalidArgument(name, value, allowed)
            if not whole and not _is_float64(value):
                raise InvalidArgument(name, value, "a number that float64 holds")
        weights = np.array(weights, dtype=np.int64 if whole else np.float64)
        weights = narrowed(weights) if whole else weights
    return Graph.from_arcs(
        len(nodes),
        np.array([number[edge[0]] for edge in edges], dtype=np.int64),
        np.array([number[edge[1]] for edge in edges], dtype=np.int64),
        weights if weighted else None,
        graph.is_directed(),
        parallel,
        self_loops,
        labels=_labels(nodes),
    )


def _is_float64(value: Any) -> bool:
    """Return whether float64 holds a whole number exactly, or another not as infinity or 0."""
    try:
        held = float(value)
    except OverflowError:
        return False
    whole = isinstance(value, numbers.Integral)
    return held == value if whole else math.isfinite(held) and (held == 0) == (value == 0)


def _labels(nodes: list) -> np.ndarray | None:
    if all(isinstance(node, numbers.Integral) for node in nodes):
        if nodes == list(range(len(nodes))):
            return None
        if all(-(2**63) <= node < 2**63 for node in nodes):
            return np.array(nodes, dtype=np.int64)
    # Element by element: NumPy would make a matrix of nodes that are tuples, and floats of integers
    # on both sides of 0 and 2^63.
    labels = np.empty(len(nodes), dtype=object)
    for v, node in enumerate(nodes):
        labels[v] = node
    return labels
