"""Run a reader's program in the page's interpreter, and return what it shows.

The page's worker unpacks this module together with the package, in Pyodide. CPython runs it too.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import json
import linecache
import re
import sys
import traceback
from html import escape
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from gpukernels.simt import machine, names

if importlib.util.find_spec("numba") is None:
    names.register()

import gpukernels as gk
from gpukernels.device import SimtDevice, devices_made
from gpukernels.exercises.judge import looking
from gpukernels.simt import python_function
from gpukernels.trace import Trace, metrics

#: A loop of more rounds is taken for an endless one; on a page, a million would take minutes.
LOOP_BUDGET = 50_000
FOLDER = Path("program")
#: A line that begins a part of a program, with the module of the package to which it belongs.
PART = re.compile(r"# %% ?([\w.]*)")
#: Lines of an error message, and characters of printed text, that a page shows.
LINES, CHARACTERS = 12, 20_000


def run(text: str) -> str:
    """Run a program and return, as JSON, what it shows.

    Parameters
    ----------
    text : str
        The program. Lines after ``# %% gpukernels.module`` replace functions of that module until
        the program ends; lines after ``# %% program`` and all others are the program itself.

    Returns
    -------
    str
        ``{"shown": [html], "printed": text, "error": null or {"message", "line", "html"},
        "counters": {name: text}, "solved": bool}``. The figure of an error is the warp at fault, at
        its step. ``solved`` is whether a verdict on an exercise is among the values.
    """
    FOLDER.mkdir(exist_ok=True)
    values: list[Any] = []
    printed = io.StringIO()
    failure = None

    def display(*shown: Any) -> None:
        values.extend(shown)

    namespace = {"__name__": "__main__", "display": display, "gk": gk}
    undo: list[tuple[dict[str, Any], str, Any]] = []
    with contextlib.redirect_stdout(printed), devices_made(LOOP_BUDGET) as devices:
        try:
            for name, body, first in _parts(text):
                _execute(name, body, first, namespace, display, undo)
        except BaseException as error:  # a program may raise anything
            failure = _failure(error)
        finally:
            for names_of, name, old in reversed(undo):
                names_of[name] = old
            if undo:
                machine.forget_translations()
    result = {
        "shown": [_as_html(value) for value in values],
        "printed": printed.getvalue()[:CHARACTERS],
        "error": failure,
        "counters": _counters([device.trace for device in devices if device.trace is not None]),
        "solved": any(getattr(value, "passed", False) for value in values),
    }
    return json.dumps(result)


def _counters(traces: list[Trace]) -> dict[str, str]:
    """Return counters over all launches that a program recorded."""
    steps = sum(map(metrics.warp_steps, traces))
    if not steps:
        return {}
    busy = sum(metrics.warp_steps(t) * metrics.simd_efficiency(t) for t in traces if t.launches)
    counts = {
        "launches": sum(len(trace.launches) for trace in traces),
        "warp steps": steps,
        "divergent branches": sum(map(metrics.divergent_branches, traces)),
        "barriers of warps": sum(map(metrics.barriers, traces)),
        "requests to global memory": sum(map(metrics.requests, traces)),
        "sectors": sum(int(metrics.sectors(trace).sum()) for trace in traces),
        "bank conflicts": sum(int(metrics.bank_conflicts(trace).sum()) for trace in traces),
        "atomic conflicts": sum(int(metrics.atomic_conflicts(trace).sum()) for trace in traces),
    }
    texts = {name: f"{count:,}" for name, count in counts.items()}
    return {**texts, "SIMD efficiency": f"{100 * busy / steps:.1f} %"}


def _parts(text: str) -> list[tuple[str, str, int]]:
    """Return the parts of a program: the module, the text, and the lines before it."""
    parts, module, begin = [], "", 0
    lines = text.split("\n")
    for k, line in enumerate([*lines, "# %% end"]):
        if mark := PART.match(line):
            if any(lines[begin:k]):
                parts.append((module, "\n".join(lines[begin:k]), begin))
            module, begin = mark[1] if mark[1].startswith("gpukernels") else "", k + 1
    return parts


def _execute(name, body, first, namespace, display, undo) -> None:
    # A file, because the machine reads the source of kernels. Lines count as in the whole program.
    path = FOLDER / f"{name or 'program'}.py"
    path.write_text("\n" * first + body + "\n", encoding="utf-8")
    linecache.clearcache()
    tree = ast.parse("\n" * first + body, str(path))
    if name:
        _replace(name, compile(tree, str(path), "exec"), undo)
        machine.forget_translations()  # kernels may call what was replaced
        return
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, str(path), "exec"), namespace)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), str(path), "eval"), namespace)
        if value is not None:
            display(value)


def _replace(name: str, code: Any, undo: list) -> None:
    """Execute a part in its module, and put its functions wherever they were imported."""
    module = sys.modules.get(name)
    if module is None:
        raise ImportError(f"# %% {name}: the package has no such module, or has not loaded it")
    own = vars(module)
    # A listing may show functions of other modules, which use names that this one lacks.
    space: dict[str, Any] = {}
    for value in list(own.values()):
        if (function := python_function(value)) is not None:
            space.update(function.__globals__)
    space.update(own)
    before = dict(space)
    exec(code, space)
    for function, new in list(space.items()):
        if new is before.get(function):
            continue
        old = own.get(function)
        own[function] = new
        undo.append((own, function, old))
        for other in list(sys.modules.values()):
            theirs = vars(other) if getattr(other, "__name__", "").startswith("gpukernels") else {}
            for key, value in list(theirs.items()):
                if value is old and old is not None and theirs is not own:
                    undo.append((theirs, key, old))
                    theirs[key] = new


def _as_html(value: Any) -> str:
    for name in ("html", "_repr_html_"):
        form = getattr(value, name, None)
        text = form() if callable(form) else form
        if isinstance(text, str):
            return text
    bundle = getattr(value, "_repr_mimebundle_", dict)()
    return bundle.get("text/html") or f"<pre>{escape(repr(value))}</pre>"


def _frames(trace: TracebackType | None) -> list[tuple[FrameType, int]]:
    frames = []
    while trace is not None:
        frames.append((trace.tb_frame, trace.tb_lineno))
        trace = trace.tb_next
    return frames


def _failure(error: BaseException) -> dict[str, Any]:
    """Return the message of an error, its line in the program, and the warp at fault."""
    frames = _frames(error.__traceback__)
    line = getattr(error, "line", 0) if _is_own(getattr(error, "file", "")) else 0
    if isinstance(error, SyntaxError):
        line = error.lineno or 0
    for frame, number in frames:
        if not line and _is_own(frame.f_code.co_filename):
            line = number
    message = "".join(traceback.format_exception_only(error)).strip()
    if isinstance(error, gk.errors.KernelError):
        message = f"{type(error).__name__}: {error}"
    figure = ""
    if isinstance(error, gk.errors.KernelError) and (trace := _trace_of(frames)) is not None:
        place = looking.place_of_error(trace, error)
        figure = _as_html(
            looking.view(trace, place, "The warp at fault, at the step of the error.")
        )
    message = "\n".join(message.split("\n")[:LINES])
    return {"message": message, "line": line, "html": figure}


def _is_own(file: str) -> bool:
    return Path(file).parent.name == FOLDER.name


def _trace_of(frames: list[tuple[FrameType, int]]) -> Any:
    """Return the trace of the device that launched the kernel which failed, with that launch."""
    for frame, _ in reversed(frames):
        for value in frame.f_locals.values():
            if isinstance(value, SimtDevice) and value.recorder is not None:
                value.recorder.keep_failed()
                return value.trace if value.trace.launches else None
    return None


def judge(name: str, text: str) -> str:
    """Return the verdict on an answer to an exercise, as `run` returns what a program shows."""
    answer = gk.exercise(name).answer_name
    return run(f"{text.rstrip()}\n\n\ngk.exercise({name!r}).check({answer}, raises=False)\n")
