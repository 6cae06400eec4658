"""Who finds planted errors: the SIMT machine's checker, or the tools of compute-sanitizer.

``python -m gpukernels.bench sanitizer`` launches every kernel of ``tests/simt/planted_bugs.py``,
and its repaired twin, on the current GPU, plainly and under each tool, in a process each, for some
minutes. The machine checks the same launches. ``data/benchmarks/sanitizer.json`` tells who
reported what; ``--works`` chooses kernels, ``--seconds`` how long a process may take.

The processes run side by side. None is timed; one that is still there in the end is stopped, as a
kernel without an end, or threads that wait for others that never come, would run forever.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from gpukernels.bench import planted_launch, record, steps
from gpukernels.errors import InvalidArgument
from gpukernels.reference import multicore
from gpukernels.simt.linting import check

#: The tools of compute-sanitizer.
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
#: Where the planted errors are; they are no part of what is installed.
PLANTED = Path(__file__).parents[2] / "tests" / "simt" / "planted_bugs.py"
#: With and without one.
ALL = ("", *TOOLS)
#: Rules of the machine on what may never end on a GPU.
UNENDING = frozenset({"barrier-divergence", "endless-loop"})
#: Rules of the machine on what is slow and not wrong.
ON_SPEED = ("bank-conflicts", "uncoalesced", "atomic-contention", "divergence")
#: The exit status of a tool that has reported something; no child has it.
REPORTED = 86
#: Seconds after which a process is stopped, and messages of a run that are kept.
LIMIT, MESSAGES = 60.0, 4
#: How a run ended whose tool gave up, and what a result may be.
FAILED, RESULTS = "tool failed", {True: "right", False: "wrong"}
#: Where all that the tools print is left, a file each.
LOGS = record.FOLDER.parents[1] / "build" / "sanitizer"

WHAT = (
    "planted errors and their repaired twins, by who reports them: `machine`, gpukernels.check, "
    "its rules; the tools of compute-sanitizer, their messages, over a process each on the GPU; "
    "`result`: what came out of a launch without any tool; `ended`: how the process did"
)

#: What a tool says of itself, of the process or of how much it found, which is no report.
_NO_REPORT = re.compile(r"COMPUTE-SANITIZER|SUMMARY|Target application|[Pp]rocess ")
_COUNT = re.compile(r"SUMMARY: (\d+) ")
_NUMBERS = re.compile(r"0x[0-9a-fA-F]+|\(\d+,\d+,\d+\)|\[\d+ hazards?\]")


class SanitizerError(RuntimeError):
    """compute-sanitizer is missing, or does not run here."""


def find() -> str:
    """Return where ``compute-sanitizer`` is.

    Raises
    ------
    SanitizerError
        If it is nowhere.
    """
    for place in (None, "/usr/local/cuda/bin", "/usr/local/cuda/compute-sanitizer"):
        if found := shutil.which("compute-sanitizer", path=place):
            return found
    raise SanitizerError("compute-sanitizer is not on the path; it comes with the CUDA toolkit")


def version(sanitizer: str) -> str:
    """Return the version of the tools."""
    said = subprocess.run([sanitizer, "--version"], capture_output=True, text=True, check=True)
    found = re.search(r"[Vv]ersion (\S+)", said.stdout)
    return found[1] if found else said.stdout.strip().splitlines()[-1]


def read(log: str, file: str) -> dict[str, Any]:
    """Return what a tool's output says: how many reports, their first words, and lines of `file`.

    Parameters
    ----------
    log : str
        What it printed: its own lines begin with ``=========``, and within a report they are
        indented.
    file : str
        Name of the file whose line numbers are wanted.
    """
    own = [line[9:] for line in log.splitlines() if line.startswith("=========")]
    reports = max((int(n) for line in own for n in _COUNT.findall(line)), default=0)
    heads = [line[1:].rstrip() for line in own if re.match(r" \S", line)]
    says = [_NUMBERS.sub("...", head)[:160] for head in heads if not _NO_REPORT.search(head)]
    lines = {int(n) for line in own for n in re.findall(rf"{re.escape(file)}:(\d+)", line)}
    return {
        "reports": reports,
        "says": list(dict.fromkeys(says))[:MESSAGES],
        "lines": sorted(lines),
    }


def run(command: Sequence[str], seconds: float) -> tuple[str, int | None]:
    """Run a command; return what it printed and its exit status, None if it had to be stopped."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as child:
        try:
            return child.communicate(timeout=seconds)[0], child.returncode
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)  # the tool, and what it watches
            return child.communicate()[0] or "", None


