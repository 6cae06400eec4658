"""The front door of a family of methods: one lookup, one set of checks, one set of messages.

A family is a dict ``METHODS``, from a name to a :class:`Method`, and a small public function that
takes a method's name and options, asks :func:`driver_of` for the method's *driver*, and calls it. A
driver takes its options by keyword, each with a default, and checks their values itself: it alone
knows the range.

Tables and help of a family are made of these methods. Only the texts of options come from
docstrings, those of the drivers, which readers of a driver need as well.
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

#: The method of a call that names none: the fastest that is known for its graph.
AUTO = "auto"
#: Characters of a line of help; a space at which no line is broken.
WIDTH, HELD = 96, "\0"


@dataclass(frozen=True)
class Method:
    """One method of a family: its driver, and the facts that a table shows.

    Attributes
    ----------
    driver : callable
        The function that runs it; a method that is called calls its driver.
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
    """The method that ``"auto"`` takes: its name, or None for the CPU; where, why, and how."""

    method: str | None
    device: Any
    why: str
    options: Mapping[str, Any] = MappingProxyType({})


def _driver(method: Driver) -> Driver:
    """Return a method's driver; a driver is its own."""
    return method.driver if isinstance(method, Method) else method


def known_method(family: str, methods: Mapping[str, Known], method: object) -> Known:
    """Return the method of that name.

    Raises
    ------
    UnknownMethod
        If `methods` has none; the message lists all.
    """
    if not isinstance(method, str) or method not in methods:
        raise UnknownMethod(family, method, methods)
    return methods[method]


def _taker(methods: Mapping[str, Driver], option: str) -> str:
    """Return the end of an error: the first method that takes an option, if one does."""
    names = [name for name, driver in methods.items() if option in options_of(driver)]
    return f"; name a method that takes it, such as {names[0]!r}" if names else ""


def driver_of(
    family: str, methods: Mapping[str, Driver], method: object, options: Mapping[str, Any]
) -> tuple[Driver, dict[str, Any]]:
    """Return the driver of that name, and the options to call it with.

    Parameters
    ----------
    family : str
        Name of the public function, for messages.
    methods : mapping of str to Method
        The family's methods.
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
    driver = _driver(known_method(family, methods, method))
    known = options_of(driver)
    for name in options:
        if name not in known:
            told = f"{family} method {method!r} takes no option {name!r}; it takes {list(known)}"
            raise TypeError(told + (_taker(methods, name) if method == AUTO else ""))
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
    parameters = inspect.signature(_driver(driver)).parameters
    return {name: p for name, p in parameters.items() if p.kind == p.KEYWORD_ONLY}


class Option(NamedTuple):
    """One option of a method.

    Attributes
    ----------
    name : str
        Its name.
    kind : str
        Its type: as the docstring has it, else as annotated.
    default : object
        Its value unless given.
    text : str
        Its meaning; an option that shares its entry with others shares the text.
    """

    name: str
    kind: str
    default: Any
    text: str


def described_options(driver: Driver) -> list[Option]:
    """Return the options of a driver in the order of its signature.

    Types and texts come from its docstring; under ``python -OO`` there are none.
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
    """Return type and text of each name that the section `head` of a NumPy docstring describes."""
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

    They come in sections that NumPy's docstrings have, so that Sphinx reads them too.
    """
    if docstring is None:
        return None
    options_by_name = {name: described_options(method.driver) for name, method in methods.items()}
    lines = [inspect.cleandoc(docstring).rstrip(), "", "Notes", "-----"]
    lines += ["The methods, and their options with what they are unless given:", ""]
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
    """Return every option once, whatever its default, with the names of the methods that have it.

    Options of one name come one after another.
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
