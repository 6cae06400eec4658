"""Reading and writing touch the units alike, whatever the technique; reading adds atomics."""

from __future__ import annotations

import numpy as np
import pytest
from mapping_workloads import VARIANTS, WORKLOADS, variant_name

import gpukernels as gk
from gpukernels.mapping.counters import measure
from gpukernels.mapping.directions import directions
from gpukernels.trace import ATOMIC, LOAD, metrics

NAMES = ["one unit", "sizes about a block", "skewed"]


@pytest.mark.parametrize(("method", "knobs"), VARIANTS, ids=variant_name)
@pytest.mark.parametrize("name", NAMES)
def test_every_technique_reads_where_it_writes(name, method, knobs):
    offsets = WORKLOADS[name]
    write, read = directions(offsets, method, **knobs)
    assert (read.requests, read.sectors) == (write.requests, write.sectors)
    assert read.coalescing == write.coalescing
    # A total is added to once a unit; nobody adds to anything where items are written.
    assert (write.atomics, read.atomics) == (0, offsets[-1])
    assert write.waiting == 0 <= read.waiting < max(read.atomics, 1)
    # What is read beside the units is the same, so the totals' sectors alone come on top.
    assert read.all_sectors > write.all_sectors


@pytest.mark.parametrize("method", ["virtual_warp", "two_phase", "multi_phase"])
def test_the_counters_are_those_of_the_machines_metrics(method):
    offsets = WORKLOADS["skewed"]
    with gk.trace() as t:
        gk.expand(offsets, method, values=np.ones(offsets[-1], np.int32))
    _, read = directions(offsets, method)
    values, total = (t.trace.select(array=name) for name in ("values", "total"))
    assert read.sectors == metrics.sectors(values, [LOAD]).sum()
    assert read.coalescing == pytest.approx(metrics.coalescing_efficiency(values, [LOAD]))
    assert read.waiting == metrics.atomic_conflicts(total).sum()
    lanes = np.diff(total.requests.start)[total.requests.kind == ATOMIC]
    assert read.atomics == lanes.sum()
    assert (read.all_sectors, read.steps) == (metrics.sectors(t.trace).sum(), len(t.trace.steps))
    assert directions(offsets, method)[0].coalescing == measure(offsets, method).coalescing


def test_lanes_side_by_side_in_one_item_wait_and_lanes_in_32_items_do_not():
    offsets = np.arange(0, 32 * 64 + 1, 64)  # 32 items of 64 units
    _, apart = directions(offsets, "work_item_to_thread", threads=32)
    assert (apart.waiting, apart.atomics) == (0, 2048)
    _, beside = directions(offsets, "virtual_warp", warp_size=32, threads=32)
    assert (beside.waiting, beside.atomics) == (2048 * 31 // 32, 2048)
    assert beside.sectors < apart.sectors / 7


def test_a_workload_without_units_touches_none():
    write, read = directions(np.zeros(5, np.int32), "direct_search")
    assert (write.requests, read.requests, read.atomics) == (0, 0, 0)
    assert np.isnan([write.coalescing, read.coalescing]).all()


@pytest.mark.parametrize("knob", ["values", "device"])
def test_what_it_chooses_itself_is_refused(knob):
    with pytest.raises(gk.InvalidArgument, match=knob):
        directions([0, 3], "virtual_warp", **{knob: 1})
