"""Every driver of the package, at all argument types that it launches its kernels with.

Each entry of `RUNS` takes a device and returns those of its results that do not depend on the order
in which threads run. `test_ptx` compiles what these runs launch, `test_cudasim` compares them with
numba's own simulator; both fail on a kernel that no run launches, so a new technique adds its runs
here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from unittest import mock

import numpy as np
from diamonds import diamonds

import gpukernels as gk
from benchmarks import limits
from benchmarks import mapping as mapping_bench
from gpukernels.all_pairs.encode_on_device import decoded_on, encoded_on, padded_on
from gpukernels.all_pairs.encoding import absent_of
from gpukernels.exercises import CATALOG
from gpukernels.exercises.tasks import before_the_first_warp as first_exercises
from gpukernels.exercises.tasks import duplicates as duplicates_exercises
from gpukernels.exercises.tasks import floyd_warshall as floyd_warshall_exercises
from gpukernels.exercises.tasks import performance_power_energy as energy_exercises
from gpukernels.exercises.tasks import shared_memory as shared_exercises
from gpukernels.exercises.tasks import simt as simt_exercises
from gpukernels.frontiers import collect
from gpukernels.frontiers.duplicates import COMPARE_AND_SWAP
from gpukernels.frontiers.pieces import Children
from gpukernels.frontiers.shared_slot import slot_bytes
from gpukernels.frontiers.state import Queue, Writes
from gpukernels.mapping import METHODS as MAPPING_METHODS
from gpukernels.notebook import colab, cold_cache, kernel_time
from gpukernels.primitives import (
    block_scan,
    device_scan,
    find_owners,
    shared_scan,
    warp_rank,
    warp_scan,
)
from gpukernels.primitives.device_scan import scan_tiles
from gpukernels.primitives.grid_barrier import meet
from gpukernels.representations import adjacency_matrix, coo, csr
from gpukernels.shortest_paths import METHODS as SHORTEST_PATHS
from gpukernels.shortest_paths import UNREACHED, delta_stepping, near_far, ortega, piles
from gpukernels.shortest_paths.hbf import relax as hbf_relax
from gpukernels.shortest_paths.hbf.child import relax_pieces
from gpukernels.shortest_paths.hbf.classes import Arcs, marked_targets, turned_around
from gpukernels.shortest_paths.hbf.ending import ended, unpack
from gpukernels.shortest_paths.hbf.many_roots import relax_all_pieces
from gpukernels.shortest_paths.hbf.table import append_lowered, keep_those_in_table, write_table
from gpukernels.shortest_paths.hbf.words import BIAS, start_words
from gpukernels.shortest_paths.result import arcs_on, infinity
from gpukernels.shortest_paths.tight import find_lost
from gpukernels.traversal import (
    METHODS,
    bfs,
    contract_expand,
    linear_cull,
    luo_levels,
    two_phase,
)
from gpukernels.traversal.bfs4k.ahead import child_ahead
from gpukernels.traversal.bfs4k.child import child_kernel
from gpukernels.traversal.claim import Search
from gpukernels.traversal.edge_frontier import Edges
from gpukernels.traversal.result import start_at

Run = Callable[[object], dict[str, np.ndarray]]

RUNS: dict[str, Run] = {}

THREADS = 32
DIRECTED = gk.rmat(scale=5, edge_factor=4, seed=1, parallel="min")
UNDIRECTED = gk.erdos_renyi(30, 4, seed=1)


def _with_weights(g: gk.Graph, dtype: type) -> gk.Graph:
    whole = gk.random_weights(g, low=1, high=9, seed=3)
    return gk.Graph(whole.offsets, whole.targets, whole.weights.astype(dtype), whole.directed)


#: Small whole weights, so that float sums are exact in any order.
WEIGHTED = {
    "unweighted": (DIRECTED, UNDIRECTED),
    "int32": (_with_weights(DIRECTED, np.int32), _with_weights(UNDIRECTED, np.int32)),
    "float32": (_with_weights(DIRECTED, np.float32), _with_weights(UNDIRECTED, np.float32)),
}
VALUES = {
    "int32": np.arange(32, dtype=np.int32) - 7,
    "float32": np.arange(32, dtype=np.float32) - 7,
}


def _add_primitives() -> None:
    values = np.random.default_rng(0).integers(-50, 50, 150)
    for inclusive in (True, False):
        RUNS[f"warp_scan inclusive={inclusive}"] = lambda d, inclusive=inclusive: {
            "scanned": warp_scan(values, inclusive=inclusive, device=d)
        }
    RUNS["warp_rank"] = lambda d: {"rank": warp_rank(values > 0, device=d)}
    RUNS["block_scan"] = lambda d: dict(
        zip(("scanned", "totals"), block_scan(values, device=d), strict=True)
    )
    for padding in (True, False):
        RUNS[f"shared_scan padding={padding}"] = lambda d, padding=padding: dict(
            zip(
                ("scanned", "totals"),
                shared_scan(values, padding=padding, threads=THREADS, device=d),
                strict=True,
            )
        )
    # Two levels: the second adds up totals, which are 64 bits wide.
    RUNS["device_scan"] = lambda d: {
        "offsets": device_scan(np.abs(np.resize(values, 600)), threads=THREADS, device=d)
    }
    RUNS["device_scan look-back"] = lambda d: {
        "offsets": device_scan(
            np.abs(np.resize(values, 600)), threads=THREADS, method="look-back", device=d
        )
    }
    RUNS["device_scan pairs"] = lambda d: {
        "offsets": device_scan(np.abs(np.resize(values, 601)), threads=32, method="pairs", device=d)
    }
    RUNS["scan_tiles"] = _scan_one_tile
    RUNS["grid_barrier"] = _meet
    offsets = np.concatenate([[0], np.cumsum(values[:30] % 5)])
    for search in ("two_sided", "one_sided", "interpolation", "guarded", "register"):
        RUNS[f"find_owners {search}"] = lambda d, search=search: {
            "owner": find_owners(offsets, np.arange(offsets[-1]), search, device=d)
        }


def _meet(device) -> dict[str, np.ndarray]:
    # One block: numba's simulator runs one after another, so that none can wait for a later one.
    arrived, met = device.full(1, 0, np.int32), device.full(THREADS, 0, np.int32)
    device.launch(meet, 1, THREADS, arrived, 3, met, cooperative=True)
    return {"arrived": device.read(arrived), "met": device.read(met)}


def _scan_one_tile(device) -> dict[str, np.ndarray]:
    values, begin = np.arange(200, dtype=np.int32), device.full(1, 3, np.int32)
    offsets = device.full(201, -1, np.int32)
    device.launch(scan_tiles, 1, THREADS, device.array(values), begin, offsets)
    return {"offsets": device.read(offsets)}


def _add_representations() -> None:
    for weights, (directed, undirected) in WEIGHTED.items():
        _add_row_sums(weights, directed, undirected)
        for kind, values in VALUES.items():
            _add_neighbor_sums(f"{weights} weights, {kind} values", directed, undirected, values)
        source, target = np.divmod(np.arange(directed.n**2), directed.n)
        ends = source[::7], target[::7]
        for module in (adjacency_matrix, csr, coo):
            RUNS[f"{_short(module)}.has_edge {weights}"] = lambda d, m=module, g=directed, e=ends: {
                "found": m.has_edge(g, *e, threads=THREADS, device=d)
            }


def _add_row_sums(name: str, directed: gk.Graph, undirected: gk.Graph) -> None:
    def add(label: str, module, g: gk.Graph, **options) -> None:
        RUNS[f"{_short(module)}.row_sum {label}"] = lambda d: {
            "sums": module.row_sum(g, threads=THREADS, device=d, **options)
        }

    for mapping in ("warp", "thread"):
        add(f"{name} {mapping}", adjacency_matrix, directed, mapping=mapping)
    add(name, csr, directed)
    add(name, coo, directed)
    add(f"{name} both_ways", coo, undirected, both_ways=True)


def _add_neighbor_sums(name: str, directed: gk.Graph, undirected: gk.Graph, values) -> None:
    def add(label: str, module, g: gk.Graph, function="neighbor_sum", **options) -> None:
        RUNS[f"{_short(module)}.{function} {label}"] = lambda d: {
            "sums": getattr(module, function)(
                g, values[: g.n], threads=THREADS, device=d, **options
            )
        }

    for mapping in ("warp", "thread"):
        add(f"{name} {mapping}", adjacency_matrix, directed, mapping=mapping)
    add(name, csr, directed)
    add(name, coo, directed)
    add(f"{name} both_ways", coo, undirected, both_ways=True)
    for layout in ("aos", "packed"):
        add(f"{name} {layout}", coo, directed, layout=layout)
        add(f"{name} {layout} both_ways", coo, undirected, layout=layout, both_ways=True)
    for layout in ("soa", "aos", "packed"):
        if layout == "soa" or "float32 weights" not in name:
            add(f"{name} {layout}", csr, directed, "weighted_neighbor_sum", layout=layout)


def _short(module) -> str:
    return module.__name__.rpartition(".")[2]


def _add_traversal() -> None:
    for method in METHODS:
        RUNS[f"bfs {method}"] = lambda d, method=method: {
            "distance": bfs(DIRECTED, 0, method, d, threads=THREADS).distance
        }
    RUNS["bfs frontier count_arcs"] = lambda d: {
        "arcs": bfs(DIRECTED, 0, "frontier", d, threads=THREADS, count_arcs=True).stats[
            "arcs_inspected"
        ]
    }
    RUNS["bfs direction_optimizing top_down"] = lambda d: {
        "distance": bfs(DIRECTED, 0, "direction_optimizing", d, alpha=0, threads=THREADS).distance
    }
    RUNS["bfs direction_optimizing distance"] = lambda d: {
        "distance": bfs(
            DIRECTED, 0, "direction_optimizing", d, frontier="distance", threads=THREADS
        ).distance
    }
    RUNS["bfs direction_optimizing by hand"] = lambda d: {
        "distance": bfs(
            DIRECTED, 0, "direction_optimizing", d, barrier="hand", threads=THREADS
        ).distance
    }
    for method in ("bottom_up", "direction_optimizing"):
        RUNS[f"bfs {method} bitmap"] = lambda d, method=method: {
            "distance": bfs(DIRECTED, 0, method, d, frontier="bitmap", threads=THREADS).distance
        }
    for name, alpha, dtype in (("top_down", 0.0, "int32"), ("bottom_up", np.inf, "int8")):
        RUNS[f"bfs_many {name}"] = lambda d, alpha=alpha, dtype=dtype: {
            "distance": gk.bfs_many(
                DIRECTED, [0, 5, 0], d, alpha=alpha, dtype=dtype, threads=THREADS
            ).distance
        }
    for claim in ("compare_and_swap", "exchange"):
        RUNS[f"bfs luo three {claim}"] = lambda d, claim=claim: {
            "distance": bfs(
                DIRECTED, 0, "luo", d, kernels="three", claim=claim, high_degree=9, threads=THREADS
            ).distance
        }
    # The padded scan without `compact` knows no warp operations: numba's simulator runs the rest.
    for options in (
        {"scan": "padded", "cull": "mask"},
        {"scan": "padded", "gather": "fine"},
        {"sequential_below": 0},
    ):
        RUNS[f"bfs linear_work {options}"] = lambda d, options=options: {
            "distance": bfs(DIRECTED, 0, "linear_work", d, threads=THREADS, **options).distance
        }
    for method in ("expand_contract", "contract_expand", "two_phase"):
        # Without a cull, the diamonds' duplicates overflow every queue.
        for label, g, options in (
            ("hash64", DIRECTED, {"duplicates": "hash64", "bitmask": False}),
            ("bitmap", DIRECTED, {"duplicates": "bitmap", "parents": False}),
            ("overflow", diamonds(12), {"duplicates": "none"}),
        ):
            RUNS[f"bfs {method} {label}"] = lambda d, m=method, g=g, o=options: {
                "distance": bfs(g, 0, m, d, threads=THREADS, **o).distance
            }
    RUNS["bfs persistent by hand"] = lambda d: {
        "distance": bfs(
            DIRECTED, 0, "persistent", d, barrier="hand", alone=3, blocks=2, threads=THREADS
        ).distance
    }
    RUNS["bfs hybrid two phases"] = lambda d: {
        "distance": bfs(DIRECTED, 0, "hybrid", d, threads=THREADS, two_phase_above=9).distance
    }
    warps = {"single_block": 0, "edge_discover": 0, "child_share": 0.5, "child_queue": 1}
    for label, knobs in (
        ("edge_discover", {"single_block": 0}),
        ("warps and child", warps),
        ("ahead", {**warps, "ahead": True, "duplicates": "bitmap"}),
    ):
        RUNS[f"bfs bfs4k {label}"] = lambda d, knobs=knobs: {
            "distance": bfs(gk.star(100), 1, "bfs4k", d, threads=THREADS, **knobs).distance
        }
    for kernel in (child_kernel, child_ahead):
        RUNS[kernel.py_func.__name__] = lambda d, kernel=kernel: _child_kernel(d, kernel)
    RUNS["luo one level"] = _luo_one_level
    RUNS["linear_work compact"] = _compact
    RUNS["merrill collect_level"] = _collect_afresh
    RUNS["merrill expand_level"] = _expand_level
    RUNS["merrill contract_edges"] = _contract_edges
    RUNS["append_level"] = _append_level


def _luo_one_level(device) -> dict[str, np.ndarray]:
    """Visit a hub of 99 arcs and one of its leaves, the hub in the step for high degrees."""
    g = gk.star(100)
    distance, parent = start_at(0, g.n, device)
    device.put(distance, 7, 0)
    queues = np.zeros((2, g.n), dtype=np.int32)
    queues[0, :2] = 7, 0
    queues, sizes = device.array(queues), device.array(np.array([2, 0, 0, 0, 0], dtype=np.int32))
    shade, large = device.full(0, 0, np.int32), device.full(1, -1, np.int32)
    graph = device.keep(g.offsets), device.keep(g.targets)
    search = luo_levels.Search(*graph, distance, parent, shade, large, 9, queues, sizes)
    device.launch(luo_levels.search_one_level, 1, THREADS, search, 0)
    device.launch(luo_levels.search_high_degrees, 2, THREADS, search, 0, 0)
    return {
        "distance": device.read(distance),
        "queue": np.sort(device.read(queues)[1]),
        "sizes": device.read(sizes),
        "large": device.read(large),
    }


def _compact(device) -> dict[str, np.ndarray]:
    candidate = np.arange(DIRECTED.n, dtype=np.int32)
    chosen = (candidate % 3 == 0).astype(np.int32)
    place = np.concatenate([[0], np.cumsum(chosen)]).astype(np.int32)
    queue, counts = device.full(DIRECTED.n, -1, np.int32), device.full(2, 0, np.int32)
    lists = (device.array(a) for a in (DIRECTED.offsets, candidate, chosen, place))
    device.launch(linear_cull.compact, 1, THREADS, *lists, queue, counts)
    return {"queue": device.read(queue), "counts": device.read(counts)}


def _collect_afresh(device) -> dict[str, np.ndarray]:
    distance = np.where(np.arange(DIRECTED.n) % 3 == 0, 1, -1).astype(np.int32)
    queue, sizes = device.full(DIRECTED.n, -1, np.int32), device.full(4, 0, np.int64)
    device.launch(
        collect.collect_level, 1, THREADS,
        device.array(DIRECTED.offsets), device.array(distance), Queue(queue, sizes), 1,
    )  # fmt: skip
    return {"sizes": device.read(sizes), "queue": np.sort(device.read(queue))}


def _expand_level(device) -> dict[str, np.ndarray]:
    distance = np.where(np.arange(DIRECTED.n) % 3 == 0, 1, -1).astype(np.int32)
    edges, parents = (device.full(DIRECTED.m, -1, np.int32) for _ in "ab")
    sizes = device.full(4, 0, np.int64)
    device.launch(
        contract_expand.expand_level, 1, THREADS,
        device.array(DIRECTED.offsets), device.array(DIRECTED.targets), device.array(distance),
        Edges(edges, parents), sizes, 1, THREADS,
    )  # fmt: skip
    return {
        "sizes": device.read(sizes),
        "edges": np.sort(device.read(edges)),
        "parents": np.sort(device.read(parents)),
    }


def _contract_edges(device) -> dict[str, np.ndarray]:
    edges = np.arange(60, dtype=np.int32) % DIRECTED.n
    distance, parent = (device.full(DIRECTED.n, -1, np.int32) for _ in "ab")
    bitmap, bitmask = device.full(0, 0, np.int32), device.full(0, 0, np.uint8)
    queue, sizes = device.full(DIRECTED.n, -1, np.int32), device.full(4, 0, np.int64)
    graph = device.array(DIRECTED.offsets), device.array(DIRECTED.targets)
    device.launch(
        two_phase.contract_edges, 1, THREADS,
        Search(*graph, distance, parent, bitmap, COMPARE_AND_SWAP), bitmask,
        Edges(device.array(edges), device.array(edges)), edges.size, Queue(queue, sizes), 0,
    )  # fmt: skip
    return {
        "sizes": device.read(sizes),
        "queue": np.sort(device.read(queue)),
        "distance": device.read(distance),
        "parent": device.read(parent),
    }


def _append_level(device) -> dict[str, np.ndarray]:
    distance = np.array([0, 1, 2, 1, -1, 2, 1], dtype=np.int32)
    queue, size = device.full(7, -1, np.int32), device.full(1, 0, np.int32)
    device.launch(collect.append_level, 1, THREADS, device.array(distance), queue, size, 1)
    return {"size": device.read(size), "queue": np.sort(device.read(queue))}


def _child_kernel(device, kernel) -> dict[str, np.ndarray]:
    """Visit a hub's 99 arcs in two pieces, behind no other kernel."""
    g = gk.star(100)
    distance, parent = start_at(0, g.n, device)
    pieces = device.array(np.array([[0, 0], [0, 64]], dtype=np.int32))
    graph = device.keep(g.offsets), device.keep(g.targets)
    queue, counted = device.full(g.n, -1, np.int32), device.full(3, 0, np.int64)
    size = device.array(np.array([0, 2, 1, 0], dtype=np.int32))
    device.launch(
        kernel, 2, THREADS,
        Search(*graph, distance, parent, device.full(4, 0, np.int32), 0), Queue(queue, size),
        counted, 0, Children(0, 64, pieces), Writes(10, True),
    )  # fmt: skip
    return {"distance": device.read(distance), "queue": np.sort(device.read(queue))}


