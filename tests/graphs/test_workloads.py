"""Drawn workloads have the figures of the papers' tables, in a plausible shape and order."""

from __future__ import annotations

import numpy as np
import pytest
from full_workloads import full_workload

import gpukernels as gk
from gpukernels.graphs import workloads
from gpukernels.graphs.workloads import LARGEST_SHARE, TARGETS

#: Table I of the paper, copied by hand: mean, standard deviation, maximum.
TABLE = {
    "great-britain_osm": (2.1, 0.5, 8),
    "web-NotreDame": (5.2, 21.4, 3_445),
    "cit-Patents": (4.8, 7.5, 770),
    "circuit5M": (10.7, 1_356.6, 1_290_501),
    "as-Skitter": (13.1, 136.9, 35_455),
}
#: Deviations of 2,000 items where they cannot have the full workload's.
FLATTER = {"circuit5M": 68, "as-Skitter": 83, "kron": 535}


def sizes(*args, **options):
    return np.diff(gk.workload(*args, **options))


@pytest.mark.parametrize("name", TABLE)
def test_full_size_has_mean_deviation_and_maximum_of_the_papers_table(name):
    drawn = np.diff(full_workload(name))
    mean, std, largest = TABLE[name]
    assert drawn.mean() == pytest.approx(mean, rel=0.05)
    assert drawn.std() == pytest.approx(std, rel=0.05)
    assert drawn.max() == pytest.approx(largest, rel=0.05)


def test_kron_has_the_figures_of_a_kronecker_graph():
    drawn = np.diff(full_workload("kron"))
    real = gk.kron(12, 48, seed=3).out_degree
    target = TARGETS["kron"]
    assert drawn.mean() == pytest.approx(target.mean, rel=0.05)
    assert drawn.std() == pytest.approx(target.std, rel=0.05)
    assert drawn.max() == pytest.approx(target.largest, rel=0.05)
    # A graph of 2^12 vertices is of the same kind, only smaller: skewed, with isolated vertices.
    assert drawn.std() > 3 * drawn.mean()
    assert real.std() > 1.5 * real.mean()
    assert np.mean(drawn == 0) > 0.2
    assert np.mean(real == 0) > 0.02


@pytest.mark.parametrize("name", TARGETS)
def test_the_number_of_items_is_the_matrix_s(name):
    offsets = full_workload(name)
    assert offsets.size == TARGETS[name].items + 1
    assert offsets.dtype == np.int32
    assert offsets[0] == 0
    assert np.all(np.diff(offsets) >= 0)


@pytest.mark.parametrize("items", [32, 300, 2_000, 50_000])
@pytest.mark.parametrize("name", TARGETS)
def test_fewer_items_keep_the_mean(name, items):
    drawn = sizes(name, items)
    assert drawn.size == items
    assert drawn.mean() == pytest.approx(TARGETS[name].mean, rel=0.05)


@pytest.mark.parametrize("name", TARGETS)
def test_two_thousand_items_keep_the_deviation_where_a_tenth_of_the_units_allows_it(name):
    drawn, target = sizes(name, 2_000), TARGETS[name]
    assert drawn.std() == pytest.approx(FLATTER.get(name, target.std), rel=0.05)
    assert drawn.max() <= min(target.largest, LARGEST_SHARE * drawn.sum())


@pytest.mark.parametrize("items", [200, 2_000, 20_000])
@pytest.mark.parametrize("name", TARGETS)
def test_fewer_items_have_a_median_near_that_of_the_full_workload(name, items):
    few, all_items = np.median(sizes(name, items)), np.median(np.diff(full_workload(name)))
    assert all_items / 2 - 1 <= few <= 2 * all_items + 1


@pytest.mark.parametrize("name", sorted(set(TARGETS) - {"great-britain_osm"}))
def test_fewer_items_have_a_largest_one_far_above_the_mean(name):
    drawn = sizes(name, 2_000)
    assert drawn.max() > 40 * drawn.mean()


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("items", [0, 1, 2, 3, 31])
def test_a_handful_of_items_will_do(name, items):
    offsets = gk.workload(name, items)
    assert offsets.size == items + 1
    assert offsets[0] == 0
    assert np.all(np.diff(offsets) >= 0)


@pytest.mark.parametrize("name", TARGETS)
def test_a_seed_gives_one_workload_and_another_seed_another(name):
    first = gk.workload(name, 500, seed=1)
    np.testing.assert_array_equal(first, gk.workload(name, 500, seed=1))
    assert not np.array_equal(first, gk.workload(name, 500, seed=2))


def test_shares_of_empty_items_are_those_told():
    for name, target in TARGETS.items():
        empty = np.mean(sizes(name, 20_000) == 0)
        assert empty == pytest.approx(target.empty, abs=0.01), name


def test_patents_without_citations_come_first():
    empty = sizes("cit-Patents", 5_000) == 0
    assert empty[: empty.sum()].all()
    assert not empty[empty.sum() :].any()


@pytest.mark.parametrize("name", ["web-NotreDame", "circuit5M"])
def test_neighbors_in_runs_are_alike_and_shuffled_ones_are_not(name):
    drawn = sizes(name, 20_000)
    shuffled = np.random.default_rng(5).permutation(drawn)

    def equal_neighbors(values):
        return np.mean(values[1:] == values[:-1])

    assert equal_neighbors(drawn) > equal_neighbors(shuffled) + 0.1


@pytest.mark.parametrize("name", ["great-britain_osm", "as-Skitter", "kron"])
def test_shuffled_items_have_no_memory(name):
    heights = np.log1p(sizes(name, 20_000))
    assert abs(np.corrcoef(heights[1:], heights[:-1])[0, 1]) < 0.03


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("great-britain",), "name = 'great-britain': must be one of great-britain_osm"),
        (("kron", -1), "items = -1: must be a whole number from 0 to 1048576"),
        (("kron", 1 << 21), "items = 2097152"),
        (("kron", 2.0), "items = 2.0"),
        (("kron", True), "items = True"),
    ],
)
def test_what_is_not_allowed_is_named(arguments, says):
    with pytest.raises(gk.InvalidArgument) as refused:
        gk.workload(*arguments)
    assert says in str(refused.value)


def test_knowing_where_a_bisection_ends_spares_steps_and_changes_no_result():
    for crossing in (0.002, 1.0, 1.5, 999.0, 1e-9, 1e9):
        asked = []

        def rising(value, crossing=crossing, asked=asked):
            asked.append(value)
            return value - crossing

        plain = workloads._bisect(rising, 1e-3, 1e3)
        steps = len(asked)
        for above, below in ((0, crossing), (crossing / 2, 2 * crossing), (crossing, crossing)):
            asked.clear()
            assert workloads._bisect(rising, 1e-3, 1e3, above, below) == plain
            assert len(asked) <= steps
        assert len(asked) < steps
