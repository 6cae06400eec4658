"""Lookup, checks and messages that all families of methods share.

A family is a dict ``METHODS``, from a name to a :class:`Method`, and a small public function. This
function takes a method's name and options, gets the method's *driver* from :func:`driver_of`, and
calls it. A driver takes its options by keyword, each with a default. It checks their values itself,
because no other function knows their range.

A family's tables and help are made from its methods. Only the texts of the options come from the
drivers' docstrings, because readers of a driver need them there as well.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from gpukernels.checks import check_flag, options_as_python
from gpukernels.errors import UnknownMethod

Driver = Callable[..., Any]
Known = TypeVar("Known")

#: The default method: the fastest one known for the graph of the call.
AUTO = "auto"
#: Characters per line of help; stand-in for a space at which no line is broken.
WIDTH, HELD = 96, "\0"


@dataclass(frozen=True)
class Method:
    """One method of a family: its driver, and the facts that a table shows.

    Attributes
    ----------
    driver : callable
        The function that runs the method; calling the method calls the driver.
    idea : str
        The idea in one line.
    paper : str
        Key in the book's bibliography.
    work : str
        Operations of all threads together.
    """

    driver: Driver
    idea: str
    paper: str | None
    work: str | None

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Run the driver."""
        return self.driver(*args, **options)


class Choice(NamedTuple):
    """The choice of ``"auto"``: method (None on the CPU), device, reason and options."""

    method: str | None
    device: Any
    why: str
    options: Mapping[str, Any] = MappingProxyType({})


def _driver(method: Driver) -> Driver:
    """Return the driver of a method; a driver is returned unchanged."""
    return method.driver if isinstance(method, Method) else method


def known_method(family: str, methods: Mapping[str, Known], method: object) -> Known:
    """Return the method that has the name `method`.

    Raises
    ------
    UnknownMethod
        If `methods` has no such name; the message lists all names.
    """
    if not isinstance(method, str) or method not in methods:
        raise UnknownMethod(family, method, methods)
    return methods[method]


def _taker(methods: Mapping[str, Driver], option: str) -> str:
    """Return the end of an error that names the first method with this option, if there is one."""
    names = [name for name, driver in methods.items() if option in options_of(driver)]
    return f"; name a method that takes it, such as {names[0]!r}" if names else ""


def driver_of(
    family: str, methods: Mapping[str, Driver], method: object, options: Mapping[str, Any]
) -> tuple[Driver, dict[str, Any]]:
    """Return the driver of `method`, and the options to call it with.

    Parameters
    ----------
    family : str
        Name of the public function, for messages.
    methods : mapping of str to Method
        The family's methods.
    method : object
        The given name of a method.
    options : mapping
        The given options. NumPy numbers become Python numbers.

    Raises
    ------
    UnknownMethod
        If there is no such method.
    InvalidArgument
        If an option that must be True or False has another value.
    TypeError
        If the method does not take an option.
    """
    driver = _driver(known_method(family, methods, method))
    known = options_of(driver)
    for name in options:
        if name not in known:
            message = f"{family} method {method!r} takes no option {name!r}; it takes {list(known)}"
            raise TypeError(message + (_taker(methods, name) if method == AUTO else ""))
    values = options_as_python(options)
    for name, value in values.items():
        if known[name].annotation in ("bool", bool):
            check_flag(name, value)
    return driver, values


