"""What CONTRIBUTING.md tells a newcomer to run and to open is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
#: A newcomer puts a name of their own in the place of these.
OWN = re.compile(r"your_|CHAPTER|NAME|/bin/|\*|=")
PATH = re.compile(r"`((?:[\w.-]+/)+[\w.-]*|[\w-]+\.(?:md|yml|cff))`")


def test_every_file_that_it_names_is_there():
    named = {path for path in PATH.findall(TEXT) if not OWN.search(path)}
    assert len(named) > 10
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_a_command_of_make_is_a_target():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.search(r"^\.PHONY: FORCE (.*)$", makefile, re.MULTILINE)[1].split())
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", TEXT, re.MULTILINE))
    assert {"test", "gpu-test", "bench", "fuzz", "outputs"} <= named <= targets
