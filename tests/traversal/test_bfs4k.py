"""BFS-4K: every knob off and on, kernels chosen by the rules, and counts as in the trace."""

from __future__ import annotations

import numpy as np
import pytest
from bfs_rules import check_search
from effort import SCHEDULES, every_pair
from reading_device import ReadingDevice

import gpukernels as gk
from gpukernels.device import SimtDevice
from gpukernels.errors import InvalidArgument
from gpukernels.frontiers.duplicates import DUPLICATES
from gpukernels.simt.errors import RaceError
from gpukernels.trace import ATOMIC
from gpukernels.trace.metrics import work_per_thread
from gpukernels.traversal.bfs4k import ahead, child, edge_discover, multi_block, rules, single_block
from gpukernels.traversal.bfs4k.knobs import Knobs
from gpukernels.traversal.bfs4k.large import large_vertices
from gpukernels.traversal.bfs4k.rules import knobs_for

#: Options that send small frontiers to the multi-block kernels, so that small graphs reach them.
MANY = {"single_block": 0}
WARPS = {"single_block": 0, "edge_discover": 0}
#: Options that send every vertex with more than 32 arcs to the child kernel.
CHILD = {"child_share": 0.9, "child_queue": 1, "threads": 32}
AHEAD = {"ahead": True, "duplicates": "bitmap"}
EXACT = ("compare_and_swap", "bitmap")
OPTIONS = {
    "defaults": {},
    "edge-discover": MANY,
    "edge-discover without EXT": MANY | {"extended": False},
    "virtual warps": WARPS,
    "narrow warps": WARPS | {"resident_threads": 32, "min_warp_size": 1},
    "warps of 32 that share their reads": WARPS | {"resident_threads": 1, "min_warp_size": 32},
    "child kernel": WARPS | CHILD,
    "child kernel after edge-discover": MANY | CHILD,
    "single block and child kernel": CHILD,
    "small single block": {"block_threads": 32, "edge_discover": 0, "resident_threads": 128},
    "long child queues": WARPS | CHILD | {"child_queue": 20, "threads": 32},
    "coalesced writes": WARPS | {"coalesce_from": 0, "binary_scan": False},
    "scattered writes": WARPS | {"coalesce_from": 10**6, "binary_scan": False},
    "one slot": {"hash_slots": 1, "block_threads": 64},
    "a fixed warp": WARPS | {"warp_size": 2},
    "ahead": WARPS | AHEAD,
    "ahead with a child kernel": WARPS | CHILD | AHEAD,
    "ahead, sharing reads": WARPS | AHEAD | {"resident_threads": 1, "min_warp_size": 32},
}
every_option = pytest.mark.parametrize("options", OPTIONS.values(), ids=list(OPTIONS))
GRAPHS = {
    "rmat": gk.rmat(scale=6, edge_factor=8, seed=3),
    "road_grid": gk.road_grid(5, 7, seed=1),
    "directed": gk.erdos_renyi(60, 3.0, seed=2, directed=True),
    "star": gk.star(120),
}


def fan(k: int, width: int) -> gk.Graph:
    """A root with k children, each with the same `width` grandchildren: k - 1 duplicates each."""
    source = np.concatenate([np.zeros(k, int), np.repeat(np.arange(1, k + 1), width)])
    target = np.concatenate([np.arange(1, k + 1), np.tile(np.arange(width) + k + 1, k)])
    return gk.Graph.from_arcs(1 + k + width, source, target)


def arcs_loaded(trace, launch: int) -> int:
    """Return the number of arcs that a launch reads."""
    return int(work_per_thread(trace, "targets", launch).sum())


def search(g, root, device, **options):
    result = gk.bfs(g, root, "bfs4k", device, **options)
    check_search(g, root, result.distance, result.parent)
    return result


# --- right, whatever the knobs ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("knobs", "scheduled_device", "name"),
    every_pair(OPTIONS, SCHEDULES, GRAPHS),
    indirect=["scheduled_device"],
)
def test_every_knob_is_right(knobs, scheduled_device, name):
    search(GRAPHS[name], 1, scheduled_device, **({"block_threads": 128} | OPTIONS[knobs]))


