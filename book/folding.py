"""Fold the cells in JupyterLab that the page folds by their tags.

    python book/folding.py        # changes the chapters and the front page

Running a notebook with `make outputs` does the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
#: Tags that hide a cell's code, and those that hide its output.
SOURCE = frozenset(["hide-cell", "hide-input", "remove-cell", "remove-input"])
OUTPUTS = frozenset(["hide-cell", "hide-output", "remove-cell", "remove-output"])


def folds(tags: Iterable[str]) -> dict[str, bool]:
    """Return the value of the cell metadata `jupyter`: the parts of a cell to fold."""
    states = {"outputs_hidden": bool(OUTPUTS & {*tags}), "source_hidden": bool(SOURCE & {*tags})}
    return {name: True for name, folded in states.items() if folded}


def folded(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return a cell's metadata, in which the folded parts agree with its tags."""
    jupyter = folds(metadata.get("tags", []))
    others = {name: value for name, value in metadata.items() if name != "jupyter"}
    return dict(sorted({**others, **({"jupyter": jupyter} if jupyter else {})}.items()))


def notebooks() -> list[Path]:
    """Return the notebooks of the book."""
    return [*sorted((ROOT / "chapters").glob("*.ipynb")), ROOT / "book" / "index.ipynb"]


def fold(path: Path) -> None:
    """Bring the metadata of a notebook's cells in line with their tags, and change nothing else."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        cell["metadata"] = folded(cell["metadata"])
    text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for notebook in notebooks():
        fold(notebook)
