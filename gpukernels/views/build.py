"""Writes the views' script and style sheet where pages find them.

Run ``python -m gpukernels.views.build FOLDER/views.js``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from gpukernels.views.script import classic_script, stylesheet


def main(arguments: list[str]) -> int:
    """Write the script named on the command line, and ``views.css`` beside it."""
    if len(arguments) != 1 or not arguments[0].endswith(".js"):
        print("usage: python -m gpukernels.views.build FOLDER/views.js", file=sys.stderr)
        return 2
    script = Path(arguments[0])
    script.parent.mkdir(parents=True, exist_ok=True)
    for path, text in ((script, classic_script()), (script.with_name("views.css"), stylesheet())):
        # Left alone where nothing changed, so that a rebuild of the book stays incremental.
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
