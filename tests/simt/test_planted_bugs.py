"""Each classic error is found, at its line and by its rule; its repaired twin is clean."""

from __future__ import annotations

import inspect

import pytest
from planted_bugs import PAIRS

import gpukernels as gk

#: Rules about slow kernels and about results that depend on the order, which are not wrong.
WARNINGS = {"bank-conflicts", "uncoalesced", "atomic-contention", "divergence", "order-dependent"}
PLANTED = {pair.name: pair for pair in PAIRS}


def marked_lines(kernel):
    lines, first = inspect.getsourcelines(kernel.py_func)
    return {first + i for i, line in enumerate(lines) if line.rstrip(" -\n").endswith("# here")}


def test_there_are_thirty_and_more():
    assert len(PLANTED) == len(PAIRS) >= 30
    assert sum(pair.rule not in WARNINGS for pair in PAIRS) >= 30


@pytest.mark.parametrize("name", PLANTED)
def test_the_error_is_found_at_its_line_by_its_rule(name):
    pair = PLANTED[name]
    report = gk.check(pair.broken, *pair.shape, *pair.arguments(), seeds=2, loop_budget=1000)
    marked = marked_lines(pair.broken)
    findings = [f for f in report.findings if f.rule == pair.rule]
    assert findings
    # Every line that a finding names takes part, and every line that takes part is named.
    named = {f.line for f in findings} | {f.other_line for f in findings if f.other_line}
    if pair.rule in ("race", "out-of-bounds", "warp-operation"):
        assert named == marked
    else:
        assert named <= marked
    if pair.rule in WARNINGS:
        assert report.ok
    else:
        assert {f.rule for f in report.errors} == {pair.rule}
        assert any("lockstep" in f.schedules for f in findings)


@pytest.mark.parametrize("name", PLANTED)
def test_the_repaired_twin_is_clean(name):
    pair = PLANTED[name]
    report = gk.check(pair.repaired, *pair.shape, *pair.arguments(), seeds=4)
    assert report.ok, report
    assert not [f for f in report.findings if f.rule in (pair.rule, "order-dependent")], report
