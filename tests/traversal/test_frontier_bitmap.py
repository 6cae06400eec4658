"""Bottom-up with a bitmap of the frontier: the same search with fewer sectors for its tests."""

from __future__ import annotations

import numpy as np
import pytest
from bfs_rules import check_search
from numba import cuda

import gpukernels as gk
from gpukernels.trace import metrics
from gpukernels.traversal.frontier_bitmap import mark_level, words

METHODS = ("bottom_up", "direction_optimizing")
#: 31, 32, 33 and 63 vertices: words that are not full, full, and begun.
SIZES = (1, 31, 32, 33, 63, 64, 100)


@cuda.jit
def mark(distance, level, bits):
    mark_level(distance, level, bits)


@pytest.mark.parametrize("n", SIZES)
def test_the_bits_are_those_of_the_level(n, scheduled_device):
    distance = np.random.default_rng(n).integers(-1, 3, n).astype(np.int32)
    bits = scheduled_device.full(words(n), 2**32 - 1, np.uint32)  # old content is overwritten
    scheduled_device.launch(mark, 2, 32, scheduled_device.array(distance), 1, bits)
    flags = np.unpackbits(scheduled_device.read(bits).view(np.uint8), bitorder="little")
    np.testing.assert_array_equal(flags[:n], distance == 1)
    assert not flags[n:].any()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", SIZES)
def test_right_whatever_the_last_word_holds(method, n, scheduled_device):
    g = gk.erdos_renyi(n, 3, seed=n) if n > 1 else gk.path(1)
    result = gk.bfs(g, n - 1, method, scheduled_device, frontier="bitmap", threads=32)
    check_search(g, n - 1, result.distance, result.parent)
    assert result.stats["frontier"] == "bitmap"


@pytest.mark.parametrize("alpha", [15.0, 1e9])
def test_bits_made_again_after_steps_downward_are_right(alpha, scheduled_device):
    """The search turns up, down and up again: a ball, a path, and a ball at its end."""
    ball = gk.erdos_renyi(40, 8, seed=3)
    source, target = ball.coo
    path = np.arange(39, 50)
    g = gk.Graph.from_arcs(
        90,
        np.concatenate([source, path, 50 + source]),
        np.concatenate([target, path + 1, 50 + target]),
        directed=False,
    )
    options = {"frontier": "bitmap", "alpha": alpha, "beta": 18.0, "threads": 64}
    result = gk.bfs(g, 0, "direction_optimizing", scheduled_device, **options)
    check_search(g, 0, result.distance, result.parent)
    turns = np.diff([step == "bottom_up" for step in result.stats["directions"]])
    assert alpha == 15.0 or np.count_nonzero(turns) >= 2  # up, down, up


def asked(g, method: str, frontier: str, **options) -> tuple[int, int]:
    """Return the sectors that the tests of the frontier touch, and the number of read arcs."""
    with gk.trace() as t:
        result = gk.bfs(g, 0, method, frontier=frontier, **options)
    asking = [i for i, s in enumerate(t.trace.sources) if s.function.startswith("first_parent")]
    lists = {"offsets", "sources", "reverse_offsets"}
    sectors = 0
    for source in asking:
        part = t.trace.select(source=source)
        for name in {info.name for info in part.arrays} - lists:
            sectors += int(metrics.sectors(part.select(array=name)).sum())
    return sectors, result.stats["arcs_inspected"]


@pytest.mark.parametrize(
    ("method", "options"),
    [("bottom_up", {}), ("direction_optimizing", {"alpha": 1e9, "beta": 1e9})],
)
@pytest.mark.parametrize(
    ("g", "saved"),
    [(gk.rmat(9, 16, seed=1), 1.5), (gk.road_grid(9, 9, seed=1), 1.5)],
    ids=["rmat", "road"],
)
def test_the_bitmap_is_asked_in_fewer_sectors(method, options, g, saved):
    by_distance, arcs = asked(g, method, "distance", **options)
    by_bits, same = asked(g, method, "bitmap", **options)
    assert arcs == same
    assert by_distance > saved * by_bits > 0
