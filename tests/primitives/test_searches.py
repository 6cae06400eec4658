"""Every search finds the owner that NumPy finds: among any items, for every unit, anywhere."""

from __future__ import annotations

import numpy as np
import pytest
from effort import SCHEDULES, every_pair, examples
from hypothesis import example, given
from hypothesis import strategies as st
from numba import cuda, int32

from gpukernels import InvalidArgument
from gpukernels.device import SimtDevice
from gpukernels.primitives import (
    binary_search_two_sided,
    find_owners,
    guarded_interpolation_owner,
    interpolation_owner,
    upper_owner,
)
from gpukernels.primitives.searches import GUESSES

SEARCHES = ["two_sided", "one_sided", "interpolation", "guarded", "register"]
GLOBAL_SEARCHES = SEARCHES[:4]
COUNTS = [0, 1, 31, 32, 33, 1023, 1024, 1025]


def offsets_of(sizes) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.asarray(sizes, dtype=np.int64))])


def adversarial() -> dict[str, np.ndarray]:
    """Sizes, by what is awkward about them; none has more than 32 items."""
    giant = np.ones(32, dtype=np.int64)
    return {
        "one item": [7],
        "one unit in the last item": [*31 * [0], 1],
        "one unit in the first item": [1, *31 * [0]],
        "empty at both ends": [*10 * [0], 3, 1, 4, *10 * [0]],
        "every other item empty": 16 * [0, 3],
        "a run of empty items inside": [2, *20 * [0], 2],
        "one giant item first": [2000, *giant[1:]],
        "one giant item last": [*giant[1:], 2000],
        "one giant item inside": [*giant[:15], 2000, *giant[:16]],
        "doubling sizes": 2 ** np.arange(11),
        "31 items": 31 * [2],
        "32 items": 32 * [2],
    }


