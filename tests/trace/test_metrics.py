"""Every counter against values counted by hand, and against a plain loop over the requests."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pytest
from counter_probes import READS, read_doubles
from numba import cuda, int32

from gpukernels.simt import Recorder, launch
from gpukernels.trace import LOAD, STORE, metrics
from gpukernels.trace.summary import summarize


def traced(kernel, blocks, threads, *arguments):
    recorder = Recorder()
    launch(kernel, blocks, threads, arguments, recorder=recorder)
    return recorder.trace


# Global memory ------------------------------------------------------------


@cuda.jit
def gather(a, at, out):
    i = cuda.grid(1)
    out[i] = a[at[i]]


LANE = np.arange(32)
#: Element that each lane loads, bytes an element -> sectors, lines, distinct bytes asked for.
PATTERNS = {
    "consecutive": (LANE, 4, 4, 1, 128),
    "consecutive, 8 bytes": (LANE, 8, 8, 2, 256),
    "shuffled": (LANE * 7 % 32, 4, 4, 1, 128),
    "off by one": (LANE + 1, 4, 5, 2, 128),
    "every thirty-second": (32 * LANE, 4, 32, 32, 128),
    "all the same": (LANE * 0 + 5, 4, 1, 1, 4),
    "one lane": (LANE[:1] + 9, 8, 1, 1, 8),
}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_sectors_and_lines_of_one_request(pattern):
    at, size, sectors, lines, useful = PATTERNS[pattern]
    a = np.zeros(32 * 32, f"i{size}")
    trace = traced(gather, 1, at.size, a, at, np.zeros(at.size, a.dtype))
    loads = trace.select(array="a")
    assert metrics.sectors(loads).tolist() == [sectors]
    assert metrics.lines(loads).tolist() == [lines]
    assert metrics.sectors_per_request(loads) == sectors
    assert metrics.coalescing_efficiency(loads) == pytest.approx(useful / (32 * sectors))
    assert metrics.requests(loads) == 1


# Shared memory ------------------------------------------------------------


@cuda.jit
def columns(padded):
    plain = cuda.shared.array((32, 32), int32)
    wide = cuda.shared.array((32, 33), int32)
    t = cuda.threadIdx.x
    plain[t, 3] = t
    wide[t, 3] = t
    plain[3, t] = t
    cuda.syncthreads()
    padded[t] = plain[3, 3]


def test_a_padded_tile_has_no_conflicts():
    trace = traced(columns, 1, 32, np.zeros(32, int))
    # A column, a padded column, a row, and one word for all.
    assert metrics.bank_conflicts(trace).tolist() == [31, 0, 0, 0]
    assert metrics.bank_conflicts(trace, kinds=(LOAD,)).tolist() == [0]
    assert metrics.bank_conflicts_per_request(trace) == 31 / 4
    assert metrics.requests(trace, "shared") == 4
    assert metrics.requests(trace, "global") == 1


#: Passes (wavefronts) and bank conflicts that Nsight Compute 2025.3 counted on an H200 for one
#: load of 8-byte words by `read_doubles`.
ON_AN_H200 = {
    "own words": (2, 0),
    "one word": (1, 0),
    "16 words, the halves alike": (2, 0),
    "16 words, neighbors alike": (1, 0),
    "two words, a half each": (1, 0),
    "two words, by turns": (1, 0),
    "own words, first half only": (1, 0),
    "own words, even lanes only": (2, 1),
    "one word, even lanes only": (1, 0),
    "one word, first half only": (1, 0),
    "first and last lane": (1, 0),
    "every other word": (4, 2),
}


@pytest.mark.parametrize("name", ON_AN_H200)
def test_passes_of_words_of_eight_bytes_are_those_of_an_h200(name):
    trace = traced(read_doubles, 1, 32, READS[name], np.zeros(32))
    passes, conflicts = ON_AN_H200[name]
    assert metrics.shared_passes(trace, (LOAD,)).tolist() == [passes]
    assert metrics.bank_conflicts(trace, (LOAD,)).tolist() == [conflicts]
    assert metrics.shared_passes(trace, (STORE,)).tolist() == [2]
    assert metrics.bank_conflicts(trace, (STORE,)).tolist() == [0]


# Atomics ------------------------------------------------------------


@cuda.jit
def add_at(at, out):
    cuda.atomic.add(out, at[cuda.grid(1)], 1)


@pytest.mark.parametrize(
    ("at", "waiting", "moved"),
    [
        (LANE, 0, 8),  # 8-byte elements side by side: one pass
        (LANE * 0, 31, 32),  # one element: a pass for every lane
        (LANE % 2 * 4, 30, 32),  # two elements of two sectors in 16 passes
    ],
)
def test_colliding_lanes_of_an_atomic_wait_and_move_their_sector_in_each_pass(at, waiting, moved):
    trace = traced(add_at, 1, 32, at, np.zeros(32, np.int64))
    assert metrics.atomic_conflicts(trace).tolist() == [waiting]
    atomics = trace.select(array="out")
    assert metrics.sectors(atomics).tolist() == [moved]
    assert metrics.sectors_per_request(atomics) == moved
    share = 8 * len(set(at.tolist())) / (32 * moved)
    assert metrics.coalescing_efficiency(atomics) == pytest.approx(share)


# Local memory ------------------------------------------------------------


@cuda.jit
def local_store(at):
    own = cuda.local.array(16, int32)
    own[at[cuda.grid(1)]] = 1


@pytest.mark.parametrize(("at", "sectors"), [(LANE * 0 + 3, 4), (LANE % 16, 32), (LANE[:9], 9)])
def test_requests_to_local_memory_are_interleaved_lane_by_lane(at, sectors):
    trace = traced(local_store, 1, at.size, at)
    assert metrics.requests(trace, "local") == 1
    assert metrics.requests(trace, "local", (LOAD,)) == 0
    assert metrics.local_sectors(trace).tolist() == [sectors]
    assert metrics.local_sectors(trace, (LOAD,)).size == 0
    row = summarize(trace)["local_store"]
    assert row["local requests"] == 1
    assert row["local sectors / request"] == sectors
    assert "local requests" in repr(summarize(trace))


# Steps ------------------------------------------------------------


@cuda.jit
def ragged(lengths, out):
    i = cuda.grid(1)  # 1 step
    total = 0  # 1 step
    for k in range(lengths[i]):  # lengths[i] + 1 steps
        total += k  # lengths[i] steps
    out[i] = total  # 1 step


def test_efficiency_and_divergence_of_a_ragged_loop():
    lengths = np.zeros(64, int)
    lengths[0], lengths[1], lengths[32:] = 3, 1, 2
    trace = traced(ragged, 1, 64, lengths, np.zeros(64, int))
    # Warp 0: 2 full steps, head (32) body (2) head (2) body (1) head (1) body (1) head (1), 1 full.
    first = [32, 32, 32, 2, 2, 1, 1, 1, 1, 32]
    second = [32] * 8  # 2, then head and body twice, head, 1
    assert metrics.warp_steps(trace) == len(first) + len(second)
    assert metrics.simd_efficiency(trace) == pytest.approx(sum(first + second) / (32 * 18))
    # Of warp 0 the first and the second head part the lanes; the last one ends them all.
    assert metrics.divergent_branches(trace) == 2
    assert metrics.divergent_branches(trace.select(warp=1)) == 0
    assert metrics.barriers(trace) == 0


@cuda.jit
def branches(a):
    i = cuda.grid(1)
    if i < 16:
        a[i] = 1
    else:
        a[i] = 2
    if i < 64:
        a[i] += 1
    if i > 64:
        a[i] += 2
    cuda.syncthreads()
    cuda.syncthreads()


def test_divergent_branches_and_barriers():
    trace = traced(branches, 1, 64, np.zeros(64, int))
    assert metrics.divergent_branches(trace) == 1
    assert metrics.barriers(trace) == 4
    # Warp 0 goes both ways (7 statements and the 2 barriers), warp 1 one way.
    assert [metrics.warp_steps(trace.select(warp=w)) for w in (0, 1)] == [9, 8]


def test_balance():
    lengths = np.zeros(4 * 64, int)
    lengths[0] = 10
    trace = traced(ragged, 4, 64, lengths, np.zeros(256, int))
    balance = metrics.balance(trace)
    # A thread of length 0 takes 4 steps; a round adds 2. Seven warps of 4 steps, one of 24.
    assert balance.threads == pytest.approx(24 / ((255 * 4 + 24) / 256))
    assert balance.warps == pytest.approx(24 / ((7 * 4 + 24) / 8))
    assert balance.blocks == pytest.approx(28 / ((3 * 8 + 28) / 4))
    even = metrics.balance(traced(ragged, 2, 33, np.full(66, 3), np.zeros(66, int)))
    assert (even.threads, even.warps, even.blocks) == (1, 1, 1)


@cuda.jit
def row_sums(offsets, targets, out):
    u = cuda.grid(1)
    if u < out.size:
        for e in range(offsets[u], offsets[u + 1]):
            out[u] += targets[e]


def test_work_of_each_thread():
    degrees = np.random.default_rng(2).integers(0, 5, 50)
    offsets = np.concatenate(([0], np.cumsum(degrees)))
    arrays = offsets, np.arange(offsets[-1]), np.zeros(50, int)
    trace = traced(row_sums, 2, 40, *arrays)
    work = metrics.work_per_thread(trace, "targets")
    np.testing.assert_array_equal(work, np.append(degrees, np.zeros(30, int)))
    recorder = Recorder()
    launch(row_sums, 2, 40, arrays, recorder=recorder)
    launch(row_sums, 5, 16, arrays, recorder=recorder)
    with pytest.raises(ValueError, match="2 shapes"):
        metrics.work_per_thread(recorder.trace, "targets")
    second = metrics.work_per_thread(recorder.trace, "targets", launch=1)
    np.testing.assert_array_equal(second, np.append(degrees, np.zeros(30, int)))


# The table ------------------------------------------------------------


@pytest.fixture
def recorder():
    """Two launches: `branches`, and `add_at` with a label."""
    recorder = Recorder()
    launch(branches, 1, 64, (np.zeros(64, int),), recorder=recorder)
    recorder.label = "level 1"
    launch(add_at, 1, 32, (LANE * 0, np.zeros(1, int)), recorder=recorder)
    return recorder


def test_the_summary_table(recorder):
    table = summarize(recorder.trace)
    assert table["branches"]["warp steps"] == 17
    assert table["branches"]["barriers"] == 4
    assert table["add_at"]["atomic conflicts"] == 31
    assert math.isnan(table["add_at"]["bank conflicts / request"])
    text = repr(table).splitlines()
    assert len(text) == 3
    assert text[0].split("  ")[0] == "kernel"
    assert "bank conflicts" not in text[0], "a column without a value is left out"
    assert "–" not in text[1].split("  ")[0]
    html = table._repr_html_()
    assert html.count("<tr>") == 3
    assert '<th scope="row">add_at</th>' in html
    lines = summarize(recorder.trace, by="line").rows
    (row,) = (r for label, r in lines.items() if "a[i] = 2" in label)
    assert row["warp steps"] == 2
    assert row["SIMD efficiency"] == pytest.approx((16 + 32) / 64)
    with pytest.raises(ValueError, match="'kernel', 'launch' and 'line'"):
        summarize(recorder.trace, by="warp")


def test_a_summary_is_a_mapping(recorder):
    table = recorder.trace.summary()
    assert isinstance(table, Mapping)
    assert list(table) == list(table.rows) == ["branches", "add_at"]
    assert "add" not in table
    assert 0 not in table
    assert dict(table)["branches"] == table["branches"]
    with pytest.raises(KeyError, match=r"no kernel 'add'; there are 'branches', 'add_at'"):
        table["add"]
    with pytest.raises(KeyError, match=r"no launch 'add_at'; there are '0 branches', '1 level 1'"):
        recorder.trace.summary("launch")["add_at"]
    assert list(Recorder().trace.summary()) == []
    with pytest.raises(KeyError, match="no line 3; there are none"):
        Recorder().trace.summary(by="line")[3]


def doubles():
    @cuda.jit(device=True)
    def again(x):
        return 2 * x

    return again


def triples():
    @cuda.jit(device=True)
    def again(x):
        return 3 * x

    return again


twice, thrice = doubles(), triples()


@cuda.jit
def through_both(a):
    i = cuda.grid(1)
    a[i] = twice(i) + thrice(i)


def test_a_line_of_the_summary_names_its_function():
    rows = summarize(traced(through_both, 1, 32, np.zeros(32, int)), by="line").rows
    assert [label.split("  ")[0].rstrip() for label in rows] == [
        "through_both", "through_both", "again", "again (2)",
    ]  # fmt: skip
    assert [label.partition("return ")[2] for label in rows][2:] == ["2 * x", "3 * x"]
    assert sum(row["warp steps"] for row in rows.values()) == 4


def test_counters_of_an_empty_trace():
    trace = Recorder().trace
    assert metrics.warp_steps(trace) == 0
    assert math.isnan(metrics.simd_efficiency(trace))
    assert math.isnan(metrics.sectors_per_request(trace))
    assert math.isnan(metrics.coalescing_efficiency(trace))
    assert metrics.bank_conflicts(trace).size == 0
    assert metrics.atomic_conflicts(trace).size == 0
    assert metrics.local_sectors(trace).size == 0