@pytest.mark.parametrize(
    ("duplicates", "options", "scheduled_device"),
    every_pair(DUPLICATES, [{"block_threads": 64}, MANY, WARPS | CHILD], SCHEDULES),
    indirect=["scheduled_device"],
)
def test_every_way_to_keep_duplicates_out_is_right(duplicates, options, scheduled_device):
    g = gk.erdos_renyi(120, 6, seed=1)
    stats = search(g, 0, scheduled_device, duplicates=duplicates, **options).stats
    assert stats["duplicates_missed"] == 0 or duplicates not in EXACT
    assert stats["duplicates_detected"] == 0 or duplicates not in (*EXACT, "none")


@every_option
@pytest.mark.parametrize("name", GRAPHS)
def test_counts_are_those_of_the_trace(name, options):
    device = ReadingDevice(trace=True)
    result = gk.bfs(GRAPHS[name], 0, "bfs4k", device, **({"block_threads": 128} | options))
    reads = len(device.sizes) - 2  # distances and parents
    stats, trace = result.stats, device.trace
    assert stats["launches"] == len(trace.launches)
    assert stats["read_backs"] == reads <= stats["launches"]
    assert stats["arcs_inspected"] == sum(arcs_loaded(trace, i) for i in range(len(trace.launches)))
    children = [x for x in trace.launches if x.kernel in ("child_kernel", "child_ahead")]
    assert stats["child_launches"] == len(children)
    sizes = np.bincount(result.distance[result.distance >= 0])
    np.testing.assert_array_equal(stats["frontier_sizes"], sizes + stats["duplicates"])
    assert stats["duplicates_missed"] == sum(stats["duplicates"])
    assert len(stats["kernels"]) == len(stats["warp_sizes"]) == result.levels


# --- the kernel of a level ----------------------------------------------------------------------


def test_kernels_switch_as_the_rules_say(device):
    g = gk.erdos_renyi(800, 4, seed=1)
    stats = search(
        g, 0, device, block_threads=32, single_block=2, resident_threads=400, edge_discover=2
    ).stats
    assert {*stats["kernels"]} == {"single_block", "edge_discover", "multi_block"}
    for size, kernel in zip(stats["frontier_sizes"], stats["kernels"], strict=True):
        if size <= 64:
            assert kernel == "single_block"
        else:
            assert kernel == ("edge_discover" if size < 200 else "multi_block")


def test_a_long_thin_graph_is_searched_in_one_launch(device):
    g = gk.road_grid(8, 60, seed=2)
    result = search(g, 0, device, block_threads=64)
    assert result.levels > 60
    assert result.stats["launches"] == result.stats["read_backs"] == 1
    assert {*result.stats["kernels"]} == {"single_block"}


@pytest.mark.parametrize(("knob", "kernel"), [("edge_discover", "multi_block"),
                                              ("single_block", "edge_discover")])  # fmt: skip
def test_zero_turns_a_kernel_off(knob, kernel, device):
    options = {"single_block": 0, "edge_discover": 2} | {knob: 0}
    assert {*search(gk.path(20), 0, device, **options).stats["kernels"]} == {kernel}


@pytest.mark.parametrize(
    ("frontier", "resident", "low", "expected"),
    [(1, 2048, 4, 32), (64, 2048, 4, 32), (65, 2048, 4, 16), (100, 2048, 4, 16), (129, 2048, 4, 8),
     (500, 2048, 4, 4), (5000, 2048, 4, 4), (5000, 2048, 1, 1), (5000, 2048, 32, 32)],
)  # fmt: skip
def test_the_virtual_warp_is_the_power_of_two_below_threads_per_vertex(
    frontier, resident, low, expected
):
    assert Knobs(min_warp_size=low).virtual_warp(frontier, resident) == expected
    assert Knobs(min_warp_size=low, warp_size=2).virtual_warp(frontier, resident) == 2


