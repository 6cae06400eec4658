"""What numba keeps of a function on a disk is never taken for what it keeps for other types."""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import pkgutil
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from pathlib import Path

import numba
import pytest
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.dispatcher import Dispatcher

import gpukernels
from gpukernels.cores import kept_code
from gpukernels.cores.compiled import compiled
from gpukernels.cores.kept_code import kept

PACKAGE = Path(gpukernels.__file__).parent
OneNameForEach = kept_code._one_name_for_each(IndexDataCacheFile)
STEPS = ("_load_index", "_save_index", "_save_data")
#: What two processes keep: for which types, and what is compiled for them.
CODES = {"A": ("int32", "code for integers"), "B": ("float64", "code for floats")}


def file_in(folder, kind=OneNameForEach):
    return kind(str(folder), "function-1.py", ("stamp", 1))


def keep_both(folder, kind, turns):
    """Let two keep the code for their types, a step at a time as `turns` say."""
    left, turn = list(turns), threading.Condition()

    class InTurn(kind):
        def __getattribute__(self, name):
            value = super().__getattribute__(name)
            return functools.partial(self.wait_and, value) if name in STEPS else value

        def wait_and(self, step, *args):
            with turn:
                assert turn.wait_for(lambda: left[0] == self.letter, 60)
                value = step(*args)
                left.pop(0)
                turn.notify_all()
            return value

    with ThreadPoolExecutor(2) as pool:
        both = []
        for letter, (types, code) in CODES.items():
            one = file_in(folder, InTurn)
            one.letter = letter
            both.append(pool.submit(one.save, types, code))
        for one in both:
            one.result()
    later = file_in(folder, kind)
    return {types: later.load(types) for types, _ in CODES.values()}


@pytest.mark.parametrize("turns", sorted(set(map("".join, permutations("AAABBB")))))
def test_two_that_keep_code_at_once_are_not_mistaken(tmp_path, turns):
    names = keep_both(tmp_path, OneNameForEach, turns)
    assert all(names[types] in (code, None) for types, code in CODES.values())
    assert any(names.values())
    for types, code in CODES.values():
        file_in(tmp_path).save(types, code)
    for types, code in CODES.values():
        assert file_in(tmp_path).load(types) == code


def test_of_an_interrupted_one_nothing_older_is_taken(tmp_path):
    file_in(tmp_path).save("int32", "old")

    class Interrupted(OneNameForEach):
        def _save_data(self, name, data):
            raise KeyboardInterrupt

    newer = Interrupted(str(tmp_path), "function-1.py", ("stamp", 2))
    with contextlib.suppress(KeyboardInterrupt):
        newer.save("int32", "new")
    assert newer.load("int32") is None


PROGRAM = """
import numpy as np
from gpukernels.cores.compiled import compiled

@compiled(nogil=True)
def total(a):
    found = a.dtype.type(0)
    for x in a:
        found += x
    return found

for kind in ("int32", "float32", "float64"):
    assert total(np.ones(5, kind)) == 5
print(sum(total.stats.cache_hits.values()), sum(total.stats.cache_misses.values()))
"""


