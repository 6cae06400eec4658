import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import cuda

from gpukernels.simt import Recorder, launch, metrics
from gpukernels.views.transactions import cost
from gpukernels.views.warp_record import read_warps


@st.composite
def request_of(draw):
    itemsize = draw(st.sampled_from([1, 2, 4, 8]))
    lanes = sorted(draw(st.sets(st.integers(0, 31), min_size=1)))
    index = draw(st.lists(st.integers(0, 300), min_size=len(lanes), max_size=len(lanes)))
    return itemsize, lanes, index


@given(request_of())
def test_costs_by_counting_bytes_one_by_one(request):
    itemsize, lanes, index = request
    counted = {i * itemsize + k for i in index for k in range(itemsize)}
    c = cost(np.array(lanes), np.array(index), itemsize)
    assert c.useful == len(counted)
    assert c.sectors == len({b // 32 for b in counted})
    assert c.lines == len({b // 128 for b in counted})
    assert c.ideal == -(-len(counted) // 32)
    assert c.same == max(index.count(i) for i in index)
    if itemsize <= 4:
        words = {b // 4 for b in counted}
        assert c.passes == max(sum(w % 32 == bank for w in words) for bank in range(32))


@given(request_of())
def test_an_atomic_moves_a_sector_in_each_pass(request):
    itemsize, lanes, index = request
    c = cost(np.array(lanes), np.array(index), itemsize, atomic=True)
    passes = [index[:k].count(i) for k, i in enumerate(index)]
    assert c.sectors == len({(p, i * itemsize // 32) for p, i in zip(passes, index, strict=True)})
    assert c.lines == len({i * itemsize // 128 for i in index})


def test_no_lane_costs_nothing():
    assert cost(np.array([], np.int64), np.array([], np.int64), 4).sectors == 0


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


def test_costs_agree_with_the_machines_metrics():
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
