"""The chapter on search by frontiers agrees with counters and with measured times."""

from __future__ import annotations

import numpy as np
import pytest

import gpukernels as gk
from gpukernels.notebook import record
from gpukernels.notebook.searches import sectors_moved
from gpukernels.simt.errors import RaceError
from gpukernels.trace import metrics


def test_starts_that_end_soonest(counted, page):
    played = counted.played
    ends = {v: len(of.trace.launches) for v, of in played.items()}
    (vertices,) = np.nonzero(counted.search.distance == 9)
    source, target = counted.town.coo
    before = counted.search.distance[source] == 8
    assert [np.sum(before & (target == v)) for v in vertices] == [2, 2, 2]
    assert counted.search.stats["frontier_sizes"][9] == 18
    for corner, of in played.items():
        assert np.array_equal(of.result.distance, gk.reference.bfs(counted.town, corner).distance)
    assert (min(ends, key=ends.get), ends[15], ends[0]) == (15, 6, 11)
    page.says("after 6 levels, from vertex 15", "yet the distances are right")


def test_threads_that_ask(counted, page):
    assert list(counted.asking.values()) == [(16, 3), (128, 10), (38, 10), (3, 3)]
    page.says(
        "With `harish`, 16 threads run and 3 of them have an arc to follow",
        "With `frontier`, only these 3 threads run",
    )


def test_every_search_is_right(counted):
    g = counted.g
    one_core = gk.reference.bfs(g, root=0)
    assert all(
        np.array_equal(result.distance, one_core.distance) for result, _ in counted.four.values()
    )
    assert (g.m, one_core.levels) == (38, 6)
    for (name, method), (result, _) in counted.runs.items():
        assert np.array_equal(result.distance, counted.cpu[name].distance), (name, method)


def test_exact_counts_of_loads(counted, page):
    cpu, graphs = counted.cpu, counted.graphs
    loads = counted.counted
    for (name, method), (checks, arcs) in loads.items():
        n, m, levels = graphs[name].n, graphs[name].m, cpu[name].levels
        seen = cpu[name].distance >= 0
        reached, leaving = seen.sum(), graphs[name].out_degree[seen].sum()
        if method == "harish":
            assert (checks, arcs) == (n * levels, leaving)
        elif method == "virtual_warp":
            assert (checks, arcs) == (8 * n * levels, leaving)
        elif method == "edge_parallel":
            assert (checks, arcs) == (m * levels, m * levels)
        else:
            assert checks > reached
            assert arcs > leaving
    entries, arcs = loads["road", "frontier"]
    assert (entries, arcs) == (27_734, 79_913)
    assert graphs["road"].m == 2_868
    assert round(arcs / graphs["road"].m) == 28
    page.says("reads 79,913 arcs in lockstep. The graph has 2,868 arcs, so each is read 28 times")
    assert entries + arcs > sum(loads["road", "harish"])
    light = [min(counted.METHODS, key=lambda m: sum(loads[name, m])) for name in graphs]
    assert light == ["frontier", "frontier", "harish"]


def test_what_the_warps_did(counted, page):
    METHODS, graphs = counted.METHODS, counted.graphs
    counters = counted.warps_did
    for name in graphs:
        assert 86.5 < counters[name, "edge_parallel"]["SIMD efficiency"] < 91.5
        assert 10 < counters[name, "harish"]["SIMD efficiency"] < 29.5
        useful = {method: counters[name, method]["useful bytes"] for method in METHODS}
        assert max(useful, key=useful.get) == "edge_parallel"
    page.says("at least 87% full with `edge_parallel` and at most 29% with `harish`")
    steps, ncu = (
        [counters["rmat", m][c] for m in METHODS] for c in ("warp steps", "instructions, H200")
    )
    assert steps[1] < steps[0]
    assert sorted(ncu) == [ncu[k] for k in (2, 3, 0, 1)]
    assert [round(ncu[k] / steps[k]) for k in (0, 1)] == [11, 20]
    page.says("a step of `virtual_warp` became 20 instructions, and a step of `harish` 11")
    fewest = [min(METHODS, key=lambda m: counters[name, m]["sectors"]) for name in graphs]
    assert fewest == ["virtual_warp", "virtual_warp", "harish"]
    assert (
        3.4
        < counters["road", "edge_parallel"]["sectors"] / counters["road", "harish"]["sectors"]
        < 3.5
    )
    assert round(counters["road", "harish"]["sectors / request"], 1) == 1.6
    assert np.mean(np.bitwise_count(counted.runs["road", "harish"][1].requests.mask) <= 2) > 0.8


