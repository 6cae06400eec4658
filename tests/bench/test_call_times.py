"""The benchmark of whole calls counts what it says it counts."""

from __future__ import annotations

import pytest
from fake_gpu import FakeGpus

import gpukernels as gk
from gpukernels import sequential
from gpukernels.bench import calls


class FakeTimer:
    """A timer of launches that takes none."""

    ms = 0.5

    def __init__(self, device):
        self.device = device

    def __getattr__(self, name):
        return getattr(self.device, name)

    def reset(self):
        pass


@pytest.fixture
def gpus(monkeypatch):
    monkeypatch.setattr(calls, "timer_for", FakeTimer)
    gpus = FakeGpus(monkeypatch)
    yield gpus
    gpus.close()


def test_a_plain_device_allocates_each_time_and_the_other_only_once(gpus):
    g = gk.rmat(6, 4, seed=1)
    (row,) = calls.measure(g, 0, ["frontier"], repeat=2, parents=False)
    assert row["now"]["allocations"] == 0
    assert row["before"]["allocations"] >= 6
    for name in ("before", "now"):
        of = row[name]
        assert of["beside_ms"] == pytest.approx(of["call_ms"] - row["kernel_ms"] - of["copy_ms"])


def test_a_wrong_distance_is_no_time(gpus, monkeypatch):
    g = gk.rmat(6, 4, seed=1)
    from_another = sequential.bfs(g, 1)
    monkeypatch.setattr(calls.sequential, "bfs", lambda g, root: from_another)
    with pytest.raises(AssertionError, match="harish"):
        calls.measure(g, 0, ["harish"], repeat=1)


def test_the_tables_are_printed(gpus, capsys, monkeypatch):
    monkeypatch.setattr(calls, "SIZES", (1 << 14, 1 << 18))
    calls.main("--scale 6 --edge-factor 4 --repeat 1 --methods harish --profile harish".split())
    out = capsys.readouterr().out
    assert "harish" in out
    assert out.count("GB/s") == 2 * len(calls.SIZES)
    assert "function calls" in out
