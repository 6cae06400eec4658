"""Run a notebook's cells in this process; print the cells that fail or give other outputs."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from gpukernels.simt import names


def shown(data: dict) -> str:
    """Return what is compared of an output's forms."""
    text = data.get("text/html", data.get("text/plain", ""))
    return "".join(text).strip()


def stored(cell: dict) -> list[str]:
    """Return a cell's outputs as the notebook keeps them."""
    outputs = []
    for output in cell["outputs"]:
        if output["output_type"] == "stream":
            outputs.append("".join(output["text"]).strip())
        elif output["output_type"] != "error":
            outputs.append(shown(output["data"]))
    return outputs


def ran(shell: InteractiveShell, source: str) -> tuple[list[str], BaseException | None]:
    """Return a cell's outputs, and what it raises."""
    with capture_output() as captured:
        result = shell.run_cell(source, store_history=True)
    printed, last = captured.stdout, []
    if result.result is not None:
        printed = re.sub(r"Out\[\d+\]: .*\Z", "", printed, flags=re.DOTALL)
        last = [shown(shell.display_formatter.format(result.result)[0])]
    outputs = [printed.strip(), *(shown(output.data) for output in captured.outputs), *last]
    return [text for text in outputs if text], result.error_before_exec or result.error_in_exec


def main(notebook: Path) -> None:
    """Compare all cells but those whose outputs differ from machine to machine.

    What is printed is captured apart from what is displayed, so the order is not compared.
    """
    names.register()
    os.chdir(notebook.parent)
    shell = InteractiveShell.instance()
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        # Only a compiler makes machine code: cells that show it keep what they have.
        if cell["cell_type"] != "code" or "gk.sass(" in "".join(cell["source"]):
            continue
        tags = cell["metadata"].get("tags", [])
        outputs, error = ran(shell, "".join(cell["source"]))
        if error is not None and "raises-exception" not in tags:
            print(f"{cell['id']}: {type(error).__name__}: {error}")
        elif (
            error is None
            and "nbval-ignore-output" not in tags
            and sorted(outputs) != sorted(stored(cell))
        ):
            print(f"{cell['id']}: another output")


main(Path(sys.argv[1]).resolve())
