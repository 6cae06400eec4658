"""Every public call with every awkward value in every place: the project's own error, or a result.

An error is the library's own where the library's code raises it, in a `raise` statement, rather
than Python or NumPy underneath; its message names the argument. A warning counts as an error, for
NumPy warns where it computes nonsense. What is accepted must give a result that is right.
"""

from __future__ import annotations

import inspect
import linecache
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from effort import EFFORT, SOAK
from numba import cuda
from public_names import PUBLIC
from scipy import sparse
from worked_tasks import halved

import gpukernels as gk
from gpukernels import simt
from gpukernels.all_pairs import METHODS as ALL_PAIRS
from gpukernels.distributed import TaskRun
from gpukernels.graphs.faces import as_graph
from gpukernels.mapping import METHODS as MAPPINGS
from gpukernels.methods import options_of as parameters_of
from gpukernels.primitives.ballot_rank import warp_rank
from gpukernels.primitives.block_scan import block_scan
from gpukernels.primitives.device_scan import device_scan
from gpukernels.primitives.find_owners import find_owners
from gpukernels.primitives.shared_scan import shared_scan
from gpukernels.primitives.warp_scan import warp_scan
from gpukernels.representations import adjacency_matrix, coo, csr
from gpukernels.shortest_paths import METHODS as SHORTEST_PATHS
from gpukernels.simt.errors import LaunchError
from gpukernels.traversal import METHODS as SEARCHES
from gpukernels.traversal.bfs4k.knobs import Knobs

PACKAGE = str(Path(gk.__file__).parent)


class Odd:
    """An object of no use to anyone."""

    def __repr__(self) -> str:
        return "Odd()"


HOSTILE = [
    None, True, -1, 0, 1, 2**31, 2**63, 10**30, -(10**400), 0.5, -0.0, 1e300, float("nan"),
    float("inf"), 1j, Fraction(1, 3), Decimal("0.5"), "", "x", "\ud800", b"x", (), [], {}, set(),
    [1, 2], [0.5, float("nan")], [[1], [2, 3]], [[1, 2], [3, 4]], ["a", None], (1, "x"), {"x": 1},
    range(3), Odd(), Odd, len, nx.path_graph(3), sparse.eye_array(2), date(2026, 1, 1),
    np.int8(-1), np.uint64(2**64 - 1), np.float16("nan"), np.bool_(True), np.str_("x"),
    np.datetime64("2026-01-01"), np.array(3), np.array([4]), np.array([0.5]), np.array([], np.int8),
    np.array(["a", "b"]), np.array([None, 1]), np.array([2**64 - 1], np.uint64), np.zeros((2, 0)),
    np.ma.array([0, 1, 2, 3], mask=[0, 1, 0, 0]), np.arange(8, dtype=">i4")[::-2],
    np.zeros(2, [("a", "i4"), ("b", "f8")]), np.array([np.inf, 1e300]), np.zeros((1, 1, 1)),
]  # fmt: skip


@cuda.jit
def double(values, out):
    """Write twice the value."""
    i = cuda.grid(1)
    if i < values.size:
        out[i] = 2 * values[i]


GRAPH = gk.example()
WEIGHTED = gk.random_weights(gk.path(4), seed=1)
HALVES = halved(WEIGHTED, 2)[1]
OFFSETS = [0, 2, 2, 5]
DEVICE = gk.SimtDevice()
with gk.trace() as _t:
    gk.bfs(GRAPH, 0, "frontier")
SEARCHED = _t.trace
with gk.trace() as _t:
    gk.bfs(GRAPH, 0, "bfs4k")
HASHED = _t.trace
with gk.trace() as _t:
    gk.sssp(WEIGHTED)
RELAXED = _t.trace
with gk.trace() as _t:
    gk.apsp(WEIGHTED, "naive")
PAIRED = _t.trace
with gk.trace() as _t:
    gk.expand(OFFSETS, "direct_search")
EXPANDED = _t.trace
with gk.trace() as _t:
    block_scan([1, 2, 3], threads=32)
SCANNED = _t.trace


# --- what is right --------------------------------------------------------------------------------


def is_a_graph(g: gk.Graph, given: dict[str, Any]) -> None:
    """Check all arrays of a graph anew."""
    gk.Graph(g.offsets, g.targets, g.weights, g.directed, labels=g.labels, positions=g.positions)


