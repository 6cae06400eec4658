"""Versions of numba, numba-cuda and NumPy that break each other, refused with a sentence.

Nobody checks what packages ask of each other where pip has been told to leave them alone, as the
first cell does on Colab, and numba-cuda does not say which NumPy it knows. What follows is an
AttributeError from inside numba: at the import, or only at the first kernel. So whoever imports
this package beside such a pair is told both versions and what to install.

The pairs were tried one by one, in 2026-11. A release that is newer than these is no reason to
refuse: it may be the one that works again.
"""

from __future__ import annotations

import importlib.metadata
import re
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class BrokenPair:
    """Releases of one package that fail beside releases of another.

    Attributes
    ----------
    package, last : str
        The package that fails, and the last of its releases that does.
    beside, first : str
        The package beside which it fails, and from which release on.
    reason : str
        What it asks of the other.
    remedy : str
        What pip has to install.
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
#: Where numba's metadata says which NumPy is too new for it: ``numpy<2.3,>=1.24``.
LIMIT = re.compile(r"numpy\b[^;]*<\s*([\d.]+)")


def numbers(version: str) -> tuple[int, ...]:
    """Return the numbers with which a version begins, without zeros at the end.

    ``"2.5.0rc1"``, ``"2.5"`` and ``"2.5.0+cpu"`` are all ``(2, 5)``.
    """
    found = re.match(r"\d+(?:\.\d+)*", version)
    parts = [int(part) for part in found[0].split(".")] if found else []
    while parts and not parts[-1]:
        parts.pop()
    return tuple(parts)


@cache
def installed(package: str) -> tuple[str, list[str]]:
    """Return the version of a package, empty where it is not installed, and what it requires."""
    try:
        told = importlib.metadata.metadata(package)
    except importlib.metadata.PackageNotFoundError:
        return "", []
    return told["Version"], told.get_all("Requires-Dist", [])


def known_pairs() -> tuple[BrokenPair, ...]:
    """Return the broken pairs, with the one that the numba which is installed tells of itself."""
    version, requires = installed("numba")
    limits = [found[1] for need in requires if (found := LIMIT.match(need))]
    own = [
        BrokenPair(
            "numba", version, "numpy", limit, f"it takes NumPy below {limit}", f"numpy<{limit}"
        )
        for limit in limits
    ]
    return (*own, *BROKEN)


def advice() -> str:
    """Return what to say of the first pair of installed versions that breaks; "" if none does."""
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
    """Raise ImportError where installed versions break each other."""
    if sentence := advice():
        raise ImportError(sentence)


# At once: the package imports this module before any that imports numba.
refuse_broken()
