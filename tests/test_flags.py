"""Every parameter of the public API that is true or false refuses all else."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil

import numpy as np
import pytest
from numba import cuda
from public_names import PUBLIC

import gpukernels as gk
from gpukernels import all_pairs, primitives, representations, shortest_paths, simt, traversal
from gpukernels.device import CudaDevice
from gpukernels.primitives.shared_scan import shared_scan
from gpukernels.primitives.warp_scan import warp_scan
from gpukernels.representations import adjacency_matrix, coo
from gpukernels.simt.errors import LaunchError
from gpukernels.traversal.bfs4k.knobs import Knobs

FAMILIES = {
    "bfs": traversal.METHODS,
    "sssp": shortest_paths.METHODS,
    "apsp": all_pairs.METHODS,
}
#: What is no flag, and what `bool` would make one of.
NO_FLAGS = ["no", "False", "", 0, 1, 1.0, [], (True,), np.int8(0), np.array([True])]
GRAPH = gk.path(5)
MATRIX = GRAPH.to_scipy()
ARCS = ([0, 1], [1, 0])


@cuda.jit
def nothing(array):
    """Do nothing."""


def check_exercise(raises):
    task = gk.exercise("simt-1")
    return task.check(task.solution, raises=raises)


def launch(device, **flags):
    return device.launch(nothing, 1, 32, np.zeros(1), **flags)


#: Public function -> flag -> a call that is sound but for the flag.
CALLS = {
    "read": {"directed": lambda f: gk.read("data/triangles.mtx", directed=f)},
    "from_scipy": {"directed": lambda f: gk.from_scipy(MATRIX, directed=f)},
    "Graph": {"directed": lambda f: gk.Graph([0, 1, 2], [1, 0], directed=f)},
    "Graph.from_arcs": {"directed": lambda f: gk.Graph.from_arcs(2, *ARCS, directed=f)},
    "rmat": {"directed": lambda f: gk.rmat(2, directed=f)},
    "erdos_renyi": {"directed": lambda f: gk.erdos_renyi(5, 2, directed=f)},
    "forest_fire": {"directed": lambda f: gk.forest_fire(5, 0.3, directed=f)},
    "path": {"directed": lambda f: gk.path(3, directed=f)},
    "star": {"directed": lambda f: gk.star(3, directed=f)},
    "delaunay": {"weighted": lambda f: gk.delaunay(5, weighted=f)},
    "road_grid": {"weighted": lambda f: gk.road_grid(2, 3, weighted=f)},
    "SimtDevice": {
        "trace": lambda f: gk.SimtDevice(trace=f),
        "check": lambda f: gk.SimtDevice(check=f),
    },
    "SimtDevice.launch": {"cooperative": lambda f: launch(gk.SimtDevice(), cooperative=f)},
    # Without a GPU there is no such device; the flag is looked at before the device is.
    "CudaDevice.launch": {
        "cooperative": lambda f: CudaDevice.launch(None, nothing, 0, 32, cooperative=f)
    },
    "local_client": {"dashboard": lambda f: gk.local_client(1, dashboard=f)},
    "check": {"cooperative": lambda f: gk.check(nothing, 1, 32, np.zeros(1), cooperative=f)},
    "simt.launch": {
        "cooperative": lambda f: simt.launch(nothing, 1, 32, [np.zeros(1)], cooperative=f),
        "check": lambda f: simt.launch(nothing, 1, 32, [np.zeros(1)], check=f),
    },
    "min_plus": {
        "lazy": lambda f: gk.min_plus(np.zeros((2, 2)), np.zeros((2, 2)), lazy=f),
        "padding": lambda f: gk.min_plus(np.zeros((2, 2)), np.zeros((2, 2)), padding=f),
    },
    "GraphView": {"csr": lambda f: gk.GraphView(GRAPH, csr=f)},
    "exercises.judge.exercise.Exercise.check": {"raises": check_exercise},
    "primitives.shared_scan": {"padding": lambda f: shared_scan([1, 2], padding=f)},
    "primitives.warp_scan": {"inclusive": lambda f: warp_scan([1, 2], inclusive=f)},
    "representations.adjacency_matrix.AdjacencyMatrix.from_graph": {
        "pitched": lambda f: adjacency_matrix.AdjacencyMatrix.from_graph(GRAPH, pitched=f)
    },
    "representations.adjacency_matrix.row_sum": {
        "pitched": lambda f: adjacency_matrix.row_sum(GRAPH, pitched=f)
    },
    "representations.adjacency_matrix.neighbor_sum": {
        "pitched": lambda f: adjacency_matrix.neighbor_sum(GRAPH, np.ones(5), pitched=f)
    },
    "representations.adjacency_matrix.has_edge": {
        "pitched": lambda f: adjacency_matrix.has_edge(GRAPH, 0, 1, pitched=f)
    },
    "representations.coo.EdgeList.from_graph": {
        "both_ways": lambda f: coo.EdgeList.from_graph(GRAPH, both_ways=f)
    },
    "representations.coo.row_sum": {"both_ways": lambda f: coo.row_sum(GRAPH, both_ways=f)},
    "representations.coo.neighbor_sum": {
        "both_ways": lambda f: coo.neighbor_sum(GRAPH, np.ones(5), both_ways=f)
    },
    "representations.coo.has_edge": {"both_ways": lambda f: coo.has_edge(GRAPH, 0, 1, both_ways=f)},
    "traversal.bfs4k.knobs.Knobs": {
        "extended": lambda f: Knobs(extended=f),
        "ahead": lambda f: Knobs(ahead=f, duplicates="bitmap"),
        "binary_scan": lambda f: Knobs(binary_scan=f),
    },
}


def flags_of(function) -> list[str]:
    """Return the parameters that are true or false, by their default or their annotation."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    said = {p.name: str(p.annotation).split(" | ") for p in parameters}
    return [p.name for p in parameters if isinstance(p.default, bool) or "bool" in said[p.name]]


