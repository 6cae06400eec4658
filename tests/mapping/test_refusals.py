"""What `expand` does not take is refused by name before anything is copied or launched."""

from __future__ import annotations

import numpy as np
import pytest
from reading_device import UntouchedDevice

import gpukernels as gk
from gpukernels.mapping import METHODS

OFFSETS = np.array([0, 2, 2, 5])


@pytest.mark.parametrize(
    ("offsets", "argument"),
    [
        ([], "offsets.shape"),
        ([[0, 1], [1, 2]], "offsets.shape"),
        (5, "offsets.shape"),
        ([0.0, 1.0], "offsets.dtype"),
        ([False, True], "offsets.dtype"),
        ([1, 2], r"offsets\[0\]"),
        ([0, 3, 2, 5], r"offsets\[2\]"),
        (np.array([0, 3, 2], np.uint32), r"offsets\[2\]"),
        ([0, -1], r"offsets\[1\]"),
        ([0, 2**31], r"offsets\[-1\]"),
        (np.array([0, 2**63], np.uint64), r"offsets\[-1\]"),
        ([0, 2**40, 2**41], r"offsets\[-1\]"),
    ],
)
@pytest.mark.parametrize("method", METHODS)
def test_offsets_that_are_none(offsets, argument, method):
    with pytest.raises(gk.InvalidArgument, match=f"^{argument} = "):
        gk.expand(offsets, method, device=UntouchedDevice())


@pytest.mark.parametrize(
    ("values", "argument"),
    [
        (np.zeros(4), "values.shape"),
        (np.zeros((5, 1)), "values.shape"),
        (np.zeros(5, np.int16), "values.dtype"),
        (np.zeros(5, np.complex64), "values.dtype"),
        ([True] * 5, "values.dtype"),
    ],
)
def test_values_that_do_not_fit(values, argument):
    with pytest.raises(gk.InvalidArgument, match=argument):
        gk.expand(OFFSETS, "virtual_warp", values=values, device=UntouchedDevice())


@pytest.mark.parametrize(
    ("method", "knobs"),
    [
        ("virtual_warp", {"warp_size": 3}),
        ("virtual_warp", {"warp_size": 64}),
        ("virtual_warp", {"warp_size": True}),
        ("virtual_warp", {"warp_size": 8.0}),
        ("virtual_warp", {"warp_size": np.float32(2)}),
        ("virtual_warp", {"warp_size": np.array([4])}),
        ("virtual_warp", {"warp_size": np.array([4, 4])}),
        ("virtual_warp", {"warp_size": None}),
        ("dynamic_virtual_warp", {"min_size": 4.0}),
        ("dynamic_virtual_warp", {"min_size": "4"}),
        ("dynamic_virtual_warp", {"min_size": np.array([4, 4])}),
        ("dynamic_virtual_warp", {"threshold": np.array([64])}),
        ("dynamic_virtual_warp", {"min_size": 0}),
        ("dynamic_virtual_warp", {"min_size": 5}),
        ("dynamic_virtual_warp", {"threshold": 0}),
        ("dynamic_virtual_warp", {"threshold": 2.5}),
        ("dynamic_virtual_warp", {"resident_threads": 0}),
        ("cta_warp_scan", {"cta_threshold": 0}),
        ("cta_warp_scan", {"warp_threshold": 0}),
        ("cta_warp_scan", {"warp_threshold": 33, "cta_threshold": 32}),
        ("local_warp_search", {"form": "global"}),
        ("block_search", {"chunk_items": 0}),
        ("block_search", {"chunk_items": 12_288}),
        ("two_phase", {"units_per_thread": 0}),
        ("two_phase", {"units_per_thread": 96}),
        ("two_phase", {"units_per_thread": "7"}),
        ("multi_phase", {"units_per_thread": 65}),
        ("multi_phase", {"units_per_thread": 11, "iterations": 6}),
        ("multi_phase", {"iterations": 0}),
        ("multi_phase", {"search": "linear"}),
        ("merge_path", {"steps_per_thread": 0}),
        ("merge_path", {"steps_per_thread": 96}),
        ("max_scan", {"units_per_thread": 1}),
        ("max_scan", {"units_per_thread": 33}),
        ("max_scan", {"units_per_thread": 12, "threads": 1024}),
        ("max_scan", {"blocks": 0}),
        ("max_scan", {"blocks": 1.5}),
    ],
)
def test_knobs_out_of_range(method, knobs):
    with pytest.raises(gk.InvalidArgument) as caught:
        gk.expand(OFFSETS, method, device=UploadOnly(), **knobs)
    assert caught.value.argument in knobs


class UploadOnly(gk.SimtDevice):
    """A device that takes arrays but launches nothing."""

    def launch(self, *args, **options):
        raise AssertionError("launched with a knob that is out of range")


def test_the_greatest_knobs_that_fit_are_taken(device):
    for method, knobs in [
        ("block_search", {"chunk_items": 12_287}),
        ("two_phase", {"units_per_thread": 95}),
        ("multi_phase", {"units_per_thread": 64}),
        ("multi_phase", {"units_per_thread": 12, "iterations": 5}),
        ("merge_path", {"steps_per_thread": 95}),
        ("max_scan", {"units_per_thread": 32}),
        ("max_scan", {"units_per_thread": 11, "threads": 1024, "blocks": 2**31 - 1}),
    ]:
        result = gk.expand(OFFSETS, method, device=device, **knobs)
        np.testing.assert_array_equal(result.item, [0, 0, 2, 2, 2])


@pytest.mark.parametrize(
    "threads",
    [0, 33, 2048, None, "x", [], {}, 1j, 128.0, True, np.float32(64), np.array([64, 64])],
    ids=repr,
)
def test_threads_of_no_whole_warps(threads):
    with pytest.raises(gk.InvalidArgument) as caught:
        gk.expand(OFFSETS, threads=threads, device=UntouchedDevice())
    assert caught.value.argument == "threads"