def owners(offsets: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Return the oracle's answer."""
    return np.searchsorted(offsets, units, side="right") - 1


def check(search, offsets, units, device):
    result = find_owners(offsets, units, search, device=device)
    assert result.dtype == np.int32
    np.testing.assert_array_equal(result, owners(offsets, units), err_msg=search)


@pytest.mark.parametrize(
    ("search", "name", "scheduled_device"),
    every_pair(SEARCHES, adversarial(), SCHEDULES),
    indirect=["scheduled_device"],
)
def test_every_unit_of_awkward_items(search, name, scheduled_device):
    offsets = offsets_of(adversarial()[name])
    check(search, offsets, np.arange(offsets[-1]), scheduled_device)


@pytest.mark.parametrize(
    ("search", "items", "scheduled_device"),
    every_pair(GLOBAL_SEARCHES, COUNTS, SCHEDULES),
    indirect=["scheduled_device"],
)
def test_sizes_around_warps_and_blocks(search, items, scheduled_device):
    offsets = offsets_of(np.random.default_rng(items).integers(0, 4, items))
    check(search, offsets, np.arange(offsets[-1]), scheduled_device)


@pytest.mark.parametrize("search", GLOBAL_SEARCHES)
def test_a_million_items_and_offsets_as_large_as_int32_can_hold(search, device):
    draw, most = np.random.default_rng(1), 2**31 - 1
    offsets = offsets_of(draw.integers(0, 5, 1_000_000))
    check(search, offsets, draw.integers(0, offsets[-1], 20_000), device)
    offsets = np.array([0, 0, 5, most - 7, most - 7, most])
    check(search, offsets, np.array([0, 4, 5, most // 2, most - 8, most - 7, most - 1]), device)


@examples(60, soak=1200)
@given(st.lists(st.one_of(st.just(0), st.integers(0, 3), st.integers(0, 90)), max_size=40))
@example([0, 0, 0, 1])
@example([1, 0, 0, 0])
def test_all_searches_agree_with_numpy(sizes):
    offsets = offsets_of(sizes)
    units = np.arange(offsets[-1])
    for search in SEARCHES if len(sizes) <= 32 else GLOBAL_SEARCHES:
        check(search, offsets, units, SimtDevice(check=True))


@cuda.jit
def search_a_window(offsets, left, right, units, owner):
    """Search a window of `offsets` in shared memory, all four ways."""
    window = cuda.shared.array(64, int32)
    lane = cuda.threadIdx.x
    for k in range(lane, right - left + 1, 32):
        window[left + k] = offsets[left + k]
    cuda.syncthreads()
    for i in range(lane, units.size, 32):
        owner[0, i] = binary_search_two_sided(window, left, right, units[i])
        owner[1, i] = upper_owner(window, left, right, units[i])
        owner[2, i] = interpolation_owner(window, left, right, units[i])
        owner[3, i] = guarded_interpolation_owner(window, left, right, units[i])


@pytest.mark.parametrize(("left", "right"), [(0, 1), (0, 12), (3, 4), (3, 9), (3, 6), (5, 12)])
def test_a_window_in_shared_memory_and_units_outside_it(left, right, scheduled_device):
    # From 3 to 6 all offsets are equal.
    offsets = offsets_of([0, 4, 4, 0, 0, 0, 9, 1, 0, 2, 0, 0]).astype(np.int32)
    units = np.arange(-3, 25, dtype=np.int32)
    owner = scheduled_device.full((4, units.size), -1, np.int32)
    arrays = scheduled_device.array(offsets), left, right, scheduled_device.array(units), owner
    scheduled_device.launch(search_a_window, 1, 32, *arrays)
    expected = np.clip(owners(offsets, units), left, right - 1)
    np.testing.assert_array_equal(scheduled_device.read(owner), np.tile(expected, (4, 1)))


def reads(search: str, offsets: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Return the offsets that each thread reads, one launch a unit."""
    counts = []
    for unit in units:
        device = SimtDevice(trace=True)
        find_owners(offsets, [unit], search, threads=32, device=device)
        requests = device.trace.select(array="offsets").requests
        counts.append(int(np.diff(requests.start).sum()))
    return np.array(counts)


def test_how_often_each_search_reads():
    for items in (1, 2, 31, 32, 33, 64):
        offsets = offsets_of(np.full(items, 3))
        steps = int(np.ceil(np.log2(items)))
        assert set(reads("lower_bound", offsets, np.arange(offsets[-1]))) == {steps}
    units = np.arange(offsets[-1])
    two_sided, guessed = reads("two_sided", offsets, units), reads("interpolation", offsets, units)
    assert two_sided.min() == 2, "it reads twice a step, or stops early"
    assert two_sided.max() > 6
    assert guessed.max() <= 5
    np.testing.assert_array_equal(reads("guarded", offsets, units), guessed)
    for sizes in ([*500 * [0], 1], [*500 * [1], 1_000_000]):  # it crawls to a giant
        offsets = offsets_of(sizes)
        units = np.array([0, 100, 250, 499, 500])
        units = units[units < offsets[-1]]
        assert reads("interpolation", offsets, units).max() > 400
        assert reads("guarded", offsets, units).max() <= 2 + GUESSES + 9


@pytest.mark.parametrize(
    ("offsets", "units", "search", "message"),
    [
        ([0, 3], [0], "linear", "search = 'linear'"),
        ([], [], "one_sided", "offsets.shape"),
        ([0.0, 1.0], [0], "one_sided", "offsets.dtype"),
        ([1, 3], [1], "one_sided", r"offsets\[0\] = 1"),
        ([0, 3, 2], [0], "one_sided", r"offsets\[2\] = 2: must be at least offsets\[1\] = 3"),
        ([0, 2**31], [0], "one_sided", r"offsets\[-1\] = 2147483648"),
        ([0, 3], [2, 3], "one_sided", r"units\[1\] = 3: must be from 0 to 2"),
        ([0, 3], [-1], "one_sided", r"units\[0\] = -1"),
        ([0, 3], [0.5], "one_sided", "units.dtype"),
        ([0, 3], [[0]], "one_sided", "units.shape"),
        (range(34), [0], "register", "items = 33: must be at most 32"),
    ],
)
def test_what_cannot_be_searched_is_refused(offsets, units, search, message, device):
    with pytest.raises(InvalidArgument, match=message):
        find_owners(offsets, units, search, device=device)
