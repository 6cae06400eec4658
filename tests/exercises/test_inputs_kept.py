"""A kernel that overwrites an input of its task is refused, and the report names the element."""

from __future__ import annotations

import ast

import numpy as np
import pytest
from adversaries import KERNELS, kernel_of

import gpukernels as gk
from gpukernels.exercises.judge.bench import attempt
from gpukernels.simt import python_function
from gpukernels.trace import ATOMIC, STORE


@pytest.mark.parametrize("name", KERNELS)
def test_a_task_may_write_the_arrays_that_its_solution_changes_and_no_others(name):
    ex = gk.exercise(name)
    stored = set()
    for case in (*ex.cases(), *ex.drawn(1)):
        trace = attempt(ex.solution.answer, case, trace=True).device.trace
        requests = trace.requests
        numbers = requests.array[np.isin(requests.kind, (STORE, ATOMIC))]
        written = [trace.arrays[number] for number in np.unique(numbers)]
        stored |= {info.name for info in written if info.space == "global"}
    assert ex.writes == stored


def inputs_of(ex) -> dict[str, np.ndarray]:
    """Return the arrays of the first hidden input that the kernel may only read."""
    given = attempt(ex.solution.answer, ex.cases()[0]).device.inputs
    return {
        name: value
        for name, value in given.items()
        if isinstance(value, np.ndarray) and name not in ex.writes
    }


@pytest.mark.parametrize("name", KERNELS)
def test_a_right_kernel_that_also_overwrites_an_input_is_refused(name, tmp_path):
    ex = gk.exercise(name)
    kernel = python_function(ex.solution.answer).__name__
    lines, nodes = ex.solution.text.splitlines(), ast.parse(ex.solution.text).body
    (function,) = (node for node in nodes if getattr(node, "name", "") == kernel)
    body = function.body[0].end_lineno  # its docstring comes first
    for array, value in inputs_of(ex).items():
        last = ", ".join(str(n - 1) for n in value.shape)
        store = f"    if cuda.grid(1) == 0:\n        {array}[{last}] = 77"
        text = "\n".join([*lines[:body], store, *lines[body:]]) + "\n"
        report = ex.check(kernel_of(ex, text, tmp_path, f"writes_{array}"), raises=False)
        assert not report.passed
        assert f"`{array}[{last}]` is overwritten, and `{array}` is an input" in repr(report)
        assert f"{array}[{last}] = 77" in repr(report)  # the line
        assert "block (0, 0, 0), thread (0, 0, 0)" in repr(report)


SQUARE = "        out[i] = values[i] * values[i]\n"
#: Lines beside the one that squares, the element that the report names, and its thread.
STORES = {
    "scratch that is put back": (
        f"        values[i] = -values[i]\n{SQUARE}        values[i] = -values[i]\n", 0, 0,
    ),
    # Thread t begins at 4 t, so that thread 3 is at 12 when thread 2 is at 8, before it is at 9.
    "an atomic": (
        f"{SQUARE}        if i >= 9:\n            cuda.atomic.min(values, i, 0)\n", 12, 3,
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", STORES)
def test_a_store_to_an_input_is_refused_at_the_first_lane_that_does_so(what, tmp_path):
    lines, element, thread = STORES[what]
    ex = gk.exercise("simt-2")
    text = ex.solution.text.replace(SQUARE, lines)
    report = ex.check(kernel_of(ex, text, tmp_path), raises=False)
    assert f"`values[{element}]` is overwritten" in repr(report)
    assert f"thread ({thread}, 0, 0)" in repr(report)


def test_a_run_to_look_at_shows_where_an_input_is_overwritten(tmp_path):
    ex = gk.exercise("simt-2")
    text = ex.solution.text.replace("= values[i] * values[i]", "= 1\n        values[i] = 0")
    kernel = kernel_of(ex, text, tmp_path)
    run = ex.run(kernel, "random", 3)
    assert "is overwritten, and `values` is an input" in run.wrong
    view = run.show()
    rows, (record,) = view._read[next(iter(view._read))]
    assert rows[record.row[view.step]].text.strip() == "values[i] = 0"
