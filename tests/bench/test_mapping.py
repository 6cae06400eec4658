"""The benchmark of the mapping techniques measures all of them, and only right ones."""

from __future__ import annotations

import json

import numpy as np
import pytest

import gpukernels as gk
from gpukernels.bench import directions
from gpukernels.bench import mapping as bench
from gpukernels.bench.counter_cases import cases
from gpukernels.graphs.workloads import TARGETS
from gpukernels.mapping import METHODS
from gpukernels.mapping.choose import costs_of_benchmark, regret
from gpukernels.mapping.workload import upload


@pytest.fixture(scope="module")
def measured():
    return bench.measure(gk.SimtDevice(), 40, block_sizes=(32, 64), repeat=1, busy_rounds=2)


def test_every_technique_is_measured_on_every_workload_at_every_block_size(measured):
    assert {row["method"] for row in measured["times"]} == set(METHODS)
    rows = {(row["workload"], row["technique"], row["threads"]) for row in measured["times"]}
    assert len(rows) == len(measured["times"]) == len(TARGETS) * len(bench.TECHNIQUES) * 2
    sizes = {r["knobs"]["warp_size"] for r in measured["times"] if r["method"] == "virtual_warp"}
    assert sizes == {1, 2, 4, 8, 16, 32}
    assert all(row["ms"] > 0 and row["driver_ms"] > 0 for row in measured["times"])


@pytest.mark.parametrize("one", [bench, directions], ids=["mapping", "directions"])
def test_some_methods_can_be_chosen(one, tmp_path):
    few = {"shrink": 16, "items": 40, "repeat": 1, "methods": ["merge_path"]}
    rows = json.loads(one.write(gk.SimtDevice(), {}, tmp_path, **few).read_text())["times"]
    assert {(row["workload"], row["technique"]) for row in rows} == {
        (workload, "merge_path") for workload in TARGETS
    }


def test_the_counters_of_every_technique_are_compared():
    named = {case.name.split()[0] for case in cases() if case.group == "mapping"}
    assert named == set(METHODS)


def test_a_workload_s_row_has_its_figures_and_the_choice(measured):
    assert [row["workload"] for row in measured["workloads"]] == list(TARGETS)
    for row in measured["workloads"]:
        offsets = gk.workload(row["workload"], 40)
        sizes = np.diff(offsets)
        assert (row["items"], row["units"], row["largest"]) == (40, offsets[-1], sizes.max())
        assert row["choice"] == gk.choose_mapping(offsets, "papers").label
        assert row["mean"] == pytest.approx(sizes.mean(), abs=0.01)


def test_the_rows_are_what_regret_takes(measured):
    choices = {row["workload"]: row["choice"] for row in measured["workloads"]}
    found = regret(costs_of_benchmark(measured, 32), choices)
    assert set(found) == set(TARGETS)
    assert all(r.ratio >= 1 for r in found.values())


def test_a_technique_that_skips_a_unit_is_not_timed(monkeypatch):
    device = gk.SimtDevice()
    offsets = np.array([0, 2, 2, 5], np.int32)
    load = upload(offsets, None, device)
    expected = np.array([0, 0, 2, 2, 2])
    options = {"repeat": 1, "busy_rounds": 0}
    right = bench.measure_technique(device, load, expected, "two_phase", {}, 32, **options)
    assert right["launches"] == 2
    # The array still holds the right answer; a technique that writes nothing must not profit.
    monkeypatch.setitem(METHODS, "two_phase", lambda load, device, threads: {"launches": 0})
    with pytest.raises(AssertionError, match=r"item\[0\] is -1 and should be 0; 5 of 5 are wrong"):
        bench.measure_technique(device, load, expected, "two_phase", {}, 32, **options)
