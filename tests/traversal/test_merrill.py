"""Merrill's three searches: all options are right, and the counts agree with the trace."""

from __future__ import annotations

import numpy as np
import pytest
from bfs_rules import check_search
from diamonds import diamonds
from effort import SCHEDULES, every_pair, examples
from hypothesis import given
from hypothesis import strategies as st
from numba import cuda
from reading_device import ReadingDevice, SmallDevice

import gpukernels as gk
from gpukernels.device import CudaDevice, SimtDevice, default_device
from gpukernels.frontiers.duplicates import DUPLICATES
from gpukernels.frontiers.enqueue import ALONE, draw_room
from gpukernels.trace import ATOMIC, LOAD, STORE
from gpukernels.trace.metrics import work_per_thread

SEARCHES = ("expand_contract", "contract_expand", "two_phase")
EXACT = ("compare_and_swap", "bitmap")
searches = pytest.mark.parametrize("method", SEARCHES)


def funnel(k: int, leaves: int) -> gk.Graph:
    """A root, k vertices, a hub that all of them reach, and its leaves."""
    hub = k + 1
    source = np.concatenate([np.zeros(k, int), np.arange(1, k + 1), np.full(leaves, hub)])
    target = np.concatenate(
        [np.arange(1, k + 1), np.full(k, hub), np.arange(hub + 1, hub + 1 + leaves)]
    )
    return gk.Graph.from_arcs(hub + 1 + leaves, source, target)


GRAPHS = {
    "rmat": gk.rmat(scale=6, edge_factor=6, seed=3),
    "road_grid": gk.road_grid(4, 6, seed=1),
    "funnel": funnel(40, 70),
}


# --- right --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "duplicates", "bitmask", "name", "scheduled_device"),
    every_pair(SEARCHES, DUPLICATES, (True, False), GRAPHS, SCHEDULES),
    indirect=["scheduled_device"],
)
def test_every_choice_is_right(method, duplicates, bitmask, name, scheduled_device):
    g, options = GRAPHS[name], {"duplicates": duplicates, "bitmask": bitmask, "threads": 64}
    result = gk.bfs(g, 0, method, scheduled_device, **options)
    check_search(g, 0, result.distance, result.parent)
    check_counts(g, result, duplicates)


@pytest.mark.parametrize(
    ("method", "duplicates", "schedule"),
    every_pair(SEARCHES, DUPLICATES, ["lockstep", "warp", "random"]),
)
def test_blocks_that_take_many_portions_are_right(method, duplicates, schedule):
    g = gk.rmat(scale=7, edge_factor=6, seed=4)
    device = SmallDevice(schedule=schedule, seed=1, check=True)
    result = gk.bfs(g, 0, method, device, duplicates=duplicates, threads=32, cta_threshold=40)
    check_search(g, 0, result.distance, result.parent)
    check_counts(g, result, duplicates)


@examples(40, soak=1000)
@given(data=st.data())
def test_right_on_random_graphs(data):
    n = data.draw(st.integers(1, 40), "n")
    ends = st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=150)
    arcs = np.array(data.draw(ends, "arcs"), dtype=np.int32).reshape(-1, 2)
    g = gk.Graph.from_arcs(n, arcs[:, 0], arcs[:, 1], directed=data.draw(st.booleans(), "directed"))
    root = data.draw(st.integers(0, n - 1), "root")
    device = default_device()
    if not isinstance(device, CudaDevice):
        schedule = data.draw(st.sampled_from(["lockstep", "warp", "random"]), "schedule")
        kind = data.draw(st.sampled_from([SimtDevice, SmallDevice]), "device")
        device = kind(schedule=schedule, seed=data.draw(st.integers(0, 9)), check=True)
    options = {
        "duplicates": data.draw(st.sampled_from(sorted(DUPLICATES)), "duplicates"),
        "bitmask": data.draw(st.booleans(), "bitmask"),
        "threads": data.draw(st.sampled_from([32, 96]), "threads"),
        "cta_threshold": data.draw(st.sampled_from([None, 32, 64]), "cta_threshold"),
    }
    result = gk.bfs(g, root, data.draw(st.sampled_from(SEARCHES), "method"), device, **options)
    check_search(g, root, result.distance, result.parent)
    check_counts(g, result, options["duplicates"])


def check_counts(g, result, duplicates):
    """Raise AssertionError if the statistics contradict the distances or each other."""
    stats, reached = result.stats, result.distance[result.distance >= 0]
    sizes = np.bincount(reached)
    assert result.levels == sizes.size
    np.testing.assert_array_equal(stats["frontier_sizes"], sizes + stats["duplicates"])
    assert min(stats["duplicates"]) >= 0
    assert stats["duplicates_missed"] == sum(stats["duplicates"])
    assert stats["duplicates_made"] == stats["duplicates_detected"] + stats["duplicates_missed"]
    once = int(g.out_degree[result.distance >= 0].sum())
    assert stats["arcs_inspected"] >= once
    if duplicates in EXACT:
        assert stats["duplicates_made"] == stats["overflows"] == 0
        assert stats["arcs_inspected"] == once
    if duplicates == "none":
        assert stats["duplicates_detected"] == 0


