"""Figures and traces by name, made when a test first asks for one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any


class MadeOnce(Mapping):
    """What the functions of a dictionary return, each called once and only if it is asked for.

    Every process of a test run imports every file: what a file made while it is imported would be
    made in processes that run other files, too.
    """

    def __init__(self, makers: dict[str, Callable[[], Any]]):
        self._makers = makers
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)
