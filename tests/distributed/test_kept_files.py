"""Results in files: whatever stops a run or damages them, what comes out is right or refused."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from effort import some
from stopped_writes import contents, stop, writes_of

import gpukernels as gk
from gpukernels.distributed import disk, locks, resuming

#: The environment of a process that imports this file.
IMPORTING = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}


def graph(kind: str) -> gk.Graph:
    """Return a graph; its float distances are rounded otherwise if a block is closed twice."""
    g = gk.erdos_renyi(34, 6, seed=4, directed=True)
    weights = np.random.default_rng(4).random(g.m) ** 9
    return gk.Graph(
        g.offsets, g.targets, (1000 * weights + 1 if kind == "i4" else weights).astype(kind)
    )


FLOATS, WHOLE = graph("f4"), graph("i4")
#: A graph with arcs so long that a second matrix says which pairs are joined.
LONG = gk.Graph.from_arcs(20, [0, 1, 0, 2], [1, 2, 3, 3], [2**30 - 4, 0, 2**31 - 1, 1])


def out_of_core(g: gk.Graph, place: Path, **options):
    given = {"memory": 6656, "tile": 16} | options
    return gk.apsp(g, "out_of_core", gk.SimtDevice(), file=place, **given)


#: What the library keeps on a disk: the end of the name, and the call.
RUNS = {
    "out of core": (".npy", partial(out_of_core, FLOATS)),
    "out of core, whole numbers": (".npy", partial(out_of_core, WHOLE)),
    "out of core, long": (".npy", partial(out_of_core, LONG)),
    "blocks": (".npy", partial(gk.apsp, FLOATS, engine="cpu", block=12)),
    "blocks, zarr": (".zarr", partial(gk.apsp, FLOATS, engine="cpu", block=12)),
    "parts": (".npy", partial(gk.apsp, FLOATS, "partitioned", engine="cpu", parts=3)),
    "parts, zarr": (".zarr", partial(gk.apsp, FLOATS, "partitioned", engine="cpu", parts=3)),
    "roots": (".npy", partial(gk.sssp_many, WHOLE, range(34), engine="cpu", batch=12)),
    "roots, zarr": (".zarr", partial(gk.sssp_many, WHOLE, range(34), engine="cpu", batch=12)),
}  # fmt: skip


def run_of(name: str, folder: Path):
    """Return a run that keeps its result in a folder."""
    suffix, call = RUNS[name]
    place = folder / f"d{suffix}"
    return partial(call, place) if "out of core" in name else partial(call, into=place)


def result_of(run) -> bytes:
    return np.asarray(run().distance).tobytes()


def names_in(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


@pytest.fixture(scope="module", params=RUNS)
def whole(request, tmp_path_factory):
    """A run that was never stopped: its name, its result, its files, its number of writes."""
    name, folder = request.param, tmp_path_factory.mktemp("whole")
    run = run_of(name, folder)
    writes = writes_of(run)
    in_memory = RUNS[name][1](None) if "out of core" in name else RUNS[name][1]()
    expected = in_memory.distance.tobytes()
    if RUNS[name][0] == ".npy":
        assert np.load(folder / "d.npy").tobytes() == expected
    return name, expected, names_in(folder), writes


# --- stopped at any write -------------------------------------------------------------------------


def goes_on(name: str, folder: Path, expected: bytes, files: list[str]) -> bool:
    """Return whether a run goes on to the same bits, and leaves the same files."""
    if "out of core" in name and [n for n in names_in(folder) if not n.endswith(".lock")] == files:
        return np.load(folder / "d.npy").tobytes() == expected  # it had ended but for its lock
    return result_of(run_of(name, folder)) == expected and names_in(folder) == files


def moments(writes: int, many: int, seed: int) -> list[int]:
    drawn = np.random.default_rng(seed).permutation(writes)[: some(many, writes)]
    return sorted({0, 1, 2, *drawn.tolist(), writes - 2, writes - 1})


def test_a_run_stopped_or_killed_at_any_write_goes_on_to_the_same_bits(tmp_path, whole):
    name, expected, files, writes = whole
    assert writes > 20
    for at in moments(writes, 15, seed=1):
        folder, killed = tmp_path / f"{at}", tmp_path / f"{at} killed"
        folder.mkdir()
        stop(run_of(name, folder), at, folder, killed)
        for left in (folder, killed):
            assert goes_on(name, left, expected, files), left


def test_a_run_stopped_twice_goes_on_to_the_same_bits(tmp_path, whole):
    name, expected, files, writes = whole
    for k, at in enumerate(moments(writes, 6, seed=2)[3:-2]):
        once, twice = tmp_path / f"{k} once", tmp_path / f"{k} twice"
        once.mkdir()
        stop(run_of(name, once), at, once, twice)
        rest = tmp_path / f"{k} rest"
        shutil.copytree(twice, rest)
        again = writes_of(run_of(name, rest)) // 2
        stop(run_of(name, twice), again, twice, tmp_path / f"{k} killed")
        assert goes_on(name, tmp_path / f"{k} killed", expected, files)


# --- damage ---------------------------------------------------------------------------------------


def flip_a_bit(file, rng):
    data = bytearray(file.read_bytes())
    at = rng.integers(len(data))
    data[at] ^= 1 << rng.integers(8)
    file.write_bytes(data)


def cut_off(file, rng):
    os.truncate(file, rng.integers(file.stat().st_size))


def grow(file, rng):
    with open(file, "ab") as opened:
        opened.write(b"\0")


def lose(file, rng):
    file.unlink()


def swap(file, rng):
    root = next(folder for folder in file.parents if folder.name.endswith("damaged"))
    others = [f for f in sorted(root.rglob("*")) if f.is_file() and f != file]
    other, kept = rng.choice(np.array(others, object)), file.with_name("swapped")
    file.rename(kept)
    other.rename(file)
    kept.rename(other)


def make_a_folder(file, rng):
    file.unlink()
    file.mkdir()


def make_a_link(file, rng):
    file.rename(file.with_name("original"))
    file.symlink_to(file.with_name("original"))


def make_a_pipe(file, rng):
    file.unlink()
    os.mkfifo(file)


DAMAGE = [
    flip_a_bit, cut_off, grow, lose, swap, make_a_folder, make_a_link, make_a_pipe,
]  # fmt: skip


def refused_or(run, folder: Path, expected: bytes) -> bool:
    """Return whether a run is refused, and changes nothing; otherwise it must be right."""
    before = contents(folder)
    try:
        result = result_of(run)
    except gk.InvalidArgument:
        # Of two matrices, one that holds nothing yet is begun again before the other is refused.
        if not any("pivots" in file or "joined" in file for file in before):
            assert contents(folder) == before
        return True
    assert result == expected
    return False


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_of_any_kind_is_refused_or_does_no_harm(tmp_path, whole, damage):
    if damage is make_a_pipe and not hasattr(os, "mkfifo"):
        pytest.skip("this system has no pipes with names")
    name, expected, _, writes = whole
    rng = np.random.default_rng(DAMAGE.index(damage))
    refused = tried = 0
    for at in rng.integers(writes // 3, writes, some(6, 60)):
        folder, killed = tmp_path / f"{tried}", tmp_path / f"{tried} killed"
        folder.mkdir()
        stop(run_of(name, folder), int(at), folder, killed)
        files = [f for f in sorted(killed.rglob("*")) if f.is_file() and f.stat().st_size]
        for file in files[: len(files) if damage is not swap or len(files) > 1 else 0]:
            left = tmp_path / f"{tried} damaged"
            shutil.copytree(killed, left)
            damage(left / file.relative_to(killed), rng)
            refused += refused_or(run_of(name, left), left, expected)
            tried += 1
    assert refused > 0


def changed(name: str, value):
    def change(state):
        state[name] = value

    return change


def one_step_more(state):
    state["done"] = state["done"] + 1 if isinstance(state["done"], int) else {"9": "0"}


ODD = [None, True, -1, 99, 1.0, "1", [], {}, [[]], 10**30]
SIDECARS = {
    "empty": b"",
    "no JSON": b"{",
    "not UTF-8": b"\xff\xfe\x00",
    "deep lists": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "huge": b"[" + b"1," * 2_000_000 + b"1]",
    "long number": b'{"done": ' + b"9" * 10_000 + b"}",
    "null bytes": bytes(5000),
}


@pytest.fixture(scope="module", params=["out of core", "blocks", "roots", "roots, zarr"])
def left(request, tmp_path_factory):
    """What a run has left that was stopped half way: its name, and the folder."""
    name, folder = request.param, tmp_path_factory.mktemp("left")
    stop(run_of(name, folder), writes_of(run_of(name, tmp_path_factory.mktemp("writes"))) // 2)
    return name, folder


def sidecar_in(folder: Path) -> Path:
    return max(folder.glob("*.json"), key=lambda file: file.stat().st_mtime)


@pytest.mark.parametrize("sidecar", SIDECARS)
def test_a_sidecar_that_no_run_has_written_is_refused(tmp_path, left, sidecar):
    name, folder = left
    shutil.copytree(folder, tmp_path / "d")
    place = sidecar_in(tmp_path / "d")
    place.write_bytes(SIDECARS[sidecar])
    before = contents(tmp_path / "d")
    with pytest.raises(gk.InvalidArgument, match=re.escape(place.name)):
        run_of(name, tmp_path / "d")()
    assert contents(tmp_path / "d") == before


def test_a_sidecar_of_which_a_field_is_changed_is_refused(tmp_path, left):
    """Its own digest may be right: then what it says has to agree with the files."""
    name, folder = left
    (tmp_path / "whole").mkdir()
    expected = result_of(run_of(name, tmp_path / "whole"))
    place = sidecar_in(folder)
    state = json.loads(place.read_text())
    unsigned = {k: state[k] for k in state if k not in ("format", "digest")}
    values = [*ODD, 0, 1, 2, 3, {"x": "0"}, {"0": 5}, {"0": None}]
    changes = [changed(field, value) for field in state for value in values]
    changes += [one_step_more, *(lambda s, field=field: s.pop(field) for field in state)]
    changes += [lambda s, k=k: s["made_from"].update({k: 1e300}) for k in state["made_from"]]
    for k, change in enumerate(changes):
        new, signed = json.loads(json.dumps(state)), tmp_path / f"{k} signed"
        change(new)
        if json.dumps(new) == json.dumps(state):  # with 1 for True, it is another text
            continue
        for copy in (tmp_path / f"{k}", signed):
            shutil.copytree(folder, copy)
        sidecar_in(tmp_path / f"{k}").write_text(json.dumps(new))
        before = contents(tmp_path / f"{k}")
        with pytest.raises(gk.InvalidArgument, match="that such a run has written"):
            run_of(name, tmp_path / f"{k}")()
        assert contents(tmp_path / f"{k}") == before
        fields = {k: new[k] for k in new if k not in ("format", "digest")}
        if {"made_from", "done"} <= fields.keys() and fields != unsigned:
            resuming.Sidecar("file", signed / place.stem, state["format"]).write(fields)
            refused_or(run_of(name, signed), signed, expected)


def test_a_sidecar_of_an_earlier_moment_or_of_another_run_is_refused(tmp_path):
    run, seen = run_of("out of core", tmp_path / "a"), {}
    (tmp_path / "a").mkdir()
    write = resuming.Sidecar.write
    with pytest.MonkeyPatch.context() as patch:

        def noting(sidecar, content):
            write(sidecar, content)
            seen[len(seen)] = contents(tmp_path / "a")

        patch.setattr(resuming.Sidecar, "write", noting)
        expected = result_of(run)
    assert len(seen) == 4  # begun, and three pivot blocks
    for now in (1, 2, 3):
        for then in range(4):
            folder = tmp_path / f"{now} {then}"
            folder.mkdir()
            for file, data in (seen[now] | {"d.npy.json": seen[then]["d.npy.json"]}).items():
                (folder / file).write_bytes(data)
            refused = refused_or(run_of("out of core", folder), folder, expected)
            # After "begun" all is made again. The matrix before the last is still whole.
            assert refused == (then not in (0, now - 1, now)), (now, then)
    other = tmp_path / "other"
    other.mkdir()
    stop(run_of("out of core, whole numbers", other), 60)
    for file, data in seen[2].items():
        if file != "d.npy.json":
            (other / file).write_bytes(data)
    assert refused_or(run_of("out of core", other), other, expected)


# --- what is not ours -----------------------------------------------------------------------------


ENDS = ["", ".json", ".json.new", ".lock", ".other", ".joined.npy"]
PIVOTS = [f".pivots{end}" for end in ("", ".json", ".json.new", ".lock", ".other")]


@pytest.mark.parametrize("kind", ["file", "link", "dangling link", "folder", "full folder", "pipe"])
@pytest.mark.parametrize("name", ["out of core, long", "blocks", "roots", "roots, zarr"])
def test_what_is_in_the_way_is_neither_followed_nor_changed(tmp_path, name, kind):
    ends = {"out of core, long": ENDS, "blocks": ENDS[:4] + PIVOTS}.get(name, ENDS[:4])
    for k, end in enumerate(ends):
        folder, elsewhere = tmp_path / f"{k}", tmp_path / f"{k} elsewhere"
        folder.mkdir()
        elsewhere.mkdir()
        (elsewhere / "precious").write_bytes(b"mine")
        place = folder / f"d{RUNS[name][0]}{end}"
        if kind == "file":
            place.write_bytes(b"mine")
        elif "link" in kind:
            place.symlink_to(elsewhere / ("precious" if kind == "link" else "nothing"))
        elif kind == "pipe":
            os.mkfifo(place)
        else:
            place.mkdir()
            if kind == "full folder":
                (place / "precious").write_bytes(b"mine")
        before = contents(folder), contents(elsewhere)
        with pytest.raises(gk.InvalidArgument) as caught:
            run_of(name, folder)()
        assert place.name in str(caught.value)
        assert (contents(folder), contents(elsewhere)) == before
        if not place.is_dir():
            place.unlink()
            run_of(name, folder)()
        assert contents(elsewhere) == before[1]


@pytest.mark.parametrize("kind", ["link", "file"])
def test_a_new_sidecar_goes_to_no_file_that_came_during_the_run(tmp_path, kind):
    """The sidecar's next version is made under a name that another program may have taken."""
    folder, precious = tmp_path / "d", tmp_path / "precious"
    folder.mkdir()
    precious.write_bytes(b"mine")
    run, new = run_of("roots", folder), folder / "d.npy.json.new"
    expected = result_of(run_of("roots", tmp_path))
    write, calls = resuming.Sidecar.write, []

    def after_the_second(sidecar, content):
        calls.append(content)
        if len(calls) == 3:
            new.symlink_to(precious) if kind == "link" else new.write_bytes(b"mine")
        write(sidecar, content)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resuming.Sidecar, "write", after_the_second)
        with pytest.raises(gk.InvalidArgument, match=r"d\.npy\.json\.new"):
            run()
    assert precious.read_bytes() == new.read_bytes() == b"mine"
    new.unlink()
    assert run().stats["resumed"] == 1
    assert result_of(run) == expected