# --- counts -------------------------------------------------------------------------------------


def touched(trace, array: str, kind: int) -> int:
    """Return the number of elements of `array` that all launches load, store or update."""
    table = trace.select(array=array).requests
    return int(np.count_nonzero(table.kind[table.lane_row()] == kind))


@pytest.mark.parametrize(
    ("method", "duplicates", "name"),
    every_pair(SEARCHES, ["none", "hash64", "merrill", "bitmap"], GRAPHS),
)
def test_duplicates_are_those_that_the_trace_shows(method, duplicates, name):
    """Each thread that sees a vertex as new stores its distance; several threads may do so."""
    g = GRAPHS[name]
    with gk.trace() as t:
        result = gk.bfs(g, 0, method, duplicates=duplicates)
    vertices = result.reached - (method != "contract_expand")  # it finds its root by a contraction
    claims = touched(t.trace, "distance", STORE)
    assert result.stats["duplicates_made"] == claims - vertices


@searches
@pytest.mark.parametrize("name", GRAPHS)
def test_launches_and_read_backs_are_those_of_the_trace(method, name):
    g, device = GRAPHS[name], ReadingDevice(trace=True)
    result = gk.bfs(g, 0, method, device, duplicates="compare_and_swap", threads=32)
    stats = result.stats
    assert stats["launches"] == len(device.trace.launches)
    # The distances and the parents are read after the search.
    assert stats["read_backs"] == len(device.sizes) - 2
    # The last frontier may have arcs. In contract-expand they need a launch that finds nothing.
    more = g.out_degree[result.distance == result.levels - 1].any()
    if method == "expand_contract":
        assert stats["launches"] == stats["read_backs"] == result.levels
    elif method == "contract_expand":
        assert stats["launches"] == stats["read_backs"] == result.levels + more
    else:
        assert stats["launches"] == 2 * stats["read_backs"] == 2 * (result.levels - 1 + more)


@pytest.mark.parametrize("method", ["contract_expand", "two_phase"])
@pytest.mark.parametrize("name", GRAPHS)
def test_edge_frontiers_hold_the_arcs_that_leave_a_level(method, name):
    g = GRAPHS[name]
    result = gk.bfs(g, 0, method, duplicates="bitmap")
    reached = result.distance >= 0
    arcs = np.bincount(result.distance[reached], weights=g.out_degree[reached])
    assert result.stats["edge_frontier_sizes"] == arcs[arcs > 0].astype(int).tolist()


def test_vertex_frontiers_alone_make_no_edge_frontier():
    assert "edge_frontier_sizes" not in gk.bfs(GRAPHS["rmat"], 0, "expand_contract").stats


@searches
def test_a_level_costs_what_its_frontier_costs(method):
    """No O(V) work per level: a path of twice the length takes twice as many threads."""
    lengths = np.array([20, 40, 80])
    stats = [gk.bfs(gk.path(int(k)), 0, method).stats for k in lengths]
    threads = np.array([s["threads"] for s in stats])
    assert np.ptp(threads / lengths) < 0.05 * threads[0] / lengths[0]
    assert threads[0] / lengths[0] < 4
    assert {s["overflows"] for s in stats} == {0}


# --- duplicates ---------------------------------------------------------------------------------


@searches
def test_culls_leave_fewer_duplicates(method):
    """On the machine in lockstep, Merrill's two culls together miss no more than one of them."""
    g = gk.rmat(scale=9, edge_factor=8, seed=1)
    machine = SimtDevice("lockstep")
    stats = {how: gk.bfs(g, 0, method, machine, duplicates=how).stats for how in DUPLICATES}
    missed = {how: s["duplicates_missed"] for how, s in stats.items()}
    assert missed["bitmap"] == missed["compare_and_swap"] == 0 < missed["merrill"]
    assert missed["merrill"] <= min(missed["warp_culling"], missed["history_culling"])
    assert max(missed["merrill"], missed["hash64"]) < missed["none"]
    assert stats["bitmap"]["arcs_inspected"] < stats["none"]["arcs_inspected"]


def test_a_cull_reaches_as_far_as_its_table():
    """All warps read at once: a larger block helps the table of the block, not those of warps."""
    g = gk.road_grid(40, 40, seed=1)
    missed = {
        how: [
            gk.bfs(
                g, 0, "contract_expand", SimtDevice("lockstep"), duplicates=how, threads=threads
            ).stats["duplicates_missed"]
            for threads in (32, 128, 512)
        ]
        for how in ("none", "warp_culling", "hash64")
    }
    assert len(set(missed["none"])) == len(set(missed["warp_culling"])) == 1
    assert missed["none"][0] > 10 * missed["warp_culling"][0]
    assert missed["hash64"] == sorted(missed["hash64"], reverse=True)
    assert missed["hash64"][0] > 10 * missed["hash64"][2]


