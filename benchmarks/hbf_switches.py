"""Times of H-BF with all its optimizations, and with one of them switched off.

Table 3 of [busato2016hbf] has one optimization on each of four graphs. Three of these are not at
hand. Graphs of the same kind stand for them, drawn with their numbers of vertices and arcs and the
figures of their degrees; the fourth was drawn, too. All weights are whole numbers from 1 to 100.
The paper has some negative ones, but an undirected edge of negative weight is a negative cycle.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import searches as together
from benchmarks import steps
from benchmarks.graphs import (
    weighted_honeycomb,
    weighted_random,
    weighted_routers,
    weighted_talk,
)
from benchmarks.searches import Family, named, time_all
from benchmarks.sssp import cases, single
from gpukernels.graphs.graph import Graph
from gpukernels.notebook.kernel_time import LaunchTimer
from gpukernels.shortest_paths import sssp

_IN = "benchmarks.graphs"
FAMILIES: tuple[Family, ...] = (
    ("hugetrace-like", f"{_IN}.weighted_honeycomb(2144, 2144, seed=1)",
     lambda k: weighted_honeycomb(2144 >> k // 2, 2144 >> k - k // 2, seed=1)),
    ("wiki-talk-like", f"{_IN}.weighted_talk(2_394_385, seed=1)",
     lambda k: weighted_talk(2_394_385 >> k, seed=1)),
    ("Skitter-like", f"{_IN}.weighted_routers(1_696_415, seed=1)",
     lambda k: weighted_routers(1_696_415 >> k, seed=1)),
    ("random", f"{_IN}.weighted_random(2_000_000, 64, seed=1)",
     lambda k: weighted_random(2_000_000 >> k, 64, seed=1)),
)  # fmt: skip
FAMILY_NAMES = tuple(family for family, *_ in FAMILIES)

#: The options of each search: first all optimizations, then all but one.
OFF: tuple[dict[str, Any], ...] = (
    {},
    {"warp_workload": 1},
    {"edge_classes": False},
    {"dynamic_virtual_warps": False, "dynamic_parallelism": False},
    {"dynamic_virtual_warps": False},
    {"dynamic_parallelism": False},
    {"duplicates": "none"},
    {"duplicates": "table"},
    {"coalesced_enqueue": False},
    {"cache_hints": False},
)
#: By graph: its counterpart in Table 3, and the options of the search there.
OF_PAPER = {
    "hugetrace-like": ("hugetrace_00000", OFF[1]),
    "wiki-talk-like": ("wiki-talk", OFF[2]),
    "Skitter-like": ("as-Skitter", OFF[3]),
    "random": ("random_2Mv.128Me", OFF[6]),
}

#: Random roots, and seconds that one setting of one graph may be repeated.
ROOTS, PATIENCE = 4, 6.0

WHAT = (
    "gk.sssp by hbf without parents, all optimizations on or one off. Graphs are drawn like those "
    "of Table 3 of [busato2016hbf] (stands_for), weights 1 to 100; in_the_paper: the search with "
    "an optimization off there. Figures as in sssp.json, every result checked. sequential: "
    "Dijkstra's heap"
)


def of_paper(family: str) -> dict[str, str]:
    """Return the counterpart of a graph in Table 3, and the label of the search there."""
    graph, off = OF_PAPER[family]
    return {"stands_for": graph, "in_the_paper": named("hbf", off)[0]}


def write(
    device,
    here: dict[str, Any],
    folder: Path,
    *,
    shrink: int = 0,
    repeat: int = 9,
    roots: int = ROOTS,
    families: Sequence[str] = FAMILY_NAMES,
    patience: float = PATIENCE,
) -> Path:
    """Measure and write the file; return its path."""
    settings = [named("hbf", off) for off in OFF]
    steps.expect(len(families) * len(settings))

    def of_graph(timer: LaunchTimer, g: Graph, root: int, bandwidth: float) -> dict[str, Any]:
        from_roots, heap_ms = cases(timer.device, g, root, roots)
        found = {"sequential": single(heap_ms, from_roots[0])}
        found |= time_all(sssp, g, settings, timer, from_roots, repeat, bandwidth, patience)
        degrees = g.out_degree
        return {
            "reached": from_roots[0].reached,
            "arcs": from_roots[0].arcs,
            "mean_degree": round(float(degrees.mean()), 2),
            "deviation": round(float(degrees.std()), 2),
            "largest_degree": int(degrees.max()),
            "searches": found,
        }

    graphs = together.large_graphs(FAMILIES, shrink, families)
    drawn = (({**head, **of_paper(head["graph"])}, g) for head, g in graphs)
    return together.write("hbf_switches", WHAT, drawn, of_graph, device, here, folder, shrink)
