"""Choose the search for ``method="auto"``: the fastest one that is known for this graph.

On a GPU, that is the persistent near-far search if no weight is negative
(data/benchmarks/sssp.json). For negative weights, H-BF is fastest on large graphs with few levels,
and Harish and Narayanan's rounds are fastest on the others. Without a GPU, or with weights that no
kernel takes, an algorithm on the CPU searches.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukernels import reference
from gpukernels.cores import cores
from gpukernels.cores.compiled import compiled
from gpukernels.device import Device, SimtDevice, place_of
from gpukernels.errors import InvalidArgument
from gpukernels.graphs.depth import is_deep
from gpukernels.graphs.graph import Graph, arc_weights, no_arc, weight_type
from gpukernels.graphs.kernel_weights import kernel_graph
from gpukernels.graphs.paths import NO_PARENT
from gpukernels.graphs.weight_facts import weight_facts
from gpukernels.methods import Choice
from gpukernels.reference import multicore
from gpukernels.reference.in_type import in_type

from .result import SSSPResult

#: From so many arcs on, all cores are used: compiling for them takes ten seconds once.
ON_ALL_CORES = 1 << 20
#: From so many vertices and arcs on, one search has enough work for a GPU.
ALONE = 1 << 19
#: H-BF's options in data/benchmarks/sssp.json: at most 1.13 times the time of the best options.
HBF = MappingProxyType({"child_threshold": 256, "min_warp_size": 16, "cache_hints": False})


def choice(g: Graph, device: Device | None) -> Choice:
    """Return the method and the device with which `sssp` searches `g`, and why."""
    place = place_of(device)
    if place.device is None:
        return Choice(None, None, place.why)
    if place.is_looked_at:
        return Choice("topology_driven", place.device, place.why)
    try:
        kernel_graph(g)
    except InvalidArgument as refused:
        return Choice(None, None, f"kernels do not take {refused.argument} = {refused.value}")
    if weight_facts(g).least >= 0:
        return Choice("near_far_persistent", place.device, "no weight is negative")
    if is_deep(g) or g.n + g.m < ALONE:
        why = "a weight is negative, and the graph is small or has many small levels"
        return Choice("harish", place.device, why)
    why = "a weight is negative, and the graph is large and has few levels"
    return Choice("hbf", place.device, why, HBF)


def from_many_roots(g: Graph, device: Device | None) -> str:
    """Return the method with which `sssp_many` searches `g` on a device.

    It searches from all roots at once, unless the graph is so large that one search fills a GPU.
    Then it takes one root after the other, by a search that reads few arcs twice.
    """
    if isinstance(device, SimtDevice) or weight_facts(g).least < 0:
        return "topology_driven"
    if g.n + g.m >= ALONE:
        return "near_far_persistent"
    return "topology_driven" if is_deep(g) else "hbf"


def on_cpu(g: Graph, root: int, *, parents: bool = True) -> SSSPResult:
    """Search on the CPU.

    Parameters
    ----------
    parents : bool
        Whether the result holds parents.
    """
    stats: dict[str, Any] = {"launches": 0, "read_backs": 0}
    parent = None
    if weight_facts(g).least >= 0 and g.m >= ON_ALL_CORES and cores() > 1:
        together = multicore.sssp(g, root)
        length = together.distance
        stats |= {"method": "reference.multicore.sssp", "iterations": together.rounds}
        stats |= {"relaxations": together.relaxations}
        if parents:
            parent = np.full(g.n, NO_PARENT, np.int32)
            _adopt(g.offsets, g.targets, arc_weights(g), root, length, parent)
        reached = length != no_arc(length.dtype)
    else:
        negative = weight_facts(g).least < 0
        search = reference.bellman_ford_queue if negative else reference.dijkstra
        result = search(g, root)
        length, parent, reached = result.distance, result.parent, result.parent >= 0
        stats |= {"method": f"reference.{search.__name__}", "iterations": result.iterations}
        stats |= {"relaxations": result.relaxations, "enqueues": result.enqueues}
    distance: NDArray = np.empty(g.n, weight_type(g))
    in_type(length, reached, root, distance)
    return SSSPResult(distance, parent if parents else None, stats)


@compiled()
def _adopt(offsets, targets, weights, root, distance, parent):
    """Give each reached vertex a parent, by a search along tight arcs.

    The search moves away from the root, so that arcs of weight 0 close no cycle of parents.
    """
    queue = np.empty(parent.size, np.int32)
    queue[0], parent[root] = root, root
    head, tail = 0, 1
    while head < tail:
        u = queue[head]
        head += 1
        for i in range(offsets[u], offsets[u + 1]):
            v = targets[i]
            if distance[u] + weights[i] == distance[v] and parent[v] == NO_PARENT:
                parent[v] = u
                queue[tail] = v
                tail += 1
