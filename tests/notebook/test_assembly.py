"""What the compiler makes of kernels: facts that hold for any version, not listings."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from numba import cuda, int32, int64

import gpukernels as gk
from gpukernels.notebook import assembly
from gpukernels.notebook.assembly import Assembly, sass
from gpukernels.representations.csr import csr_neighbor_sum
from gpukernels.traversal.virtual_warp import virtual_warp_level

ROW, WIDE_ROW = int32[::1], int64[::1]


@cuda.jit
def cheap_arms(a, out):
    i = cuda.grid(1)
    if i < out.size:
        if a[i] > 0:
            x = a[i] * 3
        else:
            x = a[i] + 7
        out[i] = x


@cuda.jit
def ragged_loop(lengths, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        k = lengths[i]
        while k > 1:
            k = k // 2 if k % 2 == 0 else 3 * k + 1
            total += 1
        out[i] = total


@cuda.jit
def uniform_atomic(counter, n):
    if cuda.grid(1) < n:
        cuda.atomic.add(counter, 0, 1)


@cuda.jit
def scattered_atomic(at, counter):
    cuda.atomic.add(counter, at[cuda.grid(1)], 1)


@cuda.jit
def shared_uniform_atomic(out):
    counter = cuda.shared.array(1, int32)
    if cuda.threadIdx.x == 0:
        counter[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(counter, 0, 1)
    cuda.syncthreads()
    out[0] = counter[0]


@cuda.jit
def local_queue(a, at, out):
    own = cuda.local.array(16, int32)
    i = cuda.grid(1)
    for k in range(16):
        own[k] = a[i + k]
    out[i] = own[at[i]]


@cuda.jit(device=True)
def twice(x):
    return x + x


@cuda.jit
def calls_a_device_function(a):
    a[cuda.grid(1)] = twice(a[cuda.grid(1)])


def test_cheap_arms_are_computed_by_all_lanes_in_place_of_a_branch():
    code = sass(cheap_arms, (ROW, ROW))
    assert code.branches == ()
    assert code.predicated or code.count("SEL")
    assert code.count("LDG") > 0
    assert code.count("STG") == 1


def test_a_loop_whose_trip_count_differs_by_lane_keeps_its_branch():
    code = sass(ragged_loop, (ROW, ROW))
    assert code.branches
    assert any(i in code.branches for loop in code.loops for i in loop)


@pytest.mark.parametrize("cc", [(8, 0), (9, 0)])
def test_an_atomic_whose_address_is_seen_to_be_uniform_is_asked_for_by_one_lane(cc):
    code = sass(uniform_atomic, (ROW, int64), cc=cc)
    assert code.cc == cc
    assert code.count("VOTE", "VOTEU") > 0
    assert code.count("POPC", "UPOPC") > 0
    (request,) = code.select("ATOMG", "RED")
    assert request.predicate, "the leader alone"
    other = sass(scattered_atomic, (ROW, ROW), cc=cc)
    assert other.count("POPC", "UPOPC") == 0
    (request,) = other.select("ATOMG", "RED")
    assert not request.predicate


def test_a_uniform_atomic_in_shared_memory_counts_the_lanes():
    code = sass(shared_uniform_atomic, (ROW,))
    assert code.count("ATOMS.POPC.INC") == code.count("ATOMS") == 1
    assert code.count("BAR") == 2


def test_the_loop_over_a_row_is_unrolled_by_four():
    code = sass(csr_neighbor_sum, (ROW, ROW, WIDE_ROW, WIDE_ROW))
    loads = [sum(i.is_a("LDG") for i in loop) for loop in code.loops]
    # A target and its value each: four arcs a turn, and a loop for what is left.
    assert sorted(loads) == [2, 8]
    assert all(i in code.branches for i in code.select("BRA") if i.target is not None)


def test_a_virtual_warp_of_a_size_known_at_run_time_divides_by_a_routine():
    types = []
    device = gk.SimtDevice()
    launch = device.launch

    def noting(kernel, blocks, threads, *arguments, **options):
        if kernel is virtual_warp_level:
            types.append(tuple(map(numba.typeof, arguments)))
        return launch(kernel, blocks, threads, *arguments, **options)

    device.launch = noting
    gk.bfs(gk.path(5), 0, "virtual_warp", device)
    code = sass(virtual_warp_level, types[0])
    assert any("div" in name or "rem" in name for name in code.calls)


def test_a_local_array_with_a_computed_index_lies_in_local_memory():
    code = sass(local_queue, (ROW, ROW, ROW))
    assert code.local_stores > 0
    assert code.local_loads > 0
    assert code.local_bytes >= 64
    assert sass(cheap_arms, (ROW, ROW)).local_bytes == 0


def test_instructions_know_their_line_of_source():
    code = sass(cheap_arms, (ROW, ROW))
    first = cheap_arms.py_func.__code__.co_firstlineno
    (store,) = code.select("STG")
    assert store.line == first + 8
    assert store in code.select(line=first + 8)
    assert store.file == __file__
    assert store.address > 0
    assert store.operands


def test_the_listing_prints_every_instruction():
    code = sass(uniform_atomic, (ROW, int64))
    text = repr(code)
    assert text.startswith(f"uniform_atomic, sm_90: {len(code)} instructions, ")
    assert f"{code.registers} registers" in text
    assert code.registers > 0
    for instruction in code.instructions:
        assert str(instruction) in text
    assert ".visible .entry" in code.ptx
    assert code.select("NOP") == ()
    assert code.instructions[-1].opcode == "EXIT", "the endless loop behind it is left out"


def test_device_functions_compile_without_a_gpu():
    assert sass(calls_a_device_function, (ROW,)).count("STG") == 1


@pytest.mark.parametrize("most", [64, 512])
def test_a_kernel_is_listed_with_its_launch_bounds(most):
    @cuda.jit(launch_bounds=most)
    def bounded(a):
        a[cuda.grid(1)] = 1

    assert f".maxntid {most}" in sass(bounded, (ROW,)).ptx
    assert ".maxntid" not in sass(uniform_atomic, (ROW, int64)).ptx


def test_arguments_stand_for_their_types():
    array = np.zeros(3, np.int32)
    given, named = sass(uniform_atomic, (array, 3)), sass(uniform_atomic, (ROW, int64))
    assert [i.opcode for i in given.instructions] == [i.opcode for i in named.instructions]


@pytest.mark.parametrize(
    ("kernel", "signature", "cc", "message"),
    [
        (len, (ROW,), (9, 0), "^kernel .* @cuda.jit"),
        (cheap_arms.py_func, (ROW, ROW), (9, 0), "^kernel ="),
        (cheap_arms, (ROW,), (9, 0), "2 types, one a parameter"),
        (cheap_arms, ROW, (9, 0), "^signature ="),
        (cheap_arms, (ROW, ROW), 90, "^cc = 90"),
        (cheap_arms, (ROW, ROW), (9, 0, 0), "^cc ="),
    ],
)
def test_wrong_arguments_are_named(kernel, signature, cc, message):
    with pytest.raises(gk.InvalidArgument, match=message):
        sass(kernel, signature, cc)


def test_a_missing_disassembler_is_told_with_how_to_get_it(monkeypatch):
    monkeypatch.setattr(assembly.shutil, "which", lambda *_, **__: None)
    monkeypatch.setattr(assembly.Path, "glob", lambda *_: [])
    with pytest.raises(gk.MissingTool, match="pip install nvidia-cuda-nvdisasm"):
        sass(cheap_arms, (ROW, ROW))


LISTING = """
	.section	.text.kernel,"ax",@progbits
