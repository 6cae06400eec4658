"""What the chapter on performance, power and energy says of its counters and of measured times."""

from __future__ import annotations

import numpy as np

from gpukernels.notebook import record


def test_view(counted, page):
    SHOWN, energy, mapped = counted.SHOWN, counted.energy, counted.mapped

    def by_energy(workload):
        matching = (r for r in mapped if r["workload"] == workload and r["technique"] in SHOWN)
        return sorted(matching, key=lambda row: row["millijoules"])

    roads, patents, circuit = map(by_energy, ("great-britain_osm", "cit-Patents", "circuit5M"))
    watts, ms = ([row[key] for row in circuit] for key in ("average_watts", "call_ms"))
    assert sorted(watts)[:2] == watts[:-3:-1]
    assert sorted(ms)[-2:] == ms[-2:]
    assert max(watts[-2:]) < 1.15 * energy["idle_watts"]
    assert {id(row) for row in sorted(roads, key=lambda r: -r["average_watts"])[:2]} == {
        id(row) for row in roads[:2]
    }
    assert [round(row["millijoules"]) for row in roads[:2]] == [26, 37]
    assert {id(row) for row in sorted(roads, key=lambda r: r["call_ms"])[:2]} == {
        id(row) for row in roads[:2]
    }
    watts, ms = ([row[key] for row in roads] for key in ("average_watts", "call_ms"))
    assert max(watts) / min(watts) < 2
    assert round(max(ms) / min(ms)) == 23
    assert patents[1]["technique"] == circuit[-1]["technique"]
    assert "H100" in energy["device"]
    assert all(1 <= row["seconds"] < 1.1 for row in mapped)
    page.says(
        "The two marks far to the right, low down, draw little more power than an idle GPU",
        "the two marks at the top take the least energy",
        "the second best on [the patents]",
    )


def test_gaps(counted, page):
    filled = counted.filled
    share = {key: kernel / call for key, (kernel, call, _) in filled.items()}
    fastest = filled["rmat", "one launch, both directions"]
    assert 0.085 < fastest[0] < 0.095
    assert 0.59 < fastest[1] < 0.61
    assert share["rmat", "one launch, both directions"] < 0.16
    assert filled["road", "frontier"][2] > 2000
    assert share["road", "frontier"] < 0.2
    assert share["road", "one launch, both directions"] > 0.9
    page.says(
        "an eleventh of a millisecond, and its call takes 0.60",
        "two thousand levels are two thousand launches",
    )


def test_meter(counted, page):
    energy = counted.energy
    runs = energy["times"]
    assert len(runs) == 127
    assert sum(row["counter_apart"] < 0 for row in runs) == 108
    hot = [k for k, row in enumerate(runs) if row["counter_apart"] > 0.09]
    assert len(hot) == 5
    assert all(runs[k - 1]["average_watts"] > 1.3 * runs[k]["average_watts"] for k in hot)
    spreads = [np.ptp(row["millijoules_spread"]) / row["millijoules"] for row in runs]
    assert round(100 * np.median(spreads)) == 2
    assert round(100 * max(spreads)) == 13
    assert all(0.2 < row["seconds"] / row["windows"] < 0.27 for row in runs)
    assert all(row["peak_watts"] >= row["average_watts"] for row in runs)
    (search,) = (r for r in energy["times"] if (r["run"], r.get("graph")) == ("bfs", "rmat"))
    assert 0.15 < search["busy_share"] < 0.17
    page.says(
        "In 108 of the 127 runs the sensor reports less energy than the counter",
        "they still differ by 2% in the median run, and by 13% in the worst",
        "The five dots farthest to the right",
    )


def test_bound(counted, page):
    energy, host_bound, mapped = counted.energy, counted.host_bound, counted.mapped
    bound = [row for row in energy["times"] if row["host_bound"]]
    assert len(mapped) == 120
    assert len(host_bound) == 6
    assert len(bound) - len(host_bound) == 6
    assert all(row["host_bound"] == (row["busy_share"] < 0.9) for row in energy["times"])
    assert min(row["busy_share"] for row in mapped if not row["host_bound"]) > 0.96
    assert {row["workload"] for row in host_bound} == {"web-NotreDame"}
    assert max(row["kernel_ms"] for row in host_bound) < 0.1
    files = ("bfs", "sssp", "apsp", "scans", "mapping", "sanitizer")
    others = {name: record.kept(name)["device"] for name in files}
    assert "H100" in energy["device"]
    assert all("H100" in others.pop(name) for name in ("sssp", "apsp"))
    assert all("H200" in device for device in others.values())
    page.says(
        "in 114 of the 120 runs of mappings",
        "Of the seven other runs (searches, all pairs, scans), six are host-bound",
    )


