"""An answer that does not end is stopped by its steps, wherever it hangs, and its loop is named."""

from __future__ import annotations

import ast

import pytest
from adversaries import KERNELS, kernel_of
from effort import in_turn

import gpukernels as gk
from gpukernels.exercises.judge import bench
from gpukernels.simt import python_function

THREAD = "cuda.threadIdx.x + cuda.threadIdx.y * cuda.blockDim.x"
#: Where a solution is made to hang: lines, and whether they go before or behind its own.
HANGS = {
    "all threads, before": (["while True:  # hangs", "    pass"], True),
    "all threads, behind": (["while True:  # hangs", "    pass"], False),
    "one thread": (
        [f"if {THREAD} == 0:", "    k = 0", "    while k < 7:  # hangs", "        k *= 2"],
        False,
    ),
    "around a loop": (
        ["while True:  # hangs", "    for _ in range(50):", "        pass"],
        False,
    ),
    "within a loop": (
        ["for _ in range(50):", "    while True:  # hangs", "        pass"],
        False,
    ),
    # Under random alone atomics are not in the order of the threads.
    "under the random schedule": (
        [
            "ticket = cuda.shared.array(1, numba.int32)",
            f"if {THREAD} == 0:",
            "    ticket[0] = 0",
            "cuda.syncthreads()",
            "number = cuda.atomic.add(ticket, 0, 1)",
            f"while number != {THREAD}:  # hangs",
            "    pass",
        ],
        True,
    ),
}


def hanging(ex, lines: list[str], before: bool, folder):
    """Return the solution's kernel with `lines` in it."""
    name = python_function(ex.solution.answer).__name__
    functions = (node for node in ast.parse(ex.solution.text).body if hasattr(node, "body"))
    body = next(node.body for node in functions if node.name == name)
    text = ex.solution.text.splitlines()
    at = body[0].end_lineno if before else body[-1].end_lineno  # the first is the docstring
    text[at:at] = [f"    {line}" for line in lines]
    return kernel_of(ex, "\n".join(["import numba", *text]) + "\n", folder)


@pytest.mark.parametrize(("name", "how"), in_turn(KERNELS, HANGS))
def test_an_endless_answer_is_stopped_by_its_steps_and_the_loop_is_named(
    name, how, tmp_path, monkeypatch
):
    ex = gk.exercise(name)
    kernel = hanging(ex, *HANGS[how], tmp_path)
    devices = []

    class Noting(bench.Bench):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            devices.append(self)

    monkeypatch.setattr(bench, "Bench", Noting)
    report = ex.check(kernel, raises=False, seed=1)
    (fault,) = report.findings
    assert "this loop has not ended: all loops together have taken" in fault.text
    assert fault.details[0].endswith("# hangs")
    assert sum(device.pace.taken for device in devices) < 1_000_000


def test_two_checks_of_an_endless_answer_say_the_same(tmp_path):
    ex = gk.exercise("bfs-2")
    kernel = hanging(ex, *HANGS["under the random schedule"], tmp_path)
    first, second = (repr(ex.check(kernel, raises=False, seed=s)) for s in (1, 2))
    assert first == second
    assert "schedule random (seed 1)" in first
