"""The book as a reader gets it: built once for a run of the tests, warnings as errors."""

from __future__ import annotations

import atexit
import functools
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def build(source: Path, target: Path) -> tuple[Path, str]:
    """Build the book in `source` under `target`; return the folder of pages and the messages."""
    run = subprocess.run(
        [
            *(sys.executable, "-c", "from jupyter_book.cli.main import main; main()"),
            *("build", str(source)),
            *("--path-output", str(target), "--warningiserror", "--keep-going"),
        ],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, (run.stdout + run.stderr)[-6000:]
    return target / "_build" / "html", run.stdout + run.stderr


@functools.cache
def built_book() -> Path:
    """Build this book, once; return the folder of pages."""
    target = Path(tempfile.mkdtemp(prefix="book-"))
    atexit.register(shutil.rmtree, target, ignore_errors=True)
    return build(ROOT, target)[0]
