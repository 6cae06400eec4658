"""Runs the figures' JavaScript without a browser, in an engine that may be missing."""

from __future__ import annotations

import importlib
import json
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

#: The contexts of each thread, because only the thread that made a context can use it.
_started = threading.local()


def _engine() -> ModuleType | None:
    try:
        return importlib.import_module("quickjs")
    except ImportError:
        return None


def function_of(code: str, name: str) -> Callable[..., Any] | None:
    """Return the function `name` of a script; None where there is no engine.

    Parameters
    ----------
    code : str
        A classic script. It is run once per thread, and keeps its variables between calls.
    name : str
        A function that it declares, of texts and numbers. It returns what JSON can hold.
    """
    functions = _started.__dict__.setdefault("functions", {})
    if (code, name) not in functions:
        engine = _engine()
        if engine is None:
            return None
        context = engine.Context()
        # As JSON, since quickjs-ng 0.17 cuts a text at a NUL, and refuses one that was put together
        # by + and is a rope inside.
        context.eval(f"{code}\nvar answered = (...given) => JSON.stringify({name}(...given));")
        # The function does not keep its context alive.
        functions[code, name] = context, context.get("answered")
    answered = functions[code, name][1]
    return lambda *arguments: json.loads(answered(*arguments))