def test_as_many_threads_visit_a_level_as_the_formula_says():
    """A star's hub has 32 lanes; its 100 leaves have 4 each, of which one has an arc."""
    device = SimtDevice(trace=True)
    stats = gk.bfs(gk.star(101), 0, "bfs4k", device, resident_threads=512, **WARPS).stats
    assert stats["warp_sizes"] == [32, 4]
    busy = [np.flatnonzero(work_per_thread(device.trace, "targets", level)) for level in (0, 1)]
    np.testing.assert_array_equal(busy[0], np.arange(32))
    np.testing.assert_array_equal(busy[1], 4 * np.arange(100))


def test_the_single_block_chooses_its_warps_by_the_formula():
    device = SimtDevice(trace=True)
    g = gk.star(101)
    gk.bfs(g, 0, "bfs4k", device, block_threads=512)
    # 32 lanes take the hub's 100 arcs, then groups of 4 take 100 leaves with one arc each.
    busy = work_per_thread(device.trace, "targets").ravel()
    by_hand = np.zeros(512, dtype=int)
    np.add.at(by_hand, np.arange(100) % 32, 1)
    by_hand[np.arange(100) * 4] += 1
    np.testing.assert_array_equal(busy, by_hand)


# --- the child kernel ---------------------------------------------------------------------------


def test_the_child_kernel_takes_exactly_the_vertices_above_the_threshold():
    g = gk.rmat(scale=8, edge_factor=8, seed=1)
    for options in (WARPS, MANY, {"block_threads": 32}):
        device = SimtDevice(trace=True)
        result = search(g, 1, device, duplicates="compare_and_swap", **options | CHILD)
        large = (g.out_degree > 32) & (result.distance >= 0)
        assert result.stats["child_above"] == 32
        assert result.stats["child_vertices"] == large.sum() > 5
        visited = [
            arcs_loaded(device.trace, i)
            for i, x in enumerate(device.trace.launches)
            if x.kernel == "child_kernel"
        ]
        assert sum(visited) == g.out_degree[large].sum()


def test_the_threshold_goes_by_the_rank_of_the_degree():
    g = gk.rmat(scale=9, edge_factor=8, seed=1)
    for share in (0.01, 0.03, 0.1):
        chosen = large_vertices(g, Knobs(child_share=share, child_queue=1, threads=32))
        order = np.sort(g.out_degree)[::-1]
        assert chosen.vertices == np.count_nonzero(g.out_degree > chosen.above) > 0
        assert chosen.vertices <= share * g.n
        assert chosen.above == max(order[int(share * g.n)], 32)
    assert large_vertices(g, Knobs(child_share=0)).vertices == 0
    assert large_vertices(g, Knobs(child_share=1.0)).vertices == 0, "none fills 16 x 128 arcs"


def test_a_child_thread_visits_its_queue_of_neighbors():
    device = SimtDevice(trace=True)
    stats = gk.bfs(
        gk.star(1 + 32 * 12), 0, "bfs4k", device, **WARPS | CHILD | {"child_queue": 6}
    ).stats
    launch = [x.kernel for x in device.trace.launches].index("child_kernel")
    work = work_per_thread(device.trace, "targets", launch)
    assert work.size == 2 * 32
    assert np.all(work == 6)
    assert stats["child_vertices"] == 1


def test_ahead_a_lane_reads_four_targets_before_it_claims_the_first():
    """One warp takes the hub of a star, four arcs per lane."""
    order = {}
    for ahead_or_not in (False, True):
        device = SimtDevice(trace=True)
        options = WARPS | {"duplicates": "bitmap", "ahead": ahead_or_not, "warp_size": 32}
        search(gk.star(1 + 128), 0, device, **options)
        requests = device.trace.requests
        names = [device.trace.arrays[a].name for a in requests.array[requests.launch == 0]]
        order[ahead_or_not] = [n for n in names if n in ("targets", "distance", "parent", "bitmap")]
    claims = ["distance", "bitmap", "distance", "parent"]
    assert order[False] == (["targets", *claims]) * 4
    assert order[True] == ["targets"] * 4 + ["bitmap"] * 4 + claims * 4


