"""Kernels as the successor of numba-cuda compiles them, and its faults, each put right."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest
from fake_gpu import FakeGpus
from numba import cuda, float32, int32, int64, uint32, uint64

import gpukernels as gk
from gpukernels.cores import kept_code
from gpukernels.device import successor, successor_code
from gpukernels.primitives.arrivals import acquire, arrivals, arrive
from gpukernels.primitives.large_blocks import LARGE_BLOCKS

MLIR = "numba_cuda_mlir"


@pytest.fixture(autouse=True)
def hopper(monkeypatch):
    """Compile for an H100, also without a GPU; keep nothing on the disk."""
    pytest.importorskip(MLIR)
    monkeypatch.setattr(f"{MLIR}.tools._cached_cc", (9, 0))
    monkeypatch.setattr(kept_code, "folder", lambda: None)


def ptx_of(function, *types) -> str:
    kernel = function if hasattr(function, "targetoptions") else cuda.jit(function)
    theirs = tuple(map(successor_code.type_of, types))
    counterpart = successor.of_successor(kernel)
    return successor_code.compiler().cuda.compile_ptx(counterpart, theirs)[0]


def instructions(function, *types) -> list[str]:
    """Return the instructions of a kernel's PTX, without their registers."""
    return re.findall(r"^\t(?:@!?%p\d+ )?([a-z][\w.:]*)", ptx_of(function, *types), re.MULTILINE)


def least_and_most(a, b):
    a[0] = min(a[1], b[0])
    a[2] = max(a[3], b[1])


@pytest.mark.parametrize(
    ("types", "kind"),
    [
        ((int32, int32), "s32"),
        ((uint32, uint32), "u32"),
        ((int64, int32), "s64"),
        ((uint64, uint32), "u64"),
        ((uint32, int64), "s64"),
    ],
    ids=str,
)
def test_unsigned_numbers_are_compared_as_such(types, kind):
    lines = instructions(least_and_most, *(kind[::1] for kind in types))
    assert [f"min.{kind}", f"max.{kind}"] == [i for i in lines if i[:4] in ("min.", "max.")]


def least_of_three(a):
    a[0] = min(a[1], a[2], 7)


def test_the_least_of_three_is_found():
    assert instructions(least_of_three, int32[::1]).count("min.s64") == 2


def atomics(a, b):
    cuda.atomic.min(a, 0, b[0])
    cuda.atomic.max(a, 1, b[1])
    cuda.atomic.add(a, 2, b[2])
    cuda.atomic.exch(a, 3, b[3])


@pytest.mark.parametrize(
    ("types", "kind", "load"),
    [
        ((int32, int32), "s32", "u32"),
        ((uint32, uint32), "u32", "u32"),
        ((int64, int32), "s64", "s32"),
        ((uint64, uint64), "u64", "u64"),
        ((int64, uint32), "s64", "u32"),
    ],
    ids=str,
)
def test_atomics_know_signs(types, kind, load):
    lines = instructions(atomics, *(kind[::1] for kind in types))
    bits = kind[1:]
    expected = [f"min.{kind}", f"max.{kind}", f"add.u{bits}", f"exch.b{bits}"]
    assert [i for i in lines if i.startswith("atom")] == [f"atom.global.{e}" for e in expected]
    # The load extends the sign, or does not.
    assert {i for i in lines if i.startswith("ld.global")} == {f"ld.global.{load}"}


def claim(a, table, level):
    a[0] = cuda.atomic.cas(a, 1, -1, level + 1)
    table[0, 0] = cuda.atomic.cas(table, (0, 1), 3, -1)


def test_a_compare_and_swap_with_constants_is_one_instruction():
    lines = instructions(claim, int32[::1], uint32[:, ::1], int64)
    assert [i for i in lines if i.startswith("atom")] == ["atom.global.cas.b32"] * 2
    assert "bra" not in " ".join(lines)


