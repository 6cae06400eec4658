"""Hidden inputs are new in every check, can be had once more, and leave a right report as it is."""

from __future__ import annotations

import numpy as np
import pytest
from adversaries import KERNELS, kernel_of

import gpukernels as gk
from gpukernels.exercises.judge.bench import attempt
from gpukernels.exercises.judge.inputs import drawn_numbers, graphs_from_0, sizes_of_items


def test_an_answer_that_knows_the_fixed_inputs_by_heart_fails_and_its_seed_repeats_that(tmp_path):
    ex = gk.exercise("shared-2")
    tried = [attempt(ex.solution.answer, case) for case in ex.cases()]
    sizes = {one.device.inputs["values"].size for one in tried}
    known = " or ".join(f"values.size == {size}" for size in sizes)
    text = ex.solution.text.replace("i < values.size:", f"i < values.size and ({known}):")
    sum_learned_by_heart = kernel_of(ex, text, tmp_path)
    first = ex.check(sum_learned_by_heart, raises=False)
    assert not first.passed
    assert f"drawn with seed {first.seed}: check(answer, seed={first.seed})" in repr(first)
    assert "numbers: " in repr(first)  # what was drawn, in short
    again = ex.check(sum_learned_by_heart, raises=False, seed=first.seed)
    assert repr(again) == repr(first)
    other = ex.check(sum_learned_by_heart, raises=False, seed=first.seed + 1)
    assert repr(other) != repr(first)


def test_checks_draw_different_seeds():
    ex = gk.exercise("simt-1")
    assert len({ex.check({}, raises=False).seed for _ in range(20)}) > 1


def test_a_right_answer_gets_the_same_report_whatever_was_drawn_and_none_names_a_seed():
    ex = gk.exercise("shared-3")
    reports = {repr(ex.check(ex.solution, seed=seed)) for seed in (*range(5), np.int64(7), None)}
    (report,) = reports
    assert "right on 1 drawn for this check: drawn numbers and rounds" in report
    assert "seed" not in report


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_task_draws_inputs_that_differ_by_seed_and_its_solution_is_right(name):
    ex = gk.exercise(name)
    seen, names = set(), set()
    for seed in (1, 2, 3):
        cases = ex.drawn(seed)
        names.add(tuple(case.name for case in cases))
        for case in cases:
            tried = attempt(ex.solution.answer, case)
            assert tried.wrong is None, case.detail
            given = tried.device.inputs.values()
            seen.add(b"".join(np.asarray(value).tobytes() for value in given))
        again = attempt(ex.solution.answer, ex.drawn(seed)[-1]).device.inputs
        for parameter, value in again.items():
            np.testing.assert_array_equal(value, tried.device.inputs[parameter])
    assert len(seen) == 3 * len(cases)
    assert len(names) == 1


@pytest.mark.parametrize("seed", [-1, 2.0, "3", True, np.nan])
def test_a_seed_that_is_none_is_refused(seed):
    with pytest.raises(gk.InvalidArgument, match=r"seed = .* must be a whole number from 0"):
        gk.exercise("simt-1").check({}, raises=False, seed=seed)


@pytest.mark.parametrize(("low", "high"), [(-(2**31), 2**31 - 1), (0, 7), (-5, -5)])
def test_drawn_numbers_lie_between_their_ends(low, high):
    draw = drawn_numbers(most=40, low=low, high=high)
    for seed in range(50):
        for values in draw(np.random.default_rng(seed)).values():
            assert 2 <= values.size <= 40
            assert low <= values.min() <= values.max() <= high


def test_sizes_of_items_hold_none_empty_ones_and_a_large_one_at_either_end():
    inputs = sizes_of_items(most_items=9, most_units=70)
    fixed = list(inputs.fixed().values())
    assert any(sizes.size == 0 for sizes in fixed)
    assert any(sizes.size and sizes.sum() == 0 for sizes in fixed)
    assert any(sizes.size and sizes[0] == 70 for sizes in fixed)
    assert any(sizes.size and sizes[-1] == 70 for sizes in fixed)
    for seed in range(50):
        for sizes in inputs.draw(np.random.default_rng(seed)).values():
            assert 2 <= sizes.size <= 9
            assert 0 <= sizes.min() <= sizes.max() <= 70


def test_graphs_to_be_searched_have_a_vertex_and_no_more_than_asked_for():
    inputs = graphs_from_0(most=30)
    assert any((g.targets == 0).any() and g.n == 1 for g in inputs.fixed().values())
    assert any(g.n == 30 and g.m == 0 for g in inputs.fixed().values())
    drawn = [g for s in range(30) for g in inputs.draw(np.random.default_rng(s)).values()]
    assert all(1 <= g.n <= 30 for g in (*inputs.fixed().values(), *drawn))