def test_one_heavy_vertex(counted, page):
    options = {"warp_size": 32, "threads": 32}
    widest = gk.traced(gk.bfs, counted.heavy, 0, "virtual_warp", **options).trace
    one, four, eight, all_lanes = (
        metrics.per_warp(trace.steps, trace.launches[1])
        for trace in (*counted.groups.values(), widest)
    )
    assert 14 == all_lanes.max() < 28 == eight.max() < four.max() < one.max() == 157
    assert 58 == four.sum() < eight.sum() < one.sum() < all_lanes.sum() == 198
    page.says(
        "takes 157 steps",
        "the longest warp takes 28 steps. (With 32, not in the figure, it would take 14.)",
        "take 58 steps",
        "198 with 32",
    )


def test_the_size_of_groups(counted, page):
    SIZES, graphs, sweep = counted.SIZES, counted.graphs, counted.sweep
    best = [min(SIZES, key=lambda size: sweep[name, size]["steps"]) for name in graphs]
    fullest = [max(SIZES, key=lambda size: sweep[name, size]["loop"]) for name in graphs]
    assert (best, fullest) == ([4, 1, 1], [32, 8, 4])
    loops = {name: [sweep[name, size]["loop"] for size in SIZES] for name in graphs}
    assert loops["rmat"] == sorted(loops["rmat"])
    assert max(map(max, loops.values())) < 0.3
    assert 0.975 < sweep["road", 32]["all"] < 0.985
    assert 11 < sweep["road", 32]["steps"] / sweep["road", 1]["steps"] < 12
    page.says("98% of the lanes are busy at size 32, with 11 times the steps of size 1")
    for size in (1, 8, 32):
        result, trace = gk.traced(gk.bfs, graphs["road"], 0, "virtual_warp", warp_size=size)
        launch = trace.launches[0]
        assert launch.blocks * launch.threads_per_block == graphs["road"].n * size
        assert np.array_equal(result.distance, counted.cpu["road"].distance)


def test_diamonds_double(counted):
    result = gk.bfs(counted.diamonds, 0, "frontier", gk.SimtDevice())
    assert result.stats["frontier_sizes"] == [1, 2, 2, 4, 4, 8, 8, 16, 16]
    assert counted.entries_at_the_end(4, 2) == 16
    assert (counted.five, counted.three) == (2**5, 3**4)


def test_who_makes_duplicates(counted, page):
    graphs, duplicates, total = counted.graphs, counted.made, counted.total
    for name, count in duplicates.items():
        assert count["same parent"] + count["new parent"] == total[name]
    percent = [round(100 * duplicates[name]["same request"] / total[name]) for name in graphs]
    assert percent[1:] == [84, 97]  # the small world, the road
    assert (duplicates["road"]["same parent"], duplicates["road"]["new parent"]) == (29_759, 111)
    page.says(
        "97% of the duplicates on the road graph and 84% in the small world",
        "29,759 of 29,870 duplicates have the same parent",
        "In only 111 cases",
    )
    result, trace = counted.runs["road", "frontier"]
    queued, again = result.stats["frontier_sizes"], result.stats["duplicates"]
    room = {info.shape[0] for info in trace.arrays if info.name == "next_frontier"}
    assert (sum(queued), total["road"]) == (30_894, 29_870)
    page.says("1,024 vertices became 30,894 entries")
    assert room == {graphs["road"].m} == {2_868}
    assert [level for level, entries in enumerate(queued) if entries > 2_868] == [43]
    assert (queued[43], queued[43] - again[43], counted.level_sizes("road")[43]) == (3_192, 32, 32)
    page.says("At level 43 they no longer fit the queue")
    assert sum(queued) - again[43] == counted.counted["road", "frontier"][0] == 27_734


