"""Renew the versions in requirements-colab.txt: `make colab-versions FREEZE=pip-freeze.gpu.txt`.

The argument is the output of `pip freeze` on Colab, as a file. A package that is not in it keeps
its version; names and remarks of requirements-colab.txt stay. `git diff` shows what has changed.
"""

from __future__ import annotations

import datetime
import re
import sys
from pathlib import Path

FILE = Path(__file__).parent.parent / "requirements-colab.txt"
PIN = re.compile(r"^([\w.-]+)==([\w.!+-]+)(?=;|$)", re.MULTILINE)
DATE = re.compile(r"as of \d{4}-\d{2}")


def frozen(text: str) -> dict[str, str]:
    """Return the version of each package of a `pip freeze`, by its name in lower case."""
    return {name.lower().replace("_", "-"): version for name, version in PIN.findall(text)}


def renewed(text: str, versions: dict[str, str], month: str) -> str:
    """Return the text of requirements-colab.txt with new versions and a new month."""

    def pin(old: re.Match[str]) -> str:
        return f"{old[1]}=={versions.get(old[1].lower().replace('_', '-'), old[2])}"

    return DATE.sub(f"as of {month}", PIN.sub(pin, text), count=1)


def main(freeze: str = "") -> None:
    """Read the list, then write the file."""
    versions = frozen(Path(freeze).read_text(encoding="utf-8")) if freeze else {}
    if "numba" not in versions:
        sys.exit(f"FREEZE={freeze}: expected a file with lines such as numba==0.61.2")
    month = f"{datetime.date.today():%Y-%m}"
    FILE.write_text(renewed(FILE.read_text(encoding="utf-8"), versions, month), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
