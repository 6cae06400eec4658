"""Copies of the chapters name the repository that was cloned, where others can open it."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from built_book import ROOT
from small_book import book_extensions, build  # noqa: F401

sys.path.insert(0, str(ROOT / "book"))
import first_cell
from clone_address import clone_address, web_address

ADDRESS = "https://github.com/someone/some-copy"
CONFIG = "repository:\n  url: {url}\n  branch: {ref}\n"
PLACEHOLDER = "https://github.com/OWNER/graphs-on-the-gpu"
SECRET = "ghp_0123456789"


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        (ADDRESS, ADDRESS),
        (f"{ADDRESS}.git", ADDRESS),
        ("git@github.com:someone/some-copy.git", ADDRESS),
        ("ssh://git@github.com/someone/some-copy.git", ADDRESS),
        (f"https://{SECRET}@github.com/someone/some-copy.git", ADDRESS),
        (f"https://someone:a@{SECRET}@github.com/someone/some-copy", ADDRESS),
        ("https://gitlab.com/group/inner/book.git", "https://gitlab.com/group/inner/book"),
        ("git@git.example.org:group/book.git", "https://git.example.org/group/book"),
        ("/srv/git/book.git", None),
        ("http://github.com/someone/some-copy", None),
        ("me@server.example.org:book.git", None),
        ("ssh://me@server.example.org/home/me/book", None),
        (f"https://github.com/someone/some-copy?token={SECRET}", None),
        ('https://github.com/a/b"; import os', None),
        ("", None),
    ],
)
def test_a_remote_over_https_or_of_the_user_git_has_an_address_without_secrets(remote, address):
    assert web_address(remote) == address


def git(folder: Path, *arguments: str) -> None:
    """Run git in a folder."""
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """Make a clone of a small book with a remote, and settings, of a test's choice."""

    def new_clone(remote: str | None, url: str = PLACEHOLDER, ref: str = "main") -> Path:
        folder = tmp_path / "clone"
        folder.mkdir()
        (folder / "_config.yml").write_text(CONFIG.format(url=url, ref=ref))
        git(tmp_path, "init", "--quiet", str(folder))
        if remote:
            git(folder, "remote", "add", "origin", remote)
        monkeypatch.setattr(first_cell, "ROOT", folder)
        return folder

    return new_clone


def built(folder: Path) -> tuple[str, str, str]:
    """Build the small book; return the chapter's page, its first cell and the messages."""
    cell = {"cell_type": "code", "id": "set-up", "execution_count": 1, "outputs": []}
    cell |= {"metadata": {"tags": first_cell.TAGS}, "source": ["raise RuntimeError"]}
    title = {"cell_type": "markdown", "id": "title", "metadata": {}, "source": ["# One"]}
    notebook = {"cells": [cell, title], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    book = {
        "index.md": "# Book\n\n```{toctree}\nchapters/one\n```\n",
        "chapters/one.ipynb": json.dumps(notebook),
    }
    settings = {
        "extensions": ["myst_nb", "sphinx_book_theme", "repository_url", "plain_notebooks"],
        "html_theme": "sphinx_book_theme",
        "nb_execution_mode": "off",
        # Sphinx adds to its own default, which another test in this process may have done.
        "source_suffix": {".md": "myst-nb", ".ipynb": "myst-nb"},
        "html_theme_options": {
            "repository_url": PLACEHOLDER,
            "launch_buttons": {"colab_url": "https://colab.research.google.com"},
            "use_repository_button": True,
            "use_issues_button": True,
        },
    }
    log = io.StringIO()
    out = Path(build(folder, book, settings, warnings=log, status=log).outdir)
    page = (out / "chapters" / "one.html").read_text(encoding="utf-8")
    cell = json.loads((out / "notebooks" / "one.ipynb").read_text())["cells"][0]
    return page, "".join(cell["source"]), log.getvalue()


pytestmark = pytest.mark.usefixtures("book_extensions")


AT_COLAB = "https://colab.research.google.com/github/someone/some-copy/blob/gh-pages/notebooks/one"


@pytest.mark.parametrize(
    ("remote", "ref"),
    [
        (f"https://someone:{SECRET}@github.com/someone/some-copy.git", "main"),
        ("git@github.com:someone/some-copy.git", "v1.2.3"),
    ],
)
def test_pages_and_notebooks_of_a_clone_name_its_remote_and_the_edition(clone, remote, ref):
    folder = clone(remote, ref=ref)
    page, cell, warnings = built(folder)
    assert f"%pip install --no-deps git+{ADDRESS}@{ref}\n" in cell
    assert "raise RuntimeError" not in cell
    assert f'href="{AT_COLAB}.ipynb"' in page
    assert f"git clone {ADDRESS}" in page
    assert "No repository address" not in warnings
    for file in (folder / "out").rglob("*"):
        assert file.is_dir() or SECRET.encode() not in file.read_bytes(), file


@pytest.mark.parametrize("remote", [None, "/srv/git/book.git"])
def test_without_such_a_remote_the_cell_says_how_to_set_an_address(clone, remote):
    page, cell, warnings = built(clone(remote))
    assert first_cell.PLACEHOLDER in cell
    assert "colab.research.google.com" not in page
    assert "Colab opens" not in page
    assert "make colab-url URL=" in warnings


def test_a_folder_inside_of_another_repository_has_no_address(clone):
    folder = clone("git@github.com:someone/dotfiles.git")
    assert clone_address(folder / "chapters") is None
    assert clone_address(folder) == "https://github.com/someone/dotfiles"


def test_without_git_there_is_no_address(clone, monkeypatch):
    folder = clone("git@github.com:someone/some-copy.git")
    monkeypatch.setenv("PATH", "")
    assert clone_address(folder) is None
