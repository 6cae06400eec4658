"""Atomic operations, against the same operations in a loop."""

from __future__ import annotations

import contextlib

import numba
import numpy as np
import pytest
from launching import kernel_from, launched
from numba import cuda, float64
from numba.core.errors import NumbaError

from gpukernels.device import SimtDevice
from gpukernels.simt import launch
from gpukernels.simt.errors import KernelTypeError

NUMBERS = [np.int32, np.int64, np.uint32, np.uint64, np.float32, np.float64]
INTEGERS = NUMBERS[:4]


KERNEL = """\
from numba import cuda


@cuda.jit
def kernel(a, at, out, old):
    i = cuda.grid(1)
    if i < a.size:
        old[i] = cuda.atomic.{name}(out, at[i], a[i])
"""
ASSOCIATIVE = {
    "add": (np.add, NUMBERS),
    "sub": (np.subtract, NUMBERS),
    "max": (np.maximum, NUMBERS),
    "min": (np.minimum, NUMBERS),
    "and_": (np.bitwise_and, INTEGERS),
    "or_": (np.bitwise_or, INTEGERS),
    "xor": (np.bitwise_xor, INTEGERS),
}
CASES = [(name, dtype) for name, (_, dtypes) in ASSOCIATIVE.items() for dtype in dtypes]


@pytest.mark.parametrize("bins", [1, 7, 1000])
@pytest.mark.parametrize(("name", "dtype"), CASES, ids=lambda v: getattr(v, "__name__", v))
def test_operations_whose_order_does_not_matter(device, tmp_path, name, dtype, bins):
    kernel, ufunc = kernel_from(KERNEL.format(name=name), tmp_path), ASSOCIATIVE[name][0]
    rng = np.random.default_rng(bins)
    # Small whole numbers, so that float sums are exact in any order.
    a, at = rng.integers(0, 100, 130).astype(dtype), rng.integers(0, bins, 130)
    start = rng.integers(0, 100, bins).astype(dtype)
    _, _, out, old = launched(device, kernel, 3, 50, a, at, start, np.zeros_like(a))
    expected = start.copy()
    ufunc.at(expected, at, a)
    np.testing.assert_array_equal(out, expected)
    assert out.dtype == dtype
    # The old values of a bin form a chain from its start to its end: each thread saw the value
    # that another one left. (On a GPU, minima and maxima of floats form no chain: numba makes them
    # by a loop, which ends with the last value that it read if there is nothing to change.)
    if name in ("max", "min") and a.dtype.kind == "f" and not isinstance(device, SimtDevice):
        return
    for b in np.unique(at):
        mine = at == b
        left = [ufunc(o, v) for o, v in zip(old[mine], a[mine], strict=True)]
        assert sorted([*old[mine], out[b]]) == sorted([start[b], *left])


@cuda.jit
def tickets(counter, out):
    i = cuda.grid(1)
    out[i] = cuda.atomic.add(counter, 0, 1)


@pytest.mark.parametrize("threads", [1, 31, 32, 33, 100])
def test_every_thread_draws_a_ticket_of_its_own(scheduled_device, threads):
    counter, out = launched(
        scheduled_device, tickets, 3, threads, np.zeros(1, np.int32), np.zeros(3 * threads, int)
    )
    assert counter[0] == 3 * threads
    np.testing.assert_array_equal(np.sort(out), np.arange(3 * threads))


def ticket_order(schedule, seed=0):
    counter, out = np.zeros(1, np.int32), np.zeros(32, int)
    launch(tickets, 1, 32, (counter, out), schedule=schedule, seed=seed)
    return out.tolist()


def test_the_random_schedule_draws_the_turns_of_the_lanes_of_a_warp():
    in_order = list(range(32))
    assert ticket_order("lockstep") == ticket_order("warp") == in_order
    orders = [ticket_order("random", seed) for seed in range(5)]
    assert all(sorted(order) == in_order for order in orders)
    assert len({tuple(order) for order in [in_order, *orders]}) == 6
    assert orders == [ticket_order("random", seed) for seed in range(5)], "the seed decides"


@cuda.jit
def tickets_of_two_counters(counters, out):
    i = cuda.grid(1)
    out[i] = cuda.atomic.add(counters, i % 2, 1)
    out[i] += 100 * cuda.atomic.exch(counters, i, i + 1)


def test_drawn_turns_are_those_of_each_element_alone():
    # Lanes without another lane on their element see the same value in every order.
    counters, out = np.zeros(32, np.int32), np.zeros(32, int)
    launch(tickets_of_two_counters, 1, 32, (counters, out), schedule="random", seed=3)
    for side in (0, 1):
        drawn = (out % 100)[side::2].tolist()
        assert sorted(drawn) == list(range(16))
        assert drawn != sorted(drawn)
    assert (out[:2] // 100).tolist() == [16, 16]
    assert not (out[2:] // 100).any()
    assert counters.tolist() == list(range(1, 33))


@cuda.jit
def wrapping(out):
    cuda.atomic.add(out, 0, 2**31)
    cuda.atomic.add(out, 1, float64(2.75))


def test_the_operand_is_cast_to_the_array(device):
    (out,) = launched(device, wrapping, 1, 2, np.zeros(2, np.int32))
    assert out.tolist() == [0, 4]


# Types ------------------------------------------------------------

OPERATIONS = "add sub max min nanmax nanmin and_ or_ xor exch inc dec cas".split()
ELEMENTS = "int16 int32 int64 uint32 uint64 float16 float32 float64 complex64".split()


UPDATE = """\
from numba import cuda


@cuda.jit
def kernel(a, v):
    cuda.atomic.{}(a, 0, {})
"""


@pytest.mark.parametrize("op", OPERATIONS)
def test_atomics_take_the_types_that_numba_takes(op, tmp_path):
    values = "v[0], v[1]" if op == "cas" else "v[0]"
    kernel = kernel_from(UPDATE.format(op, values), tmp_path)
    taken, compiled = set(), set()
    for name in ELEMENTS:
        a, v = np.ones(1, name), np.ones(2, name)
        with contextlib.suppress(KernelTypeError):
            launch(kernel, 1, 1, (a, v))
            taken.add(name)
        signature = tuple(map(numba.typeof, (a, v)))
        with contextlib.suppress(NumbaError, NotImplementedError):
            cuda.compile_ptx(kernel.py_func, signature, cc=(8, 0))
            compiled.add(name)
    assert taken == compiled
