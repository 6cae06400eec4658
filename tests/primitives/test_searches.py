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


@pytest.mark.parametrize(
    ("search", "name", "scheduled_device"),
    every_pair(SEARCHES, adversarial(), SCHEDULES),
    indirect=["scheduled_device"],
)
def test_every_unit_of_awkward_items(search, name, scheduled_device):
    offsets = offsets_of(adversarial()[name])
    units = np.arange(offsets[-1])
    result = find_owners(offsets, units, search, device=scheduled_device)
    assert result.dtype == np.int32
    np.testing.assert_array_equal(result, owners(offsets, units))


@pytest.mark.parametrize(
    ("search", "items", "scheduled_device"),
    every_pair(GLOBAL_SEARCHES, COUNTS, SCHEDULES),
    indirect=["scheduled_device"],
)
def test_sizes_around_warps_and_blocks(search, items, scheduled_device):
    offsets = offsets_of(np.random.default_rng(items).integers(0, 4, items))
    units = np.arange(offsets[-1])
    result = find_owners(offsets, units, search, device=scheduled_device)
    np.testing.assert_array_equal(result, owners(offsets, units))


@pytest.mark.parametrize("search", GLOBAL_SEARCHES)
def test_a_million_items(search, device):
    draw = np.random.default_rng(1)
    offsets = offsets_of(draw.integers(0, 5, 1_000_000))
    units = draw.integers(0, offsets[-1], 20_000)
    result = find_owners(offsets, units, search, device=device)
    np.testing.assert_array_equal(result, owners(offsets, units))


@pytest.mark.parametrize("search", GLOBAL_SEARCHES)
def test_offsets_as_large_as_int32_can_hold(search, device):
    most = 2**31 - 1
    offsets = np.array([0, 0, 5, most - 7, most - 7, most])
    units = np.array([0, 4, 5, most // 2, most - 8, most - 7, most - 1])
    result = find_owners(offsets, units, search, device=device)
    np.testing.assert_array_equal(result, owners(offsets, units))


@examples(60, soak=1200)
@given(st.lists(st.one_of(st.just(0), st.integers(0, 3), st.integers(0, 90)), max_size=40))
@example([0, 0, 0, 1])
@example([1, 0, 0, 0])
def test_all_searches_agree_with_numpy(sizes):
    offsets = offsets_of(sizes)
    units = np.arange(offsets[-1])
    for search in SEARCHES if len(sizes) <= 32 else GLOBAL_SEARCHES:
        result = find_owners(offsets, units, search, device=SimtDevice(check=True))
        np.testing.assert_array_equal(result, owners(offsets, units), err_msg=search)


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


@pytest.mark.parametrize(("left", "right"), [(0, 1), (0, 12), (3, 4), (3, 9), (5, 12)])
def test_a_window_in_shared_memory_and_units_outside_it(left, right, scheduled_device):
    offsets = offsets_of([0, 4, 4, 0, 0, 0, 9, 1, 0, 2, 0, 0]).astype(np.int32)
    units = np.arange(-3, 25, dtype=np.int32)
    owner = scheduled_device.full((4, units.size), -1, np.int32)
    arrays = scheduled_device.array(offsets), left, right, scheduled_device.array(units), owner
    scheduled_device.launch(search_a_window, 1, 32, *arrays)
    expected = np.clip(owners(offsets, units), left, right - 1)
    np.testing.assert_array_equal(scheduled_device.read(owner), np.tile(expected, (4, 1)))


def test_the_interpolation_search_ends_where_all_offsets_are_equal(device):
    offsets = np.full(13, 5, dtype=np.int32)
    units = np.array([4, 5, 6], dtype=np.int32)
    owner = device.full((4, 3), -1, np.int32)
    device.launch(search_a_window, 1, 32, device.array(offsets), 0, 12, device.array(units), owner)
    np.testing.assert_array_equal(device.read(owner), np.tile([0, 11, 11], (4, 1)))


def reads(search: str, offsets: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Return the offsets that each thread reads, one launch a unit."""
    counts = []
    for unit in units:
        device = SimtDevice(trace=True)
        find_owners(offsets, [unit], search, threads=32, device=device)
        requests = device.trace.select(array="offsets").requests
        counts.append(int(np.diff(requests.start).sum()))
    return np.array(counts)


def test_the_one_sided_search_is_also_found_by_its_earlier_name():
    assert list(find_owners([0, 3, 3, 5], [2, 3], "lower_bound")) == [0, 2]


@pytest.mark.parametrize("items", [1, 2, 31, 32, 33, 64])
def test_the_one_sided_search_reads_once_a_step_and_always_as_often(items):
    offsets = offsets_of(np.full(items, 3))
    steps = int(np.ceil(np.log2(items)))
    assert set(reads("one_sided", offsets, np.arange(offsets[-1]))) == {steps}


def test_the_two_sided_search_reads_twice_a_step_or_stops_early():
    offsets = offsets_of(np.full(64, 3))
    counts = reads("two_sided", offsets, np.arange(offsets[-1]))
    assert counts.min() == 2
    assert counts.max() > 6


def test_the_interpolation_search_hits_equal_sizes_at_once_and_crawls_to_a_giant():
    offsets = offsets_of(np.full(64, 3))
    assert reads("interpolation", offsets, np.arange(offsets[-1])).max() <= 5
    giant = offsets_of([*63 * [1], 1_000_000])
    assert reads("interpolation", giant, np.array([62])) >= 60


def test_the_guarded_search_guesses_like_the_other_one_and_never_crawls():
    offsets = offsets_of(np.full(64, 3))
    units = np.arange(0, offsets[-1], 7)
    np.testing.assert_array_equal(
        reads("guarded", offsets, units), reads("interpolation", offsets, units)
    )
    for sizes in ([*500 * [0], 1], [*500 * [1], 1_000_000]):
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
