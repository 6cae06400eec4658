"""The whole book as an EPUB: `python book/paper/make_epub.py _build/book.epub`."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]


def main(target: str) -> None:
    """Have Sphinx write the EPUB (book/_ext/epub_pages.py makes its pages); move it to `target`."""
    out = Path(target)
    with tempfile.TemporaryDirectory() as folder:
        command = [
            *(sys.executable, "-c", "from jupyter_book.cli.main import main; main()"),
            *("build", str(ROOT), "--path-output", folder, "--quiet"),
            *("--builder", "custom", "--custom-builder", "epub"),
        ]
        subprocess.run(command, check=True)
        (made,) = Path(folder).glob("_build/epub/*.epub")
        out.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(made, out)
    print(f"{out}: {out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(*sys.argv[1:])