def test_idle(counted, page):
    circuit, energy, mapped, of = counted.circuit, counted.energy, counted.mapped, counted.of
    most = 0
    for by in of.values():
        low, high = (
            {key: pick(row[key] for row in by.values()) for key in ("average_watts", "call_ms")}
            for pick in (min, max)
        )
        assert high["average_watts"] / low["average_watts"] < 5
        assert 11 < high["call_ms"] / low["call_ms"] < 337.1
        fastest = min(by, key=lambda t: by[t]["kernel_ms"])
        assert fastest == min(by, key=lambda t: by[t]["millijoules"])
        most += fastest == max(by, key=lambda t: by[t]["average_watts"])
    assert len(mapped) == 120
    assert most == 4
    lone, path = (circuit["local_warp_search register"], circuit["merge_path"])
    first, slept = (circuit["max_scan"], energy["idle_watts"])
    assert round(slept) == 122
    assert round(lone["average_watts"] - slept) == 10
    assert round(lone["millijoules"] / first["millijoules"]) == 51
    plain = circuit["work_item_to_thread"]
    assert round(plain["millijoules"] / first["millijoules"]) == 38
    assert first["millijoules"] == min(row["millijoules"] for row in circuit.values())
    assert round(100 * lone["busy_share"]) == 99
    assert round(first["average_watts"] / lone["average_watts"], 1) == 4.6
    assert 200 < lone["call_ms"] / first["call_ms"] < 240
    scan = circuit["cta_warp_scan"]
    assert 0.7 < scan["above_idle_millijoules"] / path["above_idle_millijoules"] < 0.8
    assert 1.9 < scan["call_ms"] / path["call_ms"] < 2.1
    page.says(
        "this H100 draws 122 watts",
        "One item per thread takes 38 times the energy of max scan",
        "only ten watts more than at rest",
        "and local warp search 51 times",
        "draws 4.6 times the power of local warp search, for less than a two-hundredth of the time",
        "watts differ by less than a factor of five, and times by factors of 11 to 337",
        "takes a quarter less energy above idle than merge path, but its run lasts twice as long",
    )


def test_a_slow_and_a_fast_method(counted, page):
    (_, slow, slow_above), (_, fast, fast_above) = counted.after("ppe-idle-answer").rows
    page.says(f"Here it is {fast:.0f} millijoules against {slow}")
    page.says(f"6 · 30 = {slow_above} millijoules, and the fast one 1.5 · 330 = {fast_above:.0f}")


def test_above(counted, page):
    of = counted.of
    above = []
    for name, by in of.items():
        ms, joules = (np.array([row[k] for row in by.values()]) for k in ("call_ms", "millijoules"))
        above += [(name, t) for t in ms[joules / joules.min() > 1.001 * ms / ms.min()]]
    web = [t for name, t in above if name == "web-NotreDame"]
    assert len(web) > 0.75 * len(above)
    assert max(web) < 0.105
    page.says("Most of the marks above the line belong to the web pages")


def test_theirs(counted, page):
    MULTI, circuit, of = counted.MULTI, counted.circuit, counted.of
    PLAIN = "work_item_to_thread"

    def times(name, key="millijoules", techniques=MULTI, digits=1):
        ratios = [of[name][t][key] / of[name][PLAIN][key] for t in techniques]
        return (round(min(ratios), digits), round(max(ratios), digits))

    OTHERS = {"merge_path", "max_scan"}
    roads, patents = (
        {t: row for t, row in of[name].items() if t not in OTHERS}
        for name in ("great-britain_osm", "cit-Patents")
    )
    assert max(roads, key=lambda t: roads[t]["average_watts"]) == PLAIN
    assert round(roads[PLAIN]["average_watts"]) == 566
    assert times("great-britain_osm") == (2.4, 3.1)
    faster = [circuit[PLAIN]["kernel_ms"] / circuit[t]["kernel_ms"] for t in ("merge_path", *MULTI)]
    assert [round(x) for x in (faster[0], min(faster[1:]), max(faster[1:]))] == [56, 29, 46]
    quickest = min(patents, key=lambda t: patents[t]["kernel_ms"])
    assert quickest.startswith("local_warp_search")
    assert round(patents[PLAIN]["kernel_ms"] / patents[quickest]["kernel_ms"], 1) == 2.5
    assert times("cit-Patents", "kernel_ms", digits=2)[0] == 0.96
    page.says(
        "566 W",
        "It takes 2.4 to 3.1 times as much as one item per thread",
        "Merge path is 56 times as fast as one item per thread, multi-phase 29 to 46 times",
        "2.5 times as fast as one item per thread. Multi-phase gains at most 4%",
    )


