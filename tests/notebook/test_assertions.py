"""An assertion stops a notebook that is tested, and tells a reader who has changed the graph."""

from __future__ import annotations

import ast
import subprocess
import sys

import nbformat
import pytest
from live_notebook import ROOT, live_notebook
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from gpukernels.notebook.assertions import PUBLISHED, SoftAssertions, soften_in_notebook

SET_UP = "from gpukernels.notebook.chapter import set_up\nset_up()"


@pytest.fixture(scope="module")
def notebook():
    with live_notebook() as notebook:
        output = notebook.run(f"{SET_UP}\nimport gpukernels as gk\nimport numpy as np")
        assert not output.error
        yield notebook


def test_a_reader_is_told_which_line_does_not_hold_and_the_cell_goes_on(notebook):
    output = notebook.run('seed = 2\n\nassert seed == 1\nprint("after", seed)\nseed + 1')
    assert output.stderr == (
        "The text nearby describes the published notebook. In the notebook as it is now, "
        "line 3 does not hold: assert seed == 1\n"
    )
    assert output.stdout == "after 2\n"
    assert output.data[0]["text/plain"] == "3"
    assert not output.error


def test_a_runner_stops_at_the_same_assertion(notebook):
    output = notebook.run('assert gk.path(3).n == 4\nprint("after")', reader=False)
    assert output.error.startswith("AssertionError")
    assert not output.stdout


def test_a_cell_on_colab_is_a_readers(notebook):
    """Its front end asks for input in another way, and may not say in a request that it can."""
    notebook.run("import sys\nsys.modules['google.colab'] = sys")
    output = notebook.run("assert 1 == 2\nprint('after')", reader=False)
    notebook.run("del sys.modules['google.colab']")
    assert output.stdout == "after\n"
    assert notebook.run("assert 1 == 2", reader=False).error


def test_numpys_assertions_are_assertions_too(notebook):
    cell = "np.testing.assert_array_equal([1, 2], [1, 3])"
    output = notebook.run(f"{cell}\nprint('after')")
    assert output.stderr == f"{PUBLISHED} line 1 does not hold: {cell}  (Arrays are not equal)\n"
    assert output.stdout == "after\n"
    assert notebook.run(cell, reader=False).error.startswith("AssertionError")
    assert notebook.run("max(3, 4)").data[0]["text/plain"] == "4"


def test_further_lines_are_named_briefly_and_each_once(notebook):
    cell = notebook.run("for k in range(5):\n    assert k == 0\n    if k:\n        assert k > 7, k")
    first, second = cell.stderr.splitlines()
    assert first == f"{PUBLISHED} line 2 does not hold: assert k == 0"
    assert second == "Nor does line 4: assert k > 7, k  (1)"
    again = notebook.run("for k in range(5):\n    assert k == 0")
    assert again.stderr.startswith(f"{PUBLISHED} line 2 does not hold")


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("[1, 2][9] == 18", "(IndexError: list index out of range)"),
        ("{}['road'] == 18", "(KeyError: 'road')"),
        ("1 / len([]) == 18", "(ZeroDivisionError: division by zero)"),
        ("max([]) == 18", "(ValueError: max()"),
        ("None == np.zeros(2)", "(ValueError: The truth value"),
    ],
)
def test_an_expression_that_has_no_value_on_the_new_graph_does_not_hold(notebook, expression, says):
    output = notebook.run(f"assert {expression}\nprint('after')")
    assert output.stderr.startswith(
        f"{PUBLISHED} line 1 does not hold: assert {expression}  {says}"
    )
    assert output.stdout == "after\n"


def test_a_name_of_a_cell_that_was_not_run_is_an_error_as_ever(notebook):
    assert notebook.run("assert never_made == 3").error.startswith("NameError")


def test_functions_and_kernels_keep_their_assertions(notebook):
    output = notebook.run("def f(x):\n    assert x > 0\n    return x\nf(-1)")
    assert output.error.startswith("AssertionError")


