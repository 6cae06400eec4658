"""NumPy's functions of whole arrays with an output, against numba's compiler for the CPU."""

from __future__ import annotations

import numpy as np
import pytest
from launching import launched
from numba import cuda, njit

from gpukernels.simt import launch
from gpukernels.simt.errors import KernelTypeError, UnsupportedConstruct


def sines(x, y, out):
    np.sin(x, out)


def larger(x, y, out):
    np.maximum(x, y, out)


def angles(x, y, out):
    np.arctan2(x, 2.5, out)


@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (3, 4)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("function", [sines, larger, angles])
def test_elements_are_those_of_the_compiler(function, dtype, shape, scheduled_device):
    rng = np.random.default_rng(3)
    x, y = (rng.normal(size=shape).astype(dtype) for _ in range(2))
    kernel = cuda.jit(function)
    wanted = np.zeros(shape)
    njit(function)(x, y, wanted)
    _, _, out = launched(scheduled_device, kernel, 1, 1, x, y, np.zeros(shape))
    np.testing.assert_allclose(out, wanted, rtol=1e-6)


@cuda.jit
def a_part_each(x, out):
    i = cuda.grid(1)
    np.less(x[i, : i + 1], 0.5, out[i, : i + 1])


def test_each_thread_stores_its_own_part(scheduled_device):
    x = np.random.default_rng(4).random((6, 6))
    _, out = launched(scheduled_device, a_part_each, 1, 6, x, np.zeros((6, 6), bool))
    np.testing.assert_array_equal(out, np.tril(x < 0.5))


@cuda.jit
def stretches(x, out):
    np.sin(x[:2], out)


@cuda.jit
def cuts(x, out):
    np.sin(x, out)


@cuda.jit
def adds_a_dimension(x, out):
    np.sin(x, out)


def test_other_shapes_and_types_are_refused_by_name():
    with pytest.raises(KernelTypeError, match=r"np\.sin: an input has 2 elements along axis 0"):
        launch(stretches, 1, 1, (np.zeros(3), np.zeros(3)))
    with pytest.raises(KernelTypeError, match=r"`np\.sin` does not take float64, int64"):
        launch(cuts, 1, 1, (np.zeros(3), np.zeros(3, int)))
    with pytest.raises(UnsupportedConstruct, match="as many dimensions as the output"):
        launch(adds_a_dimension, 1, 1, (np.zeros(3), np.zeros((3, 3))))
