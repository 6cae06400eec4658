"""A teacher's own tasks, which the book's checker judges: `KernelTask` and `PredictionTask`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Mapping
from numbers import Real
from typing import Any

from gpukernels.checks import check_choice, check_text
from gpukernels.errors import InvalidArgument
from gpukernels.simt import python_function
from gpukernels.trace import Trace
from gpukernels.trace.summary import COLUMNS, counters

from .judge.case import Budget, CaseOf, Results, cases_of
from .judge.effort import LEVELS
from .judge.exercise import KernelExercise, PredictionExercise
from .judge.inputs import Draw, Inputs
from .judge.words import Words

ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
COUNTERS = tuple(name for name, _, _ in COLUMNS)
#: Counters of which more is better: a budget names the least value.
SHARES = ("SIMD efficiency", "coalescing")


class KernelTask(KernelExercise):
    """A kernel to write or a bug to fix, judged as the book's exercises are.

    An answer must be right on all inputs under every schedule, without races, and within the
    budget. Check the solution, ``task.check(task.solution)``, before you hand out a task.

    Parameters
    ----------
    kernel : kernel
        The solution. Each line that the skeleton lacks ends in ``# added``. It must be defined in
        a file or a cell, since its source is read.
    id : str
        Lower-case letters, digits and hyphens, such as ``"course-1"``. Reports and records name it.
    title : str
        A few words.
    teaches : str
        The words that follow "You learn", without a full stop.
    statement : str
        The task, in Markdown.
    run : callable
        ``run(kernel, device, value)`` runs the kernel on one input and returns its results, NumPy
        arrays by the names of its parameters.
    right : callable
        Takes an input and returns the right arrays by these names, found without the kernel.
    inputs : mapping of str to object
        The inputs of every check, by a name for the report: arrays, graphs, or tuples of these.
        Begin with a small one, which :meth:`run` shows, and think of an empty one.
    draw : callable
        Takes a generator of random numbers, ``numpy.random.Generator``, and returns the inputs that
        are new in every check. Their names must not depend on the numbers.
    writes : collection of str
        Parameters that the kernel may write. A store to any other array is an error.
    budget : mapping of str to float, optional
        Counters, as ``t.summary()`` of a trace names them, and their largest values on the last of
        `inputs`; of "SIMD efficiency" and "coalescing", the least values. Without a budget, one
        thread may do all the work.
    level : {"easy", "medium", "hard"}
        How hard it is.
    hint, why : str
        A hint, and why the solution is right, in Markdown.
    helpers : tuple of functions
        Device functions of the solution, which stand before the kernel.
    imports : str
        Imports of skeleton and solution.

    Raises
    ------
    InvalidArgument
        If a text is no text, `kernel` is no kernel or adds no line to its skeleton, a function
        cannot be called, there are no inputs, or a parameter or a counter is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from numba import cuda
    >>> from gpukernels.exercises import KernelTask
    >>> @cuda.jit
    ... def double(values, out):
    ...     i = cuda.grid(1)
    ...     # Your lines go here.
    ...     if i < out.size:  # added
    ...         out[i] = 2 * values[i]  # added
    >>> def run(kernel, device, values):
    ...     out = device.full(values.size, -1, np.int64)
    ...     blocks = max(1, -(-values.size // 32))
    ...     device.launch(kernel, blocks, 32, device.array(values), out)
    ...     return {"out": device.read(out)}
    >>> task = KernelTask(
    ...     double,
    ...     id="course-1",
    ...     title="twice each number",
    ...     teaches="to guard the end of an array",
    ...     statement="Write twice each number of `values` to `out`.",
    ...     run=run,
    ...     right=lambda values: {"out": 2 * values},
    ...     inputs={"75 numbers": np.arange(75), "no numbers": np.zeros(0, int)},
    ...     draw=lambda rng: {"drawn numbers": rng.integers(0, 100, rng.integers(1, 200))},
    ...     writes=("out",),
    ... )
    >>> print(task.skeleton)
    from numba import cuda
    <BLANKLINE>
    <BLANKLINE>
    @cuda.jit
    def double(values, out):
        i = cuda.grid(1)
        # Your lines go here.
    <BLANKLINE>
    >>> task.check(task.solution, seed=1).passed
    True
    """

    def __init__(
        self,
        kernel: Any,
        *,
        id: str,
        title: str,
        teaches: str,
        statement: str,
        run: Callable[[Any, Any, Any], Results],
        right: Callable[[Any], Results],
        inputs: Mapping[str, object],
        draw: Callable[[Draw], Mapping[str, object]],
        writes: Collection[str],
        budget: Mapping[str, float] | None = None,
        level: str = "medium",
        hint: str = "",
        why: str = "",
        helpers: tuple = (),
        imports: str = "from numba import cuda",
    ):
        words = _words(id, title, level, teaches, statement, hint, why)
        function = python_function(kernel)
        if function is None or function is kernel:
            raise InvalidArgument("kernel", kernel, "a @cuda.jit kernel")
        parameters = tuple(inspect.signature(function).parameters)
        if isinstance(writes, str) or not set(writes) <= set(parameters):
            raise InvalidArgument("writes", writes, f"some of the parameters {parameters}")
        _check_called(run=run, right=right, draw=draw)
        if not isinstance(inputs, Mapping) or not inputs:
            raise InvalidArgument("inputs", inputs, "a dict with at least one input, by name")
        _check_budget({} if budget is None else budget)
        try:
            inspect.getsource(function)
        except OSError:
            allowed = "defined in a file or a cell, since its source is read"
            raise InvalidArgument("kernel", function.__name__, allowed) from None
        super().__init__(
            words,
            parts=(*helpers, kernel),
            imports=imports,
            inputs=Inputs(lambda: inputs, draw),
            case=cases_of(run, right),
            budgets=lambda case_of: _budgets(budget or {}, case_of, *list(inputs.items())[-1]),
            writes=writes,
        )
        if self.skeleton == self.solution.text:
            allowed = "a kernel with a line that ends in '# added', which its skeleton lacks"
            raise InvalidArgument("kernel", function.__name__, allowed)


class PredictionTask(PredictionExercise):
    """Numbers to predict, which the SIMT machine counts.

    Parameters
    ----------
    measure : callable
        Returns the numbers by question, such as ``{"sectors": 12}``. It is called now and again in
        every check. If it launches on a :class:`SimtDevice` with ``trace=True``, the report's
        ``show()`` opens these launches.
    id, title, teaches, statement, level, hint, why : str
        As for :class:`KernelTask`.

    Raises
    ------
    InvalidArgument
        If a text is no text, or `measure` cannot be called or returns no numbers by name.

    Examples
    --------
    A function of a generator makes a variant for each student; ``gk.exercise("FILE:strides",
    seed="ann@example.org")`` calls it.

    >>> import numpy as np
    >>> from gpukernels.exercises import PredictionTask
    >>> def strides(rng):
    ...     step = int(rng.integers(2, 9))
    ...     return PredictionTask(
    ...         lambda: {"sectors": len({4 * step * lane // 32 for lane in range(32)})},
    ...         id="course-2",
    ...         title="sectors of a stride",
    ...         teaches="to count the sectors of a request",
    ...         statement=f"Lane k reads the int32 element {step}k. How many sectors are read?",
    ...     )
    >>> task = strides(np.random.default_rng(2))
    >>> task.statement
    'Lane k reads the int32 element 7k. How many sectors are read?'
    >>> task.check({"sectors": 28}).passed
    True
    """

    def __init__(
        self,
        measure: Callable[[], dict[str, Any]],
        *,
        id: str,
        title: str,
        teaches: str,
        statement: str,
        level: str = "medium",
        hint: str = "",
        why: str = "",
    ):
        words = _words(id, title, level, teaches, statement, hint, why)
        _check_called(measure=measure)
        counted = measure()
        if not isinstance(counted, dict) or not counted or not all(map(_is_named, counted.items())):
            raise InvalidArgument("measure()", counted, "a dict of numbers, by question")
        super().__init__(words, answer=counted, measure=measure)


def _words(
    id: str, title: str, level: str, teaches: str, statement: str, hint: str, why: str
) -> Words:
    texts = {"title": title, "teaches": teaches, "statement": statement, "hint": hint, "why": why}
    for name, text in texts.items():
        check_text(name, text)
    if not isinstance(id, str) or not ID.fullmatch(id):
        raise InvalidArgument("id", id, "lower-case letters, digits and hyphens: 'course-1'")
    check_choice("level", level, LEVELS)
    return Words(id, title, level, teaches, statement, hint, why)


def _check_called(**functions: object) -> None:
    for name, function in functions.items():
        if not callable(function):
            raise InvalidArgument(name, function, "a function")


def _is_named(item: tuple[object, object]) -> bool:
    name, number = item
    return isinstance(name, str) and isinstance(number, Real) and not isinstance(number, bool)


def _check_budget(budget: Mapping[str, float]) -> None:
    if not isinstance(budget, Mapping):
        raise InvalidArgument("budget", budget, "a dict of bounds, by counter")
    for name, bound in budget.items():
        check_choice("counter of budget", name, COUNTERS)
        if not _is_named((name, bound)):
            raise InvalidArgument(f"budget[{name!r}]", bound, "a number")


def _budgets(
    budget: Mapping[str, float], case_of: CaseOf, name: str, value: object
) -> list[Budget]:
    case = case_of(name, value)
    return [
        Budget(what, case, _counter(what), **{_side(what): bound}) for what, bound in budget.items()
    ]


def _counter(name: str) -> Callable[[Trace], float]:
    return lambda trace: counters(trace)[name]


def _side(counter: str) -> str:
    return "at_least" if counter in SHARES else "at_most"
