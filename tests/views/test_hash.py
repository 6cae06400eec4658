"""HashView shows the decisions of a filter's lanes: traces of the filter, and written traces."""

import numpy as np
import pytest
from filter_kernels import filter_large, filter_small, filtered, some_candidates
from written_traces import TraceWriter

import gpukernels as gk
from gpukernels.trace import LOAD, STORE
from gpukernels.views import HashView
from gpukernels.views.hash.record import (
    AGAIN,
    CONFLICT,
    DUPLICATE,
    ELSEWHERE,
    FIRST,
    READS,
    VALID,
    read_hash,
)
from gpukernels.views.hash.words import story, totals

SCHEDULES = [("lockstep", 0), ("warp", 0), ("random", 1), ("random", 5)]


def record_of(trace, launch=None, block=None, limit=10_000):
    return read_hash(trace, launch, block, "hash_table", limit, "traces")


def written(*rows, slots=64):
    """Write a trace of (kind, warp, {lane: (vertex, thread)}); loads have the values read."""
    w = TraceWriter()
    w.source("find", ["hash_table[h] = word", "got = hash_table[h]"])
    table = w.array("hash_table", slots, np.int64, "shared")
    at = w.launch("find", 1, 64)
    for kind, warp, lanes in rows:
        line = 1 if kind == STORE else 2
        w.step(at, 0, warp, line, lanes)
        words = list(lanes.values())
        index, value = [v % slots for v, _ in words], [(v << 32) + t for v, t in words]
        w.request(at, 0, warp, line, table, kind, lanes, index, value)
    return w.trace()


FIRST_ORDER = written(
    (STORE, 0, {3: (17, 3)}),
    (STORE, 1, {5: (17, 37)}),
    (LOAD, 0, {3: (17, 37)}),
    (LOAD, 1, {5: (17, 37)}),
)
SECOND_ORDER = written(
    (STORE, 0, {3: (17, 3)}),
    (LOAD, 0, {3: (17, 3)}),
    (STORE, 1, {5: (17, 37)}),
    (LOAD, 1, {5: (17, 37)}),
)


def test_the_two_orders_of_the_paper_detect_a_duplicate_and_miss_it():
    first, second = record_of(FIRST_ORDER), record_of(SECOND_ORDER)
    assert [w.verdict for w in first.words] == [DUPLICATE, VALID]
    assert [w.kept for w in first.words] == [FIRST, FIRST]
    assert [w.verdict for w in second.words] == [VALID, VALID]
    assert [w.kept for w in second.words] == [FIRST, AGAIN]
    assert second.words[1].before == 0
    assert story(first, 17) == [
        (0, "warp 0, lane 3 stores (17, thread 3)"),
        (1, "warp 1, lane 5 stores (17, thread 37)"),
        (2, "warp 0, lane 3 reads (17, thread 37): duplicate, dropped"),
        (3, "warp 1, lane 5 reads (17, thread 37): valid, kept"),
    ]
    assert story(second, 17)[-1] == (
        3,
        "warp 1, lane 5 reads (17, thread 37): valid, kept again: missed",
    )


def test_a_vertex_that_fares_differently_is_followed_at_first():
    view = HashView({"one": FIRST_ORDER, "two": SECOND_ORDER})
    assert view.payload["vertex"] == 17
    assert view.step == 2
    heads = [trace["heads"] for trace in view.payload["traces"]]
    assert heads == [
        ["Vertex 17, slot 17: stored by 2 lanes, kept by 1; 1 duplicate detected."],
        ["Vertex 17, slot 17: stored by 2 lanes, kept by 2; 0 duplicates detected, 1 missed."],
    ]
    now = [trace["sentences"] for trace in view.payload["traces"]]
    assert now[0][1] == (
        "Step 2, warp 1 stores: 1 lane writes 1 slot. "
        "1 older word is overwritten before its lane reads it back."
    )
    assert now[1][2].endswith("1 older word is overwritten, read back before.")
    assert now[1][3] == (
        "Step 4, warp 1 reads back: 1 lane finds its own word (valid). "
        "1 of those kept had been kept before: a duplicate is missed."
    )


def test_another_vertex_in_the_slot_is_a_conflict_and_hides_a_duplicate():
    trace = written(
        (STORE, 0, {0: (17, 0), 1: (17, 1), 2: (81, 2)}),
        (LOAD, 0, {0: (81, 2), 1: (81, 2), 2: (81, 2)}),
    )
    record = record_of(trace)
    assert [w.verdict for w in record.words] == [CONFLICT, CONFLICT, VALID]
    assert [w.kept for w in record.words] == [FIRST, AGAIN, FIRST]
    assert "In 1 slot lanes with different vertices meet." in HashView(trace, step=0).html


def test_a_slot_is_shared_within_a_block_alone():
    w = TraceWriter()
    w.source("find", ["hash_table[h] = word", "got = hash_table[h]"])
    table = w.array("hash_table", 64, np.int64, "shared")
    at = w.launch("find", 2, 32)
    for block, vertex in enumerate((20, 84)):
        for line, kind in ((1, STORE), (2, LOAD)):
            w.step(at, block, 0, line, [0])
            w.request(at, block, 0, line, table, kind, [0], [20], [vertex << 32])
    (trace,) = HashView(w.trace()).payload["traces"]
    assert trace["followed"] == [20]  # the vertex that is followed at first


