"""The chapter on duplicates agrees with counters and with measured times."""

from __future__ import annotations

import numpy as np

import gpukernels as gk
from gpukernels.exercises.tasks.duplicates import diamonds
from gpukernels.notebook import record
from gpukernels.trace import STORE, metrics


def test_a_filter_and_an_atomic_on_a_town(counted, page):
    stats = counted.searches["hash64"][0].stats
    assert (stats["duplicates_detected"], stats["duplicates_missed"]) == (13, 6)
    assert np.flatnonzero(stats["duplicates"])[0] == 3  # found at level 2
    unfiltered = counted.searches["no filter"][0]
    assert np.flatnonzero(unfiltered.distance == 10).tolist() == [35]
    assert unfiltered.stats["frontier_sizes"][10] == 15
    page.says("drops 13 entries, but 6 still slip through", "36 corners make 36 entries")


def test_entries_stay_below_the_number_of_shortest_paths(counted, page):
    queue, road = counted.queue, counted.road
    chain = diamonds(10)
    for g in (road, chain):
        result, trace = counted.traced(g, "frontier")
        bound = counted.shortest_paths(g, result.distance)
        # Every entry is read by one thread.
        read = trace.select(array="frontier").requests
        entries = np.bincount(read.value.astype(int), minlength=g.n)
        assert np.all(entries <= bound)
        assert result.stats["overflows"] == 0
    assert np.array_equal(entries, bound)  # on the chain, the bound is reached
    assert counted.paths.max() > 1e8
    assert max(queue) == 4_040
    assert counted.vertices.max() == 36
    assert (sum(queue), round(sum(queue) / road.n)) == (75_182, 73)
    page.says("75,182 entries for 1,024 corners are 73 for each", "counted 30,894")
    assert sum(gk.bfs(road, 0, "frontier", gk.SimtDevice()).stats["frontier_sizes"]) == 30_894


def words_read(trace):
    """For each read of hash64: the launch, the vertex, what the lane read, and whether it would
    read its own word if every vertex had a slot to itself."""
    r = trace.select(array="hash_table").requests
    row, words, wrote, last = r.lane_row(), r.value.astype(np.int64).tolist(), {}, {}
    columns = r.launch[row], r.block[row], r.warp[row], r.lane_id()
    threads = zip(*(column.tolist() for column in columns), strict=True)
    for kind, thread, word in zip(r.kind[row], threads, words, strict=True):
        if kind == STORE:
            wrote[thread] = last[thread[:2], word >> 32] = word
            continue
        own = wrote[thread]
        v = own >> 32
        same = "valid" if word == own else "duplicate"
        verdict = same if word >> 32 == v else "conflict"
        yield thread[0], v, verdict, last[thread[:2], v] == own


def test_two_warps_and_one_table(counted):
    runs = counted.runs
    verdicts = {name: tuple(counted.verdicts(trace).values()) for name, (_, trace) in runs.items()}
    assert verdicts == {"lockstep": (3, 2, 1), "warp": (5, 1, 0), "random": (3, 2, 1)}
    twelve = {name: [t for t in (4, 36) if kept[t]] for name, (kept, _) in runs.items()}
    assert twelve == {"lockstep": [36], "warp": [4, 36], "random": [4]}
    assert all(kept[[0, 1]].sum() == 1 and kept[5] and kept[37] for kept, _ in runs.values())
    for name, order in {"lockstep": [STORE, STORE, 0, 0], "warp": [STORE, 0, STORE, 0]}.items():
        r = runs[name][1].select(array="hash_table").requests
        kinds = r.kind[r.lane_row()[np.flatnonzero(r.index == 12)]]
        assert [STORE * (kind == STORE) for kind in kinds] == order


def test_no_vertex_is_lost(counted, page):
    draw, conflicts = np.random.default_rng(3), 0
    for seed in range(60):
        crowd = draw.integers(0, 24, 64) * 8
        kept, trace = counted.cull(crowd, "random", seed)
        assert set(crowd[kept]) == set(crowd)
        conflicts += counted.verdicts(trace)["conflict"]
    assert len(set(crowd % 32)) == 4
    page.says(
        f"In 60 random orders of 64 threads, with {conflicts:,} conflicts, no vertex was lost"
    )


def test_lanes_that_come_apart(counted, page):
    apart, cull = counted.after("dup-apart").apart, counted.cull
    kept = {"together": [], "apart": []}
    for seed in range(40):
        kept["together"].append(int(cull(counted.together, "random", seed)[0].sum()))
        kept["apart"].append(int(cull(apart, "random", seed)[0].sum()))
    counts = {name: [left.count(k) for k in (1, 2, 3)] for name, left in kept.items()}
    assert counts == {"together": [40, 0, 0], "apart": [24, 12, 4]}
    page.says(f"In {12 + 4} of 40 random orders, more than one thread keeps it")