def functions_of(name, thing):
    """Yield the name and the function of a function, or of a class and its own public methods."""
    record = dataclasses.is_dataclass(thing) and "__post_init__" not in vars(thing)
    if not record:  # the driver that makes a record has checked what it writes down
        yield name, thing
    if inspect.isclass(thing):
        for method in [m for m in vars(thing) if not m.startswith("_")]:
            if callable(getattr(thing, method)):
                yield f"{name}.{method}", getattr(thing, method)


def public():
    """Yield every public function: those of gk, of its packages for readers, and the options."""
    for name in set(PUBLIC) - {"Device"}:  # what the two devices promise
        yield from functions_of(name, getattr(gk, name))
    for name in simt.__all__:
        yield from functions_of(f"simt.{name}", getattr(simt, name))
    for name in primitives.__all__:
        yield from functions_of(f"primitives.{name}", getattr(primitives, name))
    modules = [
        importlib.import_module(f"gpukernels.representations.{found.name}")
        for found in pkgutil.iter_modules(representations.__path__)
    ]
    modules.append(importlib.import_module("gpukernels.exercises.judge.exercise"))
    for module in modules:
        for name, thing in vars(module).items():
            if not name.startswith("_") and getattr(thing, "__module__", "") == module.__name__:
                place = module.__name__.removeprefix("gpukernels.")
                yield from functions_of(f"{place}.{name}", thing)
    yield "traversal.bfs4k.knobs.Knobs", Knobs
    for family, methods in FAMILIES.items():
        for method, search in methods.items():
            yield f"{family}[{method}]", search.driver


def call_of(function, flag):
    """Return the call of `CALLS`, or a search with the flag as an option."""
    if "[" in function:
        family, method = function.removesuffix("]").split("[")
        return lambda value: getattr(gk, family)(GRAPH, method=method, **{flag: value})
    return CALLS[function][flag]


FLAGS = sorted({(name, flag) for name, function in public() for flag in flags_of(function)})


def test_every_flag_of_the_public_functions_is_tried():
    assert len(FLAGS) > 50
    missing = [f for f in FLAGS if "[" not in f[0] and f[1] not in CALLS.get(f[0], ())]
    assert missing == []
    known = {(name, flag) for name, flags in CALLS.items() for flag in flags}
    assert known <= set(FLAGS), "calls of what is gone"


@pytest.mark.parametrize(("function", "flag"), FLAGS)
def test_a_flag_is_true_or_false_and_nothing_else(function, flag):
    for value in NO_FLAGS:
        with pytest.raises((gk.InvalidArgument, LaunchError)) as caught:
            call_of(function, flag)(value)
        assert flag in str(caught.value), value
        assert "True" in str(caught.value), value


# A forest fire is compiled first, for seconds; its generator passes the flag on as others do.
@pytest.mark.parametrize("value", [True, False])
@pytest.mark.parametrize(("function", "flag"), [f for f in FLAGS if f[0] != "forest_fire"])
def test_a_flag_of_numpy_is_one_of_python(function, flag, value):
    call = call_of(function, flag)
    expected, found = call(value), call(np.bool_(value))
    if isinstance(expected, gk.Graph):
        assert found.directed is expected.directed
        assert (found.n, found.m) == (expected.n, expected.m)
        assert (found.weights is None) == (expected.weights is None)
    elif isinstance(expected, gk.BFSResult):
        np.testing.assert_array_equal(found.distance, expected.distance)
        assert (found.parent is None) == (expected.parent is None)
    elif isinstance(expected, np.ndarray):
        np.testing.assert_array_equal(found, expected)
    else:
        assert type(found).__name__ == type(expected).__name__
