"""The programs of printed kernels: the functions, to be edited, and a short call that runs them.

The call is found by running every technique once on a small input: the SIMT machine records which
functions each launch has executed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

import gpukernels as gk
from gpukernels import all_pairs, mapping, shortest_paths, traversal

HEAD = re.compile(r"^# (gpukernels/[\w/]+)\.py\n+")
FUNCTION = re.compile(r"^def (\w+)\(", re.MULTILINE)
PACKAGE = Path(gk.__file__).parent
IMPORT = "import gpukernels as gk\n"
#: Methods that need a package or a second thread.
ELSEWHERE = {"partitioned", "matsumoto"}
#: The call of each method of a family, on the smallest input of which something can be seen.
FAMILIES = {
    tuple(traversal.METHODS): """
graph = gk.example()
trace = gk.traced(gk.bfs, graph, method="{}").trace
""",
    tuple(shortest_paths.METHODS): """
graph = gk.random_weights(gk.example(), seed=1)
trace = gk.traced(gk.sssp, graph, method="{}").trace
""",
    tuple(name for name in all_pairs.METHODS if name not in ELSEWHERE): """
graph = gk.random_weights(gk.example(), seed=1)
trace = gk.traced(gk.apsp, graph, method="{}").trace
""",
    tuple(mapping.METHODS): """
offsets = [0, 3, 3, 40, 41, 48]
trace = gk.traced(gk.expand, offsets, method="{}").trace
""",
}
#: Calls for the functions that no method of a family runs on its small input.
OTHERS = [
    IMPORT
    + f"""
graph = gk.rmat(scale=6, edge_factor=8, seed=1)
trace = gk.traced(gk.bfs, graph, method="{method}").trace
"""
    for method in ("direction_optimizing", "bfs4k", "linear_work")
] + [
    IMPORT
    + """
graph = gk.random_weights(gk.rmat(scale=6, edge_factor=4, seed=1), seed=1)
trace = gk.traced(gk.apsp, graph, method="blocked", tile=16).trace
""",
    IMPORT
    + """
graph = gk.random_weights(gk.road_grid(8, 8, seed=1), seed=1)
trace = gk.traced(gk.sssp, graph, method="near_far").trace
""",
]
OTHERS += [
    f"""import numpy as np

{IMPORT}from gpukernels.representations import {form}

graph = gk.random_weights(gk.example(), seed=1)
trace = gk.traced({form}.{call}).trace
"""
    for form, call in (
        ("csr", "neighbor_sum, graph, np.arange(graph.n)"),
        ("csr", 'weighted_neighbor_sum, graph, np.arange(graph.n), layout="packed"'),
        ("coo", "neighbor_sum, graph, np.arange(graph.n)"),
        ("coo", "has_edge, graph, [0, 1], [1, 0]"),
        ("adjacency_matrix", "row_sum, graph"),
        ("adjacency_matrix", 'row_sum, graph, mapping="thread"'),
    )
]
OTHERS += [
    f"""import numpy as np

{IMPORT}from gpukernels import primitives

trace = gk.traced(primitives.{call}).trace
"""
    for call in ("warp_rank, np.arange(64) % 3 == 0", "shared_scan, np.arange(64), threads=64")
]


class Call(NamedTuple):
    """A short program, and the kernel that it launches."""

    text: str
    kernel: str


def _texts() -> Iterator[str]:
    for methods, text in FAMILIES.items():
        for method in methods:
            yield IMPORT + text.format(method)
    yield from OTHERS


@cache
def calls() -> dict[tuple[str, str], Call]:
    """Return a call for each function of the package that a technique runs, by module and name."""
    known: dict[tuple[str, str], Call] = {}
    for text in _texts():
        namespace: dict = {}
        exec(text, namespace)
        trace = namespace["trace"]
        pairs = np.unique(np.stack([trace.steps.source, trace.steps.launch]), axis=1).T
        for source, launch in pairs.tolist():
            place = trace.sources[source]
            path = Path(place.file)
            if PACKAGE in path.parents:
                module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
                call = Call(text, trace.launches[launch].kernel)
                known.setdefault((module, place.function), call)
    return known


def name_of(listing: str) -> str:
    """Return the name of a listing's first function."""
    functions = FUNCTION.findall(listing)
    return functions[0].replace("_", "-") if functions else "listing"


def program_of(listing: str) -> str | None:
    """Return the program of a printed listing; None if no technique runs its functions.

    Parameters
    ----------
    listing : str
        The listing in plain text: the file's path, and the functions.
    """
    head = HEAD.match(listing)
    if head is None:
        return None
    module = head[1].replace("/", ".")
    text = listing[head.end() :].strip("\n")
    known = calls()
    for name in FUNCTION.findall(text):
        if (call := known.get((module, name))) is not None:
            return (
                f"# %% {module}\n{text}\n\n\n# %% program\n{call.text}"
                f'launches = [at.index for at in trace.launches if at.kernel == "{call.kernel}"]\n'
                "gk.WarpView(trace, launches[0])\n"
            )
    return None
