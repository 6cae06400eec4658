"""Check a kernel as a linter does: run it under every schedule and list what is wrong, by line.

Errors are what makes a kernel wrong on some device or under some order of its threads. Warnings are
what makes it slow, or its results depend on that order; a good kernel may have some.
"""

from __future__ import annotations

import html
import itertools
import os
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpukernels.simt.errors import (
    BarrierDivergence,
    Call,
    EndlessLoop,
    KernelAssertion,
    KernelError,
    KernelException,
    OutOfBounds,
    RaceError,
    ReadOnlyArray,
    ShuffleError,
    TraceLimit,
    UninitializedRead,
    UnsetVariable,
)
from gpukernels.simt.machine import launch, named_values
from gpukernels.simt.run.memory import duplicate
from gpukernels.simt.run.recorder import Recorder
from gpukernels.simt.translate.source import python_function
from gpukernels.trace import ATOMIC, BRANCH, LOAD, STORE, Trace
from gpukernels.trace.costs import SECTOR_BYTES, Costs

ERROR, WARNING = "error", "warning"

#: Random schedules that are tried at the most.
MOST_SEEDS = 10_000

#: Global requests are reported from this many times the sectors that their bytes would fill.
UNCOALESCED = 2.0
#: Shared requests are reported from this many extra passes each, on average.
BANK_CONFLICTS = 1.0
#: Branches are reported if they split a warp this often, and more than once.
DIVERGENCE = 0.5
#: Atomics are reported if this part of their lanes waits for another lane of the warp.
CONTENTION = 0.5

#: Error -> name of the rule, and remedy; the remedy of a race depends on its threads.
_RULES = {
    RaceError: ("race", ""),
    OutOfBounds: (
        "out-of-bounds",
        "Guard the access with a test of the index, or make the array as long as the launch.",
    ),
    UninitializedRead: (
        "uninitialized-read",
        "Write every element that is read later, also those that belong to idle threads, and put a "
        "barrier between.",
    ),
    UnsetVariable: (
        "unset-variable",
        "Give the variable a value before the branch or loop that sets it, so that every thread "
        "has one.",
    ),
    ReadOnlyArray: ("read-only", "Store to an array of the kernel's own, or pass a copy."),
    BarrierDivergence: (
        "barrier-divergence",
        "Move the barrier out of the branch or loop, to where all threads of its scope arrive.",
    ),
    ShuffleError: (
        "warp-operation",
        "Have every lane that the mask names reach the call, or take the mask by ballot_sync "
        "before the branch.",
    ),
    EndlessLoop: (
        "endless-loop",
        "Make every thread that is in the loop change what its condition tests.",
    ),
    KernelAssertion: ("assertion", "Find why the condition fails for this thread."),
    KernelException: ("exception", "Find why this thread comes to the `raise`."),
    TraceLimit: (
        "trace-limit",
        "Check a smaller launch, or give gk.check a higher trace_limit; the rules on speed and "
        "order need a trace.",
    ),
}
_RACE_REMEDIES = {
    "warp": "Put cuda.syncwarp() between the two accesses; the lanes of a warp do not march in "
    "lockstep.",
    "block": "Put cuda.syncthreads() between the two accesses, where all threads of the block "
    "arrive.",
    "grid": "Make the update a cuda.atomic operation, or put a grid sync or a new launch between.",
}
_BESIDE_AN_ATOMIC = (
    "Make the other access a cuda.atomic operation too, or put a grid sync or a new launch "
    "between; if any value will do, declare the array by @benign_race and say why."
)
_FENCES = {
    "acquire": "Put cuda.threadfence() between the atomic that sees the flag and this access.",
    "release": "Put cuda.threadfence() between the other access and the atomic that sets the flag.",
}
_SCOPES = ("", *_RACE_REMEDIES)
_SAME_LINE = "Make the update a cuda.atomic operation, or let one thread alone make it."


