"""The SIMT machine waits for no host, so it is kept busy for two rounds; nothing is repeated."""

from __future__ import annotations

import pytest

from gpukernels.bench import (
    apsp,
    bfs,
    cold_cache,
    duplicates,
    frontier_bfs,
    kernel_time,
    mapping,
    search_time,
    sssp,
)


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    monkeypatch.setattr(kernel_time, "BUSY_ROUNDS", 2)
    monkeypatch.setattr(mapping, "BUSY_ROUNDS", 2)
    monkeypatch.setattr(search_time, "PATIENCE", 0)
    monkeypatch.setattr(duplicates, "PATIENCE", 0)
    monkeypatch.setattr(apsp, "PATIENCE", 0)
    monkeypatch.setattr(cold_cache, "UNTOLD", 1 << 10)
    # From two random roots, where GPUs take sixteen.
    monkeypatch.setattr(bfs.measure, "__defaults__", (None, 2, None))
    monkeypatch.setattr(duplicates.measure, "__defaults__", (2,))
    monkeypatch.setattr(frontier_bfs.times, "__defaults__", (2,))
    for benchmark in (bfs, sssp):
        monkeypatch.setitem(benchmark.write.__kwdefaults__, "roots", 2)
    for benchmark in (bfs, duplicates, frontier_bfs, sssp):
        monkeypatch.setitem(benchmark.write.__kwdefaults__, "repeat", 2)
