"""The benchmark of two GPUs: what its rows mean, that a wrong one has none, and what it leaves."""

from __future__ import annotations

import contextlib
import json
from types import SimpleNamespace

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from scipy.sparse.csgraph import floyd_warshall
from test_subjects import HERE

import gpukernels as gk
from gpukernels.bench import peer_copies, to_host, two_gpus, two_gpus_blocked
from gpukernels.bench.schema import schema
from gpukernels.bench.two_gpus import Work
from gpukernels.distributed.watching import TaskRun

shares_of = two_gpus.shares_of


@pytest.fixture(autouse=True)
def unwatched(monkeypatch):
    """Let nobody watch workers that are none."""
    monkeypatch.setattr(two_gpus, "shares_of", lambda client, call: {"tasks_by_worker": [2]})


class Client:
    """What passes for a client, in whose place the call is made here."""

    def __init__(self, gpus: int):
        self.gpus = gpus
        self.asked: list[str] = []

    def as_current(self):
        return contextlib.nullcontext()

    def nthreads(self):
        return {f"worker {i}": 1 for i in range(self.gpus)}

    def submit(self, function, *args, workers, pure):
        self.asked += workers
        return function(*args)

    def gather(self, found):
        return found

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


G = gk.Graph.from_arcs(4, [0, 0, 0, 1, 2], [1, 1, 2, 3, 3], [9, 4, 1, 1, 7])


def rows(wrong_at: int = 0, times=(8.0, 4.0), monkeypatch=None):
    """Measure by a clock that tells `times` of one GPU and of two; return the rows."""
    now = [0.0]

    def call(client):
        found = gk.sssp_many(G, [0, 1], batch=1)
        if client.gpus == wrong_at:
            found.distance[1, 3] += 1
        now[0] += times[client.gpus - 1] / 1e3
        return found

    monkeypatch.setattr(two_gpus, "clock", lambda: now[0])
    work = Work("sssp_many", "a graph", G, call, np.array([0, 1]), 2**31 - 1)
    return list(two_gpus.measure(work, {1: Client(1), 2: Client(2)}, 3))


def test_a_worker_s_share_is_its_tasks_and_when_they_took_place(monkeypatch):
    watch = SimpleNamespace(
        runs=[
            TaskRun("bfs_many-1-0", "b", 5.0, 5.010, False, ()),
            TaskRun("bfs_many-1-4", "a", 5.001, 5.021, False, ()),
            TaskRun("bfs_many-1-8", "a", 5.030, 5.045, False, ()),
        ]
    )
    monkeypatch.setattr(two_gpus, "watched", lambda client: contextlib.nullcontext(watch))
    times = iter([1.0, 1.25])
    monkeypatch.setattr(two_gpus, "clock", lambda: next(times))
    called = []
    shares = shares_of(None, lambda: called.append(1))
    assert called == [1]
    assert shares == {
        "watched_call_ms": 250.0,
        "tasks_by_worker": [2, 1],
        "busy_ms_by_worker": [35.0, 10.0],
        "span_ms_by_worker": [45.0, 10.0],
    }


def test_a_speed_up_is_the_time_of_one_gpu_by_that_of_two(monkeypatch):
    one, two = rows(monkeypatch=monkeypatch)
    assert (one["gpus"], one["call_ms"], one["speed_up"], one["runs"]) == (1, 8.0, 1.0, 3)
    assert (two["gpus"], two["call_ms"], two["speed_up"], two["tiles"]) == (2, 4.0, 2.0, 2)
    assert (two["n"], two["m"], two["rows"]) == (4, 5, 2)


def test_no_time_of_a_wrong_result_is_kept(monkeypatch):
    with pytest.raises(AssertionError, match="sssp_many: 1 of 8 distances are wrong"):
        rows(1, monkeypatch=monkeypatch)
    with pytest.raises(AssertionError, match="sssp_many: 2 GPUs find other distances"):
        rows(2, monkeypatch=monkeypatch)


def test_patience_ends_the_runs_of_a_work(monkeypatch):
    one, two = rows(times=(7000.0, 3500.0), monkeypatch=monkeypatch)
    assert (one["runs"], two["runs"]) == (1, 2)


