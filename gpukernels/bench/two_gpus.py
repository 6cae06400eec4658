"""One GPU of a host and two: searches from many roots, parts of a road network, a blocked matrix.

``python -m gpukernels.bench two_gpus`` measures on the first two GPUs, five minutes, and writes
``data/benchmarks/two_gpus.json`` after each row; ``--works`` chooses some.

Where workers share the work, one worker process a GPU does it, of a client of one worker and of a
client of two; a call is from the host's side, and its result stays with the workers. Then it is
brought here: that of two must be that of one, bit by bit, and some rows what SciPy finds.
"""

from __future__ import annotations

import operator
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter as clock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from gpukernels.all_pairs import apsp
from gpukernels.bench import peer_copies, record, steps, to_host, two_gpus_blocked
from gpukernels.bench.graphs import rmat, weighted
from gpukernels.bench.spread import median
from gpukernels.device import CudaDevice
from gpukernels.distributed import local_client
from gpukernels.distributed.peers import gpus_here
from gpukernels.distributed.watching import TaskRun, watched
from gpukernels.graphs.generators import road_grid
from gpukernels.graphs.graph import Graph
from gpukernels.shortest_paths import UNREACHED
from gpukernels.shortest_paths.batches import sssp_many
from gpukernels.traversal.many_roots import bfs_many

#: Works that the workers of a client share, and those that one process does.
SHARED = ("sssp_many", "bfs_many_roads", "bfs_many", "bfs_many_int32", "partitioned")
WORKS = ("copies", *SHARED, "to_host", "blocked")
#: Roots, and those of a tile: many tiles, so that both workers end at about the same time.
ROOTS, A_TILE = 4096, 64
#: The same of breadth-first searches, which share arcs by the tile.
SEARCHES, SHARING = 32768, 512
#: Corners of a map down and across, from which there are half as many searches.
CORNERS = 256
#: Parts of the road network, and its junctions down and across.
PARTS, ROADS = 48, 192
#: Rows of a result that SciPy finds too.
ROWS = 4
#: Seconds after which no further run is begun.
PATIENCE = 6.0

WHAT = (
    "work: the same on one GPU of a host and on two; every result checked, that of two to be that "
    "of one bit by bit and some rows to be what SciPy finds. call_ms: a whole call by the host's "
    "clock, medians of `runs`, after one that is not timed; speed_up: call_ms of one GPU by that "
    "of two. sssp_many, bfs_many, partitioned: gk.local_client(gpus), a worker process a GPU, the "
    "graph with the workers already, the result left with them; of one more call, in which workers "
    "tell what they do, watched_call_ms, and by worker its tasks, the time that they took, and "
    "when the last ended after the first task of all began. bfs_many: distances of one byte, whose "
    "type stands beside them; bfs_many_int32: of four, from a quarter of the roots; "
    "bfs_many_roads: of two, on a map, with hundreds of levels. to_host: arrays from the "
    "workers' GPUs into memory of the host, fresh or used before, all workers at once; "
    "gigabytes_per_second is of all together. blocked: one process, "
    "gk.apsp(matrix, devices=[0, 1]) with the rows shared; kernel_ms and kernel_speed_up: by the "
    "host's clock, from the matrix on the GPUs until it is closed there. copies: from one GPU to "
    "the other, in a row, by the host's clock; gigabytes_per_second counts a byte once"
)


class Work(NamedTuple):
    """A call that the workers of a client share.

    Attributes
    ----------
    name : str
        What it is called.
    graph : str
        How its graph is made.
    g : Graph
        The graph.
    call : callable
        Given a client, returns the result.
    row_roots : ndarray
        The root of each row of the result's distances.
    unreached : int
        What stands there where no path leads.
    """

    name: str
    graph: str
    g: Graph
    call: Callable[[Any], Any]
    row_roots: NDArray
    unreached: int


