"""The chapter on Floyd-Warshall agrees with counters and with measured times."""

from __future__ import annotations

import itertools

import numpy as np

import gpukernels as gk
from gpukernels.all_pairs.tiles import PER_THREAD
from gpukernels.notebook import record
from gpukernels.trace import LOAD, metrics


def test_two_runs_side_by_side(counted, page):
    moved, slow = counted.moved, counted.slow
    assert slow.stats["operations"] == counted.quick.stats["operations"] == 110_592
    assert np.array_equal(slow.distance, counted.quick.distance)
    assert (slow.stats["launches"], counted.quick.stats["launches"]) == (48, 9)
    page.says("the same 110,592 additions", "in 9 launches", "`naive` needs 48")
    assert 8 < moved(counted.slow_trace) / moved(counted.quick_trace) < 8.2
    page.says("`blocked` has moved an eighth of the bytes")
    by_launch = [moved(counted.slow_trace.select(launch=k)) for k in range(48)]
    assert sum(by_launch[:6]) < moved(counted.quick_trace) < sum(by_launch[:7])
    page.says("moves as many bytes as all of `blocked`", 'class="right"><summary>6</summary>')


def test_the_order_of_the_loops(counted, page):
    all_pairs, distances = counted.all_pairs, counted.found
    assert distances["kij"][0, 1] == 3
    assert np.isinf(distances["ijk"][0, 1])
    assert (distances["kij"] != distances["ijk"]).sum() == 1
    rng = np.random.default_rng(0)
    for _ in range(20):
        drawn = np.where(rng.random((9, 9)) < 0.2, rng.integers(1, 99, (9, 9)), np.inf)
        np.fill_diagonal(drawn, 0)
        thrice = all_pairs(all_pairs(all_pairs(drawn, "ijk"), "ijk"), "ijk")
        assert np.array_equal(thrice, all_pairs(drawn, "kij"))
    page.says("Three runs of the wrong loops always give the right result")


def test_four_vertices_and_five_arcs(counted, page):
    rows = counted.after("fw-now-you-answer").rows
    assert [length for _, length in rows] == ["none", 11, 9, 9]
    page.says('class="right"><summary><em>k</em> = 2</summary>')


def test_bytes_of_the_naive_kernel(counted, page):
    for n in (32, 64, 96):
        trace = gk.traced(gk.apsp, counted.some_lengths(n), "naive").trace
        assert counted.moved(trace, (LOAD,)) == 10 * n**3
    page.says("Ten sectors of 32 bytes for 32 additions")
    l2_bytes = record.kept("apsp")["l2_bytes"]
    assert l2_bytes == 50 * 2**20
    assert 4 * 3620**2 <= l2_bytes < 4 * 3621**2
    page.says("of more than 3,620 vertices does not fit into the 50 MiB")


def test_tiles_that_a_block_reads(counted):
    N, T, tiled = counted.N, counted.T, counted.tiled
    loads = counted.tiled_trace.select(
        array=["distance"], kind=LOAD, kernel="remaining_tiles"
    ).requests
    reader = np.repeat(loads.launch * 16 + loads.block, np.diff(loads.start))
    tile = loads.index // N // T * 4 + loads.index % N // T
    needs = {}
    for key, t in np.unique(np.stack([reader, tile]), axis=1).T.tolist():
        needs.setdefault(key, set()).add(t)
    assert len(needs) == 4 * 9
    for key, read in needs.items():
        p, (i, j) = key // 16, divmod(key % 16, 4)
        assert read == {4 * i + j, 4 * i + p, 4 * p + j}
    assert tiled.stats["launches"] == 12
    assert np.array_equal(tiled.distance, counted.all_pairs(counted.some_lengths(N), "kij"))


def test_bytes_by_formula(counted, page):
    loaded = counted.loaded
    for (n, tile, _), counted_bytes in loaded.items():
        assert counted_bytes == counted.foretold(n, tile)
    assert loaded[64, 32, "4x4"] == loaded[64, 32, "1x1"]
    page.says("Count and formula agree to the byte")


def test_what_each_part_allows(counted, page):
    PEAK, limits, third_launch = counted.PEAK, counted.limits, counted.third_launch
    for tile, shape in [
        (16, "1x1"),
        (16, "4x2"),
        (32, "1x1"),
        (32, "4x4"),
        (64, "4x2"),
        (64, "8x8"),
    ]:
        across, down = PER_THREAD[shape]
        threads = tile**2 // (across * down)
        a_thread = tile * (across + down) + 2 * tile**2 // threads
        assert metrics.requests(third_launch(tile, shape), "shared") == threads // 32 * a_thread
    one, eight, sixteen = (metrics.requests(trace, "shared") for trace in counted.shapes.values())
    assert 0.49 * one < eight < 0.51 * one
    assert eight < sixteen < one
    page.says("From `1x1` to `4x2` the requests fall by half. With `4x4` they rise again")
    from_global, from_shared, _ = (round(wall / 1e12) for wall in limits(16, "1x1"))
    page.says(
        f"global memory allows {from_global} trillion additions per second, "
        f"and shared memory would allow {from_shared}"
    )
    from_global, from_shared, _ = limits(64, "8x8")
    assert from_shared > 1.5 * PEAK
    page.says(
        "shared memory allows more than the adders do, "
        f"and global memory allows {from_global / 1e12:.0f} trillion"
    )
    assert limits(64, "4x2")[1] < 0.7 * PEAK
    assert limits(32, "8x8")[0] < 0.6 * PEAK
    assert limits(16, "8x8")[0] < 0.5 * limits(16, "1x1")[0]
    requests = metrics.requests(third_launch(64, "8x8"), "shared")
    assert requests == 2_304
    assert 64**3 // requests == 113


