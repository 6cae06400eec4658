"""A real kernel whose cells are run as a reader's front end runs them, or as a runner does."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from jupyter_client.manager import start_new_kernel

ROOT = Path(__file__).parents[1]


@dataclass
class Said:
    """What one cell printed, displayed and raised."""

    stdout: str = ""
    stderr: str = ""
    error: str = ""
    data: list[dict[str, str]] = field(default_factory=list)


class LiveNotebook:
    """Cells run one after the other in one kernel."""

    def __init__(self, client):
        self._client = client

    def run(self, cell: str, *, reader: bool = True) -> Said:
        """Run a cell; a front end with a reader lets it ask for input, a runner does not."""
        messages = Said()

        def hear(message: dict) -> None:
            kind, content = message["msg_type"], message["content"]
            if kind == "stream":
                setattr(
                    messages, content["name"], getattr(messages, content["name"]) + content["text"]
                )
            elif kind in ("display_data", "execute_result"):
                messages.data.append(content["data"])
            elif kind == "error":
                messages.error = f"{content['ename']}: {content['evalue']}"

        self._client.execute_interactive(
            cell, allow_stdin=reader, stop_on_error=False, timeout=120, output_hook=hear
        )
        return messages


@contextlib.contextmanager
def live_notebook(**variables: str) -> Iterator[LiveNotebook]:
    """Start a kernel that imports this copy of the library, with these variables; end it."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    env = os.environ | {"PYTHONPATH": path, "GPUKERNELS_DEVICE": "simt"} | variables
    manager, client = start_new_kernel(kernel_name="python3", env=env)
    try:
        yield LiveNotebook(client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
