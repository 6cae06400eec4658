"""The public surface is typed: annotated in full, clean to mypy, and of use to who imports it."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from public_names import PUBLIC

import gpukernels as gk
from gpukernels import reference

ROOT = Path(__file__).parents[1]

#: What a program does with the library. mypy is to complain about the lines so marked, and others
#: not: types that were `Any`, or not shipped, would let all of them pass.
CALLER = """
import gpukernels as gk

g: gk.Graph = gk.rmat(scale=4)
found: gk.BFSResult = gk.bfs(g, root=0, method="luo", device=gk.SimtDevice(), claim="exchange")
devices: list[gk.Device] = [gk.SimtDevice(), gk.CudaDevice(), gk.default_device()]
array = devices[0].array([1, 2])
devices[0].launch(print, 1, (32, 1), array, shared=4)
with devices[0].timer() as elapsed:
    half: float = elapsed.ms / 2
with gk.trace(schedule="warp") as t:
    summary = t.summary(by="line")
table: str = repr(gk.methods("bfs").rows[0][0])
name: str = gk.Graph  # wrong
gk.Graph([0], [0], directed=2)  # wrong
gk.bfs(g, device="cuda")  # wrong
gk.bfs(g, method=3)  # wrong
gk.Graph.from_arcs(2, [0], [1], directed="no")  # wrong
devices[0].launch(print, "all", 32)  # wrong
devices[0].run(print)  # wrong
gk.expand([0, 1], threads="many")  # wrong
gk.reference.bfs(g).color  # wrong
gk.trace(limit="none")  # wrong
"""


def mypy(*arguments: str, **options) -> subprocess.CompletedProcess:
    """Run mypy, which the tests need as they need ruff."""
    command = [sys.executable, "-m", "mypy", *arguments]
    run = subprocess.run(command, capture_output=True, text=True, **options)
    assert "No module named mypy" not in run.stderr, "mypy is not installed: make lock, make test"
    return run


def test_mypy_is_clean_on_the_public_surface():
    run = mypy(cwd=ROOT)
    assert run.returncode == 0, run.stdout + run.stderr


def test_mypy_looks_at_every_module_that_defines_a_public_function():
    """Figures are widgets, which programs do not call, and the checks of `check` are its own."""
    looked_at = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]["files"]
    elsewhere = ("gpukernels/views/", "gpukernels/simt/linting.py")
    for name in PUBLIC:
        if inspect.ismodule(thing := getattr(gk, name)):
            continue
        file = Path(inspect.getsourcefile(inspect.unwrap(thing))).relative_to(ROOT).as_posix()
        assert file in looked_at or file.startswith(elsewhere), file


def test_who_imports_the_package_is_told_of_wrong_types(tmp_path):
    (tmp_path / "caller.py").write_text(CALLER)
    alone = ["--config-file", "", "--ignore-missing-imports", "--follow-imports", "silent"]
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    run = mypy(*alone, "caller.py", cwd=tmp_path, env=environment)
    lines = {int(line) for line in re.findall(r"^caller\.py:(\d+): error", run.stdout, re.M)}
    wrong = {i for i, line in enumerate(CALLER.splitlines(), 1) if line.endswith("# wrong")}
    assert lines == wrong, run.stdout + run.stderr
    assert (ROOT / "gpukernels" / "py.typed").exists()


def functions():
    """Yield every public function, and the public methods of public classes."""
    for name in PUBLIC:
        thing = getattr(gk, name)
        if inspect.isclass(thing):
            if thing.__name__.endswith("View"):
                continue
            for method, function in inspect.getmembers(thing, inspect.isfunction):
                if not method.startswith("_") and function.__module__.startswith("gpukernels"):
                    yield f"{name}.{method}", function
        elif inspect.isfunction(thing):
            yield name, thing
    yield "sequential.bfs", reference.bfs


def test_every_public_function_is_annotated_in_full():
    for name, function in functions():
        signature = inspect.signature(function)
        bare = [p.name for p in signature.parameters.values() if p.annotation is p.empty]
        assert bare in ([], ["self"]), name
        assert signature.return_annotation is not signature.empty, name


@pytest.mark.parametrize("device", [gk.SimtDevice, gk.CudaDevice])
def test_both_devices_have_what_a_device_promises(device):
    promised = {name for name in vars(gk.Device) if not name.startswith("_")}
    assert promised >= {"array", "empty", "full", "read", "launch", "timer", "keep", "pinned"}
    for name in promised:
        own, of_protocol = (inspect.signature(getattr(c, name)) for c in (device, gk.Device))
        assert list(own.parameters) == list(of_protocol.parameters)
        defaults = [[p.default for p in s.parameters.values()] for s in (own, of_protocol)]
        assert defaults[0] == defaults[1]
    extra = {name for name in vars(device) if not name.startswith("_")} - promised
    simt_alone = {"name", "resident_threads", "trace"}
    assert extra <= simt_alone, "what only one device has, no technique can use"
