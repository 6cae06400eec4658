"""What the chapter on representations says of its counters and of measured times."""

from __future__ import annotations

import networkx as nx
import numpy as np

import gpukernels as gk
from gpukernels.notebook.counters import COMPARED, kept_counters
from gpukernels.representations import adjacency_matrix, coo, csr
from gpukernels.trace import metrics


def test_small_sizes(counted):
    first, small = counted.after("small-sizes"), counted.small
    matrix, words = first.matrix, first.words
    assert words == {"matrix": 64, "CSR": 22, "COO": 26}
    assert words["matrix"] - small.m == 51
    assert matrix[2, 5] == matrix.ravel()[2 * small.n + 5] == 8
    first, last = (small.offsets[2], small.offsets[3])
    assert small.targets[first:last].tolist() == [0, 3, 4, 5, 6]
    assert np.flatnonzero(small.offsets[:-1] == small.offsets[1:]).tolist() == [4]
    assert (small.offsets[0], small.out_degree[0], small.targets[small.offsets[4]]) == (0, 2, 2)


def test_limit(counted):
    GIB = counted.GIB
    assert adjacency_matrix.largest_n(4 * GIB) == 32768
    assert 4 * 32768**2 == 4 * GIB
    assert adjacency_matrix.largest_n(80 * GIB) == 146542


def test_matrix_traces(counted):
    first = counted.after("memory-view")
    by_thread, by_warp = first.by_thread, first.by_warp
    warp_reads, thread_reads = (by_warp.select(array="matrix"), by_thread.select(array="matrix"))
    assert metrics.requests(warp_reads) == metrics.requests(thread_reads) == 32
    assert (metrics.sectors(warp_reads) == 4).all()
    assert (metrics.sectors(thread_reads) == 32).all()


def test_pitch_count(counted):
    pitches = counted.after("pitch-count")
    moved, rows = pitches.moved, pitches.rows
    assert moved[False].max() == 5
    assert np.mean(moved[False] == 5) > 0.5
    assert moved[True].max() == 4
    assert moved[True].mean() == (31 * 4 + 2) / 32
    assert 0.175 < 1 - moved[True].sum() / moved[False].sum() < 0.18
    assert 0.02 < rows[1][1] / rows[0][1] - 1 < 0.025


def test_csr_warp(counted):
    g32, lists_trace = counted.g32, counted.lists_trace
    arcs_of_lane = metrics.work_per_thread(lists_trace, "targets")
    np.testing.assert_array_equal(arcs_of_lane, g32.out_degree)
    turns = metrics.requests(lists_trace.select(array="targets"))
    assert g32.m == 83
    assert round(g32.m / g32.n, 1) == 2.6
    assert turns == g32.out_degree[0] == g32.out_degree.max() == 16
    assert round(g32.m / (32 * turns), 2) == 0.16


def test_csr_arrays(counted):
    seen = counted.seen
    assert [s[0] for s in seen.values()] == [4.5, 4.5, 4.5]
    assert 25 < seen["small world"][1] < 25.5
    assert 4.6 < seen["R-MAT"][1] < 4.7
    assert round(seen["small world"][2]) == 13
    assert round(seen["R-MAT"][2]) == 14
    assert 7.5 < seen["small world"][3] < 8


def test_both_directions_take_twice_the_bytes(counted):
    web = counted.web
    one, back = (g.offsets.nbytes + g.targets.nbytes for g in (web, web.reverse))
    assert one == back == 4 * (web.n + 1 + web.m)


