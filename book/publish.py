"""Commit the built pages and plain notebooks on the branch that publishes them.

    python book/publish.py _build/html

Changes neither the checked-out files nor the index, and pushes nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import first_cell
from addresses import BRANCH, pages_address


def git(*arguments: str, **environment: str) -> str:
    """Return the output of git in the repository of this book."""
    run = subprocess.run(
        ["git", *arguments],
        cwd=first_cell.ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    if run.returncode:
        sys.exit(f"git {arguments[0]}: {run.stderr.strip()}")
    return run.stdout.strip()


def commit(pages: Path) -> str:
    """Commit only the files of `pages` on the publishing branch, and return the commit."""
    with tempfile.TemporaryDirectory() as folder:
        own = {"GIT_INDEX_FILE": f"{folder}/index", "GIT_WORK_TREE": str(pages.resolve())}
        git("-C", str(pages.resolve()), "add", "--all", "--force", ".", **own)
        tree = git("write-tree", **own)
    of = git("rev-parse", "--short", "HEAD")
    # In a fresh clone, the new commit follows the published one.
    places = (f"refs/heads/{BRANCH}", f"refs/remotes/origin/{BRANCH}")
    known = (git("for-each-ref", "--format=%(objectname)", place) for place in places)
    before = next(filter(None, known), None)
    parent = ["-p", before] if before else []
    new = git("commit-tree", tree, *parent, "-m", f"Pages of {of}")
    git("update-ref", f"refs/heads/{BRANCH}", new)
    return new


def main(pages: str) -> None:
    """Commit the pages, if the book knows the address at which it is published."""
    address = pages_address(first_cell.published()[0])
    if address is None:
        sys.exit("Set an address on GitHub first: make colab-url URL=https://github.com/you/copy")
    commit(Path(pages))
    print(f"The pages are committed on the branch {BRANCH}. To publish them at {address}/:")
    print(f"    git push origin {BRANCH}")


if __name__ == "__main__":
    main(*sys.argv[1:])
