"""What is kept of a kernel's arguments is what numba would have made of them."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.cuda.dispatcher import _Kernel

from gpukernels.device.cuda_arguments import MOST_NUMBERS, Launch, kind_of, remember
from gpukernels.frontiers.state import kernel_argument


@kernel_argument
class Pair(NamedTuple):
    first: Any
    second: Any


def variant(*extensions):
    """Return a compiled kernel of numba as far as it prepares arguments."""
    kernel = _Kernel.__new__(_Kernel)
    kernel.extensions = extensions
    return kernel


def handed_over(kernel, value, ty=None, retr=None):
    args = []
    kernel._prepare_args(ty or numba.typeof(value), value, 0, [] if retr is None else retr, args)
    return [(type(a), a.value) if isinstance(a, ctypes._SimpleCData) else a for a in args]


def values(gpu):
    """Return what kernels are given: arrays of every kind, tuples of them, and numbers."""
    lent, host = gpu.array(np.arange(12)), np.arange(4)
    host.flags.writeable = False
    square = gpu.full((4, 5), 3, np.int16)
    arrays = [lent, gpu.keep(host), square, lent[:5], square[:2], lent[2:5], square[1], lent[::2]]
    arrays += [lent.reshape(3, 4), gpu.empty(0, np.int32), gpu.full((2, 0), 0, np.uint8)]
    pairs = [Pair(lent, 7), Pair(square, Pair(lent[:5], True)), Pair(arrays[9], lent), (lent, 2)]
    return [*arrays, *pairs, 0, 1, True, False, 1.0, 0.0, -0.0, -5, 2**40, np.int32(9)]


def test_a_kernel_is_handed_what_numba_makes_of_it_at_every_launch(gpu):
    plain, remembering = variant(), variant()
    remember(remembering)
    assert "_prepare_args" in remembering.__dict__, "numba is not as known any more"
    for value in values(gpu):
        for _ in range(3):
            assert handed_over(remembering, value) == handed_over(plain, value)


def test_numbers_of_one_value_and_several_types_are_kept_apart():
    plain, remembering = variant(), variant()
    remember(remembering)
    for ty in [numba.int64, numba.int32, numba.float64, numba.float32, numba.uint8] * 2:
        for value in range(2 + (ty is numba.int64) * MOST_NUMBERS):
            assert handed_over(remembering, value, ty) == handed_over(plain, value, ty)


def test_what_is_copied_back_is_not_kept():
    class Copying:
        extensions = ()

        def _prepare_args(self, ty, val, stream, retr, kernelargs):
            """Copy a host array, as numba does with one in a tuple."""
            kernelargs.append(val[0].copy())
            retr.append(kernelargs[-1])

    kernel, pair = Copying(), Pair(np.zeros(3), 1)
    remember(kernel)
    for value in (0, 1):
        pair.first[:] = value
        to_do = []
        (copied,) = handed_over(kernel, pair, "a type", to_do)
        assert to_do[0] is copied
        assert copied.tolist() == [value] * 3
    assert pair._handed_over == []


def test_memory_that_is_lent_again_is_handed_over_as_it_was_and_other_memory_is_not(gpu):
    remembering = variant()
    remember(remembering)
    first = gpu.empty(9, np.int32)
    arguments = handed_over(remembering, first)
    other = gpu.empty(9, np.int32)
    assert handed_over(remembering, other) != arguments
    del first
    again = gpu.empty(9, np.int32)
    assert again._handed_over
    assert handed_over(remembering, again) == arguments


def test_an_extension_of_numba_has_its_say_each_time(gpu):
    class Extension:
        asked = 0

        def prepare_args(self, ty, val, stream, retr):
            self.asked += 1
            return ty, val

    extension, array = Extension(), gpu.empty(3, np.int32)
    kernel = variant(extension)
    remember(kernel)
    assert handed_over(kernel, array) == handed_over(kernel, array)
    assert extension.asked == 2


def test_a_numba_that_prepares_arguments_in_another_way_is_left_alone():
    class Other:
        def _prepare_args(self, ty, val, out):
            """Nothing that is known."""

    for kernel in (Other(), SimpleNamespace()):
        remember(kernel)
        assert vars(kernel) == {}


def test_every_variant_of_a_kernel_is_made_to_remember():
    kernel = SimpleNamespace(overloads={})

    def configured(*args):
        kernel.overloads.setdefault(tuple(map(type, args)), variant())

    launch = Launch(kernel, configured)
    for arguments in [(1,), (2,), (1.0,), (True, 1)]:
        launch(*arguments)
        assert all("_prepare_args" in known.__dict__ for known in kernel.overloads.values())
    assert len(kernel.overloads) == 3


def test_arguments_of_one_kind_are_of_one_type(gpu):
    types = {}
    for value in [*values(gpu), *values(gpu), 2**63, -(2**31), np.float32(1), np.zeros(2)]:
        assert types.setdefault(kind_of(value), numba.typeof(value)) == numba.typeof(value)
    assert len(types) >= 15
