"""Notebooks are compared with what they store, but for what may differ: `make test-colab`."""

from __future__ import annotations

import copy
import sys

import nbformat
import pytest
from built_book import ROOT
from nbformat.v4 import new_code_cell, new_notebook, new_output

sys.path.insert(0, str(ROOT / "book"))
from compare_notebooks import MODEL, difference, is_compared, main

FIGURE = (
    '<figure class="gk-view gk-view-warp" data-view="warp">{picture}'
    '<script type="application/json">{{"view":"warp","step":{step}}}</script></figure>'
)
PLOT = (
    '<figure class="gk-plot" role="img" aria-label="{words}" tabindex="0"><svg>{svg}</svg></figure>'
)


def cell(*outputs, source="x", tags=(), count=1):
    """Return a code cell that has been run."""
    new_cell = new_code_cell(source, outputs=list(outputs), execution_count=count)
    new_cell["metadata"]["tags"] = list(tags)
    return new_cell


def printed(text):
    """Return what print() stores."""
    return new_output("stream", name="stdout", text=text)


def html(text, **more):
    """Return what an object with HTML stores."""
    return new_output("display_data", {"text/html": text, "text/plain": "x", **more})


@pytest.mark.parametrize(
    ("stored", "fresh"),
    [
        (html(FIGURE.format(picture="<svg/>", step=3)), html(FIGURE.format(picture="", step=3))),
        (
            html(FIGURE.format(picture="", step=3) + "\n<style>a</style>\n<script>b</script>"),
            html(FIGURE.format(picture="", step=3)),
        ),
        (html(PLOT.format(words="two", svg="1")), html(PLOT.format(words="two", svg="2"))),
        (printed("1\n"), printed("1\n")),
        (
            html("<li>✓ a</li><li>✓ b</li>"),
            html("<li>✓ a</li><li>✓ right on the same inputs on NVIDIA H200</li><li>✓ b</li>"),
        ),
    ],
)
def test_what_releases_of_packages_decide_is_no_difference(stored, fresh):
    assert difference(cell(stored), cell(fresh)) == ""


@pytest.mark.parametrize(
    "bar",
    [
        new_output("display_data", {"text/plain": "gk.bfs_many:   0%|          | 0/1", MODEL: {}}),
        new_output("stream", name="stderr", text="\rgk.bfs_many: 100%|##########| 1/1 [00:02]"),
    ],
)
def test_a_progress_bar_is_no_output(bar):
    stored = printed("1\n")
    assert difference(cell(stored), cell(bar, stored)) == ""
    assert difference(cell(bar), cell(stored)) == "stored nothing; now stdout"


@pytest.mark.parametrize(
    ("stored", "fresh", "message"),
    [
        (printed("levels 4"), printed("levels 5"), "stdout, from character 7"),
        (
            html(FIGURE.format(picture="", step=3)),
            html(FIGURE.format(picture="", step=4)),
            "text/html, from character",
        ),
        (html(PLOT.format(words="two", svg="")), html(PLOT.format(words="2", svg="")), "plot 2"),
        (html("<td>1</td>"), html("<td>2</td>"), "stored '<td>1"),
        (printed("1"), html("1"), "stored stdout; now text/html"),
        (
            printed("1"),
            new_output("error", ename="ValueError", evalue="no", traceback=[]),
            "stored stdout; now error",
        ),
    ],
)
def test_what_a_chapter_says_is_compared(stored, fresh, message):
    assert message in difference(cell(stored), cell(fresh))
    both = difference(cell(stored, printed("same")), cell(fresh, printed("same")))
    assert message in both


@pytest.mark.parametrize(
    ("source", "tags", "count", "compared", "compared_bare"),
    [
        ("print(r.levels)", (), 1, True, True),
        ("print(ms)", ("nbval-ignore-output",), 1, False, False),
        ("ex.check(skeleton)", ("exercise", "hide-output"), None, False, False),
        ("print(gk.sass(kernel, types))", (), 1, False, False),
        ('told = record.kept("bfs")', (), 1, True, False),
        ('g = gk.read("../data/roads.gr.gz")', (), 1, True, False),
        ("kept = culled[0]", (), 1, True, True),
    ],
)
def test_which_cells_are_compared(source, tags, count, compared, compared_bare):
    ran = cell(source=source, tags=tags, count=count)
    assert is_compared(ran, bare=False) == compared
    assert is_compared(ran, bare=True) == compared_bare


@pytest.fixture
def notebook(tmp_path):
    """A notebook of three cells that was run where it lies."""
    cells = [
        cell(source="import os\nprint(os.path.basename(os.getcwd()) == 'here')"),
        cell(source="print(os.getpid())", tags=["nbval-ignore-output"]),
        cell(source='print(os.environ["GPUKERNELS_DEVICE"])'),
        # A plain notebook has a title above code that ran, and printed its line, without one.
        cell(source="# @title Code\nimport inspect\nprint(inspect.currentframe().f_lineno)"),
    ]
    for ran, text in zip(cells, ("True\n", "1.5\n", "simt\n", "2\n"), strict=True):
        ran.outputs = [printed(text)]
    new = new_notebook(cells=cells)
    for k, ran in enumerate(new.cells):
        ran["id"], ran["execution_count"] = f"cell-{k}", k + 1
    path = tmp_path / "here" / "one.ipynb"
    path.parent.mkdir()
    nbformat.write(new, path)
    return path


def test_a_difference_and_a_cell_that_fails_are_named_and_an_error(notebook, tmp_path, capsys):
    other = copy.deepcopy(nbformat.read(notebook, 4))
    other.cells[2].source = "1 / 0"
    nbformat.write(other, tmp_path / "two.ipynb")
    assert main(["--bare", str(notebook), str(tmp_path / "two.ipynb")]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in lines[1:3]] == ["1", "1"]
    assert lines[3] == (
        "one, cell 'cell-0': stdout, from character 0: stored 'True\\n'; now 'False\\n'"
    )
    assert lines[4] == "two, stopped: ZeroDivisionError: division by zero"
    assert lines[5] == "On simt the outputs of these differ from the stored ones: one two"
