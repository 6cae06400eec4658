"""Lines left out of a printed kernel: few minutes, and the lines that are given stay."""

from __future__ import annotations

import ast
import re

import pytest
from adversaries import COMPLETIONS, kernel_of

import gpukernels as gk
from gpukernels.exercises import CATALOG
from gpukernels.exercises.judge.bench import attempt
from gpukernels.exercises.judge.completing import SLACK
from gpukernels.exercises.judge.counters import busiest_warp, by_one_thread
from gpukernels.exercises.judge.effort import WRITE
from gpukernels.exercises.judge.skeleton import HERE


def added(ex) -> list[str]:
    """Return the lines that a solution adds."""
    after = ex.solution.text.splitlines()
    begin = next(k for k, line in enumerate(after) if line.strip() == HERE) + 1
    return after[begin : begin + len(after) - len(ex.skeleton.splitlines())]


@pytest.mark.parametrize("name", COMPLETIONS)
def test_one_line_comes_before_some_and_these_before_a_whole_kernel(name):
    ex = CATALOG[name]
    chapter, _, which = name.rpartition("-")
    assert ex.level == "easy"
    assert ex.minutes <= 10
    assert len(added(ex)) in {"line": (1,), "lines": (4, 5, 6, 7)}[which]
    order = [id for id in CATALOG if id.rpartition("-")[0] == chapter]
    assert order[:2] == [f"{chapter}-line", f"{chapter}-lines"]
    assert any(CATALOG[id].kind == WRITE for id in order[2:])


@pytest.mark.parametrize("name", COMPLETIONS)
def test_a_skeleton_s_report_names_an_input(name, tmp_path):
    ex = gk.exercise(name)
    report = ex.check(kernel_of(ex, ex.skeleton, tmp_path), raises=False)
    assert not report.passed
    (fault,) = report.findings
    assert any(fault.text.startswith(f"{case.name}, schedule ") for case in ex.cases())


#: A line that gives names a value.
ASSIGNMENT = re.compile(r"^ +\w[\w, ]* = .*$", re.MULTILINE)


@pytest.mark.parametrize(
    "name", [name for name in COMPLETIONS if ASSIGNMENT.search(CATALOG[name].skeleton)]
)
def test_an_answer_without_a_line_that_was_given_is_refused_and_names_it(name, tmp_path):
    ex = gk.exercise(name)
    match = ASSIGNMENT.search(ex.skeleton)
    given, function = match[0], re.findall(r"^def (\w+)", ex.skeleton[: match.start()], re.M)[-1]
    one = given.replace(" = ", " = 0 + ", 1)
    kernel = kernel_of(ex, ex.solution.text.replace(given, one), tmp_path)
    report = ex.check(kernel, raises=False)
    written = ast.unparse(ast.parse(given.strip()))
    assert f"`{written}` of `{function}` is missing: add lines" in repr(report)


def test_comments_blank_lines_and_another_docstring_are_no_change(tmp_path):
    ex = gk.exercise("bfs-line")
    text = re.sub(r'"""Enqueue.*?"""', '"""Mine."""\n    # a note', ex.solution.text, flags=re.S)
    text = text.replace("u = frontier[i]", "u = (frontier[i])  # the vertex\n")
    assert ex.check(kernel_of(ex, text, tmp_path)).passed


def test_an_answer_whose_source_is_nowhere_is_told_to_be_a_cell():
    ex = gk.exercise("bfs-line")
    names: dict = {}
    exec(compile(ex.solution.text, "nowhere", "exec"), names)
    report = ex.check(names[ex.answer_name], raises=False)
    assert "the source of `expand_frontier` cannot be read" in repr(report)


#: Whole tasks by one thread of a block, right under every schedule.
BY_ONE_THREAD = {
    "simt-lines": """
    if u == 0:
        for v in range(sums.size):
            total = 0
            for k in range(offsets[v], offsets[v + 1]):
                total += values[targets[k]]
            sums[v] = total
""",
    "shared-lines": """
    if i == 0:
        for k in range(1, 128):
            apart += values[cuda.blockIdx.x * 128 + k]
        tile[0] += apart - 1
""",
}


@pytest.mark.parametrize("name", BY_ONE_THREAD)
def test_one_thread_that_does_all_is_over_the_budget(name, tmp_path):
    ex = gk.exercise(name)
    text = re.sub(rf"\n *{re.escape(HERE)}\n", BY_ONE_THREAD[name], ex.skeleton)
    report = ex.check(kernel_of(ex, text, tmp_path), raises=False)
    *right, over = report.findings
    assert right
    assert all(finding.passed for finding in right)
    assert over.text.startswith("memory requests of the busiest warp, on ")


@pytest.mark.parametrize("name", COMPLETIONS)
def test_the_budget_is_of_an_input_that_the_printed_kernel_shares(name):
    ex = CATALOG[name]
    (budget,) = ex.budgets()
    trace = attempt(ex.solution.answer, budget.case, trace=True).device.trace
    assert budget.at_most == SLACK * busiest_warp(trace)
    if not name.startswith("energy"):  # whose kernel is one thread's
        assert by_one_thread(trace) > 10 * budget.at_most
