"""The names of figures in addresses, and a check whether a figure has the state of an address.

``#fig-frontier?run=fine&step=8`` names a figure, one of its runs and a step; ``js/address.js`` and
``js/words.js`` define this form. Pages use it to scroll and play; a build checks links here.
"""

from __future__ import annotations

import json
import re
from typing import Any

from gpukernels.errors import InvalidArgument
from gpukernels.views.engine import function_of
from gpukernels.views.script import address_script

#: Pattern of the address of a figure.
ADDRESS = re.compile(r"#(?P<figure>fig-[a-z0-9-]+)(?:\?[^\s#]*)?")
NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def check_name(name: object) -> None:
    """Refuse a name that no address can hold; the empty one leaves the name to the title."""
    if not isinstance(name, str) or (name and not NAME.fullmatch(name)):
        raise InvalidArgument("name", name, "lowercase letters, digits and single hyphens")


def check_address(argument: str, address: object) -> None:
    """Refuse a value that is not the address of a figure, on this page or another."""
    if not isinstance(address, str) or not ADDRESS.fullmatch(address):
        raise InvalidArgument(argument, address, "an address as '#fig-name?run=fine&step=8'")


def slug(text: str) -> str:
    """Return the lowercase letters and digits of ASCII in `text`, with hyphens between words."""
    return re.sub("[^a-z0-9]+", "-", text.lower()).strip("-")


def figure_id(record: dict[str, Any]) -> str:
    """Return the id of a figure in a page, from its record."""
    return f"fig-{slug(record.get('name') or record['title']) or record['view']}"


def address_problem(record: dict[str, Any], address: str) -> str:
    """Return why the figure of this record cannot show the state of `address`, or an empty text.

    The figure's own script is run, because only it knows the lists that are not in the record.

    Raises
    ------
    RuntimeError
        If quickjs-ng, the engine that runs the script, is missing.
    """
    ask = function_of(address_script(), "problem")
    if ask is None:
        raise RuntimeError("quickjs-ng is missing: install what the extra `book` names")
    return ask(json.dumps(record), address)
