"""Changes one operator, number or condition at a time, and names the changes that no test notices.

``make mutants`` runs it over kernels, metrics and file formats; ``FILES="gpukernels/trace"``
chooses files or folders, ``LINES=120-180`` lines of them, ``SAMPLE=50`` how many changes are drawn
and ``SEED=7`` which. Everything happens in a copy of what git knows. The changes are those of
`cosmic-ray`, which edits files in place: the machine and numba read a kernel's source, so tools
that choose among variants when a function is called would change nothing.

Tests try each change as `make test` does first, then, where it survives, as `make soak` does. What
is left is printed as a diff, and the exit status is 1. Not every survivor is a gap: some changes
make a search slower and not wrong, and some make no difference at all.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]

#: What is changed, and the tests that should notice.
TESTS = {
    "gpukernels/traversal": "tests/traversal",
    "gpukernels/frontiers": "tests/frontiers tests/traversal",
    "gpukernels/mapping": "tests/mapping",
    "gpukernels/primitives": "tests/primitives",
    "gpukernels/representations": "tests/representations",
    "gpukernels/trace": "tests/trace tests/mapping/test_counters.py",
    "gpukernels/graphs/formats": "tests/graphs tests/fuzz",
}


def tried_by(file: str) -> str:
    """Return the tests for a file, by path from the repository's root."""
    for start, tests in TESTS.items():
        if file == start or file.startswith(f"{start}/"):
            return tests
    raise SystemExit(f"{file}: allowed are files of {', '.join(TESTS)}")


def files_of(chosen: list[str], root: Path = ROOT) -> list[str]:
    """Return the Python files that paths from `root` name, each once."""
    files: dict[str, None] = {}
    for name in chosen:
        path = root / name
        if not path.exists():
            raise SystemExit(f"{name}: there is no such file")
        inside = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        files.update(dict.fromkeys(part.relative_to(root).as_posix() for part in inside))
    return list(files)


def lines_of(text: str) -> range:
    """Return the lines that ``120-180`` or ``120`` names."""
    first, _, last = text.partition("-")
    if not (first.isdigit() and (last or first).isdigit() and 0 < int(first) <= int(last or first)):
        raise argparse.ArgumentTypeError(f"{text!r}: must be a line, or a first and a last one")
    return range(int(first), int(last or first) + 1)


def hints_in(source: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return where type hints begin and end, as (line, column): no program takes notice of them."""
    nodes = ast.walk(ast.parse(source))
    hints = [getattr(node, name, None) for node in nodes for name in ("annotation", "returns")]
    return [
        ((hint.lineno, hint.col_offset), (hint.end_lineno, hint.end_col_offset))
        for hint in hints
        if isinstance(hint, ast.expr)
    ]


def is_worth_it(at: tuple[int, int], lines: range | None, hints) -> bool:
    """Return whether a change at a (line, column) is within `lines` and outside of `hints`."""
    return (lines is None or at[0] in lines) and not any(a <= at < b for a, b in hints)


def changes(files: list[str], lines: range | None) -> list:
    """Return cosmic-ray's changes of files in the current folder that are worth it."""
    from cosmic_ray.commands.init import _all_work_items

    all_changes = []
    for file in files:
        hints = hints_in(Path(file).read_text(encoding="utf-8"))
        for item in _all_work_items([Path(file)], {}):
            (mutation,) = item.mutations
            if is_worth_it(tuple(mutation.start_pos), lines, hints):
                all_changes.append(mutation)
    return all_changes


def copy_to(folder: str) -> None:
    """Copy what git knows of the repository, as it stands."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.split("\0")):
        source, target = ROOT / name, Path(folder, name)
        if source.is_file() or source.is_symlink():  # a link may lead to a folder
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target, follow_symlinks=False)


def survives(change, python: str, timeout: float) -> str:
    """Return the diff of a change that no test notices, in the current folder; else nothing."""
    from cosmic_ray.mutating import mutate_and_test

    tests = tried_by(change.module_path.as_posix())
    for effort in ("test", "soak"):
        os.environ["GPUKERNELS_EFFORT"] = effort
        command = f"{shlex.quote(python)} -m pytest -x -q -p no:cacheprovider {tests}"
        result = mutate_and_test([change], command, timeout)
        if result.worker_outcome != "normal" or result.is_killed:
            return ""
    return result.diff


def main(arguments: list[str] | None = None) -> None:
    """Draw changes, try them, and print those that survive."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", default=list(TESTS), help="files or folders to change")
    parser.add_argument("--lines", type=lines_of, help="change these lines alone, as 120-180")
    parser.add_argument("--sample", type=int, default=100, help="how many changes to draw")
    parser.add_argument("--seed", type=int, default=1, help="which changes to draw")
    parser.add_argument("--python", default=sys.executable, help="what runs the tests")
    parser.add_argument("--timeout", type=float, default=900, help="seconds that tests may take")
    options = parser.parse_args(arguments)
    files = files_of(options.files)
    for file in files:
        tried_by(file)
    # With a path for a name, an interpreter is meant that lies in this repository.
    python = os.path.abspath(options.python) if os.sep in options.python else options.python
    with tempfile.TemporaryDirectory() as folder:
        copy_to(folder)
        os.chdir(folder)
        os.environ["PYTHONPATH"] = folder
        every = changes(files, options.lines)
        drawn = random.Random(options.seed).sample(every, min(options.sample, len(every)))
        print(f"{len(every)} changes in {len(files)} files, of which {len(drawn)} are tried")
        survivors = 0
        for k, change in enumerate(drawn, 1):
            diff = survives(change, python, options.timeout)
            survivors += bool(diff)
            place = f"{change.module_path}:{change.start_pos[0]}"
            verdict = "SURVIVED" if diff else "noticed"
            print(f"[{k}/{len(drawn)}] {place} {change.operator_name}: {verdict}", flush=True)
            if diff:
                print(diff, flush=True)
        os.chdir(ROOT)
    print(f"{survivors} of {len(drawn)} changes survived")
    if survivors:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
