"""The kept list, `book/addresses.txt`: addresses that slides and courses may name.

One address per line: a page, a heading or a label on it, a figure, or a state of a figure to which
the book links. A line `OLD -> NEW` gives the new address of a figure, or of a state of it, on the
same page.
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
    """Return the old and new addresses of a page's figures, as pairs that begin with ``#``."""
    moves = []
    for line in lines():
        old, arrow, new = line.partition(ARROW)
        if arrow and old.startswith(f"{page}#"):
            moves.append((old.removeprefix(page), new.removeprefix(page)))
    return moves
