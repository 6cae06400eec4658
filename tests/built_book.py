"""The book as a reader gets it: built once for a run of the tests, warnings as errors."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = "GPUKERNELS_BUILT_BOOK"


def build(source: Path, target: Path) -> tuple[Path, str]:
    """Build the book in `source` under `target`; return the folder of pages and the messages."""
    run = subprocess.run(
        [
            *(sys.executable, "-c", "from jupyter_book.cli.main import main; main()"),
            *("build", str(source)),
            *("--path-output", str(target), "--warningiserror", "--keep-going"),
        ],
        # Without the remote of this clone, so that every clone builds the same pages.
        env={**os.environ, "GIT_DIR": os.devnull},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, (run.stdout + run.stderr)[-6000:]
    return target / "_build" / "html", run.stdout + run.stderr


@contextlib.contextmanager
def folder_for_the_book():
    """Make a folder that all processes of this test run build their book in; remove it at the end.

    Processes that are started within find it by an environment variable.
    """
    if FOLDER in os.environ:
        yield
        return
    os.environ[FOLDER] = folder = tempfile.mkdtemp(prefix="book-")
    yield
    del os.environ[FOLDER]
    shutil.rmtree(folder, ignore_errors=True)


def built_book() -> Path:
    """Build this book, once for all processes of a test run; return the folder of pages."""
    target = Path(os.environ[FOLDER])
    done = target / "done"
    with (target / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the others wait here for the first
        if not done.exists():
            done.write_text(build(ROOT, target)[1], encoding="utf-8")
    return target / "_build" / "html"


def what_the_build_said() -> str:
    """Return the messages of the build of this book."""
    return (built_book().parents[1] / "done").read_text(encoding="utf-8")
