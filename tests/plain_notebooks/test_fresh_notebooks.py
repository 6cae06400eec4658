"""What `make lab` opens: the book's notebooks, trusted, and never over a reader's work."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from built_book import ROOT
from nbformat.sign import NotebookNotary
from nbformat.v4 import new_code_cell, new_notebook, new_output
from own_make import own_environment

sys.path.insert(0, str(ROOT / "book"))
import fresh_notebooks
from fresh_notebooks import freshen


def write(path: Path, text: str) -> None:
    """Write a notebook with one cell, whose output is HTML."""
    path.parent.mkdir(exist_ok=True)
    output = new_output("display_data", {"text/html": f"<b>{text}</b>"})
    nbformat.write(new_notebook(cells=[new_code_cell(text, outputs=[output], id="a")]), path)


@pytest.fixture
def book(tmp_path) -> Path:
    """Two notebooks as the build leaves them."""
    for name in ("one", "two"):
        write(tmp_path / "made" / f"{name}.ipynb", "first")
    return tmp_path / "made"


@pytest.fixture
def target(tmp_path) -> Path:
    return tmp_path / "notebooks"


def text(path: Path) -> str:
    return nbformat.read(path, as_version=4).cells[0].source


def test_a_notebook_nobody_changed_follows_the_book(book, target):
    freshen(book, target)
    write(book / "one.ipynb", "second")
    fresh, outdated = freshen(book, target)
    assert (len(fresh), outdated) == (2, [])
    assert text(target / "one.ipynb") == "second"


def test_a_readers_work_stays_and_is_named_once_the_book_has_a_newer_notebook(book, target):
    freshen(book, target)
    write(target / "one.ipynb", "my answer")
    assert freshen(book, target) == ([target / "two.ipynb"], [])
    write(book / "one.ipynb", "second")
    for _ in range(2):
        assert freshen(book, target) == ([target / "two.ipynb"], [target / "one.ipynb"])
        assert text(target / "one.ipynb") == "my answer"


def test_a_file_of_the_readers_that_the_book_never_wrote_stays(book, target):
    write(target / "one.ipynb", "older than the record")
    write(target / "mine.ipynb", "mine")
    assert freshen(book, target) == ([target / "two.ipynb"], [target / "one.ipynb"])
    assert text(target / "one.ipynb") == "older than the record"
    assert text(target / "mine.ipynb") == "mine"


def test_the_books_notebooks_are_trusted_and_others_are_not(book, target, monkeypatch, capsys):
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(target.parent / "data"))
    write(target / "two.ipynb", "somebody else's")
    fresh_notebooks.main(str(book), str(target))
    notary = NotebookNotary()
    trusted = {
        name: notary.check_signature(nbformat.read(target / f"{name}.ipynb", as_version=4))
        for name in ("one", "two")
    }
    assert trusted == {"one": True, "two": False}
    assert f"{target}/two.ipynb has changes of yours" in capsys.readouterr().out


def make(*target: str) -> subprocess.CompletedProcess:
    """Let make print its commands without running them."""
    # Under `make test` this make would take itself for a part of that one, and say so.
    options = {"cwd": ROOT, "env": own_environment()}
    return subprocess.run(["make", "-n", *target], **options, capture_output=True, text=True)


def printed(*target: str) -> str:
    run = make(*target)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_make_lab_opens_these_and_make_clean_leaves_them():
    command = "book/fresh_notebooks.py _build/html/notebooks notebooks\n"
    assert printed("notebooks").endswith(command)
    assert printed("lab").endswith(f"{command}cd notebooks && ../.venv/bin/jupyter lab\n")
    assert printed("lab", "CHAPTER=hbf").endswith("/jupyter lab hbf.ipynb\n")
    assert "notebooks" not in printed("clean")
