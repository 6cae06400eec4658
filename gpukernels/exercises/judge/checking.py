"""Check that a kernel is right on every hidden input, under every schedule, and within budget."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from gpukernels.device import CudaDevice, default_device
from gpukernels.errors import KernelError
from gpukernels.simt import python_function
from gpukernels.trace import Trace

from . import looking
from .bench import (
    Attempt,
    attempt,
    attempt_within,
    beyond_limit,
    cut,
    in_short,
    judge,
    steps_under_other_schedules,
)
from .case import Budget, Case, HostGaveUp, Wrong
from .report import Finding

#: (schedule, seed) of each way to order warps that an answer must stand; lockstep comes first,
#: because how many steps an answer takes there says how many it may take under the others.
SCHEDULES = (("lockstep", 0), ("warp", 0), ("random", 1), ("random", 2), ("random", 3))


def check_kernel(kernel, ex, seed: int) -> list[Finding]:
    """Return the findings on a kernel, at least one, the first failure being the last of them.

    The inputs of the exercise `ex` are fixed, and drawn with `seed`; its solution says how many
    steps loops may take.
    """
    cases, drawn, solution = ex.cases(), ex.drawn(seed), ex.solution.answer
    fault = unfit(kernel, ex.parameters, ex.benign)
    if fault is None:
        every = (*cases, *drawn)
        fault = next(filter(None, (_first_fault(kernel, case, solution) for case in every)), None)
        if fault is not None and any(fault.case is case for case in drawn):
            fault = _with_seed(fault, seed)
    if fault is not None:
        return [fault]
    findings = [Finding(True, f"right on {len(cases)} inputs: {'; '.join(c.name for c in cases)}")]
    if drawn:
        names = "; ".join(case.name for case in drawn)
        findings.append(Finding(True, f"right on {len(drawn)} drawn for this check: {names}"))
    schedules = (
        f"no race, no unwritten read, nothing out of bounds under {len(SCHEDULES)} schedules"
    )
    findings.append(Finding(True, schedules, look=_first_launch(kernel, cases)))
    return [*findings, *_on_the_gpu(kernel, every), *_costs(kernel, ex.budgets(), solution)]


def _with_seed(fault: Finding, seed: int) -> Finding:
    """Add to a fault a line that tells how to draw its input again."""
    again = f"drawn with seed {seed}: check(answer, seed={seed}) draws the same input"
    size = (fault.case.detail,) if fault.case.detail else ()
    return replace(fault, details=(*fault.details, *size, again))


def unfit(kernel, parameters: Sequence[str], benign) -> Finding | None:
    """Return the reason why `kernel` cannot be launched at all, or None."""
    try:
        reason = _reason_against(kernel, parameters, benign)
    except Exception as error:  # whatever an object does when it is asked for an attribute
        kind = type(kernel).__name__
        reason = f"a @cuda.jit kernel is wanted here, and this {kind} raises {in_short(error)}"
    return None if reason is None else Finding(False, cut(reason, 300))


def _reason_against(kernel, parameters, benign) -> str | None:
    function = python_function(kernel)
    if function is None or isinstance(kernel, type):
        kind = "a class" if isinstance(kernel, type) else f"of type {type(kernel).__name__}"
        return f"a @cuda.jit kernel is wanted here, and this is {kind}"
    name = function.__name__
    if function is kernel:
        return f"`{name}` is a plain Python function: write @cuda.jit above it"
    if "cuda" not in type(kernel).__module__:
        return f"`{name}` is made for the CPU: write @cuda.jit above it"
    if getattr(kernel, "targetoptions", {}).get("device"):
        return f"`{name}` is a device function; pass the kernel that calls it"
    has = [str(parameter) for parameter in inspect.signature(function).parameters.values()]
    bare = [text.partition(":")[0].partition("=")[0].strip() for text in has]
    if bare != list(parameters):
        wants = ", ".join(parameters)
        return f"the parameters must be ({wants}); `{name}` has ({', '.join(bare)})"
    excess = sorted(getattr(function, "__benign_races__", frozenset()) - set(benign))
    if excess:
        allowed = f"on {sorted(benign)} alone" if benign else "on no array"
        return f"a race may be declared benign {allowed}, and `{name}` declares one on {excess}"
    return None


def _first_fault(kernel, case: Case, solution) -> Finding | None:
    """Run one case under all schedules; return the first thing that goes wrong."""
    limit = None
    for schedule in SCHEDULES:
        if limit is None:
            tried = attempt_within(kernel, case, solution)
            limit = steps_under_other_schedules(tried)
        else:
            tried = attempt(kernel, case, schedule, loop_steps=limit)
            if beyond_limit(tried):
                steps = f"all loops together have taken {limit:,} steps, in lockstep far fewer"
                tried.wrong = Wrong(f"this loop has not ended: {steps}")
        if tried.wrong is not None:
            return _fault(kernel, tried, schedule)
    return None


def _fault(kernel, tried: Attempt, schedule) -> Finding:
    name, seed = schedule
    where = f"{tried.case.name}, schedule {name}" + (f" (seed {seed})" if name == "random" else "")
    text = f"{where}: {cut(tried.wrong.text, 500)}"
    if isinstance(tried.error, KernelError):
        details = _place(tried.error)
    else:
        details = _last_writer(kernel, tried, schedule)

    def look():
        return look_at(kernel, tried, schedule, text)

    return Finding(False, text, details, look, tried.case)


def look_at(kernel, tried: Attempt, schedule, caption: str):
    """Run an attempt once more, recorded, and return the view of where it went wrong."""
    limit = tried.device.pace.limit
    steps = {} if limit == math.inf else {"loop_steps": limit}
    again = attempt(kernel, tried.case, schedule, trace=True, **steps)
    trace = again.device.trace
    if again.error is not None:
        return looking.view(trace, looking.place_of_error(trace, again.error), f"{caption}.")
    writer = looking.last_writer(trace, again.wrong) if again.wrong is not None else None
    if writer is not None:
        place, source, line = writer
        thread = looking.coordinates(place.thread, trace.launches[place.launch].block)
        caption += f"; {looking.name_of_line(trace, source, line)} wrote it last, thread {thread}"
        return looking.view(trace, place, f"{caption}.")
    return looking.view(trace, looking.Place(len(trace.launches) - 1), f"{caption}.")


def _first_launch(kernel, cases: Sequence[Case]) -> Callable[[], object]:
    def look():
        tried = attempt(kernel, cases[0], trace=True)
        caption = f"The first launch on {cases[0].name}."
        return looking.view(tried.device.trace, looking.Place(0), caption)

    return look


def _place(error: KernelError) -> tuple[str, ...]:
    lines = []
    if error.line:
        lines.append(f"line {error.line} of {error.kernel}: {error.text.strip()}")
    if error.thread is not None:
        lines.append(f"block {error.block}, thread {error.thread}")
    return tuple(lines)


def _last_writer(kernel, tried: Attempt, schedule) -> tuple[str, ...]:
    """Say which line and thread wrote a wrong element, by running the case again, traced."""
    wrong = tried.wrong
    if not wrong.array:
        return ()
    trace = attempt(kernel, tried.case, schedule, trace=True).device.trace
    if not trace.array_named(wrong.array):
        return (f"no thread touched `{wrong.array}`",)
    writer = looking.last_writer(trace, wrong)
    if writer is None:
        return ("no thread wrote it",)
    place, *line = writer
    launch = trace.launches[place.launch]
    block = looking.coordinates(place.block, launch.grid)
    thread = looking.coordinates(place.thread, launch.block)
    return (
        f"{looking.name_of_line(trace, *line)} wrote it last: {trace.text(*line).strip()}",
        f"block {block}, thread {thread}",
    )


def _on_the_gpu(kernel, cases: Sequence[Case]) -> Iterable[Finding]:
    """Run every case on the GPU as well, where one is the default device."""
    device = default_device()
    if not isinstance(device, CudaDevice):
        return
    for case in cases:
        try:
            wrong = judge(case, case.run(kernel, device))
        except HostGaveUp as error:
            wrong = Wrong(str(error))
        except Exception as error:  # numba's errors have no common base but this one
            wrong = Wrong(in_short(error))
        if wrong is not None:
            text = f"{case.name}, on {device.name}: {wrong.text}"
            yield Finding(False, text, look=_first_launch(kernel, [case]), case=case)
            return
    yield Finding(True, f"right on the same inputs on {device.name}")


def _costs(kernel, budgets: Sequence[Budget], solution=None) -> Iterable[Finding]:
    """Measure each budget's counter; a failure names the line that weighs most."""
    traces = {}
    for budget in budgets:
        name = budget.case.name
        if name not in traces:
            tried = attempt_within(kernel, budget.case, solution, trace=True)
            if tried.wrong is not None:
                yield _fault(kernel, tried, SCHEDULES[0])
                return
            traces[name] = tried.device.trace
        yield _cost(traces[name], budget)


def _cost(trace: Trace, budget: Budget) -> Finding:
    subject = f"{budget.what}, on {budget.case.name}"
    line = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the mean of nothing
        try:
            value = budget.measure(trace)
            is_number = value == value
            text = f"{subject}: {budget.compare(value) if is_number else 'there was none to count'}"
        except KeyError as error:  # `trace.select` knows no such array
            text = f"{subject}: cannot be counted, since {error.args[0]}"
        except Exception as error:
            text = f"{subject}: cannot be counted ({in_short(error)})"
        else:
            if budget.allows(value):
                return Finding(True, text)
            line = looking.worst_line(trace, budget) if is_number else None
    if line is None:
        return Finding(
            False, text, (), lambda: looking.view(trace, looking.Place(0), f"{text}."), budget.case
        )
    extreme = "most" if budget.at_most is not None else "least"
    worst = f"{extreme} in {looking.name_of_line(trace, *line)}: {trace.text(*line).strip()}"

    def look():
        return looking.view(trace, looking.busiest_on(trace, *line), f"{text}; {worst}")

    return Finding(False, text, (worst,), look, budget.case)
