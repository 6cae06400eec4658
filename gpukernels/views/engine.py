"""Runs the figures' JavaScript where there is no browser, in an engine that may be missing."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from types import ModuleType

#: What each thread has started: a context belongs to the thread that made it.
_started = threading.local()


def _engine() -> ModuleType | None:
    try:
        return importlib.import_module("quickjs")
    except ImportError:
        return None


def function_of(code: str, name: str) -> Callable[..., str] | None:
    """Return the function `name` of a script; None where there is no engine.

    Parameters
    ----------
    code : str
        A classic script. It is run once a thread, and keeps its variables between calls.
    name : str
        A function that it declares, of texts and numbers. What it returns comes back as text.
    """
    functions = _started.__dict__.setdefault("functions", {})
    if (code, name) not in functions:
        engine = _engine()
        if engine is None:
            return None
        context = engine.Context()
        # A text put together by + may be a rope inside, which quickjs-ng 0.17 refuses to hand over:
        # joined, it is whole.
        context.eval(f"{code}\nvar answered = (...given) => [{name}(...given)].join('');")
        # The function does not keep its context alive.
        functions[code, name] = context, context.get("answered")
    return functions[code, name][1]
