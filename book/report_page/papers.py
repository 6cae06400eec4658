"""What the papers print: their tables, read from ``data/papers``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .numbers import MS, Number, printed

FOLDER = Path(__file__).parents[2] / "data" / "papers"
#: In the order in which the page speaks of them.
KEYS = (
    "busato2015bfs4k",
    "busato2016hbf",
    "padamata2013graph",
    "busato2017loadbalancing",
    "busato2017chapter",
)
NOTHING: dict[str, Any] = {"year": 0, "hardware": {}, "tables": [], "plots": [], "slips": []}


class Paper:
    """A paper's numbers, or nothing where its file is missing.

    Parameters
    ----------
    key : str
        Its key in ``book/references.bib``, the name of its file.
    folder : Path
        Where the files are.
    """

    def __init__(self, key: str, folder: Path = FOLDER):
        path = folder / f"{key}.json"
        self.key, self.there = key, path.exists()
        self.data = json.loads(path.read_text(encoding="utf-8")) if self.there else NOTHING

    @property
    def year(self) -> int:
        """When it was published."""
        return self.data["year"]

    def table(self, name: str) -> dict[str, Any] | None:
        """Return a table by its name, or None."""
        return next((t for t in self.data["tables"] if t["table"] == name), None)

    def rows(self, name: str) -> list[list[str]]:
        """Return the rows of a table as printed, none of one that is not there."""
        table = self.table(name)
        return table["rows"] if table else []

    def number(self, table: str, row: str, column: str) -> Number | str | None:
        """Return a number of a table; what is printed in its place; or None of what is not there.

        Parameters
        ----------
        table, row, column : str
            Names: the row's is in its first cell.
        """
        found = self.table(table)
        cells = next((r for r in self.rows(table) if r[0] == row), None)
        if found is None or cells is None or column not in found["columns"]:
            return None
        k = found["columns"].index(column)
        parsed = printed(cells[k], found["unit"])
        if parsed is None:
            return cells[k]
        at = (
            f"{self.key}#/tables/{self.data['tables'].index(found)}"
            f"/rows/{found['rows'].index(cells)}/{k}"
        )
        timed = found["unit"] in MS or cells[k].endswith(" s") or cells[k].endswith("ms")
        return Number(parsed[0], at, "ms" if timed else "", parsed[1])

    def machine(self, name: str) -> str:
        """Return a device's full name with its host and the version of CUDA, as far as named."""
        told = self.data["hardware"].get(name, {"device": name})
        cuda = f"CUDA {told['cuda']}" if told.get("cuda") else ""
        return ", ".join(part for part in (told["device"], cuda, told.get("host")) if part)

    def hardware(self, table: str) -> str:
        """Return what a table was measured on, in short."""
        found = self.table(table)
        return found["hardware"] if found else ""
