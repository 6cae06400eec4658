"""Offsets that mapping techniques stumble over, and every technique with its knobs."""

from __future__ import annotations

import numpy as np


def offsets_of(sizes) -> np.ndarray:
    """Return the exclusive prefix sum of `sizes` with the total at its end."""
    return np.concatenate([[0], np.cumsum(np.asarray(sizes, dtype=np.int64))])


def owners(offsets) -> np.ndarray:
    """Return the item of every unit: the oracle."""
    return np.repeat(np.arange(offsets.size - 1), np.diff(offsets))


def _skewed(items: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    sizes = np.floor(rng.pareto(1.2, items)).astype(int)
    return np.where(rng.random(items) < 0.3, 0, np.minimum(sizes, 1500))


SIZES = {
    "no items": [],
    "one empty item": [0],
    "all empty": [0] * 70,
    "one unit": [1],
    "one giant item": [5000],
    "a giant between empties": [0] * 40 + [3000] + [0] * 40,
    "a giant at the end": [1] * 50 + [2000],
    "empties at both ends": [0] * 33 + [2, 0, 0, 3, 1] + [0] * 65,
    "all ones": [1] * 300,
    "31 ones": [1] * 31,
    "32 ones": [1] * 32,
    "33 ones": [1] * 33,
    "sizes about a warp": [31, 32, 33, 0, 32, 1, 63, 64, 65],
    "sizes about a block": [127, 128, 129, 0, 255, 256, 257, 1],
    "sizes about the largest block": [1023, 1024, 1025, 0, 1, 1407, 1408, 1409],
    "every other item": [0, 7] * 90,
    "a long run of empties": [3] + [0] * 3000 + [4] + [0] * 1500,
    "falling": list(range(60, -1, -1)),
    "skewed": _skewed(400, 3),
    "more skewed": _skewed(257, 4),
}
WORKLOADS = {name: offsets_of(sizes) for name, sizes in SIZES.items()}

#: Every technique, at knobs that take each of its paths.
VARIANTS = [
    ("work_item_to_thread", {}),
    *(("virtual_warp", {"warp_size": size}) for size in (1, 2, 4, 8, 16, 32)),
    ("dynamic_virtual_warp", {}),
    ("dynamic_virtual_warp", {"threshold": 32, "min_size": 2, "resident_threads": 64}),
    ("cta_warp_scan", {}),
    ("cta_warp_scan", {"cta_threshold": 1, "warp_threshold": 1}),
    ("cta_warp_scan", {"cta_threshold": 5000, "warp_threshold": 5000}),
    ("cta_warp_scan", {"cta_threshold": 60, "warp_threshold": 7}),
    ("direct_search", {}),
    ("local_warp_search", {"form": "register"}),
    ("local_warp_search", {"form": "shared"}),
    ("block_search", {}),
    ("block_search", {"chunk_items": 1}),
    ("block_search", {"chunk_items": 50}),
    ("two_phase", {}),
    ("two_phase", {"units_per_thread": 1}),
    ("two_phase", {"units_per_thread": 4}),
    ("multi_phase", {}),
    ("multi_phase", {"units_per_thread": 1, "iterations": 1, "search": "binary"}),
    ("multi_phase", {"units_per_thread": 3, "iterations": 4, "search": "interpolation"}),
    ("multi_phase", {"units_per_thread": 8, "iterations": 8}),
    ("merge_path", {}),
    ("merge_path", {"steps_per_thread": 1}),
    ("merge_path", {"steps_per_thread": 4}),
    ("max_scan", {}),
    ("max_scan", {"units_per_thread": 2}),
    ("max_scan", {"units_per_thread": 5, "blocks": 2}),
]


def variant_name(part) -> str:
    """Return how pytest calls a method or its knobs."""
    if isinstance(part, dict):
        return ",".join(f"{k}={v}" for k, v in part.items()) or "default"
    return str(part)
