"""Stop a run at one of its writes, and keep what a kill at that moment would have left."""

from __future__ import annotations

import math
import os
import shutil
from pathlib import Path

import pytest

from gpukernels.distributed import disk, resuming, targets


class Interrupted(BaseException):
    """An interruption that no ``except Exception`` catches, like Ctrl-C."""


class Fuse:
    """Stops a run in the middle of a write, or before or after another call that changes a disk.

    Parameters
    ----------
    patch : pytest.MonkeyPatch
        Ends the patches.
    at : int
        The number of the call, from 0.
    killed : Path, optional
        The files in `folder` at that moment are copied to this folder.
    """

    def __init__(self, patch, at: float = math.inf, folder: Path | None = None, killed=None):
        self.at, self.count, self._folder, self._killed = at, 0, folder, killed
        write_all, zarr_write = disk.write_all, targets.ZarrMatrix.write

        def half_written(file, values):
            if self.burns():
                write_all(file, values[: len(values) // 2])
                self.stop()
            write_all(file, values)

        def half_of_rows(matrix, rows, values):
            if self.burns():
                zarr_write(matrix, rows[: len(rows) // 2 + 1], values[: len(rows) // 2 + 1])
                self.stop()
            zarr_write(matrix, rows, values)

        for module in (disk, resuming):
            patch.setattr(module, "write_all", half_written)
        patch.setattr(targets.ZarrMatrix, "write", half_of_rows)
        for owner, name in ((os, "replace"), (os, "fsync"), (Path, "unlink"), (disk, "take_room")):
            self._around(patch, owner, name)

    def _around(self, patch, owner, name):
        call = getattr(owner, name)

        def stopped_before_or_after(*args, **options):
            if self.burns():
                self.stop()
            result = call(*args, **options)
            if self.burns():
                self.stop()
            return result

        patch.setattr(owner, name, stopped_before_or_after)

    def burns(self) -> bool:
        self.count += 1
        return self.count == self.at + 1

    def stop(self):
        if self._killed is not None:
            shutil.copytree(self._folder, self._killed)
        raise Interrupted


def writes_of(run) -> int:
    """Return at how many moments a run can be stopped."""
    with pytest.MonkeyPatch.context() as patch:
        fuse = Fuse(patch)
        run()
    return fuse.count


def stop(run, at: int, folder: Path | None = None, killed: Path | None = None) -> None:
    """Make a run that is stopped at a write."""
    with pytest.MonkeyPatch.context() as patch:
        Fuse(patch, at, folder, killed)
        with pytest.raises(Interrupted):
            run()


def contents(folder: Path) -> dict[str, bytes | str]:
    """Return the bytes of all files in a folder, or what else they are, without free locks."""
    content = {
        str(file.relative_to(folder)): os.readlink(file)
        if file.is_symlink()
        else file.read_bytes()
        if file.is_file()
        else "no file"
        for file in folder.rglob("*")
    }
    return {name: held for name, held in content.items() if held or not name.endswith(".lock")}
