"""What a program's launches have been found to do wrong, as a report."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterable
from types import TracebackType

from gpukernels.simt.errors import KernelError
from gpukernels.simt.linting import Report, findings_of

PACKAGE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")


def report(name: str, schedule: str, errors: Iterable[KernelError]) -> Report:
    """Return the report on a program, each finding once."""
    return Report(name, (schedule,), findings_of(errors, schedule))


def call_of(trace: TracebackType | None) -> str:
    """Return the line of the program, outside of this package, from which a launch came."""
    own = [frame for frame in traceback.extract_tb(trace) if not frame.filename.startswith(PACKAGE)]
    return f"{own[-1].filename}, line {own[-1].lineno}: {own[-1].line}" if own else ""
