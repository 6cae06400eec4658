"""What the chapter on static mappings says of its counters and of measured times."""

from __future__ import annotations

import numpy as np

import gpukernels as gk
from gpukernels.graphs.workloads import TARGETS
from gpukernels.mapping.counters import measure
from gpukernels.mapping.virtual_warp import write_by_virtual_warp
from gpukernels.mapping.work_item_to_thread import write_by_thread
from gpukernels.notebook.mapping_claims import judge
from gpukernels.trace import metrics
from gpukernels.views.mapping.expansion import read_expansion


def test_static_set_up(counted):
    every, runs = counted.every, counted.runs
    offsets, sizes = counted.after("d2d70d37").offsets, counted.after("d2d70d37").sizes

    def moved(trace):
        return int(metrics.sectors(trace.select(array="item")).sum())

    assert offsets[-1] == 24
    assert sizes.mean() == 3
    assert len(runs) == 153
    assert sizes.argmax() == 5
    assert sorted(sizes)[-2:] == [4, 8]
    moves = [moved(trace) for trace in runs[tuple(sizes.tolist())].values()]
    assert moves[:3] == sorted(moves[:3], reverse=True)
    assert moves[2] == 4
    rounds = {o: [read_expansion(t, sum(o), "t").rounds for t in runs[o].values()] for o in every}
    assert min(of[0] for of in rounds.values()) == rounds[3, 1, 4, 2, 2, 4, 1, 3][0] == 4


def test_abc197a5(counted):
    sizes = counted.after("static-lanes-plot").sizes
    thread_units, three_levels = counted.thread_units, counted.three_levels
    one, two = (three_levels(thread_units(sizes, group), warp=4, block=8) for group in (1, 2))
    assert np.allclose(one, (48 / 24, 64 / 48, 1))
    assert np.allclose(np.prod(one), np.prod(two))
    assert np.isclose(np.prod(one), 64 / 24)
    padded = np.zeros(64, int)
    padded[:4], padded[32:36] = sizes[:4], sizes[4:]  # A to D in warp 0, E to H in warp 1
    spread = np.concatenate([[0], np.cumsum(padded)])
    result = measure(spread, "work_item_to_thread", threads=64)
    assert (result.lanes, result.warps) == (8 * one[0], one[1])


def test_bd0763b4(counted):
    full = counted.full
    for name, target in TARGETS.items():
        drawn = full[name].mean(), full[name].std(), full[name].max()
        assert np.allclose(drawn, (target.mean, target.std, target.largest), rtol=0.05), name
    assert round(full["circuit5M"].max() / 1e6, 1) == 1.3


def test_eaa22743(counted):
    thread_units, three_levels = counted.thread_units, counted.three_levels
    small, thread = counted.small, counted.thread
    for name, m in thread.items():
        levels = m.lanes, m.warps, m.blocks
        units = thread_units(np.diff(small[name]), 1)
        assert np.allclose(three_levels(units, warp=32, block=128), levels)
        if name == "great-britain_osm":
            assert 1.55 < m.lanes < 1.6
            assert max(m.warps, m.blocks) < 1.11
            assert m.coalescing > 0.35
        else:
            assert min(m.lanes, m.warps, m.blocks) > 2.5
            assert m.coalescing < 0.15
    assert round(thread["as-Skitter"].lanes) == 14


