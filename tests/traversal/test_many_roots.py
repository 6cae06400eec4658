"""Searches from many roots at once have the same results as one search after another."""

from __future__ import annotations

import numpy as np
import pytest
from effort import SCHEDULES, every_pair, examples
from fake_gpu import FakeGpus
from hypothesis import given
from hypothesis import strategies as st

import gpukernels as gk
from gpukernels.trace import metrics
from gpukernels.traversal import many_roots_batches
from gpukernels.traversal.many_roots_batches import bytes_for, roots_within

GRAPHS = {
    "directed": gk.rmat(7, 6, seed=1),
    "undirected": gk.erdos_renyi(100, 3, seed=2),
    "a path": gk.path(40),
    "a star": gk.star(200),  # a warp gathers its center
    "hubs": gk.rmat(6, 16, seed=3),
    "arcs to itself": gk.Graph.from_arcs(3, [0, 0, 1], [0, 1, 1]),
    "no arcs": gk.Graph.from_arcs(5, [], []),
}
#: One bit, a full word and one more, two words and more, four full words, and another batch.
COUNTS = (1, 65, 130, 256, 259)
ALPHAS = (0.0, 4.0, np.inf)
WORDS, PIECES = (1, 2, 4), (32, 2048)


def one_by_one(g: gk.Graph, roots) -> np.ndarray:
    distances = [gk.reference.bfs(g, int(root)).distance for root in roots]
    return np.array(distances, np.int32).reshape(len(distances), g.n)


