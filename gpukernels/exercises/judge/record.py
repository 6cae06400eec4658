"""The record of a check, for a JSON file: the answer and the verdict of the judge."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from gpukernels import __version__
from gpukernels.simt import python_function

from .bench import cut, shown
from .predicting import plain_number
from .report import Report

#: Characters of an answer that is no kernel, at most.
MOST = 2_000


def record_of(
    task: str, variant: int | str | None, answer: Any, report: Report, tries: int
) -> dict[str, Any]:
    """Return the record of one check; :meth:`Exercise.record` says what is in it."""
    return {
        "task": task,
        "variant": variant,
        "verdict": report.verdict,
        "seed": report.seed,
        "tries": tries,
        "answer": text_of(answer),
        "version": __version__,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def text_of(answer: Any) -> str:
    """Return the source of a kernel, after that of its device functions, or a prediction's text."""
    try:
        function = python_function(answer)
        if function is not None:
            return "\n\n".join(dict.fromkeys(_sources(function, set())))
    except Exception:  # an object that only looks like a kernel, or whose source is nowhere
        pass
    if isinstance(answer, dict):
        items = (f"{_shown(key)}: {_shown(value)}" for key, value in dict.items(answer))
        return cut(f"{{{', '.join(items)}}}", MOST)
    return _shown(answer)


def _shown(value: Any) -> str:
    """Return how a value prints, a number as Python's own.

    NumPy 2.4 crashes when it prints a number whose class has a second base.
    """
    number = plain_number(value)
    return shown(value if number is None else number, MOST)


def _sources(function: Callable, seen: set[Callable]) -> Iterator[str]:
    """Yield the sources of the functions of its module that a function calls, and its own last."""
    seen.add(function)
    for name in function.__code__.co_names:
        called = python_function(function.__globals__.get(name))
        if called is not None and called not in seen and called.__module__ == function.__module__:
            yield from _sources(called, seen)
    yield textwrap.dedent(inspect.getsource(function))