def test_53c220bf(counted):
    excerpts, full, small, views = counted.excerpts, counted.full, counted.small, counted.views

    def moved(trace):
        return int(metrics.sectors(trace.select(array="item")).sum())

    assert [int(e[-1]) for e in excerpts.values()] == [33, 48]
    assert [set(np.diff(e)) for e in excerpts.values()] == [{1, 2, 3}, {0, 8}]
    assert [-(-int(e[-1]) // 8) for e in excerpts.values()] == [5, 6]
    assert [moved(trace) for trace in views["roads"].values()] == [11, 5, 10]
    assert [moved(trace) for trace in views["links"].values()] == [48, 12, 6]
    assert round(32 * full["great-britain_osm"].size / 1e6) == 247
    offsets = small["web-NotreDame"]
    for size in (1, 8, 32):
        launched = measure(offsets, "virtual_warp", warp_size=size).stats["blocks"] * 128
        assert launched == 1024 * size
    with gk.trace() as t:
        item = t.device.empty(offsets[-1], np.int32)
        t.device.launch(write_by_virtual_warp, 4, 128, t.device.array(offsets), item, 8)
    all_steps = measure(offsets, "virtual_warp", warp_size=8).steps
    assert np.array_equal(item, np.repeat(np.arange(1024), np.diff(offsets)))
    assert metrics.requests(t.trace.select(array="offsets")) == 2 * 16 * 16
    assert metrics.warp_steps(t.trace) < 0.9 * all_steps


def test_bb2f9280(counted):
    SIZES, best_size, small, sweep = counted.SIZES, counted.best_size, counted.small, counted.sweep
    thread, work = counted.thread, counted.work
    for name in TARGETS:
        assert 0.5 <= best_size(name) / min(np.diff(small[name]).mean(), 32) <= 2
    assert [best_size(name) for name in TARGETS] == [2, 8, 4, 8, 8, 32]
    assert 7.5 < work("great-britain_osm", 32) / work("great-britain_osm", 2) < 8
    assert 6.5 < work("kron", 1) / work("kron", 32) < 7
    for name, m in thread.items():
        one = sweep[name, 1]
        assert (one.lanes, one.warps, one.blocks) == (m.lanes, m.warps, m.blocks)
    roads = [sweep["great-britain_osm", size].lanes for size in SIZES]
    assert np.all(np.diff(roads) > 0)
    for counter in ("lanes", "write_waste"):
        last = {name: [getattr(sweep[name, size], counter) for size in SIZES] for name in TARGETS}
        assert [name for name in TARGETS if np.argmin(last[name]) == 5] == ["kron"]
    assert np.all(np.diff([sweep["kron", size].lanes for size in SIZES]) < 0)


def test_8129de38(counted):
    fitting, thread = counted.fitting, counted.thread
    verdict = judge("virtual_warp", fitting)["lanes"]
    assert verdict.agrees is False
    assert 4 < verdict.worst < 4.1
    assert all((m.lanes > 1.7 for name, m in fitting.items() if name != "kron"))
    assert fitting["kron"].lanes < 1.2
    assert all(v.agrees for v in judge("work_item_to_thread", thread).values())


def test_d430c511(counted):
    SIZES, full, small, sweep = counted.SIZES, counted.full, counted.small, counted.sweep
    for (name, size), m in sweep.items():
        items = np.diff(small[name])
        mean, largest = items.mean(), items.max()
        assert np.isclose(m.launched_over_used, 1024 * size * -(-largest // size) / items.sum())
        if size <= mean:
            assert np.isclose(m.launched_over_used, largest / mean, rtol=0.04)
    products = {name: [sweep[name, size].launched_over_used for size in SIZES] for name in TARGETS}
    assert [name for name in TARGETS if max(products[name]) > 1.12 * min(products[name])] == [
        *TARGETS
    ][:1]
    assert full["great-britain_osm"].max() == 8
    assert np.diff(small["great-britain_osm"]).max() == 4
    assert all(95 < sweep["web-NotreDame", size].launched_over_used < 98.2 for size in SIZES)


def test_87bb7757(counted):
    SIZES, cpu, group_ms = counted.SIZES, counted.cpu, counted.group_ms
    ms, thread_ms = counted.ms, counted.thread_ms
    best = {name: SIZES[np.argmin(group_ms[name])] for name in TARGETS}
    assert list(best.values()) == [1, 4, 2, 32, 16, 32]
    for name in set(TARGETS) - {"circuit5M"}:
        assert 1 / 2.5 < best[name] / min(TARGETS[name].mean, 32) < 2.5
    one, two, four, eight, *_ = group_ms["circuit5M"]
    assert np.allclose([one / two, two / four, four / eight], 2, rtol=0.03)
    assert round(1e6 * one / TARGETS["circuit5M"].largest) == 14
    roads = ms["great-britain_osm"]
    assert min(roads, key=roads.get) == "work_item_to_thread"
    multi = min(roads[label] for label in roads if label.startswith("multi_phase"))
    assert round(multi / roads["work_item_to_thread"], 1) == 2.5
    assert round(group_ms["great-britain_osm"][0] / thread_ms["great-britain_osm"], 1) == 1.7
    assert round(one / thread_ms["circuit5M"], 1) == 1
    of_all = {name: min(ms[name], key=ms[name].get) for name in TARGETS}
    static = ["work_item_to_thread", *(f"virtual_warp {size}" for size in SIZES)]
    assert [name for name in TARGETS if of_all[name] in static] == [*TARGETS][:1]
    ahead = {name: cpu[name] / min(group_ms[name]) for name in TARGETS}
    assert 75 < min(ahead.values()) < 77
    assert 715 < ahead["great-britain_osm"] < 725
    assert 1190 < cpu["great-britain_osm"] / thread_ms["great-britain_osm"] < 1210
    assert max(ahead, key=ahead.get) == "great-britain_osm"


def test_static_loops():
    words, counts = np.zeros(1, np.int32), []
    for kernel, size in ((write_by_thread, ()), (write_by_virtual_warp, (1,))):
        code = gk.sass(kernel, (words, words, *size))
        inner = min(code.loops, key=len)
        carries = sum(i.opcode.endswith(".X") or ".EX" in i.opcode for i in inner)
        divided = sum("_div_" in call or "_rem_" in call for call in code.calls)
        counts.append((divided, len(inner), sum(i.is_a("STG") for i in inner), carries))
    assert counts[0][2] == 4
    assert counts[0][1:] == counts[1][1:]
    assert counts[0][0] < counts[1][0]


def test_b8a500ed(counted):
    group_ms, ms = counted.group_ms, counted.ms
    giant = ms["circuit5M"]
    assert round(min(group_ms["circuit5M"]) / min(giant.values()), 1) == 3.9
    assert round(max(group_ms["circuit5M"]) / min(giant.values())) == 57