@dataclass(frozen=True)
class Finding:
    """One thing that a check has found.

    Attributes
    ----------
    rule : str
        Name of the rule, such as ``"race"`` or ``"bank-conflicts"``.
    level : {"error", "warning"}
        Whether it makes the kernel wrong or only slow or dependent on the order of its threads.
    message : str
        Description of the finding.
    remedy : str
        What to do about it, in one sentence.
    function, file : str
        The kernel or device function, and the file that defines it.
    line : int
        Line number in that file.
    text : str
        The source line.
    block, thread : tuple of int or None
        (x, y, z) of a block and thread that were at fault, where that is known.
    schedules : tuple of str
        The schedules that showed it.
    other_line : int
        The second line of a race, else 0.
    array : str
        The array, or the unset variable, that it is about, where there is one.
    within : str
        The widest scope whose threads race: ``"warp"``, ``"block"`` or ``"grid"``; else empty.
    calls : tuple of Call
        In a device function, the calls that lead to it, the innermost first.
    """

    rule: str
    level: str
    message: str
    remedy: str
    function: str = ""
    file: str = ""
    line: int = 0
    text: str = ""
    block: tuple[int, int, int] | None = None
    thread: tuple[int, int, int] | None = None
    schedules: tuple[str, ...] = ()
    other_line: int = 0
    array: str = ""
    within: str = ""
    calls: tuple[Call, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.level}[{self.rule}] line {self.line}: {self.text.strip()}"]
        lines += textwrap.wrap(self.message, 92, initial_indent="    ", subsequent_indent="    ")
        for call in self.calls:
            place = f"line {call.line} of {call.function}, in {os.path.basename(call.file)}"
            others = f", and at {call.others} other lines" if call.others else ""
            lines.append(f"    called at {place}{others}: {call.text.strip()}")
        if self.thread is not None:
            lines.append(f"    seen by block {self.block}, thread {self.thread}")
        lines += textwrap.wrap(
            self.remedy, 92, initial_indent="    -> ", subsequent_indent="       "
        )
        return "\n".join(lines)


class Report:
    """The findings of :func:`check`; prints like a linter's output, and as a table in a notebook.

    Attributes
    ----------
    kernel : str
        Name of the kernel.
    schedules : tuple of str
        The schedules that it ran under.
    findings : tuple of Finding
        Errors first, each level in the order of lines.
    """

    def __init__(self, kernel: str, schedules: tuple[str, ...], findings):
        self.kernel = kernel
        self.schedules = schedules
        self.findings = tuple(
            sorted(findings, key=lambda f: (f.level != ERROR, f.file, f.line, f.rule, f.array))
        )

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that make the kernel wrong."""
        return tuple(f for f in self.findings if f.level == ERROR)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that make it slow, or its results depend on the order of its threads."""
        return tuple(f for f in self.findings if f.level == WARNING)

    @property
    def ok(self) -> bool:
        """Whether there is no error; warnings may be there."""
        return not self.errors

    @property
    def headline(self) -> str:
        """The report in one line."""
        counts = ", ".join(
            f"{len(findings)} {name}{'' if len(findings) == 1 else 's'}"
            for name, findings in ((ERROR, self.errors), (WARNING, self.warnings))
            if findings
        )
        ran = f"{len(self.schedules)} schedule{'' if len(self.schedules) == 1 else 's'}"
        return f"{self.kernel} under {ran}: {counts or 'nothing found'}"

    def __repr__(self) -> str:
        return "\n".join([self.headline, *map(str, self.findings)])

    def _repr_html_(self) -> str:
        # The tables of the book align numbers to the right; these cells hold sentences.
        left = ' style="text-align: left; vertical-align: top"'
        head = "".join(
            f'<th scope="col"{left}>{name}</th>'
            for name in ("line", "finding", "what was seen", "remedy")
        )
        rows = "".join(
            f'<tr><th scope="row"{left}>{f.line}</th>'
            f"<td{left}>{html.escape(f.level)}: {html.escape(f.rule)}</td>"
            f"<td{left}><code>{html.escape(f.text.strip())}</code><br>{html.escape(f.message)}</td>"
            f"<td{left}>{html.escape(f.remedy)}</td></tr>"
            for f in self.findings
        )
        caption = f"<caption>{html.escape(self.headline)}</caption>"
        if not rows:
            return f'<div class="gk-table"><table>{caption}</table></div>'
        return (
            f'<div class="gk-table"><table>{caption}<thead><tr>{head}</tr></thead>'
            f"<tbody>{rows}</tbody></table></div>"
        )


