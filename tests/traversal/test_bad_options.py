"""`bfs` refuses bad options by name before any device work, and accepts NumPy's numbers."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from bfs_rules import expected_distance
from reading_device import UntouchedDevice

import gpukernels as gk
from gpukernels.frontiers.duplicates import DUPLICATES
from gpukernels.graphs.stats import Stats
from gpukernels.methods import options_of
from gpukernels.traversal import METHODS
from gpukernels.traversal.bfs4k.knobs import Knobs
from gpukernels.traversal.persistent_steps import ROOM

GRAPH = gk.erdos_renyi(300, 4, seed=1)
OPTIONS = {method: list(options_of(driver)) for method, driver in METHODS.items()}
NO_NUMBERS = [None, "x", b"a", [], {}, 1j, np.array([4]), np.array([4, 4])]


# --- refusals -----------------------------------------------------------------------------------

#: Values that each option refuses, in all its methods; tests/test_hostile_fuzz.py tests flags.
REFUSED = {
    "threads": [*NO_NUMBERS, 128.0, np.float32(64), True, 96.5, -32, 0, 31, 33, 48, 2048],
    "block_threads": [*NO_NUMBERS, 128.0, True, 33, 100, 2048],
    "warp_size": [*NO_NUMBERS[1:], 8.0, np.float32(2), True, -1, 0, 3, 5, 64],
    "min_warp_size": [*NO_NUMBERS, 8.0, np.float32(2), True, 3, 64],
    "capacity": [*NO_NUMBERS[1:], 512.0, np.nan, np.inf, 10**30, 2**40, 2**31, True, GRAPH.n - 1],
    "alpha": [*NO_NUMBERS, np.nan, True, np.True_, -1],
    "beta": [*NO_NUMBERS, np.nan, True, np.True_, -1, 0],
    "duplicates": [*NO_NUMBERS, "", "fnie", "hash", 0, True, ("none",)],
    "gather": [*NO_NUMBERS, "", "coarse", 0, True],
    "cull": [*NO_NUMBERS, "", "hash", 0, True],
    "scan": [*NO_NUMBERS, "", "plain", 0, True],
    "frontier": ["bits", None, 1],
    "kernels": ["two", 3],
    "claim": ["swap"],
    "high_degree": [-1, 1.5, True],
    "sequential_below": [-1],
    "tile": [0, 10**6, 1.5],
    "cta_threshold": [0, 31, 40.0],
    "two_phase_above": [-1, 1.5, "many", True],
    "child_share": [-0.1, 1.5, "1", np.nan],
    "child_queue": [0, 1.5],
    "edge_discover": [-1, 0.5],
    "single_block": [-1, 6, 1.5],
    "coalesce_from": [-1, None],
    "hash_slots": [0, 100, 8192],
    "resident_threads": [0],
    "barrier": ["by hand"],
    "lanes": [3, 64],
    "alone": [ROOM + 1, -1, 1.0],
    "eager": [-1],
    "long_above": [0],
    "blocks": [0],
}


def test_every_option_is_refused_something():
    parameters = [p for driver in METHODS.values() for p in options_of(driver).values()]
    flags = {p.name for p in parameters if isinstance(p.default, bool)}
    assert {*REFUSED} | flags == {p.name for p in parameters}


@pytest.mark.parametrize(
    ("method", "option"), [(m, o) for m in METHODS for o in OPTIONS[m] if o in REFUSED]
)
def test_a_wrong_option_is_refused_by_name_before_the_device_is_used(method, option):
    more = [None] if (method, option) == ("virtual_warp", "warp_size") else []
    for value in REFUSED[option] + more:
        with pytest.raises(gk.InvalidArgument) as caught:
            gk.bfs(GRAPH, 0, method, UntouchedDevice(), **{option: value})
        assert caught.value.argument == option
        assert ": must be " in str(caught.value)


def test_a_padded_scan_refuses_threads_before_the_graph_is_copied():
    with pytest.raises(gk.InvalidArgument, match="power of two") as caught:
        gk.bfs(GRAPH, 0, "linear_work", UntouchedDevice(), scan="padded", threads=96)
    assert caught.value.argument == "threads"


@pytest.mark.parametrize("device", ["simt", 0, False, [], gk.SimtDevice], ids=repr)
def test_a_device_that_launches_nothing_is_refused(device):
    with pytest.raises(gk.InvalidArgument, match=r"SimtDevice\(\) or a CudaDevice") as caught:
        gk.bfs(GRAPH, 0, "harish", device)
    assert caught.value.argument == "device"


@pytest.mark.parametrize("duplicates", DUPLICATES)
def test_a_larger_single_block_than_a_cull_leaves_room_for_is_refused(duplicates):
    """The message of `tune_bfs4k` about culls that take more shared memory."""
    knobs = gk.tune_bfs4k(GRAPH)
    assert knobs["single_block"] == 4
    refuses = duplicates in ("warp_culling", "history_culling", "merrill")
    if refuses:
        with pytest.raises(gk.InvalidArgument, match=r"single_block = 4.*from 0 to 3"):
            Knobs(**knobs, duplicates=duplicates)
        knobs["single_block"] = min(knobs["single_block"], 3)
    result = gk.bfs(GRAPH, 0, "bfs4k", **knobs, duplicates=duplicates)
    np.testing.assert_array_equal(result.distance, expected_distance(GRAPH, 0))


# --- what is reported ---------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_launches_are_those_made_on_a_graph_without_arcs(method):
    device = gk.SimtDevice(trace=True)
    result = gk.bfs(gk.Graph([0, 0, 0, 0], []), 1, method, device)
    np.testing.assert_array_equal(result.distance, [-1, 0, -1])
    assert result.stats["launches"] == len(device.trace.launches)


@pytest.mark.parametrize(
    "again", [copy.deepcopy, copy.copy, lambda r: pickle.loads(pickle.dumps(r))]
)
@pytest.mark.parametrize("method", METHODS)
def test_a_result_can_be_copied_and_pickled(method, again):
    result = gk.bfs(GRAPH, 0, method, gk.SimtDevice())
    copy_of_result = again(result)
    np.testing.assert_array_equal(copy_of_result.distance, result.distance)
    np.testing.assert_array_equal(copy_of_result.parent, result.parent)
    assert isinstance(copy_of_result.stats, Stats)
    assert dict(copy_of_result.stats) == dict(result.stats)
