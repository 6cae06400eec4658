"""A small file that records tried and solved exercises and outlives the notebook.

It is JSON, ``{"simt-1": "solved", "simt-2": "tried"}``, and under "records" it has the record of
the last check of each exercise. It lies in the folder where programs keep their state:
``~/.local/state/gpukernels/exercises.json`` (``XDG_STATE_HOME`` is heeded), or below
``%LOCALAPPDATA%`` on Windows. ``GPUKERNELS_PROGRESS`` names another file, or is ``off``. Only
notebooks write it, and none that pytest runs, so that outputs are the same wherever a book is made.
A file that cannot be read is an empty one, and where nothing can be written nothing is kept: no
exercise fails for that.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

VARIABLE = "GPUKERNELS_PROGRESS"
TRIED, SOLVED, RECORDS = "tried", "solved", "records"
#: The record of the last check in this process, by the id of an exercise.
_of_this_process: dict[str, dict[str, Any]] = {}


def place() -> Path | None:
    """Return the file, there or not yet; None where nothing is kept."""
    chosen = os.environ.get(VARIABLE, "").strip()
    if chosen:
        return None if chosen.lower() == "off" else _home(chosen)
    # In the environment of whatever pytest starts, the kernels of notebooks too.
    if "PYTEST_VERSION" in os.environ or "PYTEST_CURRENT_TEST" in os.environ:
        return None
    name = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_STATE_HOME"
    state = _home(os.environ.get(name) or "~/.local/state")
    return state and state / "gpukernels" / "exercises.json"


def _home(path: str) -> Path | None:
    try:
        return Path(path).expanduser()
    except RuntimeError:  # the user has no home folder
        return None


def states() -> dict[str, str]:
    """Return "tried" or "solved" by the id of an exercise; nothing for the rest."""
    return {id: state for id, state in _held().items() if state in (TRIED, SOLVED)}


def record(id: str) -> dict[str, Any] | None:
    """Return the record of the last check of an exercise, or None.

    If no file is kept, it is the record of this process.
    """
    return _of_this_process.get(id) or _records().get(id)


def note(id: str, state: str, record: dict[str, Any]) -> None:
    """Record that an exercise is tried or solved, and its record; a solved one stays solved."""
    _of_this_process[id] = record
    file = place()
    if file is None or not (os.environ.get(VARIABLE, "").strip() or _in_a_notebook()):
        return
    new_states, records = states(), _records()
    if new_states.get(id) != SOLVED:
        new_states[id] = state
    with contextlib.suppress(OSError):
        _write(file, new_states, {**records, id: record})


def move_to(file: Path) -> None:
    """Keep progress in another file from now on, together with all that the two files hold.

    An exercise is solved if one of the files says so. The later of two records stays.

    Raises
    ------
    OSError
        If the file cannot be written; progress stays where it is then.
    """
    own_states, own_records = states(), {**_records(), **_of_this_process}
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = str(file)
    its_states, its_records = states(), _records()
    solved = {id: s for id, s in own_states.items() if s == SOLVED or id not in its_states}
    newer = {
        id: record
        for id, record in own_records.items()
        if id not in its_records or _time(record) >= _time(its_records[id])
    }
    try:
        _write(file, its_states | solved, its_records | newer)
    except OSError:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before
        raise
    _of_this_process.clear()


def _time(record: dict[str, Any]) -> str:
    """Return when an answer was checked; all records have one form of time, which sorts as text."""
    return str(record.get("time", ""))


def _held() -> dict[str, Any]:
    """Return the contents of the file; nothing if it cannot be read."""
    file = place()
    if file is None:
        return {}
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _records() -> dict[str, dict[str, Any]]:
    records = _held().get(RECORDS)
    if not isinstance(records, dict):
        return {}
    return {id: item for id, item in records.items() if _is_record(item)}


def _is_record(content: object) -> bool:
    return isinstance(content, dict) and isinstance(content.get("tries"), int)


def _write(file: Path, new_states: dict[str, str], records: dict[str, dict[str, Any]]) -> None:
    """Replace a file as a whole, so that no other notebook ever reads half of it."""
    text = json.dumps({**new_states, RECORDS: records}, indent=1) + "\n"
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f"{file.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as part:
            part.write(text)
        os.replace(name, file)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _in_a_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")