@pytest.mark.parametrize("arcs", [1, 3, 4, 5, 31, 33, 130])
@pytest.mark.parametrize("lanes", [1, 8, 32])
@pytest.mark.parametrize("resident", [1, 2048])
@pytest.mark.crossed
def test_ahead_of_the_end_no_arc_is_followed(arcs, lanes, resident):
    """Lists end anywhere in a round of four, and the root's list follows the hub's list."""
    source = [0] + [1] * arcs + [2] * 3
    target = [1, *range(4, 4 + arcs), 3, 3, 0]
    g = gk.Graph.from_arcs(4 + arcs, source, target)
    options = WARPS | AHEAD | {"warp_size": lanes, "resident_threads": resident}
    device = SimtDevice(trace=True, check=True)
    stats = search(g, 0, device, **options).stats
    assert stats["arcs_inspected"] == 1 + arcs
    assert sum(arcs_loaded(device.trace, i) for i in range(len(device.trace.launches))) == 1 + arcs


@pytest.mark.parametrize(("arcs", "requests"), [(8, 8), (39, 5 * 8), (40, 2 * 32)])
def test_ahead_short_lists_that_a_warp_has_read_together_get_eight_lanes_each(arcs, requests):
    """32 lists with `degree` arcs each; the warp reads targets for them a certain number of times.

    In a list of 39 arcs, eight lanes have four arcs each, and then one more arc each except the
    last lane; the warp takes four such lists at a time. In a list of 40 arcs, 32 lanes have a round
    in which no lane has a third or fourth arc.
    """
    source = np.concatenate([np.zeros(32, int), np.repeat(np.arange(1, 33), arcs)])
    target = np.concatenate([np.arange(1, 33), 33 + np.arange(32 * arcs)])
    g = gk.Graph.from_arcs(33 + 32 * arcs, source, target)
    device = SimtDevice(trace=True)
    search(g, 0, device, **WARPS | AHEAD | {"resident_threads": 1, "min_warp_size": 32})
    table = device.trace.requests
    names = np.array([array.name for array in device.trace.arrays])
    assert np.sum((table.launch == 1) & (names[table.array] == "targets")) == requests


def test_ahead_goes_by_bits_alone():
    with pytest.raises(
        InvalidArgument, match="ahead = True: must be False unless duplicates='bitmap'"
    ):
        gk.bfs(gk.path(3), 0, "bfs4k", ahead=True)


def test_duplicates_of_a_large_vertex_find_no_room_and_are_visited(scheduled_device):
    """Forty parents find one hub without a cull; the queue has room for the hub's pieces once.

    After this number of large vertices, the host expects no more. But a leaf of the hub is large,
    too: it is found with one more read-back.
    """
    k, leaves = 40, 70
    hub, far = k + 1, k + 2 + leaves
    source = [0] * k + [*range(1, hub)] + [hub] * leaves + [far - 1] * leaves
    target = [*range(1, hub)] + [hub] * k + [*range(hub + 1, far)] + [*range(far, far + leaves)]
    g = gk.Graph.from_arcs(far + leaves, source, target)
    for options in (WARPS, MANY):
        options = options | CHILD | {"duplicates": "none", "capacity": 10**5}
        result = search(g, 0, scheduled_device, **options)
        stats = result.stats
        assert stats["child_above"] == 32
        if getattr(scheduled_device, "schedule", None) == "lockstep":
            assert stats["child_vertices"] > 40
            assert stats["read_backs"] == result.levels + 1


