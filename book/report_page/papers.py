"""The tables that the papers print, read from ``data/papers``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .numbers import MS, Number, printed

FOLDER = Path(__file__).parents[2] / "data" / "papers"
#: In the order of the page.
KEYS = (
    "busato2015bfs4k",
    "busato2016hbf",
    "padamata2013graph",
    "busato2017loadbalancing",
    "busato2017chapter",
)


class Paper:
    """A paper's numbers.

    Parameters
    ----------
    key : str
        The paper's key in ``book/references.bib``, which is the name of its file.
    """

    def __init__(self, key: str):
        self.data = json.loads((FOLDER / f"{key}.json").read_text(encoding="utf-8"))
        self.name, self.year = self.data["name"], self.data["year"]

    def table(self, name: str) -> dict[str, Any]:
        """Return a table by its name."""
        return {table["table"]: table for table in self.data["tables"]}[name]

    def number(self, table: str, row: str, column: str) -> Number | str | None:
        """Return a number of a table, the text in its place, or None if the cell is not there.

        Parameters
        ----------
        table, row, column : str
            Names; the name of a row is its first cell.
        """
        content = self.table(table)
        cells = next((r for r in content["rows"] if r[0] == row), None)
        if cells is None or column not in content["columns"]:
            return None
        text = cells[content["columns"].index(column)]
        parsed = printed(text, content["unit"])
        if parsed is None:
            return text
        timed = content["unit"] in MS or text.endswith((" s", "ms"))
        return Number(parsed[0], "ms" if timed else "", parsed[1])

    def machine(self, name: str) -> str:
        """Return a device's full name with the version of CUDA and the host, as far as known."""
        known = self.data["hardware"][name]
        cuda = f"CUDA {known['cuda']}" if known.get("cuda") else ""
        return ", ".join(part for part in (known["device"], cuda, known.get("host")) if part)
