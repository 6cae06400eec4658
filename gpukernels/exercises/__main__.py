"""Grade submitted notebooks: `python -m gpukernels.exercises judge FOLDER --csv FILE`.

This package and the book's pages hold all solutions. Where points matter, grade the explanations
that a sheet asks for as well.
"""

from __future__ import annotations

import argparse
import secrets
import sys
from pathlib import Path

from gpukernels.errors import InvalidArgument

from .grading import judging


def main(arguments: list[str] | None = None) -> int:
    """Judge the notebooks of a folder, and write the table."""
    parser = argparse.ArgumentParser(prog="python -m gpukernels.exercises", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    judge = verbs.add_parser("judge", help="judge the notebooks that students have submitted")
    judge.add_argument("folder", type=Path, help="the notebooks, made by `make sheet`")
    judge.add_argument("--csv", type=Path, required=True, help="the table to write")
    judge.add_argument(
        "--sheet", type=Path, help="the notebook handed out; by default, tasks of most notebooks"
    )
    judge.add_argument("--seed", type=int, help="of the hidden inputs; by default a new one")
    limits = judging.Limits()
    judge.add_argument("--seconds", type=int, default=limits.seconds, help="of one answer")
    judge.add_argument("--memory", type=int, default=limits.memory >> 20, help="MiB of one answer")
    given = parser.parse_args(arguments)
    seed = secrets.randbelow(1_000_000) if given.seed is None else given.seed
    try:
        if not given.csv.parent.is_dir():
            raise InvalidArgument("--csv", str(given.csv), "a file in a folder that exists")
        limits = judging.Limits(given.seconds, given.memory << 20)
        found = judging.grades(given.folder, seed, limits, given.sheet)
    except InvalidArgument as error:
        print(error, file=sys.stderr)
        return 2
    judging.write(given.csv, found)
    print(f"{len(found)} notebooks judged with seed {seed}: {given.csv}")
    for row in found:
        print(f"{row.email}: {row.points} of {row.maximum}")
    if given.sheet is None and len(found) < 3:
        print("Tasks and points are as these few notebooks have them: --sheet compares them.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