MAPPING_KNOBS = [
    *((method, {}) for method in MAPPING_METHODS),
    ("dynamic_virtual_warp", {"threshold": 40}),
    ("local_warp_search", {"form": "shared"}),
    ("multi_phase", {"search": "interpolation", "iterations": 2}),
]


def _add_shortest_paths() -> None:
    ring = gk.Graph.from_arcs(3, [0, 1, 2, 1, 2, 0], [1, 2, 0, 0, 1, 2])
    for method in SHORTEST_PATHS:
        for kind, (directed, _) in WEIGHTED.items():
            RUNS[f"sssp {method} {kind}"] = lambda d, g=directed, m=method: {
                "distance": gk.sssp(g, 1, m, d).distance
            }
        for kind, dtype in (("int32", np.int32), ("float32", np.float32)):
            g = gk.Graph(ring.offsets, ring.targets, np.zeros(ring.m, dtype))
            RUNS[f"sssp {method} {kind}, weights of 0"] = lambda d, g=g, m=method: {
                "distance": gk.sssp(g, 1, m, d).distance
            }
    # By its default nothing waits on so small a graph.
    for method in ("near_far", "delta_stepping"):
        for kind, (directed, _) in WEIGHTED.items():
            RUNS[f"sssp {method} {kind}, delta 0.5"] = lambda d, g=directed, m=method: {
                "distance": gk.sssp(g, 1, m, d, delta=0.5).distance
            }
    for kind, (directed, _) in WEIGHTED.items():
        RUNS[f"sssp delta_stepping {kind}, light_heavy"] = lambda d, g=directed: {
            "distance": gk.sssp(g, 1, "delta_stepping", d, delta=3, light_heavy=True).distance
        }
    # A child kernel, a lookup table, a round that does not fit its queue, and no edge classes.
    for options in (
        {"child_threshold": 4},
        {"duplicates": "table"},
        {"duplicates": "none", "capacity": 40},
        {"edge_classes": False, "coalesced_enqueue": False, "cache_hints": False},
    ):
        RUNS[f"sssp hbf {options}"] = lambda d, o=options: {
            "distance": gk.sssp(_with_weights(gk.complete(40), np.int32), 1, "hbf", d, **o).distance
        }
    RUNS["find_lost"] = _find_lost
    RUNS["hbf mark_classes"] = _mark_classes
    RUNS["hbf unpack"] = _unpack
    RUNS["hbf write_table"] = _write_table
    RUNS["hbf keep_those_in_table"] = _keep_those_in_table
    RUNS["hbf relax_pieces"] = _relax_pieces
    RUNS["hbf relax_all_pieces"] = _relax_all_pieces
    RUNS["hbf end_postponed"] = _end_postponed
    RUNS["hbf append_lowered"] = _append_lowered
    RUNS["ortega settle"] = _settle
    RUNS["find_least"] = _find_least
    RUNS["count_buckets"] = _count_buckets
    RUNS["split_far"] = lambda d: _split(d, near_far.split_far)
    RUNS["sort_pile"] = lambda d: _split(d, delta_stepping.sort_pile, _count_buckets(d)["sizes"])


