"""Choose the search for ``method="auto"``: the fastest one that is known for this graph.

On a GPU, two searches are faster than all others on every graph of data/benchmarks/bfs.json: the
direction-optimizing one if a search has few levels, the persistent one if it has many small ones.
Without a GPU, a loop on the CPU searches, because the SIMT machine only shows how a method works.
"""

from __future__ import annotations

from gpukernels import reference
from gpukernels.cores import cores
from gpukernels.device import Device, place_of
from gpukernels.graphs.depth import is_deep
from gpukernels.graphs.graph import Graph
from gpukernels.methods import Choice
from gpukernels.reference import multicore

from .result import BFSResult, vertices_per_level

#: From so many arcs on, all cores are used: compiling for them takes ten seconds once.
ON_ALL_CORES = 1 << 22


def choice(g: Graph, device: Device | None) -> Choice:
    """Return the method and the device with which `bfs` searches `g`, and why."""
    place = place_of(device)
    if place.device is None:
        return Choice(None, None, place.why)
    if place.is_looked_at:
        return Choice("frontier", place.device, place.why)
    if is_deep(g):
        return Choice("persistent", place.device, "the graph has many small levels")
    return Choice("direction_optimizing", place.device, "the graph has few levels")


def on_cpu(g: Graph, root: int, *, parents: bool = True) -> BFSResult:
    """Search on the CPU.

    Parameters
    ----------
    parents : bool
        Whether the result holds parents.
    """
    together = g.m >= ON_ALL_CORES and cores() > 1 and not is_deep(g)
    result = multicore.bfs(g, root) if together else reference.bfs(g, root)
    stats = {
        "method": "reference.multicore.bfs" if together else "reference.bfs",
        "launches": 0, "read_backs": 0, "threads": 0,
        "frontier_sizes": lambda: vertices_per_level(result.distance),
    }  # fmt: skip
    return BFSResult(result.distance, result.parent if parents else None, result.levels, stats)