def check(
    kernel: Callable,
    blocks: int | tuple[int, ...],
    threads: int | tuple[int, ...],
    *args: Any,
    shared: int = 0,
    cooperative: bool = False,
    seeds: int = 4,
    loop_budget: int = 20_000,
    trace_limit: int = 10_000_000,
    wraparound: bool = False,
) -> Report:
    """Run `kernel` on copies of `args` under every schedule, and report what is wrong with it.

    The errors are: races, accesses out of bounds, reads of unwritten memory and of unset variables,
    barriers and warp operations that some threads do not reach, stores to read-only arrays, failed
    assertions, endless loops. Warnings are: uncoalesced requests, bank conflicts, branches that
    split warps, atomics on which lanes queue, results that depend on the order in which threads
    run. All races and unwritten reads are listed; any other error ends the run under that
    schedule. Results are compared if there is no error.

    Parameters
    ----------
    kernel : numba.cuda dispatcher
        A ``@cuda.jit`` kernel.
    blocks, threads : int or tuple of int
        Blocks in the grid and threads in a block, as for a launch.
    *args
        The kernel's arguments: NumPy arrays, which stay as they are, and numbers. Two views of one
        array become views of one copy.
    shared : int
        Bytes of dynamic shared memory per block.
    cooperative : bool
        Whether all blocks must be resident at once.
    seeds : int
        How many random schedules to try, after ``lockstep`` and ``warp``.
    loop_budget : int
        Iterations after which a loop counts as endless.
    trace_limit : int
        Entries that the trace may have; beyond it the rules on speed and order are left out.
    wraparound : bool
        Whether negative indices that the kernel computes count from the end; else they are errors.

    Returns
    -------
    Report
        With ``.findings``, ``.errors``, ``.warnings`` and ``.ok``.

    Raises
    ------
    KernelError
        If the launch or the kernel is refused: its shape, its arguments, a kernel without source.
    ValueError
        If `seeds` is negative, or more than 10,000.

    Examples
    --------
    >>> import numpy as np
    >>> from numba import cuda
    >>> import gpukernels as gk
    >>> @cuda.jit
    ... def count(a, total):
    ...     i = cuda.grid(1)
    ...     if i < a.size and a[i] > 0:
    ...         total[0] += 1
    >>> report = gk.check(count, 1, 64, np.ones(50, np.int32), np.zeros(1, np.int32))
    >>> report.ok
    False
    >>> report.errors[0].rule
    'race'
    """
    whole = isinstance(seeds, (int, np.integer)) and not isinstance(seeds, bool)
    if not whole or not 0 <= seeds <= MOST_SEEDS:
        raise ValueError(f"seeds={seeds!r}; allowed are 0 and more, up to {MOST_SEEDS:,}")
    function = python_function(kernel)
    plan = [("lockstep", 0), ("warp", 0), *(("random", seed) for seed in range(1, seeds + 1))]
    findings, results, trace = {}, {}, None
    ran, stuck = [], False
    for schedule, seed in plan:
        if stuck and seed != 1:
            continue  # one random schedule tells whether the loop only waits for another lane
        label = f"random {seed}" if schedule == "random" else schedule
        limit = trace_limit if schedule == "lockstep" else None

        def attempt(errors, recorder, arguments, schedule=schedule, seed=seed):
            launch(
                kernel,
                blocks,
                threads,
                arguments,
                shared=shared,
                cooperative=cooperative,
                schedule=schedule,
                seed=seed,
                recorder=recorder,
                findings=errors,
                loop_budget=loop_budget,
                wraparound=wraparound,
            )

        errors, result, traced = _run(attempt, args, limit)
        ran.append(label)
        stuck = stuck or any(isinstance(error, EndlessLoop) for error in errors)
        for error in errors:
            _add(findings, _from_error(error), label)
        if result is not None:
            results[label] = result
        trace = traced or trace
    _forgive_waiting(findings, results)
    _blame_races(findings, len(ran))
    if trace is not None:
        slow = _uncoalesced(trace), _bank_conflicts(trace), _divergence(trace), _contention(trace)
        for finding in itertools.chain(*slow):
            _add(findings, finding, "lockstep")
        # A difference of results follows from an error, if there is one.
        if all(f.level == WARNING for f in findings.values()):
            benign = getattr(function, "__benign_races__", frozenset())
            parameters = function.__code__.co_varnames[: len(args)]
            for finding in _order_dependence(parameters, results, benign, trace):
                _add(findings, finding, "lockstep")
    return Report(function.__name__, tuple(ran), findings.values())


