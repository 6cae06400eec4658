"""Run notebooks from top to bottom, and compare their outputs with the stored ones.

    python book/compare_notebooks.py [--device cuda] [--bare] chapters/*.ipynb

Prints a table with one row per notebook, then each cell whose output differs. The exit status is 1
if there is such a cell. The notebooks run in the same Python as this program, with the `gpukernels`
that it finds. The program needs nbclient and ipykernel and no other part of the book. So it works
where the book cannot be built: under Colab's versions, and on a machine with a GPU, CUDA, numba and
little else.

These cells are not compared:

- cells that are tagged as timing,
- cells without stored output (in a plain notebook, a checker's report on a skeleton),
- cells that list machine code, because it depends on the compiler.

These parts of an output are compared:

- the record of a figure, because its first frame needs an engine that Colab does not have,
- the words of a plot, because the next Matplotlib may draw other curves,
- a checker's report without its line on the GPU, which is only there on a machine with a GPU.

A progress bar does not count as output, because it appears only if a step takes long.
"""

from __future__ import annotations

import argparse
import copy
import html
import itertools
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

try:
    import ipykernel  # noqa: F401  # runs the cells
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError
except ImportError as missing:
    sys.exit(f"{missing}. To run notebooks: {sys.executable} -m pip install nbclient ipykernel")

Cell = dict[str, Any]

TIMING = "nbval-ignore-output"
MACHINE_CODE = re.compile(r"\bgk\.sass\(")
#: Code that reads the repository's measurements or graphs, which a reader on Colab does not have.
REPOSITORY = re.compile(r"\b(kept\w*|costs_of_benchmark|gk\.read)\(|\bdata/")
MODEL = "application/vnd.jupyter.widget-view+json"
FIGURE = re.compile(
    r'(?s)<figure class="gk-view.*?<script type="application/json">(.*?)</script>.*?</figure>'
)
PLOT = re.compile(r'(?s)<figure class="gk-plot"[^>]*? aria-label="(.*?)".*?</figure>')
#: A checker's line on a machine with a GPU. For a wrong answer the line is another one.
ON_A_GPU = re.compile(
    r"<li>✓ right on the same inputs on [^<]*</li>|\n *✓ right on the same inputs on [^\n]*"
)
#: A progress bar, drawn in characters or written next to its widget.
BAR = re.compile(r"\d%\|")
TITLE = re.compile(r"\A# @title [^\n]*\n")
#: The style and script that a plain notebook stores below its figures to draw them.
ALIVE = re.compile(r"(?s)\n<style>.*?</style>\n<script>.*?</script>\s*\Z")


def in_words(shown: str) -> str:
    """Return HTML without the parts that may differ between releases of a package."""
    shown = ALIVE.sub("", shown)
    shown = FIGURE.sub(lambda match: f"[figure {json.loads(match[1])}]", shown)
    shown = PLOT.sub(lambda match: f"[plot {match[1]}]", shown)
    return html.unescape(shown)  # some releases of Pygments write quotes as entities


def is_bar(output: Cell) -> bool:
    """Say whether an output is a progress bar, as a widget or in characters."""
    if "data" in output:
        text = output["data"].get("text/plain", "")
        return "text/html" not in output["data"] and bool(BAR.search(text))
    return output.get("name") == "stderr" and bool(BAR.search(output["text"]))


def shown(cell: Cell) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of each output of a cell."""
    for output in cell["outputs"]:
        if is_bar(output):
            continue
        if "data" in output:
            for kind, value in sorted(output["data"].items()):
                text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
                if kind != MODEL:
                    text = ON_A_GPU.sub("", text)
                    yield kind, in_words(text) if kind == "text/html" else text
        elif "text" in output:
            yield output["name"], output["text"]
        else:
            yield "error", f"{output['ename']}: {output['evalue']}"


def is_compared(cell: Cell, bare: bool) -> bool:
    """Say whether the output of a cell is compared with the stored one."""
    if cell["execution_count"] is None or TIMING in cell["metadata"].get("tags", []):
        return False
    source = cell["source"]
    return not MACHINE_CODE.search(source) and not (bare and REPOSITORY.search(source))


def difference(stored: Cell, fresh: Cell) -> str:
    """Return the first difference between two outputs of a cell, or an empty text."""
    pairs = itertools.zip_longest(shown(stored), shown(fresh), fillvalue=("nothing", ""))
    for (kind, old), (now, new) in pairs:
        if kind != now:
            return f"stored {kind}; now {now}"
        if old != new:
            signs = itertools.zip_longest(old, new)
            at = next(k for k, (one, other) in enumerate(signs) if one != other)
            near = slice(max(0, at - 40), at + 60)
            return f"{kind}, from character {at}: stored {old[near]!r}; now {new[near]!r}"
    return ""


def rerun(path: Path, folder: Path, bare: bool) -> tuple[int, list[str]]:
    """Run a notebook in `folder`; return the number of compared cells and their differences."""
    notebook = nbformat.read(path, as_version=4)
    stored = copy.deepcopy(notebook)
    for cell in notebook.cells:  # the title of a folded cell would shift line numbers in errors
        cell["source"] = TITLE.sub("", cell["source"])
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        coalesce_streams=True,
    )
    try:
        client.execute()
    except CellExecutionError as error:
        return 0, [f"stopped: {error.ename}: {error.evalue}"]
    compared = [
        (old["id"], difference(old, new))
        for old, new in zip(stored.cells, notebook.cells, strict=True)
        if old["cell_type"] == "code" and is_compared(old, bare)
    ]
    return len(compared), [f"cell {name!r}: {parts}" for name, parts in compared if parts]


def main(arguments: list[str] | None = None) -> int:
    """Run the notebooks of the command, and return how many of them differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", type=Path, nargs="+")
    parser.add_argument("--device", choices=("simt", "cuda"), default="simt")
    parser.add_argument(
        "--bare",
        action="store_true",
        help="run in an empty folder, as on Colab; do not compare cells that read repository data",
    )
    line = parser.parse_args(arguments)
    os.environ["GPUKERNELS_DEVICE"] = line.device
    os.environ["GPUKERNELS_PROGRESS"] = "off"  # checks of this run are not a reader's progress
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # avoids a warning of the debugger
    row = "{:<22} {:>8} {:>9} {:>12}".format
    print(row("notebook", "seconds", "compared", "differences"))
    differences = {}
    for path in line.notebooks:
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as empty:
            compared, changed = rerun(path, Path(empty) if line.bare else path.parent, line.bare)
        seconds = f"{time.perf_counter() - start:.1f}"
        print(row(path.stem, seconds, compared, len(changed)), flush=True)
        differences |= {path.stem: changed} if changed else {}
    for name, changed in differences.items():
        for one in changed:
            print(f"{name}, {one}")
    if differences:
        print(f"On {line.device} the outputs of these differ from the stored ones:", *differences)
    else:
        print(f"On {line.device} all compared cells have their stored output.")
    return len(differences)


if __name__ == "__main__":
    sys.exit(min(main(), 1))
