"""What the chapter on how a GPU runs threads says of its counters and of measured times."""

from __future__ import annotations

import numpy as np

import gpukernels as gk
from gpukernels.all_pairs.blocked import remainder
from gpukernels.all_pairs.lengths import ABSENT
from gpukernels.all_pairs.tiles import Form
from gpukernels.notebook import record
from gpukernels.notebook.counters import compare, kept_counters
from gpukernels.trace import metrics


def test_steps_of_two_orders(counted, page):
    runs = counted.runs
    parted, together = (run.trace for run in runs.values())
    assert metrics.warp_steps(parted) == 2 * (5 + 3 * 7) == 52
    assert metrics.warp_steps(together) == 5 + 3 * 7 + (5 + 3 * 2) == 37
    assert metrics.divergent_branches(parted) == 2
    assert metrics.divergent_branches(together) == 0
    assert metrics.simd_efficiency(together) == 1
    page.says("takes 26 steps, 52 in all", "takes 26 steps, and [the group of 4s takes **11**]")


def test_sorting_puts_equals_together(counted, page):
    rows = counted.after("simt-14").rows
    for row, trace in zip(rows, counted.loops.values(), strict=True):
        assert metrics.warp_steps(trace) == row[2]
    assert rows[0][1] == "15, 15, 15, 15"
    assert rows[1][1] == "15, 11, 8, 4"
    assert [row[2] for row in rows] == [200, 134]
    assert rows[0][3] == rows[1][3] == 1014
    page.says(
        "the four warps take 200 steps",
        "15, 11, 8 and 4 turns",
        "4 · 5 = 134",
        "make 1,014 turns in both orders",
    )


def test_a_short_if(counted):
    t = counted.record(counted.odd_and_even, 1, 64, np.arange(64, dtype=np.int32))
    assert metrics.divergent_branches(t) == 2
    x = np.zeros(1, np.int64)
    branch, loop = gk.sass(counted.odd_and_even, (x,)), gk.sass(counted.collatz, (x, x))
    assert not branch.branches
    assert min(map(len, (branch.predicated, loop.branches, loop.loops))) > 0
    pairs = compare(kept_counters(), ["divergent branches"])
    (both,) = (row for row in pairs if row["kernel"] == "odd_and_even")
    assert both["machine"] == 32
    assert both["ncu"] == 0


def test_sectors_of_four_patterns(counted, page):
    reads = counted.reads
    requests = {name: t.select(array="values") for name, t in reads.items()}
    sectors = {name: int(metrics.sectors(t)[0]) for name, t in requests.items()}
    useful = {k: metrics.coalescing_efficiency(t) for k, t in requests.items()}
    assert sectors["neighbors"] == 4
    assert sectors["neighbors, shifted by 1"] == 5
    assert sectors["stride 2"] == 8
    assert sectors["stride 8"] == 32
    assert sectors["random"] == 30
    assert sectors["all the same"] == 1
    assert useful["neighbors"] == 1
    assert useful["stride 8"] == 1 / 8
    page.says("fill 4 whole sectors", "30 sectors", "seven eighths of the bytes are thrown away")


def test_one_thread_for_each_vertex(counted, page):
    traces, rows = counted.traces, counted.after("simt-44").rows
    for trace, g, row in zip(traces.values(), (counted.skewed, counted.even), rows, strict=True):
        assert np.array_equal(metrics.work_per_thread(trace, "targets"), g.out_degree)
        assert row[3] == 2 * g.out_degree.max() + 5
    assert [row[1] for row in rows] == [120, 128]
    assert [row[3] for row in rows] == [49, 15]
    assert 0.25 < metrics.simd_efficiency(traces["skewed"]) < 0.27
    even_sectors = metrics.sectors(traces["even"].select(array="targets"))
    assert 13 < even_sectors.mean() < 14
    random, each, share = (counted.neighbor_sum(gk.erdos_renyi(1024, 8), threads=128), {}, {})
    for array in ("offsets", "targets", "values"):
        requests = random.select(array=array)
        each[array] = round(metrics.sectors_per_request(requests), 1)
        share[array] = metrics.coalescing_efficiency(requests)
    assert each == {"offsets": 4.5, "targets": 16.6, "values": 15.0}
    assert round(share["offsets"], 2) == 0.89
    assert 6 < 1 / share["values"] < 1 / share["targets"] < 8
    page.says(
        "takes 15 steps against 49",
        "13 of its 16 sectors on average",
        "89% of the bytes are useful",
        "takes 16.6 sectors per request and `values` 15.0",
    )