def test_coo_run(counted):
    arcs_trace, lists_trace, small = counted.arcs_trace, counted.lists_trace, counted.small
    thirteen, web = counted.thirteen, counted.web
    coo_trace = gk.traced(coo.neighbor_sum, web, np.arange(web.n)).trace
    assert metrics.atomic_conflicts(thirteen).sum() == small.m - 7
    assert metrics.sectors(thirteen.select(array="sums")).sum() == 7
    assert small.out_degree[2] == 5
    assert metrics.warp_steps(lists_trace) == 37
    assert metrics.per_warp(arcs_trace.steps, arcs_trace.launches[0]).ravel().tolist() == [3, 3, 3]
    assert metrics.work_per_thread(coo_trace, "target").max() == 1
    assert metrics.simd_efficiency(coo_trace) > 0.99
    waiting = metrics.atomic_conflicts(coo_trace).sum()
    assert waiting == 5773
    assert web.m == 6671
    assert round(waiting / web.m, 2) == 0.87


def test_coo_orders(counted):
    cost = counted.after("coo-orders").cost
    assert cost["shuffled"][0] > 25 > 1.1 > cost["by source"][0]
    assert 27 < cost["shuffled"][1] < 27.5
    assert 31 < cost["by source"][1] == cost["lexicographic"][1]
    assert 21 < cost["by source"][2] < 21.5
    assert 6 < cost["lexicographic"][2] < 6.5
    assert cost["by source"][3] > 10 * cost["shuffled"][3]


def test_both_ways(counted):
    edges, ring, stored = counted.edges, counted.ring, counted.after("both-ways")
    added, reads, rows = stored.added, stored.reads, stored.rows
    assert [row[1] for row in rows] == [65536, 32768]
    assert reads[False] == 2 * reads[True]
    assert added[False] == added[True]
    as_csr = ring.offsets.nbytes + ring.targets.nbytes
    assert as_csr == 36868 == edges.nbytes + 4 * (ring.n + 1)


def test_query_run(counted):
    run = counted.after("query-run")
    answers, g, expected = run.found, run.g, run.there
    assert np.array_equal(answers, expected)
    assert expected[:512].all()
    for m, _, looked, _, halved in (steps := counted.steps):
        assert halved <= np.floor(np.log2(m)) + 1
    assert looked <= g.out_degree.max()
    assert steps[-1][2] == 579
    assert steps[-1][4] == 15


def test_layoutss(counted):
    cost, layouts, places = counted.cost, counted.layouts, counted.places
    in_lists, in_arcs = (
        [(cost[n, p]["requests"], cost[n, p]["sectors"]) for n in layouts.values()] for p in places
    )
    soa, aos, packed = in_lists
    assert soa[0] == aos[0] == 2 * packed[0]
    assert aos[1] == 2 * packed[1]
    assert 1.9 < soa[1] / packed[1] < 2
    requests, sectors = in_arcs[0]
    assert in_arcs[1:] == [(requests, 2 * sectors), (requests / 2, sectors)]


def test_compare_asserts(counted, page):
    families, graphs, measured = counted.families, counted.graphs, counted.measured
    forms = counted.after("compare-view").forms
    for family in families:
        matrix, row, arc = (measured[form, family] for form in forms)
        assert matrix["warp steps"] > 25 * max(row["warp steps"], arc["warp steps"])
        assert 500 < matrix["bytes per arc"] < 1550
        assert arc["balance"] < 1.02
        assert arc["SIMD efficiency"] > 99
        assert arc["conflicts per arc"] > 0.6
        assert row["conflicts per arc"] == 0
    hubs = measured["CSR", "R-MAT"]
    assert 24 < hubs["balance"] < 24.5
    assert 20 < hubs["SIMD efficiency"] < 22
    for family in ("small world", "road grid"):
        assert measured["CSR", family]["balance"] < 1.3
        assert measured["CSR", family]["SIMD efficiency"] > 80
    moved = {g: [measured[f, g]["bytes per arc"] for f in forms] for g in graphs}
    assert moved["dense"] == sorted(moved["dense"])
    share = {family: of[2] / of[1] for family, of in moved.items()}
    assert 0.93 < share["R-MAT"] < 0.95
    assert 0.89 < share["road grid"] < 0.9
    assert 0.68 < share["small world"] < 0.72
    assert 0.85 < measured["COO", "R-MAT"]["conflicts per arc"] < 0.9
    page.says(
        "it moves 500 to 1,500 bytes per arc",
        "a fifth of the lanes work with CSR, and the busiest thread has 24 times the mean",
        "nine of ten additions wait",
    )


