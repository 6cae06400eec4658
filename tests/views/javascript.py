"""Calls of the figures' JavaScript modules, without a browser."""

from __future__ import annotations

import json
from collections.abc import Callable

from gpukernels.views.engine import function_of
from gpukernels.views.script import alone


def asked(modules: list[str], function: str) -> Callable[..., object]:
    """Return a JavaScript function over `modules` as a Python function of JSON values.

    If `document` is asked for, it is the document of drawings without a browser.
    """
    answer = f"(given) => ({function})(...JSON.parse(given))"
    ask = function_of(alone(modules, "ask", answer), "ask")
    assert ask is not None, "quickjs-ng is missing: install what the extra `book` names"
    return lambda *given: ask(json.dumps(given))
