"""The persistent near-far search: piles, splits, delta, rounds, pieces, and its one launch."""

from __future__ import annotations

import numpy as np
import pytest
from effort import every_pair
from reading_device import ReadingDevice

import gpukernels as gk
from gpukernels import reference
from gpukernels.shortest_paths import sssp
from gpukernels.shortest_paths.adaptive_delta import adapted
from gpukernels.shortest_paths.near_far_persistent import search_near_and_far
from gpukernels.shortest_paths.near_far_steps import ROOM
from gpukernels.shortest_paths.result import infinity
from gpukernels.simt.errors import RaceError

METHOD = "near_far_persistent"


def weigh(g: gk.Graph, kind: str = "int32", low: int = 1, high: int = 100) -> gk.Graph:
    weights = np.random.default_rng(g.m).integers(low, high, g.m).astype(kind)
    return gk.Graph(g.offsets, g.targets, weights)


def search(g: gk.Graph, root: int, device, **options):
    """Search, compare with Dijkstra's heap, and return what the search did."""
    result = sssp(g, root, METHOD, device, **options)
    expected = reference.dijkstra(g, root)
    reached = expected.parent >= 0
    np.testing.assert_array_equal(result.distance[reached], expected.distance[reached])
    assert (result.distance[~reached] == infinity(result.distance.dtype)).all()
    return result.stats


GRAPHS = {
    "rmat": weigh(gk.rmat(6, 8, seed=3)),
    "floats": weigh(gk.rmat(6, 8, seed=3), "float32"),
    "road": weigh(gk.road_grid(7, 9, seed=1)),
    "zeros": weigh(gk.erdos_renyi(60, 5, seed=2), low=0, high=2),
    "star": weigh(gk.star(90)),
    "no arcs": gk.Graph.from_arcs(3, [], [], np.int32([])),
}


@pytest.mark.parametrize(
    ("name", "blocks", "rounds", "piece", "threads", "delta", "adapt"),
    every_pair(GRAPHS, [1, 2, 5], [1, 3], [1, 7, 999], [32, 96], [None, 1, 40, 1e9], [True, False]),
)
def test_one_block_or_many_alone_or_together(
    device, name, blocks, rounds, piece, threads, delta, adapt
):
    stats = search(
        GRAPHS[name], 1, device, blocks=blocks, rounds=rounds, piece=piece, threads=threads,
        delta=delta, adapt=adapt,
    )  # fmt: skip
    assert stats["blocks"] == blocks
    assert (stats["launches"], stats["read_backs"]) == (1, 0)


def test_under_every_schedule(scheduled_device):
    # Few vertices a block and tiny pieces: rounds, hand-overs and pieces all take turns.
    stats = search(
        GRAPHS["rmat"], 1, scheduled_device, threads=32, blocks=3, piece=6, rounds=2, delta=30
    )
    assert stats["splits"] > 1


# --- how it counts --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["rmat", "floats", "road"])
def test_with_a_delta_of_the_least_weight_each_vertex_is_relaxed_once(device, name):
    g = GRAPHS[name]
    stats = search(g, 1, device, delta=1, adapt=False, threads=32, blocks=2)
    assert stats["relaxations"] == g.out_degree[reference.dijkstra(g, 1).parent >= 0].sum()