@pytest.mark.parametrize("caught", ["", "AssertionError", "(KeyError, Exception) as e"])
def test_a_failure_that_the_cell_itself_expects_reaches_it(notebook, caught):
    output = notebook.run(
        f"try:\n    assert 1 == 2\nexcept {caught}:\n    print('expected')\n    assert 3 == 4\n"
        "finally:\n    assert 5 == 6"
    )
    assert output.stdout == "expected\n"
    assert output.stderr.startswith(f"{PUBLISHED} line 5 does not hold: assert 3 == 4")
    assert "Nor does line 7: assert 5 == 6" in output.stderr


def test_a_failure_inside_another_try_is_told(notebook):
    output = notebook.run(
        "try:\n    assert 1 == 2\nexcept gk.MissingTool:\n    pass\nelse:\n    print(1)"
    )
    assert output.stderr.startswith(f"{PUBLISHED} line 2 does not hold")
    assert output.stdout == "1\n"


def test_names_that_a_reader_has_taken_do_no_harm(notebook):
    output = notebook.run("gpukernels = report = error = 7\nassert report == 8\nprint(error)")
    assert output.stderr.startswith(f"{PUBLISHED} line 2 does not hold")
    assert output.stdout == "7\n"
    assert notebook.run("'_' in dir() and error").data[0]["text/plain"] == "7"


def test_magics_that_run_a_cell_are_as_soft(notebook):
    output = notebook.run("%%time\nassert 1 == 2\nprint('after')")
    assert "assert 1 == 2" in output.stderr
    assert "after" in output.stdout
    assert not output.error


def test_a_chapter_whose_town_is_changed_speaks_of_the_other_and_goes_on(notebook):
    chapter = nbformat.read(ROOT / "chapters" / "frontier_bfs.ipynb", as_version=4)
    cells = [cell.source for cell in chapter.cells if cell.cell_type == "code"]
    drawn = next(k for k, source in enumerate(cells) if "seed=0" in source)
    number = 'assert search.stats["duplicates"][9] == 15\nprint("goes on")'
    assert not notebook.run(cells[drawn], reader=False).error
    assert not notebook.run(number, reader=False).error
    changed = cells[drawn].replace("seed=0", "seed=5")
    assert not notebook.run(changed).error
    output = notebook.run(number)
    assert not output.error
    assert output.stdout == "goes on\n"
    assert 'assert search.stats["duplicates"][9] == 15' in output.stderr
    assert notebook.run(number, reader=False).error


def run_by_nbclient(*cells: str) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(
        notebook, kernel_name="python3", resources={"metadata": {"path": ROOT}}
    ).execute()


def test_what_stores_outputs_and_builds_books_is_strict():
    with pytest.raises(CellExecutionError, match=r"assert g\.n == 4"):
        run_by_nbclient("import gpukernels as gk", "g = gk.path(3)", "assert g.n == 4")


def test_nbval_is_strict(tmp_path):
    cells = [nbformat.v4.new_code_cell(c) for c in ("import gpukernels", "assert 1 == 2")]
    for count, cell in enumerate(cells, 1):
        cell.execution_count = count
    path = tmp_path / "changed.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    options = ["--nbval", "--nbval-current-env", "-p", "no:cacheprovider", "--rootdir", tmp_path]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, path],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert "1 failed, 1 passed" in ran.stdout
    assert "AssertionError" in ran.stdout


def test_outside_a_notebook_nothing_is_changed():
    assert soften_in_notebook() is False


@pytest.mark.parametrize(
    "cell",
    [
        "assert x",
        "for k in x:\n    assert k, 'no'\nelse:\n    assert x",
        "with x as y:\n    assert y",
        "while x:\n    assert x\n    break",
        "match x:\n    case 1:\n        assert x",
        "if x:\n    pass\nelif y:\n    assert y",
        "try:\n    pass\nexcept* ValueError:\n    assert x",
    ],
)
def test_every_place_of_a_cell_outside_functions_is_found(cell, monkeypatch):
    monkeypatch.setattr("gpukernels.notebook.assertions._read", lambda: True)
    changed = ast.fix_missing_locations(SoftAssertions().visit(ast.parse(cell)))
    guarded = [
        node
        for node in ast.walk(changed)
        if isinstance(node, ast.Try) and isinstance(node.body[0], ast.Assert)
    ]
    asserted = [node for node in ast.walk(changed) if isinstance(node, ast.Assert)]
    assert len(guarded) == len(asserted) == cell.count("assert")
    compile(changed, "cell", "exec")
