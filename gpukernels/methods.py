"""The front door of a family of methods: one lookup, one set of checks, one set of messages.

A family is a dict ``METHODS``, from a name to a *driver*, and a small public function that takes a
method's name and options, asks :func:`driver_of` for the driver, and calls it. A driver takes its
options by keyword, each with a default, and checks their values itself: it alone knows the range.

Tables and help of a family are made of its drivers' files, so that nothing is written down twice: a
file opens with the idea as its first line, cites the paper by its key in brackets and says
"Work O(...)"; the driver's docstring describes its options.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, NamedTuple

from gpukernels.checks import check_flag, options_as_python
from gpukernels.errors import UnknownMethod

Driver = Callable[..., Any]

#: A key of book/references.bib, and the first bound on work, of one or two pairs of parentheses.
KEY = re.compile(r"\[([a-z]+(?:19|20)\d\d[a-z0-9]+)\]")
WORK = re.compile(r"\bWork (O\((?:[^()]|\([^()]*\))*\))")
#: A line of a docstring's section: one name or several, and their type where it is told.
ENTRY = re.compile(r"^(\**\w+(?:, \w+)*)(?: : (.+))?$")

#: Characters of a line of help; a space at which no line is broken.
WIDTH, HELD = 96, "\0"


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


class Option(NamedTuple):
    """One option of a method.

    Attributes
    ----------
    name : str
        Its name.
    kind : str
        What it may be: as the docstring has it, else as annotated.
    default : object
        What it is unless given.
    text : str
        What it is for; an option that shares its entry with others shares the text.
    """

    name: str
    kind: str
    default: Any
    text: str


class Note(NamedTuple):
    """What there is to know about a method before it is called.

    Attributes
    ----------
    name, idea : str
        Its name, and the first line of its module.
    paper : str or None
        Key in the book's bibliography of the first work cited.
    work : str or None
        Operations of all threads together.
    options : tuple of Option
        In the order of the signature.
    """

    name: str
    idea: str
    paper: str | None
    work: str | None
    options: tuple[Option, ...]


def note(name: str, driver: Driver) -> Note:
    """Read what the driver's file says; under ``python -OO`` files say nothing."""
    file = sys.modules[driver.__module__].__doc__ or ""
    text = " ".join(file.split())
    idea = file.partition("\n")[0].rstrip(".")
    paper, work = KEY.search(text), WORK.search(text)
    told = _entries(driver, "Parameters")
    if record := getattr(driver, "__options_record__", None):
        told |= _entries(record, "Attributes")
    options = []
    for option, parameter in options_of(driver).items():
        kind, words = told.get(option, ("", ""))
        annotation = inspect.formatannotation(parameter.annotation).strip("'")
        kind = kind.removesuffix(", optional") or annotation
        options.append(Option(option, kind, parameter.default, words))
    return Note(name, idea, paper and paper[1], work and work[1], tuple(options))


def _entries(thing: Any, head: str) -> dict[str, tuple[str, str]]:
    """Return type and text of all that the section `head` of its docstring describes."""
    pattern = rf"^{head}\n-+\n(.*?)(?:\n\n\S|\Z)"
    section = re.search(pattern, inspect.getdoc(thing) or "", re.DOTALL | re.MULTILINE)
    found: dict[str, tuple[str, str]] = {}
    names: list[str] = []
    for line in section[1].splitlines() if section else ():
        entry = ENTRY.match(line)
        if entry:
            names = entry[1].split(", ")
            found |= dict.fromkeys(names, (entry[2] or "", ""))
        else:
            for name in names:
                kind, text = found[name]
                found[name] = kind, f"{text} {line.strip()}".strip()
    return found


def help_text(docstring: str | None, methods: Mapping[str, Driver]) -> str | None:
    """Return the docstring of a family's function with its methods and their options added.

    They come in sections that NumPy's docstrings have, so that Sphinx reads them too.
    """
    if docstring is None:
        return None
    notes = [note(name, driver) for name, driver in methods.items()]
    lines = [inspect.cleandoc(docstring).rstrip(), "", "Notes", "-----"]
    lines += ["The methods, and their options with what they are unless given:", ""]
    for told in notes:
        work = f" Work {told.work.replace(' ', HELD)}." if told.work else ""
        paper = f" [{told.paper}]" if told.paper else ""
        takes = ", ".join(f"{option.name}={option.default!r}" for option in told.options)
        lines += [told.name, *_indented(f"{told.idea}{paper}.{work} Options: {takes}.")]
    lines += ["", "Other Parameters", "----------------"]
    for option, names in _together(notes).items():
        of = "every method" if len(names) == len(notes) else ", ".join(names)
        lines += [f"{option.name} : {option.kind}", *_indented(f"{option.text} Of {of}.")]
    return "\n".join(lines) + "\n"


def _together(notes: list[Note]) -> dict[Option, list[str]]:
    """Return every option once, whatever its default, with the names of the methods that have it.

    Options of one name come one after another.
    """
    found: dict[Option, list[str]] = {}
    for told in notes:
        for option in told.options:
            found.setdefault(option._replace(default=None), []).append(told.name)
    order = list(dict.fromkeys(option.name for option in found))
    return {o: found[o] for o in sorted(found, key=lambda o: order.index(o.name))}


def _indented(text: str) -> list[str]:
    four = " " * 4
    lines = textwrap.wrap(
        text, WIDTH, initial_indent=four, subsequent_indent=four, break_on_hyphens=False
    )
    return [line.replace(HELD, " ") for line in lines]