def shuffles(a):
    a[0] = cuda.shfl_sync(-1, a[1], 3)
    a[2] = cuda.shfl_up_sync(-1, a[3], 1)
    a[4] = cuda.shfl_down_sync(-1, a[5], 1)
    a[6] = cuda.shfl_xor_sync(-1, a[7], 16)


@pytest.mark.parametrize(
    ("kind", "times"),
    [(int32, 1), (uint32, 1), (float32, 1), (int64, 2), (uint64, 2), (numba.float64, 2)],
    ids=str,
)
def test_a_shuffle_passes_on_all_bits(kind, times):
    lines = [i for i in instructions(shuffles, kind[::1]) if i.startswith("shfl")]
    ways = ("idx", "up", "down", "bfly")
    assert lines == [f"shfl.sync.{way}.b32" for way in ways for _ in range(times)]


def bits_and_back(numbers, words):
    words[0] = numbers[1].view(np.int32) + 1
    numbers[0] = words[2].view(np.float32) + float32(1)


def test_bits_are_seen_as_another_type():
    lines = instructions(bits_and_back, float32[::1], int32[::1])
    assert not any(i.startswith("cvt.rn") for i in lines)
    assert "add.f32" in lines
    assert "ld.global.f32" in lines


def fences(a):
    a[0] = cuda.popc(cuda.lanemask_lt())
    cuda.threadfence()
    a[1] = 1
    cuda.threadfence_block()
    a[2] = 1
    cuda.threadfence_system()


def test_fences_and_the_mask_of_lower_lanes_are_there():
    text = ptx_of(fences, int32[::1])
    assert "%lanemask_lt" in text
    order = re.findall(r"st\.global|membar\.\w+", text)
    assert order == ["st.global", "membar.gl", "st.global", "membar.cta", "st.global", "membar.sys"]


def meet(arrived):
    arrive(arrived)
    while arrivals(arrived) < 2:
        pass
    arrived[1] = acquire(arrived)


def test_a_counter_of_arrivals_is_asked_by_the_instructions_of_its_name():
    text = ptx_of(meet, int32[::1])
    for instruction in ("ld.relaxed.gpu.global", "ld.acquire.gpu.global", "red.release.gpu.global"):
        assert instruction in text
    with pytest.raises(Exception, match=r"No match|No implementation"):
        ptx_of(meet, int64[::1])


def two_views(a, wide):
    one = cuda.shared.array(1, int32)
    longs = cuda.shared.array(0, int64)
    words = cuda.shared.array(0, int32)
    one[0] = a[0]
    longs[cuda.laneid] = wide[cuda.laneid]
    cuda.syncthreads()
    a[cuda.laneid] = words[2 * cuda.laneid] + one[0]


def test_dynamic_shared_memory_lies_behind_static_memory_and_views_of_it_are_one():
    text = ptx_of(two_views, int32[::1], int64[::1])
    (dynamic,) = re.findall(r"\.extern \.shared \.align 16 \.b8 (\w+)\[\];", text)
    assert text.count(f", {dynamic};") == 1, "both begin at its address"
    assert "__dynamic_shmem__" not in text, "to which ptxas gives a byte among the static ones"


class Pair(NamedTuple):
    one: object
    other: object


@cuda.jit(device=True)
def shared_sum(pair):
    held = cuda.shared.array(32, int32)
    held[cuda.laneid] = pair.one[cuda.laneid]
    cuda.syncwarp()
    pair.other[cuda.laneid] = held[31 - cuda.laneid]


@cuda.jit(device=True)
def by_way_of(pair):
    for _ in range(2):
        shared_sum(pair)


def made_in_the_kernel(a):
    by_way_of(Pair(a, a))


def test_named_tuples_are_made_and_shared_memory_is_in_device_functions():
    assert ".shared" in ptx_of(made_in_the_kernel, int32[::1])


