"""Every kernel of the package compiles for every supported GPU, on a machine without one."""

from __future__ import annotations

import os
from itertools import product
from types import SimpleNamespace

import numba
import pytest
from effort import EFFORT, SOAK
from launches import REFUSED, types_by_kernel
from numba import cuda
from package_kernels import device_functions_of, label, package_functions

from gpukernels.cores import kept_code
from gpukernels.device.successor import of_successor, successor_code
from gpukernels.primitives.arrivals import acquire, arrivals, arrive
from gpukernels.simt import machine

COMPUTE_CAPABILITIES = [(7, 5), (8, 0), (8, 9), (9, 0), (10, 0)]
KERNELS, DEVICE_FUNCTIONS = package_functions()


@pytest.fixture(scope="module")
def launched():
    """Argument types of every launch of every run, by kernel."""
    return types_by_kernel()


def test_every_kernel_and_device_function_is_in_a_run(launched):
    assert len(KERNELS) >= 20
    assert len(DEVICE_FUNCTIONS) >= 5
    assert [label(k) for k in KERNELS if k not in launched] == [], "add a run to kernel_runs.py"
    called = {function for kernel in KERNELS for function in device_functions_of(kernel)}
    assert [label(f) for f in DEVICE_FUNCTIONS if f not in called] == []


#: Kernels that wait for other threads; the machine runs them warp by warp, which is slow.
WAITING = {
    "notebook.kernel_time.keep_busy",
    "primitives.grid_barrier.meet",
    "primitives.lookback_scan.scan_with_look_back",
    "primitives.pair_scan.scan_pairs",
    "traversal.persistent.search_and_meet_by_hand",
    "traversal.word_bottom_up.search_and_meet_by_hand",
}


def test_only_kernels_that_wait_for_other_threads_run_warp_by_warp(launched):
    programs = {label(kernel): machine._programs[kernel.py_func].values() for kernel in KERNELS}
    assert {name for name, of in programs.items() if any(p.polls for p in of)} == WAITING
    assert [name for name, of in programs.items() if any(p.parts for p in of)] == []


def types_of(kernel, launched) -> list[tuple]:
    """Return the argument types that a kernel is launched at, in an order of their own."""
    return sorted(launched[kernel], key=str)


def refusals(kernels_and_types, cc) -> dict[tuple, str]:
    """Compile kernels for a GPU; return what is said of those that fail."""
    failed = {}
    for kernel, types in kernels_and_types:
        try:
            ptx, _ = cuda.compile_ptx(kernel.py_func, types, cc=cc)
            assert f".target sm_{cc[0]}{cc[1]}" in ptx
            assert ".visible .entry" in ptx
        except Exception as error:
            failed[label(kernel), types] = str(error)[:500]
    return failed


def test_every_kernel_compiles(launched, monkeypatch):
    """What the oldest GPU can do, the others can too: it takes every kernel, at its first types."""
    pretend_device(COMPUTE_CAPABILITIES[0], monkeypatch)
    many = None if EFFORT == SOAK else 1
    tried = [(k, types) for k in KERNELS for types in types_of(k, launched)[:many]]
    assert refusals(tried, COMPUTE_CAPABILITIES[0]) == {}


