"""One run of an answer on an input that the reader may look at."""

from __future__ import annotations

import html

from gpukernels.trace import Trace
from gpukernels.trace.summary import Summary

from . import looking
from .bench import Attempt, attempt, attempt_within, steps_under_other_schedules
from .case import Case


class VisibleRun:
    """The run of a kernel on one input, with its results.

    Attributes
    ----------
    name, schedule : str, (str, int)
        The input, as reports call it; schedule and seed.
    inputs, results : dict of str to object
        Arguments of the first launch, by parameter, arrays as they were before it; and the results
        of the kernel, empty if it did not come to an end.
    trace : Trace
        Everything that its warps did; of a kernel that failed, up to the step that failed.
    wrong : str
        The fault, or an empty text.
    """

    def __init__(self, tried: Attempt, schedule: tuple[str, int]):
        self._tried = tried
        self.name = tried.case.name
        self.schedule = schedule
        self.inputs = tried.device.inputs
        self.results = tried.results
        self.wrong = "" if tried.wrong is None else tried.wrong.text

    @property
    def trace(self) -> Trace:
        """Everything that the warps did."""
        return self._tried.device.trace

    def summary(self, by: str = "kernel") -> Summary:
        """Return the counters per ``"kernel"``, ``"launch"`` or ``"line"`` as a table."""
        return self.trace.summary(by)

    def show(self) -> looking.WarpView | looking.Note:
        """Open the view of the step at which it went wrong, or of the first launch."""
        trace, tried = self.trace, self._tried
        caption = f"{self._sentence()}."
        if tried.error is not None:
            return looking.view(trace, looking.place_of_error(trace, tried.error), caption)
        writer = looking.last_writer(trace, tried.wrong) if tried.wrong is not None else None
        return looking.view(trace, writer[0] if writer else looking.Place(0), caption)

    def _sentence(self) -> str:
        name, seed = self.schedule
        where = f"{self.name}, schedule {name}" + (f" (seed {seed})" if name == "random" else "")
        return f"{where}: {self.wrong or 'right'}"

    def __repr__(self) -> str:
        arrays = [
            f"  {kind} {name} = {_array(value)}"
            for kind, named in (("in ", self.inputs), ("out", self.results))
            for name, value in named.items()
        ]
        return "\n".join([self._sentence(), *arrays])

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


def _array(value) -> str:
    if not hasattr(value, "shape"):
        return repr(value)
    flat = value.ravel()
    first = ", ".join(str(item) for item in flat[:12].tolist())
    more = ", ..." if flat.size > 12 else ""
    shape = " x ".join(f"{n:,}" for n in value.shape) or "1"
    return f"[{first}{more}]  {value.dtype} ({shape})"


def run_visibly(kernel, case: Case, solution, schedule: str, seed: int) -> VisibleRun:
    """Run `kernel` on `case`, recorded; its output is printed once."""
    how = schedule, seed
    if schedule == "lockstep":
        return VisibleRun(attempt_within(kernel, case, solution, trace=True, prints=True), how)
    alone = attempt_within(kernel, case, solution)
    limit = steps_under_other_schedules(alone)
    return VisibleRun(attempt(kernel, case, how, trace=True, prints=True, loop_steps=limit), how)