@cuda.jit(device=True)
def count_for(pair, a):
    cuda.atomic.add(pair.one, 0, a[0])
    cuda.atomic.max(pair.other, 0, float32(a[1]))
    cuda.atomic.exch(pair.one, 1, a[2])
    a[3] = cuda.atomic.cas(pair.one, 2, 0, 1)


@cuda.jit(device=True)
def count_often(one, other, a):
    for _ in range(a[5]):
        count_for(Pair(one, other), a)


def counted_here(a):
    one, other = cuda.shared.array(3, int32), cuda.shared.array(1, float32)
    count_often(one, other, a)
    cuda.syncthreads()
    a[4] = one[0] + int32(other[0])


def test_atomics_know_that_an_array_of_the_caller_may_be_shared():
    text = ptx_of(counted_here, int32[::1])
    assert "atom.global" not in text
    assert "atom.shared.add.u32" in text


def maker(twice):
    @cuda.jit(device=True)
    def inner(x):
        return x * twice

    @cuda.jit
    def kernel(a):
        a[0] = inner(a[1])

    return kernel


def test_a_kernel_of_a_closure_has_its_own_names():
    assert successor.of_successor(maker(3)) is not successor.of_successor(maker(3))
    kernel = maker(3)
    assert successor.of_successor(kernel) is successor.of_successor(kernel)
    assert kernel.py_func.__globals__["cuda"] is cuda, "the original is as it was"


def test_options_of_a_kernel_are_kept():
    @cuda.jit(**LARGE_BLOCKS)
    def kernel(a):
        a[0] = 1

    assert ".maxntid 1024" in ptx_of(kernel, int32[::1])


def test_the_environment_chooses_a_compiler(monkeypatch):
    monkeypatch.delenv("GPUKERNELS_COMPILER", raising=False)
    assert not successor.is_chosen()
    for name, chosen in (("", False), ("numba-cuda", False), ("numba-cuda-mlir", True)):
        monkeypatch.setenv("GPUKERNELS_COMPILER", name)
        assert successor.is_chosen() is chosen
    monkeypatch.setenv("GPUKERNELS_COMPILER", "nvcc")
    with pytest.raises(ValueError, match="'nvcc'; allowed are 'numba-cuda' and 'numba-cuda-mlir'"):
        successor.is_chosen()


def test_a_missing_compiler_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, MLIR, None)
    with pytest.raises(gk.MissingTool, match=r"gpukernels\[mlir\]"):
        successor_code.compiler.__wrapped__()


def test_the_successor_is_imported_when_it_is_needed():
    code = f"import gpukernels.device.cuda_device, sys; sys.exit({MLIR!r} in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ})


@pytest.fixture
def device(monkeypatch):
    gpus = FakeGpus(monkeypatch)
    monkeypatch.setenv("GPUKERNELS_COMPILER", "numba-cuda-mlir")
    yield gk.CudaDevice()
    gpus.close()


def test_arrays_of_numba_are_arguments(device):
    its = successor_code.compiler()
    array = device.array(np.zeros((3, 4), np.uint32))
    typeof = its.extending.typeof_impl
    known = typeof(array, None)
    assert known == its.types.Array(its.types.uint32, 2, "C")
    assert known == successor_code.type_of(numba.typeof(array))
    assert typeof(Pair(array, 3), None) == successor_code.type_of(numba.typeof(Pair(array, 3)))


def test_code_of_a_grid_sync_is_kept_with_it(monkeypatch, tmp_path):
    monkeypatch.setattr(kept_code, "folder", lambda: tmp_path)
    monkeypatch.setattr(kept_code, "PACKAGE", Path(__file__).parent)

    def sync(a):
        cuda.cg.this_grid().sync()
        a[0] = 1

    types = (successor_code.type_of(int32[::1]),)
    first, second = (successor.of_successor(cuda.jit(sync)) for _ in range(2))
    assert first.compile(types).metadata["use_cooperative"]
    assert list(tmp_path.glob("*.nbc"))
    assert second.compile(types).metadata["use_cooperative"]
    assert sum(second.stats.cache_hits.values()) == 1