def watched(sanitizer: str, tool: str, name: str, seconds: float) -> dict[str, Any]:
    """Launch a planted kernel under a tool, or under none if `tool` is empty; return what is told.

    Raises
    ------
    SanitizerError
        If there is no tool, and nothing is told either.
    """
    own = [sys.executable, "-P", planted_launch.__file__, str(PLANTED), name]
    options = ["--tool", tool, "--error-exitcode", str(REPORTED)]
    if tool == "memcheck":  # numba asks the driver for what may not be there
        options += ["--report-api-errors", "no"]
    log, status = run([sanitizer, *options, *own] if tool else own, seconds)
    LOGS.mkdir(parents=True, exist_ok=True)
    (LOGS / f"{name}.{tool or 'alone'}.log").write_text(log)
    told = _last_json(log)
    ended = "stopped" if status is None else "with an error" if "error" in told else "by itself"
    if not tool:
        if status is not None and not told:
            raise SanitizerError(f"{name} was not launched (exit status {status}):\n{log[-2000:]}")
        right = told.get("right")
        return {"ended": ended, "result": "none" if right is None else RESULTS[right]}
    found = read(log, PLANTED.name)
    if status == REPORTED:
        found["reports"] = max(found["reports"], 1)
    if "Internal Sanitizer Error" in log or (status is not None and "SUMMARY" not in log):
        ended = FAILED
    return {"ended": ended, **found}


def _last_json(log: str) -> dict[str, Any]:
    """Return what the child told; nothing if it did not come to that."""
    for line in reversed(log.splitlines()):
        if line.startswith("{"):
            with contextlib.suppress(json.JSONDecodeError):
                return json.loads(line)
    return {}


def on_the_machine(pair, kernel) -> dict[str, Any]:
    """Return what the machine's checker reports of a launch; what is slow only is left out."""
    report = check(kernel, pair.blocks, pair.threads, *pair.arguments(), seeds=2, loop_budget=1000)
    findings = [f for f in report.findings if f.rule not in ON_SPEED]
    lines = {line for f in findings for line in (f.line, f.other_line) if line}
    return {
        "reports": len(findings),
        "says": list(dict.fromkeys(f.rule for f in findings)),
        "lines": sorted(lines),
    }


def chosen_pairs(works: Sequence[str] | None) -> list:
    """Return the planted errors of these names, all that make a kernel wrong if there are none.

    Raises
    ------
    SanitizerError
        If the planted errors are not at hand.
    InvalidArgument
        If a name is none of theirs.
    """
    if not PLANTED.exists():
        raise SanitizerError(f"the planted errors are in {PLANTED}, part of the repository alone")
    pairs = {
        pair.name: pair
        for pair in planted_launch.planted(PLANTED).PAIRS
        if pair.rule not in ON_SPEED
    }
    for name in works or ():
        if name not in pairs:
            raise InvalidArgument("--works", name, f"one of {', '.join(pairs)}")
    return [pair for name, pair in pairs.items() if not works or name in works]


def write(
    device,
    here: dict[str, Any],
    folder: Path,
    *,
    works: Sequence[str] | None = None,
    seconds: float = LIMIT,
) -> Path:
    """Run every planted error by every tool, and write the file; return its path."""
    sanitizer = find()
    rows: dict[str, dict[str, Any]] = {}
    for pair in chosen_pairs(works):
        for kernel in (pair.broken, pair.repaired):
            name, repaired = planted_launch.function_of(kernel).__name__, kernel is pair.repaired
            if name not in rows:
                about = {"kernel": name, "error": pair.rule, "repaired": repaired}
                rows[name] = {**about, "machine": on_the_machine(pair, kernel)}
    steps.expect(len(rows))

    # A process spends its time in Python and the compiler; the GPU waits. What may never
    # end begins first, as it takes all the time that it may.
    ordered = sorted(
        rows, key=lambda name: not UNENDING.intersection(rows[name]["machine"]["says"])
    )
    with ThreadPoolExecutor(max(1, multicore.cores())) as together:
        under = {
            name: {tool: together.submit(watched, sanitizer, tool, name, seconds) for tool in ALL}
            for name in ordered
        }
        for name, told in under.items():
            for tool, found in told.items():
                rows[name][tool or "alone"] = found.result()
            by = ", ".join(tool for tool in TOOLS if rows[name][tool]["reports"])
            steps.tell(f"  {name:60} {rows[name]['alone']['result']:6} {by or 'no report'}")
    for tool in TOOLS:
        if all(row[tool]["ended"] == FAILED for row in rows.values()):
            raise SanitizerError(f"{tool} does not run here; what it says is in {LOGS}")
    measured = {"sanitizer": version(sanitizer), "stopped_after": seconds, "rows": [*rows.values()]}
    return record.write("sanitizer", WHAT, measured, here, folder)
