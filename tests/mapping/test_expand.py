"""Every mapping technique finds the item of every unit, whatever the items' sizes."""

from __future__ import annotations

import numpy as np
import pytest
from effort import SCHEDULES, every_pair, examples, some
from hypothesis import given
from hypothesis import strategies as st
from mapping_workloads import VARIANTS, WORKLOADS, offsets_of, owners, variant_name

import gpukernels as gk
from gpukernels.device import CudaDevice, SimtDevice, default_device
from gpukernels.mapping import METHODS

variants = pytest.mark.parametrize(("method", "knobs"), VARIANTS, ids=variant_name)
methods = pytest.mark.parametrize("method", METHODS)

#: Every technique once, so that small workloads already fill blocks and overflow windows.
SMALL = [
    ("work_item_to_thread", {}),
    ("virtual_warp", {"warp_size": 4}),
    ("dynamic_virtual_warp", {"threshold": 64, "resident_threads": 256}),
    ("cta_warp_scan", {"cta_threshold": 100, "warp_threshold": 10}),
    ("direct_search", {}),
    ("local_warp_search", {"form": "register"}),
    ("local_warp_search", {"form": "shared"}),
    ("block_search", {"chunk_items": 20}),
    ("two_phase", {"units_per_thread": 2}),
    ("multi_phase", {"units_per_thread": 1, "iterations": 3}),
    ("multi_phase", {"search": "interpolation"}),
    ("merge_path", {"steps_per_thread": 2}),
    ("max_scan", {"units_per_thread": 2, "blocks": 3}),
]


def test_every_method_has_a_variant():
    assert {method for method, _ in VARIANTS} == set(METHODS)


@variants
@pytest.mark.parametrize("name", WORKLOADS)
def test_every_unit_gets_its_item(name, method, knobs, device):
    offsets = WORKLOADS[name]
    result = gk.expand(offsets, method, device=device, **knobs)
    assert result.item.dtype == np.int32
    assert result.total is None
    np.testing.assert_array_equal(result.item, owners(offsets))


@pytest.mark.parametrize(
    ("variant", "scheduled_device", "name"),
    every_pair(
        VARIANTS, SCHEDULES, ("sizes about a warp", "a giant between empties", "more skewed")
    ),
    indirect=["scheduled_device"],
)
def test_right_under_every_schedule(variant, scheduled_device, name):
    (method, knobs), offsets = variant, WORKLOADS[name]
    result = gk.expand(offsets, method, threads=64, device=scheduled_device, **knobs)
    np.testing.assert_array_equal(result.item, owners(offsets))


@pytest.mark.parametrize(
    ("variant", "name", "dtype"),
    every_pair(
        VARIANTS,
        ("no items", "all empty", "sizes about a block", "skewed"),
        (np.int32, np.int64, np.float32, np.float64),
    ),
)
def test_values_add_up_to_their_items_total(variant, name, dtype, device):
    (method, knobs), offsets = variant, WORKLOADS[name]
    values = np.random.default_rng(1).integers(-9, 10, offsets[-1]).astype(dtype)
    result = gk.expand(offsets, method, values=values, device=device, **knobs)
    expected = np.bincount(owners(offsets), values, minlength=offsets.size - 1)
    assert result.item is None
    assert result.total.dtype == (np.int64 if np.dtype(dtype).kind == "i" else np.float64)
    np.testing.assert_array_equal(result.total, expected)


def test_integer_totals_exceed_32_bits(device):
    offsets = np.array([0, 3, 3, 4])
    values = np.full(4, 2**31 - 1, np.int32)
    for method in METHODS:
        total = gk.expand(offsets, method, values=values, device=device).total
        np.testing.assert_array_equal(total, [3 * (2**31 - 1), 0, 2**31 - 1])


@variants
@pytest.mark.parametrize("threads", [32, 96, 1024])
def test_any_block_size(threads, method, knobs, device):
    offsets = WORKLOADS["skewed"]
    result = gk.expand(offsets, method, threads=threads, device=device, **knobs)
    np.testing.assert_array_equal(result.item, owners(offsets))
    assert result.stats["threads"] == threads


def adversarial(rng: np.random.Generator) -> np.ndarray:
    """Return random offsets: empties, runs, giants and boundaries, in any mixture."""
    items = int(rng.choice([0, 1, 2, 31, 32, 33, int(rng.integers(0, 90))]))
    sizes = rng.integers(0, rng.choice([1, 2, 4, 40]), items)
    sizes[rng.random(items) < rng.choice([0, 0.3, 0.9])] = 0
    for _ in range(int(rng.integers(0, 3)) if items else 0):
        at = rng.integers(items)
        sizes[at] = rng.choice([1, 31, 32, 33, 127, 128, 129, 352, 353, 700])
    if items and rng.random() < 0.3:
        start, stop = np.sort(rng.integers(0, items + 1, 2))
        sizes[start:stop] = 0
    return offsets_of(sizes)


@pytest.mark.parametrize(("method", "knobs"), SMALL, ids=variant_name)
def test_a_thousand_adversarial_workloads(method, knobs, device):
    """All variants together take a thousand; in a night, each its own."""
    rng = np.random.default_rng(2017 + SMALL.index((method, knobs)))
    for i in range(some(-(-1000 // len(SMALL)), soak=1000)):
        offsets = adversarial(rng)
        result = gk.expand(offsets, method, threads=32, device=device, **knobs)
        assert np.array_equal(result.item, owners(offsets)), (i, np.diff(offsets).tolist())


@examples(60, soak=1000)
@given(
    sizes=st.lists(st.one_of(st.just(0), st.integers(0, 5), st.integers(0, 300)), max_size=80),
    variant=st.sampled_from(VARIANTS),
    threads=st.sampled_from([32, 64]),
)
def test_any_sizes_with_any_variant(sizes, variant, threads):
    chosen = default_device()
    device = chosen if isinstance(chosen, CudaDevice) else SimtDevice(check=True)
    method, knobs = variant
    offsets = offsets_of(sizes)
    values = np.arange(offsets[-1])
    result = gk.expand(offsets, method, threads=threads, device=device, **knobs)
    np.testing.assert_array_equal(result.item, owners(offsets))
    added = gk.expand(offsets, method, values=values, threads=threads, device=device, **knobs)
    expected = np.bincount(owners(offsets), values, minlength=len(sizes))
    np.testing.assert_array_equal(added.total, expected)


@methods
def test_offsets_of_any_integer_type(method, device):
    sizes = [3, 0, 5, 40]
    for dtype in (np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64):
        result = gk.expand(offsets_of(sizes).astype(dtype), method, device=device)
        np.testing.assert_array_equal(result.item, np.repeat(np.arange(4), sizes))
    result = gk.expand([0, 3, 3, 8, 48], method, device=device)
    np.testing.assert_array_equal(result.item, np.repeat(np.arange(4), sizes))


@methods
def test_the_callers_arrays_stay_as_they_are(method, device):
    offsets = WORKLOADS["skewed"].astype(np.int32)
    values = np.arange(offsets[-1], dtype=np.int32)
    before = offsets.copy(), values.copy()
    gk.expand(offsets, method, values=values, device=device)
    np.testing.assert_array_equal(offsets, before[0])
    np.testing.assert_array_equal(values, before[1])
