"""The benchmark of making graphs runs, at a small size, and compares with SciPy."""

from __future__ import annotations

import json

from jsonschema import Draft202012Validator
from test_schema import HEAD as HERE

from gpukernels.bench import making
from gpukernels.bench.schema import schema


def test_every_way_of_making_a_graph_has_its_ratio(capsys, tmp_path):
    kept = json.loads(making.write(None, HERE, tmp_path, scale=5, repeat=1).read_text())
    assert not list(Draft202012Validator(schema("making")).iter_errors(kept))
    assert [row["what"] for row in kept["times"]] == ["scipy", *making.TARGETS]
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("512 arcs, ")
    assert [line.split(" s CPU")[0].rsplit(maxsplit=1)[0].strip() for line in said[1:6]] == [
        "scipy",
        *making.TARGETS,
    ]
    assert all("(at most " in line for line in said[2:6])
    assert said[6] == "files of 32 arcs"
    ours = [line for line in said[7:] if line.split()[0] == "gk"]
    assert [line.split()[1] for line in ours] == ["a.txt", "a.gr", "a.mtx", "real.mtx"]
    assert all("(at most " in line for line in ours)


def test_the_ratio_is_that_of_cpu_times():
    rows = making.measure(6, 8, repeat=1)
    for row in rows:
        assert row["ratio"] > 0
        assert row["wall_s"] >= 0
    assert rows[0]["ratio"] == 1