@searches
def test_what_does_not_fit_is_collected_afresh(method):
    """In diamonds, duplicates double from level to level, until the queues are full."""
    g = diamonds(30)
    result = gk.bfs(g, 0, method, SimtDevice(check=True), duplicates="none", threads=256)
    check_search(g, 0, result.distance, result.parent)
    stats = result.stats
    assert stats["overflows"] > 0
    assert max(stats["frontier_sizes"]) > g.n or method != "expand_contract"
    assert stats["read_backs"] <= result.levels + 1 + stats["overflows"]
    per_level = 2 if method == "two_phase" else 1
    assert (
        stats["launches"]
        == per_level * (stats["read_backs"] - stats["overflows"]) + (stats["overflows"])
    )


@searches
@pytest.mark.parametrize("duplicates", ["none", "merrill"])
def test_arcs_are_counted_where_a_level_does_not_fit(method, duplicates):
    g = diamonds(12)
    with gk.trace() as t:
        stats = gk.bfs(g, 0, method, duplicates=duplicates).stats
    loaded = touched(t.trace, "targets", LOAD)
    assert stats["arcs_inspected"] == loaded
    assert (stats["overflows"] > 0) == (duplicates == "none")


@searches
def test_a_hub_that_many_find_at_once(method):
    """Two warps hold a vertex with many arcs: each kept copy reserves room for itself.

    The second warp comes after the first has marked the vertex, and keeps no copy.
    """
    g = funnel(33, ALONE + 5)
    for duplicates in ("none", "merrill"):
        device = SimtDevice(schedule="warp", check=True)
        result = gk.bfs(g, 0, method, device, duplicates=duplicates, threads=64)
        np.testing.assert_array_equal(np.bincount(result.distance), [1, 33, 1, ALONE + 5])
        if method != "expand_contract":  # its queue holds copies of the hub, not of its arcs
            assert (result.stats["overflows"] > 0) == (duplicates == "none")


# --- the parts' purposes ------------------------------------------------------------------------


@searches
def test_the_bitmask_spares_reads_of_distances(method):
    g = gk.rmat(scale=8, edge_factor=8, seed=1)
    reads, arcs = {}, {}
    for bitmask in (True, False):
        with gk.trace() as t:
            stats = gk.bfs(g, 0, method, bitmask=bitmask, duplicates="compare_and_swap").stats
        reads[bitmask] = touched(t.trace, "distance", LOAD)
        arcs[bitmask] = stats["arcs_inspected"]
    assert arcs[True] == arcs[False] <= reads[False]
    assert reads[True] < 0.95 * reads[False]


@searches
def test_a_hub_is_spread_over_the_block(method):
    with gk.trace() as t:
        gk.bfs(gk.star(500), 0, method, threads=32)
    trace = t.trace
    launches = range(len(trace.launches))
    largest = max(work_per_thread(trace, "targets", i).max() for i in launches)
    assert largest == np.ceil(499 / 32)


@cuda.jit
def draw(count, place, next_size):
    """Reserve room for the `count` of every thread, twice in the same memory."""
    i = cuda.grid(1)
    for turn in range(2):
        place[turn, i] = draw_room(count[i], next_size, 1)


@pytest.mark.parametrize("most", [0, 1, 9, ALONE, ALONE + 1, 2**31 - 1])
def test_rooms_do_not_overlap_and_leave_no_gap(most, scheduled_device):
    """This holds even if the sizes add up to more than 32 bits can count."""
    count = np.random.default_rng(1).integers(0, most, 128, endpoint=True).astype(np.int32)
    place = scheduled_device.empty((2, 128), np.int64)
    next_size = scheduled_device.full(3, 0, np.int64)
    scheduled_device.launch(draw, 2, 64, scheduled_device.array(count), place, next_size)
    place = scheduled_device.read(place).reshape(-1)
    count = np.tile(count.astype(np.int64), 2)
    rooms = sorted((p, p + c) for p, c in zip(place, count, strict=True) if c)
    assert [begin for begin, _ in rooms[1:]] == [end for _, end in rooms[:-1]]
    assert not rooms or rooms[0][0] == 0
    assert scheduled_device.read(next_size).tolist() == [0, count.sum(), 0]


@searches
def test_one_atomic_a_block_makes_room(method):
    """Two warps find the leaves of a star, and one block enqueues them."""
    g = gk.Graph.from_arcs(51, np.zeros(50, int), np.arange(1, 51))
    with gk.trace() as t:
        gk.bfs(g, 0, method, threads=64)
    first = t.trace.select(launch=0)
    drawn = touched(first, "next_size", ATOMIC)
    # One for the room of the 50 leaves, and one more if the launch also counts vertices or arcs.
    assert drawn == {"expand_contract": 2, "contract_expand": 2, "two_phase": 1}[method]
