"""What a call cannot use is refused by the project's own error, which names it, not NumPy's."""

from __future__ import annotations

import contextvars
import threading
import warnings
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from numba import cuda

import gpukernels as gk
from gpukernels import simt
from gpukernels.errors import LaunchError
from gpukernels.primitives.block_scan import block_scan
from gpukernels.primitives.shared_scan import shared_scan
from gpukernels.primitives.warp_scan import warp_scan
from gpukernels.representations.csr import neighbor_sum

MASKED = np.ma.array([0, 2, 2, 5], mask=[False, True, False, False])
PATH = gk.path(4)


def refused(argument: str, call, *arguments, **named) -> str:
    """Return the message of the InvalidArgument that the call raises, which names `argument`."""
    with pytest.raises(gk.InvalidArgument) as caught:
        call(*arguments, **named)
    assert caught.value.argument == argument
    message = str(caught.value)
    assert message.startswith(f"{argument} = ")
    assert ": must be " in message
    return message


# --- numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("argument", ["alpha", "beta"])
@pytest.mark.parametrize("value", [10**400, Fraction(10**400, 3)], ids=["whole", "fraction"])
def test_a_number_beyond_all_floats_is_refused_with_what_is_allowed(argument, value):
    message = refused(argument, gk.bfs, PATH, 0, "direction_optimizing", **{argument: value})
    assert "at most 1.8e+308, the largest float" in message


# --- NetworkX -------------------------------------------------------------------------------------


def weighted(*weights) -> nx.Graph:
    graph = nx.Graph()
    for k, weight in enumerate(weights):
        graph.add_edge(k, k + 1, weight=weight)
    return graph


def test_fractions_are_weights_like_any_real_number():
    g = gk.from_networkx(weighted(Fraction(1, 3), 2))
    np.testing.assert_array_equal(g.weights, [1 / 3, 1 / 3, 2, 2])


@pytest.mark.parametrize(
    "weights",
    [
        (2**63,), (-(2**63) - 1, 1), (10**400,), (10**400, 0.5), (Fraction(10**400), 1),
        (Fraction(10**400, 3),), (10**400, float("nan")), ("1",), (1j, 1),
    ],
    ids=lambda weights: " ".join(type(w).__name__ for w in weights),
)  # fmt: skip
def test_a_weight_that_no_array_of_weights_holds_is_refused_with_its_edge(weights):
    message = refused("'weight' of edge 0 -> 1", gk.from_networkx, weighted(*weights))
    assert "number" in message or "int64" in message


@pytest.mark.parametrize("weight", [5, [], True, ("weight",)], ids=repr)
def test_the_attribute_of_weights_is_a_name(weight):
    refused("weight", gk.from_networkx, weighted(1), weight)


def test_nodes_beyond_int64_stay_what_they_are():
    graph = nx.Graph([(2**63, -1)])
    labels = gk.from_networkx(graph).labels
    assert labels.tolist() == [2**63, -1]  # as floats they would be 2^63 and another -1.0
    assert all(isinstance(label, int) for label in labels.tolist())


# --- graphs and seeds -----------------------------------------------------------------------------


SEEDED = {
    "rmat": lambda seed: gk.rmat(3, seed=seed),
    "kron": lambda seed: gk.kron(3, seed=seed),
    "erdos_renyi": lambda seed: gk.erdos_renyi(5, 2, seed=seed),
    "small_world": lambda seed: gk.small_world(8, 2, 0.5, seed=seed),
    "forest_fire": lambda seed: gk.forest_fire(5, seed=seed),
    "delaunay": lambda seed: gk.delaunay(5, seed=seed),
    "road_grid": lambda seed: gk.road_grid(2, 2, seed=seed),
    "random_weights": lambda seed: gk.random_weights(PATH, seed=seed),
    "workload": lambda seed: gk.workload("kron", 10, seed=seed),
    "SimtDevice": lambda seed: gk.SimtDevice(schedule="random", seed=seed),
    "trace": lambda seed: gk.trace(seed=seed).__enter__(),
    "traced": lambda seed: gk.traced(gk.bfs, gk.example(), seed=seed),
    "GraphView": lambda seed: gk.GraphView(PATH, seed=seed),
}


@pytest.mark.parametrize("seed", [-1, None, 1.0, "1", True, [1, 2], 2**64], ids=repr)
@pytest.mark.parametrize("name", SEEDED)
def test_a_seed_is_a_whole_number_from_0(name, seed):
    assert "a whole number from 0" in refused("seed", SEEDED[name], seed)


