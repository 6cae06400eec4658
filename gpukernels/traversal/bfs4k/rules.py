"""How to set BFS-4K's knobs for a graph: the rules of its section 7, as numbers.

[busato2015bfs4k] tells them in words: K1 grows with the mean degree and its deviation, K2 serves
graphs with a very large degree and falls where K1 grows, K4 is 2 for a low mean and a high
deviation, 1 for a medium deviation and 0 where both are high, K5 is 0 for a high mean, and K3 = 16,
K6 = 128, K7 = 10 belong to the GPU. The bounds below are this book's; they set the paper's own
examples as the paper does: *com-youtube* (mean 5.2, deviation 50.2) to K1 = 32 and K4 = 2,
*web-Google* (5.6, 6.5) and *kkt_power* (6.3, 7.5) to K1 = 4 and K4 = 1, *random.2Mv.128Me* (64.0,
10.6) to K1 = 32.

The paper leaves out graphs whose degrees hardly deviate, roads above all. Edge-discover balances
what is not out of balance there, so it is off, K4 = 0. That is a trade: counted on
``road_grid(40, 40)`` with room for 2,048 threads and no single block, it takes a tenth of the steps
and a quarter of the sectors, since groups of 32 hold vertices of three arcs, but the longest warps
of the levels take twice the steps together, since one has 32 vertices to itself; and the GPU is
nearly empty, so the longest warp is what a level waits for. The single block takes most such levels
anyway. The paper sets its K5 mainly to 1 where we take 4: one block spares a launch and a read-back
a level, which from Python cost more than from C. The repository's ``data/benchmarks/bfs.json`` has
the times of both on a road network.

The bounds are powers of two from the gaps between the examples. No measurement stands behind them:
any other number from the same gap sorts the paper's graphs alike.

===================  =====  ====================================================================
``HIGH_MEAN``           16  ForestFire has 7.3, called low; random.2Mv.128Me has 64.0, called high
``MEDIUM_DEVIATION``     4  Amazon0505, which is not named, has 3.1; web-Google has 6.5, medium
``HIGH_DEVIATION``      16  kkt_power has 7.5, medium; ForestFire has 38.3, high
``LARGE_DEGREE``      2048  the paper's own number; also K3 x K6, the arcs of a child's block
===================  =====  ====================================================================

Slip: the column "Mode" of Table 1, which the rule for K2 speaks of, holds the maximum degree.
"""

from __future__ import annotations

from typing import Any

from gpukernels.graphs.faces import GraphLike, as_graph
from gpukernels.graphs.graph import check_graph

#: Mean degree from which a graph's mean is high.
HIGH_MEAN = 16
#: Standard deviations of the degree from which it is medium, and high.
MEDIUM_DEVIATION, HIGH_DEVIATION = 4, 16
#: Vertices a thread of the single block, where the mean is not high.
ONE_BLOCK = 4
#: Degree above which the child kernel pays.
LARGE_DEGREE = 2048


def tune_bfs4k(g: GraphLike) -> dict[str, Any]:
    """Return knobs for a BFS-4K search of `g`, from the mean, deviation and maximum of its degrees.

    Parameters
    ----------
    g : Graph, NetworkX graph or SciPy sparse matrix
        The graph to search.

    Returns
    -------
    dict
        The seven knobs K1 to K7 by name: ``gk.bfs(g, 0, "bfs4k", **gk.tune_bfs4k(g))``.

    Raises
    ------
    InvalidArgument
        If `g` is no Graph.

    Notes
    -----
    Where the mean degree is not high, ``single_block`` is 4, which fits beside the default cull.
    The tables of ``duplicates="warp_culling"``, ``"history_culling"`` and ``"merrill"`` take more
    shared memory: with one of these a search refuses more than 3. Lower the knob for them:
    ``knobs["single_block"] = min(knobs["single_block"], 3)``.

    Examples
    --------
    >>> import gpukernels as gk
    >>> g = gk.road_grid(8, 8, seed=1)
    >>> knobs = gk.tune_bfs4k(g)
    >>> knobs["threads"], knobs["single_block"]
    (128, 4)
    >>> gk.bfs(g, 0, "bfs4k", **knobs).levels
    15
    """
    g = as_graph(g, weighted=False)
    check_graph(g)
    degree = g.out_degree
    mean, deviation, largest = 0.0, 0.0, 0
    if g.n:
        mean, deviation, largest = float(degree.mean()), float(degree.std()), int(degree.max())
    return knobs_for(mean, deviation, largest)


def knobs_for(mean: float, deviation: float, largest: int) -> dict[str, Any]:
    """Return knobs for a graph of this mean, standard deviation and maximum of the degrees."""
    min_warp_size = 4
    while min_warp_size < 32 and min_warp_size < max(mean, deviation) / 2:
        min_warp_size *= 2
    edge_discover = 0
    if mean < HIGH_MEAN and deviation >= MEDIUM_DEVIATION:
        edge_discover = 2 if deviation >= HIGH_DEVIATION else 1
    return {
        "min_warp_size": min_warp_size,
        "child_share": 0.0015 * 4 / min_warp_size if largest > LARGE_DEGREE else 0.0,
        "child_queue": 16,
        "edge_discover": edge_discover,
        "single_block": 0 if mean >= HIGH_MEAN else ONE_BLOCK,
        "threads": 128,
        "coalesce_from": 10,
    }
