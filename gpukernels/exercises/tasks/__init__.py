"""The exercises: for each chapter, a module of kernels and inputs, and its words in Markdown."""

from __future__ import annotations

from importlib import import_module

#: The chapters that have exercises, in the order of the book, as their notebooks are called.
CHAPTERS = (
    "before_the_first_warp", "simt", "representations", "mapping_static", "shared_memory",
    "frontier_bfs", "duplicates", "scans", "mapping_dynamic", "better_queues", "bfs4k", "direction",
    "sssp_spectrum", "hbf", "floyd_warshall", "all_pairs_otherwise", "performance_power_energy",
    "beyond_one_gpu",
)  # fmt: skip
#: The exercises of each chapter.
EXERCISES = {name: import_module(f"{__name__}.{name}").EXERCISES for name in CHAPTERS}
