"""The environment of a make that a test starts, whatever the make was told that runs the tests."""

from __future__ import annotations

import os

#: What a make hands on to all that it starts: its options, how deep it is, its variables.
HANDED_ON = ("MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "FAST")


def own_environment() -> dict[str, str]:
    """Return this process's environment without what a make has put there."""
    return {name: value for name, value in os.environ.items() if name not in HANDED_ON}
