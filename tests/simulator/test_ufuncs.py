"""`vectorize` and `guvectorize` for cuda, against numba's for the CPU."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from gpukernels import simt
from gpukernels.simulator.arrays import DeviceArray


def polynomial(x, y):
    if x > y:
        return x * x - y
    return y / 2 + x


def product(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] = 0
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def scaled(a, factor, out):
    for i in range(a.shape[0]):
        out[i] = a[i] * factor[0]


TYPES = ["float32(float32, float32)", "float64(float64, float64)"]
SHAPES = [((7,), (7,)), ((3, 1), (4,)), ((), (5,)), ((0,), (0,)), ((2, 3, 4), (3, 1))]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
@pytest.mark.parametrize("shapes", SHAPES)
def test_elements_are_those_of_the_cpu(shapes, dtype):
    rng = np.random.default_rng(1)
    x, y = (rng.integers(-9, 9, shape).astype(dtype) for shape in shapes)
    expected = numba.vectorize(TYPES)(polynomial)(x, y)
    with simt.as_cuda():
        ours = numba.vectorize(TYPES, target="cuda")(polynomial)
        result = ours(x, y)
        on_device = ours(DeviceArray(np.array(x)), y)
        assert isinstance(on_device, DeviceArray)
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(on_device.copy_to_host(), expected)


def test_the_cpus_functions_are_numbas():
    with simt.as_cuda():
        on_cpu = numba.vectorize(TYPES)(polynomial)
    assert on_cpu(np.float32(2), np.float32(1)) == 3


@pytest.mark.parametrize("outer", [(), (5,), (2, 3)])
def test_stacks_of_matrices_are_multiplied(outer):
    rng = np.random.default_rng(2)
    a, b = rng.random((*outer, 3, 4)), rng.random((4, 2))
    with simt.as_cuda():
        types = "void(float64[:,:], float64[:,:], float64[:,:])"
        multiply = numba.guvectorize([types], "(m,n),(n,p)->(m,p)", target="cuda")(product)
        np.testing.assert_allclose(multiply(a, b), a @ b)
        out = np.zeros((*outer, 3, 2))
        assert multiply(a, b, out=out) is out
        np.testing.assert_allclose(out, a @ b)
        with pytest.raises(ValueError, match="dimension n has 4 and 3 elements"):
            multiply(a, b[:3])


def test_numbers_are_passed_as_arrays_of_one():
    types = "void(float64[:], float64[:], float64[:])"
    a = np.arange(6.0).reshape(2, 3)
    with simt.as_cuda():
        scale = numba.guvectorize([types], "(n),()->(n)", target="cuda")(scaled)
        np.testing.assert_array_equal(scale(a, 2.0), 2 * a)
        np.testing.assert_array_equal(scale(a, np.array([2.0, 3.0])), a * [[2], [3]])


def test_types_that_no_signature_takes_are_refused():
    with simt.as_cuda():
        ours = numba.vectorize(["float32(float32, float32)"], target="cuda")(polynomial)
        with pytest.raises(TypeError, match=r"no matching signature .* float64, float64"):
            ours(np.zeros(2), np.zeros(2))
