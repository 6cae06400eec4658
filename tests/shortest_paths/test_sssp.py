"""Every method of `gk.sssp` against the sequential algorithms and the definition."""

from __future__ import annotations

import gc
import weakref
from itertools import pairwise

import numpy as np
import pytest
from awkward_graphs import AWKWARD, CASES, ONE_CASE_EACH
from effort import every_pair, examples
from hypothesis import given
from hypothesis import strategies as st
from reading_device import ReadingDevice

import gpukernels as gk
from gpukernels import reference
from gpukernels.graphs.weight_facts import _known, weight_facts
from gpukernels.methods import options_of
from gpukernels.shortest_paths import METHODS, UNREACHED, negative, sssp, tight
from gpukernels.shortest_paths.result import infinity
from gpukernels.trace import metrics

INT32_MAX = 2**31 - 1
#: Methods that take what is closest first and refuse negative weights, and the others.
NON_NEGATIVE = ["near_far", "delta_stepping", "near_far_persistent", "ortega"]
SIGNED = [method for method in METHODS if method not in NON_NEGATIVE]


def weighted(g: gk.Graph, kind: str, low: int = 1, high: int = 100) -> gk.Graph:
    if kind == "none":
        return g
    rng = np.random.default_rng(g.m)
    return gk.Graph(g.offsets, g.targets, rng.integers(low, high, g.m).astype(kind))


def check(g: gk.Graph, root: int, result) -> None:
    """Distances are those of the queue, parents' arcs are tight and lead back to the root."""
    expected = reference.bellman_ford_queue(g, root)
    reached = expected.parent >= 0
    dtype = np.float32 if g.weights is not None and g.weights.dtype.kind == "f" else np.int32
    assert result.distance.dtype == dtype
    np.testing.assert_array_equal(
        result.distance[reached], expected.distance[reached].astype(dtype)
    )
    assert (result.distance[~reached] == infinity(dtype)).all()
    assert result.reached == reached.sum()
    source, target = g.coo
    weights = np.ones(g.m, dtype) if g.weights is None else g.weights
    from_reached = reached[source]
    source, target, weights = (a[from_reached] for a in (source, target, weights))
    tight = result.distance[source] + weights == result.distance[target]
    arcs = set(zip(source[tight].tolist(), target[tight].tolist(), strict=True))
    np.testing.assert_array_equal(result.parent >= 0, reached)
    for v in np.flatnonzero(reached).tolist():
        path = result.path_to(v)
        assert path[0] == root
        assert path[-1] == v
        assert all(arc in arcs for arc in pairwise(path))


@pytest.mark.parametrize(
    ("case", "method", "kind"), every_pair(CASES, METHODS, ["none", "int32", "float32"])
)
def test_awkward_graphs(device, case, method, kind):
    name, root = case
    g = weighted(AWKWARD[name], kind)
    check(g, root, sssp(g, root, method, device))


@pytest.mark.parametrize("method", METHODS)
def test_under_every_schedule(scheduled_device, method):
    g = weighted(gk.rmat(6, 6, seed=3), "int32")
    check(g, 1, sssp(g, 1, method, scheduled_device, threads=64))


@st.composite
def cases(draw):
    n = draw(st.integers(1, 9))
    vertex = st.integers(0, n - 1)
    arcs = draw(st.lists(st.tuples(vertex, vertex, st.integers(-2, 6)), max_size=25))
    dtype = draw(st.sampled_from(["int32", "float32"]))
    weights = np.array([w for _, _, w in arcs], dtype)
    g = gk.Graph.from_arcs(n, [u for u, _, _ in arcs], [v for _, v, _ in arcs], weights)
    return g, draw(vertex)


@pytest.mark.parametrize("method", METHODS)
@examples(40, 1_000)
@given(case=cases())
def test_zeros_negative_weights_and_cycles(method, case):
    g, root = case
    if method in NON_NEGATIVE:
        g = gk.Graph(g.offsets, g.targets, abs(g.weights))
    device = gk.SimtDevice(check=True)
    try:
        reference.bellman_ford_queue(g, root)
    except gk.NegativeCycleError:
        with pytest.raises(gk.NegativeCycleError) as caught:
            sssp(g, root, method, device)
        cycle = caught.value.cycle
        least = g.dense(np.inf)
        arcs = zip(cycle, cycle[1:] + cycle[:1], strict=True)
        assert sum(least[arc] for arc in arcs) < 0
        return
    check(g, root, sssp(g, root, method, device))


