"""No tool has anything to say about style or layout: of Python, of notebooks, of JavaScript."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

#: Participles and places, which do not say what a variable holds.
NO_NOUNS = {"found", "told", "made", "said", "here", "there"}
#: Fields of tuples that kernels read; the chapters print these kernels.
FIELDS_OF_KERNELS = {("Local", "found"), ("Nearby", "found"), ("Turn", "there")}


@pytest.mark.parametrize("command", [["check"], ["format", "--check"]], ids=["check", "format"])
def test_ruff_is_clean(command):
    run = subprocess.run(
        [sys.executable, "-m", "ruff", *command, "--no-cache", "."],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.crossed
@pytest.mark.parametrize(
    "folder", ["gpukernels/views", "book/js", "book/exercise_pages/js", "book/live/js"]
)
@pytest.mark.parametrize("command", [["oxlint"], ["oxfmt", "--check"]], ids=lambda c: c[0])
def test_the_javascript_of_figures_and_pages_is_linted_and_formatted(command, folder):
    name, *options = command
    # Binaries in wheels, which lie beside Python.
    tool = shutil.which(name, path=Path(sys.executable).parent) or shutil.which(name)
    assert tool, f"{name} is missing: install what the extra `test` names"
    run = subprocess.run([tool, *options, folder], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def assigned(node: ast.AST, owner: str = ""):
    """Yield the line, the function or class, and the name of each variable outside kernels."""
    for child in ast.iter_child_nodes(node):
        inside = owner
        if isinstance(child, ast.arg):
            yield child.lineno, owner, child.arg
        elif isinstance(child, ast.Name | ast.Attribute) and isinstance(child.ctx, ast.Store):
            yield child.lineno, owner, child.id if isinstance(child, ast.Name) else child.attr
        elif isinstance(child, ast.FunctionDef | ast.ClassDef):
            if any("cuda.jit" in ast.unparse(decorator) for decorator in child.decorator_list):
                continue
            yield child.lineno, owner, child.name
            inside = child.name
        yield from assigned(child, inside)


@pytest.mark.parametrize("folder", ["gpukernels", "benchmarks", "book", "tests"])
def test_variables_are_nouns_that_say_what_they_hold(folder):
    places = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line, owner, name in assigned(ast.parse(path.read_text(encoding="utf-8")))
        if name in NO_NOUNS and (owner, name) not in FIELDS_OF_KERNELS
    ]
    assert places == [], "name these by what they hold: `result`, `match`, `message`, `position`"