def test_splits_move_on_by_delta_from_the_nearest_far_vertex(device):
    n, weight = 30, 10
    g = gk.path(n, directed=True)
    g = gk.Graph(g.offsets, g.targets, np.full(g.m, weight, np.int32))
    for delta, together in ((1, 1), (10, 1), (11, 2), (100, 10), (10**9, n)):
        stats = search(g, 0, device, delta=delta, adapt=False, threads=32, blocks=1)
        # Each phase is one step, however many rounds it takes one block, and a split.
        assert stats["splits"] == -(-n // together) - 1
        assert stats["iterations"] == 2 * stats["splits"] + 1
        assert stats["relaxations"] == n - 1
        assert stats["enqueues"] == n
        assert stats["duplicates"] == 0


def test_one_block_that_has_all_goes_on_alone_and_the_others_do_not_meet_it(device):
    g = weigh(gk.path(200))
    stats = search(g, 0, device, delta=1e9, threads=32)
    assert stats["blocks"] > 5
    assert stats["iterations"] == 1


def test_nothing_is_read_for_the_statistics_before_they_are_asked_for():
    device = ReadingDevice()
    stats = sssp(GRAPHS["road"], 0, METHOD, device, parents=False, threads=32).stats
    assert device.sizes == [GRAPHS["road"].n]
    assert stats["iterations"] > 0
    assert stats["relaxations"] > 0
    assert len(device.sizes) == 2


def test_what_one_block_cannot_hold_is_handed_on(device):
    # 89 leaves are more than a block's fair share, which has 32 threads: all blocks take some.
    g = gk.star(90)
    stats = search(g, 0, device, delta=1e9, threads=32, blocks=6)
    assert stats["iterations"] == 2


def test_more_than_shared_memory_holds_goes_to_the_piles_at_once(device):
    n = ROOM + 500
    g = gk.star(n)
    options = {"adapt": False, "threads": 256, "blocks": 1, "piece": n}
    near = search(g, 0, device, delta=10, **options)
    far = search(g, 0, device, delta=1, **options)
    assert (near["splits"], far["splits"]) == (0, 1)
    assert near["enqueues"] == far["enqueues"] == n


def test_a_far_vertex_that_came_near_is_dropped_and_an_empty_split_goes_on(device):
    # 1 falls far by 100, then near by 6. The first split is at 110, above what is known of the far
    # pile, and finds 1 stale and nothing near; the second is above 200.
    g = gk.Graph.from_arcs(4, [0, 0, 0, 2], [1, 2, 3, 1], [100, 5, 200, 1])
    stats = search(g, 0, device, delta=10, adapt=False)
    assert stats["splits"] == 2
    assert stats["enqueues"] == 5  # 0, 1 twice, 2, 3


def test_a_vertex_that_falls_while_it_waits_is_put_into_its_pile_once(device):
    # The hub's leaves each lead to the last vertex, by less and less.
    leaves = 100
    hub, last = [0] * leaves, [leaves + 1] * leaves
    ends = list(range(1, leaves + 1))
    weights = [1] * leaves + list(range(1000, 1000 - leaves, -1))
    g = gk.Graph.from_arcs(leaves + 2, hub + ends, ends + last, weights)
    for delta in (10, 10_000):
        stats = search(g, 0, device, delta=delta, adapt=False, rounds=1)
        assert stats["enqueues"] == leaves + 2
        assert stats["duplicates"] >= 1


@pytest.mark.parametrize("delta", [1, 25, 1e9])
def test_the_piles_have_room_for_the_worst(device, delta):
    # Every vertex is lowered again and again; all arrays hold n entries and are checked.
    n = 16
    source, target = np.nonzero(~np.eye(n, dtype=bool))
    weight = np.where(target == source + 1, 1, 50 * np.abs(target - source))
    g = gk.Graph.from_arcs(n, source, target, weight)
    search(g, 0, device, delta=delta, adapt=False, threads=32, blocks=2, rounds=1, piece=5)


# --- delta ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["int32", "float32"])
def test_delta_grows_where_steps_are_small_and_nothing_is_taken_twice(device, kind):
    g = weigh(gk.path(60), kind)
    options = {"delta": 2, "fill": 1000, "threads": 32, "blocks": 1}
    first, last = search(g, 0, device, **options)["delta"]
    assert first == 2
    assert last >= 2**8
    assert search(g, 0, device, **options, adapt=False)["delta"] == (2, 2)


@pytest.mark.parametrize("kind", ["int32", "float32"])
def test_delta_shrinks_where_work_is_done_twice_unless_waits_cost_more(device, kind):
    # Chords that are longer than the way around: taken together, all vertices fall many times.
    n, chords = 60, 5
    source = [*range(n - 1), *(u for u in range(n) for _ in range(chords))]
    target = [*range(1, n), *(min(u + 2 + k, n - 1) for u in range(n) for k in range(chords))]
    weight = [2] * (n - 1) + [5 * (k + 2) for _ in range(n) for k in range(chords)]
    g = gk.Graph.from_arcs(n, source, target, np.array(weight, kind))
    options = {"delta": 64, "threads": 32, "blocks": 1, "rounds": 1}
    careful = search(g, 0, device, **options, fill=1)
    greedy = search(g, 0, device, **options, fill=10**6)
    assert careful["delta"][1] < 64 < greedy["delta"][1]
    assert careful["splits"] > greedy["splits"]
    assert careful["relaxations"] < greedy["relaxations"]


def test_delta_weighs_waits_against_vertices_taken_again():
    def after(steps, again):
        return adapted.py_func(8.0, 1.0, 100, steps, again)

    assert [after(4, again) for again in (0, 50, 51, 200, 201)] == [16, 16, 8, 8, 4]
    assert adapted.py_func(1.0, 1.0, 100, 4, 10**6) == 1


def test_a_delta_too_small_for_a_float_still_moves_the_split(device):
    g = gk.Graph.from_arcs(4, [0, 1, 2], [1, 2, 3], np.float32([1e9, 64, 64]))
    assert search(g, 0, device, delta=1e-30, adapt=False)["splits"] == 3


def test_the_default_delta_is_the_mean_weight_by_the_mean_degree(device):
    g = gk.Graph.from_arcs(3, [0, 0, 1, 1, 2, 2], [1, 2, 0, 2, 0, 1], [6, 6, 6, 8, 8, 8])
    assert search(g, 0, device, adapt=False)["delta"] == (4, 4)  # 7 / 2, a whole number
    floats = gk.Graph(g.offsets, g.targets, g.weights.astype(np.float32))
    assert search(floats, 0, device, adapt=False)["delta"] == (3.5, 3.5)


# --- high degrees ---------------------------------------------------------------------------------


@pytest.mark.parametrize("piece", [1, 31, 64])
def test_a_star_is_cut_in_pieces_that_all_warps_share(piece):
    n, threads = 1000, 32
    with gk.trace() as t:
        sssp(weigh(gk.star(n)), 0, METHOD, t.device, piece=piece, threads=threads, blocks=8)
    taken = t.trace.select(array="pieces", function="relax_pieces").requests
    assert np.unique(taken.block).size == min(8, -(-(n - 1) // piece))


def test_a_vertex_of_many_arcs_is_relaxed_as_often_as_it_is_taken(device):
    g = weigh(gk.star(400))
    for piece in (1, 50, 400):
        stats = search(g, 7, device, piece=piece, delta=1e9, threads=32)
        assert stats["relaxations"] == g.m


# --- races and refusals ---------------------------------------------------------------------------


def test_the_plain_look_is_declared_and_there_is_no_other_race(monkeypatch):
    g = weigh(gk.erdos_renyi(150, 6, seed=1))
    for seed in range(3):
        device = gk.SimtDevice(schedule="random", seed=seed, check=True)
        search(g, 0, device, threads=64, blocks=3, piece=5, rounds=2)
    function = search_near_and_far.py_func
    assert function.__benign_races__ == {"word"}
    monkeypatch.setattr(function, "__benign_races__", frozenset())
    with pytest.raises(RaceError, match="word"):
        sssp(g, 0, METHOD, gk.SimtDevice(check=True))


def test_no_more_blocks_are_launched_than_the_device_holds():
    device = gk.SimtDevice()
    device.resident_threads = 100
    assert search(GRAPHS["road"], 0, device, threads=32, blocks=10**6)["blocks"] == 3
    assert search(GRAPHS["road"], 0, device, threads=32)["blocks"] <= 3
