"""A chapter's cells for Colab and JupyterLab: plain text, with solutions and set-up folded."""

from __future__ import annotations

from typing import Any

import folding

from .figures import alive
from .markdown import NotPlain, Resolver, plain

Cell = dict[str, Any]


def lines(text: str) -> list[str]:
    """Return text as a list of lines, as notebooks on disk have it."""
    return text.splitlines(keepends=True)


def plain_notebook(chapter: dict[str, Any], book: Resolver) -> dict[str, Any]:
    """Return the chapter with every cell plain.

    Raises
    ------
    NotPlain
        If a text has a part without a plain form; the message names the cell.
    """
    cells: list[Cell] = []
    for cell in chapter["cells"]:
        if is_solution(cell) and not (cells and is_solution(cells[-1])):
            cells.append(closed_heading(cell))
        make = plain_text if cell["cell_type"] == "markdown" else plain_code
        try:
            cells.append(make(cell, book))
        except NotPlain as reason:
            raise NotPlain(f"cell {cell['id']!r}: {reason}") from None
    return {**chapter, "cells": cells}


def is_solution(cell: Cell) -> bool:
    """Return whether a cell belongs to the solution of an exercise."""
    return "solution" in cell["metadata"].get("tags", [])


def closed_heading(solution: Cell) -> Cell:
    """Return a closed heading above a solution.

    JupyterLab opens the output of each cell that it runs, but not what is under a closed heading.
    So "Run All" does not show solutions.
    """
    return {
        "cell_type": "markdown",
        "id": f"{solution['id']}-heading",
        "metadata": {"jp-MarkdownHeadingCollapsed": True, "tags": ["solution"]},
        "source": ["#### The solution"],
    }


def without_solutions(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook without the cells of its solutions."""
    cells = notebook["cells"]
    return {**notebook, "cells": [cell for cell in cells if not is_solution(cell)]}


def plain_text(cell: Cell, book: Resolver) -> Cell:
    """Return a Markdown cell without MyST."""
    return {**cell, "source": lines(plain("".join(cell["source"]), book))}


def plain_code(cell: Cell, book: Resolver) -> Cell:
    """Return a code cell, folded if its tags say so; folded code gets a title.

    A checker's report on an untouched skeleton is left out, because the cell waits for an answer.
    A cell without an output, such as the set-up, does not hide its later output.
    """
    tags = cell["metadata"].get("tags", [])
    if {"exercise", "hide-output"} <= {*tags}:
        return {**cell, "metadata": {"tags": tags}, "outputs": [], "execution_count": None}
    folds = folding.folds(tags)
    if not cell["outputs"]:
        folds.pop("outputs_hidden", None)
    metadata: dict[str, Any] = {"tags": tags} if tags else {}
    source = cell["source"]
    if folds:
        metadata["jupyter"] = folds
    if "outputs_hidden" in folds:
        metadata["collapsed"] = True
    if "source_hidden" in folds:
        metadata["cellView"] = "form"
        source = [f"# @title {title(cell)}\n", *source]
    outputs = [alive(output) for output in cell["outputs"]]
    metadata = dict(sorted(metadata.items()))
    return {**cell, "metadata": metadata, "outputs": outputs, "source": source}


def title(cell: Cell) -> str:
    """Return the title that Colab shows instead of a folded cell's code."""
    metadata = cell["metadata"]
    if "remove-cell" in metadata["tags"]:
        return "Set-up: run this first"
    if "solution" in metadata["tags"] or "mystnb" in metadata:
        prompt = metadata.get("mystnb", {}).get("code_prompt_show", "Show the solution")
        words = prompt.removeprefix("Show ")
        return words[0].upper() + words[1:]
    shown = "".join("".join(o.get("data", {}).get("text/html", "")) for o in cell["outputs"])
    if shown:
        return f"Code of the {'table' if 'gk-table' in shown else 'figure'}"
    return "Check of the numbers" if "assert " in "".join(cell["source"]) else "Preparation"
