"""Check that a kernel is right on every hidden input, under every schedule, and within budget."""

from __future__ import annotations

import inspect
from collections.abc import Iterable

import numpy as np

from gpukernels.device import CudaDevice, SimtDevice, default_device
from gpukernels.errors import KernelError
from gpukernels.simt import python_function
from gpukernels.simt.trace import ATOMIC, STORE, WARP_SIZE, Trace

from .case import Budget, Case, HostGaveUp, Wrong
from .report import Finding

#: (schedule, seed) of each way to order warps that an answer must stand.
SCHEDULES = (("lockstep", 0), ("warp", 0), ("random", 1), ("random", 2), ("random", 3))


def check_kernel(kernel, parameters: list[str], cases: list[Case], budgets, benign) -> list:
    """Return the findings on `kernel`, the first failure being the last of them.

    Parameters
    ----------
    kernel : object
        What the reader passed.
    parameters : list of str
        Names of the parameters that it must have.
    cases : list of Case
        Hidden inputs.
    budgets : list of Budget
        Bounds on counters.
    benign : set of str
        Arrays on which the kernel may declare a benign race.

    Returns
    -------
    list of Finding
        At least one.
    """
    fault = _unfit(kernel, parameters, benign)
    if fault is None:
        runs = ((case, schedule) for case in cases for schedule in SCHEDULES)
        fault = next(filter(None, (_first_fault(kernel, *run) for run in runs)), None)
    if fault is not None:
        return [fault]
    return [
        Finding(True, f"right on {len(cases)} inputs: {'; '.join(c.name for c in cases)}"),
        Finding(
            True,
            f"no race, no unwritten read, nothing out of bounds under {len(SCHEDULES)} schedules",
        ),
        *_on_the_gpu(kernel, cases),
        *_costs(kernel, budgets),
    ]


def _unfit(kernel, parameters, benign) -> Finding | None:
    """Return what keeps `kernel` from being launched at all."""
    function = python_function(kernel)
    if function is None:
        kind = type(kernel).__name__
        return Finding(False, f"a @cuda.jit kernel is wanted here, and this is of type {kind}")
    name = function.__name__
    if function is kernel:
        return Finding(False, f"`{name}` is a plain Python function: write @cuda.jit above it")
    if getattr(kernel, "targetoptions", {}).get("device"):
        return Finding(False, f"`{name}` is a device function; pass the kernel that calls it")
    has = list(inspect.signature(function).parameters)
    if has != parameters:
        wants, gets = ", ".join(parameters), ", ".join(has)
        return Finding(False, f"the parameters must be ({wants}); those of `{name}` are ({gets})")
    excess = sorted(getattr(function, "__benign_races__", frozenset()) - set(benign))
    if excess:
        return Finding(False, f"no race is benign here, and `{name}` declares one on {excess}")
    return None


def _first_fault(kernel, case: Case, schedule) -> Finding | None:
    """Run one case under one schedule; return what goes wrong."""
    name, seed = schedule
    where = f"{case.name}, schedule {name}" + (f" (seed {seed})" if name == "random" else "")
    try:
        wrong = case.judge(case.run(kernel, SimtDevice(name, seed, check=True)))
    except KernelError as error:
        return Finding(False, f"{where}: {error.reason}", _place(error))
    except HostGaveUp as error:
        return Finding(False, f"{where}: {error}")
    if wrong is None:
        return None
    return Finding(False, f"{where}: {wrong.text}", _last_writer(kernel, case, schedule, wrong))


def _place(error: KernelError) -> tuple[str, ...]:
    lines = []
    if error.line:
        lines.append(f"line {error.line} of {error.kernel}: {error.text.strip()}")
    if error.thread is not None:
        lines.append(f"block {error.block}, thread {error.thread}")
    return tuple(lines)


def _last_writer(kernel, case: Case, schedule, wrong: Wrong) -> tuple[str, ...]:
    """Say which line and thread wrote a wrong element, by running the case again, traced."""
    if not wrong.array:
        return ()
    device = SimtDevice(*schedule, trace=True)
    case.run(kernel, device)
    trace = device.trace
    if not trace.array_named(wrong.array):
        return (f"no thread touched `{wrong.array}`",)
    requests = trace.select(array=wrong.array).requests
    row = requests.lane_row()
    wrote = np.isin(requests.kind[row], (STORE, ATOMIC)) & (requests.index == wrong.index)
    if not wrote.any():
        return ("no thread wrote it",)
    at = np.flatnonzero(wrote)[-1]
    last = row[at]
    place = requests.source[last], requests.line[last]
    launch = trace.launches[requests.launch[last]]
    block = _coordinates(requests.block[last], launch.grid)
    thread = requests.warp[last] * WARP_SIZE + requests.lane_id()[at]
    return (
        f"{_line(trace, *place)} wrote it last: {trace.text(*place).strip()}",
        f"block {block}, thread {_coordinates(thread, launch.block)}",
    )


def _coordinates(number, shape) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(number, shape, order="F"))


def _on_the_gpu(kernel, cases: list[Case]) -> Iterable[Finding]:
    """Run every case on the GPU as well, where one is the default device."""
    device = default_device()
    if not isinstance(device, CudaDevice):
        return
    for case in cases:
        try:
            wrong = case.judge(case.run(kernel, device))
        except HostGaveUp as error:
            wrong = Wrong(str(error))
        except Exception as error:  # numba's errors have no common base but this one
            first = str(error).strip().splitlines() or [""]
            wrong = Wrong(f"{type(error).__name__}: {first[0]}")
        if wrong is not None:
            yield Finding(False, f"{case.name}, on {device.name}: {wrong.text}")
            return
    yield Finding(True, f"right on the same inputs on {device.name}")


def _costs(kernel, budgets: list[Budget]) -> Iterable[Finding]:
    """Measure each budget's counter; a failure names the line that weighs most."""
    traces = {}
    for budget in budgets:
        if budget.case.name not in traces:
            device = SimtDevice(trace=True)
            budget.case.run(kernel, device)
            traces[budget.case.name] = device.trace
        trace = traces[budget.case.name]
        value = budget.measure(trace)
        text = f"{budget.what}, on {budget.case.name}: {_number(value)}, allowed {budget.bound}"
        if budget.allows(value):
            yield Finding(True, text)
        else:
            yield Finding(False, text, _worst_line(trace, budget))


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.3g}"


def _worst_line(trace: Trace, budget: Budget) -> tuple[str, ...]:
    """Name the line on which the counter, taken alone, is worst."""
    steps = trace.steps
    sign = 1 if budget.at_most is not None else -1
    worst, place = -np.inf, None
    for source, line in sorted(set(zip(steps.source.tolist(), steps.line.tolist(), strict=True))):
        value = budget.measure(trace.select(source=source, line=line))
        if value == value and sign * value > worst:
            worst, place = sign * value, (source, line)
    if place is None:
        return ()
    extreme = "most" if sign > 0 else "least"
    return (f"{extreme} in {_line(trace, *place)}: {trace.text(*place).strip()}",)


def _line(trace: Trace, source: int, line: int) -> str:
    """Name a line, and its function where that is no kernel: its file may be another one."""
    function = trace.sources[source].function
    if function in {launch.kernel for launch in trace.launches}:
        return f"line {line}"
    return f"line {line} of {function}"