def _settle(device) -> dict[str, np.ndarray]:
    """Settle what is within 5, of vertices at 0, 1, 2, ..., of which some are settled already."""
    distance = device.array(np.arange(40, dtype=np.int32))
    settled_in = device.array(np.arange(40, dtype=np.int32) % 3)
    limit, changed = device.full(2, 5, np.int32), device.full(1, 0, np.int32)
    args = distance, settled_in, UNREACHED, 4, limit, 0, changed
    device.launch(ortega.settle, 2, THREADS, *args)
    return {"settled_in": device.read(settled_in), "limit": device.read(limit)}


def _waiting(device) -> piles.Piles:
    """A search in which vertices 0, 3, 6, ... wait, beyond 5 but for the first two."""
    g = WEIGHTED["int32"][0]
    s = piles.Piles("near_far", g, 1, device, piles.Options(delta=5.0, threads=THREADS))
    distance = device.array(3 * np.arange(g.n, dtype=np.int32))
    s.search = s.search._replace(distance=distance, waiting=device.full(g.n, 1, np.int32))
    vertex = np.arange(0, g.n, 3, dtype=np.int32)
    s.piles[0] = Queue(device.array(vertex), s.piles[0].next_size)
    s.put_off = vertex.size
    return s


def _find_least(device) -> dict[str, np.ndarray]:
    s, cleared = _waiting(device), device.full(3, 7, np.int32)
    s.find_least(cleared)
    return {"least": device.read(s.least), "cleared": device.read(cleared)}


