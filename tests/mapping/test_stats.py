"""The figures in ``stats`` are those that a trace counts, and knobs do what they say."""

from __future__ import annotations

import numpy as np
import pytest
from mapping_workloads import VARIANTS, WORKLOADS, offsets_of, variant_name
from reading_device import ReadingDevice

import gpukernels as gk
from gpukernels.mapping.dynamic_virtual_warp import choose_warp_size
from gpukernels.mapping.multi_phase import add_squares
from gpukernels.trace import STORE, metrics

SEARCHES = ("upper_owner", "guarded_interpolation_owner", "warp_owner", "path_item")
BY_WARP = "path_item_by_warp"
NAMES = ["all empty", "one unit", "sizes about a block", "a long run of empties", "skewed"]


def searches(trace) -> int:
    """Count the searches that threads began; the guarded one ends in another that is no new one."""
    ends = calls(trace, "guarded_interpolation_owner")
    by_warps = calls(trace, BY_WARP) // 32
    return sum(calls(trace, function) for function in SEARCHES) - ends + by_warps


def calls(trace, function: str) -> int:
    """Count the threads that called a device function: the lanes of its first line's steps."""
    sources = [i for i, s in enumerate(trace.sources) if s.function == function]
    rows = np.isin(trace.steps.source, sources)
    if not rows.any():
        return 0
    first = trace.steps.line[rows].min()
    masks = trace.steps.mask[rows & (trace.steps.line == first)]
    return int(np.bitwise_count(masks).sum())


def traced(offsets, method, **knobs):
    with gk.trace() as t:
        result = gk.expand(offsets, method, **knobs)
    return t.trace, result.stats


@pytest.mark.parametrize(("method", "knobs"), VARIANTS, ids=variant_name)
@pytest.mark.parametrize("name", NAMES)
def test_launches_blocks_and_searches_are_those_of_the_trace(name, method, knobs):
    offsets = WORKLOADS[name]
    trace, stats = traced(offsets, method, **knobs)
    assert stats["method"] == method
    assert stats["items"] == offsets.size - 1
    assert stats["units"] == offsets[-1]
    assert stats["launches"] == len(trace.launches)
    counted = searches(trace)
    if "form" in stats:  # lanes beyond the last unit search too, so that all take part
        assert stats["searches"] <= counted <= stats["searches"] + 31 * len(trace.steps)
    else:
        assert counted == stats.get("searches", 0)
    visiting = [x for x in trace.launches if x.kernel.startswith("write")]
    if visiting:
        assert stats["blocks"] == visiting[0].blocks
        assert {x.threads_per_block for x in trace.launches} == {stats["threads"]}


@pytest.mark.parametrize("method", ["two_phase", "multi_phase"])
def test_partition_searches_are_one_a_boundary(method):
    trace, stats = traced(WORKLOADS["skewed"], method, units_per_thread=2)
    part = {"two_phase": "partition", "multi_phase": "hybrid_partition"}[method]
    inside = trace.select(kernel=part)
    assert stats["partition_searches"] == searches(inside)
    assert stats["partition_searches"] == stats["blocks"] + 1


def test_partition_searches_fall_as_k_grows():
    counts = [
        gk.expand([0, 8 * 1024], "two_phase", units_per_thread=k).stats["partition_searches"]
        for k in (1, 2, 4, 8)
    ]
    assert counts == [65, 33, 17, 9]