#: Methods that put vertices off, which on small graphs none does by its default delta.
PUT_OFF = ["near_far", "delta_stepping"]


@pytest.mark.parametrize(
    ("case", "method", "kind", "delta"),
    every_pair(ONE_CASE_EACH, PUT_OFF, ["none", "int32", "float32"], [5, 30]),
)
def test_awkward_graphs_at_any_delta(device, case, method, kind, delta):
    name, root = case
    g = weighted(AWKWARD[name], kind)
    check(g, root, sssp(g, root, method, device, delta=delta))


@pytest.mark.parametrize("method", PUT_OFF)
@examples(40, 1_000)
@given(case=cases(), delta=st.sampled_from([1e-300, 0.5, 1, 2.5, 6]), seed=st.integers(0, 9))
def test_any_graph_at_any_delta_in_any_order(method, case, delta, seed):
    g, root = case
    g = gk.Graph(g.offsets, g.targets, abs(g.weights))
    device = gk.SimtDevice("random", seed, check=True)
    check(g, root, sssp(g, root, method, device, delta=delta))


@pytest.mark.parametrize("method", SIGNED)
@pytest.mark.parametrize("kind", ["int32", "float32"])
def test_negative_weights_by_potentials(device, method, kind):
    g = weighted(gk.rmat(6, 5, seed=8), kind)
    height = np.random.default_rng(1).integers(0, 200, g.n)
    source, target = g.coo
    lowered = gk.Graph(g.offsets, g.targets, g.weights + (height[source] - height[target]))
    assert (lowered.weights < 0).any()
    check(lowered, 0, sssp(lowered, 0, method, device))


@pytest.mark.parametrize("method", NON_NEGATIVE)
@pytest.mark.parametrize("kind", ["int32", "float32"])
def test_a_negative_weight_is_refused_by_the_method_s_name(device, method, kind):
    g = gk.Graph.from_arcs(4, [0, 2, 2, 3], [1, 3, 1, 0], np.array([5, 0, -3, -9], kind))
    with pytest.raises(gk.NegativeWeightError, match="arc 2 -> 1 weighs -3") as caught:
        sssp(g, 0, method, device)
    assert caught.value.method == method
    assert set(caught.value.alternatives) == set(SIGNED)
    # Even where no path leads there; and those that it names do take the graph.
    for other in caught.value.alternatives:
        check(g, 1, sssp(g, 1, other, device))


@pytest.mark.parametrize("method", METHODS)
def test_zero_weights_close_no_cycle_of_parents(device, method):
    n = 8
    ring = [*range(1, n), 0]
    both = [*range(n), *ring], [*ring, *range(n)]
    g = gk.Graph.from_arcs(n, *both, [0] * (2 * n))
    check(g, 3, sssp(g, 3, method, device))


@pytest.mark.parametrize("method", METHODS)
def test_a_float_that_vanishes_beside_the_distance_closes_no_cycle(device, method):
    g = gk.Graph.from_arcs(4, [0, 1, 2, 2, 3], [1, 2, 1, 3, 2], np.float32([1e9, 1, 1, 1, 1]))
    result = sssp(g, 0, method, device)
    assert result.distance.tolist() == [0, 1e9, 1e9, 1e9]
    assert result.path_to(3) == [0, 1, 2, 3]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ([INT32_MAX, 1], "longer than int32 holds; take float32"),
        ([INT32_MAX - 1, 1], "longer than int32 holds"),
        (np.float32([3e38, 3e38]), "longer than float32 holds$"),
    ],
)
def test_a_path_too_long_for_its_type_is_refused(device, method, weights, says):
    g = gk.Graph.from_arcs(3, [0, 1], [1, 2], weights)
    for parents in (True, False):
        with pytest.raises(OverflowError, match=says):
            sssp(g, 0, method, device, parents=parents)