def _count_buckets(device) -> dict[str, np.ndarray]:
    s, sizes = _waiting(device), device.full(2 * delta_stepping.BUCKETS, 0, np.int32)
    device.put(s.least, 0, 9)
    s.look(delta_stepping.count_buckets, s.delta, sizes)
    return {"sizes": device.read(sizes)}


def _split(device, kernel, *sizes) -> dict[str, np.ndarray]:
    s = _waiting(device)
    device.put(s.least, 0, 9)
    s.split(kernel, *map(device.array, sizes))
    pile = device.read(s.piles[1].next_frontier)[: s.put_off]
    queue = device.read(s.queues[1].vertex)[: s.size]
    return {"near": np.sort(queue), "far": np.sort(pile), "limit": device.read(s.limit)}


def _find_lost(device) -> dict[str, np.ndarray]:
    """Launch what only graphs of many vertices launch."""
    parent, results = device.array(np.array([0, -1, 1], np.int32)), {}
    for kind in (np.int32, np.float32):
        far = infinity(kind)
        for second in (far, 5):
            lost = device.full(1, 0, np.int32)
            distance = device.array(np.array([0, second, 7], kind))
            device.launch(find_lost, 1, 32, distance, far, parent, lost)
            results[f"{kind.__name__} {second}"] = device.read(lost)
    return results