@pytest.fixture
def here(monkeypatch):
    """All that workers would do is done here."""
    monkeypatch.setattr(two_gpus, "local_client", Client)
    for name in ("sssp_many", "bfs_many", "apsp"):
        right = getattr(two_gpus, name)

        def call(*args, right=right, client, **options):
            stats = {"tiles": 1}
            found = right(*args, **options)
            return SimpleNamespace(distance=found.distance, stats={**found.stats, **stats})

        monkeypatch.setattr(two_gpus, name, call)


def test_the_file_says_all_that_it_must(here, tmp_path):
    path = two_gpus.write(gk.SimtDevice(), HERE, tmp_path, shrink=10, repeat=2)
    kept = json.loads(path.read_text())
    errors = Draft202012Validator(schema("two_gpus")).iter_errors(kept)
    assert [f"{error.json_path}: {error.message}" for error in errors] == []
    found = [(row["work"], row["gpus"]) for row in kept["times"]]
    works = (*two_gpus.SHARED, "blocked")
    assert found == [(work, gpus) for work in works for gpus in (1, 2)]
    assert kept["copies"] == []  # which are of GPUs alone
    types = {row["work"]: row["dtype"] for row in kept["times"] if "dtype" in row}
    assert types == {
        "sssp_many": "int32", "bfs_many_roads": "int16", "bfs_many": "int8",
        "bfs_many_int32": "int32", "partitioned": "int32",
    }  # fmt: skip
    brought = [(row["gpus"], row["memory"]) for row in kept["to_host"]]
    assert brought == [(gpus, of) for gpus in (1, 2) for of in ("fresh", "used before")]


def test_what_all_workers_bring_at_once_is_added_up(monkeypatch):
    rates = iter([4.0, 3.0, 9.0, 9.0, 5.0, 2.5] * 2)
    monkeypatch.setattr(to_host, "gigabytes_per_second", lambda words, fresh: next(rates))
    client = Client(2)
    row, _ = to_host.measure({2: client}, 64)
    assert row["gigabytes_per_second"] == 7.5  # the median of 7, 18 and 7.5
    assert row["gigabytes_per_second_by_worker"] == [2.5, 5.0]
    assert client.asked == ["worker 0", "worker 1"] * 6


@pytest.mark.parametrize("fresh", [False, True])
def test_what_is_brought_is_all_that_is_there(fresh, monkeypatch):
    monkeypatch.setattr(to_host, "default_device", gk.SimtDevice)
    times = iter([1.0, 1.5])
    monkeypatch.setattr(to_host, "clock", lambda: next(times))
    assert to_host.gigabytes_per_second(1 << 10, fresh) == 16 * 4096 / 0.5 / 1e9


def test_what_fails_takes_nothing_else_with_it(here, tmp_path, monkeypatch):
    def broken(*_, **__):
        raise MemoryError("all gone")

    monkeypatch.setattr(two_gpus, "sssp_many", broken)
    with pytest.raises(RuntimeError, match=r"^not measured: sssp_many$"):
        two_gpus.write(gk.SimtDevice(), HERE, tmp_path, shrink=10, works=("sssp_many", "bfs_many"))
    kept = json.loads((tmp_path / "two_gpus.json").read_text())
    assert [row["work"] for row in kept["times"]] == ["bfs_many", "bfs_many"]


def test_one_gpu_is_too_few(monkeypatch, tmp_path):
    class Gpu:
        pass

    monkeypatch.setattr(two_gpus, "CudaDevice", Gpu)
    monkeypatch.setattr(two_gpus, "gpus_here", lambda: 1)
    with pytest.raises(RuntimeError, match="two GPUs are asked for, and 1 answers"):
        two_gpus.write(Gpu(), HERE, tmp_path)


# --- a blocked matrix -----------------------------------------------------------------------------


def blocked(monkeypatch, wrong: str | None = None):
    """Measure a small matrix; with a distance `wrong` where a closing or a call has it."""
    monkeypatch.setattr(two_gpus_blocked, "SIZE", 32)
    if wrong == "call":
        monkeypatch.setattr(two_gpus_blocked, "apsp", off_by_one(two_gpus_blocked.apsp))
    if wrong == "close":
        shared = two_gpus_blocked.Parts.found

        def found(self):
            distance, via = shared(self)
            distance[5, 6] -= 1
            return distance, via

        monkeypatch.setattr(two_gpus_blocked.Parts, "found", found)
    return list(two_gpus_blocked.measure([gk.SimtDevice(), gk.SimtDevice()], 0, 1))