.text.kernel:
	//## File "a.py", line 7
        /*0000*/                   MOV R1, c[0x0][0x28] ;
.L_x_1:
        /*0010*/              @!P0 IADD3 R1, R1, 0x1, RZ ;
	//## File "a.py", line 9
        /*0020*/               @P1 BRA `(.L_x_1) ;
        /*0030*/              @UP0 BRA `(.L_x_0) ;
        /*0040*/                   CALL.REL.NOINC `($__internal_0_$__cuda_sm20_div_s64) ;
.L_x_0:
        /*0050*/                   EXIT ;
.L_x_2:
        /*0060*/                   BRA `(.L_x_2);
        /*0070*/                   NOP;
"""


def test_a_listing_is_read():
    code = Assembly("kernel", (9, 0), "", tuple(assembly._parse(LISTING)), 8, 0)
    assert [i.opcode for i in code.instructions] == [
        *("MOV", "IADD3", "BRA", "BRA", "CALL.REL.NOINC", "EXIT")
    ]
    assert [i.line for i in code.instructions] == [7, 7, 9, 9, 9, 9]
    assert [i.opcode for i in code.predicated] == ["IADD3"]
    assert [i.address for i in code.branches] == [0x20], "a branch of the whole warp parts no lanes"
    assert [len(loop) for loop in code.loops] == [2]
    assert code.calls == ("$__internal_0_$__cuda_sm20_div_s64",)
    assert code.count("CALL") == 1
    assert code.count("CAL") == 0
    assert code.instructions[1].operands == ("R1", "R1", "0x1", "RZ")


@cuda.jit
def syncs_the_grid(a):
    grid = cuda.cg.this_grid()
    a[cuda.grid(1)] = 1
    grid.sync()
    a[0] = 2


def test_a_kernel_that_syncs_its_grid_is_listed_without_the_library_that_does_it():
    code = sass(syncs_the_grid, (ROW,))
    assert "cudaCGSynchronize" in code.calls
    assert len({i.function for i in code.instructions}) == 1
    assert code.count("STG") == 2
    assert len(code) < 100