def shared_works(shrink: int) -> dict[str, Callable[[], Work]]:
    """Return how each work is made, its graph and its roots halved so many times."""

    def roots(g: Graph, count: int) -> NDArray:
        some = np.flatnonzero(g.out_degree)
        count = max(1, min(count >> shrink, some.size))
        return np.random.default_rng(1).choice(some, count, replace=False).astype(np.int32)

    def paths() -> Work:
        scale = max(16 - shrink, 4)
        g = weighted(rmat(scale, 16, seed=1))
        some, tile = roots(g, ROOTS), max(1, A_TILE >> shrink)

        def call(client: Any) -> Any:
            return sssp_many(g, some, batch=tile, client=client)

        name = f"gpukernels.bench.graphs.weighted(gk.rmat({scale}, 16, seed=1))"
        return Work("sssp_many", name, g, call, some, UNREACHED)

    def searches(name: str, g: Graph, made: str, dtype: str, count: int) -> Work:
        some, tile = roots(g, count), max(1, SHARING >> shrink)

        def call(client: Any) -> Any:
            return bfs_many(g, some, dtype=dtype, batch=tile, client=client)

        return Work(name, made, g, call, some, -1)

    def of_rmat(name: str, dtype: str, count: int) -> Work:
        scale = max(17 - shrink, 4)
        return searches(
            name, rmat(scale, 16, seed=1), f"gk.rmat({scale}, 16, seed=1)", dtype, count
        )

    def of_map() -> Work:
        side = max(CORNERS >> shrink // 2, 4)
        g, made = road_grid(side, side, seed=1), f"gk.road_grid({side}, {side}, seed=1)"
        return searches("bfs_many_roads", g, made, "int16", SEARCHES // 2)

    def roads() -> Work:
        side = max(ROADS >> shrink // 2, 4)
        g = road_grid(side, side, seed=1, weighted=True)
        parts = max(2, PARTS >> shrink)

        def call(client: Any) -> Any:
            return apsp(g, "partitioned", client=client, parts=parts)

        name = f"gk.road_grid({side}, {side}, seed=1, weighted=True)"
        return Work("partitioned", name, g, call, np.arange(g.n), UNREACHED)

    return {
        "sssp_many": paths,
        "bfs_many_roads": of_map,
        "bfs_many": lambda: of_rmat("bfs_many", "int8", SEARCHES),
        "bfs_many_int32": lambda: of_rmat("bfs_many_int32", "int32", SEARCHES // 4),
        "partitioned": roads,
    }


def measure(work: Work, clients: dict[int, Any], repeat: int) -> Iterator[dict[str, Any]]:
    """Measure by each of the clients; yield a row each.

    Raises
    ------
    AssertionError
        If a distance is wrong.
    """
    right, ms_of_one = None, float("nan")
    for gpus, client in clients.items():
        with client.as_current():
            work.call(client)  # compiles, and places the graph
            times: list[float] = []
            start = clock()
            while len(times) < repeat and (not times or clock() - start < PATIENCE):
                found = None  # which the workers would hold
                begin = clock()
                found = work.call(client)
                times.append((clock() - begin) * 1e3)
            distance, stats, found = brought(client, found.distance), found.stats, None
            shares = shares_of(client, lambda client=client: work.call(client))
        if right is None:
            right = distance
            check_rows(work, right)
        assert np.array_equal(distance, right), f"{work.name}: {gpus} GPUs find other distances"
        ms = median(times)
        row = {"work": work.name, "graph": work.graph, "n": work.g.n, "m": work.g.m, "gpus": gpus}
        row |= {"rows": len(distance), "dtype": distance.dtype.name, "tiles": stats["tiles"]}
        row |= {"call_ms": ms, "runs": len(times)}
        row |= {name: stats[name] for name in ("parts", "separators") if name in stats} | shares
        ms_of_one = ms if gpus == 1 else ms_of_one
        yield with_speed_up(row, ms_of_one)


def shares_of(client: Any, call: Callable[[], Any]) -> dict[str, Any]:
    """Return what each worker did of one more call, and when.

    Workers are in the order of their work, the most first.
    """
    with watched(client) as watch:
        begin = clock()
        call()
        ms = (clock() - begin) * 1e3
    runs: dict[str, list[TaskRun]] = {}
    for run in watch.runs:
        runs.setdefault(run.worker, []).append(run)
    shares = [(sum(run.end - run.begin for run in of) * 1e3, of) for of in runs.values()]
    shares.sort(key=operator.itemgetter(0), reverse=True)
    first = min((run.begin for run in watch.runs), default=0.0)
    return {
        "watched_call_ms": round(ms, 3),
        "tasks_by_worker": [len(of) for _, of in shares],
        "busy_ms_by_worker": [round(busy, 3) for busy, _ in shares],
        "span_ms_by_worker": [
            round((max(run.end for run in of) - first) * 1e3, 3) for _, of in shares
        ],
    }


def brought(client: Any, distance: Any) -> NDArray:
    """Return rows that lie with workers, block by block: as a whole, one worker would join them."""
    if isinstance(distance, np.ndarray):
        return distance
    blocks = client.compute(distance.to_delayed().ravel().tolist())
    whole: NDArray = np.empty(distance.shape, distance.dtype)
    first = 0
    for rows in client.gather(blocks):
        whole[first : first + len(rows)] = rows
        first += len(rows)
    return whole


def with_speed_up(row: dict[str, Any], ms_of_one: float) -> dict[str, Any]:
    """Return a row with its speed-up over one GPU, and print it."""
    row["speed_up"] = round(ms_of_one / max(row["call_ms"], 1e-9), 3)
    steps.tell(
        f"  {row['work']:14} {row['gpus']} GPUs: call {row['call_ms']:>10,.1f} ms, "
        f"{row['speed_up']:.2f} times one"
    )
    return row


def check_rows(work: Work, distance: NDArray) -> None:
    """Raise AssertionError unless some rows are what SciPy finds."""
    g = work.g
    some = np.random.default_rng(2).choice(len(distance), min(ROWS, len(distance)), replace=False)
    source, target = g.coo
    if g.weights is None:
        lengths = np.ones(g.m)
    else:  # SciPy would add those of parallel arcs up
        lengths = g.weights.astype(np.float64)
        order = np.lexsort((lengths, target, source))
        source, target, lengths = source[order], target[order], lengths[order]
        first = np.ones(g.m, bool)
        first[1:] = (source[1:] != source[:-1]) | (target[1:] != target[:-1])
        source, target, lengths = source[first], target[first], lengths[first]
    arcs = sparse.csr_array((lengths, (source, target)), shape=(g.n, g.n))
    expected = csgraph.dijkstra(arcs, indices=work.row_roots[some], unweighted=g.weights is None)
    expected = np.where(np.isinf(expected), work.unreached, expected)
    wrong = int(np.count_nonzero(distance[some] != expected))
    assert wrong == 0, f"{work.name}: {wrong} of {expected.size} distances are wrong"


def write(
    device,
    here: dict[str, Any],
    folder: Path,
    *,
    shrink: int = 0,
    repeat: int = 5,
    works: Sequence[str] = WORKS,
) -> Path:
    """Measure and write the file, after each row; return its path.

    Raises
    ------
    RuntimeError
        If there are not two GPUs, or a work failed; the others are measured all the same.
    """
    if isinstance(device, CudaDevice) and (count := gpus_here()) < 2:
        raise RuntimeError(f"two GPUs are asked for, and {count} answers")
    rows: list[dict[str, Any]] = []
    apart: dict[str, list[dict[str, Any]]] = {"copies": [], "to_host": []}
    measured = {**apart, "times": rows}
    failed = []
    path = record.write("two_gpus", WHAT, measured, here, folder)
    with ExitStack() as stack:
        clients: dict[int, Any] = {}
        for name, measuring in _measuring(works, shrink, repeat, clients, stack, device):
            begin = clock()
            try:
                for row in measuring():
                    apart.get(name, rows).append(row)
                    path = record.write("two_gpus", WHAT, measured, here, folder)
            except Exception:
                traceback.print_exc()
                failed.append(name)
            steps.tell(f"{name}: {clock() - begin:.1f} s", 0)
    if failed:
        raise RuntimeError(f"not measured: {', '.join(failed)}")
    return path


def _measuring(
    names: Sequence[str],
    shrink: int,
    repeat: int,
    clients: dict[int, Any],
    stack: ExitStack,
    device: Any,
) -> Iterator[tuple[str, Callable[[], Iterator[dict[str, Any]]]]]:
    """Yield what measures each work; clients begin with the first that needs them."""
    if "copies" in names and isinstance(device, CudaDevice):
        words = max(peer_copies.WORDS >> shrink, 1024)
        yield "copies", lambda: peer_copies.measure(words)

    def of_clients(measuring: Callable[[], Iterator[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
        for gpus in (1, 2):
            if gpus not in clients:
                clients[gpus] = stack.enter_context(local_client(gpus))
        yield from measuring()

    works = {
        name: lambda make=make: measure(make(), clients, repeat)
        for name, make in shared_works(shrink).items()
    }
    works["to_host"] = lambda: to_host.measure(clients, max(to_host.WORDS >> shrink, 16))
    for name, measuring in works.items():
        if name in names:
            yield name, lambda measuring=measuring: of_clients(measuring)
    if "blocked" in names:
        devices = two_gpus_blocked.devices_for(device)
        yield "blocked", lambda: two_gpus_blocked.measure(devices, shrink, min(repeat, 3))
