"""Let a killed run continue: a small JSON file next to its result records the progress.

The sidecar is replaced as a whole, after the result that it describes is on the disk. It also
describes the input of the run and has a digest of each tile. So no run continues the result of
another run, or a damaged one. While a run has a result, no other run can have it: see `locks`.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from gpukernels.cores.slabs import on_all_cores
from gpukernels.errors import InvalidArgument

from .disk import check_own, needing, new_file, opened, write_all
from .locks import locked

#: Bytes of a sidecar at most: so many, and so many for each digest.
BYTES, DIGEST_BYTES = 1 << 20, 100
#: How every sidecar begins.
BEGINNING = b'{\n "format": "gpukernels'
#: A core hashes so many bytes of an array at a time.
PIECE = 1 << 20


def checked_place(argument: str, value: object, *suffixes: str) -> Path:
    """Return where a result is to be; InvalidArgument unless it can be there."""
    kinds = " or ".join(suffixes)
    path = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(path, str) or "\0" in path:
        raise InvalidArgument(argument, value, f"a path that ends in {kinds}, or None")
    place = Path(path)
    if place.suffix not in suffixes:
        raise InvalidArgument(argument, path, f"a path that ends in {kinds}, or None")
    if not place.parent.is_dir():
        raise InvalidArgument(argument, path, "a file in a folder that is there")
    return place


class Kept(Protocol):
    """A matrix on a disk: a file, or a folder."""

    path: Path
    size: int

    def make(self) -> None:
        """Make it, with its room on the disk."""

    def close(self) -> None:
        """Close what is open of it."""

    def remove(self) -> None:
        """Delete it; FileExistsError if no run can have made it."""


class Sidecar:
    """The JSON `file` next to a result; its `lock` excludes other runs in a ``with`` block.

    `argument` names the result in messages, and `place` is where the result is. The sidecar records
    the name of its format, `form`.
    """

    def __init__(self, argument: str, place: Path, form: str):
        self.file = place.with_name(place.name + ".json")
        self.lock = place.with_name(place.name + ".lock")
        self._new = place.with_name(place.name + ".json.new")
        self.place, self._argument, self._form = place, argument, form

    def __enter__(self) -> Sidecar:
        self._stack = ExitStack()
        try:
            self._stack.enter_context(locked(self.lock))
        except BlockingIOError:
            self.refuse(
                f"a file that no other process or thread is writing, and {self.lock.name} says "
                "that one is; wait until that has ended, or take another file"
            )
        except FileExistsError as error:
            self._in_the_way(error)
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def read(self, others: Sequence[Path] = (), digests: int = 0) -> dict[str, Any] | None:
        """Return the contents of the sidecar, with at most so many `digests`; None without one.

        InvalidArgument if there is a file that no run has left, `others` next to the result
        included, or the sidecar has been changed.
        """
        try:
            check_own(self._new, BEGINNING)
        except FileExistsError as error:
            self._in_the_way(error)
        if not os.path.lexists(self.file):
            for other in (self.place, *others):
                if os.path.lexists(other):
                    allowed = f"a new file, or one that a run has left next to its {self.file.name}"
                    also = "" if other == self.place else f"; {other.name} is in the way"
                    self.refuse(allowed + also)
            return None
        with suppress(ValueError, TypeError, LookupError, AttributeError, RecursionError):
            handle, most = opened(self.file), BYTES + DIGEST_BYTES * digests
            if handle is not None:
                with handle:
                    size = os.fstat(handle.fileno()).st_size
                    state = json.loads(handle.readall() if size <= most else b"")
                sound = state.pop("digest") == _digest_of(state) and state["format"] == self._form
                if sound and isinstance(state["made_from"], dict):
                    return state
        self.refuse(
            f"a path with no {self.file.name} next to it, or with one that such a run has written "
            "and that has not changed since"
        )

    def takes(
        self,
        state: Mapping[str, Any] | None,
        made_from: Mapping[str, Any],
        files: Sequence[Kept],
        why: Mapping[str, str],
    ) -> None:
        """Close `files` when the block ends; a run whose `state` is given is `made_from` the same.

        InvalidArgument if it is not; `why` says where a value comes from.
        """
        for file in files:
            self._stack.callback(file.close)
        for name, value in made_from.items() if state is not None else ():
            if (other := state["made_from"].get(name)) != value:  # type: ignore[index]
                because = f" ({why[name]})" if name in why else ""
                self.refuse(
                    f"the same {name}{because} as the run that left it, {other!r} and not "
                    f"{value!r}; or delete {', '.join(file.path.name for file in files)} and "
                    f"{self.file.name}"
                )

    def begin(self, state: Mapping[str, Any], files: Sequence[Kept], more: int = 0) -> None:
        """Write the sidecar and make the files with room for all of them, or leave nothing.

        Files that a killed run had begun to make are made again. `more` bytes have to be free.
        InvalidArgument if they are not, or another file is in the way; OSError if the disk is full.
        """
        try:
            for file in files:
                file.remove()
            needed = more + sum(file.size for file in files)
            if (free := shutil.disk_usage(self.place.parent).free) < needed:
                self.file.unlink(missing_ok=True)
                self.refuse(
                    f"on a disk with {needed:,} bytes free, not {free:,}: {needed - free:,} too few"
                )
            self.write(state)
            try:
                for file in files:
                    file.make()
            except BaseException:
                for file in files:
                    file.remove()
                self.file.unlink()
                raise
        except FileExistsError as error:
            self._in_the_way(error)

    def delete(self, *files: Kept) -> None:
        """Delete files; InvalidArgument if something else has taken the place of one."""
        try:
            for file in files:
                file.remove()
        except FileExistsError as error:
            self._in_the_way(error)

    def write(self, content: Mapping[str, Any]) -> None:
        """Replace the sidecar as a whole; if the disk is full, the old one stays."""
        content = {"format": self._form, **content}
        text = json.dumps(content | {"digest": _digest_of(content)}, indent=1).encode()
        new = self._new
        try:
            with needing(new, len(text)), new_file(new, text[: len(BEGINNING)]) as file:
                try:
                    write_all(file, text[len(BEGINNING) :])
                    os.fsync(file.fileno())
                except BaseException:
                    new.unlink()
                    raise
        except FileExistsError as error:
            self._in_the_way(error)
        os.replace(new, self.file)
        _sync_folder(self.file.parent)

    def refuse_changed(self, file: Path) -> NoReturn:
        """Raise InvalidArgument for a file that is not what the run has left."""
        self.refuse(f"all files of the run that left it: {file.name} is gone, or has been changed")

    def refuse(self, allowed: str) -> NoReturn:
        """Raise InvalidArgument for the result's place."""
        raise InvalidArgument(self._argument, str(self.place), allowed)

    def _in_the_way(self, error: FileExistsError) -> NoReturn:
        name = Path(error.filename).name
        self.refuse(f"a path with no {name} next to it, except from a run ({error.strerror})")


def digest_of(*arrays: NDArray | None) -> str:
    """Return a digest of the elements, dtypes and shapes of arrays."""
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(b"none" if array is None else f"{array.dtype} {array.shape}".encode())
        if array is not None:
            for part in _digests(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data):
                digest.update(part)
    return digest.hexdigest()


def _digests(flat: memoryview) -> list[bytes]:
    def part(first: int, last: int) -> bytes:
        return hashlib.blake2b(flat[first * PIECE : last * PIECE], digest_size=16).digest()

    return on_all_cores(part, (-(-len(flat) // PIECE), PIECE))


def _digest_of(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True).encode()
    return hashlib.blake2b(text, digest_size=16).hexdigest()


def _sync_folder(folder: Path) -> None:
    """Have the new name of a file on the disk, where a folder can be opened for that."""
    if os.name == "posix":
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
