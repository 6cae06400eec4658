"""Beyond one GPU: tiles made by two processes are those made here, and stand every accident."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections import Counter
from functools import partial

import numpy as np
import psutil
import pytest
from awkward_graphs import AWKWARD
from distributed import WorkerPlugin
from distributed.scheduler import KilledWorker
from effort import EFFORT, SOAK, every_pair
from scipy_paths import UNREACHED, distances, random_graph, same, weighted

import gpukernels as gk
from gpukernels import distributed
from gpukernels.all_pairs import kept_steps
from gpukernels.cores import progress
from gpukernels.distributed import TaskRun, targets, watching
from gpukernels.shortest_paths.many_roots import bytes_for

SMALL = [
    "no_vertices", "one_vertex", "one_vertex_with_loop", "parallel_arcs", "disconnected",
    "directed_cycle",
]  # fmt: skip
#: Fewer, where blocks, parts and where they run are tried too.
PIECES = ["no_vertices", "one_vertex", "parallel_arcs", "disconnected"]
ENGINES = ["kernels", "cpu"]


@pytest.fixture(scope="module")
def two_processes():
    with gk.local_client(2) as client:
        yield client


@pytest.fixture
def client(two_processes):
    two_processes.wait_for_workers(2)  # one that has been killed is started again
    return two_processes


def falling(n: int = 40, kind: str = "int32") -> gk.Graph:
    """A graph with weights below 0, too."""
    return random_graph(n, kind, low=1, high=50, fall=30)


# --- the same call, here and there ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind", "engine", "shared"),
    every_pair(SMALL, ["none", "int32", "float32"], ENGINES, [False, True]),
)
def test_many_roots_are_as_scipy_has_them_here_and_on_workers(client, name, kind, engine, shared):
    g = weighted(AWKWARD[name], kind, 1, 50)
    roots = np.arange(g.n)[:: -max(1, g.n // 9)]
    where = {"client": client} if shared else {}
    result = gk.sssp_many(g, roots, engine=engine, batch=4, **where)
    same(result.distance, distances(g)[roots])
    assert result.stats["tiles"] == -(-roots.size // 4)
    levels = gk.bfs_many(g, roots, engine=engine, batch=5, **where).distance
    steps = distances(gk.Graph(g.offsets, g.targets))[roots]
    same(levels, np.where(steps == UNREACHED, -1, steps).astype(np.int32))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("method", ["topology_driven", "workfront_sweep"])
def test_negative_weights_and_a_root_that_is_there_twice(client, engine, method):
    g, roots = falling(), [3, 3, 39, 0]
    if engine == "cpu" and method != "topology_driven":
        with pytest.raises(gk.InvalidArgument, match=r"^method = .*: must be left out"):
            gk.sssp_many(g, roots, method, engine=engine)
        return
    for where in ({}, {"client": client}):
        same(gk.sssp_many(g, roots, method, engine=engine, **where).distance, distances(g)[roots])


@pytest.mark.parametrize("engine", ENGINES)
def test_all_pairs_from_each_root_is_shared_by_workers(client, engine):
    g = falling()
    result = gk.apsp(g, "per_root", client=client, engine=engine)
    same(result.distance, gk.apsp(g, "blocked").distance)
    assert result.joined == (distances(g) != UNREACHED).sum()
    assert result.stats["tiles"] == 8  # four a worker
    matrix = distances(gk.path(6))
    same(gk.apsp(matrix, "per_root", client=client).distance, matrix)


def test_a_graph_is_sent_once_and_stays(client):
    g = falling(33)
    gk.sssp_many(g, [0, 1], client=client)
    first = distributed.placed(client, g)
    gk.bfs_many(g, [0, 1], client=client)
    assert distributed.placed(client, g) is first
    assert client.who_has([first])[first.key]


@pytest.mark.parametrize("call", [gk.sssp_many, gk.bfs_many])
def test_a_tile_has_as_many_roots_as_memory_holds(call):
    g = falling(64)
    if call is gk.bfs_many:
        stats = call(g, range(64), engine="kernels", memory=bytes_for_bfs(g, 10)).stats
        assert stats["batches"] == 7
    else:
        memory = bytes_for(g, 10, False)
        assert call(g, range(64), engine="kernels", memory=memory).stats["batch"] == 10
        assert call(g, range(64), engine="kernels", memory=memory - 1).stats["batch"] == 9
        with pytest.raises(gk.InvalidArgument, match=r"^batch = 11: must be at most 10 with memor"):
            call(g, range(64), engine="kernels", memory=memory, batch=11)
    with pytest.raises(gk.InvalidArgument, match=r"^memory = 100: must be at least \d+ for one"):
        call(g, range(64), engine="kernels", memory=100)


def bytes_for_bfs(g: gk.Graph, roots: int) -> int:
    from gpukernels.traversal.many_roots_batches import bytes_for

    return bytes_for(g, roots)


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["tcp://127.0.0.1:8786", 2, object], ids=repr)
def test_what_is_no_client_is_refused(value):
    with pytest.raises(gk.InvalidArgument, match=r"^client = .*: must be a dask.distributed"):
        gk.sssp_many(gk.path(3), [0], client=value)


def test_a_client_is_refused_where_it_cannot_help(client):
    with pytest.raises(gk.InvalidArgument, match=r"^device = .*: must be None with a client"):
        gk.bfs_many(gk.path(3), [0], gk.SimtDevice(), client=client)
    with pytest.raises(gk.InvalidArgument, match=r"^client = .*: must be None with method='naive'"):
        gk.apsp(gk.path(3), "naive", client=client)
    with pytest.raises(gk.InvalidArgument, match=r"^next_hops = True: must be False in tiles"):
        gk.apsp(gk.path(3), "per_root", client=client, next_hops=True)
    for call in (gk.sssp_many, gk.bfs_many):
        with pytest.raises(gk.InvalidArgument, match=r"^engine = 'gpu': must be one of"):
            call(gk.path(3), [0], engine="gpu")


@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_search_refuses_is_refused_by_workers_in_the_same_words(client, engine):
    ring = gk.Graph.from_arcs(4, [0, 1, 2, 2], [1, 2, 0, 3], [-1, 3, -3, 1])
    with pytest.raises(gk.NegativeCycleError) as caught:
        gk.sssp_many(ring, [3, 1], client=client, engine=engine)
    assert sorted(caught.value.cycle) == [0, 1, 2]
    assert any("roots 0 to 0" in note or "roots 1 to 1" in note for note in caught.value.__notes__)
    far = gk.Graph.from_arcs(3, [0, 1], [1, 2], [UNREACHED - 1, 2])
    with pytest.raises(OverflowError, match="from vertex 0 is longer than int32 holds; take float"):
        gk.sssp_many(far, [0], client=client, engine=engine)
    if engine == "kernels":
        with pytest.raises(gk.NegativeWeightError):
            gk.sssp_many(ring, [0], "near_far", client=client)


def test_without_dask_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(gk.MissingTool, match=r"pip install 'gpukernels\[dask\]'"):
        gk.local_client()


# --- what the work on tiles tells -----------------------------------------------------------------


def told_tile(rows: np.ndarray) -> tuple[np.ndarray, dict]:
    return np.repeat(rows, 3).reshape(-1, 3).astype(np.int32), {"first": int(rows[0])}


def told_of_tiles(client, tiles=7):
    ids = np.arange(2 * tiles)
    return distributed.make_rows(
        "some_call", (ids.size, 3), np.int32, lambda _: distributed.tiles_of("roots", ids, 2),
        told_tile, (), client,
    )  # fmt: skip


def test_a_bar_shows_how_many_tiles_workers_have_made(client, monkeypatch, capsys):
    monkeypatch.setattr(progress, "DELAY", 0.0)
    told_of_tiles(client)
    shown = capsys.readouterr().err  # the last is not, where it comes right after another
    assert "gk.some_call:" in shown
    assert "/7 [" in shown


def test_what_tiles_tell_takes_no_task_of_its_own(client):
    """It would come between two tiles: of 16 tiles that was a third of a call."""
    with distributed.watched(client) as watch:
        rows = told_of_tiles(client)
    assert Counter(run.kind for run in watch.runs) == {"some_call": 7}
    assert [tile_stats["first"] for tile_stats in rows.stats] == list(range(0, 14, 2))


@pytest.mark.parametrize("known", [0, 3])
def test_what_no_worker_has_in_memory_is_told_by_a_task(client, monkeypatch, known):
    """Of a worker that has died since, or has its rows on a disk."""

    def some(function, keys, on_error):
        assert on_error == "ignore"
        return {"a": {key: {"first": "known"} for key in keys[:known]}}

    monkeypatch.setattr(client, "run", some)
    with distributed.watched(client) as watch:
        rows = told_of_tiles(client)
    monkeypatch.undo()
    assert Counter(run.kind for run in watch.runs) == {"some_call": 7, "told": 7 - known}
    expected = ["known"] * known + list(range(2 * known, 14, 2))
    assert [tile_stats["first"] for tile_stats in rows.stats] == expected
    same(rows.matrix, np.repeat(np.arange(14, dtype=np.int32), 3).reshape(14, 3))


def fails_first(rows: np.ndarray) -> tuple[np.ndarray, dict]:
    if rows[0]:
        time.sleep(0.3)
    return {}["nothing"], {}


def test_a_tile_that_fails_ends_the_call_before_the_others_begin(client):
    with distributed.watched(client) as watch, pytest.raises(gk.TileError, match="roots 0 to 0"):
        distributed.make_rows(
            "some_call", (20, 3), np.int32,
            lambda _: distributed.tiles_of("roots", np.arange(20), 1), fails_first, (), client,
        )  # fmt: skip
    assert 0 < len(watch.runs) < 20


# --- files ----------------------------------------------------------------------------------------


def stop_after(monkeypatch, tiles: int) -> None:
    """Interrupt the next run when so many tiles are written."""
    write, left = targets.Target.write, [tiles]

    def counted(self, i, values):
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        write(self, i, values)

    monkeypatch.setattr(targets.Target, "write", counted)


@pytest.mark.parametrize(
    ("suffix", "call", "first", "then"),
    every_pair([".npy", ".zarr"], ["sssp_many", "bfs_many", "apsp"], [False, True], [False, True]),
)
def test_an_interrupted_call_goes_on_to_the_same_bits(
    client, tmp_path, monkeypatch, suffix, call, first, then
):
    g, into = falling(40, "float32"), tmp_path / f"d{suffix}"
    what = {"apsp": ("per_root",)}.get(call, (range(40),))
    make = partial(getattr(gk, call), g, *what)
    expected = make().distance
    with monkeypatch.context() as interrupted:
        stop_after(interrupted, 3)
        with pytest.raises(KeyboardInterrupt):
            make(batch=6, into=into, client=client if first else None)
    # How large a tile is has been decided already.
    result = make(into=into, client=client if then else None)
    assert (result.stats["resumed"], result.stats["tiles"]) == (3, 7)
    same(result.distance, expected)
    again = make(into=str(into))
    assert again.stats["resumed"] == 7
    same(again.distance, expected)
    if suffix == ".npy":
        same(np.load(into), expected)


@pytest.mark.parametrize("suffix", [".npy", ".zarr"])
def test_narrow_distances_are_made_by_workers_and_kept_as_such(client, tmp_path, suffix):
    g, into = falling(40, "none"), tmp_path / f"d{suffix}"
    make = partial(gk.bfs_many, g, range(40), into=into)
    expected = gk.bfs_many(g, range(40)).distance
    with_workers = gk.bfs_many(g, range(40), client=client, dtype="int16").distance
    for distance in (with_workers, make(client=client, dtype="int8").distance):
        assert distance.dtype.itemsize < 4
        np.testing.assert_array_equal(np.asarray(distance), expected)
    assert make(dtype="int8").stats["resumed"] > 0
    with pytest.raises(gk.InvalidArgument, match=r"^into = "):
        make(dtype="int32")
    with pytest.raises(gk.InvalidArgument, match=r"^dtype = 'int8': .* holds 128") as caught:
        gk.bfs_many(gk.path(129), [100, 0], client=client, dtype="int8", batch=1)
    assert any("roots 1 to 1" in note for note in caught.value.__notes__)


@pytest.mark.parametrize("suffix", [".npy", ".zarr"])
def test_a_result_of_no_rows_or_no_columns_is_kept_too(tmp_path, suffix):
    for name, g in (("a", gk.Graph([0], [])), ("b", gk.path(3))):
        into = tmp_path / f"{name}{suffix}"
        for _ in range(2):
            assert gk.sssp_many(g, [], into=into).distance.shape == (0, g.n)


@pytest.mark.parametrize(
    ("other", "name"),
    [
        ({"g": falling(41)}, "shape"),
        ({"g": random_graph(40, low=1)}, "graph"),
        ({"roots": range(1, 10)}, "roots"),
        ({"engine": "cpu"}, "engine"),
        ({"method": "workfront_sweep"}, "method"),
        ({"batch": 5}, "rows (which batch, memory and the number of workers decide)"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_another_result_is_refused_and_left_as_it_is(tmp_path, other, name):
    call = {"g": falling(40), "roots": range(9), "into": tmp_path / "d.zarr", "batch": 4}
    call["engine"] = "kernels"
    gk.sssp_many(**call)
    before = {f: f.read_bytes() for f in tmp_path.rglob("*") if f.is_file()}
    with pytest.raises(gk.InvalidArgument) as caught:
        gk.sssp_many(**call | other)
    assert f"must be the same {name} as the run that left it" in str(caught.value)
    assert {f: f.read_bytes() for f in tmp_path.rglob("*") if f.is_file()} == before


@pytest.mark.parametrize("into", ["d.txt", "d", 3, b"d.npy", "d\0.npy"], ids=repr)
def test_a_place_that_no_result_can_have_is_refused(into):
    with pytest.raises(gk.InvalidArgument, match=r"^into = .*: must be a path that ends in .npy"):
        gk.bfs_many(gk.path(3), [0], into=into)


# --- who listens ----------------------------------------------------------------------------------


def test_a_local_client_listens_on_this_machine_alone(client):
    this = psutil.Process()
    addresses = [
        connection.laddr.ip
        for process in (this, *this.children(recursive=True))
        for connection in process.net_connections()
        if connection.status == psutil.CONN_LISTEN
    ]
    assert len(addresses) >= 4  # the scheduler and its page, and what each worker has
    assert set(addresses) == {"127.0.0.1"}


# --- what goes wrong ------------------------------------------------------------------------------


def fails_at(tile: int, error: Exception, rows: np.ndarray):
    """Work that one tile cannot stand."""
    if tile in rows:
        raise error
    return np.zeros((rows.size, 3), np.int32), {}


@pytest.mark.parametrize("into", [None, "d.npy"])
def test_a_bad_task_names_its_tile_and_short_memory_asks_for_smaller_ones(client, tmp_path, into):
    place = into and tmp_path / into

    def make(error, where):
        distributed.make_rows(
            "some_call", (9, 3), np.int32, lambda _: distributed.tiles_of("roots", np.arange(9), 3),
            fails_at, (4, error), where, place, {},
        )  # fmt: skip

    with pytest.raises(gk.TileError, match=r"^gk.some_call, roots 3 to 5: KeyError: 'x'$"):
        make(KeyError("x"), client)
    with pytest.raises(gk.TileError, match=r"roots 3 to 5: MemoryError: .*; ask for smaller tiles"):
        make(MemoryError("all gone"), client)
    with pytest.raises(MemoryError) as caught:
        make(MemoryError("all gone"), None)
    assert "roots 3 to 5; ask for smaller tiles" in caught.value.__notes__[0]


class Killed:
    """The future of a task that has killed its workers."""

    key = "some_call-3"

    def result(self):
        raise KilledWorker(self.key, None, 3)


def test_a_task_that_kills_every_worker_is_named():
    with pytest.raises(gk.TileError, match=r"^gk.some_call, roots 3 to 5: its worker died again"):
        distributed.result_of("some_call", Killed(), {"some_call-3": "roots 3 to 5"})


# --- parts and their separators -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind", "engine", "parts", "shared"),
    every_pair(
        PIECES, ["none", "int32", "float32"], ENGINES, [None, 1, 3], [False, True],
    ),
)  # fmt: skip
def test_parts_are_joined_to_what_scipy_finds(client, name, kind, engine, parts, shared):
    g = weighted(AWKWARD[name], kind, 1, 50)
    where = {"client": client} if shared else {}
    result = gk.apsp(g, "partitioned", engine=engine, parts=parts, **where)
    same(result.distance, distances(g))
    assert result.stats["parts"] <= min(g.n, parts or g.n)


@pytest.mark.parametrize("engine", ENGINES)
def test_negative_weights_pass_separators_and_negative_cycles_are_named(client, engine):
    g = falling(30)
    assert (g.weights < 0).any()
    for where in ({}, {"client": client}):
        result = gk.apsp(g, "partitioned", engine=engine, parts=4, **where)
        same(result.distance, distances(g))
    floats = gk.Graph(g.offsets, g.targets, g.weights.astype("f4"))  # exact: the weights are whole
    result = gk.apsp(floats, "partitioned", engine=engine, parts=4, client=client)
    same(result.distance, distances(floats))
    # A cycle through all parts, which no part knows, and one inside a part.
    for n in (20, 3):
        weights = np.ones(30, np.float32)
        weights[n // 2] = -float(n)
        ring = np.arange(n)
        source, target = np.r_[ring, 20:30], np.r_[(ring + 1) % n, 21:31]
        g = gk.Graph.from_arcs(31, source, target, weights[: source.size])
        for weights in (g.weights, g.weights.astype("i4")):
            with pytest.raises(gk.NegativeCycleError) as caught:
                gk.apsp(gk.Graph(g.offsets, g.targets, weights), "partitioned", client=client)
            assert sorted(caught.value.cycle) == [*range(n)]


def test_work_is_counted_and_follows_from_the_number_of_separators():
    g = gk.road_grid(24, 24, seed=1)
    wins = {}
    for parts in (1, 4, 9, 48):
        stats = gk.apsp(g, "partitioned", engine="cpu", parts=parts).stats
        assert (stats["parts"], stats["operations"]) == (parts, stats["work"])
        assert stats["predicted"] == pytest.approx(stats["work"], rel=0.02)
        wins[parts] = g.n**3 / stats["predicted"]
    assert wins[1] == 1 < 8 < wins[4] < wins[9] > 2 * wins[48]
    # Where all are separators, nothing is won.
    stats = gk.apsp(gk.complete(40), "partitioned", engine="cpu", parts=4).stats
    assert stats["separators"] == 40
    assert stats["predicted"] == 40**3 * (1 / 16 + 1 + 1 / 4 + 1 / 4)
    small = gk.apsp(gk.complete(40), "partitioned", parts=4).stats  # each part in one tile of 16
    assert small["operations"] == 4 * 16**3 + 48**3 + 4 * 16 * 16 * 48 + 16 * 16**3


@pytest.mark.parametrize(
    ("method", "option", "value"),
    [
        ("partitioned", "parts", 0), ("partitioned", "parts", 2.0), ("partitioned", "seed", -1),
        ("partitioned", "tile", 17), ("partitioned", "engine", "gpu"), ("partitioned", "into", "d"),
        ("blocked", "next_hops", True), ("blocked", "panel", 2), ("blocked", "block", 0),
        ("blocked", "tile", 5),
    ],
)  # fmt: skip
def test_parts_and_blocks_refuse_what_they_cannot_use(client, method, option, value):
    where = {"client": client} if method == "blocked" else {}
    with pytest.raises(gk.InvalidArgument, match=f"^{option} = .*: must be "):
        gk.apsp(gk.path(9), method, **where, **{option: value})


def test_without_metis_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pymetis", None)
    with pytest.raises(gk.MissingTool, match=r"needs pymetis.*pip install 'gpukernels\[dask\]'"):
        gk.apsp(gk.path(9), "partitioned")
    same(gk.apsp(gk.path(9), "partitioned", parts=1).distance, distances(gk.path(9)))


# --- blocks as tasks ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind", "engine", "block", "shared"),
    every_pair(
        PIECES, ["none", "int32", "float32"], ENGINES, [7, 16, 100], [False, True],
    ),
)  # fmt: skip
def test_blocks_are_closed_to_what_scipy_finds(client, name, kind, engine, block, shared):
    g = weighted(AWKWARD[name], kind, 1, 50)
    where = {"client": client} if shared else {}
    result = gk.apsp(g, "blocked", engine=engine, block=block, **where)
    same(result.distance, distances(g))
    assert result.stats["blocks"] == (-(-g.n // block)) ** 2


@pytest.mark.parametrize("engine", ENGINES)
def test_blocks_take_negative_weights_and_name_negative_cycles(client, engine):
    g = falling(50)
    result = gk.apsp(g, "blocked", engine=engine, client=client)
    same(result.distance, distances(g))
    assert result.stats["blocks"] == 16
    without_workers = gk.apsp(g, "blocked", engine=engine, block=result.stats["block"])
    assert without_workers.stats == result.stats
    same(without_workers.distance, distances(g))
    if engine == "cpu":
        assert result.stats["operations"] == 50**3
    else:
        assert result.stats["operations"] == (4 * 16) ** 3
    same(gk.apsp(distances(gk.path(20)), "blocked", client=client).distance, distances(gk.path(20)))
    n = 20
    weights = np.ones(n, np.int32)
    weights[7] = -n
    ring = gk.Graph.from_arcs(n, range(n), [*range(1, n), 0], weights)
    with pytest.raises(gk.NegativeCycleError) as caught:
        gk.apsp(ring, "blocked", engine=engine, client=client)
    assert sorted(caught.value.cycle) == [*range(n)]
    assert any("at pivot 3" in note for note in caught.value.__notes__)


@pytest.mark.parametrize("method", ["blocked", "partitioned"])
def test_a_path_too_long_to_be_held_is_found_by_workers_too(client, tmp_path, method):
    far = gk.Graph.from_arcs(4, [0, 1], [1, 2], [2**30 - 4, 3])
    with pytest.raises(OverflowError, match="from vertex 0 to 2 is longer than int32 holds"):
        gk.apsp(far, method, client=client)
    held = gk.Graph.from_arcs(4, [0, 1, 3], [1, 2, 3], [2**30 - 4, 2, 5])
    same(gk.apsp(held, method, client=client).distance, distances(held))
    with pytest.raises(gk.InvalidArgument, match=r"^into = .*: must be None where a path may be"):
        gk.apsp(far, method, client=client, into=tmp_path / "d.npy")


def cut_pivots_short(monkeypatch, after: int) -> None:
    """Interrupt the next call in the middle of keeping the blocks after so many pivots and one."""
    put = kept_steps.InFiles.put

    def interrupted(self, i, j, block):
        if self.done == after and i == 1:
            raise KeyboardInterrupt
        put(self, i, j, block)

    monkeypatch.setattr(kept_steps.InFiles, "put", interrupted)


@pytest.mark.parametrize(
    ("suffix", "first", "then"),
    [(".npy", True, True), (".npy", False, True), (".zarr", True, False)],
)
def test_blocks_go_on_from_the_last_pivot_to_the_same_bits(
    client, tmp_path, monkeypatch, suffix, first, then
):
    g, into = random_graph(40, "float32", low=1), tmp_path / f"d{suffix}"
    make = partial(gk.apsp, g, "blocked", engine="cpu", block=7, into=into)
    expected = gk.apsp(g, "blocked", engine="cpu", block=7)
    with monkeypatch.context() as killed:
        cut_pivots_short(killed, 3)
        with pytest.raises(KeyboardInterrupt):
            make(client=client if first else None)
    beside = {file.name for file in tmp_path.glob("d.*.pivots*")}
    assert beside == {f"d{suffix}.pivots{end}" for end in ("", ".json", ".other")}
    result = make(client=client if then else None)
    same(result.distance, expected.distance)
    assert result.stats["resumed_at"] == 3
    assert result.stats["operations"] == expected.stats["operations"] - 3 * 7 * 40**2
    assert not [*tmp_path.glob("d.*.pivots*")]
    again = make()
    assert (again.stats["resumed"], again.stats["operations"]) == (6, 0)
    same(again.distance, expected.distance)


# --- what workers did -----------------------------------------------------------------------------


def test_a_watch_sees_each_task_by_its_kind_in_order_of_what_it_needs(client):
    g = random_graph(40, "float32", low=1)
    with distributed.watched(client) as watch:
        result = gk.apsp(g, "partitioned", engine="cpu", parts=4, client=client)
    kinds = Counter(run.kind for run in watch.runs)
    parts, expected = 4, {"close_part": 4, "take": 4, "close_separators": 1}
    assert {kind: kinds[kind] for kind in expected} == expected
    assert kinds["apsp partitioned"] == parts
    workers = set(client.scheduler_info()["workers"])
    ends = {run.key: run.end for run in watch.runs}
    for run in watch.runs:
        assert run.worker in workers
        assert 0 <= run.begin <= run.end
        assert not run.lost
        for key in run.needs:
            assert ends.get(key, 0) <= run.begin
    joins = [run for run in watch.runs if run.kind == "apsp partitioned"]
    between = next(run.key for run in watch.runs if run.kind == "close_separators")
    assert all(between in run.needs for run in joins)
    with distributed.watched(client) as later:
        pass
    assert later.runs == []
    same(result.distance, gk.apsp(g, "partitioned", engine="cpu", parts=4).distance)


def test_a_run_whose_worker_dies_is_lost_when_the_scheduler_misses_it():
    def event(what, at, key="work-0", worker="a", **more):
        return {"what": what, "key": key, "at": at, "worker": worker, **more}

    events = [
        event("waits", 1.0, needs=["graph"]),
        event("begins", 1.5),
        event("begins", 1.5, "work-1"),
        event("ends", 1.75, "work-1"),
        event("gone", 2.0),
        event("begins", 2.5, worker="b"),
    ]
    runs, ended = watching.runs_of(events, 1.0)
    assert not ended
    assert runs == [
        TaskRun("work-0", "a", 0.5, 1.0, True, ("graph",)),
        TaskRun("work-1", "a", 0.5, 0.75, False, ()),
    ]
    runs, ended = watching.runs_of([*events, event("ends", 3.0, worker="b")], 1.0)
    assert ended
    assert runs[-1] == TaskRun("work-0", "b", 1.5, 2.0, False, ("graph",))


# --- workers that die: last, as others have to be started -----------------------------------------


class Dies(WorkerPlugin):
    """Ends the worker that begins the chosen task of all that it does, once in a cluster."""

    def __init__(self, mark: str, task: int):
        self.mark, self.task, self.name = mark, task, f"dies {mark}"

    def transition(self, key, start, finish, **_):
        self.task -= finish == "executing"
        if self.task == 0 and finish == "executing":
            with contextlib.suppress(FileExistsError):
                os.close(os.open(self.mark, os.O_CREAT | os.O_EXCL))
                os._exit(1)


KILLED = {
    "sssp_many": partial(gk.sssp_many, roots=range(40), batch=4),
    "bfs_many": partial(gk.bfs_many, roots=range(40), batch=5),
    "blocked": partial(gk.apsp, method="blocked", block=14),
    "partitioned": partial(gk.apsp, method="partitioned", parts=4),
}


@pytest.mark.killing
@pytest.mark.parametrize(
    ("call", "into", "seed"),
    [("sssp_many", None, 0)]
    if EFFORT != SOAK
    else every_pair(KILLED, [None, "d.npy", "d.zarr"], range(10)),
)
def test_a_worker_that_dies_at_any_task_changes_no_bit(client, tmp_path, call, into, seed):
    g = random_graph(40, "float32", low=1)
    task = int(np.random.default_rng(seed).integers(1, 6))  # each worker begins as many, at least
    client.register_plugin(Dies(str(tmp_path / "died"), task))
    try:
        where = {"into": tmp_path / into} if into else {}
        with distributed.watched(client) as watch:
            result = KILLED[call](g, engine="cpu", client=client, **where)
    finally:
        client.unregister_worker_plugin(f"dies {tmp_path / 'died'}")
    assert (tmp_path / "died").exists()
    done = {run.key for run in watch.runs if not run.lost}
    assert done >= {run.key for run in watch.runs}
    if not into:  # what died with its worker after that is made again
        client.wait_for_workers(2)
        pids = client.run(os.getpid)
        holders = {worker for held in client.who_has().values() for worker in held}
        os.kill(pids[min(holders)], signal.SIGKILL)
    same(result.distance, KILLED[call](g, engine="cpu").distance)