def is_a_search(result, given: dict[str, Any]) -> None:
    """Compare with a plain search."""
    expected = gk.reference.bfs(given["g"], given["root"]).distance
    np.testing.assert_array_equal(result.distance, expected)


def are_searches(result, given):
    """Compare with plain searches."""
    for root, distance in zip(given["roots"], result.distance, strict=True):
        is_a_search(gk.BFSResult(distance, None, 1), {"g": given["g"], "root": root})


def are_shortest_paths(result, given):
    """Distances are those of Bellman and Ford's rounds."""
    expected = gk.reference.bellman_ford(given["g"], given["root"])
    assert np.array_equal(result.parent >= 0, expected.parent >= 0)
    reached = expected.parent >= 0
    assert np.array_equal(result.distance[reached], expected.distance[reached])


def are_all_shortest_paths(result, given):
    """Distances are those of three plain loops, and hops lead along them."""
    g = as_graph(given["g"])
    if not isinstance(g, gk.Graph):
        matrix = np.asarray(g)
        assert result.distance.shape == matrix.shape
        return
    expected = gk.reference.floyd_warshall(given["g"])
    joined = expected.next_hop >= 0
    np.testing.assert_array_equal(result.distance[joined], expected.distance[joined])
    if result.next_hop is not None:
        np.testing.assert_array_equal(result.next_hop >= 0, joined)


def is_a_mapping(result: gk.Mapping, given: dict[str, Any]) -> None:
    """Compare items, or sums, with NumPy's."""
    sizes = np.diff(np.asarray(given["offsets"]).astype(np.int64))
    owner = np.repeat(np.arange(sizes.size), sizes)
    if given.get("values") is None:
        np.testing.assert_array_equal(result.item, owner)
    else:
        total = np.bincount(owner, np.asarray(given["values"], float), sizes.size)
        np.testing.assert_allclose(result.total, total)


def is_a_view(view, given: dict[str, Any]) -> None:
    """Write the view as a page would."""
    view.html.encode()
    assert repr(view)


def is_something(result, given: dict[str, Any]) -> None:
    """Show the result."""
    assert repr(result)


def is_twice(result, given: dict[str, Any]) -> None:
    """Compare what the kernel wrote: zeros where it was not launched."""
    assert set(given["out"].tolist()) <= {0, 2 * given["values"][0]}


@dataclass
class Call:
    """A public call, arguments that it takes, and what is right for them."""

    call: Callable
    right: Callable[[Any, dict[str, Any]], None]
    given: dict[str, Any] = field(default_factory=dict)
    #: Arguments that are left alone, since another value is another task for hours.
    fixed: tuple[str, ...] = ()

    def arguments(self) -> list[str]:
        """Return the names of all arguments to try."""
        names = [
            p.name
            for p in inspect.signature(self.call).parameters.values()
            if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        ]
        return [name for name in dict.fromkeys([*names, *self.given]) if name not in self.fixed]


def options_of(function: Callable) -> dict[str, Any]:
    """Return the keyword-only arguments of a method and their defaults."""
    return {name: p.default for name, p in parameters_of(function).items()}


def launched(device, blocks, threads, shared=0, cooperative=False, values=None, out=None):
    """Launch a small kernel."""
    device.launch(double, blocks, threads, values, out, shared=shared, cooperative=cooperative)
    return out


