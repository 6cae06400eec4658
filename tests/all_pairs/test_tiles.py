"""Kernels on tiles: banks, machine code, and the product by itself."""

from __future__ import annotations

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numba import float32, int32, int64

import gpukernels as gk
from gpukernels.all_pairs import UNREACHED
from gpukernels.all_pairs.encoding import ABSENT
from gpukernels.all_pairs.tiles import PER_THREAD, Form, closer, product

SHAPES = [(tile, per) for tile in (16, 32) for per in PER_THREAD] + [(64, "8x8")]


def conflicts(padding: bool, **shape) -> dict[str, float]:
    """Extra passes a shared request, by kernel, on one tile closed and one multiplied."""
    matrix = np.zeros((5, 5), np.int32)
    with gk.trace() as t:
        gk.apsp(matrix, "blocked", padding=padding, **shape)
        gk.min_plus(matrix, matrix, padding=padding, **shape)
    rows = t.summary().rows
    return {name: row["bank conflicts / request"] for name, row in rows.items()}


@pytest.mark.parametrize(("tile", "per_thread"), SHAPES)
def test_padded_tiles_have_no_bank_conflicts(tile, per_thread):
    count = conflicts(True, tile=tile, per_thread=per_thread)
    assert count == {"close_tile": 0, "min_plus_tiles": 0}


@pytest.mark.parametrize(("tile", "per_thread"), [(32, "4x4"), (64, "8x8")])
def test_without_padding_there_are_bank_conflicts(tile, per_thread):
    assert min(conflicts(False, tile=tile, per_thread=per_thread).values()) > 0.1


def code(form: Form, kernel=product):
    kind = {"int32": int32, "float32": float32}[form.dtype]
    matrix = kind[:, ::1]
    types = (matrix,) * 4 + (int32[:, ::1], kind) + (int64,) * 4 + (int32[::1],)
    if kernel is closer:
        types = matrix, int32[:, ::1], int64, int32[::1]
    try:
        return gk.sass(kernel(form), types, cc=(9, 0))
    except gk.MissingTool as missing:
        pytest.skip(str(missing))


def test_on_hopper_a_sum_and_a_minimum_of_whole_numbers_are_one_instruction():
    listing = code(Form(64, "8x8"))
    (inner,) = listing.loops
    steps = 16
    assert sum(i.is_a("VIADDMNMX") for i in inner) == steps * 64
    # Sixteen loads from shared memory a step, and little else: no selects for indices from the end,
    # no counting of steps, and what loads the next slice is shared by sixteen of them.
    assert len(inner) <= steps * (64 + 16 + 12)
    assert listing.local_bytes == listing.local_loads == listing.local_stores == 0
    assert listing.registers <= 128


def test_on_hopper_floats_take_two_instructions_and_stay_in_registers():
    listing = code(Form(64, "8x8", "float32"))
    (inner,) = listing.loops
    assert sum(i.is_a("FADD") for i in inner) == sum(i.is_a("FMNMX") for i in inner) == 16 * 64
    assert listing.local_bytes == 0


def test_a_tile_is_closed_in_registers():
    assert code(Form(64, "8x8"), closer).local_bytes == 0


# --- the product ----------------------------------------------------------------------------------


def expected(a, b):
    """The definition, in float64."""
    a, b = (np.where(x == UNREACHED, np.inf, x) if x.dtype.kind == "i" else x for x in (a, b))
    sums = a[:, :, None].astype(float) + b[None].astype(float)
    return sums.min(axis=1, initial=np.inf)


@st.composite
def factors(draw):
    n, k, m = (draw(st.integers(0, 18)) for _ in "nkm")
    kinds = [np.dtype(draw(st.sampled_from(["int32", "float32"]))) for _ in "ab"]
    values = st.integers(-40, 40) | st.just(UNREACHED)
    matrices = (draw(arrays.arrays(np.int32, shape, elements=values)) for shape in ((n, k), (k, m)))
    return [
        np.where(x == UNREACHED, np.inf, x).astype(kind) if kind == np.float32 else x
        for x, kind in zip(matrices, kinds, strict=True)
    ]


@pytest.mark.parametrize(
    "options", [{}, {"lazy": True, "per_thread": "4x2"}, {"padding": False, "per_thread": "4x4"}],
    ids=str,
)  # fmt: skip
@examples(15, 500)
@given(ab=factors())
def test_a_product_is_that_of_the_definition(options, ab):
    a, b = ab
    result = gk.min_plus(a, b, gk.SimtDevice(check=True), **options)
    whole = a.dtype == b.dtype == np.int32
    assert result.dtype == (np.int32 if whole else np.float32)
    result = np.where(result == UNREACHED, np.inf, result) if whole else result
    np.testing.assert_array_equal(result, expected(a, b))


def test_a_product_of_extremes(device):
    a = np.array([[UNREACHED, 2**29 - 1], [-(2**29 - 1), UNREACHED]])
    assert gk.min_plus(a, [[0], [-(2**29 - 1)]], device).tolist() == [[0], [-(2**29 - 1)]]
    b = [[UNREACHED], [UNREACHED]]
    assert gk.min_plus(a, b, device).tolist() == [[UNREACHED], [UNREACHED]]
    assert gk.min_plus([[ABSENT - 2]], [[1]], device).tolist() == [[ABSENT - 1]]


@pytest.mark.parametrize(
    ("a", "b", "argument"),
    [
        ([[1, 2]], [[1]], "b.shape"), ([1], [[1]], "a.shape"),
        ([[1.0]], [[float("nan")]], "b[0, 0]"),
        ([[ABSENT - 1]], [[1]], "the range of sums"), ([[2**30]], [[0]], "the range of sums"),
        ([[-(2**29) - 1]], [[0]], "the range of sums"), ([["a"]], [[1]], "a"),
        (np.float32([[3e38]]), np.float32([[3e38]]), "the range of sums"),
    ],
    ids=str,
)  # fmt: skip
def test_factors_that_do_not_fit_are_refused(a, b, argument):
    with pytest.raises(gk.InvalidArgument) as caught:
        gk.min_plus(a, b)
    assert caught.value.argument == argument