def _mark_classes(device) -> dict[str, np.ndarray]:
    g = WEIGHTED["float32"][0]
    arcs = Arcs(*arcs_on(device, g))
    back = turned_around(g, device, arcs)
    return {"marked": device.read(marked_targets(g, device, arcs, back, THREADS)[0])}


#: Distances and rounds of 40 vertices: 0, 1, 2, ... and 0, 1, 2, 0, 1, 2, ...
WORDS = ((np.arange(40, dtype=np.uint64) + BIAS) << np.uint64(32)) + np.arange(40, dtype="u8") % 3


def _unpack(device) -> dict[str, np.ndarray]:
    distance = device.full(40, 0, np.int32)
    device.launch(unpack, 2, THREADS, device.array(WORDS), False, UNREACHED, distance)
    return {"distance": device.read(distance)}


def _write_table(device) -> dict[str, np.ndarray]:
    queue = Queue(device.array(np.arange(40, dtype=np.int32)[::-1]), device.full(6, 33, np.int64))
    table = device.full(40, -1, np.int32)
    device.launch(write_table, 1, THREADS, queue, table)
    return {"table": device.read(table)}


def _keep_those_in_table(device) -> dict[str, np.ndarray]:
    twice = np.arange(40, dtype=np.int32) // 2
    queue = Queue(device.array(twice), device.array(np.array([40, 0, 0, 0, 0, 0])))
    table = device.array(np.arange(20, dtype=np.int32) * 2 + 1)
    kept = device.full(20, -1, np.int32)
    device.launch(keep_those_in_table, 1, THREADS, queue, table, kept)
    return {"kept": np.sort(device.read(kept)), "counts": device.read(queue.next_size)}


