"""Statistics of a search, by name: values, and functions that count at the first read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


class Stats(Mapping):
    """Statistics of a search, by name; slow counts are made when they are first read.

    Parameters
    ----------
    entries : dict
        Values, or functions of no argument that return them.
    """

    def __init__(self, entries: Mapping[str, Any]):
        self._entries: dict[str, Any] = dict(_uncounted(entries))

    def __getitem__(self, name: str) -> Any:
        value = self._entries[name]
        if callable(value):
            value = self._entries[name] = value()
        return value

    def __or__(self, more: Mapping[str, Any]) -> Stats:
        """Return these entries and `more`; nothing is counted yet."""
        return Stats({**self._entries, **_uncounted(more)})

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return repr(dict(self))

    def __getstate__(self) -> dict[str, Any]:
        """Return the values for copies and pickles, as functions cannot be pickled."""
        return {"_entries": dict(self)}


def _uncounted(entries: Mapping[str, Any]) -> Mapping[str, Any]:
    return entries._entries if isinstance(entries, Stats) else entries
