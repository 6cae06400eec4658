"""The common part of benchmarks of searches from a root: graphs, the loop over them, the file."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import record, steps
from benchmarks.limits import measured_limits
from benchmarks.roots import Case
from benchmarks.search_time import print_row, time_search, timer_for
from gpukernels.graphs.graph import Graph
from gpukernels.notebook.kernel_time import LaunchTimer

#: A family, the call that makes it, and a function that makes it with a size halved so many times.
Family = tuple[str, str, Callable[[int], Graph]]

#: A search: its name in tables, its method and its options.
Search = tuple[str, str, dict[str, Any]]

#: Families whose first search starts from a corner, vertex 0. Others start from the vertex with the
#: most arcs.
FROM_A_CORNER = ("road", "grid")


def named(method: str, options: dict[str, Any]) -> Search:
    """Return a search whose name contains its options."""
    words = [f"{name}={value}" for name, value in options.items()]
    return " ".join([method, *words]), method, options


def large_graphs(
    every: Iterable[Family], shrink: int, families: Container[str]
) -> Iterator[tuple[dict[str, Any], Graph]]:
    """Yield the first entries of a row and the graph, of each family halved so many times."""
    for family, call, make in every:
        if family in families:
            g = make(shrink)
            root = 0 if family in FROM_A_CORNER else int(np.argmax(g.out_degree))
            head = {"graph": family, "call": call, "halved": shrink, "n": g.n, "m": g.m}
            yield {**head, "root": root}, g


def searches_of(
    known: Iterable[str], methods: Container[str], options: Mapping[str, Sequence[dict[str, Any]]]
) -> list[Search]:
    """Return the searches of some `methods`: each with its `options`, or with its defaults."""
    return [
        named(method, some)
        for method in known
        if method in methods
        for some in options.get(method, ({},))
    ]


def time_all(
    search: Callable[..., Any],
    g: Graph,
    chosen: Iterable[Search],
    timer: LaunchTimer,
    cases: Sequence[Case],
    repeat: int,
    bandwidth: float,
    patience: float | None,
) -> dict[str, dict[str, Any]]:
    """Return and print the figures of some searches of `g` by label, from `time_search`.

    `search` is the public function, ``search(g, root, method, device, parents=False, ...)``.
    """
    rows = {}
    for label, method, options in chosen:

        def run(device, root, method=method, options=options):
            return search(g, root, method, device, parents=False, **options)

        rows[label] = time_search(run, timer, cases, repeat, bandwidth, label, patience)
        print_row(label, rows[label])
    return rows


def write(
    name: str,
    what: str,
    graphs: Iterable[tuple[dict[str, Any], Graph]],
    measure: Callable[[LaunchTimer, Graph, int, float], dict[str, Any]],
    device,
    circumstances: dict[str, Any],
    folder: Path,
    shrink: int,
) -> Path:
    """Write the figures of ``measure(timer, g, root, bandwidth)`` for all `graphs`; return a path.

    The limits are measured first, in less time if graphs are halved. The file is written after
    each graph, so that it has the finished graphs if a later one fails.
    """
    limits = measured_limits(device, shrink)
    timer = timer_for(device)
    rows: list[dict[str, Any]] = []
    measured = {**limits.figures, "times": rows}
    for head, g in graphs:
        steps.tell(f"{head['graph']}: n={g.n:,} m={g.m:,} root={head['root']}", 0)
        row = {**head, **measure(timer, g, head["root"], limits.gigabytes_per_second)}
        for search in row["searches"].values():
            if "least_operations" in search:
                shares = limits.shares(search["roots_kernel_ms"], 0, search["least_operations"])
                search["share_of_issue_rate"] = shares["share_of_issue_rate"]
        rows.append(row)
        record.write(name, what, measured, circumstances, folder)
    return record.write(name, what, measured, circumstances, folder)