@pytest.mark.parametrize(("k", "iterations"), [(1, 1), (2, 1), (1, 2), (4, 1), (2, 2), (8, 4)])
def test_partition_searches_of_multi_phase_are_inversely_proportional_to_k_and_iterations(
    k, iterations
):
    """One a boundary: each chunk of threads x K x IS units begins at one, the last ends at one."""
    units, threads = 8 * 1024, 128
    offsets = offsets_of([1, 3] * (units // 4))
    knobs = {"units_per_thread": k, "iterations": iterations, "threads": threads}
    trace, stats = traced(offsets, "multi_phase", **knobs)
    inside = searches(trace.select(kernel="hybrid_partition"))
    assert inside == stats["partition_searches"] == units // (threads * k * iterations) + 1
    # The search in a thread's portion is another, and in shared memory.
    assert searches(trace) - inside == units // k


@pytest.mark.parametrize(
    ("items", "units", "resident", "expected"),
    [
        (1000, 3000, 100, 4),
        (1000, 1000, 100, 4),
        (1000, 12_000, 100, 16),
        (1000, 16_000, 100, 16),
        (1000, 16_001, 100, 32),
        (1000, 500_000, 100, 32),
        (1000, 1000, 8000, 8),
        (1000, 1000, 7999, 4),
        (10, 10, 10**6, 32),
        (0, 0, 100, 32),
    ],
)
def test_warp_size_follows_number_and_mean(items, units, resident, expected):
    assert choose_warp_size(items, units, resident, 4) == expected


def test_the_least_warp_size_is_a_floor():
    assert [choose_warp_size(1000, 1000, 1, least) for least in (1, 2, 8, 32)] == [1, 2, 8, 32]


def test_large_items_go_to_the_child_kernel():
    offsets = offsets_of([5, 100, 101, 1000, 0, 99])
    trace, stats = traced(offsets, "dynamic_virtual_warp", threshold=100)
    assert stats["child_items"] == 2
    assert stats["child_blocks"] == 2 + 10
    assert [x.kernel for x in trace.launches] == ["write_or_queue", "write_pieces"]
    stores = trace.select(kernel="write_pieces", array="item").requests
    assert np.diff(stores.start).sum() == 1101


def test_without_large_items_there_is_no_child_kernel():
    _, stats = traced(offsets_of([5, 100, 99]), "dynamic_virtual_warp", threshold=100)
    assert stats["launches"] == 1
    assert stats["child_items"] == stats["child_blocks"] == 0


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([3] * 500, "interpolation"),
        ([4] * 500, "binary"),  # mean above 3
        ([3] * 499 + [4], "binary"),  # mean just above 3
        ([1] * 499 + [200], "binary"),  # deviation 8.9
        ([1] * 499 + [100], "interpolation"),  # deviation 4.4
        ([0, 10] * 100 + [0] * 200, "interpolation"),  # deviation 4.3
        ([0] * 26 * 10 + [26] * 10, "interpolation"),  # mean 0.96, deviation 4.9
        ([0] * 29 * 10 + [29] * 10, "binary"),  # mean 0.97, deviation 5.2
        ([1], "interpolation"),
    ],
)
def test_the_rule_chooses_the_partitions_search(sizes, expected, device):
    mean, deviation = np.mean(sizes), np.std(sizes)
    assert expected == ("interpolation" if mean <= 3 and deviation <= 5 else "binary")
    assert gk.expand(offsets_of(sizes), "multi_phase", device=device).stats["search"] == expected
    trace, _ = traced(offsets_of(sizes), "multi_phase")
    partition = trace.select(kernel="hybrid_partition")
    boundaries = 1 + -(-sum(sizes) // (128 * 11))
    assert searches(partition) == boundaries
    guesses = boundaries if expected == "interpolation" else 0
    assert calls(partition, "guarded_interpolation_owner") == guesses


@pytest.mark.parametrize("sizes", [[1] * 499 + [200], [1] * 499 + [100], []])
def test_the_partition_s_choice_is_read_when_it_is_first_asked_for(sizes):
    device = ReadingDevice()
    result = gk.expand(offsets_of(sizes), "multi_phase", device=device)
    assert device.sizes == [sum(sizes)]
    twice = [result.stats["search"] for _ in "ab"]
    assert twice == ["interpolation" if sizes[-1:] == [100] else "binary"] * 2
    assert device.sizes == [sum(sizes), 1]


def test_a_long_run_of_empty_items_does_not_mislead_the_partition():
    offsets = offsets_of([0] * 60_000 + [1] * 20_000)
    trace, stats = traced(offsets, "multi_phase")
    assert stats["search"] == "interpolation"
    reads = trace.select(kernel="hybrid_partition", array="offsets").requests
    row = reads.lane_row()
    thread = (reads.block[row] * 4 + reads.warp[row]) * 32 + reads.lane_id()
    assert np.bincount(thread).max() <= 2 + 2 + 10 + 17  # rule, bracket, guesses, halvings


def test_squares_of_huge_sizes_fit_64_bits(device):
    offsets = np.array([0, 2**31 - 1 - 10, 2**31 - 1])
    squares = device.full(1, 0, np.int64)
    device.launch(add_squares, 1, 32, device.array(offsets.astype(np.int32)), squares)
    assert device.read(squares)[0] == (2**31 - 11) ** 2 + 100


def item_stores(trace) -> float:
    stores = trace.select(array="item")
    return metrics.sectors_per_request(stores, kinds=(STORE,))


def test_multi_phase_writes_in_order_where_two_phase_scatters():
    offsets = WORKLOADS["skewed"]
    two, _ = traced(offsets, "two_phase", units_per_thread=8)
    multi, _ = traced(offsets, "multi_phase", units_per_thread=8)
    assert item_stores(two) > 25
    assert item_stores(multi) <= 4
    coalesced, _ = traced(offsets, "direct_search")
    assert item_stores(coalesced) <= 4


def test_an_odd_k_has_no_bank_conflict_where_items_are_handed_over():
    def conflicts(k: int) -> int:
        trace, _ = traced(WORKLOADS["all ones"], "multi_phase", units_per_thread=k)
        source = [s.function for s in trace.sources].index("expand_coalesced")
        lines = trace.sources[source].text
        line = next(i for i, text in enumerate(lines) if "shared[own + k] =" in text)
        part = trace.select(source=source, line=trace.sources[source].first_line + line)
        return int(metrics.bank_conflicts(part).sum())

    assert conflicts(7) == 0
    assert conflicts(8) > 0


def test_iterations_save_barriers():
    offsets = offsets_of([3] * 2000)
    barriers = {}
    for iterations in (1, 4):
        knobs = {"units_per_thread": 8, "iterations": iterations}
        trace, stats = traced(offsets, "multi_phase", **knobs)
        barriers[iterations] = metrics.barriers(trace.select(kernel="write_multi_phase"))
        assert stats["iterations"] == iterations
    assert barriers[4] < barriers[1]


def test_merge_path_writes_in_order_and_searches_two_corners_a_tile():
    offsets = WORKLOADS["skewed"]
    trace, stats = traced(offsets, "merge_path", steps_per_thread=4)
    assert item_stores(trace) <= 4
    steps = offsets.size - 1 + offsets[-1]
    assert stats["blocks"] == -(-steps // (128 * 4))
    assert calls(trace, "path_item") == stats["partition_searches"] == 2 * stats["blocks"] - 2


def test_empty_items_are_steps_like_units_so_none_is_overloaded():
    # 60,000 empty items cost two_phase's last thread as many looks; here they are cut like units.
    offsets = offsets_of([1] * 100 + [0] * 60_000 + [1] * 100)
    trace, stats = traced(offsets, "merge_path")
    per_warp = metrics.per_warp(trace.steps, trace.launches[0])
    assert stats["blocks"] == -(-(60_200 + 200) // (128 * 11))
    assert per_warp.max() < 2 * per_warp.mean()
    two, _ = traced(offsets, "two_phase")
    assert metrics.per_warp(two.steps, two.launches[1]).max() > 5 * per_warp.max()


def test_a_tile_and_the_items_of_its_units_fit_its_shared_memory():
    for sizes in ([0] * 999, [999], [1] * 999, [0, 0, 31] * 30, [31, 0, 0] * 30):
        offsets = offsets_of(sizes)
        _, stats = traced(offsets, "merge_path", threads=32, steps_per_thread=3)
        assert stats["shared_bytes"] == 4 * (32 * 3 + 1)


def test_max_scan_searches_once_a_block_and_writes_whole_lines():
    offsets = WORKLOADS["skewed"]
    steps = offsets.size - 1 + offsets[-1]
    for blocks in (1, 3):
        trace, stats = traced(offsets, "max_scan", units_per_thread=2, blocks=blocks)
        assert stats["blocks"] == stats["searches"] == blocks
        assert calls(trace, BY_WARP) == 32 * blocks
        # Two halves of a line where a tile ends, and nowhere else.
        tiles = -(-steps // blocks // (128 * 2 - 32)) + 1
        stores = trace.select(array="item")
        assert metrics.sectors(stores).sum() <= -(-int(offsets[-1]) // 8) + blocks * tiles


def test_a_warps_search_takes_a_round_for_33_items_and_another_for_more():
    for items, rounds in ((33, 1), (34, 2), (33**2, 2), (33**2 + 1, 3)):
        trace, _ = traced(offsets_of([1] * items), "max_scan", threads=1024)
        votes = trace.select(function=BY_WARP)
        assert votes.requests.start.size - 1 == rounds


def test_the_marks_of_max_scan_meet_few_bank_conflicts():
    """Units of a warp lie side by side; two units an item put two items' marks in one bank."""
    for sizes, most in (([1] * 3000, 0), ([2] * 3000, 1)):
        trace, _ = traced(offsets_of(sizes), "max_scan")
        shared = trace.select(space="shared")
        conflicts = metrics.bank_conflicts(shared)
        assert conflicts.max(initial=0) <= most