# --- one run at a time ----------------------------------------------------------------------------


@pytest.fixture
def held(tmp_path, monkeypatch, whole):
    """A run that waits in a thread at its last write but one, and a call that lets it go on."""
    name, expected, files, _ = whole
    waiting, go, results, count = threading.Event(), threading.Event(), [], [0]
    replace, thread = os.replace, threading.Thread(target=lambda: results.append(result_of(run)))
    run = run_of(name, tmp_path)

    def waits(*args):
        replace(*args)
        if threading.current_thread() is thread:
            count[0] += 1
            if count[0] == 2:
                waiting.set()
                assert go.wait(60)

    monkeypatch.setattr(os, "replace", waits)
    thread.start()
    assert waiting.wait(60)

    def finish():
        go.set()
        thread.join(60)
        return results == [expected]

    yield run, expected, files, finish
    go.set()
    thread.join(60)


def test_a_second_call_in_the_same_process_is_refused_until_the_first_has_ended(tmp_path, held):
    run, expected, files, finish = held
    for _ in range(2):
        with pytest.raises(gk.InvalidArgument, match="no other process or thread is writ") as error:
            run()
        assert re.search(r"d\.\S+\.lock says that one is; wait until", str(error.value))
    assert finish()
    assert names_in(tmp_path) == files
    if "d.npy.json" in files or "d.zarr.json" in files:
        assert result_of(run) == expected


