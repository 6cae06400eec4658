"""The exercises: for each chapter, a module of kernels and inputs, and its words in Markdown."""

from __future__ import annotations

from . import (
    all_pairs_otherwise,
    better_queues,
    beyond_one_gpu,
    bfs4k,
    direction,
    duplicates,
    floyd_warshall,
    frontier_bfs,
    hbf,
    mapping_dynamic,
    mapping_static,
    performance_power_energy,
    representations,
    scans,
    shared_memory,
    simt,
    sssp_spectrum,
)

#: The modules of the chapters, in the order of the book.
CHAPTERS = (
    simt,
    representations,
    mapping_static,
    shared_memory,
    frontier_bfs,
    duplicates,
    scans,
    mapping_dynamic,
    better_queues,
    bfs4k,
    direction,
    sssp_spectrum,
    hbf,
    floyd_warshall,
    all_pairs_otherwise,
    performance_power_energy,
    beyond_one_gpu,
)
