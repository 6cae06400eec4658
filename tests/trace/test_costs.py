"""Costs of requests against bytes, words and lanes counted one by one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import cuda

from gpukernels.simt import Recorder, launch
from gpukernels.trace import ATOMIC, LOAD, STORE, ArrayInfo, Requests, Steps, Trace, metrics
from gpukernels.trace.costs import Costs, ranks
from gpukernels.views.warp.record import read_warps

SPACES = ("global", "shared", "local")


@st.composite
def request_of(draw):
    """Draw bytes an element, space, kind, lanes and the element that each of them touches."""
    size, space = draw(st.sampled_from([1, 2, 4, 8, 16])), draw(st.sampled_from(SPACES))
    kind = draw(st.sampled_from([LOAD, STORE] if space == "local" else [LOAD, STORE, ATOMIC]))
    lanes = sorted(draw(st.sets(st.integers(0, 31), min_size=1)))
    most = draw(st.sampled_from([1, 20, 300]))
    index = draw(st.lists(st.integers(0, most), min_size=len(lanes), max_size=len(lanes)))
    return size, space, kind, lanes, index


def trace_of(requests):
    """Return a trace of these requests, each of an array of its own."""
    none = np.zeros(len(requests), np.int32)
    place = dict.fromkeys(("launch", "block", "warp", "step", "source", "line"), none)
    arrays = [ArrayInfo(f"a{k}", r[1], np.dtype(f"V{r[0]}"), ()) for k, r in enumerate(requests)]
    masks = [sum(1 << lane for lane in r[3]) for r in requests]
    index = np.array([i for r in requests for i in r[4]], np.int64)
    table = Requests(
        **place,
        array=np.arange(len(requests), dtype=np.int32),
        kind=np.array([r[2] for r in requests], np.uint8),
        mask=np.array(masks, np.uint32),
        start=np.cumsum([0, *(len(r[3]) for r in requests)]),
        index=index,
        value=index.astype(float),
    )
    nothing = dict.fromkeys((*place, "mask", "kind", "taken"), none[:0])
    steps = Steps(**nothing)
    return Trace((), (), tuple(arrays), steps, table)


def banks_of(size, lanes, index):
    """Return wavefronts and turns, from the words that each lane wants."""
    words = max(size // 4, 1)
    wants = dict(zip(lanes, index, strict=True))
    alike = [all(wants.get(k ^ d, i) == i for k, i in wants.items()) for d in (1, 2)]
    turns = 1 if words == 2 and any(alike) else words
    served = {}
    for lane, i in wants.items():
        for k in range(words):
            served.setdefault(lane * turns // 32, set()).add(i * size // 4 + k)
    each = [max(Counter(w % 32 for w in words).values()) for words in served.values()]
    return sum(each), len(each)


@given(st.lists(request_of(), max_size=6))
def test_costs_by_counting_bytes_lanes_and_words_one_by_one(requests):
    costs = Costs(trace_of(requests))
    assert len(costs) == len(requests)
    crowded = []
    for k, (size, space, kind, lanes, index) in enumerate(requests):
        places = {i * size + b for i in index for b in range(size)}
        met = Counter(index)
        assert costs.lanes[k] == len(lanes)
        assert costs.elements[k] == len(met)
        assert costs.same[k] == max(met.values())
        assert costs.useful[k] == len(places)
        assert costs.ideal[k] == -(-len(places) // 32)
        assert costs.lines[k] == len({p // 128 for p in places})
        if space == "local":
            words = {
                (i * size + b) // 4 * 32 + n
                for n, i in zip(lanes, index, strict=True)
                for b in range(size)
            }
            moved = {w // 8 for w in words}
        else:
            passes = [index[:n].count(i) * (kind == ATOMIC) for n, i in enumerate(index)]
            moved = {(p, i * size // 32) for p, i in zip(passes, index, strict=True)}
        assert costs.sectors[k] == len(moved)
        fronts, turns = banks_of(size, lanes, index)
        assert (costs.wavefronts[k], costs.conflicts[k]) == (fronts, fronts - turns)
        assert costs.passes[k] == 1 + fronts - turns
        busy = Counter(word % 32 for word in {i * size // 4 for i in index})
        crowded += [busy[i * size // 4 % 32] > 1 for i in index]
        row = costs.sectors, costs.lines, costs.ideal, costs.useful, costs.passes, costs.same
        assert costs.one(k) == tuple(column[k] for column in row)
    assert costs.crowded.tolist() == crowded


@given(st.lists(request_of(), min_size=1, max_size=6), st.data())
def test_costs_of_some_requests_are_those_among_all(requests, data):
    trace = trace_of(requests)
    rows = data.draw(st.lists(st.booleans(), min_size=len(requests), max_size=len(requests)))
    some, every = Costs(trace, np.array(rows)), Costs(trace)
    for name in ("lanes", "sectors", "lines", "wavefronts", "conflicts", "same", "useful"):
        np.testing.assert_array_equal(getattr(some, name), getattr(every, name)[rows])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-2, 2))))
def test_ranks_count_the_equal_ones_before(pairs):
    first, second = np.array(pairs, np.int64).reshape(-1, 2).T
    assert ranks(first, second).tolist() == [pairs[:k].count(p) for k, p in enumerate(pairs)]


@cuda.jit
def scattered(x, order, out):
    tile = cuda.shared.array(256, np.float64)
    small = cuda.shared.array(256, np.float32)
    t = cuda.threadIdx.x
    for k in range(t, 256, 64):
        tile[k] = x[order[k]]
        small[k] = x[k]
    cuda.syncthreads()
    out[t] = tile[(t * 9) % 256] + small[(t * 12) % 256]
    if t % 3 == 0:
        out[t] += tile[(t * 32) % 256] + small[(t * 32) % 256]
    cuda.syncthreads()
    cuda.atomic.add(out, order[t] % 8, tile[t % 16])


def test_views_and_metrics_tell_the_same_costs():
    recorder = Recorder()
    order = np.random.default_rng(0).permutation(256).astype(np.int32)
    x, out = np.arange(256, dtype=np.float64), np.zeros(64)
    launch(scattered, 1, 64, (x, order, out), recorder=recorder)
    trace = recorder.trace
    _, warps = read_warps(trace, 0, 0, None, 0, 10_000)
    moved = sorted(a.cost for w in warps for a in w.accesses if not a.shared)
    extra = sorted(a.cost - 1 for w in warps for a in w.accesses if a.shared)
    assert moved == sorted(metrics.sectors(trace).tolist())
    assert extra == sorted(metrics.bank_conflicts(trace).tolist())
    assert max(extra) > 1
    steps = sum(len(w) for w in warps)
    lanes = sum(int(m).bit_count() for w in warps for m in w.mask)
    assert lanes / (32 * steps) == pytest.approx(metrics.simd_efficiency(trace))
    assert sum(int(w.splits.sum()) for w in warps) == metrics.divergent_branches(trace)
