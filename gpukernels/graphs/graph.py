"""A graph in compressed sparse row form (CSR), and its other forms on demand.

`offsets` and `targets` are the row offsets and column indices of the adjacency matrix, so the
neighbors of `u` are ``targets[offsets[u]:offsets[u + 1]]``. All arrays of a graph are read-only:
the derived forms are made once, kept, and stay true.
"""

from __future__ import annotations

from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from gpukernels.checks import (
    as_array,
    as_numbers,
    as_python,
    check_flag,
    check_vertex,
    is_whole,
    needed,
)
from gpukernels.errors import InvalidArgument, VertexOutOfRange
from gpukernels.graphs.labels import Labels, numbered
from gpukernels.graphs.making import Rows, grouped, in_order

if TYPE_CHECKING:
    import networkx
    from scipy import sparse

Parallel = Literal["keep", "min"]
SelfLoops = Literal["keep", "remove"]

INT32_MAX = np.iinfo(np.int32).max
#: A matrix of 32,768 x 32,768 four-byte cells takes 4 GiB, one of eight-byte cells 8 GiB.
DENSE_LIMIT = 32_768


class Graph:
    """A graph over vertices ``0 .. n - 1`` in CSR form.

    An undirected graph stores each edge as two arcs of equal weight, a self-loop once.

    Parameters
    ----------
    offsets : array of int, shape (n + 1,)
        Row offsets: starts at 0, never falls, ends at `m`.
    targets : array of int, shape (m,)
        Target of every arc, grouped by source. The order within a row is kept.
    weights : array of int or float, shape (m,), optional
        Weight of every arc. An array of int32, int64, float32 or float64 keeps its type, and
        shorter types become the next longer one of these. Whole numbers in lists become int32 if
        all of them fit, or else int64; other numbers in lists become float64. NaN, infinity and
        numbers that would be rounded are refused. Kernels take 32 bits: :func:`gpukernels.sssp`
        explains the treatment of longer weights.
    directed : bool
        ``False`` promises that every arc has its opposite; this is checked.
    labels : array, shape (n,), optional
        The name of each vertex outside: the ids of a file, the nodes of a NetworkX graph, the towns
        of a table; all different. Calls then take and return vertices by label, while arrays stay
        in the order of positions. ``None`` means that vertex ``v`` has the label ``v``.
    positions : array of float, shape (n, 2), optional
        The place of each vertex in the plane, for graphs that come with a geometry.

    Raises
    ------
    InvalidArgument
        If an array has the wrong shape, type or content.
    VertexOutOfRange
        If a target is not a vertex.

    Examples
    --------
    >>> import gpukernels as gk
    >>> g = gk.Graph(offsets=[0, 2, 3, 3], targets=[1, 2, 2])
    >>> g.n, g.m
    (3, 3)
    >>> g.targets[g.offsets[0] : g.offsets[1]]
    array([1, 2], dtype=int32)
    >>> gk.Graph.from_arcs(3, source=[1, 0, 0], target=[2, 2, 1]).offsets
    array([0, 2, 3, 3], dtype=int32)
    """

    offsets: NDArray[np.int32]
    targets: NDArray[np.int32]
    weights: (
        NDArray[np.int32] | NDArray[np.int64] | NDArray[np.float32] | NDArray[np.float64] | None
    )
    directed: bool
    labels: NDArray | None
    positions: NDArray[np.float32] | None
    _dense: dict[Any, NDArray]

    def __init__(
        self,
        offsets: ArrayLike,
        targets: ArrayLike,
        weights: ArrayLike | None = None,
        directed: bool = True,
        *,
        labels: ArrayLike | None = None,
        positions: ArrayLike | None = None,
    ) -> None:
        directed = check_flag("directed", directed)
        targets = _integers("targets", targets)
        _check_offsets(offsets := _integers("offsets", offsets), targets.size)
        n = offsets.size - 1
        _check_vertices("targets", targets, n)
        self._adopt(
            offsets.astype(np.int32),
            targets.astype(np.int32),
            _weights("weights", weights, targets.size),
            directed,
            _labels(labels, n),
            _positions(positions, n),
        )
        if not directed:
            _check_symmetric(self)

    def _adopt(
        self,
        offsets: NDArray,
        targets: NDArray,
        weights: NDArray | None,
        directed: bool,
        labels: NDArray | None,
        positions: NDArray | None,
    ) -> None:
        for array in (offsets, targets, weights, labels, positions):
            if array is not None:
                array.flags.writeable = False
        self.__dict__.update(
            offsets=offsets,
            targets=targets,
            weights=weights,
            directed=directed,
            labels=labels,
            positions=positions,
            _dense={},
        )

    @classmethod
    def _checked(
        cls,
        offsets: NDArray,
        targets: NDArray,
        weights: NDArray | None,
        directed: bool,
        labels: NDArray | None = None,
        positions: NDArray | None = None,
    ) -> Graph:
        """Make a graph of arrays that are known to be valid, without a copy."""
        graph = cls.__new__(cls)
        graph._adopt(offsets, targets, weights, directed, labels, positions)
        return graph

    @classmethod
    def from_arcs(
        cls,
        n: int | None,
        source: ArrayLike,
        target: ArrayLike,
        weight: ArrayLike | None = None,
        directed: bool = True,
        parallel: Parallel = "keep",
        self_loops: SelfLoops = "keep",
        *,
        labels: ArrayLike | None = None,
        positions: ArrayLike | None = None,
    ) -> Graph:
        """Make a graph from a list of arcs in any order.

        The arcs of the result are in lexicographic order (by source, then target, then as given).

        Parameters
        ----------
        n : int, optional
            Number of vertices. ``None``: the ends of arcs are labels, and the vertices are the ones
            that these name, in the order of the labels.
        source, target : array of int, shape (k,)
            The ends of every arc, by position. With ``n=None`` by label: columns of whole numbers
            or texts, also of pandas, Polars or Arrow.
        weight : array of int or float, shape (k,), optional
            The weight of every arc, as in `Graph`.
        directed : bool
            ``False``: each arc is an edge, given once, and is stored in both directions.
        parallel : {"keep", "min"}
            ``"min"`` leaves one arc from `u` to `v`, of the least weight.
        self_loops : {"keep", "remove"}
            ``"remove"`` drops the arcs from a vertex to itself.
        labels, positions
            As in `Graph`.

        Raises
        ------
        InvalidArgument, VertexOutOfRange
            If an argument is not as described.

        Examples
        --------
        >>> import gpukernels as gk
        >>> g = gk.Graph.from_arcs(None, ["Ulm", "Bonn"], ["Kiel", "Ulm"], [850, 450])
        >>> g.labels.tolist(), gk.sssp(g, "Bonn").to_dict()
        (['Bonn', 'Kiel', 'Ulm'], {'Bonn': 0, 'Ulm': 450, 'Kiel': 1300})
        """
        if not isinstance(parallel, str) or parallel not in ("keep", "min"):
            raise InvalidArgument("parallel", parallel, "'keep' or 'min'")
        if not isinstance(self_loops, str) or self_loops not in ("keep", "remove"):
            raise InvalidArgument("self_loops", self_loops, "'keep' or 'remove'")
        directed = check_flag("directed", directed)
        if n is None:
            if labels is not None:
                raise InvalidArgument("labels", labels, "None with n=None: columns hold the labels")
            labels, source, target = numbered(source, target)
            n = len(labels)
            labels = None if np.array_equal(labels, np.arange(n)) else labels
        n = _vertex_count(n)
        source, target = _integers("source", source), _integers("target", target)
        if source.size != target.size:
            raise InvalidArgument("len(target)", target.size, f"len(source) = {source.size}")
        _check_vertices("source", source, n)
        _check_vertices("target", target, n)
        weight = _weights("weight", weight, source.size)
        labels, positions = _labels(labels, n), _positions(positions, n)
        source = np.ascontiguousarray(source, np.int32)
        target = np.ascontiguousarray(target, np.int32)
        loop = source == target
        if self_loops == "remove" and loop.any():
            source, target = source.compress(~loop), target.compress(~loop)
            weight = None if weight is None else weight.compress(~loop)
            loop = np.zeros(source.size, dtype=bool)
        m = source.size if directed else 2 * source.size - int(loop.sum())
        if m > INT32_MAX:
            raise InvalidArgument("number of arcs", m, f"at most {INT32_MAX}")
        if not directed:
            no_loop = ~loop
            weight = None if weight is None else np.concatenate([weight, weight[no_loop]])
            source, target = (
                np.concatenate([source, target[no_loop]]),
                np.concatenate([target, source[no_loop]]),
            )
        rows = in_order(n, source, target, weight)
        if parallel == "min":
            rows = _least_of_parallel(*rows)
        return cls._checked(*rows, directed, labels, positions)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Graph is read-only: {name!r} cannot be set")

    def __reduce__(self) -> tuple:
        parts = (self.offsets, self.targets, self.weights)
        return _restore, (*parts, self.directed, self.labels, self.positions)

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        weights = "unweighted" if self.weights is None else f"{self.weights.dtype} weights"
        return f"Graph(n={self.n}, m={self.m}, {kind}, {weights})"

    @property
    def n(self) -> int:
        """Number of vertices."""
        return self.offsets.size - 1

    @property
    def m(self) -> int:
        """Number of arcs stored: twice the edges of an undirected graph, self-loops once."""
        return self.targets.size

    @cached_property
    def out_degree(self) -> NDArray[np.int32]:
        """Number of arcs that leave each vertex: int32, shape (n,)."""
        return _read_only(np.diff(self.offsets))

    @cached_property
    def in_degree(self) -> NDArray[np.int32]:
        """Number of arcs that enter each vertex: int32, shape (n,)."""
        return _read_only(np.bincount(self.targets, minlength=self.n).astype(np.int32))

    @cached_property
    def coo(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Coordinate form (COO): `(source, target)` of every arc, int32, shape (m,), by source.

        Arc ``i`` is the same as in CSR, so `weights` needs no change.
        """
        vertices = np.arange(self.n, dtype=np.int32)
        return _read_only(np.repeat(vertices, self.out_degree)), self.targets

    @cached_property
    def sorted_rows(self) -> bool:
        """Whether the targets of every row are in non-descending order, as a search needs."""
        source, target = self.coo
        return bool(np.all((source[1:] != source[:-1]) | (target[1:] >= target[:-1])))

    @cached_property
    def reverse(self) -> Graph:
        """The graph with every arc turned around, rows sorted; an undirected graph is its own."""
        if not self.directed:
            return self
        turned = self._checked(*_turned_around(self), True, self.labels, self.positions)
        turned.__dict__["reverse"] = self
        return turned

    @cached_property
    def names(self) -> Labels | None:
        """The labels, with the position of each; None if there are no labels."""
        return None if self.labels is None else Labels(self.labels)

    def position_of(self, label: Any) -> int:
        """Return the position of a vertex in arrays, by its label; without labels, these are equal.

        Raises
        ------
        InvalidArgument, VertexOutOfRange
            If no vertex has the label; names the vertex at this position, if there is one.

        Examples
        --------
        >>> import gpukernels as gk
        >>> roads = gk.Graph.from_arcs(None, ["Bonn", "Ulm"], ["Ulm", "Kiel"], [450, 850])
        >>> roads.position_of("Kiel"), roads.labels[1]
        (1, 'Kiel')
        """
        if self.names is None:
            return check_vertex("label", label, self.n)
        return self.names.position("label", label)

    @cached_property
    def unlabeled(self) -> Graph:
        """The same graph without labels: calls take and return its vertices by position."""
        if self.labels is None:
            return self
        rows = self.offsets, self.targets, self.weights
        return self._checked(*rows, self.directed, None, self.positions)

    def dense(self, absent: float | None = None) -> NDArray:
        """Adjacency matrix, row-major; made once for each value of `absent` and kept.

        Parameters
        ----------
        absent : number, optional
            The value of pairs without an arc. By default 0 for an unweighted graph, infinity for
            floats, 2^31 - 1 for int32 weights and 2^63 - 1 for int64 weights.

        Returns
        -------
        ndarray, shape (n, n), read-only
            Cell ``[u, v]`` holds the least weight of the arcs from `u` to `v`, or 1 in an
            unweighted graph. The type is the first of int32, int64, float32 and float64, starting
            from the type of the weights, that holds all weights and `absent` exactly.

        Raises
        ------
        InvalidArgument
            If the graph has more than 32,768 vertices, so that the matrix would exceed 4 GiB, or if
            no type holds both `absent` and all weights exactly.
        """
        if self.n > DENSE_LIMIT:
            cell = 4 if self.weights is None else self.weights.itemsize
            size = self.n**2 * cell / 2**30
            allowed = f"at most {DENSE_LIMIT:,} for a dense matrix (this one takes {size:,.1f} GiB)"
            raise InvalidArgument("n", self.n, allowed)
        if absent is None:
            absent = 0 if self.weights is None else no_arc(self.weights.dtype)
        absent = _cell(absent)
        # NaN cannot be a key: it differs from itself, so that each call would make a matrix again.
        key = "nan" if absent != absent else absent
        if key not in self._dense:
            self._dense[key] = _read_only(_dense(self, absent))
        return self._dense[key]

    def to_scipy(self) -> sparse.csr_array:
        """Return a SciPy CSR matrix of the arcs (a copy), with ones if the graph is unweighted.

        Parallel arcs stay separate entries. SciPy adds such entries up when it converts or
        canonicalizes a matrix: remove them first (``parallel="min"``) if that would be wrong.
        """
        sparse = needed("scipy.sparse", "graphs")  # making a graph does not need it
        data = np.ones(self.m, dtype=np.int32) if self.weights is None else self.weights.copy()
        return sparse.csr_array(
            (data, self.targets.copy(), self.offsets.copy()), shape=(self.n, self.n)
        )

    def to_networkx(self) -> networkx.Graph:
        """Return a NetworkX graph over vertices ``0 .. n - 1``.

        Weights become the edge attribute ``"weight"``, labels the node attribute ``"label"``. The
        result is a multigraph only if the graph has parallel arcs.
        """
        networkx = needed("networkx", "graphs")
        source, target = self.coo
        weight = self.weights
        if not self.directed:
            once = source <= target
            source, target = source[once], target[once]
            weight = None if weight is None else weight[once]
        key = source.astype(np.int64) * self.n + target
        multi = np.unique(key).size < key.size
        kinds = {
            (True, False): networkx.DiGraph,
            (True, True): networkx.MultiDiGraph,
            (False, False): networkx.Graph,
            (False, True): networkx.MultiGraph,
        }
        result = kinds[self.directed, multi]()
        result.add_nodes_from(range(self.n))
        if self.labels is not None:
            names = dict(enumerate(self.labels.tolist()))
            networkx.set_node_attributes(result, names, "label")
        if weight is None:
            result.add_edges_from(zip(source.tolist(), target.tolist(), strict=True))
        else:
            arcs = zip(source.tolist(), target.tolist(), weight.tolist(), strict=True)
            result.add_weighted_edges_from(arcs)
        return result


def check_graph(g: object, name: str = "g") -> None:
    """Raise InvalidArgument unless `g` is a Graph."""
    if not isinstance(g, Graph):
        raise InvalidArgument(name, g, "a Graph, a NetworkX graph or a SciPy sparse matrix")


def no_arc(dtype: DTypeLike) -> int | float:
    """Return the length of an absent arc: infinity, or the largest whole number of the type."""
    kind = np.dtype(dtype)
    return np.inf if kind.kind == "f" else int(np.iinfo(kind).max)


def weight_type(g: Graph) -> np.dtype:
    """Return the type of the weights; int32 if the graph is unweighted."""
    check_graph(g)
    return np.dtype(np.int32) if g.weights is None else g.weights.dtype


def arc_weights(g: Graph) -> NDArray[Any]:
    """Return the weight of every arc, shape (m,); ones if the graph is unweighted."""
    check_graph(g)
    return np.ones(g.m, dtype=np.int32) if g.weights is None else g.weights


def checked_roots(g: Graph, roots: ArrayLike) -> NDArray[np.int32]:
    """Return roots as int32.

    Raises
    ------
    InvalidArgument
        If `g` is not a Graph, or the roots are not whole numbers in one row.
    VertexOutOfRange
        If a root is not a vertex of `g`.
    """
    check_graph(g)
    array = as_array("roots", roots)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InvalidArgument("roots", roots, "whole numbers, 1-D")
    wrong = (array < 0) | (array >= g.n)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise VertexOutOfRange(f"roots[{i}]", array[i].item(), g.n)
    return array.astype(np.int32)


def check_root(g: Graph, root: int) -> int:
    """Return `root` as a Python number.

    Raises
    ------
    InvalidArgument
        If `g` is not a Graph, or `root` not a whole number.
    VertexOutOfRange
        If `root` is not a vertex of `g`.
    """
    check_graph(g)
    return check_vertex("root", root, g.n)


def _restore(offsets, targets, weights, directed, labels, positions):
    return Graph._checked(offsets, targets, weights, directed, labels, positions)


def _read_only(array: NDArray) -> NDArray:
    array.flags.writeable = False
    return array


def _vertex_count(n: int) -> int:
    if not is_whole(n) or not 0 <= n < INT32_MAX:
        raise InvalidArgument("n", n, f"a whole number from 0 to {INT32_MAX - 1}")
    return int(n)


def _vector(name: str, values: ArrayLike) -> NDArray:
    array = as_array(name, values)
    if array.ndim != 1:
        raise InvalidArgument(f"{name}.shape", array.shape, "one-dimensional")
    return array


def _integers(name: str, values: ArrayLike) -> NDArray:
    array = _vector(name, values)
    if array.size == 0 and not isinstance(values, np.ndarray):
        return array.astype(np.int32)
    if array.dtype.kind not in "iu":
        allowed = "an integer type"
        if name in ("source", "target") and array.dtype.kind in "OUT":
            allowed += ", or columns of labels with n=None"
        raise InvalidArgument(f"{name}.dtype", str(array.dtype), allowed)
    if array.dtype.kind == "u" and array.size and array.max() > np.iinfo(np.int64).max:
        raise InvalidArgument(f"max({name})", array.max(), f"at most {INT32_MAX}")
    return array


def _check_vertices(name: str, ids: NDArray, n: int) -> None:
    if ids.size and (ids.min() < 0 or ids.max() >= n):
        at = int(np.argmax((ids < 0) | (ids >= n)))
        raise VertexOutOfRange(f"{name}[{at}]", int(ids[at]), n)


def _check_offsets(offsets: NDArray, m: int) -> None:
    if offsets.size == 0:
        raise InvalidArgument("len(offsets)", 0, "n + 1, at least 1")
    if offsets.size - 1 >= INT32_MAX:
        raise InvalidArgument("len(offsets)", offsets.size, f"at most {INT32_MAX}")
    if m > INT32_MAX:
        raise InvalidArgument("len(targets)", m, f"at most {INT32_MAX}")
    if offsets[0] != 0:
        raise InvalidArgument("offsets[0]", int(offsets[0]), "0")
    falls = offsets[1:] < offsets[:-1]
    if falls.any():
        at = int(np.argmax(falls)) + 1
        before = int(offsets[at - 1])
        raise InvalidArgument(
            f"offsets[{at}]", int(offsets[at]), f"at least offsets[{at - 1}] = {before}"
        )
    if offsets[-1] != m:
        raise InvalidArgument("offsets[-1]", int(offsets[-1]), f"len(targets) = {m}")


def _weights(name: str, values: ArrayLike | None, m: int) -> NDArray | None:
    if values is None:
        return None
    if (size := _vector(name, values).size) != m:
        raise InvalidArgument(f"len({name})", size, f"the number of arcs, {m}")
    array = as_numbers(name, values)
    bad = ~np.isfinite(array)
    if bad.any():
        at = int(np.argmax(bad))
        raise InvalidArgument(f"{name}[{at}]", float(array[at]), "a finite number")
    return np.array(array)


def _labels(values: ArrayLike | None, n: int) -> NDArray | None:
    if values is None:
        return None
    array = np.array(_vector("labels", values))
    if array.size != n:
        raise InvalidArgument("len(labels)", array.size, f"the number of vertices, {n}")
    Labels(array)  # which refuses two that are alike
    return array


def _positions(values: ArrayLike | None, n: int) -> NDArray[np.float32] | None:
    if values is None:
        return None
    array = as_array("positions", values)
    if array.size and array.dtype.kind not in "iuf":
        raise InvalidArgument("positions.dtype", str(array.dtype), "a real type")
    with np.errstate(over="ignore"):
        array = array.astype(np.float32)
    if array.shape != (n, 2):
        raise InvalidArgument("positions.shape", array.shape, f"({n}, 2)")
    if not np.isfinite(array).all():
        at = int(np.argmax(~np.isfinite(array).all(axis=1)))
        raise InvalidArgument(f"positions[{at}]", array[at].tolist(), "finite")
    return array


def _least_of_parallel(
    offsets: NDArray[np.int32], targets: NDArray[np.int32], weights: NDArray | None
) -> Rows:
    first = np.ones(targets.size + 1, dtype=bool)
    first[1:-1] = targets[1:] != targets[:-1]
    first[offsets] = True
    if first.all():
        return offsets, targets, weights
    if weights is not None:
        weights = np.minimum.reduceat(weights, np.flatnonzero(first[:-1]))
    offsets = np.cumsum(first, dtype=np.int32)[offsets] - 1
    return offsets, targets[first[:-1]], weights


def _turned_around(graph: Graph) -> Rows:
    source, target = graph.coo
    return grouped(graph.n, target, source, graph.weights)


def _check_symmetric(graph: Graph) -> None:
    rows: Any = graph.offsets, graph.targets, graph.weights
    turned: Any = _turned_around(graph)
    if all(map(np.array_equal, rows, turned)):
        return
    # The rows may be in another order, and so may parallel arcs of different weights.
    source, target = graph.coo
    arcs = _sorted_arcs(graph.n, source, target, graph.weights)
    back = _sorted_arcs(graph.n, target, source, graph.weights)
    differs = (arcs[0] != back[0]) | (arcs[1] != back[1]) | (arcs[2] != back[2])
    if not differs.any():
        return
    at = int(np.argmax(differs))
    arc, turned = ([column[at].item() for column in columns] for columns in (arcs, back))
    # Both lists are sorted, so the lesser of the two is missing from the other list.
    if arc < turned:
        u, v, w = arc
    else:
        v, u, w = turned
    text = f"{u} -> {v}" if graph.weights is None else f"{u} -> {v} of weight {w}"
    allowed = f"True, as arc {text} has no opposite arc of the same weight"
    raise InvalidArgument("directed", False, allowed)


def _sorted_arcs(
    n: int, source: NDArray[np.int32], target: NDArray[np.int32], weight: NDArray | None
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray]:
    """Return arcs in order of source, target and weight; the weights are 0 if there are none."""
    weight = np.zeros(source.size, np.int32) if weight is None else weight
    order = np.argsort(weight, kind="stable")
    rows: Any = in_order(n, source[order], target[order], weight[order])
    offsets, target, weight = rows
    return np.repeat(np.arange(n, dtype=np.int32), np.diff(offsets)), target, weight


def _cell(absent: float) -> float:
    """Return `absent` as Python's number; InvalidArgument unless it is a real number."""
    if not isinstance(absent, Real) or isinstance(absent, np.ndarray):
        raise InvalidArgument("absent", absent, "a number")
    cell = as_python(absent)
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell


def _dense_type(weights: NDArray, absent: float) -> Any:
    """Return the first type, from the weights' on, that holds all weights and `absent`."""
    kinds: tuple[Any, ...] = (np.int32, np.int64, np.float32, np.float64)
    for kind in kinds[kinds.index(weights.dtype.type) :]:
        try:
            with np.errstate(over="ignore"):
                cell = kind(absent).item()
        except (OverflowError, ValueError):
            continue
        fits = cell == absent or absent != absent
        if weights.dtype.kind == "i" and issubclass(kind, np.floating):
            most = 2 ** (np.finfo(kind).nmant + 1)  # floats hold all whole numbers up to this
            fits = fits and not ((weights > most) | (weights < -most)).any()
        if fits:
            return kind
    allowed = f"a number that a type holds exactly together with all {weights.dtype} weights"
    raise InvalidArgument("absent", absent, allowed)


def _dense(graph: Graph, absent: float) -> NDArray:
    weights = np.ones(1, np.int32) if graph.weights is None else graph.weights
    dtype = _dense_type(weights, absent)
    matrix = np.full((graph.n, graph.n), absent, dtype=dtype)
    source, target = graph.coo
    if graph.weights is None:
        matrix[source, target] = 1
    else:
        # Heaviest first, so that the least of parallel arcs is written last.
        order = np.argsort(graph.weights, kind="stable")[::-1]
        matrix[source[order], target[order]] = graph.weights[order]
    return matrix
