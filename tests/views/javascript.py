"""Asks the figures' JavaScript modules for a value, without a browser."""

from __future__ import annotations

import json
from collections.abc import Callable

from gpukernels.views.engine import function_of
from gpukernels.views.script import alone


def asked(modules: list[str], function: str) -> Callable[..., object]:
    """Return a JavaScript function over `modules` as one of Python, for what JSON can hold.

    `document`, where it is asked for, is the one that drawings without a browser have.
    """
    answer = f"(given) => ({function})(...JSON.parse(given))"
    ask = function_of(alone(modules, "ask", answer), "ask")
    assert ask is not None, "quickjs-ng is missing: install what the extra `book` names"
    return lambda *given: ask(json.dumps(given))
