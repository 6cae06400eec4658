"""The graphs and workloads that several benchmarks measure, each made once a process."""

from __future__ import annotations

import functools

import numpy as np

from gpukernels import generators, workloads
from gpukernels.graph import Graph

rmat = functools.cache(generators.rmat)
road_grid = functools.cache(generators.road_grid)
small_world = functools.cache(generators.small_world)
workload = functools.cache(workloads.workload)


@functools.cache
def random_arcs(n: int, mean_degree: float, seed: int) -> Graph:
    """Return a directed graph of Poisson degrees whose arcs lead anywhere, parallel ones too.

    The random graph of GTgraph, which the papers use; `erdos_renyi` would sort all arcs to tell
    parallel ones.
    """
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(rng.poisson(mean_degree, n))])
    return Graph(offsets, rng.integers(0, n, offsets[-1], dtype=np.int32))