# Launches ------------------------------------------------------------


def _run(attempt, args, trace_limit):
    """Run once; return (errors, arguments afterwards or None, trace or None)."""
    recorder = None if trace_limit is None else Recorder(trace_limit)
    errors, arguments = [], _copies(args)
    try:
        attempt(errors, recorder, arguments)
    except TraceLimit as error:
        again, arguments, _ = _run(attempt, args, None)
        return [error, *again], arguments, None
    except KernelError as error:
        if not is_finding(error):
            raise
        return [*errors, error], None, None
    return errors, arguments, None if recorder is None else recorder.trace


def _copies(args):
    """Return `args` with every array copied; views of one array share its copy."""
    roots = {}

    def copied(value):
        if isinstance(value, tuple):
            items = [copied(item) for item in value]
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
        if hasattr(value, "copy_to_host"):
            return value.copy_to_host()
        if not isinstance(value, np.ndarray):
            return value
        root = value
        while isinstance(root.base, np.ndarray):
            root = root.base
        if id(root) not in roots:
            roots[id(root)] = duplicate(root)
        copy = roots[id(root)]
        if value is not root:
            offset = _address(value) - _address(root)
            memory = copy.ravel(order="K").view(np.uint8)
            copy = np.ndarray(value.shape, value.dtype, memory, offset, value.strides)
        if not value.flags.writeable:
            copy = copy.view()
            copy.flags.writeable = False
        return copy

    return [copied(value) for value in args]


def _address(array):
    return array.__array_interface__["data"][0]


# What the launches raised ------------------------------------------------------------


def _add(findings, finding, label):
    """Add `finding` to `findings` under `label`; if it is there already, add the label to it."""
    lines = frozenset((finding.line, finding.other_line or finding.line))
    key = (finding.rule, finding.file, lines, finding.array)
    known = findings.setdefault(key, finding)
    is_update = _SAME_LINE in (known.remedy, finding.remedy)
    if _SCOPES.index(finding.within) > _SCOPES.index(known.within):
        # A remedy for the wider scope serves the narrower one too.
        known = findings[key] = replace(finding, schedules=known.schedules)
    if is_update:
        known = findings[key] = replace(known, remedy=_SAME_LINE)
    if label not in known.schedules:
        findings[key] = replace(known, schedules=(*known.schedules, label))