def test_races_without_and_with_syncwarp(counted, page):
    one_vertex, races = np.full(32, 7, np.int32), []
    for kernel in (counted.hash64_of_kepler, counted.hash64_since_volta):
        report = gk.check(kernel, 1, 32, one_vertex, np.zeros(32, np.int32))
        races.append([race.text.strip() for race in report.errors])
    assert [len(texts) for texts in races] == [2, 1]
    assert races[1][0].startswith("hash_table[v & 31] =")
    page.says("It reports two races in the first kernel and one in the second")


def test_duplicates_by_visit(counted, page):
    graphs, stats = counted.graphs, counted.stats
    made_by = {key: plain["duplicates_made"] for key, (plain, _) in stats.items()}
    looks = "virtual warp 1", "virtual warp 4", "edge-discover"
    both = [(counted.first_hand["road", visit], made_by["road", visit]) for visit in looks]
    assert both == [(111, 74_158), (411, 638_278), (257, 522)]
    page.says(
        "virtual warps of 4 make 411 duplicates first-hand, and breeding turns them into 638,278",
        "257 become only 522",
    )
    filtered = stats["road", "virtual warp 4"][1]
    assert (filtered["duplicates_detected"], filtered["duplicates_missed"]) == (412, 53)
    assert made_by["road", "virtual warp 4"] - filtered["duplicates_made"] == 637_813
    page.says("it detects 412 and misses 53. Another 637,813 are never made")
    streets = counted.road.out_degree
    assert (round(streets.mean(), 1), streets.max(), round(32 / streets.mean())) == (2.8, 4, 11)
    by_width = {name: [made_by[name, visit] for visit in counted.VISITS][:-1] for name in graphs}
    assert sorted(by_width["rmat"]) == by_width["rmat"]
    assert sorted(by_width["small world"][:5]) == by_width["small world"][:5]
    assert np.argmax(by_width["small world"]) == 4
    assert np.argmax(by_width["road"]) == 1
    for name in graphs:
        assert made_by[name, "edge-discover"] < made_by[name, "virtual warp 4"]
    assert [made_by["rmat", visit] for visit in looks[::2]] == [18, 257]
    enqueued = {key: sum(with_table["frontier_sizes"]) for key, (_, with_table) in stats.items()}
    small, roads = ([enqueued[name, v] for v in looks[:2]] for name in ("small world", "road"))
    assert small == [2203, 2809]
    assert roads[0] < roads[1] < 1.01 * roads[0]
    page.says(
        "virtual warps of 1 make fewer still: 18 against 257", "they are not: 2,203 and 2,809"
    )
    plain = stats["rmat", "virtual warp 1"][0]
    assert (plain["duplicates_made"], sum(plain["frontier_sizes"])) == (18, 693)
    page.says("18 duplicates in 693 entries")


def test_who_could_have_seen_a_duplicate(counted, page):
    nearness = counted.nearness
    made_by = {key: plain["duplicates_made"] for key, (plain, _) in counted.stats.items()}

    def share(name, visit, near="same warp"):
        return round(100 * nearness[name, visit][near] / made_by[name, visit])

    assert all(sum(near.values()) == made_by[key] for key, near in nearness.items())
    four = [share("small world", "virtual warp 4", near) for near in counted.SIGHT]
    assert four == [35, 19, 46]
    page.says("In lockstep only 35% are, and 46% are made by other *blocks*")
    assert [share("road", visit) for visit in ("virtual warp 1", "edge-discover")] == [74, 93]
    assert nearness["small world", "virtual warp 32"]["same warp"] == 0
    options = {"duplicates": "none", "warp_size": 4}
    _, trace = counted.traced(counted.graphs["small world"], schedule="random", seed=1, **options)
    near = counted.sight(trace)
    assert 0.62 < near["same warp"] / sum(near.values()) < 0.72


def test_in_sight_and_still_missed(counted, page):
    result, trace = counted.traced(counted.road, duplicates="hash64")
    near, missed = counted.sight(trace), result.stats["duplicates_missed"]
    assert (sum(near.values()), near["same warp"], missed) == (153, 152, 45)
    read = list(words_read(trace))
    # One thread may keep each vertex of a level, even where no two vertices share a slot.
    apart = sum(own for *_, own in read) - len({(launch, v) for launch, v, *_ in read})
    page.says(
        "152 of the 153 duplicates", "still 45 are missed", f"This explains {apart} of the 45"
    )


