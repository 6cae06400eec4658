"""The times of every breadth-first search on four families of large graphs.

``python -m gpukernels.bench.bfs --commit ID`` measures on the current GPU, some minutes, and writes
``data/benchmarks/bfs.json``; ``--shrink K`` halves every graph's vertices K times.

A time is the wall-clock time of a whole call ``gk.bfs(g, root, method, parents=False)``, the median
of some: buffers, launches, every word between host and GPU, and the distances copied back. Only the
graph is on the GPU already. Every result is compared with the sequential search.
"""

from __future__ import annotations

import time
import timeit
from collections.abc import Callable, Container, Iterator
from typing import Any

import numpy as np

from gpukernels import sequential
from gpukernels.bench import record
from gpukernels.device import CudaDevice
from gpukernels.generators import rmat, road_grid, small_world
from gpukernels.graph import Graph
from gpukernels.traversal import METHODS, bfs
from gpukernels.traversal.bfs4k import tune_bfs4k


def random_arcs(n: int, mean_degree: float, seed: int) -> Graph:
    """Return a directed graph of Poisson degrees whose arcs lead anywhere, parallel ones too.

    The random graph of GTgraph, which the papers use; `erdos_renyi` would sort all arcs to tell
    parallel ones.
    """
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(rng.poisson(mean_degree, n))])
    return Graph(offsets, rng.integers(0, n, offsets[-1], dtype=np.int32))


#: Family, the call that makes it, and that call with its size halved so many times.
FAMILIES: tuple[tuple[str, str, Callable[[int], Graph]], ...] = (
    ("rmat", "gk.rmat(20, 16, seed=1)", lambda k: rmat(20 - k, 16, seed=1)),
    (
        "random",
        "gpukernels.bench.bfs.random_arcs(2_000_000, 64, seed=1)",
        lambda k: random_arcs(2_000_000 >> k, 64, seed=1),
    ),
    (
        "road",
        "gk.road_grid(950, 1053, seed=1)",
        lambda k: road_grid(950 >> (k // 2), 1053 >> (k - k // 2), seed=1),
    ),
    (
        "small world",
        "gk.small_world(2_000_000, 20, 0.3, seed=1)",
        lambda k: small_world(2_000_000 >> k, 20, 0.3, seed=1),
    ),
)

FAMILY_NAMES = tuple(family for family, *_ in FAMILIES)

#: What is measured of each method besides its defaults.
OPTIONS: dict[str, tuple[dict[str, Any], ...]] = {
    "virtual_warp": tuple({"warp_size": size} for size in (2, 4, 8, 16, 32)),
    "linear_work": ({"cull": "linear"}, {"cull": "mask"}, {"cull": "linear", "gather": "fine"}),
}

#: A search whose first run, compilation included, takes more seconds than this is not repeated.
PATIENCE = 20.0


def large_graphs(shrink: int, families: Container[str]) -> Iterator[tuple[dict[str, Any], Graph]]:
    """Yield what a row says of each of some `families`, halved so many times, and the graph.

    The search of a road network begins at a corner, of others at the vertex of most arcs.
    """
    for family, call, make in FAMILIES:
        if family in families:
            g = make(shrink)
            root = int(np.argmax(g.out_degree)) if family != "road" else 0
            head = {"graph": family, "call": call, "halved": shrink, "n": g.n, "m": g.m}
            yield {**head, "root": root}, g


def searches(g: Graph) -> list[tuple[str, str, dict[str, Any]]]:
    """Return (label, method, options) of everything that is measured on `g`."""
    found = []
    for method in METHODS:
        every = OPTIONS.get(method, ({},))
        if method == "bfs4k":
            every = (tune_bfs4k(g), {})
        for options in every:
            words = [f"{name}={value}" for name, value in options.items()]
            label = f"{method} {' '.join(words)}".strip()
            if method == "bfs4k":
                label = "bfs4k" if options else "bfs4k as the paper sets it"
            found.append((label, method, options))
    return found


def measure(
    device,
    g: Graph,
    root: int,
    repeat: int,
    chosen: list[tuple[str, str, dict[str, Any]]] | None = None,
) -> dict[str, Any]:
    """Return milliseconds and counts of all :func:`searches` of `g`, or of the `chosen` ones."""
    expected = sequential.bfs(g, root)
    once = timeit.repeat(lambda: sequential.bfs(g, root), number=1, repeat=3)
    ms = {"sequential": round(min(once) * 1e3, 3)}
    counts = {}
    for label, method, options in searches(g) if chosen is None else chosen:

        def search(method=method, options=options):
            return bfs(g, root, method, device, parents=False, **options)

        start = time.perf_counter()
        first = search()
        seconds = [time.perf_counter() - start]
        np.testing.assert_array_equal(first.distance, expected.distance, err_msg=label)
        if seconds[0] < PATIENCE:
            seconds = sorted(timeit.repeat(search, number=1, repeat=repeat))
        ms[label] = round(seconds[len(seconds) // 2] * 1e3, 3)
        counts[label] = {name: first.stats[name] for name in ("launches", "read_backs")}
        print(f"  {label:40} {ms[label]:12,.3f} ms {counts[label]}", flush=True)
    return {"levels": expected.levels, "reached": int((expected.distance >= 0).sum()),
            "ms": ms, "counts": counts}  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    """Measure and write the file."""
    parser = record.parser(__doc__)
    parser.add_argument("--shrink", type=int, default=0, help="halve the vertices so many times")
    parser.add_argument("--repeat", type=int, default=9, help="runs of which the median counts")
    parser.add_argument("--families", nargs="*", default=[], help="some of the families alone")
    options = parser.parse_args(arguments)
    device = CudaDevice()
    rows = []
    for head, g in large_graphs(options.shrink, options.families or FAMILY_NAMES):
        print(f"{head['graph']}: n={g.n:,} m={g.m:,} root={head['root']}", flush=True)
        rows.append({**head, **measure(device, g, head["root"], options.repeat)})
    path = record.write(
        "bfs",
        "a whole call of gk.bfs with the graph on the GPU, wall-clock, median",
        {"times": rows},
        record.environment(device, options.commit),
        options.folder,
    )
    print(path)


if __name__ == "__main__":
    main()