@pytest.mark.parametrize("method", SIGNED)
@pytest.mark.parametrize("parents", [True, False])
def test_a_path_too_low_for_floats_is_refused(device, method, parents):
    g = gk.Graph.from_arcs(4, [0, 1, 2], [1, 2, 3], np.float32([-3e38, -3e38, 1]))
    with pytest.raises(OverflowError, match="a path from vertex 0 is shorter than float32 holds"):
        sssp(g, 0, method, device, parents=parents)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("parents", [True, False])
def test_the_longest_path_that_its_type_holds(device, method, parents):
    def distances(n, source, target, weights):
        g = gk.Graph.from_arcs(n, source, target, weights)
        return sssp(g, 0, method, device, parents=parents).distance.tolist()

    end = INT32_MAX - 1
    assert distances(4, [0, 1], [1, 2], [end - 1, 1]) == [0, end - 1, end, UNREACHED]
    # The arc 1 -> 2 is too long for int32, but no shortest path takes it.
    assert distances(3, [0, 1, 0], [1, 2, 2], [end, 1, 7]) == [0, end, 7]
    # A sum of floats that is closer to the largest float than to the next power of 2 is held.
    largest = float(np.finfo(np.float32).max)
    assert distances(3, [0, 1], [1, 2], np.float32([largest, 1])) == [0, largest, largest]


@pytest.mark.parametrize("method", SIGNED)
def test_negative_weights_beyond_int32_are_refused_before_a_launch(device, method):
    g = gk.Graph.from_arcs(3, [0, 1], [1, 2], [-(2**30), -(2**30)])
    with pytest.raises(gk.InvalidArgument, match="the sum of negative"):
        sssp(g, 0, method, device)


@pytest.mark.parametrize("method", SIGNED)
def test_a_large_negative_cycle_is_found_before_distances_wrap(device, method):
    n, w = 64, -(2**24)
    g = gk.Graph.from_arcs(n, range(n), [*range(1, n), 0], [w] * n)
    with pytest.raises(gk.NegativeCycleError) as caught:
        sssp(g, 0, method, device)
    assert len(caught.value.cycle) == n


@pytest.mark.parametrize("method", SIGNED)
@pytest.mark.parametrize("n", [5, 6, 12])
def test_rounds_end_at_the_number_of_vertices_whatever_the_looks_have_seen(method, n, monkeypatch):
    monkeypatch.setattr(negative, "_on_negative_cycle", lambda *_: -1)
    looks, look = [], negative.Watch.look

    def noted(watch, round, distance):
        looks.append(round)
        look(watch, round, distance)

    monkeypatch.setattr(negative.Watch, "look", noted)
    # Once around the ring distances fall by 1, so that they tell nothing for many rounds.
    g = gk.Graph.from_arcs(n, range(n), [*range(1, n), 0], [n - 2, *[-1] * (n - 1)])
    with pytest.raises(gk.NegativeCycleError):
        sssp(g, 0, method, gk.SimtDevice())
    assert max(looks) <= n


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["none", "int32", "float32"])
def test_without_parents_none_are_looked_for(method, kind):
    g = weighted(gk.small_world(60, 4, rewire=0.1, seed=1), kind)
    ran = {}
    for parents in (True, False):
        device = ReadingDevice(trace=True)
        result = sssp(g, 0, method, device, parents=parents)
        ran[parents] = {launch.kernel for launch in device.trace.launches}
        stats = result.stats
        prepared = stats.get("launches_for_classes", 0) + stats.get("launches_for_weights", 0)
        counted = stats["launches"] + stats["launches_for_parents"] + prepared
        assert counted == len(device.trace.launches)
        assert ("parent" in {array.name for array in device.trace.arrays}) == parents
        # The distances are copied to the host once, and so are the parents.
        assert device.sizes.count(g.n) == 1 + parents
    assert ran[False] < ran[True]
    assert stats["launches_for_parents"] == 0
    assert result.parent is None
    np.testing.assert_array_equal(result.distance, sssp(g, 0, method).distance)
    with pytest.raises(ValueError, match="kept no parents"):
        result.path_to(2)


