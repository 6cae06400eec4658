"""Grade submitted notebooks: `python -m gpukernels.exercises judge FOLDER --csv FILE`.

`python -m gpukernels.exercises similar FOLDER` lists kernels that are like another student's, or
like the solution. It is a verb of its own because the table of grades goes to the students.

This package and the book's pages hold all solutions. Where points matter, grade the explanations
that a sheet asks for as well.
"""

from __future__ import annotations

import argparse
import secrets
import sys
from pathlib import Path

from gpukernels.errors import InvalidArgument, MissingTool

from .grading import judging
from .grading.folder import read_all
from .grading.similar import similar


def main(arguments: list[str] | None = None) -> int:
    """Judge or compare the notebooks of a folder."""
    parser = argparse.ArgumentParser(
        prog="python -m gpukernels.exercises",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(required=True)
    judge = verbs.add_parser("judge", help="judge the notebooks that students have submitted")
    compare = verbs.add_parser("similar", help="list kernels that are like each other")
    for verb, action in ((judge, _judge), (compare, _compare)):
        verb.set_defaults(action=action)
        verb.add_argument("folder", type=Path, help="the notebooks, made by `make sheet`")
        verb.add_argument(
            "--sheet", type=Path, help="the notebook handed out; by default, tasks of most others"
        )
    judge.add_argument("--csv", type=Path, required=True, help="the table to write")
    judge.add_argument("--seed", type=int, help="of the hidden inputs; by default a new one")
    limits = judging.Limits()
    judge.add_argument("--seconds", type=int, default=limits.seconds, help="of one answer")
    judge.add_argument("--memory", type=int, default=limits.memory >> 20, help="MiB of one answer")
    options = parser.parse_args(arguments)
    try:
        options.action(options)
    except (InvalidArgument, MissingTool) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _judge(arguments: argparse.Namespace) -> None:
    if not arguments.csv.parent.is_dir():
        raise InvalidArgument("--csv", str(arguments.csv), "a file in a folder that exists")
    seed = secrets.randbelow(1_000_000) if arguments.seed is None else arguments.seed
    limits = judging.Limits(arguments.seconds, arguments.memory << 20)
    grades = judging.grades(read_all(arguments.folder, arguments.sheet), seed, limits)
    judging.write(arguments.csv, grades)
    print(f"{len(grades)} notebooks judged with seed {seed}: {arguments.csv}")
    for row in grades:
        print(f"{row.email}: {row.points} of {row.maximum}")
    if arguments.sheet is None and len(grades) < 3:
        print("Tasks and points are as these few notebooks have them: --sheet compares them.")


def _compare(arguments: argparse.Namespace) -> None:
    submissions = read_all(arguments.folder, arguments.sheet)
    pairs = similar(submissions)
    print(f"{len(submissions)} notebooks compared, {len(pairs)} pairs of similar answers")
    for pair in pairs:
        print(f"{pair.task}: {pair.one} and {pair.other} share {pair.share:.0%}")


if __name__ == "__main__":
    sys.exit(main())
