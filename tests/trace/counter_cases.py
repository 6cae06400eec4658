"""The launches whose counters are compared: the book's kernels on small inputs, and some probes.

A case is a call that launches kernels on the device it is given. It launches the same ones, on the
same input, on the SIMT machine as on the GPU that was measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import counter_probes as probes
import numpy as np
from counter_probes import copy_strided
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
    def case(name, run):
        return Case("representations", name, run)

    web = rmat(10, 8, seed=1)
    simple = rmat(10, 8, seed=1, parallel="min", self_loops="remove")
    ring = small_world(1024, degree=8, rewire=0.1, seed=1)
    road = road_grid(32, 32, seed=1)
    x = np.arange(1024)
    for mapping in ("warp", "thread"):
        yield case(
            f"matrix row sum by {mapping}, rmat",
            lambda d, mapping=mapping: adjacency_matrix.row_sum(simple, mapping=mapping, device=d),
        )
        yield case(
            f"matrix neighbor sum by {mapping}, road",
            lambda d, m=mapping: adjacency_matrix.neighbor_sum(road, x, mapping=m, device=d),
        )
    for name, g in {"rmat": web, "small world": ring, "road": road}.items():
        for form in (csr, coo):
            short = form.__name__.rpartition(".")[2]
            yield case(
                f"{short} neighbor sum, {name}",
                lambda d, form=form, g=g: form.neighbor_sum(g, x, device=d),
            )
    yield case(
        "coo neighbor sum both ways, small world",
        lambda d: coo.neighbor_sum(ring, x, both_ways=True, device=d),
    )
    for form in (csr, coo):
        short = form.__name__.rpartition(".")[2]
        yield case(
            f"{short} row sum, rmat",
            lambda d, form=form: form.row_sum(random_weights(web, 1, 9, seed=3), device=d),
        )
    yield case("coo row sum both ways, road", lambda d: coo.row_sum(road, both_ways=True, device=d))
    for layout in ("soa", "aos", "packed"):
        yield case(
            f"csr weighted sum {layout}, rmat",
            lambda d, layout=layout: csr.weighted_neighbor_sum(
                random_weights(web, 1, 9, seed=3), x, layout=layout, device=d
            ),
        )
    draw = np.random.default_rng(1)
    ends = draw.integers(simple.n, size=1024), draw.integers(simple.n, size=1024)
    for form in (adjacency_matrix, csr, coo):
        short = form.__name__.rpartition(".")[2]
        yield case(
            f"{short} has edge, rmat", lambda d, form=form: form.has_edge(simple, *ends, device=d)
        )


def _of_primitives() -> Iterator[Case]:
    def case(name, run):
        return Case("scans", name, run)

    values = np.random.default_rng(0).integers(0, 50, 4096)
    yield case("warp scan", lambda d: warp_scan(values, device=d))
    yield case("warp rank", lambda d: warp_rank(values > 20, device=d))
    yield case("block scan", lambda d: block_scan(values, device=d))
    for padding in (False, True):
        yield case(
            f"shared scan, {'padded' if padding else 'plain'}",
            lambda d, padding=padding: shared_scan(values, padding=padding, device=d),
        )
    yield case("device scan", lambda d: device_scan(values, device=d))
    offsets = np.concatenate([[0], np.cumsum(values[:256] % 16)])
    for search in SEARCHES:
        some = offsets[:33] if search == "register" else offsets
        yield case(
            f"find owners, {search}",
            lambda d, search=search, some=some: find_owners(
                some, np.arange(some[-1]), search, device=d
            ),
        )


def _of_mappings() -> Iterator[Case]:
    offsets = rmat(10, 8, seed=1).offsets
    knobs = {"local_warp_search": ({"form": "register"}, {"form": "shared"})}
    for method in MAPPINGS:
        for chosen in knobs.get(method, ({},)):
            yield Case(
                "mapping",
                " ".join([method, *chosen.values()]),
                lambda d, m=method, k=chosen: expand(offsets, m, device=d, **k),
                ordered=method not in ("dynamic_virtual_warp", "cta_warp_scan"),
            )


def _of_searches() -> Iterator[Case]:
    web = rmat(10, 8, seed=1)
    hub = int(np.argmax(web.out_degree))
    plain = {"direction_optimizing": {"frontier": "distance", "beta": 18.0}}
    for method in METHODS:
        knobs = plain.get(method, {})
        yield Case(
            "bfs",
            f"{method}, rmat",
            lambda d, m=method, k=knobs: bfs(web, hub, m, d, parents=False, **k),
            ordered=False,
        )
    tree = Graph.from_arcs(1024, (np.arange(1, 1024) - 1) // 4, np.arange(1, 1024))
    # Each vertex of a tree is reached by one arc; only the order in a queue is left open.
    for method in ("harish", "edge_parallel", "frontier", "expand_contract", "bfs4k"):
        yield Case(
            "bfs",
            f"{method}, tree",
            lambda d, method=method: bfs(tree, 0, method, d, parents=False),
            ordered=method in ("harish", "edge_parallel"),
        )
    for duplicates in DUPLICATES:
        yield Case(
            "duplicates",
            f"expand_contract with {duplicates}",
            lambda d, way=duplicates: bfs(
                tree, 0, "expand_contract", d, parents=False, duplicates=way
            ),
            ordered=False,
        )


def _of_examples() -> Iterator[Case]:
    def case(name, run):
        return Case("simt", name, run)

    for stride in (1, 2, 8):
        yield case(
            f"copy of every {stride}th",
            lambda d, stride=stride: d.launch(
                copy_strided, 4, 256, d.full(8192, 1, np.int32), d.full(1024, 0, np.int32), stride
            ),
        )
    yield case(
        "cheap arms of an if",
        lambda d: d.launch(probes.odd_and_even, 4, 256, d.full(1024, 5, np.int64)),
    )
    turns = np.random.default_rng(7).integers(0, 16, 1024).astype(np.int32)
    yield case(
        "a loop of 0 to 15 turns",
        lambda d: d.launch(probes.count_to, 4, 256, d.array(turns), d.full(1024, 0, np.int64)),
    )
    square = np.arange(1024, dtype=np.int32).reshape(32, 32)
    for kernel in (
        probes.transpose_directly,
        probes.transpose_unpadded,
        probes.transpose_padded,
    ):
        yield case(
            kernel.py_func.__name__.replace("_", " "),
            lambda d, kernel=kernel: d.launch(
                kernel, 1, (32, 32), d.array(square), d.full((32, 32), 0, np.int32)
            ),
        )
    degree = rmat(10, 8, seed=1).out_degree.astype(np.int64)
    yield case(
        "a histogram of degrees",
        lambda d: d.launch(
            probes.collide, 4, 256, d.array(degree), d.full(int(degree.max()) + 1, 0, np.int32),
            np.int32(1),
        ),
    )  # fmt: skip
    yield case(
        "a counter that all threads see",
        lambda d: d.launch(
            probes.count_uniformly, 4, 256, d.full(1, 0, np.int32), d.full(1024, 0, np.int32)
        ),
    )
    yield case(
        "a queue of 16",
        lambda d: d.launch(
            probes.queue_locally, 4, 256, d.full(1040, 3, np.int32),
            d.array((np.arange(1024) * 7 % 16).astype(np.int32)), d.full(1024, 0, np.int32),
        ),
    )  # fmt: skip
    yield case(
        "a 64-bit division",
        lambda d: d.launch(
            probes.divide, 4, 256, d.array(np.arange(1024) + 2**40), np.int64(37),
            d.full(1024, 0, np.int64),
        ),
    )  # fmt: skip