FLAT = {"values": np.full(4, 3), "out": np.zeros(4, int)}
CALLS = {
    "Graph": Call(gk.Graph, is_a_graph, {"offsets": [0, 1, 2], "targets": [1, 0]}),
    "from_arcs": Call(gk.Graph.from_arcs, is_a_graph, {"n": 2, "source": [0], "target": [1]}),
    "dense": Call(WEIGHTED.dense, is_something),
    "from_networkx": Call(gk.from_networkx, is_a_graph, {"graph": nx.path_graph(3)}),
    "from_scipy": Call(gk.from_scipy, is_a_graph, {"matrix": sparse.eye_array(3)}),
    "rmat": Call(gk.rmat, is_a_graph, {"scale": 3}),
    "kron": Call(gk.kron, is_a_graph, {"scale": 3}),
    "erdos_renyi": Call(gk.erdos_renyi, is_a_graph, {"n": 5, "mean_degree": 2}),
    "small_world": Call(gk.small_world, is_a_graph, {"n": 8, "degree": 2, "rewire": 0.5}),
    "forest_fire": Call(gk.forest_fire, is_a_graph, {"n": 5}),
    "delaunay": Call(gk.delaunay, is_a_graph, {"n": 5}),
    "road_grid": Call(gk.road_grid, is_a_graph, {"rows": 2, "columns": 3}),
    "path": Call(gk.path, is_a_graph, {"n": 3}),
    "star": Call(gk.star, is_a_graph, {"n": 3}),
    "complete": Call(gk.complete, is_a_graph, {"n": 3}),
    "random_weights": Call(gk.random_weights, is_a_graph, {"g": GRAPH}),
    "workload": Call(gk.workload, is_something, {"name": "kron", "items": 9}, ("name",)),
    "name of workload": Call(lambda name: gk.workload(name, 9), is_something, {"name": "kron"}),
    "choose_mapping": Call(gk.choose_mapping, is_something, {"offsets": OFFSETS}),
    "tune_bfs4k": Call(gk.tune_bfs4k, is_something, {"g": GRAPH}),
    "reference.bfs": Call(gk.reference.bfs, is_a_search, {"g": GRAPH, "root": 0}),
    "bfs": Call(gk.bfs, is_a_search, {"g": GRAPH, "root": 0, "device": DEVICE}),
    "bfs_many": Call(gk.bfs_many, are_searches, {"g": GRAPH, "roots": [0, 3], "device": DEVICE}),
    "sssp": Call(gk.sssp, are_shortest_paths, {"g": GRAPH, "root": 0, "device": DEVICE}),
    "sssp_many": Call(gk.sssp_many, is_something, {"g": GRAPH, "roots": [0, 3], "device": DEVICE}),
    "apsp": Call(gk.apsp, are_all_shortest_paths, {"g": GRAPH, "device": DEVICE}),
    "min_plus": Call(gk.min_plus, is_something, {"a": [[1, 2]], "b": [[3], [4]], "device": DEVICE}),
    "reference.floyd_warshall": Call(
        gk.reference.floyd_warshall, are_all_shortest_paths, {"g": GRAPH}
    ),
    "reference.johnson": Call(gk.reference.johnson, are_all_shortest_paths, {"g": GRAPH}),
    "reference.dijkstra": Call(
        gk.reference.dijkstra, are_shortest_paths, {"g": GRAPH, "root": 0}
    ),
    "expand": Call(gk.expand, is_a_mapping, {"offsets": OFFSETS, "device": DEVICE}),
    "read direction": Call(
        gk.expand, is_a_mapping, {"offsets": OFFSETS, "values": [1, 2, 3, 4, 5], "device": DEVICE}
    ),
    "methods": Call(gk.methods, is_something, {"family": "bfs"}),
    "exercise": Call(gk.exercise, is_something, {"id": "bfs-1"}),
    "SimtDevice": Call(gk.SimtDevice, is_something),
    "trace": Call(lambda **given: gk.trace(**given).__enter__(), is_something,
                  {"schedule": "lockstep", "seed": 0, "limit": 1000}),
    "traced": Call(lambda **given: gk.traced(lambda: 1, **given), is_something,
                   {"schedule": "lockstep", "seed": 0}),
    "launch": Call(launched, is_twice, {"device": DEVICE, "blocks": 1, "threads": 4, **FLAT},
                   ("device", "out", "values")),
    "check": Call(gk.check, is_something,
                  {"kernel": double, "blocks": 1, "threads": 4, "seeds": 1}, ("kernel",)),
    "show": Call(lambda function: gk.show(function), is_something, {"function": double}),
    "row_sum": Call(csr.row_sum, is_something, {"g": GRAPH}),
    "neighbor_sum": Call(csr.neighbor_sum, is_something, {"g": WEIGHTED, "values": [1, 2, 3, 4]}),
    "has_edge": Call(csr.has_edge, is_something, {"g": GRAPH, "source": [0], "target": [1]}),
    "warp_scan": Call(warp_scan, is_something, {"values": [1, 2]}),
    "block_scan": Call(block_scan, is_something, {"values": [1, 2]}),
    "shared_scan": Call(shared_scan, is_something, {"values": [1, 2]}),
    "device_scan": Call(device_scan, is_something, {"values": [1, 2]}),
    "warp_rank": Call(warp_rank, is_something, {"flags": [True, False]}),
    "find_owners": Call(find_owners, is_something, {"offsets": OFFSETS, "units": [0, 4]}),
    "GraphView": Call(gk.GraphView, is_a_view, {"graph": WEIGHTED}),
    "FrontierView": Call(gk.FrontierView, is_a_view, {"graph": GRAPH, "traces": SEARCHED}),
    "EnergyView": Call(gk.EnergyView, is_a_view, {"rows": [("m", "w", 2.0, 300.0)]}),
    "CompareView": Call(gk.CompareView, is_a_view, {"rows": [("m", "g", {"steps": 2})]}),
    "RelaxView": Call(gk.RelaxView, is_a_view, {"graph": WEIGHTED, "traces": RELAXED}),
    "PartsView": Call(gk.PartsView, is_a_view, {"graph": WEIGHTED, "cuts": {"a": [HALVES]}}),
    "WorkersView": Call(gk.WorkersView, is_a_view,
                        {"runs": {"a": [TaskRun("k-0", "w", 0, 1, False, ())]},
                         "kinds": {"k": "work"}}),
    "TileView": Call(gk.TileView, is_a_view, {"traces": PAIRED}),
    "MappingView": Call(gk.MappingView, is_a_view,
                        {"traces": {"direct search": EXPANDED}, "offsets": OFFSETS}),
    "ScanView": Call(gk.ScanView, is_a_view, {"traces": SCANNED}),
    "HashView": Call(gk.HashView, is_a_view, {"traces": HASHED}),
    "MemoryView": Call(gk.MemoryView, is_a_view, {"traces": SEARCHED}),
    "WarpView": Call(gk.WarpView, is_a_view, {"traces": SEARCHED}),
}  # fmt: skip
for _name, _method in SEARCHES.items():
    CALLS[f"bfs {_name}"] = Call(
        gk.bfs,
        is_a_search,
        {"g": GRAPH, "root": 0, "method": _name, "device": DEVICE, **options_of(_method)},
        ("g", "root", "method", "device"),
    )