def missed_and_conflicts(counted, threads, slots):
    options = {"duplicates": "hash64", "threads": threads, "hash_slots": slots, "warp_size": 4}
    result, trace = counted.traced(counted.graphs["small world"], **options)
    return result.stats["duplicates_missed"], counted.verdicts(trace)["conflict"]


def test_two_dials(counted, page):
    places = (128, 32), (128, 256), (128, 2048), (32, 2048), (1024, 2048)
    dials = {place: missed_and_conflicts(counted, *place) for place in places}
    by_formula = counted.stats["small world", "virtual warp 4"][1]["duplicates_missed"]
    assert by_formula == dials[128, 256][0]  # 128 threads make 256 slots
    assert [missed for missed, _ in dials.values()] == [1302, 761, 732, 1332, 348]
    page.says("732 instead of 761")
    assert dials[128, 2048][1] == 0 < dials[128, 256][1] < dials[128, 32][1]
    spared = []
    for few, many in (((32, 2048), (1024, 2048)), ((128, 32), (128, 2048))):
        missed = {end: [dials[end][0]] for end in (few, many)}
        by_chance = {}
        for threads, slots in missed:
            options = {"duplicates": "hash64", "threads": threads, "hash_slots": slots}
            by_chance[threads, slots] = [
                counted.searched(
                    "small world", "virtual warp 4", gk.SimtDevice("random", seed=s), **options
                )["duplicates_missed"]
                for s in range(1, 6)
            ]
        for counts in (missed, by_chance):
            spared.append(round(100 * (1 - np.median(counts[many]) / np.median(counts[few]))))
    assert spared == [74, 26, 44, 29]
    page.says(
        "to the largest block, missed duplicates fall by 74%",
        "from the smallest to the largest table, by 44%",
        "they fall by 26% and 29% (medians of five seeds)",
    )


def test_claims_of_the_paper(counted, page):
    compared = counted.compared
    paper = {"detected": (24_816, 29_221), "conflicts": (3_778, 1_320), "missed": (28_892, 21_432)}
    warp, block = (compared[how, "small world"] for how in ("warp_culling", "hash64"))

    def change(before, after):
        return f"{100 * (after - before) / before:+.1f}%"

    assert [change(*paper[key]) for key in paper] == ["+17.8%", "-65.1%", "-25.8%"]
    assert [change(warp[key], block[key]) for key in paper] == ["+14.1%", "+45.0%", "-44.1%"]
    page.says(
        "14.1% more here, 17.8% in the paper",
        "44% fewer here, 26% in the paper",
        "45% more here, 65% fewer in the paper",
    )
    conflicts = [missed_and_conflicts(counted, 128, slots)[1] for slots in (512, 1024)]
    assert [change(warp["conflicts"], count) for count in conflicts] == ["-34.3%", "-83.6%"]
    page.says("With four times the slots, `hash64` meets 84% fewer conflicts than warp culling")
    on_road = [compared[how, "road"] for how in ("warp_culling", "hash64")]
    assert [(c["detected"], c["missed"]) for c in on_road] == [(454, 243), (412, 53)]
    page.says("detects 454 and misses 243, `hash64` detects 412 and misses 53")
    history, nothing = (compared[how, "road"] for how in ("history_culling", "none"))
    assert (history["detected"], history["missed"]) == (1_664, 805_133)
    assert history["missed"] > nothing["missed"]
    page.says("History culling detects 1,664 there and misses 805,133, more than no filter")


def test_the_schedule_decides(counted, page):
    FILTERS, found_by = counted.FILTERS, counted.found_by
    lockstep = {how: counted.compared[how, "small world"] for how in FILTERS}
    assert min(FILTERS, key=lambda how: lockstep[how]["missed"]) == "hash64"
    assert [found_by[how, "warp"][0][0] for how in FILTERS] == [422, 8, 427, 3, 8]
    assert max(found_by[how, "warp"][0][2] for how in FILTERS) < 1_637 == lockstep["hash64"]["made"]
    medians = [np.median([row[0] for row in found_by[how, "random"]]) for how in counted.DRAWN]
    assert medians == [219, 255, 274]
    page.says("`merrill` misses 219, `hash64` 255 and warp culling alone 274")