def off_by_one(right):
    def wrong(*args, **options):
        found = right(*args, **options)
        found.distance[0, 1] += 1
        return found

    return wrong


def test_a_matrix_is_closed_and_called_for_on_one_gpu_and_on_two(monkeypatch):
    one, two = blocked(monkeypatch)
    assert (one["work"], one["gpus"], one["n"], one["speed_up"]) == ("blocked", 1, 32, 1.0)
    assert (two["gpus"], two["bytes_sent"], two["peer_access"]) == (2, 4 * 32**2, False)
    for time, name in (("call_ms", "speed_up"), ("kernel_ms", "kernel_speed_up")):
        assert two[name] == pytest.approx(one[time] / two[time], abs=0.001)
    # Two tiles: each pivot's cross of three on both, and what is left, a tile, on one.
    assert (one["operations"], two["operations"]) == (8 * 16**3, 2 * (2 * 3 + 1) * 16**3)


def test_no_time_of_a_wrong_matrix_is_kept(monkeypatch):
    with pytest.raises(AssertionError, match="a call on 1 GPUs: 1 of 1,024 distances are wrong"):
        blocked(monkeypatch, "call")
    monkeypatch.undo()
    with pytest.raises(AssertionError, match="closed on 2 GPUs: 1 of 1,024 distances are wrong"):
        blocked(monkeypatch, "close")


def test_what_both_ways_have_in_common_is_judged_by_dijkstra(monkeypatch):
    matrix = two_gpus_blocked.dense_lengths(300, seed=1)
    right = floyd_warshall(matrix).astype(np.int32)
    two_gpus_blocked.check_rows(matrix, right)
    with pytest.raises(AssertionError, match="blocked: 8 of 2400 distances are wrong"):
        two_gpus_blocked.check_rows(matrix, right + np.eye(300, dtype=np.int32))
    monkeypatch.setattr(two_gpus_blocked, "DEGREE", 2)
    with pytest.raises(AssertionError, match="too few arcs are known"):
        two_gpus_blocked.check_rows(matrix, right)


# --- copies ---------------------------------------------------------------------------------------


class Arrays:
    """Two GPUs whose memory is the host's."""

    def __init__(self, wrong: bool = False):
        machines = [gk.SimtDevice(), gk.SimtDevice()]
        self.devices, self.wrong, self.waited = machines, wrong, 0

    def on(self, i):
        return contextlib.nullcontext()

    def copy(self, i, source, j, to):
        to[:] = source
        to[-1] -= self.wrong

    def wait(self):
        self.waited += 1


class Array(np.ndarray):
    """An array that copies as numba's do."""

    def copy_to_device(self, source):
        self[:] = source


@pytest.mark.parametrize("reached", [False, True])
def test_each_way_copies_every_word(reached):
    words, pair = 4096, Arrays()
    source, to = np.arange(words), np.zeros(words, np.int64).view(Array)
    names = []
    for way in peer_copies.ways(pair, source, to, reached):
        row = peer_copies.timed(
            way, lambda: to.fill(0), lambda way=way: peer_copies.check_words(way.name, to)
        )
        row = peer_copies.told(row, words)
        assert row["peer_access"] is reached
        assert row["bytes"] == 8 * words
        assert row["gigabytes_per_second"] == pytest.approx(
            8 * words / row["copy_ms"] / 1e6, abs=0.005
        )
        names.append(row["way"])
    kernels = ["a kernel that reads", "a kernel that writes"] if reached else []
    assert names == ["numba's copy_to_device", "cuMemcpyPeerAsync", *kernels]


def test_no_rate_of_a_copy_with_a_wrong_word_is_kept():
    source, to = np.arange(1024), np.zeros(1024, np.int64).view(Array)
    _, way = peer_copies.ways(Arrays(wrong=True), source, to, False)
    with pytest.raises(AssertionError, match="cuMemcpyPeerAsync: 1 words are wrong, the first is"):
        peer_copies.timed(
            way, lambda: None, lambda: peer_copies.check_words("cuMemcpyPeerAsync", to)
        )


def test_what_another_process_cannot_do_is_told():
    """Here it finds no GPU."""
    row = peer_copies.told(peer_copies.elsewhere("no handle", 1024), 1024)
    assert row["way"] == "CUDA IPC"
    assert row["failed"]
    assert "copy_ms" not in row
