"""`make publish` puts the built pages on their branch and touches nothing else."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from built_book import ROOT

sys.path.insert(0, str(ROOT / "book"))
from addresses import colab_address, pages_address

CONFIG = "repository:\n  url: https://github.com/{owner}/some-copy\n  branch: main\n"


def git(copy: Path, *arguments: str) -> str:
    """Return what git prints in the copy."""
    return subprocess.run(
        ["git", "-c", "user.name=Someone", "-c", "user.email=someone@example.org", *arguments],
        cwd=copy,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


@pytest.fixture
def copy(tmp_path, monkeypatch) -> Path:
    """A repository with the scripts and with pages that git ignores."""
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Someone")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "someone@example.org")
    copy = tmp_path / "copy"
    shutil.copytree(ROOT / "book", copy / "book", ignore=shutil.ignore_patterns("_static", "*.pyc"))
    (copy / "_config.yml").write_text(CONFIG.format(owner="someone"))
    (copy / ".gitignore").write_text("_build/\nnotebooks/\n__pycache__/\n")
    git(copy, "init", "--quiet", "--initial-branch=main")
    git(copy, "add", "--all")
    git(copy, "commit", "--quiet", "--message", "A book")
    for name in ("index.html", ".nojekyll", "notebooks/simt.ipynb", "_static/views.css"):
        path = copy / "_build" / "html" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return copy


def publish(copy: Path) -> subprocess.CompletedProcess:
    """Run what `make publish` runs once the book is built."""
    command = [sys.executable, "book/publish.py", "_build/html"]
    return subprocess.run(command, cwd=copy, capture_output=True, text=True)


def test_the_branch_holds_the_pages_and_the_notebooks_and_no_more(copy):
    run = publish(copy)
    assert run.returncode == 0, run.stderr
    held = git(copy, "ls-tree", "-r", "--name-only", "gh-pages").splitlines()
    assert held == [".nojekyll", "_static/views.css", "index.html", "notebooks/simt.ipynb"]
    assert git(copy, "show", "gh-pages:notebooks/simt.ipynb") == "notebooks/simt.ipynb"
    assert "git push origin gh-pages" in run.stdout
    assert "https://someone.github.io/some-copy/" in run.stdout


def test_what_is_checked_out_and_staged_stays(copy):
    (copy / "README.md").write_text("staged")
    git(copy, "add", "README.md")
    (copy / "_config.yml").write_text(CONFIG.format(owner="someone") + "# changed\n")
    before = git(copy, "status", "--porcelain"), git(copy, "rev-parse", "HEAD")
    assert publish(copy).returncode == 0
    assert (git(copy, "status", "--porcelain"), git(copy, "rev-parse", "HEAD")) == before
    assert git(copy, "branch", "--show-current") == "main"


def test_without_an_address_nothing_is_committed(copy):
    (copy / "_config.yml").write_text(CONFIG.format(owner="OWNER"))
    run = publish(copy)
    assert run.returncode != 0
    assert "make colab-url URL=" in run.stderr
    assert git(copy, "branch", "--list", "gh-pages") == ""


@pytest.mark.parametrize(
    ("repository", "pages"),
    [
        ("https://github.com/Someone/Some-Copy", "https://someone.github.io/Some-Copy"),
        ("https://github.com/someone/someone.github.io", "https://someone.github.io"),
        ("https://github.com/OWNER/graphs-on-the-gpu", None),
        ("https://gitlab.com/someone/some-copy", None),
        ("", None),
    ],
)
def test_the_address_of_the_pages_follows_from_the_repositorys(repository, pages):
    assert pages_address(repository) == pages
    assert (colab_address(repository, "simt") is None) == (pages is None)
