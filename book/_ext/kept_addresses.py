"""The kept list, `book/addresses.txt`: addresses that slides and courses may name.

One address per line: a page, a heading or a label of it, a figure, or a state of a figure that the
book links to. A line `OLD -> NEW` says where a figure, or a state of it, has gone on its page.
"""

from __future__ import annotations

from pathlib import Path

FILE = Path(__file__).parents[1] / "addresses.txt"
ARROW = " -> "


def lines() -> list[str]:
    """Return the lines of the list without its comments."""
    given = FILE.read_text(encoding="utf-8").splitlines()
    return [line for line in given if line and not line.startswith("# ")]


def kept() -> list[str]:
    """Return the addresses of the list, in its order."""
    return [line.partition(ARROW)[0] for line in lines()]


def moves_of(page: str) -> list[tuple[str, str]]:
    """Return where figures of a page have gone: pairs of addresses that begin with ``#``."""
    found = []
    for line in lines():
        old, arrow, new = line.partition(ARROW)
        if arrow and old.startswith(f"{page}#"):
            found.append((old.removeprefix(page), new.removeprefix(page)))
    return found
