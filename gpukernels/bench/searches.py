"""What the benchmarks of searches from a root share: their graphs, the loop over them, the file."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gpukernels.bench import record
from gpukernels.bench.bandwidth import WORDS, measured_bandwidth
from gpukernels.bench.kernel_time import LaunchTimer
from gpukernels.bench.roots import Case
from gpukernels.bench.search_time import print_row, time_search, timer_for
from gpukernels.graph import Graph

#: Family, the call that makes it, and that call with its size halved so many times.
Family = tuple[str, str, Callable[[int], Graph]]

#: A search: how tables name it, its method and its options.
Search = tuple[str, str, dict[str, Any]]

#: Families whose first search begins at a corner, vertex 0; in others at the vertex of most arcs.
FROM_A_CORNER = ("road", "grid")


def named(method: str, options: dict[str, Any]) -> Search:
    """Return a search with the name that its options give it."""
    words = [f"{name}={value}" for name, value in options.items()]
    return " ".join([method, *words]), method, options


def large_graphs(
    every: Iterable[Family], shrink: int, families: Container[str]
) -> Iterator[tuple[dict[str, Any], Graph]]:
    """Yield what a row says of each of some `families`, halved so many times, and the graph."""
    for family, call, make in every:
        if family in families:
            g = make(shrink)
            root = 0 if family in FROM_A_CORNER else int(np.argmax(g.out_degree))
            head = {"graph": family, "call": call, "halved": shrink, "n": g.n, "m": g.m}
            yield {**head, "root": root}, g


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
    """Return the figures of some searches of `g` by label, as `time_search` finds them; print them.

    `search` is the front door, ``search(g, root, method, device, parents=False, ...)``.
    """
    found = {}
    for label, method, options in chosen:

        def run(device, root, method=method, options=options):
            return search(g, root, method, device, parents=False, **options)

        found[label] = time_search(run, timer, cases, repeat, bandwidth, label, patience)
        print_row(label, found[label])
    return found


def write(
    name: str,
    what: str,
    graphs: Iterable[tuple[dict[str, Any], Graph]],
    measure: Callable[[LaunchTimer, Graph, int, float], dict[str, Any]],
    device,
    here: dict[str, Any],
    folder: Path,
    shrink: int,
) -> Path:
    """Write what ``measure(timer, g, root, bandwidth)`` finds for each of `graphs`; return a path.

    The bandwidth is that of a copy, of fewer words if graphs are halved. The file is written after
    each graph, so that what was measured is kept if a later one fails.
    """
    bandwidth = measured_bandwidth(device, max(WORDS >> shrink, 1024))
    timer = timer_for(device)
    rows: list[dict[str, Any]] = []
    measured = {"copy_gigabytes_per_second": bandwidth, "times": rows}
    for head, g in graphs:
        print(f"{head['graph']}: n={g.n:,} m={g.m:,} root={head['root']}", flush=True)
        rows.append({**head, **measure(timer, g, head["root"], bandwidth)})
        record.write(name, what, measured, here, folder)
    return record.write(name, what, measured, here, folder)


def parser(text: str, families: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser of a benchmark's docstring with ``--shrink`` and ``--families``."""
    told = record.parser(text)
    told.add_argument("--shrink", type=int, default=0, help="halve the vertices so many times")
    told.add_argument("--families", nargs="*", choices=families, help="some of them alone")
    return told
