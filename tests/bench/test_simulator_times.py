"""The benchmark of the machine beside numba's simulator compares what gives the same results.

The times themselves are compared by ``make bench``.
"""

from __future__ import annotations

import json

from jsonschema import Draft202012Validator
from test_schema import HEAD as HERE

from gpukernels.bench import simulator
from gpukernels.bench.schema import schema
from gpukernels.bench.simulator import all_pairs, by_schedule, compare


def test_machine_traced_machine_and_simulator_agree():
    times = compare(128, runs=1)  # raises AssertionError where distances differ
    assert set(times) == {"plain", "traced", "simulator"}
    assert min(times.values()) > 0


def test_every_schedule_is_timed():
    assert set(by_schedule(128, runs=1)) == {"lockstep", "warp", "random"}


def test_all_pairs_agree_with_scipy():
    assert all_pairs(64) > 0


def test_what_was_timed_is_printed_and_written(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(
        simulator, "on_simulator", lambda n, runs: simulator.on_machine(n, False, 1)
    )
    monkeypatch.setattr(simulator, "all_pairs", lambda: 0.5)
    kept = json.loads(
        simulator.write(None, HERE, tmp_path, vertices=64, large=128, repeat=1).read_text()
    )
    assert not list(Draft202012Validator(schema("simulator")).iter_errors(kept))
    told = {row["what"]: row["ms"] for row in kept["times"]}
    assert len(told) == 9
    assert told["blocked Floyd-Warshall, 256 x 256, tiles of 16"] == 500
    assert all(what in capsys.readouterr().out for what in list(told)[:1])