@pytest.mark.parametrize("name", SEEDED)
def test_the_largest_seed_is_taken_and_numpy_s_numbers_are(name):
    for seed in (2**64 - 1, np.uint64(2**64 - 1), np.int8(3)):
        context = contextvars.copy_context()  # a trace that is opened here stays here
        context.run(SEEDED[name], seed)


@pytest.mark.parametrize("seed", [-1, 0.5, None], ids=repr)
def test_a_launch_names_a_seed_that_is_none(seed):
    with pytest.raises(LaunchError) as caught:
        simt.launch(store, 1, 1, (np.zeros(4),), seed=seed)
    assert f"seed={seed!r}" in str(caught.value)


# --- arrays ---------------------------------------------------------------------------------------


TAKES_AN_ARRAY = {
    "offsets of Graph": lambda: gk.Graph(MASKED, [0, 1, 0, 1, 0]),
    "targets of Graph": lambda: gk.Graph([0, 4], MASKED),
    "weights of Graph": lambda: gk.Graph([0, 4], [0, 0, 0, 0], MASKED),
    "labels of Graph": lambda: gk.Graph([0, 0, 0, 0, 0], [], labels=MASKED),
    "positions of Graph": lambda: gk.Graph([0, 0, 0], [], positions=MASKED.reshape(2, 2)),
    "source of from_arcs": lambda: gk.Graph.from_arcs(9, MASKED, [0, 1, 2, 3]),
    "target of from_arcs": lambda: gk.Graph.from_arcs(9, [0, 1, 2, 3], MASKED),
    "weight of from_arcs": lambda: gk.Graph.from_arcs(9, [0] * 4, [0] * 4, MASKED),
    "offsets of expand": lambda: gk.expand(MASKED),
    "values of expand": lambda: gk.expand([0, 4], values=MASKED),
    "offsets of choose_mapping": lambda: gk.choose_mapping(MASKED),
    "values of neighbor_sum": lambda: neighbor_sum(PATH, MASKED),
    "values of warp_scan": lambda: warp_scan(MASKED),
    "values of block_scan": lambda: block_scan(MASKED),
    "values of shared_scan": lambda: shared_scan(MASKED),
    "values of GraphView": lambda: gk.GraphView(PATH, MASKED),
    "edge_values of GraphView": lambda: gk.GraphView(PATH, edge_values=MASKED),
    "parent of GraphView": lambda: gk.GraphView(PATH, parent=MASKED),
    "positions of GraphView": lambda: gk.GraphView(gk.path(2), positions=MASKED.reshape(2, 2)),
    "host of a device's array": lambda: gk.SimtDevice().array(MASKED),
}


@pytest.mark.parametrize("place", TAKES_AN_ARRAY)
def test_a_masked_array_is_refused_where_its_mask_would_be_lost(place):
    message = refused(place.split()[0], TAKES_AN_ARRAY[place])
    assert "an array without a mask, such as its .filled(value)" in message


@pytest.mark.parametrize("values", [[1.5], [2**31], [-(2**31) - 1], ["a"], [[1], [2, 3]], 5, None])
def test_what_a_scan_would_cut_to_int32_is_refused(values):
    for scan in (warp_scan, block_scan, shared_scan):
        with pytest.raises(gk.InvalidArgument, match=r"^values"):
            scan(values)


def test_the_matrix_of_nan_is_made_once():
    g = gk.path(3)
    matrix = g.dense(np.nan)
    assert g.dense(float("nan")) is g.dense(np.float32("nan")) is matrix
    np.testing.assert_array_equal(
        matrix, [[np.nan, 1, np.nan], [1, np.nan, 1], [np.nan, 1, np.nan]]
    )
    assert len(g._dense) == 1


def test_what_stands_where_there_is_no_arc_is_what_was_asked_for():
    for absent in (0, -1, True, np.int8(7), 0.5, Fraction(1, 2), np.inf, -np.inf, 2**31, 1e300):
        matrix = gk.path(2).dense(absent)
        np.testing.assert_array_equal(matrix, np.array([[absent, 1], [1, absent]], matrix.dtype))


# --- knobs, capacities, texts ---------------------------------------------------------------------


class NoMemory(gk.SimtDevice):
    """A device that nobody may take memory of."""

    def _refuse(self, *args, **options):
        raise AssertionError("memory was taken before the capacity was checked")

    array = keep = empty = full = pinned = launch = _refuse