# --- techniques ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("leaves", "rounds"), [(33, 2), (99, 4), (319, 10), (320, 10), (512 + 33, 18)]
)
def test_extended_edge_discover_spares_the_search_of_a_last_round_that_is_not_full(leaves, rounds):
    """One search for a single hub, and one more for each further window of 512 of its arcs."""
    counts = []
    for extended in (False, True):
        device = SimtDevice(trace=True)
        g = gk.star(1 + leaves)
        result = gk.bfs(g, 0, "bfs4k", device, extended=extended, **MANY)
        check_search(g, 0, result.distance, result.parent)
        counts.append(searches(device.trace, 0))
    assert counts == [rounds, 1 + leaves // 512]


def test_a_last_round_that_another_vertex_begins_is_searched():
    """A root with two hubs of 40 arcs each: rounds 0-31, 32-63 and 64-79 of 80 arcs."""
    g = gk.Graph.from_arcs(83, [0, 0, *[1] * 40, *[2] * 40], [1, 2, *range(3, 43), *range(43, 83)])
    device = SimtDevice(trace=True)
    result = gk.bfs(g, 0, "bfs4k", device, **MANY)
    check_search(g, 0, result.distance, result.parent)
    # Lane 31 of the first round has hub 1, which ends in the second; the third is all of hub 2.
    assert searches(device.trace, 1) == 2


def searches(trace, launch: int) -> int:
    """Return the number of searches that the warps of `launch` begin."""
    steps = zip(trace.steps.launch, trace.steps.source, trace.steps.line, strict=True)
    return sum(
        at == launch
        and trace.sources[source].function == "warp_owner"
        and "owner = int32(0)" in trace.text(int(source), int(line))
        for at, source, line in steps
    )


def test_induced_coalescing_writes_side_by_side():
    """One warp takes the hub of a star: each lane holds 12 leaves, and writes touch 4 sectors."""
    touched = {}
    for coalesce_from in (10, 12, 13):
        device = SimtDevice(trace=True)
        g = gk.star(1 + 32 * 12)
        gk.bfs(g, 0, "bfs4k", device, coalesce_from=coalesce_from, **WARPS)
        r = device.trace.requests
        array = [i for i, a in enumerate(device.trace.arrays) if a.name == "next_frontier"]
        rows = np.flatnonzero(np.isin(r.array, array) & (r.launch == 0))
        touched[coalesce_from] = [
            np.unique(r.index[r.start[row] : r.start[row + 1]] // 8).size for row in rows
        ]
    assert touched[10] == touched[12] == [4] * 12, "where queues are as long as the knob, too"
    assert len(touched[13]) == 12
    assert min(touched[13]) > 16


def test_a_warp_draws_room_once_for_what_it_found_at_several_vertices():
    """Four warps take 256 vertices, two per lane, and each lane finds a leaf at each vertex."""
    k, device = 256, SimtDevice(trace=True)
    source = np.concatenate([np.zeros(k, int), np.arange(1, k + 1)])
    g = gk.Graph.from_arcs(2 * k + 1, source, np.arange(1, 2 * k + 1))
    search(g, 0, device, threads=32, resident_threads=32, warp_size=1, single_block=0)
    r = device.trace.requests
    array = [i for i, a in enumerate(device.trace.arrays) if a.name == "next_size"]
    drawn = np.isin(r.array, array) & (r.kind == ATOMIC) & (r.launch == 1)
    assert np.count_nonzero(drawn) == 4


def test_a_ballot_replaces_the_scan_where_no_lane_holds_two(device):
    steps = {}
    for binary in (True, False):
        traced = SimtDevice(trace=True)
        gk.bfs(gk.path(4), 0, "bfs4k", traced, binary_scan=binary, **WARPS)
        steps[binary] = len(traced.trace.steps.line)
    assert steps[True] < steps[False]


def test_hash64_finds_most_duplicates(device):
    """A block of 128 threads finds its own duplicates, and always those within one warp."""
    g = fan(4, 200)
    none = search(g, 0, SimtDevice(), duplicates="none", warp_size=4, single_block=0).stats
    assert none["duplicates_missed"] == 600
    assert none["duplicates_detected"] == 0
    hashed = search(g, 0, SimtDevice(), warp_size=4, single_block=0).stats
    assert hashed["duplicates_made"] == 600
    assert hashed["duplicates_detected"] > 500


def test_a_frontier_that_does_not_fit_is_collected_from_the_distances(scheduled_device):
    g = fan(10, 60)
    for options in (WARPS | {"warp_size": 32}, {"block_threads": 32}):
        stats = search(g, 0, scheduled_device, duplicates="none", **options).stats
        if getattr(scheduled_device, "schedule", None) == "lockstep":
            assert stats["overflows"] > 0
            assert max(stats["frontier_sizes"]) > g.n


# --- races --------------------------------------------------------------------------------------

HUBS = CHILD | {"threads": 64}
KERNELS = {
    "single_block": (single_block.single_block_levels, HUBS | {"block_threads": 64}),
    "multi_block": (multi_block.multi_block_level, WARPS | {"warp_size": 4}),
    "edge_discover": (edge_discover.edge_discover_level, MANY),
    "child": (child.child_kernel, WARPS | HUBS),
    "multi_block ahead": (ahead.multi_block_ahead, WARPS | AHEAD | {"warp_size": 4}),
    "child ahead": (ahead.child_ahead, WARPS | HUBS | AHEAD),
}
DECLARED = [(k, a) for k, (f, _) in KERNELS.items() for a in sorted(f.py_func.__benign_races__)]


@pytest.mark.parametrize(("kernel", "array"), DECLARED)
def test_an_undeclared_race_is_found(kernel, array, monkeypatch):
    """`table` is the view of shared memory that the other culls use."""
    function, options = KERNELS[kernel]
    if array == "table":
        options = options | {"duplicates": "merrill"}
    if array == "bitmap":
        options = options | {"duplicates": "bitmap"}
    if array == "leave":
        g = fan(6, 150)
    elif "child" in kernel:  # two warps of a block take the same leaves
        g = gk.Graph.from_arcs(34, [0] + [1] * 256, [1, *np.tile(np.arange(2, 34), 8)])
    else:
        g = gk.erdos_renyi(200, 6, seed=1)
    declared = function.py_func.__benign_races__
    monkeypatch.setattr(function.py_func, "__benign_races__", declared - {array})
    with pytest.raises(RaceError, match=array):
        try_orders(g, options)


def try_orders(g, options) -> None:
    for seed in range(10):
        gk.bfs(g, 0, "bfs4k", SimtDevice(schedule="random", seed=seed, check=True), **options)


# --- rules and refusals -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("degrees", "knobs"),
    [
        ((2.8, 1.0, 12), (4, 0, 0, 4)),  # roadNet-CA
        ((5.6, 6.5, 456), (4, 0, 1, 4)),  # web-Google
        ((6.3, 7.5, 95), (4, 0, 1, 4)),  # kkt_power
        ((5.2, 50.2, 28754), (32, 0.0015 / 8, 2, 4)),  # com-youtube
        ((7.3, 38.3, 2416), (32, 0.0015 / 8, 2, 4)),  # Gen-ForestFire
        ((12.1, 136.9, 35455), (32, 0.0015 / 8, 2, 4)),  # as-skitter
        ((64.0, 10.6, 183), (32, 0, 0, 0)),  # random.2Mv.128Me
        ((64.0, 136.8, 8785), (32, 0.0015 / 8, 0, 0)),  # rmat.2Mv.128Me
        ((6.0, 3.0, 3000), (4, 0.0015, 0, 4)),
    ],
)
def test_knobs_follow_the_rules(degrees, knobs):
    chosen = knobs_for(*degrees)
    names = ("min_warp_size", "child_share", "edge_discover", "single_block")
    assert tuple(chosen[name] for name in names) == pytest.approx(knobs)
    assert (chosen["child_queue"], chosen["threads"], chosen["coalesce_from"]) == (16, 128, 10)


#: Mean and deviation of Table 1, and their names in section 7; the bounds of `rules` lie between.
LOW_MEANS = {"com-youtube": 5.2, "web-Google": 5.6, "kkt_power": 6.3, "ForestFire": 7.3}
HIGH_MEANS = {"random.2Mv.128Me": 64.0}
MEDIUM = {"web-Google": 6.5, "kkt_power": 7.5}
HIGH = {"ForestFire": 38.3, "com-youtube": 50.2}
HARDLY = {"roadNet-CA": 1.0, "europa.osm": 0.5, "Amazon0505": 3.1}


def test_the_bounds_of_the_rules_lie_between_the_papers_examples():
    assert max(LOW_MEANS.values()) < rules.HIGH_MEAN < min(HIGH_MEANS.values())
    assert max(HARDLY.values()) < rules.MEDIUM_DEVIATION < min(MEDIUM.values())
    assert max(MEDIUM.values()) < rules.HIGH_DEVIATION < min(HIGH.values())
    knobs = Knobs()
    assert knobs.child_queue * knobs.threads == rules.LARGE_DEGREE


def test_a_graph_is_tuned_by_its_degrees(device):
    assert gk.tune_bfs4k(gk.road_grid(10, 10, seed=1))["min_warp_size"] == 4
    assert gk.tune_bfs4k(gk.complete(40))["single_block"] == 0
    assert gk.tune_bfs4k(gk.Graph([0], [])) == knobs_for(0, 0, 0)
    for g in (gk.star(400), gk.kron(7, 12, seed=1)):
        search(g, 0, device, **gk.tune_bfs4k(g))


def test_a_single_block_leaves_room_for_the_cull(device):
    g = gk.path(40)
    search(g, 0, device, single_block=5)
    search(g, 0, device, single_block=3, duplicates="merrill")
    with pytest.raises(gk.InvalidArgument, match="single_block"):
        gk.bfs(g, 0, "bfs4k", device, single_block=4, duplicates="merrill")


def hubs(count: int, leaves: int) -> gk.Graph:
    """A chain of hubs, each with leaves of its own: every level holds a vertex of high degree."""
    hub = (leaves + 1) * np.arange(count)
    source = np.concatenate([np.repeat(hub, leaves), hub[:-1]])
    target = np.concatenate([(hub[:, None] + 1 + np.arange(leaves)).ravel(), hub[1:]])
    return gk.Graph.from_arcs(count * (leaves + 1), source, target)


@pytest.mark.parametrize("hub_every_level", [True, False])
def test_a_block_that_comes_back_for_the_child_kernel_costs_no_read_back_more(hub_every_level):
    g = hubs(6, 40)
    if not hub_every_level:
        # A path leads to the first hub. Its levels in the single block need no read-back.
        path = np.arange(g.n, g.n + 5)
        source, target = g.coo
        g = gk.Graph.from_arcs(
            g.n + 5,
            np.concatenate([source, path]),
            np.concatenate([target, path[1:], [0]]),
        )
    root = 0 if hub_every_level else g.n - 5
    result = gk.bfs(g, root, "bfs4k", child_share=1.0, child_queue=1, threads=32)
    check_search(g, root, result.distance, result.parent)
    assert result.stats["child_vertices"] == 6
    assert result.stats["read_backs"] <= result.levels
    # If no read-back was saved, the block is tried again after the last hub.
    assert ("single_block" in result.stats["kernels"][:6]) != hub_every_level


@pytest.mark.parametrize("duplicates", ["none", "warp_culling", "history_culling", "hash64"])
@pytest.mark.parametrize(
    ("width", "options"),
    [(40, {}), (24, {"child_queue": 1, "threads": 32, "child_share": 0.05})],
    ids=["more than the block takes", "a vertex for the child kernel"],
)
def test_a_frontier_with_more_duplicates_than_vertices_leaves_the_block(
    scheduled_device, width, options, duplicates
):
    """The frontier may fit into the block's shared memory, but never into the global queue."""
    layer = np.arange(1, width + 1)
    source = [np.zeros(width, int), np.repeat(layer, width)]
    target = [layer, np.tile(layer + width, width)]
    n = 1 + 2 * width
    if options:
        source.append(np.full(40, 1 + width))
        target.append(n + np.arange(40) % 3)
        n += 3
    g = gk.Graph.from_arcs(n, np.concatenate(source), np.concatenate(target))
    slots = {"hash_slots": 1} if duplicates == "hash64" else {}
    result = gk.bfs(g, 0, "bfs4k", scheduled_device, duplicates=duplicates, **options, **slots)
    check_search(g, 0, result.distance, result.parent)
