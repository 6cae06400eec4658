"""Set BFS-4K's knobs for a graph: the rules of the paper's section 7, as numbers.

[busato2015bfs4k] gives the rules in words. K1 grows with the mean degree and its deviation. K2 is
for graphs with a very large degree, and falls as K1 grows. K4 is 2 for a low mean and a high
deviation, 1 for a medium deviation and 0 if both are high. K5 is 0 for a high mean. K3 = 16, K6 =
128 and K7 = 10 belong to the GPU. The bounds below are this book's. They give the paper's own
examples the paper's knobs: *com-youtube* (mean 5.2, deviation 50.2) gets K1 = 32 and K4 = 2,
*web-Google* (5.6, 6.5) and *kkt_power* (6.3, 7.5) get K1 = 4 and K4 = 1, *random.2Mv.128Me* (64.0,
10.6) gets K1 = 32.

A high mean alone sets K4 to 0 here: the paper's reason, wide virtual warps, holds for it, too. The
paper leaves out graphs whose degrees hardly deviate, above all roads. Their work is balanced
without edge-discover, so it is off: K4 = 0. This is a trade-off. On ``road_grid(40, 40)``, with
room for 2,048 threads and no single block, edge-discover takes a tenth of the steps and a quarter
of the sectors, since without it groups of 32 hold vertices of three arcs. But its longest warps of
all levels together take twice the steps. The GPU is nearly empty, so a level waits for its longest
warp. The single block takes most such levels anyway. The paper mainly sets K5 to 1. This book sets
it to 4: one block saves a launch and a read-back per level, which cost more from Python than from
C. ``data/benchmarks/bfs.json`` of the repository has the times of both on a road network.

The bounds are powers of two from the gaps between the examples. They are not measured: any other
number from the same gap sorts the paper's graphs alike.

===================  =====  ====================================================================
``HIGH_MEAN``           16  ForestFire has 7.3, called low; random.2Mv.128Me has 64.0, called high
``MEDIUM_DEVIATION``     4  Amazon0505, which is not named, has 3.1; web-Google has 6.5, medium
``HIGH_DEVIATION``      16  kkt_power has 7.5, medium; ForestFire has 38.3, high
``LARGE_DEGREE``      2048  the paper's own number; also K3 x K6, the arcs of a child's block
===================  =====  ====================================================================

Slip: the rule for K2 uses the column "Mode" of Table 1, which holds the maximum degree.
"""

from __future__ import annotations

from typing import Any

from gpukernels.graphs.faces import GraphLike, as_graph
from gpukernels.graphs.graph import check_graph

#: Mean degree from which a graph's mean is high.
HIGH_MEAN = 16
#: Standard deviations of the degree from which it is medium, and high.
MEDIUM_DEVIATION, HIGH_DEVIATION = 4, 16
#: Vertices per thread of the single block, if the mean is not high.
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
        If `g` is not a Graph.

    Notes
    -----
    If the mean degree is not high, ``single_block`` is 4, which fits together with the default
    cull. The tables of ``duplicates="warp_culling"``, ``"history_culling"`` and ``"merrill"`` take
    more shared memory: with one of these, a search refuses more than 3. Lower the knob for them:
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
