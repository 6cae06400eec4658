"""A matrix that a GPU encodes and decodes is the one that the CPU makes, and so are its answers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from effort import examples
from fake_gpu import FakeGpus
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import gpukernels as gk
from gpukernels.all_pairs import encode_on_device, lengths
from gpukernels.all_pairs.encode_on_device import decoded_on, encoded_on, is_encoded_on, padded_on
from gpukernels.all_pairs.encoding import ABSENT, SMALL, encoded, none_in
from gpukernels.errors import InvalidArgument, LengthOverflow, NegativeCycleError

INT32_MAX = 2**31 - 1
#: Each length that is treated in a way of its own, and others; floats of any size but none.
WHOLE = st.sampled_from(
    [-(2**31), -1, 0, 1, ABSENT - 1, ABSENT, ABSENT + 1, INT32_MAX - 1, INT32_MAX]
)
FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False) | st.just(np.inf)
METHODS = ["naive", "blocked", "repeated_squaring", "kleene"]


@pytest.fixture
def on_any_device(monkeypatch):
    """Let every device encode, whatever the size."""
    monkeypatch.setattr(lengths, "is_encoded_on", lambda device, n: True)


def square(draw, dtype, elements):
    n = draw(st.sampled_from([1, 2, 31, 33]))
    return draw(arrays(dtype, (n, n), elements=elements, fill=elements))


@st.composite
def matrices(draw):
    if draw(st.booleans()):
        return square(draw, np.int32, WHOLE | st.integers(-(2**31), INT32_MAX))
    return square(draw, np.float32, FLOATS)


@examples(15, 500)
@given(raw=matrices())
def test_encoding_and_decoding_as_on_the_host(raw):
    device, n = gk.SimtDevice(), len(raw)
    expected, reach = encoded(raw)
    rows, range_on_device = encoded_on(device, raw)
    np.testing.assert_array_equal(device.read(rows), expected)
    assert range_on_device == reach
    absent = expected.dtype.type(ABSENT if raw.dtype == np.int32 else np.inf)
    padded = padded_on(device, rows, n + 3, absent)
    held = device.read(padded)
    np.testing.assert_array_equal(held[:n, :n], expected)
    np.testing.assert_array_equal(held[n:, n:].diagonal(), 0)
    others = np.ones(held.shape, bool)
    others[:n, :n] = False
    np.fill_diagonal(others, False)
    assert (held[others] == absent).all()
    shown = np.where(expected >= absent, none_in(raw), expected)
    for of in (padded, padded_on(device, rows, n, absent)):
        np.testing.assert_array_equal(device.read(decoded_on(device, of, n, absent)), shown)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", [np.int32, np.float32])
@pytest.mark.parametrize("n", [1, 16, 19])
def test_answers(device, on_any_device, method, dtype, n):
    rng = np.random.default_rng(n)
    matrix = rng.integers(-1, 60, (n, n)).astype(dtype) + 5
    matrix[rng.random((n, n)) < 0.7] = none_in(matrix)
    np.fill_diagonal(matrix, 0)
    expected = np.where(matrix == none_in(matrix), np.inf, matrix.astype(float))
    for k in range(n):
        expected = np.minimum(expected, expected[:, k, None] + expected[k])
    expected = np.where(np.isinf(expected), none_in(matrix), expected)
    result = gk.apsp(matrix, method, device, next_hops=True)
    np.testing.assert_array_equal(result.distance, expected)
    assert result.distance.dtype == dtype
    for j in range(n):
        path = result.path(0, j)
        length = sum(int(matrix[ends]) for ends in pairwise(path))
        assert length == expected[0, j] or (not path and expected[0, j] == none_in(matrix))


@pytest.mark.parametrize("method", METHODS)
def test_refusals_as_on_the_host(device, on_any_device, method):
    long = gk.Graph.from_arcs(3, [0, 1], [1, 2], np.array([ABSENT - 1, 1], np.int32))
    with pytest.raises(LengthOverflow, match="from vertex 0 to 2"):
        gk.apsp(long, method, device)
    beyond = gk.Graph.from_arcs(2, [0], [1], np.array([ABSENT], np.int32))
    with pytest.raises(LengthOverflow, match="from vertex 0 to 1"):
        gk.apsp(beyond, method, device)
    cycle = gk.Graph.from_arcs(2, [0, 1], [1, 0], np.array([1, -2], np.int32))
    with pytest.raises(NegativeCycleError):
        gk.apsp(cycle, method, device)
    falling = gk.Graph.from_arcs(2, [0], [1], np.array([-(2**30)], np.int32))
    with pytest.raises(InvalidArgument, match="negative weights"):
        gk.apsp(falling, method, device)


def test_a_gpu_encodes_what_is_large_and_fits(monkeypatch):
    gpus = FakeGpus(monkeypatch, memory=20 * (SMALL + 1000))
    side = int(SMALL**0.5)
    assert is_encoded_on(gk.CudaDevice(), side + 1)
    assert not is_encoded_on(gk.CudaDevice(), side)
    assert not is_encoded_on(gk.CudaDevice(), side + 2)
    assert not is_encoded_on(gk.SimtDevice(), side + 1)
    gpus.close()


def test_a_gpu_answers_without_a_pass_over_the_matrix_on_the_host(monkeypatch):
    gpus = FakeGpus(monkeypatch)
    monkeypatch.setattr(encode_on_device, "SMALL", 0)
    for name in ("_encode", "_encode_small"):
        monkeypatch.delattr(f"gpukernels.all_pairs.encoding.{name}")
    for name in ("_tell", "none_in"):
        monkeypatch.delattr(f"gpukernels.all_pairs.result.{name}")
    matrix = np.array([[0, 3, INT32_MAX], [INT32_MAX, 0, 4], [1, INT32_MAX, 0]], np.int32)
    result = gk.apsp(matrix, "blocked", gk.CudaDevice())
    np.testing.assert_array_equal(result.distance, [[0, 3, 7], [5, 0, 4], [1, 4, 0]])
    gpus.close()
