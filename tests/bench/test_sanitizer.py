"""Planted errors are launched, tools' words are read, and what does not run is told: no GPU."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys

import pytest
from jsonschema import Draft202012Validator
from test_schema import HEAD

from gpukernels.bench import planted_launch, sanitizer
from gpukernels.bench.schema import LIMITS, schema
from gpukernels.errors import InvalidArgument

HERE = {name: value for name, value in HEAD.items() if name not in ("what", *LIMITS)}

#: What the tools print, shortened.
MEMCHECK = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at tail_off_by_one(Array<int, 1>, Array<int, 1>)+0x1c0 in planted_bugs.py:612
=========     by thread (18,0,0) in block (1,0,0)
=========     Access at 0x7f2c0ca00c8 is out of bounds
=========
========= Invalid __global__ read of size 4 bytes
=========     at tail_off_by_one(Array<int, 1>, Array<int, 1>)+0x150 in planted_bugs.py:612
=========     by thread (18,0,0) in block (1,0,0)
=========
========= Target application returned an error
========= ERROR SUMMARY: 2 errors
"""
RACECHECK = """\
========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at 0x1f0 in planted_bugs.py:53
=========     and Read access at 0x230 in planted_bugs.py:54 [64 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
"""
CLEAN = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"

FAKE = f"""#!{sys.executable}
import sys, time
if "--version" in sys.argv:
    sys.exit(print("NVIDIA (R) Compute Sanitizer\\nVersion 2025.3.0"))
tool, kernel = sys.argv[sys.argv.index("--tool") + 1], sys.argv[-1]
said = {{("memcheck", "tail_off_by_one"): {MEMCHECK!r},
        ("racecheck", "missing_barrier"): {RACECHECK!r}}}.get((tool, kernel))
if tool == "synccheck" and kernel == "missing_barrier":
    time.sleep(60)
if tool == "initcheck" and BROKEN:
    sys.exit(print("========= Internal Sanitizer Error: no device") or 1)
print(said or {CLEAN!r}, end="")
print('{{"right": true}}')
sys.exit({sanitizer.REPORTED} if said else 0)
"""


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Put a compute-sanitizer on the path; call it with whether one tool gives up."""
    monkeypatch.setattr(sanitizer, "LOGS", tmp_path / "logs")

    def put(broken: bool = False):
        file = tmp_path / "compute-sanitizer"
        file.write_text(FAKE.replace("BROKEN", str(broken)))
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)

    return put


WORKS = ["missing_barrier", "tail_off_by_one"]


def test_the_file_tells_who_found_what(fake, tmp_path):
    fake()
    path = sanitizer.write(None, HERE, tmp_path, works=WORKS, seconds=8.0)
    kept = json.loads(path.read_text())
    assert list(Draft202012Validator(schema("sanitizer")).iter_errors(kept)) == []
    assert kept["sanitizer"] == "2025.3.0"
    rows = {row["kernel"]: row for row in kept["rows"]}
    assert list(rows) == [name + twin for name in WORKS for twin in ("", "_repaired")]
    barrier, tail = rows["missing_barrier"], rows["tail_off_by_one"]
    by = {name: [t for t in ("machine", *sanitizer.TOOLS) if row[t]["reports"]]
          for name, row in rows.items()}  # fmt: skip
    assert by == {
        "missing_barrier": ["machine", "racecheck"],
        "missing_barrier_repaired": [],
        "tail_off_by_one": ["machine", "memcheck"],
        "tail_off_by_one_repaired": [],
    }
    assert (barrier["error"], barrier["repaired"]) == ("race", False)
    assert barrier["machine"]["says"] == ["race"]
    assert barrier["racecheck"] == {
        "ended": "by itself",
        "reports": 1,
        "says": ["Error: Race reported between Write access at ... in planted_bugs.py:53"],
        "lines": [53, 54],
    }
    assert barrier["synccheck"]["ended"] == "stopped"
    assert tail["memcheck"]["reports"] == 2
    assert tail["memcheck"]["says"] == [
        "Invalid __global__ write of size 4 bytes",
        "Invalid __global__ read of size 4 bytes",
    ]
    logs = {log.name for log in (tmp_path / "logs").iterdir()}
    assert {"tail_off_by_one.memcheck.log", "tail_off_by_one.alone.log"} <= logs


def test_a_tool_that_never_runs_is_told(fake, tmp_path):
    fake(broken=True)
    with pytest.raises(sanitizer.SanitizerError, match="initcheck does not run here"):
        sanitizer.write(None, HERE, tmp_path, works=["tail_off_by_one"], seconds=8.0)


def test_an_unknown_kernel_and_one_that_is_only_slow_are_refused(fake, tmp_path):
    fake()
    for name in ("no_such_kernel", "neighbors_far_apart"):
        with pytest.raises(InvalidArgument, match=f"--works.*{name}.*missing_barrier"):
            sanitizer.write(None, HERE, tmp_path, works=[name])


def test_a_machine_without_the_tools_or_the_kernels_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(sanitizer.shutil, "which", lambda *_, **__: None)
    with pytest.raises(sanitizer.SanitizerError, match="not on the path"):
        sanitizer.find()
    monkeypatch.setattr(sanitizer, "PLANTED", tmp_path / "nowhere.py")
    with pytest.raises(sanitizer.SanitizerError, match=r"nowhere\.py"):
        sanitizer.chosen_pairs(None)


def test_a_summary_of_nothing_is_no_report():
    assert sanitizer.read(CLEAN, "planted_bugs.py") == {"reports": 0, "says": [], "lines": []}


def in_a_process(name: str, **settings: str) -> tuple[int, dict]:
    command = [sys.executable, "-P", planted_launch.__file__, str(sanitizer.PLANTED), name]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **settings}, timeout=60
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout.splitlines()[-1])


def test_the_process_tells_whether_the_result_is_right():
    """Under numba's simulator, where a GPU is not at hand."""
    simulated = {"NUMBA_ENABLE_CUDASIM": "1"}
    assert in_a_process("negative_index_repaired", **simulated) == (0, {"right": True})
    # The simulator reads the element before the first from the end, as Python does.
    assert in_a_process("negative_index", **simulated) == (0, {"right": False})
    status, told = in_a_process("tail_off_by_one", **simulated)
    assert status == 1
    assert "out of bounds" in told["error"]
