"""Copy the plain notebooks to the reader's folder, for `make notebooks` and `make lab`.

    python book/fresh_notebooks.py _build/html/notebooks notebooks

Notebooks that the reader has changed are not overwritten. The others are signed, because JupyterLab
shows the figures of trusted notebooks only.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import nbformat
from nbformat.sign import NotebookNotary

#: By name, the digest of the file that the book put there last.
RECORD = ".fresh.json"


def digest(path: Path) -> str | None:
    """Return a digest of the content of a file, or None if there is no file."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None


def freshen(folder: Path, target: Path) -> tuple[list[Path], list[Path]]:
    """Copy the notebooks of `folder` to `target`, except those that were changed there.

    Returns
    -------
    fresh, outdated
        The unchanged notebooks of `target`, and the notebooks that the reader has changed and of
        which the book has a newer version.
    """
    target.mkdir(exist_ok=True)
    record = target / RECORD
    before = json.loads(record.read_text()) if record.exists() else {}
    put, fresh, outdated = {}, [], []
    for source in sorted(folder.glob("*.ipynb")):
        path = target / source.name
        new, old = digest(source), digest(path)
        if old in (None, new, before.get(path.name)):
            path.write_bytes(source.read_bytes())
            fresh.append(path)
            put[path.name] = new
        else:
            put[path.name] = before.get(path.name)
            outdated += [path] if new != put[path.name] else []
    record.write_text(json.dumps(put, indent=1) + "\n")
    return fresh, outdated


def trust(notebooks: list[Path]) -> None:
    """Sign notebooks as `jupyter trust` does."""
    notary = NotebookNotary()
    for path in notebooks:
        notary.sign(nbformat.read(path, as_version=4))


def main(folder: str, target: str) -> None:
    """Bring the notebooks up to date, and name those that were not overwritten."""
    fresh, outdated = freshen(Path(folder), Path(target))
    trust(fresh)
    print(f"Notebooks to run are in {target}/")
    for path in outdated:
        print(f"{path} has changes of yours and stays. Rename it to get the book's newer one.")


if __name__ == "__main__":
    main(*sys.argv[1:])
