"""Functions that numba compiles for the CPU and keeps on a disk, for whoever asks first.

numba numbers what it keeps of a function: 1 for the first types, 2 for the next. Two processes that
compile it for different types at the same moment may both take a number, and whoever asks later for
the one gets the code of the other, without a word. So each combination of types has a name of its
own here, and it is in the index when it is there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core.caching import IndexDataCacheFile


class OneNameForEach(IndexDataCacheFile):
    """What numba keeps of one function: an index, and a file for each combination of types."""

    def save(self, key: Any, data: Any) -> None:
        """Keep what was compiled for a combination of types."""
        told = repr((self._version, self._source_stamp, key))
        name = self._data_name(int(hashlib.sha256(told.encode()).hexdigest()[:16], 16))
        self._save_data(name, data)
        index = self._load_index()
        index[key] = name
        self._save_index(index)


def compiled(**options: Any) -> Callable[[Callable], Any]:
    """Return the decorator ``numba.njit(cache=True, **options)``, whose files are never mistaken.

    What two processes keep at the same moment may be missing in the index: it is compiled again.
    """

    def compile_later(function: Callable) -> Any:
        dispatcher = njit(cache=True, **options)(function)
        # Where numba is told to compile nothing, it is the function itself.
        kept = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
        if type(kept) is IndexDataCacheFile:
            kept.__class__ = OneNameForEach
        return dispatcher

    return compile_later
