"""The mapping counters against hand counts and against the machine's own metrics."""

from __future__ import annotations

import numpy as np
import pytest

import gpukernels as gk
from gpukernels.mapping import METHODS
from gpukernels.mapping.counters import measure, read_trace
from gpukernels.trace import STORE, metrics


def offsets_of(sizes) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)


#: Two blocks of two warps: a long item in the first warp, one a warp's width in the last block.
SIZES = np.zeros(128, int)
SIZES[[0, 1, 40, 100]] = 12, 4, 6, 2


def test_the_three_levels_are_those_counted_by_hand():
    m = measure(offsets_of(SIZES), "work_item_to_thread", threads=64)
    # Rounds of the warps: 12, 6 | 0, 2; of the blocks: 12 | 2; of the launch: 12. 24 units.
    assert m.lanes == pytest.approx(32 * (12 + 6 + 0 + 2) / 24)
    assert m.warps == pytest.approx(2 * (12 + 2) / (12 + 6 + 0 + 2))
    assert m.blocks == pytest.approx(2 * 12 / (12 + 2))
    assert m.launched_over_used == pytest.approx(2 * 64 * 12 / 24)


def test_shares_of_threads_warps_and_blocks_are_those_of_the_items():
    m = measure(offsets_of(SIZES), "work_item_to_thread", threads=64)
    assert (m.threads.most, m.threads.mean) == (12, 24 / 128)
    assert (m.warp_units.most, m.warp_units.mean) == (16, 24 / 4)
    assert (m.block_units.most, m.block_units.mean) == (22, 24 / 2)


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16, 32])
def test_virtual_warps_are_balanced_as_arithmetic_says(size):
    sizes = np.diff(gk.workload("web-NotreDame", 256))
    m = measure(offsets_of(sizes), "virtual_warp", warp_size=size, threads=64)
    lane_units = -(-(sizes[:, None] - np.arange(size)) // size)
    warps = np.maximum(lane_units, 0).reshape(-1, 32).max(axis=1)
    blocks = warps.reshape(-1, 2).max(axis=1)
    assert m.lanes == pytest.approx(32 * warps.sum() / sizes.sum())
    assert m.warps == pytest.approx(2 * blocks.sum() / warps.sum())
    assert m.blocks == pytest.approx(blocks.size * blocks.max() / blocks.sum())


def test_a_perfect_mapping_has_no_imbalance():
    m = measure(offsets_of([4096]), "virtual_warp", warp_size=32, threads=32)
    assert (m.lanes, m.warps, m.blocks, m.launched_over_used) == (1, 1, 1, 1)
    assert m.sectors_per_write == 4
    assert m.coalescing == m.write_waste == 1


@pytest.mark.parametrize("method", METHODS)
def test_sectors_coalescing_steps_and_barriers_agree_with_the_machines_metrics(method):
    offsets = gk.workload("as-Skitter", 300)
    with gk.trace() as t:
        stats = gk.expand(offsets, method).stats
    m = read_trace(t.trace, method, stats)
    writes = t.trace.select(array="item")
    assert m.sectors_per_write == pytest.approx(metrics.sectors_per_request(writes, [STORE]))
    assert m.coalescing == pytest.approx(metrics.coalescing_efficiency(writes, [STORE]))
    assert m.sectors == metrics.sectors(t.trace).sum()
    assert m.steps == metrics.warp_steps(t.trace)
    assert m.barriers == metrics.barriers(t.trace)
    assert sum(m.totals) == m.steps + m.sectors
    assert all(x <= total for x, total in zip(m.longest, m.totals, strict=True))


@pytest.mark.parametrize("method", METHODS)
def test_every_unit_is_counted_once(method):
    offsets = gk.workload("web-NotreDame", 300, seed=4)
    m = measure(offsets, method)
    assert m.threads.mean > 0
    launched = m.stats["units"] * m.launched_over_used
    assert launched == pytest.approx(round(launched))
    assert m.threads.most <= m.warp_units.most <= m.block_units.most <= offsets[-1]
    assert min(m.lanes, m.warps, m.blocks) >= 1


def test_searches_are_counted_where_they_happen():
    offsets = gk.workload("great-britain_osm", 256)
    units = int(offsets[-1])
    direct = measure(offsets, "direct_search")
    assert direct.searches == units
    # 256 items are halved eight times, whatever the unit.
    assert direct.search_reads == pytest.approx(8 * units, rel=0.15)
    local = measure(offsets, "local_warp_search")
    assert local.searches == units
    assert local.search_reads >= 5 * units
    assert measure(offsets, "work_item_to_thread").search_reads == 0


def test_a_workload_without_units_has_no_imbalance_to_tell():
    m = measure(np.zeros(65, np.int32), "work_item_to_thread")
    assert np.isnan([m.lanes, m.warps, m.blocks, m.coalescing]).all()
    assert m.steps > 0
    assert measure(np.zeros(1, np.int32), "work_item_to_thread").steps == 0


@pytest.mark.parametrize("knob", ["values", "device"])
def test_what_would_hide_the_writes_is_refused(knob):
    with pytest.raises(gk.InvalidArgument, match=knob):
        measure(offsets_of([3]), "virtual_warp", **{knob: 1})


def test_an_unknown_method_or_knob_is_refused_as_expand_does():
    with pytest.raises(gk.UnknownMethod):
        measure(offsets_of([3]), "merge_paths")
    with pytest.raises(TypeError, match="size"):
        measure(offsets_of([3]), "virtual_warp", size=4)