def test_times_of_strides(counted, page):
    kept, record = counted.kept, counted.record
    for stride in (1, 2, 4, 8):
        values, out = (np.arange(256, dtype=np.int32), np.zeros(32, np.int32))
        t = record(counted.copy_strided, 1, 32, values, out, stride)
        assert metrics.sectors_per_request(t.select(array="values")) == 4 * stride
        assert metrics.sectors_per_request(t.select(array="out")) == 4
    times = {r["stride"]: r["ms"] for r in kept["times"]}
    assert 2.65 < times[8] / times[1] < 2.75
    rates = [r["gigabytes_per_second"] for r in kept["times"]]
    assert 1.6 < rates[-1] / rates[0] < 1.7
    page.says("takes only 2.7 times as long", "less than two thirds of the rate")


def test_warps_that_fit(counted, page):
    fit = counted.warps_that_fit
    assert [fit(registers, 64) for registers in (32, 33, 40, 64, 128)] == [64, 48, 48, 32, 16]
    assert (fit(40, 1_024), fit(64, 256)) == (32, 32)
    assert fit(16, 128, shared=64 * 1024) == 3 * 128 // 32
    assert list(map(fit, *zip(*counted.TWO.values(), strict=True))) == [64, 16]
    page.says(
        "With one element per thread 64 warps fit", "With 64 elements per thread 16 warps fit"
    )
    matrix = np.zeros((1, 1), np.int32)
    for form, needs in zip((Form(16, "1x1"), Form(64, "8x8")), counted.TWO.values(), strict=True):
        arguments = matrix, matrix, ABSENT, 0, 1, np.zeros(2, np.int32)
        slices = 2 * form.depth * (2 * form.tile + 32 // form.depth) * 4
        registers = gk.sass(remainder(form), arguments).registers
        assert (np.prod(form.block), slices) == needs[1:]
        assert fit(registers, *needs[1:]) == fit(*needs)  # other compilers take a few more or fewer


def test_times_beside_occupancy(page):
    assert round(record.kept("knobs")["waits"]["load_us"], 2) == 0.35
    kept = record.kept("apsp")
    assert kept["device"].startswith("NVIDIA H100")
    (large,) = (t for t in kept["times"] if (t["graph"], t["n"]) == ("dense", 8192))
    shapes = "blocked tile=16 per_thread=1x1", "blocked tile=64 per_thread=8x8"
    assert [round(large["searches"][shape]["kernel_ms"]) for shape in shapes] == [180, 44]
    page.says("waits 0.35 microseconds", "takes 180 milliseconds", "it takes 44")


def test_families_of_graphs(counted, page):
    rows = counted.rows
    counts = {name: counted for name, _, counted in rows}
    busy = {name: counted["SIMD efficiency"] for name, counted in counts.items()}
    used = {name: counted["useful bytes of targets"] for name, counted in counts.items()}
    assert min(busy["road grid"], busy["small world"]) > 80
    assert max(busy["R-MAT"], busy["star"]) < 20
    assert busy["complete"] == 100
    assert counts["complete"]["sectors per request to targets"] == 32
    assert counts["R-MAT"]["sectors per request to targets"] == 3.7
    assert max(used, key=used.get) == "road grid"
    assert round(used["road grid"]) == 27
    page.says(
        "over 80% of the lanes work",
        "under 20%",
        "at best 27% of the bytes moved",
        "3.7 sectors per request",
    )
