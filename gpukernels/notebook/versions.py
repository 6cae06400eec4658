"""Checks for versions of numba, numba-cuda and NumPy that do not work together.

The first cell of a chapter on Colab lets pip leave installed packages as they are, so pip does not
check their requirements. numba-cuda does not declare which NumPy it supports. With such a pair,
numba raises an AttributeError, at the import or only at the first kernel. So importing this package
with such a pair raises an error that names both versions and the command that helps.

Each pair was tried in 2026-11. Newer releases are not refused, because they may work again.
"""

from __future__ import annotations

import importlib.metadata
import re
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class BrokenPair:
    """Releases of one package that fail with releases of another.

    Attributes
    ----------
    package, last : str
        The package that fails, and its last release that fails.
    beside, first : str
        The other package, and its first release with which it fails.
    reason : str
        The cause of the failure.
    remedy : str
        The requirement that pip has to install.
    """

    package: str
    last: str
    beside: str
    first: str
    reason: str
    remedy: str


BROKEN = (
    BrokenPair("numba-cuda", "0.30.4", "numpy", "2.5", "it asks for np.row_stack", "numpy<2.5"),
    BrokenPair("numba-cuda", "0.24.0", "numpy", "2.4", "it asks for np.trapz", "numpy<2.4"),
    BrokenPair(
        "numba-cuda",
        "0.30.3",
        "numba",
        "0.66",
        "it looks for the type NPDatetime where numba has it no more",
        "numba-cuda>=0.30.4",
    ),
)
#: Part of numba's metadata that names the first NumPy too new for it: ``numpy<2.3,>=1.24``.
LIMIT = re.compile(r"numpy\b[^;]*<\s*([\d.]+)")


def numbers(version: str) -> tuple[int, ...]:
    """Return the numbers with which a version begins, without zeros at the end.

    ``"2.5.0rc1"``, ``"2.5"`` and ``"2.5.0+cpu"`` are all ``(2, 5)``.
    """
    match = re.match(r"\d+(?:\.\d+)*", version)
    parts = [int(part) for part in match[0].split(".")] if match else []
    while parts and not parts[-1]:
        parts.pop()
    return tuple(parts)


@cache
def installed(package: str) -> tuple[str, list[str]]:
    """Return the version of a package, empty if it is not installed, and its requirements."""
    try:
        metadata = importlib.metadata.metadata(package)
    except importlib.metadata.PackageNotFoundError:
        return "", []
    return metadata["Version"], metadata.get_all("Requires-Dist", [])


def known_pairs() -> tuple[BrokenPair, ...]:
    """Return the broken pairs, with the limit that the installed numba declares for NumPy."""
    version, requires = installed("numba")
    limits = [match[1] for need in requires if (match := LIMIT.match(need))]
    own = [
        BrokenPair(
            "numba", version, "numpy", limit, f"it takes NumPy below {limit}", f"numpy<{limit}"
        )
        for limit in limits
    ]
    return (*own, *BROKEN)


def advice() -> str:
    """Return a message about the first broken pair that is installed; "" if there is none."""
    for pair in known_pairs():
        (package, _), (beside, _) = installed(pair.package), installed(pair.beside)
        if not package or not beside:
            continue
        if numbers(package) <= numbers(pair.last) and numbers(beside) >= numbers(pair.first):
            return (
                f"{pair.package} {package} does not work with {pair.beside} {beside}: "
                f'{pair.reason}. Run pip install "{pair.remedy}", then start Python again '
                "(on Colab: Runtime > Restart session)"
            )
    return ""


def refuse_broken() -> None:
    """Raise ImportError if installed versions do not work together."""
    if sentence := advice():
        raise ImportError(sentence)


# Called at the import: the package imports this module before any that imports numba.
refuse_broken()
