"""What numba keeps of a function on a disk is never taken for what it keeps for other types."""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import pkgutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.caching import IndexDataCacheFile
from numba.core.dispatcher import Dispatcher

import gpukernels
from gpukernels.cores.compiled import OneNameForEach, compiled

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
            found = super().__getattribute__(name)
            return functools.partial(self.wait_and, found) if name in STEPS else found

        def wait_and(self, step, *args):
            with turn:
                assert turn.wait_for(lambda: left[0] == self.letter, 60)
                found = step(*args)
                left.pop(0)
                turn.notify_all()
            return found

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
    found = keep_both(tmp_path, OneNameForEach, turns)
    assert all(found[types] in (code, None) for types, code in CODES.values())
    assert any(found.values())
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


def test_the_next_process_compiles_nothing(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    environment = os.environ | {
        "NUMBA_CACHE_DIR": str(tmp_path / "kept"),
        "PYTHONPATH": str(Path(gpukernels.__file__).parents[1]),
    }
    told = [
        subprocess.run(
            [sys.executable, program], env=environment, capture_output=True, text=True, check=True
        ).stdout.split()
        for _ in range(2)
    ]
    assert told == [["0", "3"], ["3", "0"]]


def test_where_numba_is_told_to_compile_nothing_it_is_the_function(monkeypatch):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)

    def function(a):
        return a

    assert compiled()(function) is function


def test_of_this_package_all_that_takes_several_types_is_kept_so():
    kept, once = set(), set()
    for module in pkgutil.walk_packages(gpukernels.__path__, "gpukernels."):
        if module.name.endswith("__main__"):
            continue
        for one in vars(importlib.import_module(module.name)).values():
            file = getattr(getattr(one, "_cache", None), "_cache_file", None)
            if isinstance(one, Dispatcher) and file is not None:
                (once if type(file) is IndexDataCacheFile else kept).add(one)
    assert len(kept) > 40
    assert all(not one._can_compile for one in once)  # their types are named, one combination each
    assert all(len(one.signatures) == 1 for one in once)
    assert np.all([isinstance(one._cache._cache_file, OneNameForEach) for one in kept])