def test_multi(counted, page):
    MULTI, NEAR_HALF, PAIR, energy = counted.MULTI, counted.NEAR_HALF, counted.PAIR, counted.energy
    of = counted.of
    PLAIN = "work_item_to_thread"

    def times(name, key="millijoules", techniques=MULTI, digits=1):
        ratios = [of[name][t][key] / of[name][PLAIN][key] for t in techniques]
        return (round(min(ratios), digits), round(max(ratios), digits))

    BOTH = ("two_phase", *MULTI)
    assert times("cit-Patents", "average_watts", BOTH) == (0.9, 1.4)
    assert times("circuit5M", "average_watts", BOTH) == (2.5, 3.9)
    assert times("circuit5M", techniques=BOTH, digits=3)[1] <= 1 / 8
    assert times("as-Skitter", techniques=NEAR_HALF, digits=2)[1] == 0.57
    assert times("as-Skitter", digits=2) == (0.57, 0.8)
    assert times("as-Skitter", techniques=["multi_phase 4"], digits=2)[0] == 0.57
    assert times("as-Skitter", techniques=["multi_phase 2"], digits=2)[0] > 0.6
    assert min(of[name][t]["busy_share"] for name in PAIR for t in NEAR_HALF | MULTI) > 0.96
    same = record.kept("many_roots")
    assert same["device"] == energy["device"]
    assert same["l2_bytes"] == 50 << 20
    page.says(
        "Patents: 0.9 to 1.4 times the power of one item per thread",
        "Circuit: 2.5 to 3.9 times its power, and at most an eighth of its energy",
        "take at most 0.57 of the energy of one item per thread",
        "Multi-phase takes 0.80, and only with four iterations 0.57",
        "holds 50 MiB",
    )


def test_peak(counted, page):
    MULTI, energy, highest, of = counted.MULTI, counted.energy, counted.highest, counted.of
    PLAIN = "work_item_to_thread"
    OTHERS = {"merge_path", "max_scan"}
    roads, _patents = (
        {t: row for t, row in of[name].items() if t not in OTHERS}
        for name in ("great-britain_osm", "cit-Patents")
    )
    peaks = {t: row["peak_watts"] for t, row in roads.items()}
    static = {t for t in peaks if t == PLAIN or t.startswith("virtual_warp")}
    multi = max(peaks[t] for t in MULTI)
    assert max(peaks[t] for t in peaks.keys() - static - MULTI.keys()) < multi < peaks[PLAIN]
    assert (round(multi), round(peaks[PLAIN])) == (531, 566)
    over = [row["peak_watts"] / row["average_watts"] for row in energy["times"]]
    assert min(over) >= 1
    assert round(100 * max(over)) == 118
    assert not any(row["host_bound"] for row in highest.values())
    page.says(
        "the highest peak of multi-phase on the roads, 531 W,",
        "No peak is more than 18% above the average of its run",
    )


def test_roof(counted, page):
    reached = counted.reached
    assert 0.8 < reached["all pairs"] < 0.96
    assert 0.3 < reached["scan"] < 0.5
    assert all(0.5 < reached[name] < 0.72 for name in reached if name.startswith("mapping"))
    assert max(reached["BFS, road"], reached["SSSP, grid"]) < 0.01
    assert max(reached["BFS, rmat"], reached["SSSP, kron"]) < 0.2 < reached["BFS, random"] < 0.6
    page.says(
        "more than four fifths of the ceiling", "reach four tenths to seven tenths of the slope"
    )


def test_processors(cells, page):
    one, many, call, kernel = cells.speeds["random"]
    assert (round(one / kernel, -3), round(many / kernel), round(many / call)) == (4000, 70, 19)
    page.says("four thousand times as fast as one core", "the factor to seventy", "it is nineteen")
    one, many, call, kernel = cells.speeds["road"]
    assert 0.8 < many / one < 1.3
    assert all(4 < slow / fast < 6 for slow in (one, many) for fast in (call, kernel))
    road = next(row["searches"] for row in cells.searched["times"] if row["graph"] == "road")
    timed = {name: t["kernel_ms"] for name, t in road.items() if t.get("kernel_ms")}
    assert min(timed, key=timed.get) == "persistent"
    assert all(of[0] > 100 * of[3] for name, of in cells.speeds.items() if name != "road")
    page.says("is four to six times as fast as the CPU, on one core or on sixteen")


def test_planted_errors(cells, page):
    broken, counts = cells.broken, dict(row[:2] for row in cells.rows)
    assert list(counts.values()) == [51, 3, 11, 1, 0]
    assert not any(row[2] for row in cells.rows)
    assert sum(row["racecheck"]["ended"] == "stopped" for row in broken) == 4
    assert sum(cells.finds(row, "wrong result") for row in broken) == 51 - 29
    assert sum(row["repaired"] for row in cells.planted["rows"]) == 47
    page.says("repaired each, which made 47 different kernels")
    page.says("`racecheck` 11 races", "Four kernels never end", "29 of the 51 wrong kernels")
