"""The benchmark of both directions times every technique, and only right ones."""

from __future__ import annotations

import json

import pytest

import gpukernels as gk
from gpukernels.bench import directions, record
from gpukernels.bench.mapping import TECHNIQUES
from gpukernels.graphs.workloads import TARGETS
from gpukernels.mapping import METHODS


def test_every_technique_is_timed_in_both_directions(tmp_path):
    few = {"shrink": 16, "items": 40, "repeat": 1}
    path = directions.write(gk.SimtDevice(), {"device": "the machine"}, tmp_path, **few)
    rows = json.loads(path.read_text())["times"]
    assert path == tmp_path / "directions.json"
    pairs = {(row["workload"], row["technique"]) for row in rows}
    assert len(pairs) == len(rows) == len(TARGETS) * len(TECHNIQUES)
    assert all({"write_ms", "read_ms"} <= set(row) for row in rows)
    assert record.kept("directions", tmp_path)["device"] == "the machine"


@pytest.mark.parametrize("array", ["item", "total"])
def test_a_technique_that_leaves_units_out_is_not_timed(monkeypatch, array):
    whole = METHODS["work_item_to_thread"]

    def lazy(load, device, **options):
        if (load.values is None) == (array == "item"):
            return {"launches": 0}
        return whole(load, device, **options)

    monkeypatch.setitem(METHODS, "work_item_to_thread", lazy)
    with pytest.raises(AssertionError, match=rf"{array}\[\d+\] is wrong"):
        directions.measure(gk.SimtDevice(), 40, repeat=1)