@pytest.mark.parametrize(("schedule", "seed"), SCHEDULES)
@pytest.mark.parametrize(
    ("kernel", "blocks"), [(filter_small, 1), (filter_small, 2), (filter_large, 2)]
)
def test_verdicts_are_what_the_kernel_decided(kernel, blocks, schedule, seed):
    threads = 96
    candidates = some_candidates(4, threads * blocks, seed=seed)
    trace, kept = filtered(candidates, threads, kernel, schedule, seed)
    record = record_of(trace)
    calls = candidates >= 0
    _, stored, valid, detected, conflicts, missed, elsewhere = totals(record, len(record.steps) - 1)
    assert stored == calls.sum()
    assert valid + conflicts == kept.sum()
    assert detected == stored - kept.sum() > 0
    # A block missed vertices that it kept more than once. No table sees copies in several blocks.
    entries = [candidates[:, b * threads :][:, :threads][kept[:, b * threads :][:, :threads] > 0]
               for b in range(blocks)]  # fmt: skip
    distinct = [set(part.tolist()) for part in entries]
    assert missed == sum(map(len, entries)) - sum(map(len, distinct)) > 0
    assert elsewhere == sum(map(len, distinct)) - len(set.union(*distinct))
    assert record.slots == (64 if kernel is filter_small else 512)
    # Each thread's words in the order of its rounds.
    for b in range(blocks):
        for thread in range(threads):
            mine = [
                w for w in record.words
                if record.steps[w.stored].block == b and w.thread == thread
            ]  # fmt: skip
            column = b * threads + thread
            rounds = np.flatnonzero(calls[:, column])
            assert [w.vertex for w in mine] == candidates[rounds, column].tolist()
            assert [w.verdict != DUPLICATE for w in mine] == (kept[rounds, column] > 0).tolist()


@pytest.mark.parametrize("method", ["expand_contract", "contract_expand", "two_phase", "bfs4k"])
@pytest.mark.parametrize("schedule", ["lockstep", "random"])
def test_a_search_drops_what_its_filters_detect(method, schedule):
    graph = gk.rmat(7, 6, seed=2)
    device = gk.SimtDevice(schedule, seed=3, trace=True)
    root = int(np.argmax(graph.out_degree))
    result = gk.bfs(graph, root, method=method, duplicates="hash64", device=device)
    requests = device.trace.requests
    tables = device.trace.array_named("hash_table")
    launches = np.unique(requests.launch[np.isin(requests.array, tables)]).tolist()
    records = [record_of(device.trace, launch) for launch in launches]
    detected = sum(totals(record, len(record.steps) - 1)[3] for record in records)
    assert detected == result.stats["duplicates_detected"] > 0
    assert max(record.slots for record in records) == 128
    assert len(HashView(device.trace).html.encode()) < 200_000


@pytest.mark.parametrize("schedule", ["lockstep", "random"])
def test_blocks_come_one_after_another_in_their_own_order(schedule):
    trace, _ = filtered(some_candidates(2, 128), 64, schedule=schedule, seed=2)
    record = record_of(trace)
    blocks = [step.block for step in record.steps]
    assert blocks == sorted(blocks)
    assert record.blocks == [0, 1]
    alone = record_of(trace, block=1)
    assert [s.kind for s in alone.steps] == [s.kind for s in record.steps if s.block == 1]
    assert any(w.kept == ELSEWHERE for w in record.words)
    assert not any(w.kept == ELSEWHERE for w in alone.words)


def test_a_limit_leaves_later_steps_out_of_everything():
    trace, _ = filtered(some_candidates(3, 64), 64)
    whole, part = record_of(trace), record_of(trace, limit=5)
    assert len(part.steps) == 5
    assert part.left_out == len(whole.steps) - 5
    assert [w.vertex for w in part.words] == [w.vertex for w in whole.words if w.stored < 5]
    assert totals(part, 4) == totals(whole, 4)
    assert "later steps left out" in HashView(trace, limit=5).html


def test_a_table_holds_the_words_stored_last():
    trace, _ = filtered(some_candidates(3, 64), 64, schedule="random", seed=4)
    record = record_of(trace)
    for k, step in enumerate(record.steps):
        held = {
            s: (record.words[i].vertex, record.words[i].thread) for s, i in record.table(k).items()
        }
        requests = trace.requests
        # The slots of a read step have the values that the trace has for this read.
        if step.kind == READS:
            for i in step.words:
                word = record.words[i]
                seen = record.words[word.seen]
                assert held[word.slot] == (seen.vertex, seen.thread)
    assert len(requests) > len(record.steps)


def test_words_beyond_what_a_trace_keeps_are_refused():
    trace = written((STORE, 0, {0: (2**21, 1)}), (LOAD, 0, {0: (2**21, 1)}))
    with pytest.raises(ValueError, match="words below 2\\*\\*53"):
        HashView(trace)


def test_a_read_that_no_store_explains_is_refused():
    trace = written((STORE, 0, {0: (3, 0)}), (LOAD, 0, {0: (3, 9)}))
    with pytest.raises(ValueError, match=r"hash_table\[3\] read as"):
        HashView(trace)