for _name, _method in SHORTEST_PATHS.items():
    CALLS[f"sssp {_name}"] = Call(
        gk.sssp,
        are_shortest_paths,
        {"g": WEIGHTED, "root": 0, "method": _name, "device": DEVICE, **options_of(_method)},
        ("g", "root", "method", "device"),
    )
for _name, _method in ALL_PAIRS.items():
    CALLS[f"apsp {_name}"] = Call(
        gk.apsp,
        are_all_shortest_paths,
        {"g": WEIGHTED, "method": _name, "device": DEVICE, **options_of(_method)},
        ("g", "method", "device"),
    )
for _name, _method in MAPPINGS.items():
    CALLS[f"expand {_name}"] = Call(
        gk.expand,
        is_a_mapping,
        {"offsets": OFFSETS, "method": _name, "device": DEVICE, **options_of(_method)},
        ("offsets", "method", "device", "values"),
    )


#: Public names that are not called here: what calls return, what takes no argument of a kind that
#: could be wrong, `read`, whose files are damaged by a fuzz of their own, and `local_client`, which
#: starts as many processes as it is told.
LEFT_OUT = {
    "APSPResult", "BFSManyResult", "BFSResult", "Choice", "Mapping", "CudaDevice", "Device",
    "SSSPManyResult", "SSSPResult", "benign_race", "default_device", "example", "exercises",
    "local_client", "read", "sass", "reference", "sequential",
}  # fmt: skip


def test_every_public_call_is_tried():
    tried = {call.call for call in CALLS.values()} | {gk.trace, gk.traced, gk.show}
    for name in set(PUBLIC) - LEFT_OUT:
        public = getattr(gk, name)
        is_error = isinstance(public, type) and issubclass(public, Exception)
        assert is_error or public in tried, name


