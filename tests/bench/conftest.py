"""The SIMT machine has no host to wait for: it is kept busy for two rounds, not for seconds."""

from __future__ import annotations

import pytest

from gpukernels.bench import kernel_time, search_time


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    monkeypatch.setattr(kernel_time, "BUSY_ROUNDS", 2)
    monkeypatch.setattr(search_time, "SHORT_ROUNDS", 2)
