"""The GPU's limits are what they are called, of right results, and shares are of them."""

from __future__ import annotations

import gc
import weakref
from types import SimpleNamespace

import numpy as np
import pytest
from fake_gpu import FakeGpus
from numba import cuda, types

import gpukernels as gk
from benchmarks import limits
from benchmarks.limits import Limits
from benchmarks.mapping import fill
from gpukernels.notebook import cold_cache, kernel_time
from gpukernels.notebook.kernel_time import kernel_ms
from gpukernels.notebook.spread import median

SIGNATURE = (types.int32, types.int32, types.int32, types.int32[::1])


@cuda.jit
def idle(step, bound, rounds, out):
    """Write nothing."""


def test_the_issue_rate_is_that_of_all_pairs_of_all_threads(monkeypatch):
    def half_a_millisecond(device, run, repeat, *, prepare, check):
        prepare()
        run(device)
        check()
        return median([0.5])

    monkeypatch.setattr(limits, "kernel_ms", half_a_millisecond)
    device = gk.SimtDevice()
    pairs = device.resident_threads * 2 * 4 * 16
    assert limits.measured_issue_rate(device, 2) == pytest.approx(pairs / 0.5e-3 / 1e12, rel=1e-4)
    with pytest.raises(gk.InvalidArgument, match="rounds = 0: must be 1 or more"):
        limits.measured_issue_rate(device, 0)
    monkeypatch.setattr(limits, "add_and_compare", idle)
    with pytest.raises(AssertionError, match="chains end elsewhere"):
        limits.measured_issue_rate(device, 1)


@pytest.mark.parametrize(
    ("cc", "instructions"), [((9, 0), {"VIADDMNMX"}), ((8, 0), {"IADD3", "IMNMX"})]
)
def test_the_loop_of_the_issue_rate_is_additions_and_minima_and_little_else(cc, instructions):
    """On a GPU of 2022 one instruction does both, on one of 2020 two do."""
    try:
        loops = gk.sass(limits.add_and_compare, SIGNATURE, cc).loops
    except gk.MissingTool as reason:
        pytest.skip(str(reason))
    counts = [[i.opcode for i in loop] for loop in loops]
    assert counts
    for opcodes in counts:
        pairs = sum(opcode in instructions for opcode in opcodes)
        assert pairs >= limits.PAIRS * len(instructions)
        assert pairs >= 0.9 * len(opcodes)


def test_shares_are_of_both_limits():
    # 2 ms: 4000 GB/s could have moved 8 GB, and 10 million million a second done 2e10 pairs.
    shares = Limits(4000.0, 10.0, 5).judged(2.0, 2 * 10**9, 5 * 10**9)
    assert shares == {
        "least_bytes": 2 * 10**9,
        "least_operations": 5 * 10**9,
        "share_of_bandwidth": 0.25,
        "share_of_issue_rate": 0.25,
    }


def test_a_file_tells_the_limits_and_the_state_of_the_cache():
    figures = limits.measured_limits(gk.SimtDevice(), shrink=20).figures
    assert figures["copy_gigabytes_per_second"] > 0
    assert figures["tera_add_mins_per_second"] > 0
    assert (figures["cache"], figures["l2_bytes"]) == ("flushed", 0)


def test_a_machine_has_no_cache_to_empty():
    device = gk.SimtDevice(trace=True)
    cold_cache.flush(device)
    assert not device.trace.launches


def test_nothing_but_zeros_is_read_and_nothing_written():
    device = gk.SimtDevice()
    words, output = device.full(1000, 0, np.int64), device.full(1, -7, np.int64)
    device.launch(cold_cache.read_all, 2, 64, words, output)
    assert device.read(output)[0] == -7
    device.launch(cold_cache.read_all, 2, 64, device.full(1000, 4, np.int64), output)
    assert device.read(output)[0] == 4


@pytest.fixture
def gpus(monkeypatch):
    gpus = FakeGpus(monkeypatch)
    yield gpus
    gpus.close()


def test_every_run_on_a_gpu_begins_with_a_read_of_four_times_its_cache(gpus, monkeypatch):
    monkeypatch.setattr(cold_cache, "l2_bytes", lambda device: 1 << 12)
    device, order = gk.CudaDevice(), []
    real = gk.CudaDevice.launch

    def launch(self, kernel, blocks, threads, *args, **options):
        order.append(kernel)
        if kernel is cold_cache.read_all:
            assert args[0].size == 4 * (1 << 12) // 8
            return
        real(self, kernel, blocks, threads, *args, **options)

    monkeypatch.setattr(gk.CudaDevice, "launch", launch)
    monkeypatch.setattr(gk.CudaDevice, "timer", lambda self: gk.SimtDevice().timer())
    word = np.zeros(1, np.int32)
    monkeypatch.setattr(kernel_time, "_word_of_both", lambda device: (word, device.array(word)))
    item = device.full(8, 0, np.int32)
    kernel_ms(device, lambda d: d.launch(fill, 1, 32, item, 1), 2, busy_rounds=1)
    run = [cold_cache.read_all, kernel_time.keep_busy, fill]
    assert order == [fill, kernel_time.keep_busy, *run, *run]
    reference = weakref.ref(device)
    del device
    gc.collect()
    assert reference() is None  # what is read goes with its device


def test_a_gpu_that_does_not_tell_its_cache_has_the_largest(gpus, monkeypatch):
    assert cold_cache.l2_bytes(gk.CudaDevice()) == cold_cache.UNTOLD
    one = SimpleNamespace(
        name="fake", MULTIPROCESSOR_COUNT=2, MAX_THREADS_PER_MULTIPROCESSOR=64,
        L2_CACHE_SIZE=50 << 20,
    )  # fmt: skip
    monkeypatch.setattr(cuda, "get_current_device", lambda: one)
    assert cold_cache.l2_bytes(gk.CudaDevice()) == 50 << 20
    assert cold_cache.l2_bytes(gk.SimtDevice()) == 0
