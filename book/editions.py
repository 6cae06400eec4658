"""Write the newest edition of the book into CITATION.cff: `make citation`.

`gpukernels/__init__.py` has the version, and a heading of CHANGELOG.md has the date of the edition,
as in `## 0.1.0 (2026-12-01)`.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEADING = re.compile(r"^## (\d\S*) \((\d{4}-\d\d-\d\d)\)$", re.MULTILINE)
VERSION = re.compile(r'^__version__ = "(.+)"$', re.MULTILINE)


def read(name: str) -> str:
    """Return the text of a file of the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def version() -> str:
    """Return the version of the package."""
    return VERSION.search(read("gpukernels/__init__.py"))[1]


def dates() -> dict[str, str]:
    """Return the date of each edition by its version, newest first."""
    return dict(HEADING.findall(read("CHANGELOG.md")))


def cited() -> str:
    """Return CITATION.cff with the version, and with its date if there is one."""
    text = re.sub(r"(?m)^version: .*$", f"version: {version()}", read("CITATION.cff"))
    if date := dates().get(version()):
        text = re.sub(r"(?m)^date-released: .*$", f"date-released: {date}", text)
    return text


if __name__ == "__main__":
    (ROOT / "CITATION.cff").write_text(cited(), encoding="utf-8")
