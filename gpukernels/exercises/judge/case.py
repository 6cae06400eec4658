"""Hidden inputs, judges of the answers on them, and budgets of an answer."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpukernels.trace import Trace

Results = dict[str, np.ndarray]


class HostGaveUp(Exception):
    """The host's loop launches kernels again and again, with no hope of an end."""


@dataclass(frozen=True)
class Wrong:
    """A fault in results: a sentence, and the first wrong element if one is to blame."""

    text: str
    array: str = ""
    index: int = -1


@dataclass(frozen=True)
class Case:
    """One hidden input."""

    #: How a report calls it: "100 numbers".
    name: str
    #: ``run(kernel, device)`` launches the kernel and returns its results by array name.
    run: Callable[[object, object], Results]
    #: Returns the fault in results, or None.
    judge: Callable[[Results], Wrong | None]
    #: For the report of a failure, such as the size of a drawn input: the name of such an input is
    #: the same in every check, since a report of success shows it.
    detail: str = ""
    #: Parameters that the kernel may write, by default all; a store to another array is an error.
    writes: frozenset[str] | None = None


@dataclass(frozen=True)
class Budget:
    """The limit of an answer on one input, as a counter of the SIMT machine under lockstep."""

    #: The counter, as a report names it: "warp steps".
    what: str
    case: Case
    measure: Callable[[Trace], float]
    #: The bound is one of the two.
    at_most: float | None = None
    at_least: float | None = None

    @property
    def bound(self) -> str:
        """The bound in words."""
        if self.at_most is not None:
            return f"at most {self.at_most:,.12g}"
        return f"at least {self.at_least:,.12g}"

    def allows(self, value: float) -> bool:
        """Say whether `value` is within the budget; the bound itself is, rounding forgiven."""
        bound = self.at_least if self.at_most is None else self.at_most
        if math.isclose(value, bound, rel_tol=1e-9):
            return True
        return value < bound if self.at_most is not None else value > bound

    def compare(self, value: float) -> str:
        """Return `value` and the bound, in as many digits as tell a failure's two numbers apart."""
        bound = self.at_least if self.at_most is None else self.at_most
        other = None if self.allows(value) else bound
        return f"{number(value, other)}, allowed {self.bound}"


def number(value: float, other: float | None = None) -> str:
    """Return `value` in three digits, in more where it has more before its point.

    If `other` is given, there are as many as it takes to lie on the same side of it.
    """
    if not math.isfinite(value) or float(value).is_integer():
        return f"{value:,.0f}"
    whole = len(str(abs(int(value))))
    for digits in range(max(3, whole), 18):
        text = f"{value:,.{digits}g}"
        if other is None or (float(text.replace(",", "")) - other) * (value - other) > 0:
            break
    return text


#: Makes a case of a name and an input.
CaseOf = Callable[[str, Any], Case]


def cases_of(run: Callable[..., Results], right: Callable[..., object]) -> CaseOf:
    """Return a function that makes a case of a name and an input.

    ``run(kernel, device, value)`` launches the kernel on an input and returns its results. `right`
    takes an input and returns the right results, or a judge of results.
    """

    def case(name: str, value: object) -> Case:
        results = right(value)
        judge = results if callable(results) else equal_to(**results)
        return Case(name, lambda kernel, device: run(kernel, device, value), judge)

    return case


def unpacked(function: Callable) -> Callable:
    """Return `function` for inputs that are tuples of its last arguments."""
    return lambda *arguments: function(*arguments[:-1], *arguments[-1])


def launched(
    kernel, device, blocks, threads, *arguments, cooperative: bool = False, **further
) -> Results:
    """Launch a kernel once, and return what it leaves in the arrays of `further`.

    The kernel's arguments are `arguments` and `further` in their order, arrays of NumPy and
    numbers. If `cooperative`, all blocks are there at once, so that the grid has a barrier.
    """
    copied = [device.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
    results = {n: device.array(a) for n, a in further.items() if isinstance(a, np.ndarray)}
    options = {"cooperative": True} if cooperative else {}
    device.launch(kernel, blocks, threads, *copied, *(further | results).values(), **options)
    return {name: device.read(array) for name, array in results.items()}


def one_each(threads: int, each: int = 1, **results: type) -> Callable[..., Results]:
    """Return a function that launches a kernel on int32 values, in at least one block.

    A thread takes `each` of them. `results` are the types of arrays of -1, an element per value.
    """

    def run(kernel, device, values) -> Results:
        values = np.asarray(values, np.int32)
        blocks = max(-(-values.size // (each * threads)), 1)
        left = {name: np.full(values.size, -1, kind) for name, kind in results.items()}
        return launched(kernel, device, blocks, threads, values, **left)

    return run


def equal_to(ending: str = "", /, **expected: np.ndarray) -> Callable[[Results], Wrong | None]:
    """Return a judge that wants exactly these arrays.

    `ending` ends a report's sentence, with ``{wrong}`` and ``{size}`` for the numbers of wrong
    elements and of all elements; by default the numbers are given if more than one is wrong.
    """

    def judge(results: Results) -> Wrong | None:
        for name, wanted in expected.items():
            wrong = np.flatnonzero(np.ravel(results[name]) != np.ravel(wanted))
            if wrong.size:
                return _first_difference(name, results[name], wanted, wrong, ending)
        return None

    return judge


def _first_difference(name, result, wanted, wrong, ending) -> Wrong:
    first = int(wrong[0])
    place = ", ".join(str(int(i)) for i in np.unravel_index(first, np.shape(wanted)))
    got, right = np.ravel(result)[first], np.ravel(wanted)[first]
    text = f"`{name}[{place}]` is {got} and should be {right}"
    if wrong.size > 1 and not ending:
        ending = "{wrong:,} of its {size:,} elements are wrong"
    if ending:
        text += "; " + ending.format(wrong=wrong.size, size=np.size(wanted))
    return Wrong(text, name, first)
