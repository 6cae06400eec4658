"""The page's runner of programs in a process of its own, on the SIMT machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LOOP = """
import json, sys
sys.path[:0] = sys.argv[1:]
import runner
for line in sys.stdin:
    request = json.loads(line)
    text = getattr(runner, request.pop("action"))(**request)
    print(text, file=sys.__stdout__, flush=True)
"""


class Interpreter:
    """A Python process that runs programs, or judges answers, one after the other."""

    def __init__(self, folder: Path):
        places = [str(ROOT), str(ROOT / "book" / "live")]
        self._process = subprocess.Popen(
            [sys.executable, "-c", LOOP, *places],
            cwd=folder,
            env=os.environ | {"GPUKERNELS_DEVICE": "simt"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(self, action: str, **request: str) -> dict[str, Any]:
        """Return the result of `run` with a text, or of `judge` with a name and a text."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"action": action, **request}) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
