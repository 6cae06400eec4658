"""The benchmark of whole calls counts what it says it counts."""

from __future__ import annotations

import json

import pytest
from fake_gpu import FakeGpus
from jsonschema import Draft202012Validator
from test_schema import HEAD as HERE

import gpukernels as gk
from gpukernels import reference
from gpukernels.bench import calls
from gpukernels.bench.schema import schema


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


def test_a_second_call_allocates_nothing_and_its_rest_is_without_kernels_and_copies(gpus):
    g = gk.rmat(6, 4, seed=1)
    (row,) = calls.measure(g, 0, ["frontier"], repeat=2, parents=False)
    assert row["allocations"] == 0
    assert row["beside_ms"] == pytest.approx(row["call_ms"] - row["kernel_ms"] - row["copy_ms"])


def test_a_call_that_allocates_is_counted(gpus):
    device = gk.CudaDevice()
    kept = []
    assert calls.allocations_of(lambda: kept.append(device.empty(len(kept) + 99, "int32"))) > 0


def test_a_wrong_distance_is_no_time(gpus, monkeypatch):
    g = gk.rmat(6, 4, seed=1)
    from_another = reference.bfs(g, 1)
    monkeypatch.setattr(calls.sequential, "bfs", lambda g, root: from_another)
    with pytest.raises(AssertionError, match="harish"):
        calls.measure(g, 0, ["harish"], repeat=1)


def test_the_tables_are_printed_and_written(gpus, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(calls, "SIZES", (1 << 14, 1 << 18))
    few = {"scale": 6, "edge_factor": 4, "repeat": 1, "methods": ["harish"]}
    kept = json.loads(calls.write(None, HERE, tmp_path, **few).read_text())
    assert not list(Draft202012Validator(schema("calls")).iter_errors(kept))
    assert [row["method"] for row in kept["times"]] == ["harish"]
    assert [row["bytes"] for row in kept["copies"]] == list(calls.SIZES)
    calls.profile(gk.rmat(6, 4, seed=1), 0, "harish", 1)
    out = capsys.readouterr().out
    assert "harish" in out
    assert out.count("GB/s") == len(calls.SIZES)
    assert "function calls" in out
