"""The folder on a disk that keeps compiled code, named by a digest of package and compilers.

numba can keep the code of a function, and looks at the function's own file to see whether the code
is still right. After an edit of a device function in another file, or after an upgrade, it would
run stale code. So all code is kept in a folder named by a digest of the package's sources and of
the compilers' versions. A folder that has not been used for a month is removed.

The folder is in ``NUMBA_CACHE_DIR`` if that is set, or else in the user's cache. If it cannot be
written to, no code is kept. A damaged file counts as missing: its code is compiled and kept again.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path
from typing import Any

import numba

PACKAGE = Path(__file__).parents[1]
#: Rooms that nothing compiled imports from.
WITHOUT_CODE = {"exercises", "notebook", "simt", "trace", "views"}
COMPILERS = ("numba", "numba-cuda", "numba-cuda-mlir", "llvmlite")
MONTH = 30 * 86_400


def digest_of(package: Path) -> str:
    """Return a digest of these sources and of the compilers' versions."""
    digest = hashlib.sha256(sys.version.encode())
    for name in COMPILERS:
        with contextlib.suppress(metadata.PackageNotFoundError):
            digest.update(f"{name} {metadata.version(name)}".encode())
    for room, rooms, files in os.walk(package):
        rooms[:] = sorted(rooms) if room != str(package) else sorted({*rooms} - WITHOUT_CODE)
        for name in sorted(file for file in files if file.endswith(".py")):
            digest.update(f"\0{room[len(str(package)) :]}/{name}\0".encode())
            digest.update(Path(room, name).read_bytes())
    return digest.hexdigest()[:16]


@functools.cache
def folder() -> Path | None:
    """Return where compiled code is kept; None if that cannot be written to."""
    from numba.misc.appdirs import AppDirs

    top = numba.config.CACHE_DIR or AppDirs(appname="gpukernels", appauthor=False).user_cache_dir
    place = Path(top) / f"gpukernels-{digest_of(PACKAGE)}"
    try:
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=place):
            os.utime(place)
        _remove_unused(place)
    except OSError:
        return None
    return place


def _remove_unused(ours: Path) -> None:
    for other in ours.parent.glob("gpukernels-*"):
        if other != ours and time.time() - other.stat().st_mtime > MONTH:
            shutil.rmtree(other, ignore_errors=True)


class _Locator:
    """Tells numba in which folder, and by which name, a function's code is kept."""

    def __init__(self, function: Any, file: str) -> None:
        # By its whole path, as several files have one name, and functions of one name.
        place = f"{Path(file)}:{function.__code__.co_firstlineno}"
        self._name = hashlib.sha256(place.encode()).hexdigest()[:10]
        self._file = Path(file)

    from_function = classmethod(lambda cls, function, file: cls(function, file))

    def ensure_cache_path(self) -> None:
        """Do nothing: the folder is there."""

    def get_cache_path(self) -> str:
        """Return the folder."""
        return str(folder())

    def get_source_stamp(self) -> tuple[float, int] | None:
        """Return date and size of a file outside the package; the folder's name covers the rest."""
        if self._file.is_relative_to(PACKAGE) or not self._file.exists():
            return None
        status = self._file.stat()
        return status.st_mtime, status.st_size

    def get_disambiguator(self) -> str:
        """Return a name for the place of the function."""
        return self._name


@functools.cache
def kept(cache: Any) -> type[Any]:
    """Return one of numba's caches, for the CPU or for CUDA, that keeps code in our folder."""
    is_for_cpu = cache.__module__ == "numba.core.caching"

    class Impl(cache._impl_class):
        _locator_classes = (_Locator,)

    class Kept(cache):
        _impl_class = Impl

        def __init__(self, function: Any) -> None:
            self._function = function

        def __getattr__(self, name: str) -> Any:
            # The attributes of numba's class are made at their first use: the folder takes a while.
            if "_impl" in self.__dict__ or name.startswith("__"):
                raise AttributeError(name)
            super().__init__(self._function)
            index: Any = type(self._cache_file)
            self._cache_file.__class__ = _one_name_for_each(index)
            return getattr(self, name)

        def load_overload(self, signature: Any, target: Any) -> Any:
            # numba begins with a refresh of the target, which imports all that can be compiled and
            # takes half a second. Code for the CPU needs that to be linked, and kernels do not.
            if folder() is None:
                return None
            try:
                load = super().load_overload if is_for_cpu else self._load_overload
                return load(signature, target)
            except Exception:  # a damaged file raises whatever its bytes lead to
                return None

        def save_overload(self, *args: Any) -> None:
            if folder() is not None:
                with contextlib.suppress(OSError):  # a full disk, or a folder that was removed
                    super().save_overload(*args)

    return Kept


def keep_on_disk(dispatcher: Any) -> None:
    """Let the code of a loop for the CPU be kept, unless numba keeps it already."""
    from numba.core.caching import FunctionCache, NullCache  # only with numba, not its names

    if isinstance(dispatcher._cache, NullCache):
        dispatcher._cache = kept(FunctionCache)(dispatcher.py_func)


def keep(kernel: Any, cache: Any = None) -> None:
    """Keep the compiled code of a CUDA kernel of this package; for others nothing changes.

    Parameters
    ----------
    kernel : Dispatcher
        The kernel.
    cache : type, optional
        Its compiler's cache, if that is not numba-cuda or numba itself.
    """
    if type(getattr(kernel, "_cache", None)).__name__ != "NullCache" or folder() is None:
        return
    if Path(kernel.py_func.__code__.co_filename).is_relative_to(PACKAGE):
        # The class of numba-cuda, or that of numba itself.
        files = kept(cache or sys.modules[type(kernel).__module__].CUDACache)(kernel.py_func)
        if files._impl is not None:  # made now, before numba tells it of a launch
            kernel._cache = files


@functools.cache
def _one_name_for_each(index: Any) -> type[Any]:
    """Return numba's index of a function's files, with names that are never mistaken.

    numba numbers the files: 1 for the first types, 2 for the next. Two processes that compile a
    function for different types at the same moment may both take a number, and one that asks later
    for the one gets the code of the other, without a word. So each combination of types has a name
    of its own here, and it is in the index when the file is there. If two processes write the index
    at the same moment, one entry may be missing, and its code is compiled again.
    """

    class OneNameForEach(index):
        def save(self, key: Any, data: Any) -> None:
            """Keep what was compiled for a combination of types."""
            description = repr((self._version, self._source_stamp, key))
            name = self._data_name(int(hashlib.sha256(description.encode()).hexdigest()[:16], 16))
            self._save_data(name, data)
            try:
                index = self._load_index()
            except Exception:  # damaged
                index = {}
            index[key] = name
            self._save_index(index)

    return OneNameForEach