def _race_remedy(error):
    if error.lacks:
        return _FENCES[error.lacks]
    if error.beside_atomic and error.within == "grid":
        return _BESIDE_AN_ATOMIC
    # Two stores at one line are an update of one element; a load there reads another's element.
    same_line = error.other_line == error.line and error.both_store
    return _SAME_LINE if same_line else _RACE_REMEDIES[error.within]


def is_finding(error: KernelError) -> bool:
    """Return whether an error is a mistake of the kernel; others say what the machine refuses."""
    return type(error) in _RULES


def findings_of(errors: Iterable[KernelError], schedule: str) -> tuple[Finding, ...]:
    """Return the findings of a run under one schedule, one for each pair of lines and array."""
    findings: dict = {}
    for error in errors:
        _add(findings, _from_error(error), schedule)
    return tuple(findings.values())


def _from_error(error):
    rule, remedy = _RULES[type(error)]
    if isinstance(error, RaceError):
        remedy = _race_remedy(error)
    return Finding(
        rule,
        WARNING if isinstance(error, TraceLimit) else ERROR,
        error.reason,
        remedy,
        function=error.kernel,
        file=error.file,
        line=error.line,
        text=error.text,
        block=error.block,
        thread=error.thread,
        other_line=getattr(error, "other_line", 0),
        array=getattr(error, "array", ""),
        within=getattr(error, "within", ""),
        calls=error.calls,
    )


def _forgive_waiting(findings, results):
    """Make a warning of an endless loop that ends where the lanes of a warp run one by one."""
    if not any(label.startswith("random") for label in results):
        return
    for key, finding in findings.items():
        if finding.rule == "endless-loop" and not any("random" in s for s in finding.schedules):
            findings[key] = replace(
                finding,
                rule="waiting",
                level=WARNING,
                message="this loop ends only if other lanes of its warp run in between: it waits "
                "for them, which a GPU promises since Volta alone",
                remedy="Let one lane of a warp wait for all of it, or let the lanes that it waits "
                "for go first.",
            )


def _blame_races(findings, launches):
    """Drop unwritten reads that follow from a race: those that only some schedules show."""
    racing = {
        (f.array, line)
        for f in findings.values()
        if f.rule == "race"
        for line in (f.line, f.other_line)
    }
    for key, finding in list(findings.items()):
        if (
            finding.rule == "uninitialized-read"
            and (finding.array, finding.line) in racing
            and len(finding.schedules) < launches
        ):
            del findings[key]


# Results ------------------------------------------------------------


def _order_dependence(parameters, results, benign, trace):
    """Yield the arrays whose contents differ between schedules."""
    labels = tuple(results)
    named = (named_values(parameters, arguments) for arguments in results.values())
    for same in zip(*named, strict=True):
        name, contents = same[0][0], [value for _, value in same]
        first = contents[0]
        if not isinstance(first, np.ndarray) or name in benign:
            continue
        others = [label for label, c in zip(labels, contents, strict=True) if not _same(first, c)]
        if not others:
            continue
        other = contents[labels.index(others[0])]
        source, line = _last_writer(trace, name, first, np.argmax(_differs(first, other)))
        if np.array_equal(np.sort(first, axis=None), np.sort(other, axis=None)):
            how = "holds the same values in another order"
        elif first.dtype.kind == "f" and _close(first, other):
            how = "differs in its last digits, as sums of floats in another order do"
        else:
            how = "holds other values"
        yield _finding(
            trace,
            "order-dependent",
            source,
            line,
            name,
            f"`{name}` {how} under {', '.join(others)} than under {labels[0]}",
            "Be sure that whatever reads it takes every such result, or fix the order.",
        )


def _same(a, b):
    return not _differs(a, b).any()


def _differs(a, b):
    unlike = a != b
    return (unlike & ((a == a) | (b == b))).ravel()


def _close(a, b):
    return np.allclose(a, b, rtol=1e3 * np.finfo(a.dtype).eps, equal_nan=True)


