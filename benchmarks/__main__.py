"""Measure on the GPU of this computer, and compare with earlier measurements.

``python -m benchmarks bfs sssp`` measures two subjects, and ``all`` measures those of the book, the
cheap ones first. Each subject writes a file into ``data/benchmarks``, or into ``--folder``. With
``--quick``, sizes are small and time limits are short, for a result within a minute. These files go
to ``build/benchmarks``, so that they do not overwrite those of the book. ``--compare OLD`` then
lists the figures that changed by more than their spread. ``--compare OLD NEW`` does so for two
files, or two folders of files, without measuring.

The exit status is 0 if all went well and, with ``--compare``, nothing got worse; 1 if a subject
failed (the others are still measured); 2 for a wrong command, or if a GPU is needed and missing; 3
if a figure got worse by more than its spread.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import changes, record, steps
from benchmarks.subjects import SUBJECTS, Subject
from gpukernels.device import CudaDevice
from gpukernels.errors import InvalidArgument

FAILED, WRONG, WORSE = 1, 2, 3
#: The folder for files of quick runs.
QUICK_FOLDER = record.FOLDER.parents[1] / "build" / "benchmarks"

NO_GPU = """{names}: no GPU answers, and this subject measures one.
You need an NVIDIA GPU, its driver (`nvidia-smi` lists the GPU) and numba-cuda with the CUDA toolkit
(pip install "numba-cuda[cu13]"). For a free GPU for an hour, open colab.research.google.com and
choose "Runtime", "Change runtime type", "T4 GPU". Without a GPU: python -m benchmarks {others}."""

#: Options that some subjects take: the type of a value, whether there are several, and the help.
OPTIONS: dict[str, tuple[type, bool, str]] = {
    "shrink": (int, False, "how many times to halve all sizes"),
    "repeat": (int, False, "number of runs, of which the median counts"),
    "roots": (int, False, "number of random roots of a search in addition to the first root"),
    "families": (str, True, "only these graphs"),
    "methods": (str, True, "only these methods"),
    "sizes": (int, True, "numbers of vertices"),
    "items": (int, False, "number of items of each workload"),
    "scale": (int, False, "logarithm to base 2 of the number of vertices"),
    "patience": (float, False, "seconds after which a search is not repeated"),
}


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    text = (__doc__ or "").split("\n\n")
    width = max(map(len, SUBJECTS))
    rows = [f"  {name:{width}}  {subject.about}" for name, subject in SUBJECTS.items()]
    rows.append(
        f"  {'all':{width}}  all but {', '.join(n for n, s in SUBJECTS.items() if s.alone)}"
    )
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="\n\n".join([*text[:2], "subjects:\n" + "\n".join(rows)]),
        epilog=text[2],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help="a subject to measure")
    parser.add_argument("--quick", action="store_true", help="small sizes, short time limits")
    parser.add_argument("--commit", help="the measured commit; by default the one that git names")
    parser.add_argument("--folder", type=Path, help="the folder for the files")
    parser.add_argument("--compare", nargs="+", type=Path, metavar=("OLD", "NEW"), help="see above")
    for name, (kind, several, words) in OPTIONS.items():
        takers = ", ".join(n for n, s in SUBJECTS.items() if name in s.options)
        some = {"nargs": "+"} if several else {}
        parser.add_argument(f"--{name}", type=kind, help=f"{words} ({takers})", **some)
    return parser


def chosen_subjects(names: Sequence[str]) -> dict[str, Subject]:
    """Return the subjects of some names, ``all`` among them, in the order in which they run."""
    for name in names:
        if name not in SUBJECTS and name != "all":
            raise InvalidArgument("SUBJECT", name, f"one of {', '.join(['all', *SUBJECTS])}")
    return {
        name: subject
        for name, subject in SUBJECTS.items()
        if name in names or ("all" in names and not subject.alone)
    }


def options_of(
    chosen: Mapping[str, Subject], given: Mapping[str, Any], quick: bool
) -> dict[str, dict[str, Any]]:
    """Return the options of each subject: those of a quick run, replaced by those `given`."""
    by_subject: dict[str, dict[str, Any]] = {
        name: dict(subject.quick) if quick else {} for name, subject in chosen.items()
    }
    for option, value in given.items():
        takers = {name: s for name, s in chosen.items() if option in s.options}
        if not takers:
            others = ", ".join(n for n, s in SUBJECTS.items() if option in s.options)
            raise InvalidArgument(f"--{option}", value, f"left out: it is an option of {others}")
        least = 0 if option in ("shrink", "patience") else 1
        for one in value if isinstance(value, list) else [value]:
            if not isinstance(one, str) and one < least:
                raise InvalidArgument(f"--{option}", one, f"{least} or more")
        for name, subject in takers.items():
            known = subject.choices.get(option)
            unknown = [one for one in value if one not in known] if known else []
            if unknown:
                raise InvalidArgument(f"--{option}", unknown[0], f"of {name}: {', '.join(known)}")
            by_subject[name][option] = value
    return by_subject


def measure(
    chosen: Mapping[str, Subject],
    device,
    commit: str,
    folder: Path,
    options: Mapping[str, Mapping[str, Any]],
) -> tuple[dict[str, Path], list[str]]:
    """Measure and write; return the files by subject, and the names of the failed subjects."""
    written, failed = {}, []
    for k, (name, subject) in enumerate(chosen.items()):
        of_all = f"[{k + 1}/{len(chosen)}] {name}"
        print(of_all, flush=True)
        begin = time.perf_counter()
        try:
            circumstances = record.environment(device if subject.gpu else None, commit)
            with steps.shown(name):
                more = options.get(name, {})
                written[name] = subject.write(device, circumstances, folder, **more)
        except Exception:
            traceback.print_exc()
            failed.append(name)
        done = "FAILED" if name in failed else written[name]
        print(f"{of_all}: {time.perf_counter() - begin:.1f} s, {done}", flush=True)
    return written, failed


def compared(old: Path, new: Path) -> bool:
    """Print the changes between two files or two folders; return whether a figure got worse."""
    pairs = [(old, new)]
    if old.is_dir():
        names = sorted(p.name for p in old.glob("*.json") if (new / p.name).exists())
        pairs = [(old / name, new / name) for name in names]
        if not pairs:
            raise InvalidArgument("--compare", str(old), f"files that {new} has too")
    read = [(f"{one} and now {other}", changes.read(one), other) for one, other in pairs]
    return print_changes(read)


def print_changes(pairs: Iterable[tuple[str, dict[str, Any], Path]]) -> bool:
    """Print the changes from each old content to a file; return whether a figure got worse."""
    worse = False
    for title, old, new in pairs:
        comparison = changes.compare(old, changes.read(new))
        print(f"{title}\n{comparison}", flush=True)
        worse |= comparison.worse
    return worse


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, and return the exit status."""
    parser = command_line()
    line = parser.parse_args(arguments)
    against = line.compare or []
    try:
        if len(against) > 2:
            allowed = "one file, or two; subjects come before --compare"
            raise InvalidArgument("--compare", " ".join(map(str, against)), allowed)
        if len(against) == 2:
            if line.subjects:
                allowed = "left out: two files are compared without measuring"
                raise InvalidArgument("SUBJECT", line.subjects[0], allowed)
            return WORSE * compared(*against)
        if not line.subjects:
            parser.error(f"name a subject: {', '.join(['all', *SUBJECTS])}")
        chosen = chosen_subjects(line.subjects)
        values = {name: getattr(line, name) for name in OPTIONS}
        values = {name: value for name, value in values.items() if value is not None}
        options = options_of(chosen, values, line.quick)
        old = _old_files(against[0], chosen) if against else {}
        commit = line.commit or record.current_commit()
    except (InvalidArgument, record.NoCommit) as wrong:
        hint = "; name it by --commit ID" if isinstance(wrong, record.NoCommit) else ""
        parser.error(f"{wrong}{hint}")
    device = None
    gpu = [name for name, subject in chosen.items() if subject.gpu]
    if gpu:
        try:
            device = CudaDevice()
        except RuntimeError:
            others = "|".join(name for name, subject in SUBJECTS.items() if not subject.gpu)
            print(NO_GPU.format(names=", ".join(gpu), others=others), file=sys.stderr)
            return WRONG
    folder = line.folder or (QUICK_FOLDER if line.quick else record.FOLDER)
    written, failed = measure(chosen, device, commit, folder, options)
    both = [(f"{n}, before and now", old[n], path) for n, path in written.items() if n in old]
    worse = print_changes(both)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
        return FAILED
    return WORSE * worse


def _old_files(old: Path, chosen: Mapping[str, Subject]) -> dict[str, dict[str, Any]]:
    """Return the old content for each subject, read before a new file may overwrite it."""
    if old.is_dir():
        files = {name: old / f"{name}.json" for name in chosen}
        return {name: changes.read(file) for name, file in files.items() if file.exists()}
    if len(chosen) > 1:
        raise InvalidArgument("--compare", str(old), "a folder, for several subjects")
    return {name: changes.read(old) for name in chosen}


if __name__ == "__main__":
    sys.exit(main())