def test_conflicts_of_banks(counted, page):
    plain, padded = (counted.third_launch(64, "8x8", p) for p in (False, True))
    assert metrics.bank_conflicts(padded).sum() == 0
    assert metrics.bank_conflicts(plain).sum() == 1920
    passes = 1 + metrics.bank_conflicts_per_request(plain)
    page.says("256 bytes of shared memory", f"the mean falls from {passes:.2f} passes to 1")
    assert 2 * 16 * 2 * 4 == 256


def test_one_instruction(cells, page):
    added, code, inner, read = cells.added, cells.code, cells.inner, cells.read
    assert (added, read) == (16 * 64, 16 * 16)
    assert len(inner) < 1.5 * added
    page.says("64 additions with their minimum and 16 loads from shared memory")
    assert code.local_bytes == 0
    assert code.registers <= 128
    same_adders = "IADD3", "LEA", "LOP3", "VIADD", "ISETP", "SEL", "SHF"
    others = sum(any(map(i.is_a, same_adders)) for i in inner)
    assert round(others, -1) == 60
    assert round(added / others) == 17
    page.says("only about 60 of the 171 other", "one for every seventeen additions")


def test_the_bound(counted, page):
    COPY = counted.COPY
    PEAK = counted.PEAK
    moved = counted.moved
    third_launch = counted.third_launch
    walls = counted.walls
    page.says(f"at most {PEAK / 1e12:.1f} trillion of these additions per second")
    page.says(f"Its memory moves {COPY / 1e12:.1f} TB/s when it copies an array")
    page.says(f"The quotient is {COPY / PEAK:.2f} bytes per addition")
    naive, wide, panel = (np.nanmin(walls[k]) for k in (0, -2, -1))
    assert 39 < wide / naive < 41
    assert wide == walls[-2][0]
    assert panel == walls[-1][2]
    page.says("the lowest limit is still that of global memory", "the adders are the lowest limit")
    page.says("From the naive kernel to 64 and `8x8` the lowest limit rises by a factor of 40")
    assert moved(third_launch(64, "8x8", pivots=4)) == 10 / 64 * 4 * 64**3
    assert moved(third_launch(64, "8x8")) == 16 / 64 * 64**3
    page.says("$16/T$ bytes per addition", "it moves only $10/T$ bytes per addition")


def test_the_way_itself(counted):
    TOWN, i, j, r = counted.TOWN, counted.i, counted.j, counted.r
    steps = r.path(i, j)
    arcs = {(u, v): w for u, v, w in zip(*TOWN.coo, TOWN.weights, strict=True)}
    assert sum(arcs[u, v] for u, v in itertools.pairwise(steps)) == r.distance[i, j]
    far = gk.apsp([[0, 2**31 - 1], [-5, 0]]).distance
    assert far.tolist() == [[0, 2**31 - 1], [-5, 0]]
    assert np.array_equal(gk.apsp(TOWN, "naive", next_hops=True).distance, r.distance)


def test_times(cells, page):
    kept, measured = cells.kept, cells.measured
    rates = {
        name: {n: of["tera_operations_per_second"] for n, of in sizes.items()}
        for name, sizes in measured.items()
    }
    wide, naive = (measured[name] for name in ("blocked tile=64 per_thread=8x8", "naive"))
    rate = rates["blocked tile=64 per_thread=8x8"][16384]
    peak = 132 * 1.98 * 64 / 1e3
    assert 0.8 < rate / peak < 0.84
    page.says(f"add {rate:.1f} trillion times a second, more than four fifths of the limit")
    page.says(f"In float32 it is {rates['blocked tile=64 per_thread=8x8 float32'][16384]:.0f}")
    page.says(f"The naive kernel reaches {max(rates['naive'].values()):.2f} at most")
    copy = record.kept("apsp")["copy_gigabytes_per_second"] / 1e3
    page.says(f"ten bytes for each addition would allow {copy / 10:.2f}")
    kernels, call = wide[8192]["kernel_ms"], wide[8192]["call_ms"]
    page.says(f"{call:.0f} ms at 8,192 vertices, for {kernels:.0f} ms of kernels")
    dense = {row["n"]: row["searches"] for row in kept["times"] if row["graph"] == "dense"}
    seconds = dense[8192]["all cores"]["call_ms"] / 1e3
    page.says(f"all {kept['cores']} cores of that machine's CPU take {seconds:.1f} s")
    page.says(f"`blocked` take {naive[4096]['kernel_ms']:.0f} and {wide[4096]['kernel_ms']:.1f} ms")
    shapes = [
        measured[cells.LINES[name][0]] for name in ("16, 1x1", "32, 4x2", "32, 4x4", "64, 8x8")
    ]
    for n, least, most in ((512, 1, 1.15), (1024, 1.455, 1.465)):
        by_shape = [of[n]["kernel_ms"] for of in shapes]
        assert least < max(by_shape) / min(by_shape) < most
    page.says("the slowest shape takes 46% longer")
    assert [(n // 64) ** 2 for n in (512, 1024)] == [64, 256]
    assert 2 * 64 < 132 < 256
    page.says("only 64 tiles of 64, so half of the 132 multiprocessors have none")


def test_times_of_the_report(cells, page):
    seconds = {name: row[2][-1] / 1e6 for name, row in cells.REPORT.items()}
    naive, blocked = seconds["naive"], seconds["blocked, 4x2"]
    assert 2.1 < naive / blocked < 2.3
    assert 17.6e9 < 4096**3 / naive < 17.7e9
    page.says("the naive kernel made 17.7 billion additions per second")
    assert naive < seconds["matrix products"]