@pytest.mark.skipif(not locks.fcntl, reason="deletes an open file")
def test_a_lock_whose_file_was_deleted_in_the_meantime_is_not_taken(tmp_path, monkeypatch):
    file, lock = tmp_path / "lock", locks._lock
    first = locks.locked(file)
    first.__enter__()
    tried = []

    def after_the_first_has_ended(held):
        if not tried:
            first.__exit__(None, None, None)
            assert not file.exists()
        tried.append(os.fstat(held.fileno()).st_ino)
        lock(held)

    monkeypatch.setattr(locks, "_lock", after_the_first_has_ended)
    with locks.locked(file):
        assert len(tried) == 2
        assert file.stat().st_ino == tried[-1]
        monkeypatch.undo()
        with pytest.raises(BlockingIOError), locks.locked(file):
            pass
    assert names_in(tmp_path) == []


# --- a full disk ----------------------------------------------------------------------------------


def full(call, at: int, code: int = errno.ENOSPC):
    """Return the call, which finds the disk full after `at` times."""
    count = [0]

    def counted(*args):
        count[0] += 1
        if count[0] > at:
            raise OSError(code, os.strerror(code))
        return call(*args)

    return counted


@pytest.mark.parametrize("code", disk.FULL, ids=errno.errorcode.get)
def test_a_disk_that_fills_up_says_what_is_missing_and_the_call_goes_on(tmp_path, whole, code):
    name, expected, files, _ = whole
    calls = {"at": None}

    def counting(*args, call=disk.write_all):
        calls["at"] += 1
        call(*args)

    with pytest.MonkeyPatch.context() as patch:
        calls["at"] = 0
        for module in (disk, resuming):
            patch.setattr(module, "write_all", counting)
        (tmp_path / "counted").mkdir()
        run_of(name, tmp_path / "counted")()
    # Blocks that are no longer needed are deleted even if their sidecar cannot say so.
    for at in moments(calls["at"] - 2 * ("blocks" in name), 4, seed=code):
        folder = tmp_path / f"{at}"
        folder.mkdir()
        with pytest.MonkeyPatch.context() as patch:
            short = full(disk.write_all, at, code)
            for module in (disk, resuming):
                patch.setattr(module, "write_all", short)
            with pytest.raises(OSError, match=r"[\d,]+ bytes are needed and [\d,]+ are") as error:
                run_of(name, folder)()
        assert error.value.errno == code
        assert str(folder) in str(error.value)
        for sidecar in folder.glob("*.json"):
            json.loads(sidecar.read_text())  # the old one has survived
        assert not [*folder.glob("*.new"), *folder.glob("*.lock")]
        assert result_of(run_of(name, folder)) == expected
        assert names_in(folder) == files


