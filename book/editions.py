"""The editions of the book, the newest of which stands in CITATION.cff: `make citation`.

The version has its place in `gpukernels/__init__.py`, and the date of an edition in the heading of
CHANGELOG.md, as in `## 0.1.0 (2026-12-01)`. Here both are written into CITATION.cff.
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
    """Return CITATION.cff with the version, and with its date once there is one."""
    text = re.sub(r"(?m)^version: .*$", f"version: {version()}", read("CITATION.cff"))
    if date := dates().get(version()):
        text = re.sub(r"(?m)^date-released: .*$", f"date-released: {date}", text)
    return text


if __name__ == "__main__":
    (ROOT / "CITATION.cff").write_text(cited(), encoding="utf-8")
