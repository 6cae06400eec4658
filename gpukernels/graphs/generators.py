"""Synthetic graphs: the families on which the papers measure, and a few tiny fixed ones.

Every random generator takes a `seed` and returns the same graph for the same arguments. None adds
weights unless asked; :func:`random_weights` adds them to any graph.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpukernels.checks import check_flag, check_real, check_seed, check_whole, needed
from gpukernels.cores.compiled import compiled
from gpukernels.errors import InvalidArgument
from gpukernels.graphs.faces import GraphLike, as_graph
from gpukernels.graphs.graph import INT32_MAX, Graph, Parallel, SelfLoops, check_graph
from gpukernels.graphs.making import quadrants

#: Up to so many vertices plain Python is done before numba has made its first loop ready.
SMALL = 5_000


def rmat(
    scale: int,
    edge_factor: int = 16,
    seed: int = 0,
    *,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    directed: bool = True,
    parallel: Parallel = "keep",
    self_loops: SelfLoops = "keep",
) -> Graph:
    """Recursive-matrix graph: few vertices of very high degree, many of low, small diameter.

    Every arc falls into one quadrant of the adjacency matrix, then into one quadrant of that
    quadrant, and so on `scale` times [chakrabarti2004rmat].

    Parameters
    ----------
    scale : int
        Base-2 logarithm of the number of vertices, 0 to 30.
    edge_factor : int
        Arcs drawn for each vertex.
    seed : int
        Seed of the random numbers.
    a, b, c : float
        Probability of the quadrants top left, top right and bottom left; the rest is bottom right.
    directed : bool
        ``False`` stores every drawn arc in both directions.
    parallel, self_loops
        As in `Graph.from_arcs`. The draw makes both, and by default both stay.

    Returns
    -------
    Graph
        ``2**scale`` vertices; ``edge_factor * 2**scale`` arcs if directed and all are kept.

    Examples
    --------
    >>> import gpukernels as gk
    >>> g = gk.rmat(scale=8, edge_factor=4, seed=1)
    >>> g.n, g.m, int(g.out_degree.max())
    (256, 1024, 119)
    """
    directed = check_flag("directed", directed)
    scale = check_whole("scale", scale, 0, 30)
    edge_factor = check_whole("edge_factor", edge_factor, 0, INT32_MAX >> scale)
    a, b, c = _fraction("a", a), _fraction("b", b), _fraction("c", c)
    if a + b + c > 1 + 1e-9:
        raise InvalidArgument("a + b + c", a + b + c, "at most 1")
    rng = _rng(seed)
    source, target = quadrants(rng, scale, edge_factor << scale, a, b, c)
    return Graph.from_arcs(1 << scale, source, target, None, directed, parallel, self_loops)


def kron(scale: int, edge_factor: int = 16, seed: int = 0) -> Graph:
    """Kronecker graph of the Graph 500 benchmark: an R-MAT draw made simple and undirected.

    Vertex ids are shuffled, so that a high degree says nothing about the id; parallel edges and
    self-loops are removed [murphy2010introducing].

    Parameters
    ----------
    scale : int
        Base-2 logarithm of the number of vertices, 0 to 30.
    edge_factor : int
        Edges drawn for each vertex, before removal.
    seed : int
        Seed of the random numbers.

    Examples
    --------
    >>> import gpukernels as gk
    >>> g = gk.kron(scale=6, seed=1)
    >>> g.n, g.directed, int(g.out_degree.max())
    (64, False, 50)
    """
    scale = check_whole("scale", scale, 0, 30)
    edge_factor = check_whole("edge_factor", edge_factor, 0, INT32_MAX >> (scale + 1))
    rng = _rng(seed)
    source, target = quadrants(rng, scale, edge_factor << scale, 0.57, 0.19, 0.19)
    shuffled = rng.permutation(1 << scale).astype(np.int32)
    source, target = shuffled[source], shuffled[target]
    return Graph.from_arcs(1 << scale, source, target, None, False, "min", "remove")


def erdos_renyi(n: int, mean_degree: float, seed: int = 0, *, directed: bool = False) -> Graph:
    """Uniform random graph G(n, m): every simple graph with that many edges is equally likely.

    Degrees are close to the mean and the diameter is small [erdos1959random].

    Parameters
    ----------
    n : int
        Number of vertices.
    mean_degree : float
        Mean number of arcs that leave a vertex, 0 to ``n - 1``.
    seed : int
        Seed of the random numbers.
    directed : bool
        Whether the arcs are drawn one by one, or edges as pairs of opposite arcs.

    Returns
    -------
    Graph
        No self-loops, no parallel arcs; ``m`` is the nearest possible to ``n * mean_degree``.

    Examples
    --------
    >>> import gpukernels as gk
    >>> g = gk.erdos_renyi(100, 4, seed=1)
    >>> g.n, g.m
    (100, 400)
    """
    directed = check_flag("directed", directed)
    n = check_whole("n", n, 0, INT32_MAX - 1)
    most = max(n - 1, 0)
    mean_degree = check_real("mean_degree", mean_degree, 0, most, f"from 0 to n - 1 = {n - 1}")
    rng = _rng(seed)
    if directed:
        pairs = _distinct(rng, n * (n - 1), round(n * mean_degree))
        source, target = np.divmod(pairs, n - 1) if n > 1 else (pairs, pairs)
        target = target + (target >= source)
    else:
        pairs = _distinct(rng, n * (n - 1) // 2, round(n * mean_degree / 2))
        source, target = _unordered_pairs(pairs)
    return Graph.from_arcs(n, source, target, directed=directed)


def small_world(n: int, degree: int, rewire: float, seed: int = 0) -> Graph:
    """Small-world graph: a ring of near neighbors, some of whose edges jump anywhere.

    After Watts and Strogatz [watts1998collective]. All edges that jump are drawn at once, and drawn
    again if they would make a self-loop or a parallel edge, instead of one after the other.

    Parameters
    ----------
    n : int
        Number of vertices.
    degree : int
        Neighbors of each vertex on the ring: even, less than `n`.
    rewire : float
        Probability that an edge gets a new far end, 0 (ring) to 1 (near-random).
    seed : int
        Seed of the random numbers.

    Returns
    -------
    Graph
        Undirected and simple, ``n * degree`` arcs.

    Examples
    --------
    >>> import gpukernels as gk
    >>> g = gk.small_world(40, degree=4, rewire=0.1, seed=1)
    >>> g.n, g.m
    (40, 160)
    """
    n = check_whole("n", n, 1, INT32_MAX - 1)
    degree = check_whole("degree", degree, 0, n - 1)
    if degree % 2:
        raise InvalidArgument("degree", degree, "even")
    rewire = _fraction("rewire", rewire)
    rng = _rng(seed)
    source = np.tile(np.arange(n, dtype=np.int64), degree // 2)
    step = np.repeat(np.arange(1, degree // 2 + 1, dtype=np.int64), n)
    target = (source + step) % n
    key = _edge_key(source, target, n)
    jumping = np.flatnonzero(rng.random(key.size) < rewire)
    # An edge of a vertex that already knows nearly everyone may find no new end: it then stays.
    for _ in range(64):
        if jumping.size == 0:
            break
        drawn = rng.integers(0, n, jumping.size)
        drawn_key = _edge_key(source[jumping], drawn, n)
        fresh = (drawn != source[jumping]) & ~np.isin(drawn_key, key)
        first = np.zeros(jumping.size, dtype=bool)
        first[np.unique(np.where(fresh, drawn_key, -1), return_index=True)[1]] = True
        fresh &= first
        target[jumping[fresh]] = drawn[fresh]
        key[jumping[fresh]] = drawn_key[fresh]
        jumping = jumping[~fresh]
    return Graph.from_arcs(n, source, target, directed=False)


def forest_fire(
    n: int,
    forward: float = 0.35,
    seed: int = 0,
    *,
    backward: float = 0.32,
    directed: bool = True,
) -> Graph:
    """Forest-fire graph: heavy-tailed degrees, communities, a diameter that shrinks as it grows.

    Each new vertex links to a random earlier one, and then to the vertices that the fire reaches
    from there. At every burning vertex, a geometric number of out-neighbors and one of in-neighbors
    catch fire [leskovec2005graphs]. The defaults describe the graph in [busato2015bfs4k], Table 1.

    Parameters
    ----------
    n : int
        Number of vertices.
    forward : float
        Probability that the fire takes one more out-neighbor, 0 to less than 1.
    seed : int
        Seed of the random numbers.
    backward : float
        Probability that the fire takes one more in-neighbor, 0 to less than 1.
    directed : bool
        ``False`` stores every link in both directions.

    Returns
    -------
    Graph
        Simple; when directed, every arc leads from a later vertex to an earlier one.

    Examples
    --------
    >>> import gpukernels as gk
    >>> g = gk.forest_fire(100, seed=1)
    >>> g.n, bool((g.coo[0] > g.coo[1]).all())
    (100, True)
    """
    directed = check_flag("directed", directed)
    n = check_whole("n", n, 0, INT32_MAX - 1)
    forward, backward = _below_one("forward", forward), _below_one("backward", backward)
    source, target = _burn(_rng(seed), n, forward, backward)
    return Graph.from_arcs(n, source, target, directed=directed)


def delaunay(n: int, seed: int = 0, *, weighted: bool = False) -> Graph:
    """Delaunay triangulation of random points in the unit square: planar, mean degree below 6.

    Parameters
    ----------
    n : int
        Number of vertices, at least 3.
    seed : int
        Seed of the random numbers.
    weighted : bool
        Whether edges weigh their length (float32, unit: side of the square).

    Returns
    -------
    Graph
        Undirected and simple, with `positions`.

    Examples
    --------
    >>> import gpukernels as gk
    >>> g = gk.delaunay(20, seed=1)
    >>> g.n, g.m, g.positions.shape
    (20, 92, (20, 2))
    """
    weighted = check_flag("weighted", weighted)
    n = check_whole("n", n, 3, INT32_MAX - 1)
    points = _rng(seed).random((n, 2))
    corners = needed("scipy.spatial", "graphs").Delaunay(points).simplices.astype(np.int64)
    source = corners.ravel()
    target = np.roll(corners, 1, axis=1).ravel()
    key = np.unique(_edge_key(source, target, n))
    source, target = key // n, key % n
    weight = None
    if weighted:
        weight = np.linalg.norm(points[source] - points[target], axis=1).astype(np.float32)
    return Graph.from_arcs(n, source, target, weight, directed=False, positions=points)


def road_grid(
    rows: int, columns: int, seed: int = 0, *, mean_degree: float = 2.8, weighted: bool = False
) -> Graph:
    """Road-like graph: a grid of junctions with streets missing; low degree, long diameter.

    A random spanning tree of the grid keeps it connected; random further streets are added until
    the mean degree is reached. (New York's road network of the 9th DIMACS challenge has 2.76.)

    Parameters
    ----------
    rows, columns : int
        Junctions down and across; vertex ``r * columns + c`` is in row `r` and column `c`.
    seed : int
        Seed of the random numbers.
    mean_degree : float
        Mean number of streets at a junction; the tree is the least and the full grid the most.
    weighted : bool
        Whether streets have a length (int32, 50 to 150 meters).

    Returns
    -------
    Graph
        Undirected, simple and connected, with `positions`.

    Examples
    --------
    >>> import gpukernels as gk
    >>> g = gk.road_grid(5, 8, seed=1)
    >>> g.n, g.m, gk.bfs(g).levels
    (40, 112, 12)
    """
    weighted = check_flag("weighted", weighted)
    rows = check_whole("rows", rows, 1, 46_340)
    columns = check_whole("columns", columns, 1, 46_340)
    n = rows * columns
    mean_degree = check_real("mean_degree", mean_degree, 0, 4, "from 0 to 4")
    rng = _rng(seed)
    vertex = np.arange(n, dtype=np.int32).reshape(rows, columns)
    source = np.concatenate([vertex[:, :-1].ravel(), vertex[:-1].ravel()])
    target = np.concatenate([vertex[:, 1:].ravel(), vertex[1:].ravel()])
    # Distinct ranks, so that the minimum spanning tree is unique and the seed decides it.
    order = np.argsort(rng.permutation(source.size))
    grow = _spanning_tree if n > SMALL else getattr(_spanning_tree, "py_func", _spanning_tree)
    in_tree = grow(source, target, order, np.arange(n))
    more = min(max(round(n * mean_degree / 2) - (n - 1), 0), source.size - (n - 1))
    is_road = in_tree.copy()
    is_road[rng.permutation(np.flatnonzero(~in_tree))[:more]] = True
    source, target = source[is_road], target[is_road]
    weight = rng.integers(50, 151, source.size, dtype=np.int32) if weighted else None
    across, down = np.meshgrid(np.arange(columns), np.arange(rows))
    positions = np.column_stack([across.ravel(), rows - 1 - down.ravel()])
    return Graph.from_arcs(n, source, target, weight, directed=False, positions=positions)


@compiled(nogil=True)
def _spanning_tree(source, target, order, root):
    """Return which edges Kruskal's algorithm takes in an `order`; each vertex is its own `root`."""
    taken = np.zeros(source.size, np.bool_)
    for edge in order:
        u, v = source[edge], target[edge]
        while root[u] != u:
            root[u] = root[root[u]]
            u = root[u]
        while root[v] != v:
            root[v] = root[root[v]]
            v = root[v]
        if u != v:
            root[u] = v
            taken[edge] = True
    return taken


def path(n: int, *, directed: bool = False) -> Graph:
    """Path, vertex after vertex in their order: one per level, the least parallelism possible.

    Examples
    --------
    >>> import gpukernels as gk
    >>> gk.path(4).out_degree
    array([1, 2, 2, 1], dtype=int32)
    """
    n = check_whole("n", n, 0, INT32_MAX - 1)
    vertex = np.arange(n, dtype=np.int32)
    return Graph.from_arcs(n, vertex[:-1], vertex[1:], directed=directed)


def star(n: int, *, directed: bool = False) -> Graph:
    """Star: vertex 0 is joined to all others, with the worst balance possible.

    Examples
    --------
    >>> import gpukernels as gk
    >>> gk.star(5).out_degree
    array([4, 1, 1, 1, 1], dtype=int32)
    """
    n = check_whole("n", n, 0, INT32_MAX - 1)
    leaf = np.arange(1, n, dtype=np.int32)
    return Graph.from_arcs(n, np.zeros_like(leaf), leaf, directed=directed)


def complete(n: int) -> Graph:
    """Complete undirected graph: every vertex is joined to every other.

    Examples
    --------
    >>> import gpukernels as gk
    >>> g = gk.complete(4)
    >>> g.n, g.m
    (4, 12)
    """
    n = check_whole("n", n, 0, 46_340)
    source, target = np.triu_indices(n, 1)
    return Graph.from_arcs(n, source, target, directed=False)


def example() -> Graph:
    """Return the book's running example: 16 vertices that fit on a page, undirected.

    Vertex 0 is a hub with 7 neighbors, and vertex 8 a smaller one with 5. A cycle joins them,
    12-13-14 is a tail, and 15 is alone. From vertex 0, a breadth-first search has frontiers of 1,
    7, 3, 2, 1 and 1 vertices.

    Examples
    --------
    >>> import gpukernels as gk
    >>> gk.bfs(gk.example(), root=0).stats["frontier_sizes"]
    [1, 7, 3, 2, 1, 1]
    """
    edges = (
        (0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (0, 6), (0, 7), (1, 2), (3, 4), (4, 8), (5, 8),
        (6, 9), (7, 10), (8, 10), (8, 11), (8, 12), (9, 10), (12, 13), (13, 14),
    )  # fmt: skip
    x, y = zip(
        (3, 4), (1, 5), (2, 6), (4, 6), (5, 5), (5, 3), (3, 2), (1, 3),
        (7, 4), (4, 1), (6, 1.5), (8, 2), (8, 6), (9.5, 6), (9.5, 4), (9.5, 1),
        strict=True,
    )  # fmt: skip
    source, target = np.array(edges, dtype=np.int32).T
    return Graph.from_arcs(16, source, target, directed=False, positions=np.column_stack([x, y]))


def random_weights(g: GraphLike, low: int = 1, high: int = 100, seed: int = 0) -> Graph:
    """Return the graph with uniform random int32 weights from `low` to `high`, both included.

    The two arcs of an undirected edge get one weight; if edges are parallel, the weights of the two
    directions are the same as a set.

    Examples
    --------
    >>> import gpukernels as gk
    >>> g = gk.random_weights(gk.path(4), low=1, high=9, seed=1)
    >>> g.weights
    array([5, 5, 5, 5, 7, 7], dtype=int32)
    """
    g = as_graph(g, weighted=False)
    check_graph(g)
    low = check_whole("low", low, -INT32_MAX - 1, INT32_MAX)
    high = check_whole("high", high, low, INT32_MAX)
    rng = _rng(seed)
    source, target = g.coo
    if not g.directed:
        once = source <= target
        source, target = source[once], target[once]
    weight = rng.integers(low, high, source.size, dtype=np.int32, endpoint=True)
    return Graph.from_arcs(
        g.n, source, target, weight, g.directed, labels=g.labels, positions=g.positions
    )


def _fraction(name: str, value: float) -> float:
    return check_real(name, value, 0, 1, "from 0 to 1")


def _below_one(name: str, value: float) -> float:
    return check_real(name, value, 0, np.nextafter(1, 0), "from 0 to less than 1")


def _rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(check_seed(seed))


def _distinct(rng: np.random.Generator, population: int, k: int) -> NDArray[np.int64]:
    """Draw `k` distinct numbers below `population` in O(k) memory, ascending."""
    if 2 * k > population:
        return np.sort(rng.permutation(population)[:k])
    drawn = np.zeros(0, dtype=np.int64)
    while drawn.size < k:
        more = rng.integers(0, population, k - drawn.size + 16)
        drawn = np.unique(np.concatenate([drawn, more]))
    return np.sort(rng.permutation(drawn)[:k])


def _unordered_pairs(index: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Turn the number of a pair ``{u, v}`` into ``u > v``: number ``u * (u - 1) / 2 + v``."""
    u = ((1 + np.sqrt(1 + 8 * index.astype(np.float64))) / 2).astype(np.int64)
    u -= u * (u - 1) // 2 > index
    u += (u + 1) * u // 2 <= index
    return u, index - u * (u - 1) // 2


def _edge_key(source: NDArray, target: NDArray, n: int) -> NDArray[np.int64]:
    return np.minimum(source, target).astype(np.int64) * n + np.maximum(source, target)


@compiled()
def _burn(rng, n, forward, backward):
    # Arcs are kept in linked lists in both directions, as either end may burn later.
    capacity = 4 * n + 16
    source = np.empty(capacity, dtype=np.int32)
    target = np.empty(capacity, dtype=np.int32)
    next_out = np.empty(capacity, dtype=np.int64)
    next_in = np.empty(capacity, dtype=np.int64)
    first_out = np.full(n, -1, dtype=np.int64)
    first_in = np.full(n, -1, dtype=np.int64)
    burnt_by = np.full(n, -1, dtype=np.int32)
    queue = np.empty(n, dtype=np.int32)
    fuel = np.empty(n, dtype=np.int32)
    arcs = 0
    for vertex in range(1, n):
        queue[0] = min(int(rng.random() * vertex), vertex - 1)
        burnt_by[queue[0]] = vertex
        head, tail = 0, 1
        while head < tail:
            burning = queue[head]
            head += 1
            for outward in (True, False):
                probability = forward if outward else backward
                count = 0
                arc = first_out[burning] if outward else first_in[burning]
                while arc >= 0:
                    other = target[arc] if outward else source[arc]
                    if burnt_by[other] != vertex:
                        fuel[count] = other
                        count += 1
                    arc = next_out[arc] if outward else next_in[arc]
                while count > 0 and rng.random() < probability:
                    pick = min(int(rng.random() * count), count - 1)
                    queue[tail] = fuel[pick]
                    burnt_by[fuel[pick]] = vertex
                    tail += 1
                    count -= 1
                    fuel[pick] = fuel[count]
        if arcs + tail > capacity:
            capacity = 2 * (arcs + tail)
            source = _grown(source, arcs, capacity)
            target = _grown(target, arcs, capacity)
            next_out = _grown(next_out, arcs, capacity)
            next_in = _grown(next_in, arcs, capacity)
        for i in range(tail):
            burnt = queue[i]
            source[arcs] = vertex
            target[arcs] = burnt
            next_out[arcs] = first_out[vertex]
            next_in[arcs] = first_in[burnt]
            first_out[vertex] = arcs
            first_in[burnt] = arcs
            arcs += 1
    return source[:arcs], target[:arcs]


@compiled()
def _grown(array, used, capacity):
    larger = np.empty(capacity, dtype=array.dtype)
    larger[:used] = array[:used]
    return larger
