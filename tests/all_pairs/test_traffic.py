"""What the formulas say of the methods on matrices is what the machine counts."""

from __future__ import annotations

import pytest
from effort import EFFORT, SOAK, every_pair
from matrix_traffic import NOTHING, traffic

import gpukernels as gk
from gpukernels.trace import LOAD, STORE, metrics

MATRIX = ["distance", "a", "b", "old", "new"]
SHAPES = [(16, "1x1"), (16, "4x4"), (16, "8x8"), (32, "8x8"), (32, "1x1"), (32, "4x2"),
          (32, "4x4"), (64, "8x8")]  # fmt: skip
#: Less than a tile, an odd number of small ones, and more than a large one.
SIZES = (5, 48, 70)


def counted(g, method, **options):
    with gk.trace() as t:
        result = gk.apsp(g, method, **options)
    moved = {
        kind: int(metrics.sectors(t.trace.select(array=MATRIX), kinds=kind).sum()) * 32
        for kind in (LOAD, STORE)
    }
    shared = metrics.requests(t.trace, "shared", kinds=LOAD)
    return result.stats, (result.stats["operations"], moved[LOAD], moved[STORE], shared)


@pytest.mark.parametrize(
    ("method", "shape", "n"),
    every_pair(
        ("blocked", "kleene", "repeated_squaring"),
        SHAPES,
        SIZES,
        # Seven products of the largest matrices take seconds: with tiles of 32 alone.
        allowed=lambda method, shape, n: (
            EFFORT == SOAK or method != "repeated_squaring" or n != SIZES[-1] or shape[0] == 32
        ),
    ),
)
def test_tiles_move_what_the_formula_says(method, shape, n):
    tile, per_thread = shape
    g = gk.random_weights(gk.erdos_renyi(n, 3, seed=n), 1, 50, seed=n)
    stats, moved = counted(g, method, tile=tile, per_thread=per_thread)
    rounds = {"rounds": stats["iterations"]} if method == "repeated_squaring" else {}
    assert traffic(method, n, tile=tile, per_thread=per_thread, **rounds) == moved
    assert traffic(method, 0) == NOTHING


@pytest.mark.parametrize(("n", "panel"), [(70, 2), (48, 8), (130, 4)])
def test_panels_move_what_the_formula_says(n, panel):
    _, moved = counted(gk.complete(n), "blocked", tile=16, per_thread="1x1", panel=panel)
    assert traffic("blocked", n, tile=16, per_thread="1x1", panel=panel) == moved


def test_a_launch_a_pivot_loads_ten_bytes_for_each_pair_and_pivot():
    assert traffic("naive", 64).loaded == 10 * 64**3
    for n in (8, 40, 64):
        _, (operations, loaded, _, shared) = counted(gk.complete(n), "naive")
        assert traffic("naive", n) == (operations, loaded, -1, shared)


def test_squaring_takes_as_many_rounds_as_a_path_can_need():
    stats, moved = counted(gk.path(65), "repeated_squaring", tile=16)
    assert stats["iterations"] == 7
    assert traffic("repeated_squaring", 65, tile=16) == moved
