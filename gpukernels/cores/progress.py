"""A progress bar for long work."""

from __future__ import annotations

import importlib
import time
from typing import Any

#: Seconds before a progress bar appears.
DELAY = 2.0


class Progress:
    """A progress bar that is made only once it is due.

    In a notebook a bar is a widget, which would be stored with the page even if never displayed.
    Without tqdm, which the extra `notebook` brings, there is none.

    Parameters
    ----------
    name : str
        Name of the work.
    total : int, optional
        Number of units to do; None if it is not known.
    unit : str
        Unit of `total`; bytes, ``"B"``, are shown by the thousand and the million.
    """

    def __init__(self, name: str, total: int | None, unit: str) -> None:
        self._name, self._total, self._unit = name, total, unit
        self._start = time.monotonic()
        self._bar: Any = None

    def expect(self, more: int) -> None:
        """Say that there is so much more to do than was thought."""
        self._total = (self._total or 0) + more
        if self._bar is not None:
            self._bar.total = self._total
            self._bar.refresh()

    def reach(self, done: int) -> None:
        """Say how much has been done."""
        if self._bar is None and time.monotonic() - self._start >= DELAY and (tqdm := _tqdm()):
            self._bar = tqdm(
                total=self._total, desc=self._name, unit=self._unit,
                unit_scale=self._unit == "B", leave=False,
            )  # fmt: skip
        if self._bar is not None:
            self._bar.update(done - self._bar.n)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()


def _tqdm() -> Any:
    try:
        return importlib.import_module("tqdm.auto").tqdm
    except ImportError:
        return None