@pytest.mark.parametrize("method", ["frontier", "bfs4k"])
def test_a_capacity_far_beyond_the_graph_is_refused_before_memory_is_taken(method):
    for capacity in (2**31 - 1, 2**20 + 1):
        message = refused("capacity", gk.bfs, PATH, 0, method, NoMemory(), capacity=capacity)
        assert "a whole number from 4 to 1048576" in message
    large = gk.star(2**16 + 2)  # 2^17 + 2 arcs
    most = 16 * large.m
    message = refused("capacity", gk.bfs, large, 0, method, NoMemory(), capacity=most + 1)
    assert f"to {most}" in message
    assert gk.bfs(PATH, 0, method, gk.SimtDevice(), capacity=2**20).levels == 4


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", None, 5, b"title"], ids=ascii)
@pytest.mark.parametrize("argument", ["title", "caption", "choice"])
def test_a_text_that_no_page_can_hold_is_refused(argument, text):
    with pytest.raises(gk.InvalidArgument, match=f"^{argument} = .*: must be a text") as caught:
        gk.GraphView(PATH, **{argument: text})
    str(caught.value).encode()  # the message itself can be shown


def test_a_label_that_no_page_can_hold_is_refused():
    with pytest.raises(gk.InvalidArgument, match="lone surrogate"):
        gk.GraphView(PATH, {"\ud800": [1, 2, 3, 4], "b": [1, 2, 3, 4]})
    view = gk.GraphView(PATH, title="Graph of 𝄞 and \N{SNOWMAN}")
    view.html.encode()


# --- traces ---------------------------------------------------------------------------------------


@cuda.jit
def store(out):
    out[cuda.grid(1)] = 1


@cuda.jit
def store_elsewhere(elsewhere, first):
    first[cuda.grid(1)] = 1
    elsewhere[cuda.grid(1)] = 1


def test_a_launch_that_failed_leaves_no_array_and_no_source_in_the_trace():
    with gk.trace() as t:
        device = gk.default_device()
        device.launch(store, 1, 4, np.zeros(4))
        with pytest.raises(IndexError):
            device.launch(store_elsewhere, 1, 4, np.zeros(2), np.zeros(4, np.int16))
        assert [a.name for a in t.trace.arrays] == ["out"]
        assert [s.function for s in t.trace.sources] == ["store"]
        device.launch(store_elsewhere, 1, 4, np.zeros(4), np.zeros(4, np.int16))
    trace = t.trace
    assert [a.name for a in trace.arrays] == ["out", "elsewhere", "first"]
    assert [s.function for s in trace.sources] == ["store", "store_elsewhere"]
    assert [trace.arrays[k].name for k in trace.requests.array] == ["out", "first", "elsewhere"]
    assert {trace.sources[k].function for k in trace.requests.source} == {
        "store",
        "store_elsewhere",
    }
    assert t.summary()


def in_a_thread(call, context: bool = False) -> tuple[object, list[str]]:
    """Return what `call` returns in a thread of its own, and the warnings that it gives."""
    results = []

    def run():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            results.append(call())
        results.append([str(w.message) for w in caught])

    target, args = (contextvars.copy_context().run, (run,)) if context else (run, ())
    thread = threading.Thread(target=target, args=args, name="started inside")
    thread.start()
    thread.join()
    return results[0], results[1]


def test_a_thread_started_inside_a_trace_says_that_it_is_not_traced(monkeypatch):
    monkeypatch.setenv("GPUKERNELS_DEVICE", "simt")
    with gk.trace() as t:
        device, messages = in_a_thread(gk.default_device)
        assert device.trace is None
        assert len(messages) == 1
        assert "thread 'started inside' was started inside `with gk.trace()`" in messages[0]
        assert "not traced" in messages[0]
        assert in_a_thread(lambda: gk.bfs(PATH))[1] == messages
    assert len(t.trace.launches) == 0


def test_a_thread_that_is_traced_or_has_nothing_to_do_with_a_trace_says_nothing(monkeypatch):
    monkeypatch.setenv("GPUKERNELS_DEVICE", "simt")
    assert in_a_thread(gk.default_device)[1] == []
    with gk.trace() as t:
        # What the warning advises: the thread has a copy of the context.
        device, messages = in_a_thread(gk.default_device, context=True)
        assert (device, messages) == (t.device, [])

        def own():
            with gk.trace() as inner:
                return gk.default_device() is inner.device

        assert in_a_thread(own) == (True, [])
    assert in_a_thread(gk.default_device)[1] == []  # after the block all is as before


def test_a_thread_that_was_there_before_the_trace_is_not_warned(monkeypatch):
    monkeypatch.setenv("GPUKERNELS_DEVICE", "simt")
    opened, messages = threading.Event(), []

    def wait():
        opened.wait(30)
        with warnings.catch_warnings(record=True) as records:
            warnings.simplefilter("always")
            gk.default_device()
        messages.extend(records)

    thread = threading.Thread(target=wait)
    thread.start()
    with gk.trace():
        opened.set()
        thread.join()
    assert messages == []
