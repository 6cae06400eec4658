"""The files of Pyodide that pages load: where they come from, their sizes and checksums.

By default they come from Pyodide's own network of servers, after a click, and a browser refuses
files of another checksum. With ``PYODIDE=folder`` they lie beside the pages.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

VERSION = "0.27.7"
NPM = f"https://cdn.jsdelivr.net/npm/pyodide@{VERSION}/"
FULL = f"https://cdn.jsdelivr.net/pyodide/v{VERSION}/full/"
WHEEL = "numpy-2.0.2-cp312-cp312-pyodide_2024_0_wasm32.whl"


class File(NamedTuple):
    """A file, the address of its folder, its size in bytes, and its SHA-256 in base 64."""

    name: str
    folder: str
    size: int
    sha256: str


FILES = (
    File("pyodide.js", NPM, 14_913, "tMsjpTq6GcIhZZuftAovGCgdaFaR3AZkf7Cv0Ggbr5g="),
    File("pyodide.asm.js", NPM, 1_255_688, "a0yQ3ltxcoc/BPIYhNDp0idOMF/jIRZVj+Pk++NhjVE="),
    File("pyodide.asm.wasm", NPM, 10_105_545, "pQ3RhD+AWgt8RbYQN+4Neybf6F7+DhjvlaNK0k5AH18="),
    File("python_stdlib.zip", NPM, 2_360_737, "FmEVNHJuXYrCvY+SZBCy3LjW9JqiSRNGNTO0V6IRXBY="),
    File("pyodide-lock.json", NPM, 112_205, "nEW5FgAadQ9BAvwodJTz6rIVkJx1NcYmog24D9YzPiw="),
    File(WHEEL, FULL, 3_644_552, "67YSQdliuYshWX185DtnZoptW6s6zsT76VhlcyDXzQg="),
)


def folder() -> Path | None:
    """Return the folder that ``PYODIDE`` names, with all files in it; None if it names none.

    Raises
    ------
    FileNotFoundError
        If a file is missing.
    """
    if not (name := os.environ.get("PYODIDE", "")):
        return None
    for file in FILES:
        if not (Path(name) / file.name).is_file():
            raise FileNotFoundError(f"PYODIDE={name}: {file.name} of Pyodide {VERSION} is missing")
    return Path(name)


def hosts() -> list[str]:
    """Return the origins from which pages load these files, besides their own."""
    if folder() is not None:
        return []
    return sorted({"/".join(file.folder.split("/")[:3]) for file in FILES})
