"""Kernels of students are compared: a renamed copy is listed, and independent ones are not."""

from __future__ import annotations

import ast
import shutil
import sys
from pathlib import Path

import pytest
from adversaries import kernel_of
from sheets_answered import submit

import gpukernels as gk
from gpukernels.exercises import CATALOG
from gpukernels.exercises.__main__ import main
from gpukernels.exercises.judge.effort import WRITE

HEAD = """\
from numba import cuda, int32


@cuda.jit
def block_sum(values, total):
    tile = cuda.shared.array(128, int32)
    i = cuda.threadIdx.x
    tile[i] = 0
    if i < values.size:
        tile[i] = values[i]
    cuda.syncthreads()
"""
TAIL = """\
    if i == 0:
        total[0] = tile[0]
"""
#: Three answers of shared-2 that were written apart, and differ from the solution.
BY_SHUFFLES = f"""{HEAD}\
    mine = tile[i]
    for offset in (16, 8, 4, 2, 1):
        mine += cuda.shfl_down_sync(0xFFFFFFFF, mine, offset)
    cuda.syncthreads()
    if i % 32 == 0:
        tile[i // 32] = mine
    cuda.syncthreads()
    if i == 0:
        tile[0] += tile[1] + tile[2] + tile[3]
{TAIL}"""
BY_LEVEL = f"""{HEAD}\
    for k in range(7):
        d = 64 >> k
        if i + d < 128 and i < d:
            tile[i] = tile[i] + tile[i + d]
        cuda.syncthreads()
{TAIL}"""
BY_HALVES = f"""{HEAD}\
    for half in (64, 32, 16, 8, 4, 2, 1):
        if i < half:
            tile[i] = tile[i] + tile[i + half]
        cuda.syncthreads()
{TAIL}"""
#: The first one with other names, another layout, a comment and a line that does nothing.
COPY = '''\
from numba import cuda, int32
import numpy as np

@cuda.jit
def block_sum(values, total):
    """Sum by warps, my own idea."""
    buffer = cuda.shared.array(128, int32)
    t = cuda.threadIdx.x
    buffer[t] = 0
    if (t < values.size):
        buffer[t] = values[t]

    cuda.syncthreads()
    # first each warp
    acc = buffer[t]
    for step in (16, 8, 4, 2, 1):
        acc += cuda.shfl_down_sync(0xFFFFFFFF,
                                   acc, step)
    unused = 3
    cuda.syncthreads()
    if t%32 == 0: buffer[t//32] = acc
    cuda.syncthreads()
    if t == 0:
        buffer[0] += (buffer[1] + buffer[2] + buffer[3])
    if t == 0:
        total[0] = buffer[0]
'''
TASK = "shared-2"


def listed(capsys, folder, tasks=(TASK,), **sources: str) -> list[str]:
    """Return the pairs that are printed of notebooks with these answers, by student."""
    for name, source in sources.items():
        answers = {task.partition("=")[0]: source for task in tasks}
        submit(folder / f"{name}.ipynb", tasks, answers, f"{name}@example.org")
    assert main(["similar", str(folder)]) == 0
    first, *pairs = capsys.readouterr().out.splitlines()
    assert first == f"{len(sources)} notebooks compared, {len(pairs)} pairs of similar answers"
    return pairs


@pytest.mark.parametrize("source", [BY_SHUFFLES, BY_LEVEL, BY_HALVES, COPY])
def test_the_answers_of_these_tests_are_right(source, tmp_path):
    ex = CATALOG[TASK]
    assert ex.check(kernel_of(ex, source, tmp_path), seed=1).passed


def test_a_renamed_copy_is_listed_and_independent_answers_are_not(tmp_path, capsys):
    pairs = listed(capsys, tmp_path, ann=BY_SHUFFLES, ben=BY_LEVEL, cem=COPY, dan=BY_HALVES)
    assert len(pairs) == 1
    assert pairs[0].startswith("shared-2: ann@example.org and cem@example.org share ")


def test_a_copy_with_the_address_of_its_original_is_listed(tmp_path, capsys):
    for name in "ab":
        submit(tmp_path / f"{name}.ipynb", (TASK,), {TASK: BY_SHUFFLES}, "ann@example.org")
    assert main(["similar", str(tmp_path)]) == 0
    assert "ann@example.org and ann@example.org share 100%" in capsys.readouterr().out


class Renamed(ast.NodeTransformer):
    """Gives every assigned variable another name and takes docstrings out."""

    def __init__(self, tree: ast.AST):
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        self.own = {node.id for node in names if isinstance(node.ctx, ast.Store)}

    def visit_Name(self, node):
        return ast.Name(f"my_{node.id}"[::-1], node.ctx) if node.id in self.own else node

    def visit_FunctionDef(self, node):
        node.body = node.body[ast.get_docstring(node) is not None :]
        return self.generic_visit(node)


@pytest.mark.parametrize("task", [name for name, ex in CATALOG.items() if ex.kind == WRITE])
def test_the_renamed_solution_is_listed_as_such(task, tmp_path, capsys):
    tree = ast.parse(CATALOG[task].solution.text)
    own = f"import numpy as np\n# my own work\n{ast.unparse(Renamed(tree).visit(tree))}"
    pairs = listed(capsys, tmp_path, (task,), ann=own)
    assert pairs == [f"{task}: ann@example.org and the solution share 100%"]


def test_the_skeleton_and_a_line_of_code_are_nobodys(tmp_path, capsys):
    skeleton = CATALOG[TASK].skeleton
    begun = skeleton.replace("# Your lines go here.", "half = 64")
    assert listed(capsys, tmp_path, ann=skeleton, ben=skeleton, cem=begun, dan=begun) == []


def test_a_bug_and_a_prediction_have_one_right_answer_and_are_not_compared(tmp_path, capsys):
    for task in ("bfs-1", "floyd-3"):
        text = CATALOG[task].solution.text
        assert listed(capsys, tmp_path, (task,), ann=text, ben=text) == []


def test_a_teacher_s_own_kernels_are_compared(tmp_path, capsys, monkeypatch):
    shutil.copytree(Path(__file__).parent / "course", tmp_path / "course")
    monkeypatch.chdir(tmp_path)
    task = "course:double"
    text = gk.exercise(task).solution.text.replace(
        "if i < out.size:", "if i < len(out) and i >= 0:"
    )
    for name in ("sheet", "ann", "ben"):
        submit(tmp_path / f"{name}.ipynb", (task,), {task: text}, f"{name}@example.org")
    assert main(["similar", ".", "--sheet", "sheet.ipynb"]) == 0
    output = capsys.readouterr().out
    assert "course:double: ann@example.org and ben@example.org share 100%" in output


def test_what_is_no_python_is_compared_as_text(tmp_path, capsys):
    cut = COPY.replace("total[0] = buffer[0]", "total[0] = (")
    (pair,) = listed(capsys, tmp_path, ann=cut, ben=cut, cem="x = (")
    assert pair == "shared-2: ann@example.org and ben@example.org share 100%"


def test_the_package_that_is_missing_is_named(tmp_path, capsys, monkeypatch):
    submit(tmp_path / "a.ipynb", (TASK,), {TASK: COPY}, "ann@example.org")
    monkeypatch.setitem(sys.modules, "copydetect", None)
    assert main(["similar", str(tmp_path)]) == 2
    assert "pip install 'gpukernels[grading]'" in capsys.readouterr().err
