"""The front door of a family of methods: one lookup, one set of checks, one set of messages.

A family is a dict ``METHODS``, from a name to a *driver*, and a small public function that takes a
method's name and options, asks :func:`driver_of` for the driver, and calls it. A driver takes its
options by keyword, each with a default, and checks their values itself: it alone knows the range.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from gpukernels.checks import check_flag, options_as_python
from gpukernels.errors import UnknownMethod

Driver = Callable[..., Any]


def known_method(family: str, methods: Mapping[str, Driver], method: object) -> Driver:
    """Return the driver of that name.

    Raises
    ------
    UnknownMethod
        If `methods` has none; the message lists all.
    """
    if not isinstance(method, str) or method not in methods:
        raise UnknownMethod(family, method, methods)
    return methods[method]


def driver_of(
    family: str, methods: Mapping[str, Driver], method: object, options: Mapping[str, Any]
) -> tuple[Driver, dict[str, Any]]:
    """Return the driver of that name, and the options to call it with.

    Parameters
    ----------
    family : str
        Name of the public function, for messages.
    methods : mapping of str to callable
        The family's drivers.
    method : object
        What was given as the method.
    options : mapping
        What was given beside. NumPy's numbers become those of Python.

    Raises
    ------
    UnknownMethod
        If there is no such method.
    InvalidArgument
        If an option that is true or false is given something else.
    TypeError
        If the method does not take an option.
    """
    driver = known_method(family, methods, method)
    known = options_of(driver)
    for name in options:
        if name not in known:
            raise TypeError(
                f"{family} method {method!r} takes no option {name!r}; it takes {list(known)}"
            )
    given = options_as_python(options)
    for name, value in given.items():
        if known[name].annotation in ("bool", bool):
            check_flag(name, value)
    return driver, given


@cache
def options_of(driver: Driver) -> dict[str, inspect.Parameter]:
    """Return the options that a driver takes, by name: its parameters by keyword alone."""
    parameters = inspect.signature(driver).parameters
    return {name: p for name, p in parameters.items() if p.kind == p.KEYWORD_ONLY}
