"""Searches from many roots at once: as good as one by one, in fewer launches, within a bound."""

from __future__ import annotations

import numpy as np
import pytest
from fake_gpu import FakeGpus
from test_out_of_core import CountingDevice

import gpukernels as gk
from gpukernels.all_pairs import UNREACHED, apsp
from gpukernels.shortest_paths.many_roots import bytes_for, roots_within

ROOTED = ("per_root", "johnson")


def weighted(n: int, kind: str) -> gk.Graph:
    g = gk.erdos_renyi(n, 4, seed=n, directed=True)
    if kind == "none":
        return g
    return gk.Graph(g.offsets, g.targets, np.random.default_rng(n).integers(1, 9, g.m).astype(kind))


@pytest.mark.parametrize("kind", ["none", "int32", "float32"])
@pytest.mark.parametrize("method", ROOTED)
def test_batches_of_any_size_give_equal_results_in_fewer_launches(device, method, kind):
    g = weighted(20, kind)
    alone = apsp(g, method, device, next_hops=True)
    launches = []
    for batch in (1, 3, g.n, 10 * g.n):
        found = apsp(g, method, device, batch=batch)
        np.testing.assert_array_equal(found.distance, alone.distance)
        assert found.distance.dtype == alone.distance.dtype
        assert found.stats["batch"] == min(batch, g.n)
        launches.append(found.stats["launches"])
    assert launches[0] > 2 * launches[1] > 4 * launches[2]
    assert launches[2] == launches[3]
    with_hops = apsp(g, method, device, batch=3, next_hops=True)
    np.testing.assert_array_equal(with_hops.distance, alone.distance)
    np.testing.assert_array_equal(with_hops.next_hop >= 0, alone.next_hop >= 0)


@pytest.mark.parametrize("method", ROOTED)
def test_launches_are_those_that_ran_and_rows_that_are_done_relax_nothing(method):
    g = gk.path(20)  # from its ends a search takes longer than from its middle
    device = gk.SimtDevice(trace=True)
    stats = apsp(g, method, device, batch=7).stats
    assert stats["launches"] == len(device.trace.launches)
    together = apsp(g, "per_root", gk.SimtDevice(), batch=20).stats
    alone = apsp(g, "per_root", gk.SimtDevice()).stats
    # Row by row, the rounds are those of the searches alone, in which lanes go together, too.
    assert together["operations"] == alone["operations"]
    assert together["iterations"] < alone["iterations"] / 10


@pytest.mark.parametrize("method", ROOTED)
@pytest.mark.parametrize("options", [{}, {"batch": 3}, {"search": "hbf"}])
def test_parents_are_looked_for_only_where_next_hops_are_asked_for(method, options):
    g = weighted(7, "int32")
    for next_hops in (False, True):
        with gk.trace() as t:
            apsp(g, method, next_hops=next_hops, **options)
        kernels = {launch.kernel for launch in t.trace.launches}
        assert ("adopt_forward" in kernels) == next_hops


@pytest.mark.parametrize("next_hops", [False, True])
@pytest.mark.parametrize("roots", [1, 4, 64])
def test_no_more_of_the_device_is_in_use_than_the_batch_was_allowed(roots, next_hops):
    g = weighted(64, "int32")  # a row of it is a GPU's least allocation
    memory = bytes_for(g, roots, next_hops)
    assert roots_within(g, memory, next_hops) == roots
    assert roots_within(g, memory - 1, next_hops) == roots - 1
    device = CountingDevice()
    found = apsp(g, "per_root", device, memory=memory, next_hops=next_hops)
    assert found.stats["batch"] == roots
    assert memory / 2 < device.most <= memory
    np.testing.assert_array_equal(found.distance, apsp(g, "blocked").distance)


def test_a_batch_that_does_not_fit_is_refused_with_what_does(monkeypatch):
    g = weighted(64, "int32")
    memory = bytes_for(g, 4, False)
    with pytest.raises(
        gk.InvalidArgument, match=rf"^batch = 5: must be at most 4 with memory={memory}"
    ):
        apsp(g, "per_root", memory=memory, batch=5)
    with pytest.raises(gk.InvalidArgument, match=r"^memory = 100: must be at least \d+ for one"):
        apsp(g, "per_root", memory=100)
    gpus = FakeGpus(monkeypatch, memory=1 << 16)
    try:
        large = weighted(200, "int32")
        with pytest.raises(gk.InvalidArgument, match=r"^batch = 200: .* with the .* bytes free"):
            apsp(large, "per_root", gk.CudaDevice(), batch=200)
        small = apsp(g, "per_root", gk.CudaDevice(), batch=7, next_hops=True)
        np.testing.assert_array_equal(small.distance, apsp(g, "blocked", gk.SimtDevice()).distance)
    finally:
        gpus.close()


@pytest.mark.parametrize("next_hops", [False, True])
def test_what_a_search_refuses_a_batch_refuses_too(device, next_hops):
    options = {"batch": 2, "next_hops": next_hops}
    far = gk.Graph.from_arcs(3, [0, 1], [1, 2], [UNREACHED - 1, 2])
    with pytest.raises(
        OverflowError, match=r"vertex [02] is longer than int32 holds; take float32"
    ):
        apsp(far, "per_root", device, **options)
    ring = gk.Graph.from_arcs(4, [0, 1, 2, 2], [1, 2, 0, 3], [-1, 3, -3, 1])
    with pytest.raises(gk.NegativeCycleError) as caught:
        apsp(ring, "per_root", device, **options)
    assert sorted(caught.value.cycle) == [0, 1, 2]
    assert apsp(gk.Graph([0], []), "per_root", device, **options).distance.shape == (0, 0)