@pytest.mark.parametrize("name", ["out of core", "roots", "blocks"])
def test_where_room_cannot_be_taken_nothing_is_begun(tmp_path, monkeypatch, name):
    resource = pytest.importorskip("resource", reason="a limit of POSIX")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, hard))
    try:
        with pytest.raises(OSError, match=r"File too large: 4,752 bytes are needed") as error:
            run_of(name, tmp_path)()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert error.value.errno == errno.EFBIG
    assert not [f for f in names_in(tmp_path) if "pivots" in f or name != "blocks"]
    run_of(name, tmp_path)()


@pytest.mark.parametrize("name", ["out of core", "roots", "blocks", "roots, zarr"])
def test_too_few_bytes_free_are_refused_with_how_many_are_missing(tmp_path, monkeypatch, name):
    size = 34 * 34 * 4 + (128 if "zarr" not in name else 0)
    needed = {"out of core": 2 * size, "blocks": 3 * size - 128}.get(name, size)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: usage._replace(free=needed - 1_000))
    message = rf"on a disk with {needed:,} bytes free, not {needed - 1_000:,}: 1,000 too few"
    with pytest.raises(gk.InvalidArgument, match=message):
        run_of(name, tmp_path)()
    assert names_in(tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="room cannot be taken again")
@pytest.mark.parametrize("name", ["out of core", "roots"])
def test_a_file_that_has_lost_its_room_gets_it_again(tmp_path, name):
    """A copy of what a killed run has left may have holes in place of zeros."""
    writes = writes_of(run_of(name, tmp_path))
    folder = tmp_path / "d"
    folder.mkdir()
    stop(run_of(name, folder), writes // 2)
    taken, fallocate = {}, os.posix_fallocate

    def noting(descriptor, first, size):
        fallocate(descriptor, first, size)
        taken[os.fstat(descriptor).st_ino] = first, size

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "posix_fallocate", noting)
        run_of(name, folder)()
    assert set(taken.values()) == {(0, 34 * 34 * 4 + 128)}