@pytest.mark.parametrize(
    ("name", "count", "alpha", "words", "piece", "scheduled_device"),
    every_pair(GRAPHS, COUNTS, ALPHAS, WORDS, PIECES, SCHEDULES),
    indirect=["scheduled_device"],
)
def test_every_search_finds_what_it_finds_alone(name, count, alpha, words, piece, scheduled_device):
    g = GRAPHS[name]
    roots = np.random.default_rng(count).integers(0, g.n, count)  # some of them twice
    result = gk.bfs_many(
        g, roots, scheduled_device, alpha=alpha, words=words, piece=piece, threads=64
    )
    np.testing.assert_array_equal(result.distance, one_by_one(g, roots))
    assert result.distance.dtype == np.int32
    np.testing.assert_array_equal(result.roots, roots)
    batch = 64 * words
    assert result.stats["batches"] == result.stats["launches"] == -(-count // batch)
    for i, levels in enumerate(result.stats["levels"]):
        assert levels == result.distance[batch * i : batch * (i + 1)].max() + 1
    turned = {way for ways in result.stats["directions"] for way in ways}
    assert alpha != 0 or turned == {"top_down"}
    assert g.m == 0 or not np.isinf(alpha) or "bottom_up" in turned


@examples(20, 500)
@given(st.data())
def test_any_roots_of_any_small_graph(data):
    n = data.draw(st.integers(1, 40))
    vertices = st.integers(0, n - 1)
    arcs = data.draw(st.lists(st.tuples(vertices, vertices), max_size=160))
    g = gk.Graph.from_arcs(n, [u for u, _ in arcs], [v for _, v in arcs])
    roots = data.draw(st.lists(vertices, max_size=200))
    alpha = data.draw(st.sampled_from(ALPHAS))
    device = gk.SimtDevice(check=True)
    result = gk.bfs_many(g, roots, device, alpha=alpha, piece=32, threads=32)
    np.testing.assert_array_equal(result.distance, one_by_one(g, roots))


@pytest.mark.parametrize("dtype", ["int8", "int16", np.dtype(np.int32)])
@pytest.mark.parametrize("engine", ["kernels", "cpu"])
@pytest.mark.parametrize("name", GRAPHS)
def test_distances_have_the_type_that_is_asked_for(name, dtype, engine):
    g = GRAPHS[name]
    roots = np.arange(70) % g.n
    device = gk.SimtDevice(check=True) if engine == "kernels" else None
    result = gk.bfs_many(g, roots, device, dtype=dtype, engine=engine, threads=64)
    assert result.distance.dtype == dtype
    np.testing.assert_array_equal(result.distance, one_by_one(g, roots))


@pytest.mark.parametrize(
    ("dtype", "longest", "engine"),
    [("int8", 127, "kernels"), ("int8", 127, "cpu"), ("int16", 2**15 - 1, "cpu")],
)
def test_a_distance_that_its_type_does_not_hold_is_refused(dtype, longest, engine):
    device = gk.SimtDevice() if engine == "kernels" else None

    def search(n):
        return gk.bfs_many(gk.path(n), [0], device, dtype=dtype, engine=engine, threads=32).distance

    assert search(longest + 1).max() == longest
    message = f"^dtype = '{dtype}': must be a type that holds {longest + 1}, a distance"
    with pytest.raises(gk.InvalidArgument, match=message):
        search(longest + 2)


def test_narrow_distances_take_less_of_a_device():
    g = GRAPHS["undirected"]
    saved = bytes_for(g, 200) - bytes_for(g, 200, itemsize=1)
    assert saved == 3 * 200 * g.n
    memory = bytes_for(g, 30, itemsize=1)
    stats = gk.bfs_many(g, range(60), gk.SimtDevice(), dtype="int8", memory=memory).stats
    assert stats["batches"] == 2
    assert gk.bfs_many(g, range(60), gk.SimtDevice(), memory=memory).stats["batches"] > 2


@pytest.mark.parametrize("itemsize", [1, 4])
def test_as_many_roots_as_fit_are_the_most_that_fit(itemsize):
    """At 64 and at 128 roots a vertex gets another word, so one more root costs much more."""
    g = GRAPHS["hubs"]
    needed = [bytes_for(g, k, False, itemsize) for k in range(1, 257)]
    assert needed == sorted(set(needed))
    for memory in (needed[0] - 1, *needed[::51], needed[63], needed[64] - 1, needed[-1], 10**9):
        fit = sum(size <= memory for size in needed)
        assert roots_within(g, memory, 256, False, itemsize) == fit
        assert roots_within(g, memory, 20, False, itemsize) == min(fit, 20)


@pytest.mark.parametrize(
    ("arcs", "piece"), [(2, 256), (2**23, 256), (2**24, 512), (2**26, 2048), (2**27, 2048)]
)
def test_lists_are_cut_where_one_warp_would_keep_all_waiting(arcs, piece, monkeypatch):
    g = gk.path(3)
    monkeypatch.setattr(type(g), "m", arcs)
    taken = []
    monkeypatch.setattr(
        "gpukernels.traversal.many_roots.search_tile",
        lambda g, device, knobs, roots: (
            taken.append(knobs.piece),
            (np.zeros((roots.size, g.n), np.int32), {}),
        )[1],
    )
    gk.bfs_many(g, [0], gk.SimtDevice())
    assert taken == [piece]


def test_frontiers_are_those_of_all_searches_together():
    g, roots = GRAPHS["undirected"], [0, 7, 7, 50]
    result = gk.bfs_many(g, roots, gk.SimtDevice())
    for level, size in enumerate(result.stats["frontier_sizes"][0]):
        assert size == np.count_nonzero((result.distance == level).any(axis=0))


def test_common_frontiers_are_read_once():
    """Sixteen searches together load at most a quarter of the elements of single searches."""
    g = gk.rmat(8, 16, seed=3)
    roots = np.flatnonzero(g.out_degree)[:16]

    def sectors(run) -> int:
        with gk.trace() as t:
            run()
        return int(metrics.sectors(t.trace).sum())

    together = sectors(lambda: gk.bfs_many(g, roots))
    apart = sectors(lambda: [gk.bfs_many(g, [root]) for root in roots])
    assert together < apart / 4


@pytest.mark.parametrize("words", [1, 2, 4])
@pytest.mark.parametrize("alpha", [0.0, np.inf])
def test_levels_beyond_the_rows_that_are_kept_are_written_in_between(alpha, words):
    """Grids of 30 levels, 7 of which are kept at a time, in both directions."""
    g = gk.road_grid(16, 16)
    roots = np.arange(64 * words)[::-1] * 3 % g.n
    result = gk.bfs_many(g, roots, gk.SimtDevice(check=True), alpha=alpha, words=words, threads=64)
    np.testing.assert_array_equal(result.distance, one_by_one(g, roots))


def test_a_batch_has_as_many_roots_as_the_device_has_room_for():
    g = GRAPHS["undirected"]
    roots = np.arange(100) % g.n

    class Small(gk.SimtDevice):
        room = bytes_for(g, 30, graph=False)

        def free_bytes(self):
            return self.room

    result = gk.bfs_many(g, roots, Small())
    np.testing.assert_array_equal(result.distance, one_by_one(g, roots))
    assert result.stats["batches"] == 4
    Small.room = bytes_for(g, 1, graph=False) - 1
    with pytest.raises(MemoryError, match=r"^one root takes [\d,]+ bytes besides the graph"):
        gk.bfs_many(g, roots, Small())


@pytest.fixture
def fake_gpu(request, monkeypatch):
    """A GPU with as many bytes as one batch of 64 searches takes, times the parameter."""
    gpus = FakeGpus(monkeypatch, memory=int(request.param * bytes_for(GRAPHS["undirected"], 64)))
    yield gpus
    gpus.close()


@pytest.mark.parametrize(
    ("fake_gpu", "memory", "together"),
    [(1.5, None, False), (4, None, True), (4, "of one batch", False)],
    indirect=["fake_gpu"],
)
def test_a_batch_is_searched_while_another_is_brought_where_there_is_room(
    fake_gpu, monkeypatch, memory, together
):
    """All batches have the same results; with `memory`, no more memory is taken."""
    g = GRAPHS["undirected"]
    roots = np.arange(200) % g.n
    room = bytes_for(g, 64)
    order = []
    for name in ("_begin", "_end"):
        do = getattr(many_roots_batches, name)
        monkeypatch.setattr(
            many_roots_batches,
            name,
            lambda *args, do=do, name=name: (order.append(name), do(*args))[1],
        )
    device = gk.CudaDevice()
    result = gk.bfs_many(g, roots, device, words=1, memory=memory and room)
    np.testing.assert_array_equal(result.distance, one_by_one(g, roots))
    assert result.stats["batches"] == 4
    assert order[:3] == (["_begin", "_begin", "_end"] if together else ["_begin", "_end", "_begin"])
    if memory:
        assert fake_gpu.bytes_in_use() <= room


def test_a_sector_of_four_words_serves_four_times_the_searches():
    """Bottom-up from 256 roots loads few more sectors than from 64: each word costs one."""
    g = gk.rmat(9, 16, seed=3)
    roots = np.flatnonzero(g.out_degree)[:256]

    def sectors(some) -> int:
        with gk.trace() as t:
            gk.bfs_many(g, some, alpha=np.inf)
        return int(metrics.sectors(t.trace).sum())

    assert sectors(roots) < 3 * sectors(roots[:64])


def test_a_path_of_many_levels_tells_all_of_them():
    result = gk.bfs_many(gk.path(150), [0], gk.SimtDevice(), threads=32)
    assert result.stats["levels"] == [150]
    assert result.stats["frontier_sizes"] == [[1] * 150]


@pytest.mark.parametrize("n", [0, 3])
def test_no_roots_are_no_searches(n):
    result = gk.bfs_many(gk.Graph.from_arcs(n, [], []), [], gk.SimtDevice())
    assert result.distance.shape == (0, n)
    assert result.stats["launches"] == 0
    assert repr(result).startswith("BFSManyResult of 0 roots")


@pytest.mark.parametrize(
    ("roots", "message"),
    [
        ([0, 5], r"roots\[1\] = 5: must be a vertex from 0 to 4"),
        ([-1], r"roots\[0\] = -1"),
        ([0.0], r"roots = \[0.0\]: must be whole numbers, 1-D"),
        ([[0]], "1-D"),
        (3, "1-D"),
        (["a"], "roots"),
        ([True], "whole numbers"),
        ([2**70], "roots"),
    ],
)
def test_wrong_roots_are_refused_before_anything_is_launched(roots, message):
    device = gk.SimtDevice(trace=True)
    with pytest.raises(gk.InvalidArgument, match=message):
        gk.bfs_many(gk.path(5), roots, device)
    assert not device.trace.launches


@pytest.mark.parametrize(
    "options",
    [
        {"alpha": -1}, {"alpha": np.nan}, {"threads": 33}, {"words": 3}, {"words": 8},
        {"words": True}, {"piece": 31}, {"piece": 64.0}, {"dtype": "int64"}, {"dtype": "float32"},
        {"dtype": "uint8"}, {"dtype": ">i2"}, {"dtype": "no type"}, {"dtype": 3},
        {"dtype": "\ud800"}, {"dtype": "(2,"}, {"dtype": np.zeros(3, np.int8)}, {"dtype": None},
    ],
)  # fmt: skip
def test_wrong_options_are_refused(options):
    (name,) = options
    with pytest.raises(gk.InvalidArgument, match=f"^{name} = "):
        gk.bfs_many(gk.path(5), [0], gk.SimtDevice(), **options)