def complaint(call: Call, argument: str, value: Any) -> str:
    """Return what is wrong with how the call takes `value`, or nothing."""
    given = call.given | {argument: value}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            call.right(call.call(**given), given)
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        line = linecache.getline(frame.filename, frame.lineno).strip()
        if not frame.filename.startswith(PACKAGE) or not line.startswith("raise "):
            return f"{type(error).__name__}: {error} ({Path(frame.filename).name}: {line})"
        try:
            str(error).encode()
        except UnicodeEncodeError:
            return "the message cannot be written"
    return ""


@pytest.mark.parametrize("name", CALLS)
def test_what_is_hostile_is_refused_by_the_library_or_done_right(name):
    # What a view accepts it draws, which takes its time: of its arguments each gets a third of the
    # values in turn, so that every view meets every value; `make soak` tries all. For every change
    # the other calls do the same.
    call, step = CALLS[name], 1 if EFFORT == SOAK else 3
    faults = []
    for k, argument in enumerate(call.arguments()):
        for value in HOSTILE[k % step :: step]:
            wrong = complaint(call, argument, value)
            if wrong:
                faults.append(f"{argument}={value!a}: {wrong}"[:300])
    assert not faults, "\n".join(["", *faults])


#: What is no flag, and what `bool` would make one of.
NO_FLAGS = ["no", "False", "", 0, 1, 1.0, [], (True,), np.int8(0), np.array([True])]
TASK = gk.exercise("simt-1")
#: Functions with flags beyond those of `CALLS`, and arguments that they take.
MORE = {
    "local_client": Call(gk.local_client, is_something, {"workers": 1, "dashboard": False}),
    "Exercise.check": Call(TASK.check, is_something, {"answer": TASK.solution}),
    "simt.launch": Call(simt.launch, is_something, {
        "kernel": double, "grid": 1, "block": 4, "args": [*FLAT.values()], "check": False,
    }),
    "Knobs": Call(Knobs, is_something, {"duplicates": "bitmap"}),
    "matrix of": Call(adjacency_matrix.AdjacencyMatrix.from_graph, is_something, {"g": GRAPH}),
    "matrix row_sum": Call(adjacency_matrix.row_sum, is_something, {"g": GRAPH}),
    "matrix neighbor_sum": Call(
        adjacency_matrix.neighbor_sum, is_something, {"g": GRAPH, "values": np.ones(16)}
    ),
    "matrix has_edge": Call(
        adjacency_matrix.has_edge, is_something, {"g": GRAPH, "source": 0, "target": 1}
    ),
    "list of": Call(coo.EdgeList.from_graph, is_something, {"g": GRAPH}),
    "list row_sum": Call(coo.row_sum, is_something, {"g": GRAPH}),
    "list neighbor_sum": Call(coo.neighbor_sum, is_something, {"g": GRAPH, "values": np.ones(16)}),
    "list has_edge": Call(coo.has_edge, is_something, {"g": GRAPH, "source": 0, "target": 1}),
}  # fmt: skip


def flags_of(call: Call) -> list[str]:
    """Return the arguments that are true or false, by their values or their annotations."""
    known = inspect.signature(call.call).parameters
    defaults = {name: p.default for name, p in known.items()} | call.given
    kinds_by_name = {name: str(p.annotation).split(" | ") for name, p in known.items()}
    return [
        n for n, v in defaults.items() if isinstance(v, bool) or "bool" in kinds_by_name.get(n, ())
    ]


def outcome(call: Call, given: dict[str, Any]) -> tuple:
    """Return what tells one result or error of a call from another."""
    try:
        result = call.call(**given)
    except Exception as error:
        return (type(error).__name__,)
    distance = np.asarray(getattr(result, "distance", 0))
    return type(result).__name__, getattr(result, "parent", 0) is None, distance.tolist()


def test_a_flag_is_true_or_false_and_nothing_else_but_for_numpy_s():
    tried = 0
    for name, call in (CALLS | MORE).items():
        for flag in flags_of(call):
            tried += 1
            for value in NO_FLAGS:
                with pytest.raises((gk.InvalidArgument, LaunchError)) as caught:
                    call.call(**call.given | {flag: value})
                assert flag in str(caught.value), (name, value)
                assert "True" in str(caught.value), (name, value)
            for value in (True, False) if name != "local_client" else ():
                outcomes = [outcome(call, call.given | {flag: v}) for v in (value, np.bool_(value))]
                assert outcomes[0] == outcomes[1], (name, flag, value)
    assert tried > 80