def test_rep_profiled(counted, page):
    kept = kept_counters()
    rows = {row["case"].removeprefix("representations: "): row for row in kept["rows"]}
    two = {g: [rows[f"{f} neighbor sum, {g}"] for f in ("csr", "coo")] for g in ("rmat", "road")}
    ran = {graph: [r["ncu"]["smsp__inst_executed.sum"] for r in of] for graph, of in two.items()}
    steps = {graph: [r["machine"]["warp steps"] for r in of] for graph, of in two.items()}
    assert ran == {"rmat": [57736, 14592], "road": [8947, 5150]}
    assert [round(a / b, 1) for a, b in (*ran.values(), *steps.values())] == [
        4.0,
        1.7,
        5.4,
        1.5,
    ]
    lanes = two["road"][0]["ncu"]["smsp__thread_inst_executed_per_inst_executed.ratio"] / 32
    efficiency = two["road"][0]["machine"]["SIMD efficiency"]
    assert round(lanes, 2) == 0.57
    assert round(efficiency, 2) == 0.82
    passes = sum(two["rmat"][1]["ncu"].get(name, 0) for name in COMPARED["atomic sectors"])
    assert two["rmat"][1]["machine"]["atomic sectors"] == passes == 6575
    page.says(
        "as many sectors of atomics as the SIMT machine, 6,575",
        "4.0 times as many instructions for CSR as for COO",
        "the machine counts 5.4 times as many steps",
        "57% of CSR's lanes at work, not 82%",
    )


def test_timess(counted, page):
    kept, times = counted.kept, counted.times
    skewed, road = (times["R-MAT", 1 << 20], times["road grid", 1 << 20])
    assert 5 < skewed["CSR"] / skewed["COO"] < 5.3
    assert 0.89 < road["CSR"] / road["COO"] < 0.91
    assert 11 < skewed["numba, all cores"] / skewed["COO"] < 12
    assert 68 < road["numba, all cores"] / road["CSR"] < 70
    assert 4 * (1 << 20) ** 2 == 4 * 2**40
    assert "matrix" not in {**skewed, **road}
    hub, few = (times["R-MAT", 1 << 12], times["road grid", 1 << 12])
    assert 9.5 < hub["CSR"] / hub["COO"] < 9.7
    assert round(4096**2 / 1e6, 1) == 16.8
    assert 2.5 < hub["CSR"] / hub["matrix"] < 2.6
    assert 2.9 < hub["CSR"] / hub["SciPy, one core"] < 3
    assert (round(few["COO"], 1), round(few["CSR"], 1)) == (3.4, 4.3)
    assert kept["nothing_microseconds"] == 2.6
    page.says(
        "COO is five times as fast as CSR",
        "CSR is a tenth faster",
        "12 times as long as COO on the R-MAT graph, and 69 times as long as CSR on the road",
        "COO is 10 times as fast as CSR",
        "2.5 times as fast as CSR, although it reads all its 16.8 million cells",
        "COO and CSR take 3.4 and 4.3 µs; a kernel that does nothing takes 2.6",
    )


def test_wins_table(counted):
    ratio = counted.ratio
    full = counted.full
    assert (min(full), max(full)) == (4, 9425)
    assert [of > 1 for of in ratio.values()] == 3 * [False] + 3 * [True]
    assert min(ratio["com-youtube"], ratio["kron_g500-lon20"]) > 10
    assert 1690 < 50900000.0 / 30102 < 1700


def test_read_files(counted):
    club = counted.club
    assert (club.n, club.m, club.directed) == (34, 2 * 78, False)
    strength = dict(nx.karate_club_graph().degree(weight="weight"))
    assert csr.row_sum(club).tolist() == list(strength.values())
