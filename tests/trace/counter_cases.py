"""The launches whose counters are compared: the book's kernels on small inputs, and some probes.

A case is a call that launches kernels on the device it is given. It launches the same ones, on the
same input, on the SIMT machine as on the GPU that was measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import counter_probes as probes
import numpy as np
from numba import typeof

from gpukernels.frontiers.duplicates import DUPLICATES
from gpukernels.graphs.generators import random_weights, rmat, road_grid, small_world
from gpukernels.graphs.graph import Graph
from gpukernels.mapping import METHODS as MAPPINGS
from gpukernels.mapping import expand
from gpukernels.primitives import (
    block_scan,
    device_scan,
    find_owners,
    shared_scan,
    warp_rank,
    warp_scan,
)
from gpukernels.primitives.find_owners import SEARCHES
from gpukernels.representations import adjacency_matrix, coo, csr
from gpukernels.simt.machine import RESIDENT_THREADS
from gpukernels.traversal import METHODS, bfs


@dataclass(frozen=True)
class Case:
    """Launches with a name.

    Attributes
    ----------
    group, name : str
        The chapter or subject, and what is launched on what; together unique.
    run : callable
        Launches on the device that it is given.
    ordered : bool
        Whether all counts are the same in whatever order the threads run. Where they are not, the
        machine and a GPU may differ by who came first.
    """

    group: str
    name: str
    run: Callable[[object], object]
    ordered: bool = True

    @property
    def label(self) -> str:
        """Its full name."""
        return f"{self.group}: {self.name}"


@dataclass(frozen=True)
class Noted:
    """One launch of a case: kernel and shape."""

    case: str
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]


def note_launches(device, case: Case, into: list[Noted], launched: list | None = None) -> None:
    """Run a case on `device`, and note its launches in order.

    `launched`, if given, gets the kernel and the types of its arguments, a pair a launch.
    """
    launch = device.launch

    def noting(kernel, blocks, threads, *arguments, **options):
        grid, block = _shape(blocks), _shape(threads)
        if 0 not in grid:
            into.append(Noted(case.label, kernel.py_func.__name__, grid, block))
            if launched is not None:
                launched.append((kernel, tuple(map(typeof, arguments))))
        return launch(kernel, blocks, threads, *arguments, **options)

    fitting = device.cooperative_blocks

    def no_more_than_the_machine(kernel, threads, *arguments):
        return min(fitting(kernel, threads, *arguments), max(1, RESIDENT_THREADS // threads))

    was = device.resident_threads
    device.launch = noting
    # Kernels that fill the device must not fill a larger one by more threads.
    device.cooperative_blocks = no_more_than_the_machine
    device.resident_threads = RESIDENT_THREADS
    try:
        case.run(device)
    finally:
        del device.launch, device.cooperative_blocks
        device.resident_threads = was


def _shape(size) -> tuple[int, int, int]:
    sizes = tuple(map(int, size)) if isinstance(size, tuple | list) else (int(size),)
    return (*sizes, 1, 1)[:3]


def _case(group: str, name: str, call, *arguments, ordered: bool = True, **options) -> Case:
    """Return the case that calls a function of the package with ``device=``."""
    run = partial(call, *arguments, **options)
    return Case(group, name, lambda device: run(device=device), ordered)


def cases() -> list[Case]:
    """Return all cases, in the order in which they are launched."""
    all_cases = [
        *_of_representations(),
        *_of_primitives(),
        *_of_mappings(),
        *_of_searches(),
        *_of_examples(),
    ]
    labels = [case.label for case in all_cases]
    assert len(set(labels)) == len(labels)
    return all_cases


def _of_representations() -> Iterator[Case]:
    case = partial(_case, "representations")
    web = rmat(10, 8, seed=1)
    simple = rmat(10, 8, seed=1, parallel="min", self_loops="remove")
    ring = small_world(1024, degree=8, rewire=0.1, seed=1)
    road = road_grid(32, 32, seed=1)
    weighted = random_weights(web, 1, 9, seed=3)
    x = np.arange(1024)
    matrix = adjacency_matrix
    for by in ("warp", "thread"):
        yield case(f"matrix row sum by {by}, rmat", matrix.row_sum, simple, mapping=by)
        yield case(f"matrix neighbor sum by {by}, road", matrix.neighbor_sum, road, x, mapping=by)
    for name, g in {"rmat": web, "small world": ring, "road": road}.items():
        yield case(f"csr neighbor sum, {name}", csr.neighbor_sum, g, x)
        yield case(f"coo neighbor sum, {name}", coo.neighbor_sum, g, x)
    both = "both ways"
    yield case(f"coo neighbor sum {both}, small world", coo.neighbor_sum, ring, x, both_ways=True)
    yield case("csr row sum, rmat", csr.row_sum, weighted)
    yield case("coo row sum, rmat", coo.row_sum, weighted)
    yield case(f"coo row sum {both}, road", coo.row_sum, road, both_ways=True)
    for layout in ("soa", "aos", "packed"):
        name = f"csr weighted sum {layout}, rmat"
        yield case(name, csr.weighted_neighbor_sum, weighted, x, layout=layout)
    draw = np.random.default_rng(1)
    ends = draw.integers(simple.n, size=1024), draw.integers(simple.n, size=1024)
    for form in (adjacency_matrix, csr, coo):
        short = form.__name__.rpartition(".")[2]
        yield case(f"{short} has edge, rmat", form.has_edge, simple, *ends)


def _of_primitives() -> Iterator[Case]:
    case = partial(_case, "scans")
    values = np.random.default_rng(0).integers(0, 50, 4096)
    yield case("warp scan", warp_scan, values)
    yield case("warp rank", warp_rank, values > 20)
    yield case("block scan", block_scan, values)
    yield case("shared scan, plain", shared_scan, values, padding=False)
    yield case("shared scan, padded", shared_scan, values, padding=True)
    yield case("device scan", device_scan, values)
    offsets = np.concatenate([[0], np.cumsum(values[:256] % 16)])
    for search in SEARCHES:
        some = offsets[:33] if search == "register" else offsets
        yield case(f"find owners, {search}", find_owners, some, np.arange(some[-1]), search)


def _of_mappings() -> Iterator[Case]:
    offsets = rmat(10, 8, seed=1).offsets
    knobs = {"local_warp_search": ({"form": "register"}, {"form": "shared"})}
    for method in MAPPINGS:
        ordered = method not in ("dynamic_virtual_warp", "cta_warp_scan")
        for chosen in knobs.get(method, ({},)):
            name = " ".join([method, *chosen.values()])
            yield _case("mapping", name, expand, offsets, method, ordered=ordered, **chosen)


def _of_searches() -> Iterator[Case]:
    web = rmat(10, 8, seed=1)
    hub = int(np.argmax(web.out_degree))
    search = partial(bfs, parents=False)
    plain = {"direction_optimizing": {"frontier": "distance", "beta": 18.0}}
    for method in METHODS:
        knobs = plain.get(method, {})
        yield _case("bfs", f"{method}, rmat", search, web, hub, method, ordered=False, **knobs)
    tree = Graph.from_arcs(1024, (np.arange(1, 1024) - 1) // 4, np.arange(1, 1024))
    # Each vertex of a tree is reached by one arc; only the order in a queue is left open.
    for method in ("harish", "edge_parallel", "frontier", "expand_contract", "bfs4k"):
        ordered = method in ("harish", "edge_parallel")
        yield _case("bfs", f"{method}, tree", search, tree, 0, method, ordered=ordered)
    for way in DUPLICATES:
        one = partial(search, tree, 0, "expand_contract", duplicates=way)
        yield _case("duplicates", f"expand_contract with {way}", one, ordered=False)


def _of_examples() -> Iterator[Case]:
    def case(name, kernel, blocks, threads, *arguments):
        def run(d):
            copies = [d.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
            d.launch(kernel, blocks, threads, *copies)

        return Case("simt", name, run)

    def zeros(n, dtype=np.int32):
        return np.zeros(n, dtype)

    for stride in (1, 2, 8):
        arrays = np.ones(8192, np.int32), zeros(1024)
        yield case(f"copy of every {stride}th", probes.copy_strided, 4, 256, *arrays, stride)
    yield case("cheap arms of an if", probes.odd_and_even, 4, 256, np.full(1024, 5, np.int64))
    turns = np.random.default_rng(7).integers(0, 16, 1024).astype(np.int32)
    yield case("a loop of 0 to 15 turns", probes.count_to, 4, 256, turns, zeros(1024, np.int64))
    square = np.arange(1024, dtype=np.int32).reshape(32, 32)
    for kernel in (
        probes.transpose_directly,
        probes.transpose_unpadded,
        probes.transpose_padded,
    ):
        name = kernel.py_func.__name__.replace("_", " ")
        yield case(name, kernel, 1, (32, 32), square, zeros((32, 32)))
    degree = rmat(10, 8, seed=1).out_degree.astype(np.int64)
    bins = zeros(int(degree.max()) + 1)
    yield case("a histogram of degrees", probes.collide, 4, 256, degree, bins, np.int32(1))
    counters = zeros(1), zeros(1024)
    yield case("a counter that all threads see", probes.count_uniformly, 4, 256, *counters)
    at = (np.arange(1024) * 7 % 16).astype(np.int32)
    queued = np.full(1040, 3, np.int32), at, zeros(1024)
    yield case("a queue of 16", probes.queue_locally, 4, 256, *queued)
    divided = np.arange(1024) + 2**40, np.int64(37), zeros(1024, np.int64)
    yield case("a 64-bit division", probes.divide, 4, 256, *divided)
