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
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
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


@dataclass
class Outcome:
    """The result of the run of one notebook."""

    name: str
    seconds: float = 0.0
    cpu: float = 0.0
    compared: int = 0
    left_out: int = 0
    differences: list[str] = field(default_factory=list)


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
    before, after = list(shown(stored)), list(shown(fresh))
    if before == after:
        return ""
    kinds = [[kind for kind, _ in outputs] for outputs in (before, after)]
    if kinds[0] != kinds[1]:
        return f"stored {', '.join(kinds[0]) or 'nothing'}; now {', '.join(kinds[1]) or 'nothing'}"
    (kind, old, new) = next(
        (kind, old, new) for (kind, old), (_, new) in zip(before, after, strict=True) if old != new
    )
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False))
    at = sum(1 for _ in same)
    near = slice(max(0, at - 40), at + 60)
    return f"{kind}, from character {at}: stored {old[near]!r}; now {new[near]!r}"


def rerun(path: Path, folder: Path, bare: bool) -> Outcome:
    """Run a notebook in `folder`, and compare each cell that `is_compared`."""
    notebook = nbformat.read(path, as_version=4)
    stored = copy.deepcopy(notebook)
    for cell in notebook.cells:  # the title of a folded cell would shift line numbers in errors
        cell["source"] = TITLE.sub("", cell["source"])
    outcome = Outcome(path.stem)
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        coalesce_streams=True,
    )
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    stopped = None
    try:
        client.execute()
    except CellExecutionError as error:
        stopped = f"stopped: {error.ename}: {error.evalue}"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    outcome.seconds = time.perf_counter() - start
    outcome.cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    if stopped:
        outcome.differences.append(stopped)
        return outcome
    for old, new in zip(stored.cells, notebook.cells, strict=True):
        if old["cell_type"] != "code":
            continue
        if not is_compared(old, bare):
            outcome.left_out += 1
            continue
        outcome.compared += 1
        if parts := difference(old, new):
            outcome.differences.append(f"cell {old['id']!r}: {parts}")
    return outcome


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
    row = "{:<22} {:>8} {:>8} {:>9} {:>9} {:>12}".format
    print(row("notebook", "seconds", "of CPU", "compared", "left out", "differences"))
    outcomes = []
    for path in line.notebooks:
        with tempfile.TemporaryDirectory() as empty:
            folder = Path(empty) if line.bare else path.parent
            done = rerun(path, folder, line.bare)
        outcomes.append(done)
        numbers = f"{done.seconds:.1f}", f"{done.cpu:.1f}", done.compared, done.left_out
        print(row(done.name, *numbers, len(done.differences)), flush=True)
    for done in outcomes:
        for told_apart in done.differences:
            print(f"{done.name}, {told_apart}")
    different = [done.name for done in outcomes if done.differences]
    if different:
        print(f"On {line.device} the outputs of these differ from the stored ones: {different}")
    else:
        print(f"On {line.device} all compared cells have their stored output.")
    return len(different)


if __name__ == "__main__":
    sys.exit(min(main(), 1))