@pytest.mark.parametrize("method", METHODS)
def test_searches_from_many_roots_look_for_no_parents(method):
    g = weighted(gk.path(5), "int32")
    with gk.trace() as t:
        gk.sssp_many(g, [0, 3], method)
    assert "parent" not in {array.name for array in t.trace.arrays}


def test_harish_counts_the_rounds_of_the_definition(device):
    g = gk.path(6)
    result = sssp(g, 0, "harish", device)
    # One round a step, and one that finds nothing; every vertex relaxes its arcs once.
    assert result.stats["iterations"] == 6
    assert result.stats["relaxations"] == g.m
    assert result.stats["launches"] == 12


#: What each option refuses, in every method that has it; tests/test_hostile_fuzz.py tests flags.
REFUSED = {
    "threads": [0, 48],
    "delta": [0, -1, -0.0, np.nan, -np.inf, True, "7", [7], 10**400],
    "rounds": [0, 2.5, None],
    "piece": [0, 2.5, None],
    "fill": [0, 2.5],
    "blocks": [0, 2.5],
    "duplicates": ["hash64", None],
    "warp_workload": [3, 64],
    "min_warp_size": [0],
    "warp_size": [2.0],
    "child_threshold": [-1],
    "capacity": [1],
    "resident_threads": [0],
}


def test_a_wrong_option_is_refused_by_name():
    parameters = [(m, p) for m, driver in METHODS.items() for p in options_of(driver).values()]
    flags = {p.name for _, p in parameters if isinstance(p.default, bool)}
    assert {*REFUSED} | flags == {p.name for _, p in parameters}
    cases = [(m, p.name, value) for m, p in parameters for value in REFUSED.get(p.name, ())]
    for method, option, value in [*cases, ("near_far_persistent", "delta", np.inf)]:
        with pytest.raises(gk.InvalidArgument) as caught:
            sssp(gk.path(3), 0, method, gk.SimtDevice(), **{option: value})
        assert caught.value.argument == option


def test_the_facts_of_weights_are_found_once_and_go_with_their_graph():
    g = gk.Graph.from_arcs(3, [0, 1], [1, 2], [7, -2])
    assert weight_facts(g) == (-2, 2.5, 7)
    assert weight_facts(g) is weight_facts(g)
    assert weight_facts(gk.path(3)) == weight_facts(gk.Graph([0], [], [])) == (1, 1.0, 1)
    known, last = len(_known), weakref.ref(g)
    del g
    gc.collect()
    assert last() is None
    assert len(_known) < known


def test_the_arcs_of_a_hub_are_shared_where_parents_are_looked_for():
    with gk.trace() as t:
        gk.sssp(gk.star(3000), 0, "harish")
    launch = next(x for x in t.trace.launches if x.kernel == "adopt_forward")
    per_warp = metrics.per_warp(t.trace.steps, launch)
    assert per_warp.max() < 2 * per_warp.mean()


@pytest.mark.parametrize("schedule", ["lockstep", "warp", "random"])
@pytest.mark.parametrize("kind", ["int32", "float32"])
def test_parents_of_a_large_graph_are_made_beside_the_copy_of_its_distances(
    schedule, kind, monkeypatch
):
    """Weights of 0 among them, which leave vertices without a parent at first."""
    dtype = np.dtype(kind)
    for weights, launches in (([4, 0, 0, 0, 1, 2], 2), ([4, 1, 1, 3, 1, 2], 2)):
        source, target = [0, 1, 2, 3, 1, 5], [1, 2, 3, 1, 4, 0]
        g = gk.Graph.from_arcs(7, source, target, np.array(weights, dtype))
        expected = gk.sssp(g, 0, "harish", gk.SimtDevice())
        with monkeypatch.context() as large:
            large.setattr(tight, "LARGE", 0)
            result = gk.sssp(g, 0, "harish", gk.SimtDevice(schedule=schedule, seed=3))
        np.testing.assert_array_equal(result.distance, expected.distance)
        np.testing.assert_array_equal(result.parent, expected.parent)
        more = result.stats["launches_for_parents"] - expected.stats["launches_for_parents"]
        assert more == 1
        assert (result.stats["launches_for_parents"] > launches) == (0 in weights)
        assert result.path_to(3) == [0, 1, 2, 3]
