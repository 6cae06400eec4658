"""Lines left out of a printed kernel: few minutes, and the lines that are given stay."""

from __future__ import annotations

import ast
import re

import pytest
from adversaries import COMPLETIONS, kernel_of

import gpukernels as gk
from gpukernels.exercises import CATALOG
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
