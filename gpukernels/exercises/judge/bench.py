"""Where an answer is tried: the SIMT machine, with a limit for loops, and what came of a try."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass

import numpy as np

from gpukernels.device import SimtDevice
from gpukernels.errors import EndlessLoop, KernelError, ReadOnlyArray
from gpukernels.simt import python_function
from gpukernels.trace import WARP_SIZE

from .case import Case, HostGaveUp, Results, Wrong

#: Steps that the loops of an answer may take under lockstep, on any input.
LOCKSTEP_STEPS = 100_000
#: Times as many as the solution's they may be, where that is more.
TIMES_THE_SOLUTION = 20
#: Steps that they may take under another schedule, on any input.
OTHER_STEPS = 5_000
#: The limit is at least this many times the steps under lockstep, with each warp counted alone:
#: messages between warps may make a search for a free slot a little longer.
TIMES_LOCKSTEP = 3
#: Steps after which a loop that is known to be endless is stopped, when races are looked for too.
ENOUGH_OF_IT = 1_000


class Bench(SimtDevice):
    """The SIMT machine, which notes what a kernel was given and keeps launches that fail.

    If `writes` is given, every array of another parameter is read-only.
    """

    def __init__(
        self,
        schedule: str = "lockstep",
        seed: int = 0,
        *,
        writes: frozenset[str] | None = None,
        **options,
    ):
        super().__init__(schedule, seed, **options)
        self.writes = writes
        #: Arguments of the first launch by parameter, arrays as they were before it.
        self.inputs: dict[str, object] = {}
        #: Steps of loops in each launch, times its warps: an upper bound for warps that run one by
        #: one, computed from steps in which they run together.
        self.steps_by_warp = 0

    def launch(self, kernel, blocks, threads, *args, **options):
        """Launch `kernel` as :class:`SimtDevice` does."""
        named = tuple(zip(python_function(kernel).__code__.co_varnames, args, strict=False))
        if not self.inputs:
            self.inputs = {name: a.copy() if isinstance(a, np.ndarray) else a for name, a in named}
        if self.writes is not None:
            args = tuple(a if name in self.writes else _read_only(a) for name, a in named)
        before = self.pace.taken
        try:
            super().launch(kernel, blocks, threads, *args, **options)
        except Exception:
            if self.recorder is not None:
                self.recorder.keep_failed()
            raise
        warps = np.prod(blocks) * -(-int(np.prod(threads)) // WARP_SIZE)
        self.steps_by_warp += int(warps) * (self.pace.taken - before)


def _read_only(argument: object) -> object:
    """Return a view of an array through which nothing can be stored, and others as they are."""
    if not isinstance(argument, np.ndarray):
        return argument
    view = argument.view()
    view.flags.writeable = False
    return view


@dataclass
class Attempt:
    """The run of one kernel on one input."""

    case: Case
    device: Bench
    #: The results of the kernel; empty if it did not come to an end.
    results: Results
    #: The error that stopped it.
    error: Exception | None
    #: The fault in the results, or the way in which the kernel ended.
    wrong: Wrong | None


def attempt(
    kernel,
    case: Case,
    schedule=("lockstep", 0),
    check: bool = True,
    prints: bool = False,
    **options,
) -> Attempt:
    """Run `kernel` on `case` and judge it; no error escapes.

    If `check`, races and unwritten reads are errors. A kernel's prints are seen only if `prints`,
    since a check runs it dozens of times. Further options are those of the device.
    """
    device = Bench(*schedule, writes=case.writes, check=check, **options)
    try:
        with contextlib.nullcontext() if prints else contextlib.redirect_stdout(_Silence()):
            results = case.run(kernel, device)
    except Exception as error:
        return Attempt(case, device, {}, error, Wrong(_reason(error, device)))
    return Attempt(case, device, results, None, judge(case, results))


def _reason(error: Exception, device: Bench) -> str:
    """Return a sentence about the error that has stopped a kernel."""
    if isinstance(error, ReadOnlyArray) and error.array in device.inputs:
        place = f"`{error.array}[{error.element}]` is overwritten"
        return f"{place}, and `{error.array}` is an input, which the kernel may only read"
    if isinstance(error, KernelError):
        return error.reason
    return str(error) if isinstance(error, HostGaveUp) else f"it cannot be run: {in_short(error)}"


class _Silence(io.TextIOBase):
    """A file that keeps nothing, and says so: a loop may print without an end."""

    silent = True

    def write(self, text: str) -> int:
        return len(text)


def judge(case: Case, results: Results) -> Wrong | None:
    """Return the fault in `results`, if any; results that the judge cannot read are a fault."""
    try:
        return case.judge(results)
    except Exception as error:
        return Wrong(f"what the kernel has left makes no sense to the judge: {in_short(error)}")


def attempt_within(kernel, case: Case, solution, **options) -> Attempt:
    """Run `kernel` under lockstep, with a limit of steps that follows from the solution's.

    The steps are counted first, without the checks, which take most of the time of a loop that does
    not end. The solution runs only if there are more of them than any answer may take.
    """
    counted = attempt(kernel, case, check=False, loop_steps=LOCKSTEP_STEPS)
    if not beyond_limit(counted):
        return attempt(kernel, case, **options)
    taken = 0
    if solution is not None:
        taken = attempt(solution, case, check=False).device.pace.taken
        if TIMES_THE_SOLUTION * taken > LOCKSTEP_STEPS:
            limit = TIMES_THE_SOLUTION * taken
            counted = attempt(kernel, case, check=False, loop_steps=limit)
            if not beyond_limit(counted):
                return attempt(kernel, case, **options)
    tried = attempt(kernel, case, loop_steps=ENOUGH_OF_IT, **options)
    if beyond_limit(tried):
        limit = counted.device.pace.limit
        steps = f"all loops together have taken {limit:,} steps, the solution's {taken:,}"
        cause = "it is endless, or too few threads share the work"
        tried.error = counted.error
        tried.wrong = Wrong(f"this loop has not ended: {steps}; {cause}")
    return tried


def beyond_limit(tried: Attempt) -> bool:
    """Say whether the limit of steps has ended an attempt."""
    pace = tried.device.pace
    return isinstance(tried.error, EndlessLoop) and pace.taken > pace.limit


def steps_under_other_schedules(lockstep: Attempt) -> int:
    """Return the steps that an answer may take where its warps do not go together."""
    return max(OTHER_STEPS, TIMES_LOCKSTEP * lockstep.device.steps_by_warp)


def in_short(error: BaseException) -> str:
    """Return the kind of an error and the first line of its message."""
    try:
        lines = str(error).strip().splitlines()
    except Exception:
        lines = []
    first = f": {lines[0]}" if lines else ""
    return cut(f"{type(error).__name__}{first}")


def cut(text: str, most: int = 200) -> str:
    """Return `text`, or its beginning where it is long."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def shown(value: object, most: int = 80) -> str:
    """Return how `value` prints, in short; some values do not."""
    try:
        return cut(repr(value), most)
    except Exception:
        return f"something of type {type(value).__name__} that does not print"