def runs(program, folder, times=1, package=PACKAGE):
    """Return the words that so many processes print of a program at once, and check for errors."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": str(package.parent)}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(k)] if "\n" in str(program) else
            [sys.executable, program, str(k)],
            cwd=package.parent, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for k in range(times)
    ]  # fmt: skip
    outputs = [one.communicate(timeout=300) for one in started]
    assert [error for _, error in outputs] == [""] * times
    return [out.split() for out, _ in outputs]


def test_the_next_process_compiles_nothing(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    assert runs(program, tmp_path / "kept") == [["0", "3"]]
    assert runs(program, tmp_path / "kept") == [["3", "0"]]
    program.write_text(PROGRAM.replace("found += x", "found += x * x"))
    assert runs(program, tmp_path / "kept") == [["0", "3"]]


#: A search whose loop calls one of another file; prints the result, and whether code was there.
SEARCH = """
import gpukernels as gk
from gpukernels.reference.all_pairs import _floyd_warshall as loop
far = 2**61
g = gk.Graph.from_arcs(4, [0, 1, 2], [1, 2, 3], [far, far, 3])
print(gk.reference.floyd_warshall(g).distance[0, 3] - 2 * far, sum(loop.stats.cache_hits.values()))
"""
#: One loop that processes compile for different types.
TYPES = """
import sys
import numpy as np
from gpukernels.graphs.paths import vertex_on_cycle as loop
kind = ["int16", "int32", "int64"][int(sys.argv[1]) % 3]
found = loop(np.array([0, 2, 1], kind), np.zeros(3, kind))
print(found in (1, 2), sum(loop.stats.cache_hits.values()))
"""


def test_ten_processes_at_once_keep_the_right_code(tmp_path):
    assert [out[0] for out in runs(TYPES, tmp_path, 10)] == ["True"] * 10
    for k in range(3):  # what two wrote at one moment may be missing until now
        runs(TYPES.replace("sys.argv[1]", f"{k}"), tmp_path)
    assert runs(TYPES, tmp_path, 3) == [["True", "1"]] * 3


def test_an_edit_in_another_file_is_noticed(tmp_path):
    package = tmp_path / "gpukernels"
    ignored = shutil.ignore_patterns("__pycache__", "benchmarks")
    shutil.copytree(PACKAGE, package, ignore=ignored)
    assert runs(SEARCH, tmp_path / "kept", package=package) == [["3", "0"]]
    assert runs(SEARCH, tmp_path / "kept", package=package) == [["3", "1"]]
    sums = package / "reference" / "checked_sums.py"  # of which the loop calls `too_far`
    text = sums.read_text()
    assert "\ndef too_far(" in text
    sums.write_text(text.replace("\ndef too_far(", "\n\ndef too_far("))
    assert runs(SEARCH, tmp_path / "kept", package=package) == [["3", "0"]]
    assert len(list((tmp_path / "kept").iterdir())) == 2


def test_other_compilers_have_another_folder(monkeypatch):
    before = kept_code.digest_of(PACKAGE)
    assert kept_code.digest_of(PACKAGE) == before
    monkeypatch.setattr(kept_code.metadata, "version", lambda name: "99")
    assert kept_code.digest_of(PACKAGE) != before


@pytest.mark.parametrize("place", ["a file", "no rights"])
def test_where_nothing_can_be_written_nothing_is_kept(tmp_path, place):
    folder = tmp_path / "there"
    if place == "a file":
        folder.touch()
    else:
        folder = Path("/proc/1/nowhere")
    for _ in range(2):
        assert runs(SEARCH, folder) == [["3", "0"]]


def test_what_is_damaged_is_compiled_and_kept_again(tmp_path):
    runs(SEARCH, tmp_path)
    for end in ("*.nbc", "*.nbi"):
        for file in tmp_path.rglob(end):
            file.write_bytes(file.read_bytes()[:40])
        assert runs(SEARCH, tmp_path) == [["3", "0"]]
        assert runs(SEARCH, tmp_path) == [["3", "1"]]


def test_what_nobody_used_for_a_month_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    kept_code.folder.cache_clear()
    old, new = tmp_path / "gpukernels-old", tmp_path / "gpukernels-new"
    for other, days in ((old, 31), (new, 29)):
        other.mkdir()
        (other / "code.nbc").touch()
        then = other.stat().st_mtime - 86_400 * days
        os.utime(other, (then, then))
    try:
        ours = kept_code.folder()
        assert sorted(tmp_path.iterdir()) == sorted([new, ours])
    finally:
        kept_code.folder.cache_clear()


def test_where_numba_is_told_to_compile_nothing_it_is_the_function(monkeypatch):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)

    def function(a):
        return a

    assert compiled()(function) is function


def test_of_this_package_all_loops_are_kept_so():
    functions = set()
    for module in pkgutil.walk_packages(gpukernels.__path__, "gpukernels."):
        if not module.name.endswith("__main__"):
            functions |= {
                one
                for one in vars(importlib.import_module(module.name)).values()
                if isinstance(one, Dispatcher) and "inline" not in one.targetoptions
            }
    assert len(functions) > 40
    assert [one for one in functions if not isinstance(one._cache, kept(FunctionCache))] == []
