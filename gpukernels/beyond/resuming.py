"""What lets a killed run go on: a small JSON beside its result that says how far it is.

The sidecar is replaced as a whole, after what it speaks of is on the disk. It says what the result
is made from, too, and is there before the result is: so no run goes on with another's.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from gpukernels.errors import InvalidArgument


def checked_place(argument: str, given: object, *suffixes: str) -> Path:
    """Return where a result is to be; InvalidArgument unless it can be there."""
    kinds = " or ".join(suffixes)
    if not isinstance(given, str | os.PathLike) or not isinstance(os.fspath(given), str):
        raise InvalidArgument(argument, given, f"a path that ends in {kinds}, or None")
    place = Path(given)
    if place.suffix not in suffixes:
        raise InvalidArgument(argument, str(given), f"a path that ends in {kinds}, or None")
    if not place.parent.is_dir():
        raise InvalidArgument(argument, str(given), "a file in a folder that is there")
    return place


class Sidecar:
    """The JSON beside a result.

    Parameters
    ----------
    argument : str
        What callers name the result by, for messages.
    place : Path
        Where the result is.
    form : str
        What the sidecar says that it is.
    others : sequence of Path
        What else lies beside the result while it is made.

    Attributes
    ----------
    file : Path
        The sidecar itself.
    """

    def __init__(self, argument: str, place: Path, form: str, others: Sequence[Path] = ()):
        self.file = place.with_name(place.name + ".json")
        self._argument, self._place, self._form, self._others = argument, place, form, others

    def read(self, sound: Callable[[dict[str, Any]], bool]) -> dict[str, Any] | None:
        """Return what it says; None if nothing is there.

        Raises
        ------
        InvalidArgument
            If there is a file that no run has left, or what it says is not `sound`.
        """
        if not self.file.exists():
            for other in (self._place, *self._others):
                if other.exists():
                    allowed = f"a new file, or what a run has left with {self.file.name} beside it"
                    said = f"{allowed}; {other.name} is in the way"
                    self.refuse(allowed if other == self._place else said)
            return None
        state: dict[str, Any] = {}
        with suppress(OSError, ValueError):
            state = json.loads(self.file.read_text(encoding="utf-8"))
        try:
            good = (
                state["format"] == self._form
                and isinstance(state["made_from"], dict)
                and sound(state)
            )
        except (KeyError, TypeError, ValueError):
            good = False
        if not good:
            self.refuse(f"a path without a {self.file.name} beside it that no such run has written")
        return state

    def check_same(
        self,
        theirs: Mapping[str, Any],
        ours: Mapping[str, Any],
        files: Sequence[Path],
        why: Mapping[str, str] | None = None,
    ) -> None:
        """Raise InvalidArgument unless both runs are made from the same.

        `files` are what would have to be deleted, and `why` says where a value comes from.
        """
        *first, last = (file.name for file in files)
        for name, value in ours.items():
            if theirs.get(name) != value:
                because = f" ({why[name]})" if why and name in why else ""
                self.refuse(
                    f"the same {name}{because} as the run that left it, {theirs.get(name)!r} and "
                    f"not {value!r}; or delete {', '.join(first)} and {last}"
                )

    def write(self, said: Mapping[str, Any]) -> None:
        """Replace it as a whole."""
        new = self.file.with_name(self.file.name + ".new")
        with open(new, "w", encoding="utf-8") as file:
            json.dump({"format": self._form, **said}, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, self.file)
        _sync_folder(self.file.parent)

    def mapped(self, file: Path, dtype: np.dtype, shape: tuple[int, ...], there: bool) -> np.memmap:
        """Return a ``.npy`` as an array; one that is not there yet is made."""
        if not there:
            return np.lib.format.open_memmap(file, "w+", dtype, shape)
        with suppress(OSError, ValueError):
            np.lib.format.open_memmap(file, "r")  # opened to be written, a file cut short grows
            found = np.lib.format.open_memmap(file, "r+")
            if (found.dtype, found.shape) == (dtype, shape):
                return found
        self.refuse_changed(file)

    def refuse_changed(self, file: Path, what: str = "is gone, or has been changed") -> NoReturn:
        """Raise InvalidArgument for a file that is not what the run has left."""
        self.refuse(f"all files of the run that left it: {file.name} {what}")

    def refuse(self, allowed: str) -> NoReturn:
        """Raise InvalidArgument for the result's place."""
        raise InvalidArgument(self._argument, str(self._place), allowed)


def _sync_folder(folder: Path) -> None:
    """Have the new name of a file on the disk, where a folder can be opened for that."""
    if os.name == "posix":
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