def _hbf_search(device, g, targets) -> hbf_relax.Search:
    """Return the state of a search of `g` from vertex 0, in its first round."""
    arcs, none = arcs_on(device, g), device.full(0, 0, np.int32)
    return hbf_relax.Search(
        arcs[0], targets, arcs[2], start_words(g.n, 0, device), device.full(g.n, 0, np.int32), none,
        0, False, True, hbf_relax.ATOMIC64, True,
    )  # fmt: skip


def _relax_pieces(device) -> dict[str, np.ndarray]:
    """Relax a hub's 99 arcs in two pieces, behind no other kernel."""
    g = _with_weights(gk.star(100), np.int32)
    search = _hbf_search(device, g, device.keep(g.targets))
    queue = Queue(device.full(g.n, -1, np.int32), device.array(np.array([0, 2, 1, 0, 0, 0])))
    pieces = device.array(np.array([[0, 0], [0, 64]], dtype=np.int32))
    device.launch(
        relax_pieces, 2, THREADS, search, queue, 1, True, True, Children(0, 64, pieces),
        shared=slot_bytes(THREADS),
    )  # fmt: skip
    return {"words": device.read(search.words), "queue": np.sort(device.read(queue.next_frontier))}


def _relax_all_pieces(device) -> dict[str, np.ndarray]:
    """Relax the same pieces for two rows, of which one may use plain stores."""
    g = _with_weights(gk.star(100), np.int32)
    search = _hbf_search(device, g, device.keep(g.targets))
    words = np.tile(device.read(search.words), (2, 1))
    queue, pieces = np.full((2, g.n), -1, np.int32), np.array([[[0, 0], [0, 64]]] * 2, np.int32)
    queue = Queue(device.array(queue), device.array(np.array([[0, 2, 1, 0, 0, 0]] * 2)))
    search = search._replace(words=device.array(words))
    plain = device.array(np.array([1, 0], np.int32))
    device.launch(
        relax_all_pieces, (2, 2), THREADS, search, queue, 1, plain, True,
        Children(0, 64, device.array(pieces)), shared=slot_bytes(THREADS),
    )  # fmt: skip
    return {"words": device.read(search.words), "queue": np.sort(device.read(queue.next_frontier))}