def test_some_kernels_compile(launched, monkeypatch):
    """With Colab's versions, where continuous integration leaves out the others."""
    pretend_device(COMPUTE_CAPABILITIES[0], monkeypatch)
    some = [(k, types_of(k, launched)[0]) for k in KERNELS[:: len(KERNELS) // 12]]
    assert refusals(some, COMPUTE_CAPABILITIES[0]) == {}


@pytest.mark.parametrize("cc", COMPUTE_CAPABILITIES[1:], ids=lambda cc: f"sm_{cc[0]}{cc[1]}")
def test_kernels_compile_for_newer_gpus_at_all_their_types(cc, launched, monkeypatch):
    """A compilation takes a quarter of a second, so that the newer GPUs take turns.

    Each takes a quarter of the kernels that have several types, at the last of them, and one in 32
    of the others. For every change the four share a third of these; `make soak` tries all types on
    all. They go GPU by GPU, so that a device function is compiled once for all that call it.
    """
    pretend_device(cc, monkeypatch)
    turn, often = COMPUTE_CAPABILITIES[1:].index(cc), 3
    tried = []
    for k, kernel in enumerate(KERNELS):
        every = types_of(kernel, launched)
        mine = every[-1:] if k % (often * (4 if len(every) > 1 else 32)) == turn else []
        tried += [(kernel, types) for types in (every if EFFORT == SOAK else mine)]
    assert refusals(tried, cc) == {}
    assert len(tried) > 12 // often


def refusals_of_successor(kernels_and_types) -> dict[str, str]:
    failed = {}
    for kernel, types in kernels_and_types:
        theirs = tuple(map(successor_code.type_of, types))
        try:
            ptx, _ = successor_code.compiler().cuda.compile_ptx(of_successor(kernel), theirs)
            assert ".visible .entry" in ptx
        except Exception as error:
            failed[label(kernel)] = str(error)
    return failed


def test_the_successor_of_numba_cuda_compiles_kernels(launched, monkeypatch):
    """It takes them to machine code: a sample here, all of them in continuous integration."""
    pytest.importorskip("numba_cuda_mlir")
    if not cuda.is_available():
        monkeypatch.setattr("numba_cuda_mlir.tools._cached_cc", (9, 0))
    monkeypatch.setattr(kept_code, "folder", lambda: None)  # else nothing is compiled twice
    every = EFFORT == SOAK or os.environ.get("CI") == "true"
    tried = KERNELS if every else KERNELS[:: len(KERNELS) // 12]
    failed = refusals_of_successor((k, types_of(k, launched)[0]) for k in tried)
    assert {name: why for name, why in failed.items() if REFUSED.get(name, "?") not in why} == {}
    assert {*failed} == {*REFUSED} & {*map(label, tried)}, "it takes what `REFUSED` names"


def test_an_impossible_kernel_does_not_compile(monkeypatch):
    pretend_device((8, 0), monkeypatch)

    def wrong(a):
        a[0] = a.no_such_attribute

    with pytest.raises(Exception, match="no_such_attribute"):
        cuda.compile_ptx(wrong, (numba.int32[::1],), cc=(8, 0))


def poll_by_a_hinted_load(flag, out):
    while cuda.ldcv(flag, 0) == 0:
        cuda.threadfence()
    out[0] = 1


def poll_by_an_atomic(flag, out):
    while cuda.atomic.add(flag, 0, 0) == 0:
        cuda.threadfence()
    out[0] = 1


def loop_of(function):
    """The PTX between the label to which `function` branches back and that branch."""
    lines = cuda.compile_ptx(function, (numba.int32[::1],) * 2, cc=(8, 0))[0].splitlines()
    for end, line in enumerate(lines):
        label = line.split()[-1].rstrip(";") + ":" if "bra" in line.split() else None
        if label in lines[:end]:
            return "\n".join(lines[lines.index(label) : end])
    raise AssertionError("no loop")


def test_a_flag_must_be_polled_by_an_atomic(monkeypatch):
    # numba gives its cache-hinted loads no side effects, so that LLVM takes them out of the loop:
    # the reason why the race detector holds them for plain ones. Should this fail, think again.
    pretend_device((8, 0), monkeypatch)
    assert "atom." in loop_of(poll_by_an_atomic)
    if not hasattr(cuda, "ldcv"):
        pytest.skip("this numba-cuda has no cache hints")
    loop = loop_of(poll_by_a_hinted_load)
    assert "membar" in loop
    assert "ld.global" not in loop


def poll_by_a_relaxed_look(flag, out):
    while arrivals(flag) == 0:
        pass
    out[0] = acquire(flag)
    arrive(flag)


def test_a_counter_of_arrivals_is_asked_by_the_instructions_of_its_name(monkeypatch):
    pretend_device((8, 0), monkeypatch)
    code = cuda.compile_ptx(poll_by_a_relaxed_look, (numba.int32[::1],) * 2, cc=(8, 0))[0]
    assert "ld.relaxed.gpu" in loop_of(poll_by_a_relaxed_look)
    for instruction in ("ld.relaxed.gpu", "ld.acquire.gpu", "red.release.gpu"):
        assert f"{instruction}.global" in code
    assert not any(word in code for word in ("membar", "fence", "atom."))


def counting_by(instruction):
    def counts(flag):
        instruction(flag)

    return counts


def test_a_counter_of_arrivals_is_an_array_of_int32(monkeypatch):
    pretend_device((8, 0), monkeypatch)
    kinds = numba.int64[::1], numba.float32[::1], numba.int32
    for instruction, kind in product((arrive, arrivals, acquire), kinds):
        with pytest.raises(Exception, match=instruction.py_func.__name__):
            cuda.compile_ptx(counting_by(instruction), (kind,), cc=(8, 0))


compiled_for = None


def pretend_device(cc, monkeypatch) -> None:
    """Compile device functions for `cc`: numba asks the current device, which is not there."""
    global compiled_for
    monkeypatch.setattr(
        "numba.cuda.dispatcher.get_current_device",
        lambda: SimpleNamespace(compute_capability=cc),
    )
    if cc != compiled_for:
        for function in DEVICE_FUNCTIONS:
            function.overloads.clear()
    compiled_for = cc
