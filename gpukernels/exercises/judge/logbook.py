"""What a reader has tried and solved: a small file that outlives the notebook.

It is JSON, ``{"simt-1": "solved", "simt-2": "tried"}``, in the folder where programs keep their
state: ``~/.local/state/gpukernels/exercises.json`` (``XDG_STATE_HOME`` is heeded), or below
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

VARIABLE = "GPUKERNELS_PROGRESS"
TRIED, SOLVED = "tried", "solved"


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
    except RuntimeError:  # whoever runs this has no home
        return None


def states() -> dict[str, str]:
    """Return "tried" or "solved" by the id of an exercise; nothing for the rest."""
    file = place()
    if file is None:
        return {}
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {id: state for id, state in found.items() if state in (TRIED, SOLVED)}


def note(id: str, state: str) -> None:
    """Keep that an exercise is tried or solved; what is solved stays so."""
    file = place()
    if file is None or not (os.environ.get(VARIABLE, "").strip() or _in_a_notebook()):
        return
    kept = states()
    if kept.get(id) in (SOLVED, state):
        return
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        _write(file, json.dumps({**kept, id: state}, indent=1) + "\n")


def _write(file: Path, text: str) -> None:
    """Replace a file as a whole, so that no other notebook ever reads half of it."""
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
