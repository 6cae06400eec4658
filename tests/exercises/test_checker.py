"""The checker finds each kind of fault, says where, and refuses what is no answer."""

from __future__ import annotations

import dataclasses

import numpy as np
import plain_answers as answers
import pytest

import gpukernels as gk
from gpukernels.device import CudaDevice
from gpukernels.exercises.judge import bench, checking
from gpukernels.exercises.judge.case import Budget, equal_to
from gpukernels.exercises.judge.report import Finding, Report
from gpukernels.trace import metrics


def line_shown(view: gk.WarpView) -> str:
    """Return the source line at which a view opens."""
    rows, (record,) = view._read[next(iter(view._read))]
    return rows[record.row[view.step]].text


#: Exercise, answer, what the report says, the ends of its lines on the place, and the line at which
#: the view opens with a part of its title.
FAULTS = {
    "a number": ("shared-5", 7, "a @cuda.jit kernel is wanted here, and this is of type int", []),
    "plain Python": ("shared-5", answers.python_histogram, "write @cuda.jit above it", []),
    "device": ("shared-5", answers.device_histogram, "`device_histogram` is a device function", []),
    "other names": (
        "shared-5", answers.histogram_of_other_names, "the parameters must be (degree, count)", [],
    ),
    "a race": (
        "shared-5", answers.racy_histogram,
        "declared benign on no array, and `racy_histogram` declares one", [],
    ),
    "out of bounds": (
        "shared-5", answers.unguarded_histogram,
        "a path of 300 vertices, schedule lockstep: index 300 is out of",
        ["cuda.atomic.add(count, degree[cuda.grid(1)], 1)", "block (2, 0, 0), thread (44, 0, 0)"],
        "cuda.atomic.add(count, degree[cuda.grid(1)], 1)", "block (2, 0, 0), warp 1",
    ),
    "a wrong element": (
        "shared-5", answers.double_histogram,
        "`count[1]` is 4 and should be 2; 2 of its 32 elements are wrong",
        ["wrote it last: cuda.atomic.add(count, degree[u], 2)",
         "block (2, 0, 0), thread (43, 0, 0)"],
        "cuda.atomic.add(count, degree[u], 2)", "block (2, 0, 0), warp 1",
    ),
    "a wrong element by a device function": (
        "shared-5", answers.double_histogram_by_a_function, "`count[1]` is 4 and should be 2",
        [" of count_double wrote it last: cuda.atomic.add(count, d, 2)"],
    ),
    "an endless loop": (
        "shared-5", answers.endless_histogram, "this loop has not ended", [],
        "while u < degree.size:", "block (0, 0, 0), warp 0",
    ),
    "a raise": (
        "shared-5", answers.raising_histogram, "no vertex 100", [],
        'raise ValueError("no vertex 100")', "warp 3",
    ),
    "no end": (
        "bfs-3", answers.restless_spread, "still found something to change", [],
        "changed[0] = 1", "restless_spread, launch 200",
    ),
    "a full queue": (
        "bfs-2", answers.crowded_expand, "level 0 queued 128,000 entries for 200 vertices", [],
    ),
    "over budget": (
        "shared-2", answers.plain_sum, "warp steps, on 128 numbers: 172, allowed at most 160",
        ["most in line 19: while apart < 128:"], "while apart < 128:", "warp 0",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_comes_with_the_input_the_line_and_the_thread_and_the_view_opens_there(what):
    name, answer, says, places, *opened = FAULTS[what]
    report = gk.exercise(name).check(answer, raises=False)
    finding = next(finding for finding in report.findings if not finding.passed)
    assert says in finding.text
    assert len(finding.details) >= len(places)
    for detail, place in zip(finding.details, places, strict=False):
        assert detail.endswith(place)
    if opened:
        view = report.show()
        assert line_shown(view) == opened[0]
        assert opened[1] in view.payload["title"]
        assert finding.text in view.payload["caption"]
        assert view.html


def test_the_dearest_line_comes_with_the_name_of_its_device_function():
    (case, *_) = gk.exercise("shared-5").cases()
    case = dataclasses.replace(case, judge=lambda finding: None)  # the kernel is wrong as well
    budget = Budget("atomics", case, lambda trace: metrics.atomic_conflicts(trace).size, at_most=0)
    (finding,) = checking._costs(answers.double_histogram_by_a_function, [budget])
    assert finding.details[0].endswith(" of count_double: cuda.atomic.add(count, d, 2)")


def test_a_budget_may_be_a_least_value():
    (case, *_) = gk.exercise("shared-5").cases()
    good = Budget("SIMD efficiency", case, metrics.simd_efficiency, at_least=0.8)
    bad = Budget("SIMD efficiency", case, metrics.simd_efficiency, at_least=0.999)
    first, second = checking._costs(answers.plain_histogram, [good, bad])
    assert first.passed
    assert "allowed at least 0.8" in first.text
    assert not second.passed
    assert second.details[0].startswith("least in line ")


def test_every_schedule_is_tried(monkeypatch):
    seen = []

    class Noting(bench.Bench):
        def __init__(self, schedule, seed=0, **options):
            if options["check"]:
                seen.append((schedule, seed))
            super().__init__(schedule, seed, **options)

    monkeypatch.setattr(bench, "Bench", Noting)
    ex = gk.exercise("shared-5")
    inputs = ex.cases() + ex.drawn(1)
    assert checking.check_kernel(ex.solution.answer, ex, 1)
    assert seen[: len(inputs) * len(checking.SCHEDULES)] == len(inputs) * [*checking.SCHEDULES]
    assert {schedule for schedule, _ in seen} == {"lockstep", "warp", "random"}


class PretendGPU(CudaDevice, gk.SimtDevice):
    """A CUDA device in name, the SIMT machine at work."""

    def __init__(self, wrong: bool):
        gk.SimtDevice.__init__(self)
        self.name = "a GPU"
        self.wrong = wrong

    array, empty, full, launch = (
        getattr(gk.SimtDevice, name) for name in ("array", "empty", "full", "launch")
    )

    def read(self, array):
        """Return the array, or one that is wrong."""
        return np.array(array) + self.wrong


@pytest.mark.parametrize("wrong", [False, True])
def test_a_gpu_that_is_the_default_device_has_its_say(monkeypatch, wrong):
    monkeypatch.setattr(checking, "default_device", lambda: PretendGPU(wrong))
    report = gk.exercise("shared-2").check(gk.exercise("shared-2").solution, raises=False)
    assert report.passed != wrong
    if wrong:
        assert "128 numbers, on a GPU: `total[0]` is 6479 and should be 6478" in repr(report)
    else:
        assert "right on the same inputs on a GPU" in repr(report)


def test_an_error_on_the_gpu_is_a_finding(monkeypatch):
    device = PretendGPU(False)
    monkeypatch.setattr(device, "launch", lambda *_, **__: 1 / 0)
    monkeypatch.setattr(checking, "default_device", lambda: device)
    report = gk.exercise("shared-2").check(gk.exercise("shared-2").solution, raises=False)
    assert "on a GPU: ZeroDivisionError" in repr(report)


def test_a_judge_names_the_first_wrong_element_of_a_matrix():
    judge = equal_to(out=np.arange(6).reshape(2, 3))
    assert judge({"out": np.arange(6).reshape(2, 3)}) is None
    wrong = judge({"out": np.array([[0, 1, 2], [3, 9, 5]])})
    assert wrong.text == "`out[1, 1]` is 9 and should be 4"
    assert (wrong.array, wrong.index) == ("out", 4)
    judge = equal_to("{wrong} of {size} are wrong", out=np.arange(6).reshape(2, 3))
    assert judge({"out": np.zeros((2, 3))}).text.endswith("be 1; 5 of 6 are wrong")


def test_a_report_prints_and_shows_what_it_found():
    good, bad = Finding(True, "right"), Finding(False, "`x` < y", ("line 3 of k: a[i] = 1",))
    report = Report("simt-9 (title)", [good, bad])
    assert repr(report).splitlines() == [
        "simt-9 (title): not yet",
        "  ✓ right",
        "  ✗ `x` < y",
        "      line 3 of k: a[i] = 1",
    ]
    html = report._repr_html_()
    assert "✗ <code>x</code> &lt; y" in html
    assert "line 3 of k: a[i] = 1</pre>" in html
    assert Report("simt-9 (title)", [good])
    assert "solved" in repr(Report("simt-9 (title)", [good]))


def test_a_notebook_shows_the_report_and_no_traceback():
    with pytest.raises(gk.ExerciseFailed) as failure:
        gk.exercise("simt-1").check({})
    assert isinstance(failure.value, AssertionError)
    (text,) = failure.value._render_traceback_()
    assert text == f"ExerciseFailed: {failure.value.report!r}"


@pytest.mark.parametrize("name", ["bfs-2", "queues-2"])
def test_parents_and_entries_of_a_search_are_judged(name):
    ex = gk.exercise(name)
    case = ex.cases()[0]
    results = case.run(ex.solution.answer, gk.SimtDevice())
    assert case.judge(results) is None
    orphan = {**results, "parent": np.roll(results["parent"], 1)}
    assert "`parent[" in case.judge(orphan).text
    crowded = {**results, "entries": results["entries"] + 1}
    assert "entries were queued for 200 vertices reached" in case.judge(crowded).text
