"""The benchmark of knobs: its plan, its rows, and that a wrong result has no time."""

from __future__ import annotations

import json

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from test_subjects import HERE

from gpukernels.bench import graphs, knobs
from gpukernels.bench.schema import schema
from gpukernels.device import SimtDevice


def test_a_plan_keeps_the_best_of_each_knob():
    work = knobs.Work("w", "", 1.0, None, (("other", {}),), "own", {"a": (1, 2, 3), "b": (1, 2)})
    ms = {(1, 1): 5.0, (2, 1): 3.0, (3, 1): 4.0, (2, 2): 6.0}
    tried = [
        (method, tuple(options.values()))
        for method, options in knobs.settings(work, lambda _, o: ms[tuple(o.values())])
    ]
    own = [(1, 1), (2, 1), (3, 1), (2, 2)]
    assert tried == [("other", ()), *(("own", values) for values in own)]


def test_a_small_run_has_a_row_for_each_setting(tmp_path, monkeypatch):
    device = SimtDevice()
    monkeypatch.setattr(knobs, "measured_bandwidth", lambda device, words: 1.0)
    monkeypatch.setattr(knobs, "THREADS", 32)
    monkeypatch.setattr(knobs, "BLOCKS", 2)
    file = knobs.write(device, HERE, tmp_path, shrink=18, works=["scan", "grid"], seconds=0.01)
    kept = json.loads(file.read_text())
    assert [e.message for e in Draft202012Validator(schema("knobs")).iter_errors(kept)] == []
    assert set(kept["waits"]) == {"grid_sync_us", "hand_barrier_us", "load_us"}
    assert [row["work"] for row in kept["works"]] == ["grid", "scan"]
    for row in kept["works"]:
        assert row["limit_ms"] > 0
        assert row["best"] in row["times"]
        assert row["left_out"] > 0


@pytest.mark.parametrize("name", knobs.WORK_NAMES)
def test_every_setting_of_a_plan_runs_and_is_right(name, monkeypatch):
    """Without a clock: each setting once, of the smallest input."""
    monkeypatch.setattr(knobs, "kernel_ms", lambda device, run, *_, check, **__: once(run, check))
    work = next(work for work in knobs.WORKS if work.name == name)
    told = {"grid_sync_us": 1.0, "hand_barrier_us": 0.5, "load_us": 0.6}
    row = knobs.measure(SimtDevice(), work, 18 if name in ("scan", "grid") else 16, 1e3, told, 1e9)
    counts = [len(values) - 1 for values in work.knobs.values()]
    assert len(row["times"]) == len(work.others) + 1 + sum(counts)
    assert row["left_out"] == 0


def once(run, check):
    run(SimtDevice())
    check()
    return 1.0


def test_no_time_of_a_wrong_search_is_kept(monkeypatch):
    right = knobs.bfs

    def wrong(*args, **options):
        result = right(*args, **options)
        result.distance[-1] += 1
        return result

    monkeypatch.setattr(knobs, "bfs", wrong)
    work = next(work for work in knobs.WORKS if work.name == "rmat")
    told = {"grid_sync_us": 1.0, "hand_barrier_us": 0.5, "load_us": 0.6}
    with pytest.raises(AssertionError, match="persistent"):
        knobs.measure(SimtDevice(), work, 16, 1e3, told, 1e9)


def test_a_whole_grid_has_every_street():
    g = graphs.whole_grid(3, 4)
    assert g.m == 2 * (3 * 3 + 2 * 4)
    assert np.array_equal(np.bincount(g.out_degree), [0, 0, 4, 6, 2])
