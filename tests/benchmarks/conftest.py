"""The SIMT machine waits for no host, so it is kept busy for two rounds; nothing is repeated."""

from __future__ import annotations

import pytest

from benchmarks import apsp, bfs, mapping, search_time, sssp
from gpukernels.notebook import cold_cache, kernel_time


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    monkeypatch.setattr(kernel_time, "BUSY_ROUNDS", 2)
    monkeypatch.setattr(mapping, "BUSY_ROUNDS", 2)
    monkeypatch.setattr(search_time, "PATIENCE", 0)
    monkeypatch.setattr(apsp, "PATIENCE", 0)
    monkeypatch.setattr(cold_cache, "UNTOLD", 1 << 10)
    # From two random roots, where GPUs take sixteen.
    monkeypatch.setattr(bfs.measure, "__defaults__", (None, 2, None))
    for benchmark in (bfs, sssp):
        monkeypatch.setitem(benchmark.write.__kwdefaults__, "roots", 2)
        monkeypatch.setitem(benchmark.write.__kwdefaults__, "repeat", 2)
