"""The front door of a family of methods: one lookup, one set of checks, one set of messages.

A family is a dict ``METHODS``, from a name to a *driver*, and a small public function that takes a
method's name and options, asks :func:`driver_of` for the driver, and calls it. A driver takes its
options by keyword, each with a default, and checks their values itself: it alone knows the range.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
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


def takes_fields_of(record: type) -> Callable[[Driver], Driver]:
    """Declare that the ``**options`` of a driver are the fields of the dataclass `record`.

    The driver's signature names them, before its own options; the docstring of `record` tells of
    them.
    """

    def declare(driver: Driver) -> Driver:
        signature = inspect.signature(driver)
        own = [p for p in signature.parameters.values() if p.kind != p.VAR_KEYWORD]
        named = [
            inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default,
                              annotation=f.type)
            for f in fields(record)
        ]  # fmt: skip
        at = sum(p.kind != p.KEYWORD_ONLY for p in own)
        told: Any = driver
        told.__signature__ = signature.replace(parameters=[*own[:at], *named, *own[at:]])
        told.__options_record__ = record
        return driver

    return declare


@cache
def options_of(driver: Driver) -> dict[str, inspect.Parameter]:
    """Return the options that a driver takes, by name: its parameters by keyword alone."""
    parameters = inspect.signature(driver).parameters
    return {name: p for name, p in parameters.items() if p.kind == p.KEYWORD_ONLY}