# --- other systems --------------------------------------------------------------------------------

BLOCKED = """
import os, sys
sys.modules["fcntl"] = sys.modules["msvcrt"] = None
del os.posix_fallocate
import signal, tempfile
from pathlib import Path
import numpy as np
from gpukernels.distributed import disk, locks, resuming
import test_kept_files as tests

assert locks.fcntl is None and locks.msvcrt is None
write_all = disk.write_all
for name in ("out of core", "blocks", "roots", "parts"):
    with tempfile.TemporaryDirectory() as folder:
        run = tests.run_of(name, Path(folder, "whole"))
        Path(folder, "whole").mkdir()
        expected = tests.result_of(run)
        run = tests.run_of(name, Path(folder))
        for at in (1, 4, 9):
            if (child := os.fork()) == 0:
                count = 0
                def killing(*args):
                    global count
                    count += 1
                    if count == at:
                        os.kill(os.getpid(), signal.SIGKILL)
                    write_all(*args)
                disk.write_all = resuming.write_all = killing
                run()
                os._exit(0)
            assert os.WIFSIGNALED(os.waitpid(child, 0)[1]), (name, at)
            assert any(file.suffix != ".npy" for file in Path(folder).glob("d*")), name
        assert tests.result_of(run) == expected, name
        left = {file.name for file in Path(folder).iterdir()}
        assert left <= {"whole", "d.npy", "d.npy.json"}, left
print("right")
"""


@pytest.mark.killing
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks a process for each run")
def test_without_locks_and_without_calls_for_room_runs_are_killed_and_gone_on_with():
    command = [sys.executable, "-c", BLOCKED]
    ended = subprocess.run(command, env=IMPORTING, capture_output=True, text=True)
    assert ended.stdout == "right\n", ended.stderr