def test_schedules(counted, page):
    ends = counted.ends
    graphs = counted.graphs
    parents = counted.parents
    rows = counted.after("53b80763").rows
    lockstep, warp, random = (row[1:] for row in rows)
    assert lockstep == [18, 654, 29_870]
    assert 19.4 < lockstep[2] / random[2] < 19.6
    assert lockstep[2] / warp[2] > 10
    for name in graphs:
        assert np.any(parents[name, "lockstep"] != parents[name, "random"])
    for seed in (1, 2):
        result, trace = gk.traced(
            gk.bfs, graphs["road"], 0, "frontier", schedule="random", seed=seed
        )
        assert np.array_equal(result.distance, counted.cpu["road"].distance)
        assert sum(counted.work("frontier", trace)) < 0.25 * sum(counted.counted["road", "harish"])
        assert sectors_moved(trace) < counted.warps_did["road", "harish"]["sectors"]
    assert ends == [(95, 107), (1_156, 1_214), (2_413, 3_787)]
    assert len(set(zip(*counted.kept["duplicates_1024"].values(), strict=True))) == 6
    page.says("an NVIDIA {term}`H200` (November 2026) gave six different sets of numbers")
    assert all(ends[k][0] > max(row[k] for row in (lockstep, warp, random)) for k in (0, 1))
    assert round(ends[2][0] / lockstep[2], 1) == round(ends[2][1] / lockstep[2], 1) == 0.1
    page.says("a tenth of lockstep's duplicates, the other two graphs more than under any schedule")


def test_a_kernel_without_its_declaration(counted):
    g = counted.g
    distance = np.where(np.arange(g.n) == 0, 0, -1).astype(np.int32)
    with pytest.raises(RaceError, match=r"thread \(1, 0, 0\)\s+reads"):
        gk.SimtDevice(check=True).launch(
            counted.undeclared, 1, 32, g.offsets, g.targets, distance, 0
        )


def test_threads_that_are_needed(counted, page):
    rows, runs = counted.after("2457af79").rows, counted.runs
    for result, trace in runs.values():
        assert len(trace.launches) == result.stats["launches"] >= result.levels
    assert runs["road", "frontier"][0].stats["launches"] == 64
    assert next(row[2:] for row in rows if row[0] == "road: harish") == (1_024, 16)
    page.says("has 16 vertices on average, and `harish` launches 1,024 threads")


def test_spoiled_answers_break_a_rule(counted, page):
    broken_rules = counted.broken_rules
    road, right = counted.graphs["road"], counted.cpu["road"]
    v = np.argmax(right.distance)
    stranger = np.flatnonzero(right.distance == right.distance[v] - 1)[0]
    harm = {
        "root moved": ("distance", 0, 1),
        "parent lost": ("parent", v, -1),
        "distance one too long": ("distance", v, right.distance[v] + 1),
        "parent without an arc": ("parent", v, stranger),
    }
    for change, (array, at, value) in harm.items():
        wrong = {"distance": right.distance.copy(), "parent": right.parent.copy()}
        wrong[array][at] = value
        assert broken_rules(road, 0, **wrong), change
    island = gk.Graph.from_arcs(3, [1], [2])  # 2 claims distance 0 by 1, which nobody reached
    fake = np.array([0, -1, 0], np.int32), np.array([0, -1, 1], np.int32)
    assert broken_rules(island, 0, *fake) == [3]
    page.says("each of five wrong answers breaks a rule")


