"""Renew the versions in requirements-colab.txt: `make colab-versions FREEZE=pip-freeze.gpu.txt`.

The argument is what `pip freeze` prints on Colab, as a file. Names and remarks of
requirements-colab.txt stay; a name that the list does not have keeps its version, and is printed.
"""

from __future__ import annotations

import datetime
import re
import sys
from pathlib import Path

FILE = Path(__file__).parent.parent / "requirements-colab.txt"
PIN = re.compile(r"([\w.-]+)==([\w.!+-]+)(;.*)?")
DATE = re.compile(r"as of \d{4}-\d{2}")


def name_of(name: str) -> str:
    """Return a package's name as pip compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def frozen(text: str) -> dict[str, str]:
    """Return the version of each package of a `pip freeze` that came from an index."""
    found = (PIN.fullmatch(line.strip()) for line in text.splitlines())
    return {name_of(pin[1]): pin[2] for pin in found if pin}


def renewed(text: str, versions: dict[str, str], month: str) -> tuple[str, list[str]]:
    """Return the file with new versions and date, and a line to print for what changed or lacks.

    Of a package that has a line for each of two Pythons one line is left: Colab has one Python.
    """
    lines, told, seen = [], [], set()
    for line in text.splitlines():
        pin = PIN.fullmatch(line)
        if pin is None:
            lines.append(line)
            continue
        name = name_of(pin[1])
        if name not in versions:
            told.append(f"{pin[1]} {pin[2]} stays: it is not on the list")
            lines.append(line)
        elif name not in seen:
            seen.add(name)
            lines.append(f"{pin[1]}=={versions[name]}")
            if lines[-1] != line:
                told.append(f"{pin[1]} {pin[2]} -> {versions[name]}")
    return DATE.sub(f"as of {month}", "\n".join(lines) + "\n", count=1), told


def main(freeze: str = "") -> None:
    """Read the list first, then write."""
    if not freeze:
        sys.exit("FREEZE= is missing: the file with what `pip freeze` prints on Colab")
    try:
        versions = frozen(Path(freeze).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as problem:
        sys.exit(f"FREEZE={freeze}: {problem}")
    if "numba" not in versions:
        sys.exit(f"FREEZE={freeze}: expected lines such as numba==0.61.2")
    month = datetime.date.today().strftime("%Y-%m")
    text, told = renewed(FILE.read_text(encoding="utf-8"), versions, month)
    FILE.write_text(text, encoding="utf-8")
    print("\n".join([*told, f"{FILE.name} is as of {month}; the remarks at its top are yours."]))


if __name__ == "__main__":
    main(*sys.argv[1:])