def test_the_price_of_certainty(counted, page):
    EXACT, FILTERS, compared = counted.EXACT, counted.FILTERS, counted.compared
    for name in ("small world", "road"):
        every = {how: compared[how, name] for how in (*FILTERS, *EXACT)}
        for head in ("entries", "warp steps", "sectors"):
            numbers = {how: row[head] for how, row in every.items() if type(row[head]) is int}
            assert min(numbers, key=numbers.get) == "compare_and_swap", (name, head)
            assert all(every[how]["entries"] > 600_000 for how in every.keys() - numbers.keys())
        assert {every[how]["entries"] for how in EXACT} == {counted.graphs[name].n}
    swap, bits = (compared[how, "small world"] for how in EXACT)
    assert swap["atomics"] == bits["atomics"] == 3307
    assert (swap["lanes that wait"], bits["lanes that wait"]) == (612, 1899)
    page.says("it makes 3,307 atomics, and 612 lanes wait; with `bitmap` three times as many wait")
    shared = [compared[how, "small world"]["shared requests"] for how in FILTERS]
    assert shared == [0, 2048, 8827, 6497, 864]
    page.says("The filters make requests to shared memory instead, `hash64` the fewest")


def test_the_mask_of_linear_work(counted, page):
    masks, corners = {}, gk.road_grid(16, 16, seed=1)
    for cull_by in ("mask", "linear"):
        result, trace = gk.traced(gk.bfs, corners, 0, "linear_work", cull=cull_by)
        entries, flags = sum(result.stats["frontier_sizes"]), result.stats["vertices_masked"]
        assert entries == np.sum(result.distance >= 0)
        assert flags == (result.levels * corners.n if cull_by == "mask" else 0)
        masks[cull_by] = int(metrics.sectors(trace).sum())
    assert list(masks.values()) == [14_481, 6_231]
    assert corners.n == 256
    page.says("the mask moves more than twice the sectors of the other variant")


def test_times(cells, page):
    exact = "compare_and_swap", "bitmap"
    way = {
        (g["graph"], r["method"], r["duplicates"]): r
        for g in cells.kept["times"]
        for r in g["rows"]
    }
    methods = list(dict.fromkeys(method for _, method, _ in way))
    assert methods == ["expand_contract", "contract_expand", "two_phase", "bfs4k"]
    best, spread = {}, {}
    for kind in ("kernel_ms", "call_ms"):
        for graph, method, _ in way:
            ours = {h: r[kind] for (g, m, h), r in way.items() if (g, m) == (graph, method)}
            best[kind, graph, method] = min(ours, key=ours.get)
            spread[kind, graph, method] = max(ours.values()) / min(ours.values())
    clocks = "kernel_ms", "call_ms"
    assert all(best[clock, "rmat", m] in exact for m in methods[:3] for clock in clocks)
    assert best["kernel_ms", "rmat", "bfs4k"] == best["call_ms", "rmat", "bfs4k"] == "hash64"
    page.says("one atomic per find is the fastest way in all three", "In BFS-4K `hash64` is")
    assert 1.41 < max(spread["kernel_ms", "road", method] for method in methods) < 1.42
    assert min(r["call_ms"] / r["kernel_ms"] for (g, *_), r in way.items() if g == "road") > 10
    page.says("the kernels at most 42% slower", "over nine tenths of them are launches")
    assert round(way["road", "two_phase", "none"]["call_ms"]) == 607
    assert {r["runs"] for (g, *_), r in way.items() if g == "road"} == {1}
    page.says("607 ms for `two_phase` without a filter")
    assert round(way["road", "contract_expand", "hash64"]["missed"] / 1e6) == 22
    page.says("In `contract_expand`, `hash64` lets 22 million duplicates pass")
    passed = [way["road", method, "none"]["missed"] for method in methods]
    assert [round(count / 1e6, 1) for count in passed] == [0.5, 54.5, 17.9, 0.3]
    for method, count in zip(methods, passed, strict=True):
        assert (best["kernel_ms", "road", method] == "none") == (count < 500_000)
        assert (best["kernel_ms", "road", method] in exact) == (count > 500_000)
    page.says(
        "enqueue at most half a million duplicates in 2,000 levels",
        "In `two_phase` and `contract_expand`, 18 and 54 million pass",
    )


def test_times_of_the_mask(cells, page):
    road = next(row for row in record.kept("bfs")["times"] if row["graph"] == "road")
    searches = road["searches"]
    assert round(road["n"] / 1e6) == 1
    assert searches["linear_work cull=mask"] == {"stopped_after_ms": 10_000}
    assert 10_000 > 80 * searches["linear_work cull=linear"]["kernel_ms"]
    page.says("On an {term}`H200`, with a million corners, it takes over 80 times the time")
