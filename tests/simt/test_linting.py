"""gk.check: its findings, their form, and that it does not change its arguments."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from launching import line_of
from numba import cuda, int32

import gpukernels as gk
from gpukernels.errors import LaunchError, UnsupportedConstruct
from gpukernels.simt import uninitialized


@cuda.jit
def double(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = 2 * a[i]


@cuda.jit
def sum_plainly(a, total):
    i = cuda.grid(1)
    total[0] += a[i]


@cuda.jit
def much_at_once(a, out, counter):
    tile = cuda.shared.array((32, 32), int32)
    t = cuda.threadIdx.x
    tile[t, 0] = a[8 * t]
    out[cuda.grid(1)] = tile[31 - t, 0]
    a[0] = t
    cuda.atomic.add(counter, 0, 1)
    for _ in range(t):
        counter[1] = 5


def much():
    return gk.check(much_at_once, 2, 32, np.arange(512), np.zeros(64), np.zeros(2))


# Findings ------------------------------------------------------------


def test_a_kernel_without_fault():
    report = gk.check(double, 3, 32, np.arange(80), np.zeros(80))
    assert report.ok
    assert report.findings == report.errors == report.warnings == ()
    assert report.kernel == "double"
    assert report.schedules == ("lockstep", "warp", "random 1", "random 2", "random 3", "random 4")
    assert repr(report) == "double under 6 schedules: nothing found"


def test_a_finding_says_what_where_and_what_to_do():
    report = gk.check(sum_plainly, 2, 32, np.arange(64), np.zeros(1))
    assert not report.ok
    (finding,) = report.errors
    assert (finding.rule, finding.level, finding.array) == ("race", "error", "total")
    assert finding.line == finding.other_line == line_of(sum_plainly, "total[0] +=")
    assert finding.text.strip() == "total[0] += a[i]"
    assert finding.function == "sum_plainly"
    assert finding.file == __file__
    assert finding.within == "grid"
    assert finding.block is not None
    assert finding.thread is not None
    assert finding.schedules == report.schedules
    assert "race on `total[0]`" in finding.message
    assert "cuda.atomic" in finding.remedy


def test_every_fault_of_a_kernel_is_listed_at_once():
    report = much()
    assert repr(report) == repr(much()), "the run makes no difference"
    assert report.findings == report.errors + report.warnings
    for level in (report.errors, report.warnings):
        assert [f.line for f in level] == sorted(f.line for f in level)
    rules = {(f.rule, f.array): f.line for f in report.findings}
    expected = {
        ("race", "tile"): "= tile[31",
        ("race", "a"): "a[0] = t",
        ("race", "counter"): "counter[1] = 5",
        ("uncoalesced", "a"): "= a[8 * t]",
        ("bank-conflicts", "tile"): "= tile[31",
        ("atomic-contention", "counter"): "atomic.add",
        ("divergence", ""): "for _ in",
    }
    assert rules.keys() == expected.keys()
    for key, text in expected.items():
        lines = {
            n for f in report.findings if (f.rule, f.array) == key for n in (f.line, f.other_line)
        }
        assert line_of(much_at_once, text) in lines


def test_an_error_that_ends_the_run_comes_with_the_races_before_it():
    @cuda.jit
    def kernel(a, total):
        i = cuda.grid(1)
        total[0] = 1
        total[i + 1] = a[i]

    report = gk.check(kernel, 1, 32, np.arange(32), np.zeros(32), seeds=1)
    assert [f.rule for f in report.errors] == ["race", "out-of-bounds"]


def test_a_declared_race_is_not_reported():
    @gk.benign_race("changed")
    @cuda.jit
    def kernel(a, changed):
        if a[cuda.grid(1)] > 3:
            changed[0] = 1

    assert gk.check(kernel, 2, 32, np.arange(64), np.zeros(1)).ok


# Order of threads ------------------------------------------------------------


@cuda.jit
def queue_of(a, queue, size):
    i = cuda.grid(1)
    if a[i]:
        at = cuda.atomic.add(size, 0, 1)
        queue[at] = i


@cuda.jit
def sum_of(a, total):
    cuda.atomic.add(total, 0, a[cuda.grid(1)])


@cuda.jit
def last_ticket(out, ticket):
    mine = cuda.atomic.add(ticket, 0, 1)
    if cuda.grid(1) == 77:
        out[0] = mine


@pytest.mark.parametrize(
    ("kernel", "arguments", "array", "how", "text"),
    [
        (
            queue_of,
            lambda: (np.ones(128), np.zeros(128, int), np.zeros(1, int)),
            "queue",
            "holds the same values in another order",
            "queue[at] = i",
        ),
        (
            sum_of,
            lambda: (np.float32(1) / (1 + np.arange(128, dtype=np.float32)), np.zeros(1, "f4")),
            "total",
            "differs in its last digits",
            "atomic.add",
        ),
        (
            last_ticket,
            lambda: (np.zeros(1, int), np.zeros(1, int)),
            "out",
            "holds other values",
            "out[0] = mine",
        ),
    ],
)
def test_results_that_depend_on_the_order_of_threads(kernel, arguments, array, how, text):
    report = gk.check(kernel, 2, 64, *arguments())
    assert report.ok, "not wrong by itself"
    (finding,) = [f for f in report.warnings if f.rule == "order-dependent"]
    assert (finding.array, finding.line) == (array, line_of(kernel, text))
    assert how in finding.message
    assert "random" in finding.message


def test_an_integer_sum_and_an_unsettled_nan_depend_on_no_order():
    report = gk.check(sum_of, 2, 64, np.arange(128), np.zeros(1, int))
    assert "order-dependent" not in {f.rule for f in report.findings}
    report = gk.check(double, 2, 32, np.full(64, np.nan), np.zeros(64))
    assert report.findings == ()


# Loops ------------------------------------------------------------


@cuda.jit
def lane_0_waits(flag, out, waker):
    i = cuda.grid(1)
    if i == 0:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
        out[0] = 1
    elif i == waker:
        cuda.atomic.exch(flag, 0, 1)


@pytest.mark.parametrize("waker", [32, 64])
def test_a_loop_that_waits_for_another_warp_is_nothing_to_report(waker):
    report = gk.check(lane_0_waits, 2, 64, np.zeros(1, np.int32), np.zeros(1), waker)
    assert "waiting" not in {f.rule for f in report.findings}
    assert report.ok


def test_a_loop_that_waits_for_a_lane_of_its_warp_is_no_endless_loop():
    arguments = np.zeros(1, np.int32), np.zeros(1)
    report = gk.check(lane_0_waits, 1, 64, *arguments, 1)
    assert report.ok
    (finding,) = [f for f in report.findings if f.rule == "waiting"]
    assert finding.line == line_of(lane_0_waits, "while")
    assert "other lanes of its warp" in finding.message
    assert report.schedules == ("lockstep", "random 1"), "more would tell no more"
    # Only a schedule that runs lanes one by one can find this.
    report = gk.check(lane_0_waits, 1, 64, *arguments, 1, seeds=0)
    (finding,) = report.errors
    assert finding.rule == "endless-loop"


def test_a_loop_that_waits_for_nobody_is_endless():
    report = gk.check(lane_0_waits, 1, 64, np.zeros(1, np.int32), np.zeros(1), -1)
    (finding,) = report.errors
    assert (finding.rule, finding.line) == ("endless-loop", line_of(lane_0_waits, "while"))


# Arguments ------------------------------------------------------------


def test_the_arguments_stay_as_they_are():
    a, total, nested = np.arange(64), np.zeros(1), (np.zeros(3), 5)

    @cuda.jit
    def kernel(a, total, nested):
        i = cuda.grid(1)
        a[i] = -1
        nested[0][i % 3] = 1

    gk.check(kernel, 2, 32, a, total, nested)
    assert a.tolist() == list(range(64))
    assert not nested[0].any()
    gk.check(sum_plainly, 2, 32, a, total)
    assert not total.any()


def test_views_of_one_array_stay_views_of_one_array():
    @cuda.jit
    def kernel(a, b):
        i = cuda.grid(1)
        b[i] = a[i + 1]

    whole = np.arange(66)
    assert not gk.check(kernel, 1, 64, whole[:65], whole[:64]).ok
    assert gk.check(kernel, 1, 32, whole[:33], whole[33:]).ok
    assert not gk.check(kernel, 1, 64, whole, whole).ok


def test_a_strided_view_keeps_its_strides():
    whole = np.arange(64 * 16, dtype=np.int32)
    report = gk.check(double, 2, 32, whole[::16], np.zeros(64, np.int32))
    (finding,) = report.findings
    assert (finding.rule, finding.array) == ("uncoalesced", "a")
    assert "32.0 sectors per request where 4.0" in finding.message
    columns = np.asfortranarray(np.arange(64.0).reshape(8, 8)).T[3]
    assert gk.check(double, 1, 8, columns, np.zeros(8)).ok


def test_arrays_that_are_read_only_or_unwritten_stay_so():
    a = np.arange(64)
    a.flags.writeable = False
    report = gk.check(double, 2, 32, np.arange(64), a, seeds=0)
    assert [f.rule for f in report.errors] == ["read-only"]
    report = gk.check(double, 2, 32, uninitialized(64, int), np.zeros(64), seeds=0)
    assert [(f.rule, f.array) for f in report.errors] == [("uninitialized-read", "a")]
    empty = uninitialized(64, int)
    assert gk.check(double, 2, 32, np.arange(64), empty).ok
    assert not gk.check(double, 2, 32, empty, np.zeros(64), seeds=0).ok, "still unwritten"


# Refusals ------------------------------------------------------------


def test_a_launch_that_is_refused_raises():
    with pytest.raises(LaunchError, match="block=2000"):
        gk.check(double, 1, 2000, np.zeros(1), np.zeros(1))
    with pytest.raises(ValueError, match="seeds=-1; allowed are 0 and more"):
        gk.check(double, 1, 32, np.zeros(1), np.zeros(1), seeds=-1)

    @cuda.jit
    def unsupported(a):
        a[0] = {1: 2}

    with pytest.raises(UnsupportedConstruct):
        gk.check(unsupported, 1, 32, np.zeros(1))


def test_a_launch_too_large_to_trace_is_checked_all_the_same():
    report = gk.check(sum_plainly, 2, 32, np.arange(64), np.zeros(1), trace_limit=100)
    assert [f.rule for f in report.errors] == ["race"]
    (finding,) = report.warnings
    assert finding.rule == "trace-limit"
    assert "100 entries" in finding.message
    assert "smaller launch" in finding.remedy


# Display ------------------------------------------------------------


def test_the_text_reads_as_a_linter_does():
    report = gk.check(sum_plainly, 1, 32, np.arange(32), np.zeros(1), seeds=0)
    line = line_of(sum_plainly, "total[0] +=")
    head, first, *rest = repr(report).splitlines()
    assert head == "sum_plainly under 2 schedules: 1 error"
    assert first == f"error[race] line {line}: total[0] += a[i]"
    assert any(re.match(r"    seen by block \(0, 0, 0\), thread \(\d+, 0, 0\)", r) for r in rest)
    assert any(r.startswith("    -> ") for r in rest)
    assert max(map(len, repr(report).splitlines())) <= 100
    assert str(report.findings[0]) in repr(report)


def test_the_table_says_what_the_text_says():
    report = much()
    html = report._repr_html_()
    assert report.headline in html
    table = html[html.index("<table") : html.index("</table>")] + "</table>"
    table = ElementTree.fromstring(table.replace("<br>", "<br/>"))  # fails unless tags nest
    rows = [["".join(cell.itertext()) for cell in row] for row in table.iter("tr")]
    assert rows[0] == ["line", "finding", "what was seen", "remedy"]
    for row, finding in zip(rows[1:], report.findings, strict=True):
        assert row[:2] == [str(finding.line), f"{finding.level}: {finding.rule}"]
        assert finding.text.strip() in row[2]
        assert finding.message in row[2]
        assert row[3] == finding.remedy
    clean = gk.check(double, 1, 32, np.arange(32), np.zeros(32))._repr_html_()
    assert "double under 6 schedules: nothing found" in clean


def test_arrays_of_a_gpu_are_copied_to_the_host():
    class OnTheDevice:
        def copy_to_host(self):
            return np.arange(64)

    report = gk.check(sum_plainly, 2, 32, OnTheDevice(), np.zeros(1), seeds=0)
    assert [f.rule for f in report.errors] == ["race"]