def takes_fields_of(record: type) -> Callable[[Driver], Driver]:
    """Declare that the ``**options`` of a driver are the fields of the dataclass `record`.

    The driver's signature then names them, before its own options. The docstring of `record`
    describes them.
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
        declared: Any = driver
        declared.__signature__ = signature.replace(parameters=[*own[:at], *named, *own[at:]])
        declared.__options_record__ = record
        return driver

    return declare


@cache
def options_of(driver: Driver) -> dict[str, inspect.Parameter]:
    """Return the options of a driver, by name: its keyword-only parameters."""
    parameters = inspect.signature(_driver(driver)).parameters
    return {name: p for name, p in parameters.items() if p.kind == p.KEYWORD_ONLY}


class Option(NamedTuple):
    """One option of a method.

    Attributes
    ----------
    name : str
        Its name.
    kind : str
        Its type, from the docstring or else from the annotation.
    default : object
        Its default value.
    text : str
        Its meaning; options with a common entry have the same text.
    """

    name: str
    kind: str
    default: Any
    text: str


def described_options(driver: Driver) -> list[Option]:
    """Return the options of a driver in the order of its signature.

    Types and texts come from its docstring. Under ``python -OO``, types come from annotations and
    texts are empty.
    """
    texts = _entries(driver, "Parameters")
    for record in reversed(inspect.getmro(getattr(driver, "__options_record__", object))):
        texts |= _entries(record, "Attributes")
    options = []
    for name, parameter in options_of(driver).items():
        kind, text = texts.get(name, ("", ""))
        annotation = inspect.formatannotation(parameter.annotation).strip("'")
        kind = kind.removesuffix(", optional") or annotation
        options.append(Option(name, kind, parameter.default, text))
    return options


def _entries(thing: Any, head: str) -> dict[str, tuple[str, str]]:
    """Return type and text of each name in the section `head` of a NumPy docstring."""
    lines = (inspect.getdoc(thing) or "").splitlines()
    entries: dict[str, tuple[str, str]] = {}
    if head not in lines:
        return entries
    names: list[str] = []
    after_blank = False
    for line in lines[lines.index(head) + 2 :]:
        if line.startswith(" "):
            for name in names:
                kind, text = entries[name]
                entries[name] = kind, f"{text} {line.strip()}".strip()
        elif line and after_blank:
            break
        elif line:
            start, _, kind = line.partition(" : ")
            names = start.split(", ")
            entries |= dict.fromkeys(names, (kind, ""))
        after_blank = not line
    return entries


def help_text(docstring: str | None, methods: Mapping[str, Method]) -> str | None:
    """Return the docstring of a family's function with its methods and their options added.

    The added sections are NumPy docstring sections, so that Sphinx can read them.
    """
    if docstring is None:
        return None
    options_by_name = {name: described_options(method.driver) for name, method in methods.items()}
    lines = [inspect.cleandoc(docstring).rstrip(), "", "Notes", "-----"]
    lines += ["The methods, and their options with default values:", ""]
    for name, method in methods.items():
        work = f" Work {method.work.replace(' ', HELD)}." if method.work else ""
        paper = f" [{method.paper}]" if method.paper else ""
        takes = defaults_of(method.driver)
        lines += [name, *_indented(f"{method.idea}{paper}.{work} Options: {takes}.")]
    lines += ["", "Other Parameters", "----------------"]
    for option, names in _together(options_by_name).items():
        of = "every method" if len(names) == len(methods) else ", ".join(names)
        lines += [f"{option.name} : {option.kind}", *_indented(f"{option.text} Of {of}.")]
    return "\n".join(lines) + "\n"


def defaults_of(driver: Driver) -> str:
    """Return the options of a driver with their defaults, as a table prints them."""
    return ", ".join(f"{name}={p.default!r}" for name, p in options_of(driver).items())


def _together(options_by_name: Mapping[str, list[Option]]) -> dict[Option, list[str]]:
    """Return every option once, ignoring defaults, with the names of the methods that have it.

    Options with the same name are adjacent.
    """
    takers: dict[Option, list[str]] = {}
    for name, options in options_by_name.items():
        for option in options:
            takers.setdefault(option._replace(default=None), []).append(name)
    order = list(dict.fromkeys(option.name for option in takers))
    return {o: takers[o] for o in sorted(takers, key=lambda o: order.index(o.name))}


def _indented(text: str) -> list[str]:
    four = " " * 4
    lines = textwrap.wrap(
        text, WIDTH, initial_indent=four, subsequent_indent=four, break_on_hyphens=False
    )
    return [line.replace(HELD, " ") for line in lines]