def test_times(cells, page):
    METHODS = cells.METHODS
    calls, kernels = (
        {
            (row["graph"], row["n"]): record.by_search(row, figure)
            for row in record.kept("frontier_bfs")["times"]
        }
        for figure in ("call_ms", "kernel_ms")
    )
    wins = {}
    for key, ms in calls.items():
        gpu = min(ms[method] for method in METHODS)
        wins[key] = [round(ms[cores] / gpu, 1) for cores in ("sequential", "all cores")]
    names = "rmat", "small world", "road"
    assert all(min(wins[name, 1 << 16]) < 1 for name in names)
    page.says("With 65,536 vertices the faster of the two searches on the CPU wins on every graph")
    assert [wins[name, 1 << 20] for name in names[:2]] == [[30.7, 1.5], [27.9, 2.5]]
    page.says("a factor of 31 on rmat and 28 on the small world")
    page.says("all 16 cores only by 1.5 and 2.5")
    rmat, small, road = (kernels[name, 1 << 20] for name in names)
    order = ["edge_parallel", "virtual_warp", "harish", "frontier"]
    assert sorted(METHODS, key=rmat.get) == order
    assert [round(rmat[m], 1) for m in order] == [0.6, 5.6, 19.6, 30.5]
    page.says("take 0.6 ms. `virtual_warp`, `harish` and `frontier` take longer", "up to 31 ms")
    assert sorted(METHODS, key=small.get)[::3] == ["frontier", "edge_parallel"]
    assert min(METHODS, key=road.get) == "frontier"
    page.says("On the small world `frontier` is first and `edge_parallel` last")


def test_times_rank_as_loads_do(counted, page):
    METHODS = counted.METHODS
    kernels = {
        (row["graph"], row["n"]): record.by_search(row, "kernel_ms")
        for row in record.kept("frontier_bfs")["times"]
    }
    for name, methods in (("small world", METHODS), ("road", METHODS.keys() - {"frontier"})):
        loads = {method: sum(counted.counted[name, method]) for method in methods}
        assert sorted(methods, key=kernels[name, 1 << 20].get) == sorted(methods, key=loads.get)
    page.says("in the order of {ref}`the loads <bfs-work>`")
    assert round(counted.total["road"] / 1024) == 29
    page.says("makes only 1.2 to 1.3 duplicates per vertex", "with 1,024 in lockstep it made 29")


def test_times_on_the_road(cells, page):
    road = next(row for row in record.kept("frontier_bfs")["times"][3:] if row["graph"] == "road")
    copies = [duplicates / road["n"] for duplicates in road["duplicates"]]
    assert 1.15 < min(copies) < max(copies) < 1.3
    kernels, calls = (record.by_search(road, figure) for figure in ("kernel_ms", "call_ms"))
    ends = [
        round(end([ms[m] for m in cells.METHODS])) for ms in (kernels, calls) for end in (min, max)
    ]
    assert ends == [16, 89, 176, 226]
    page.says("the kernels take at most 89 ms, but each whole call at least 176 ms")
    assert road["levels"] == 2_050
    assert round(calls["sequential"]) == 32 < calls["all cores"]
    page.says("a launch and a flag for each of 2,050 levels. One core needs 32 ms")
    other = next(row for row in record.kept("bfs")["times"] if row["graph"] == "road")
    assert (other["levels"], other["n"]) == (2_002, 950 * 1_053)
    assert record.kept("bfs")["date"] != record.kept("frontier_bfs")["date"]
    page.says("is another one, with 2,002 levels, and was timed on another day")


def test_wrong_distances_of_exercise_3(cells):
    wrong = record.kept("frontier_bfs")["wrong_distances_of_bfs_3"]
    assert not any(sum(runs) for runs in wrong["2**10 vertices"].values())
    medians = [round(np.median(runs), -3) for runs in wrong["2**20 vertices"].values()]
    assert medians == [27_000, 396_000, 0]