def _end_postponed(device) -> dict[str, np.ndarray]:
    g = _with_weights(gk.star(100), np.int32)
    arcs = Arcs(*arcs_on(device, g))
    back = turned_around(g, device, arcs)
    search = _hbf_search(device, g, arcs.ends)
    return {"distance": device.read(ended(g, arcs, back, search, device, np.int32, THREADS))}


def _append_lowered(device) -> dict[str, np.ndarray]:
    queue, size = device.full(40, -1, np.int32), device.full(6, 0, np.int64)
    device.launch(append_lowered, 2, THREADS, device.array(WORDS), 2, queue, size)
    return {"size": device.read(size), "queue": np.sort(device.read(queue))}


def _encoded_on_device(device, raw: np.ndarray) -> dict[str, np.ndarray]:
    return {"rows": device.read(encoded_on(device, raw)[0])}


def _padded_and_decoded(device, raw: np.ndarray) -> dict[str, np.ndarray]:
    padded = padded_on(device, device.array(raw), len(raw) + 1, absent_of(raw.dtype))
    return {"distance": device.read(decoded_on(device, padded, len(raw), 6))}


#: How many vertices: two tiles. Blocks of few threads, as numba's simulator has a thread for each;
#: other forms of the tile kernels differ in constants. Methods that share their kernels with others
#: have one kind of weights each.
BOTH = (np.int32, np.float32)
ALL_PAIRS_RUNS = [
    ("naive", 5, {"threads": THREADS}, BOTH),
    ("naive", 5, {"threads": THREADS, "next_hops": True}, BOTH),
    ("blocked", 18, {"per_thread": "4x2"}, BOTH),
    ("blocked", 18, {"per_thread": "4x2", "next_hops": True}, BOTH),
    ("repeated_squaring", 18, {"per_thread": "4x4", "lazy": True}, BOTH),
    ("kleene", 18, {"per_thread": "4x4"}, [np.int32]),
    ("out_of_core", 18, {"per_thread": "4x4", "memory": 8704}, [np.float32]),
    ("tran", 18, {"per_thread": "4x4", "memory": 8704}, [np.int32]),
    ("matsumoto", 18, {"per_thread": "4x4"}, [np.float32]),
    ("per_root", 18, {"batch": 7}, [np.int32]),
    ("per_root", 18, {"search": "hbf", "batch": 7}, BOTH),
]


def _add_all_pairs() -> None:
    for dtype in BOTH:
        raw = np.array([[0, 5, 7], [2, 0, 6], [-1, 8, 0]], dtype)
        RUNS[f"encoded on the device {dtype.__name__}"] = partial(_encoded_on_device, raw=raw)
        RUNS[f"padded and decoded {dtype.__name__}"] = partial(_padded_and_decoded, raw=raw)
    for method, n, options, dtypes in ALL_PAIRS_RUNS:
        for dtype in dtypes:
            g = _with_weights(gk.complete(n), dtype)
            name = f"apsp {method} {options} {dtype.__name__}"
            RUNS[name] = lambda d, g=g, m=method, o=options: {
                "distance": gk.apsp(g, m, d, **o).distance
            }


def _add_many_roots() -> None:
    for dtype in (np.int32, np.float32):
        g = _with_weights(gk.complete(18), dtype)
        RUNS[f"sssp_many {dtype.__name__}"] = lambda d, g=g: {
            "distance": gk.sssp_many(g, [5, 0, 5], "topology_driven", d, threads=THREADS).distance
        }