def _last_writer(trace, name, array, position):
    """Return (source, line) of the last write to an element, else of any write to the array."""
    at = np.unravel_index(position, array.shape)
    element = sum(int(i) * s for i, s in zip(at, array.strides, strict=True)) // array.itemsize
    if not trace.array_named(name):
        return 0, 0
    table = trace.select(array=name).requests
    wrote = table.kind != LOAD
    row = table.lane_row()
    writer_rows = row[wrote[row] & (table.index == element)]
    rows = writer_rows if writer_rows.size else np.flatnonzero(wrote)
    return (int(table.source[rows[-1]]), int(table.line[rows[-1]])) if rows.size else (0, 0)


# Speed ------------------------------------------------------------


def _finding(trace, rule, source, line, array, message, remedy):
    where = trace.sources[source]
    return Finding(
        rule,
        WARNING,
        message,
        remedy,
        function=where.function,
        file=where.file,
        line=line,
        text=where.line(line),
        array=array,
    )


def _accesses(trace, space, kinds):
    """Yield (array, kind, source, line, costs of the requests) of every access in the source."""
    table = trace.select(space=space, kind=kinds).requests
    keys = np.stack([table.source, table.line, table.array, table.kind.astype(np.int32)])
    for source, line, array, kind in np.unique(keys, axis=1).T.tolist():
        info = trace.arrays[array]
        place = {"source": source, "line": line, "array": info.name}
        yield info, kind, source, line, Costs(trace.select(**place, space=space, kind=kind))


def _uncoalesced(trace: Trace):
    for array, kind, source, line, costs in _accesses(trace, "global", (LOAD, STORE)):
        moved = costs.sectors
        enough = -(-costs.lanes * array.itemsize // SECTOR_BYTES)
        if moved.sum() >= UNCOALESCED * enough.sum():
            verb = "loads from" if kind == LOAD else "stores to"
            yield _finding(
                trace,
                "uncoalesced",
                source,
                line,
                array.name,
                f"{verb} `{array.name}` move {moved.mean():.1f} sectors per request where "
                f"{enough.mean():.1f} would hold the data",
                "Let neighboring lanes take neighboring elements, or go through a tile in shared "
                "memory.",
            )


def _bank_conflicts(trace: Trace):
    for array, _, source, line, costs in _accesses(trace, "shared", (LOAD, STORE, ATOMIC)):
        extra = costs.conflicts.mean()
        if extra >= BANK_CONFLICTS:
            yield _finding(
                trace,
                "bank-conflicts",
                source,
                line,
                array.name,
                f"requests to shared `{array.name}` take {extra:.1f} extra passes each",
                "Pad the rows of the array by one element, so that a column lies in all banks.",
            )


def _divergence(trace: Trace):
    steps = trace.steps
    branch = steps.kind == BRANCH
    split = branch & (steps.taken != 0) & (steps.taken != steps.mask)
    places = np.stack([steps.source, steps.line])
    for source, line in np.unique(places[:, split], axis=1).T.tolist():
        at_line = branch & (steps.source == source) & (steps.line == line)
        times, of = int((split & at_line).sum()), int(at_line.sum())
        if times > 1 and times >= DIVERGENCE * of:
            yield _finding(
                trace,
                "divergence",
                source,
                line,
                "",
                f"this branch splits the warp in {times} of {of} executions, so lanes wait",
                "Give the lanes of a warp work of one kind and length, or sort the work first.",
            )


def _contention(trace: Trace):
    for array, _, source, line, costs in _accesses(trace, "global", (ATOMIC,)):
        lanes = costs.lanes.sum()
        waiting = lanes - costs.elements.sum()
        if waiting >= CONTENTION * lanes:
            yield _finding(
                trace,
                "atomic-contention",
                source,
                line,
                array.name,
                f"{waiting} of the {lanes} lanes that update `{array.name}` wait for another lane "
                "on the same element",
                "Add up within the warp or block first, and let one lane update for all.",
            )
