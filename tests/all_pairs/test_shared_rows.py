"""Rows that devices of a host share: the bits of one device, whatever the schedule."""

from __future__ import annotations

import numpy as np
import pytest
from awkward_graphs import AWKWARD
from scipy_paths import distances, random_graph

import gpukernels as gk


def machines(count: int, schedule: str = "lockstep") -> list[gk.SimtDevice]:
    return [gk.SimtDevice(schedule, seed=seed, check=True) for seed in range(count)]


@pytest.mark.parametrize(
    ("kind", "schedule", "count", "panel"),
    [
        ("int32", "lockstep", 1, 2),
        ("int32", "lockstep", 2, 1),
        ("float32", "warp", 2, 2),
        ("int32", "warp", 3, 1),
        ("float32", "random", 2, 2),
        ("float32", "lockstep", 3, 9),
    ],
)
def test_devices_that_share_rows_find_the_bits_of_one(kind, schedule, count, panel):
    g = random_graph(45, kind, fall=30)
    if kind == "float32":  # sums of which are rounded
        g = gk.Graph(g.offsets, g.targets, g.weights + np.random.default_rng(1).random(g.m, "f4"))
    one = gk.apsp(g, "blocked", gk.SimtDevice(), panel=panel, next_hops=True)
    result = gk.apsp(g, "blocked", devices=machines(count, schedule), panel=panel, next_hops=True)
    assert result.distance.tobytes() == one.distance.tobytes()
    assert result.next_hop.tobytes() == one.next_hop.tobytes()
    if kind == "int32":
        assert (result.distance == distances(g)).all()
    assert result.stats["devices"] == count
    tiles = 3  # of 16, and a panel's on each device
    widths = [min(panel, tiles - first) for first in range(0, tiles, panel)]
    crosses = sum(width**2 * (2 * tiles - width) for width in widths)
    assert one.stats["operations"] == tiles**3 * 16**3
    assert result.stats["operations"] == (tiles**3 + (count - 1) * crosses) * 16**3


@pytest.mark.parametrize("name", ["no_vertices", "one_vertex", "parallel_arcs", "disconnected"])
def test_devices_may_have_no_row(name):
    g = AWKWARD[name]
    result = gk.apsp(g, "blocked", devices=machines(3), next_hops=True)
    one = gk.apsp(g, "blocked", gk.SimtDevice(), next_hops=True)
    assert result.distance.tobytes() == one.distance.tobytes()
    assert (result.next_hop == one.next_hop).all()


def test_a_negative_cycle_through_the_rows_of_both_is_named():
    n = 20
    weights = np.ones(n, np.int32)
    weights[18] = -n
    ring = gk.Graph.from_arcs(n, range(n), [*range(1, n), 0], weights)
    with pytest.raises(gk.NegativeCycleError) as caught:
        gk.apsp(ring, "blocked", devices=machines(2))
    assert sorted(caught.value.cycle) == [*range(n)]


def test_a_path_too_long_to_be_held_is_found_here_too():
    far = gk.Graph.from_arcs(4, [0, 1], [1, 2], [2**30 - 4, 3])
    with pytest.raises(OverflowError, match="from vertex 0 to 2 is longer than int32 holds"):
        gk.apsp(far, "blocked", devices=machines(2))


def test_what_does_not_go_with_devices_is_refused(tmp_path):
    g, two = gk.path(5), machines(2)
    with pytest.raises(gk.InvalidArgument, match=r"^device = .*: must be None with devices="):
        gk.apsp(g, "blocked", gk.SimtDevice(), devices=two)
    for other in ({"block": 16}, {"into": tmp_path / "d.npy"}, {"engine": "cpu"}):
        with pytest.raises(gk.InvalidArgument, match=r"^devices = .*: must be None where blocks"):
            gk.apsp(g, "blocked", devices=two, **other)
    with pytest.raises(gk.InvalidArgument, match=r"^panel = 0: "):
        gk.apsp(g, "blocked", devices=two, panel=0)
    with pytest.raises(gk.InvalidArgument, match=r"^devices = 2: must be a list"):
        gk.apsp(g, "blocked", devices=2)
    with pytest.raises(TypeError, match="devices"):
        gk.apsp(g, "naive", devices=two)