def _add_mapping() -> None:
    sizes = np.concatenate([np.arange(18), np.zeros(9, int), [130, 1, 0]])
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    for method, knobs in MAPPING_KNOBS:
        label = f"{method} {knobs or ''}".strip()
        RUNS[f"expand {label}"] = lambda d, m=method, k=knobs: {
            "item": gk.expand(offsets, m, threads=THREADS, device=d, **k).item
        }
        for kind in (np.int32, np.int64, np.float32, np.float64):
            values = (np.arange(offsets[-1]) % 11 - 5).astype(kind)
            RUNS[f"expand {kind.__name__} {label}"] = lambda d, m=method, k=knobs, v=values: {
                "total": gk.expand(offsets, m, values=v, threads=THREADS, device=d, **k).total
            }


def _counted_on(device, count: Callable[[], dict[str, int]]) -> dict[str, np.ndarray]:
    with mock.patch.object(first_exercises, "SimtDevice", return_value=device):
        return {key: np.array(value) for key, value in count().items()}


def _add_exercises() -> None:
    for count in (first_exercises.number_threads, first_exercises.follow_atomics):
        RUNS[f"exercise {count.__name__}"] = partial(_counted_on, count=count)
    lane = np.arange(32)
    for kind in (np.int32, np.int64):
        RUNS[f"exercise simt-1 {kind.__name__}"] = lambda d, kind=kind: {
            "out": simt_exercises.read_through(d, 3 * lane, kind)
        }
    RUNS["exercise shared-1 words"] = lambda d: {"out": shared_exercises.read_words(d, 40 * lane)}
    RUNS["exercise shared-1 kinds"] = lambda d: {
        "counters": shared_exercises.count_lanes(d, lane % 5)
    }
    RUNS["exercise energy-1"] = lambda d: {
        "clocks": energy_exercises.read_clocks(d, (4, 30, 4), 10)
    }
    RUNS["exercise duplicates-1"] = lambda d: duplicates_exercises.run_cull(
        duplicates_exercises.cull_block, d, np.arange(100) % 37
    )
    for name, ex in CATALOG.items():
        solution = ex.solution.answer
        if not isinstance(solution, dict):
            RUNS[f"exercise {name}"] = lambda d, name=name, kernel=solution: _exercise(
                name, kernel, d
            )


def _exercise(name: str, kernel, device) -> dict[str, np.ndarray]:
    """Return what a solution finds on the exercise's first input, but for parents: any will do."""
    if name == "floyd-3":  # in numba's simulator a grid that meets has one block
        lengths = np.array([[0, 9, 2, 9], [1, 0, 9, 9], [9, 3, 0, 9], [9, 9, 1, 0]])
        return floyd_warshall_exercises.run_pivots(kernel, device, lengths)
    results = gk.exercise(name).cases()[0].run(kernel, device)
    if name.startswith("duplicates"):
        results = {"kept": np.sort(results["kept"])}  # which thread keeps a vertex is left open
    if name.startswith("queues-line"):
        results["found"] = np.sort(results["found"])  # so is the order of a sub-queue
    return {key: value for key, value in results.items() if key != "parent"}


def _probe(device) -> dict[str, np.ndarray]:
    answer = device.full(1, 0, np.int32)
    device.launch(colab.probe, 1, 1, answer)
    return {"answer": device.read(answer)}


def _copy_words(device) -> dict[str, np.ndarray]:
    values, out = np.arange(256, dtype=np.int64), device.full(256, 0, np.int64)
    device.launch(limits.copy_words, 2, THREADS, device.array(values), out)
    return {"out": device.read(out)}


def _limits(device) -> dict[str, np.ndarray]:
    """One round of the issue rate, and a word that is not 0 where all are to be read."""
    out, output = device.full(37, 0, np.int32), device.full(1, 0, np.int64)
    few = np.int32(3), np.int32(60), np.int32(1)
    device.launch(limits.add_and_compare, 2, THREADS, *few, out)
    device.launch(cold_cache.read_all, 1, THREADS, device.full(37, 4, np.int64), output)
    return {"out": device.read(out), "found": device.read(output)}


def _busy_and_full(device) -> dict[str, np.ndarray]:
    queued, item = device.full(1, 0, np.int32), device.full(37, 0, np.int32)
    device.launch(kernel_time.keep_busy, 1, 1, queued, 5)
    device.launch(mapping_bench.fill, 2, THREADS, item, -1)
    return {"queued": device.read(queued), "item": device.read(item)}


RUNS["probe"] = _probe
_add_exercises()
RUNS["copy_words"] = _copy_words
RUNS["busy and full"] = _busy_and_full
RUNS["limits"] = _limits
_add_primitives()
_add_representations()
_add_traversal()
_add_shortest_paths()
_add_all_pairs()
_add_many_roots()
_add_mapping()
