"""Run notebooks and store their outputs: `python book/run_notebooks.py chapters/simt.ipynb ...`.

Without arguments, every chapter and the front page run. Parts that differ from run to run are left
out: times, and the models of widgets (their HTML stays). So a notebook changes only where its
outputs change. Kernels run on the SIMT machine, so stored outputs are the same on every computer.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import folding
import nbformat
from nbclient import NotebookClient
from nbformat.v4.rwbase import split_lines

ROOT = Path(__file__).parent.parent
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
#: Metadata of a cell that stay, because the page reads them. The folding follows from the tags.
KEPT = ("mystnb", "tags")
MODEL = "application/vnd.jupyter.widget-view+json"


def clean(cell: dict[str, Any]) -> dict[str, Any]:
    """Return a cell without the parts that differ from run to run."""
    metadata = {k: v for k, v in cell["metadata"].items() if k in KEPT and v}
    kept = {
        "cell_type": cell["cell_type"],
        "id": cell["id"],
        "metadata": folding.folded(metadata),
        "source": cell["source"],
    }
    if cell["cell_type"] == "code":
        kept |= {"execution_count": cell["execution_count"], "outputs": cell["outputs"]}
        for output in cell["outputs"]:
            output.get("data", {}).pop(MODEL, None)
    return dict(sorted(kept.items()))


def run(path: Path) -> None:
    """Execute the notebook at `path` in its own folder and write it back."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        resources={"metadata": {"path": path.parent}},
        coalesce_streams=True,  # where a stream is cut into messages differs from run to run
    ).execute()
    split_lines(notebook)  # as notebooks on disk have their texts
    whole = {
        "cells": [clean(cell) for cell in notebook.cells],
        "metadata": METADATA,
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    os.environ["GPUKERNELS_DEVICE"] = "simt"
    os.environ["GPUKERNELS_PROGRESS"] = "off"  # what is checked here, no reader has solved
    everything = folding.notebooks()
    for chosen in [Path(name) for name in sys.argv[1:]] or everything:
        print(f"Running {chosen} ...", flush=True)
        run(chosen.resolve())
