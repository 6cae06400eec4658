"""``python -m gpukernels.simt script.py``: run a program for ``numba.cuda`` without a GPU."""

from __future__ import annotations

import argparse
import os
import runpy
import sys
from collections.abc import Sequence

from gpukernels.simt.errors import KernelError
from gpukernels.simt.linting import is_finding
from gpukernels.simt.run.schedules import SCHEDULES
from gpukernels.simulator.findings import call_of, report
from gpukernels.simulator.redirect import as_cuda

#: Exit statuses: of a program with findings, and of one that the machine cannot run.
FOUND, REFUSED = 1, 2


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    result = argparse.ArgumentParser(
        prog="python -m gpukernels.simt",
        description="Run a Python program that uses numba.cuda on the SIMT machine, without a GPU, "
        "and report what its kernels do wrong.",
    )
    result.add_argument("--schedule", choices=sorted(SCHEDULES), default="lockstep")
    result.add_argument("--seed", type=int, default=0, help="of the random schedule")
    result.add_argument(
        "--no-check", action="store_true", help="look for no races and no reads of unwritten memory"
    )
    result.add_argument(
        "--wraparound",
        action="store_true",
        help="count computed negative indices from the end, as numba does; else they are errors",
    )
    result.add_argument("-m", dest="module", action="store_true", help="run a module, not a file")
    result.add_argument("program", help="the script, or the module after -m")
    result.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of the program")
    return result


def main(argv: Sequence[str] | None = None) -> int:
    """Run a program, print its findings, and return the exit status.

    Returns
    -------
    int
        The program's own status; 1 if there are findings, 2 if the machine cannot run a kernel.
    """
    options = parser().parse_args(argv)
    errors: list[KernelError] = []
    sys.argv = [options.program, *options.arguments]
    folder = "" if options.module else os.path.dirname(os.path.abspath(options.program))
    sys.path.insert(0, folder)
    run = runpy.run_module if options.module else runpy.run_path
    status = 0
    with as_cuda(
        options.schedule, options.seed, not options.no_check, options.wraparound, errors
    ) as session:
        try:
            run(options.program, run_name="__main__")
        except SystemExit as end:
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
        except KernelError as error:
            print(f"launched by {call_of(error.__traceback__)}", file=sys.stderr)
            if is_finding(error):
                errors.append(error)
            else:
                print(error, file=sys.stderr)
                status = REFUSED
    if errors or status != REFUSED:
        text = report(os.path.basename(options.program), options.schedule, errors)
        print(text, file=sys.stderr)
    launches = f"{session.launches} launch{'es' * (session.launches != 1)}"
    print(f"{launches} on the SIMT machine", file=sys.stderr)
    return status or (FOUND if errors else 0)
